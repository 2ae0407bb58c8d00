/* What an analysis says of one side: plain data, part of struct analysis (analysis.h says what units and names mean).
 */
#ifndef GAPLINE_RESULT_SIDE_RESULT_H
#define GAPLINE_RESULT_SIDE_RESULT_H

#include "fact/fact.h"
#include "result/events_result.h"
#include "result/latency_result.h"
#include "result/metrics_result.h"
#include "result/words.h"

/* Something that repeats in the GPU's work. */
struct loop_result {
	uint32_t name;   /* the two kernels that weigh most: "gemm + softmax" */
	uint32_t steps;  /* times that it repeats, of the process with most */
	uint32_t differ; /* of these, over all processes: hold something else than is usual */
	uint32_t ops;    /* kernels, copies, memsets and graphs that a step of one process holds */
	double period;   /* ns a step, the mean after its own warm-up */
	double share;    /* of the GPU time of the profile, 0 to 1 */
	double tried;    /* of it, too: trials of kernels, timed one by one before this began, that were left out */
	uint32_t fewest, most; /* shorter repetitions that a step was put together from: layers; 0: none */
	double explained;      /* of its ops and GPU time, by steps that all hold the same, 0 to 1 */
	double same;           /* of its ops: those that have the same names in every step; less than 1 only where what
	                        * the others have stands in for each other */
	bool judged;           /* its steps are the side's */
};

struct idle_row {
	enum cause cause;
	uint32_t phase; /* 0: between phases; shown as "(between phases)" */
	uint32_t call;  /* host_blocked: the call that blocked longest; else 0 */
	double per_step;
	double opened[OPENED_COUNT]; /* the same split by what opened the gap */
};

/* The four exact parts of a device's window, and the rows of the fourth. All per step; they add up to `period`. */
struct budget {
	double compute, comm_exposed, copy_exposed, idle, period;
	/* Of `idle`: nobody looked whether the thread that is the reason waited for Python's lock, where that was
	 * looked at all (trace_source.has_lock). */
	double unlooked;
	struct idle_row *rows; /* by per_step descending; they add up to idle */
	uint32_t n_rows;
};

struct spread {
	uint32_t n; /* samples that knew it; 0: nothing is known */
	double median, min, max;
	double mean; /* without the least and the most of five and more; of fewer the median */
};

/* How fast a GPU ran, from samples in the measured windows of all runs. Only those count that were taken while it
 * worked: an idle GPU clocks down. Samples are about a second apart, so a shorter window may hold none, idle or not:
 * then the last one before it and the first one after it stand for it, each if it is at most 1.5 s away. */
struct clocks {
	uint32_t samples, beside; /* that count, 0: nothing is known; of those, taken beside a window that holds none */
	uint32_t idle;            /* in the windows, left out because the GPU was idle */
	uint32_t blind;           /* runs that sampled the GPU, but neither in their window nor near it */
	struct spread sm_mhz, memory_mhz, power_w, temperature_c;
	uint32_t judged;             /* samples that say what held the clock back */
	double limited[LIMIT_COUNT]; /* share of those */
};

struct device_result {
	uint32_t id;     /* position in the side, 0 … */
	int64_t process; /* pid */
	int32_t rank;    /* of the process in its parallel job; -1: not known */
	uint32_t ordinal;
	uint32_t name;     /* GPU model */
	int64_t clock_hz;  /* highest SM clock of the model, 0: unknown */
	int64_t window_ns; /* of the median run */
	uint32_t n_runs;   /* in which it had work */
	struct budget budget;
	double limit_ns; /* the launch-latency limit that was used (limit in docs/method/analysis.md, Causes), median
	                    run */
	struct clocks clocks;
	struct metrics metrics;
};

struct phase_result {
	uint32_t name;                           /* 0: (between phases) */
	uint32_t rank;                           /* 1 … by cost */
	double cost, gpu, idle, host, instances; /* per step; cost, gpu and idle are means over devices */
	double cost_share;
	int64_t memory; /* the most bytes at once on one GPU in it, in the measured steps; 0: none, or not known */
};

struct kernel_result {
	uint32_t name, of; /* of: the outermost operator that launches all of them; 0: none, or several do */
	bool comm, graph;
	double instances, per_step;
};
/* GPU operations (kernels, graphs, copies, memsets) that calls inside a PyTorch operator launched, and in none that it
 * calls: the operator's own, and all add up to the GPU's work. Likewise modules, with those in them once bound_side put
 * them in; lines, of nodes of graphs that Python made; and, of kernels and graphs, outermost operators, with what they
 * call and their backward pass. */
struct owner_result {
	uint32_t name; /* "aten::mm", "GPT/Block/Linear", "train.py:42 Block.forward"; 0: none was open, or their launch
	                  is not in the profile */
	double instances, per_step; /* how many, and how long they run */
	double all_instances, all;  /* of a module, with those in it; of operators 0 */
	/* Of an operator: floating-point operations, in how much of per_step, and 10¹² a second (by bound_side); what
	 * they take at the GPU's peak, bytes, and what those take at the memory's peak, each with how much of per_step
	 * that is of. 0: not known. */
	double flops, flops_known, tflops, ideal, ideal_known, moved, moved_known, copied, copied_known;
};
struct api_result {
	uint32_t name;
	enum call_class class;
	double calls, per_step;
};
struct copy_result {
	uint32_t name;
	enum copy_kind kind;
	bool memset, pageable;
	double instances, bytes, per_step;
	double bytes2;  /* the squares of the copies' bytes, added up, a step */
	double unsized; /* copies whose bytes nobody recorded, per step: `bytes` is of the others */
};

/* NVTX ranges of one name that begin in the host's part of the measured window; per step, summed over threads. */
struct range_result {
	uint32_t domain, name;  /* the domain's name, 0: the default one; the range's, normalised: "step_#" */
	double instances, host; /* how many; how long they are open */
	double gpu;       /* running time of the GPU work that their threads launched inside them, summed over GPUs */
	double launching; /* how many launched any; those that hold or overlap one another are one */
};

/* The files of a side, as they were given. */
struct side_file {
	const char *file; /* base name, harmless */
	uint32_t run;     /* index into side.runs */
	int32_t rank;     /* in that run; -1: not known */
	bool rank_named;  /* the file's name says so, and nothing else */
};
struct side_files {
	const struct side_file *file;
	uint32_t n;
	const char *why;  /* "ranks: …", "repeats: …": what they are and how that was told; "" for one file */
	const char *note; /* what a reader has to know about that, a sentence; NULL: nothing */
};

struct run_result {
	const char *file;      /* base name of the input as given, made harmless; not a path */
	size_t n_steps;        /* steps found, 0 if none */
	bool opened;           /* so few that the first one counts: period[0] is its own */
	size_t left_out;       /* leading steps left out as warm-up */
	size_t warmup;         /* 1 + periods left out; 0 without steps */
	const int64_t *period; /* n_periods of them: all, in order; the first warmup − 1 are left out */
	size_t n_periods;
	int64_t window_ns;
	const struct series *series; /* borrowed from the verdict; NULL for `gapline show` without steps */
};

/* ---- timeline: a few representative steps, to the nanosecond; times are relative to the first boundary shown ---- */
struct span {
	int64_t start, end;
	uint32_t name;
};
struct call_span {
	int64_t start, end;
	uint32_t name;
	enum call_class class;
};
struct op_span {
	int64_t start, end;
	uint32_t name, phase;
	enum op_kind kind;
	enum copy_kind copy;
	int64_t launch_start, launch_end; /* both -1: unknown */
};
struct gap_piece {
	int64_t start, end;
	enum cause cause;
	uint32_t phase, call;
};
struct gap_span {
	int64_t start, end;
	enum opened opened;
	uint32_t first_piece, n_pieces;
};

struct call_lane {
	uint32_t thread_name;
	int64_t tid;
	bool step_thread;
	struct call_span *calls;
	uint32_t n_calls;
};
struct stream_lane {
	uint32_t stream;
	struct op_span *ops;
	uint32_t n_ops;
};
struct device_lanes {
	uint32_t device; /* index into side.devices */
	struct stream_lane *streams;
	uint32_t n_streams;
	struct gap_span *gaps;
	uint32_t n_gaps;
	struct gap_piece *pieces;
	uint32_t n_pieces;
	struct metric_lane metrics[METRIC_COUNT];
	uint32_t n_metrics; /* counters that were sampled there */
};
/* Devices whose lanes are filled: all, or of more than these the slowest rank, the median one, the fastest and then the
 * next slowest, in this order; the lanes of the others are empty. */
enum { TIMELINE_DEVICES = 8 };
struct timeline {
	int64_t left_out;      /* GPU ops of the one step, or of the run, that come after what is shown; 0: none */
	int64_t length;        /* ns shown: from the first boundary to the last */
	int64_t *boundary;     /* step ends, relative: boundary[0] = 0 … boundary[n_boundaries − 1] = length */
	uint32_t n_boundaries; /* steps shown + 1; for a run without steps 2 */
	uint32_t first_step;   /* number of the first step shown, counted from 0 in the run; 0 without steps */
	uint32_t host; /* phases and calls are those of this device's process: the slowest rank's, where three ranks or
	                * more are of several processes; TRACE_NONE: of all processes */
	struct span *phases;
	uint32_t n_phases; /* of the step thread, disjoint */
	struct call_lane *calls;
	uint32_t n_calls;
	struct device_lanes *devices;
	uint32_t n_devices;
};

/* The whole run in OVERVIEW_BINS equal bins, mean over devices; shares add up to 1 in each bin. */
enum { OVERVIEW_BINS = 600 };
struct overview {
	int64_t length;                   /* ns from the first to the last GPU op */
	int64_t window_start, window_end; /* relative to the first GPU op */
	float compute[OVERVIEW_BINS], comm[OVERVIEW_BINS], copy[OVERVIEW_BINS], idle[OVERVIEW_BINS];
};

/* One of several devices of a side, beside the others; all times per step. Waiting for the last rank inside a
 * communication kernel is not work, and neither is a bubble: waiting for the partner inside a send or receive.
 * `waiting`, `moving` and `unmatched` add up to the budget's comm_exposed; `bubble` is its idle time of CAUSE_BUBBLE.
 */
struct rank_result {
	uint32_t device;   /* index into side.devices */
	uint32_t host;     /* of its process, counted from 1; 0: there is one, or it is not known */
	bool stepless;     /* nobody marked its steps where others' are marked: `own` is not known, and 0 */
	double own;        /* its step without exposed waiting and bubbles: from the end of its own GPU work to the next
	                    * such end */
	double waiting;    /* exposed: in collectives, until the last rank has entered */
	double bubble;     /* idle: in sends and receives, until the partner has entered … */
	uint32_t partner;  /* … which is this device most of the time, in the median run; TRACE_NONE: nobody */
	double moving;     /* exposed: in both, from then on */
	double unmatched;  /* exposed: in communication kernels that could not be matched with other ranks' */
	double hidden;     /* communication beside a computing kernel, its waiting included */
	double waited_for; /* what each of the other ranks waited for this one's work, mean over them: charge/waiting.c
	                    */
	double last;       /* share of the collectives in which it came last */
};

/* The rank that is waited for most, and in which part of its step it differs most from the mean of the others. */
struct straggler {
	enum straggler_kind kind;
	uint32_t device;     /* index into side.devices */
	double share;        /* of all waiting, the part that was for this rank */
	bool has_reason;     /* the part explains at least a third of what the others wait for it */
	enum part_kind part; /* PART_COMPUTE, PART_COPY or PART_IDLE */
	enum cause cause;    /* of PART_IDLE … */
	bool input;          /* … unless all of it is host time that ended with a copy of input to the device */
	uint32_t phase;      /* of PART_COMPUTE, and of PART_IDLE without `input`: a name, 0: between phases */
	double more, others; /* ns a step: how much more than the others' mean, and that mean */
	/* In which steps of the median run its own step is longer than the others' median, by half as much or more as
	 * where it is longest: at least two thirds of all that it is longer. */
	uint32_t late, steps; /* in so many of so many; late is 0 where that holds nearly everywhere or nothing stands
	                       * out */
	uint32_t every;       /* … which is every so many, at least 2; 0: at no regular distance */
};

/* Communication of one kind: of one operation in one communicator; where NCCL's payloads are not recorded, kernels of
 * one name. Of the median run; times are ns per step, means over the devices that take part. */
struct comm_result {
	uint32_t name;         /* "ncclAllReduce", else the kernel's */
	uint32_t communicator; /* counted from 1, the one with most time first; 0: not recorded */
	uint32_t ranks;  /* of the communicator as it says itself, else the most that were seen to take part; 0: none
	                  * could be matched */
	double per_step; /* kernels of one rank */
	double matched;  /* share of them whose partners are known */
	double waiting, moving; /* of those: until the last rank had entered, from then on */
	double exposed, hidden; /* of all: no kernel computes beside them, or one does */
	uint32_t last;          /* the device that came last most often; TRACE_NONE: not known … */
	double last_share;      /* … and in how many of the matched collectives */
	double bytes; /* of one, as NCCL counts them (of all-gather and reduce-scatter one rank's share), mean; 0:
	               * not known */
	double bus_bandwidth; /* bytes a second while data moves, as nccl-tests' doc/PERFORMANCE.md defines it; 0: not
	                       * known */
};

/* A picture of ranks and steps in the side's median run: how long each rank's steps were (rank_result.own), or a part
 * of them. Cells hold the longest of their ranks and steps. */
enum { RANK_MAP_ROWS = 64, RANK_MAP_COLUMNS = 120, RANK_PART_ROWS = 32, RANK_PART_COLUMNS = 60 };
struct rank_map {
	uint32_t rows, columns;               /* 0: there is none: one device, or no steps */
	uint32_t ranks_a_row, steps_a_column; /* the last row and column may hold fewer */
	uint32_t first_step;                  /* number of the first step shown, counted from 0 in the run */
	const float *step;                    /* ns, row by row; negative: not known of any of its ranks */
	double low, high; /* ns: what colours reach from and to; cells beyond half and twice the median are beyond,
	                   * where the median is not 0 */
};

enum { COMMS_MOST = 40 };

/* The ranks of a side together; where there is one device, nothing is known of them. */
struct ranks_result {
	struct rank_result *list; /* the slowest first: by `own`, and where that is not known last */
	uint32_t n;               /* as many as devices, or 0 */
	double collectives;       /* matched, per step */
	bool known;               /* at least 95 % of the exposed communication is of matched collectives */
	bool one_clock; /* times are of one host, or of hosts whose clocks are known (clocks); else who came last is
	                 * told by how long kernels ran */
	const struct trace_clock *clocks; /* by host, of the side's first run; none where it is of one host */
	uint32_t n_clocks;
	double waiting, bubble, moving, unmatched; /* exposed, mean over the devices that communicate, per step */
	struct comm_result *comms;                 /* by exposed + hidden descending, at most COMMS_MOST */
	uint32_t n_comms, comms_left_out;
	struct straggler straggler;
	struct rank_map map;               /* of own steps */
	struct rank_map parts[RANK_PARTS]; /* at most RANK_PART_ROWS by RANK_PART_COLUMNS; no rows for a part that is
	                                    * nowhere a hundredth of the mean own step */
};

/* The steps of a side. */
struct side_steps {
	bool found;
	enum step_origin origin; /* of the first run; STEPS_NONE where not all runs have steps */
	uint32_t name;           /* normalised: "step_#" */
	uint32_t ranks;          /* that make a step; of the first run */
	double coverage;         /* share of the profile's GPU time that belongs to steps, 0 to 1; mean over runs */
	size_t measured;         /* step periods measured, all runs together */
	double mean, median, min, max; /* ns, over all measured periods; mean: mean of runs' means */
};

/* What lies before the first step; without steps, before the last module was loaded. It is part of no step. */
struct startup_row {
	enum startup_part part;
	double ns;
};
struct startup {
	double ns; /* mean over the runs that say it; 0: none does */
	double least, most;
	struct startup_row row[STARTUP_PARTS]; /* what the step thread did meanwhile, in the order of the enumeration,
	                                        * those that took time: they add up to ns */
	uint32_t n_rows;
	double pause; /* the longest stretch of it without a CUDA call, mean over those runs */
	bool whole;   /* it begins where the program was started; else with the first thing that was recorded of it */
};

/* The time that a side is said to take, ns a step; of a run without steps. */
struct headline {
	double step;     /* the window over its steps, the mean over runs, and steps that were set aside count as the
	                  * mean of the others; without steps the mean span of a run */
	double recorded; /* what `step` would be of the recorded runs alone */
	double recorded_timed; /* the recorded runs' time of those steps that the timed runs time, all as they were
	                        * measured: what `stopwatch` is held against; 0: there are none */
	double typical;        /* exp of the mean over runs of the 10 % trimmed mean of ln period */
	double stopwatch;      /* in its timed runs, mean of those that can be used; 0: there are none */
	const double *timed;   /* … of each of them, in order */
	double energy;         /* J a step, the mean of these runs; 0: not known of all of them */
	uint32_t n_stopwatch;  /* how many of them can be used, … */
	uint32_t n_unused;     /* … and how many cannot, … */
	const char *unused;    /* … and why, of the first of them: a clause; NULL without one */
};

/* How much a step has of what can be counted. */
struct side_counts {
	double launches, graph_launches, collectives, ranges, syncs;
	double bytes_h2d, bytes_d2h, bytes_d2d;
	double unsized_h2d, unsized_d2h, unsized_d2d; /* copies that are in none of these: their bytes are not known */
	double overhead;                              /* ns: the profiler's own, recorded on launching threads */
};

/* Launches of one kind whose thread called the same next, with as much noted between: the time from the one's start to
 * the other's. */
struct launch_pace {
	uint32_t what, next; /* names of what was launched and of the next call */
	uint32_t noted;      /* operators between them (trace_calls.noted) */
	int64_t n;
	double median, mean; /* ns */
};
struct launch_paces {
	struct launch_pace *list; /* by `what`, then `next`, then `noted` */
	size_t n;
	int64_t all; /* launches, of those too that are not in the list */
};

/* Of how many prices of a recorded call it is worked out what that took (recording_price). */
enum { RECORDING_PRICES = 14 };

/* What recording itself took (side/recording). */
struct recording_cost {
	double waited_calls;  /* recorded calls of launching threads that began while their GPU was idle, per step */
	double waited_ranges; /* ranges and operators of those threads that began in that time, per step */
	double graph_nodes;   /* of graphs recorded node by node, per step and device */
	double launch_pace;   /* ns from the start of a launch that queues work to the next call of its thread, for each
	                       * noted between and for the launch: but for one in a hundred no less; 0: not known */
	bool of_graphs;       /* which is of launches of graphs, for there are no others */
	double arrivals;      /* kernels whose launch found the GPU idle, per step and device … */
	double arrival;       /* … and ns from the start of the launch to theirs, the median; 0: there are none */
	struct launch_paces paces;
	double took[RECORDING_PRICES]; /* ns of a step, at each of the prices: not more than the GPU waited */
	double added;                  /* what recording those made the step longer, about, ns; at most the idle time */
	double ranges; /* what adding NVTX ranges took a step by its own clock, ns, the mean of the runs; 0: none
	                * were added */
};

/* Device memory that the program had allocated (side/memory). */
struct side_memory {
	bool known;
	bool allocator; /* `peak` is what PyTorch's allocator handed out while recorded, not what CUDA's calls did */
	int64_t peak;   /* the most bytes that one process had allocated on one GPU at once: of all its GPUs, ranks and
	                 * runs the largest */
	struct trace_held held[HELD_MOST];      /* of that peak, what was allocated in ranges of a name … */
	struct trace_held operators[HELD_MOST]; /* … and in PyTorch's operators, the outermost */
	const char *why;                        /* it is not known: a key of the words "peak_unknown"; else NULL */
	/* The measured steps of all runs, each with its own peak, of all GPUs the largest; 0: not known … */
	uint32_t n_steps;
	const char *steps_why;          /* … and those of phases neither, by such a key; else NULL */
	int64_t step_median, step_most; /* bytes */
};

/* What a reader should know about a side's data. */
struct quality {
	const struct trace_dropped *dropped;
	uint32_t n_dropped; /* of all runs */
	const struct trace_diagnostic *diagnostics;
	uint32_t n_diagnostics;
	double unlaunched_share; /* of GPU ops without a launch in the profile */
	struct facts notes;
};

struct side {
	const char *label;          /* "baseline" or "fixed"; "profile" for `gapline show` */
	const char *name;           /* what the user calls it, harmless; NULL: nothing but baseline or fixed */
	struct trace_source source; /* of the first run */
	struct side_files files;
	struct run_result *runs;
	uint32_t n_runs;
	uint32_t median_run; /* the run whose timeline and overview are shown */
	struct side_steps steps;
	double items;                      /* that a step works on; 0: not told */
	struct latency latency[LATENCIES]; /* of the recorded steps (find/quantiles) … */
	struct slowest slowest;            /* … and of the run whose timeline is shown */
	struct startup startup;
	struct loop_result *loops; /* of the median run, by share; none where a range is the step */
	uint32_t n_loops;
	struct headline headline;
	struct device_result *devices;
	uint32_t n_devices;
	struct budget budget; /* mean over devices */
	double busy;          /* compute + comm_exposed + copy_exposed */
	struct phase_result *phases;
	uint32_t n_phases; /* by rank */
	uint32_t *order;   /* names of phases, as they first occur in the steps that the timeline shows */
	uint32_t n_order;
	bool phases_by_work; /* nobody marked phases: they are kinds of GPU work, each with the host's time before it */
	struct kernel_result *kernels;
	uint32_t n_kernels;                                           /* by per_step descending; sums over devices */
	struct owner_result *operators, *modules, *outermost, *lines; /* likewise, modules by `all`; none: it has none
	                                                               */
	uint32_t n_operators, n_modules, n_outermost, n_lines;
	bool modules_by_ranges;                           /* ranges tell some of them: --annotate modules */
	double flops_share, moved_share, peak_share, mfu; /* by bound_side: of operators' time; of that; of a step */
	double modules_share;                             /* likewise: of the GPU's time, what is in a module */
	struct api_result *api;
	uint32_t n_api;
	struct copy_result *copies;
	uint32_t n_copies;
	struct range_result *ranges;
	uint32_t n_ranges; /* by host descending */
	struct side_counts counts;
	struct recording_cost recording;
	struct side_memory memory;
	struct ranks_result ranks;
	struct timeline timeline;
	struct overview overview;
	const struct events *events; /* of the median run; NULL unless asked for */
	struct quality quality;
	const char
		*doubt; /* of a side that stands alone: why its numbers prove nothing, among `quality`, too; or NULL */
};

/* Whether hardware counters of any of its GPUs were sampled in its measured steps. */
static inline bool side_has_metrics(const struct side *side)
{
	for (uint32_t d = 0; d < side->n_devices; d++)
		if (side->devices[d].metrics.samples)
			return true;
	return false;
}

/* What times of a step are divided by where sides are compared: its items, or 1 where those are not told. */
static inline double side_items(const struct side *side)
{
	return side->items > 0 ? side->items : 1;
}

#endif
