/* What analysis says about a pair of profiles: plain data that the renderers (gen/render) and commands read. Nothing in
 * gen/render computes; every number on a page is here, in the JSON's meaning (docs/gapline.schema.json).
 * What the words mean, and why: docs/analysis.md.
 *
 * Units: `…_ns` totals are integer nanoseconds; everything called *per step* is a double in nanoseconds: the window's
 * total over its steps, and the mean over runs when a side has several, and over devices where the text says so. For a
 * side without steps, "per step" means per run. Shares are 0 to 1. Names are ids of `names`. Everything lives in one
 * arena. Lists are sorted as documented, ties by name, so that output is deterministic. */
#ifndef GAPLINE_ANALYSE_ANALYSIS_H
#define GAPLINE_ANALYSE_ANALYSIS_H

#include "analyse/judge/gates.h"
#include "analyse/judge/verdict.h"
#include "trace/trace.h"

/* Why a device was idle (docs/analysis.md, Causes). cause_name gives the JSON's word, cause_label a reader's. */
enum cause {
	CAUSE_HOST_CODE,      /* the launching thread ran its own code */
	CAUSE_HOST_BLOCKED,   /* … sat in an operating-system call; the row names it */
	CAUSE_OFF_CPU,        /* … was not on a processor, and in no call that the profile knows */
	CAUSE_HANDOVER,       /* … waited for another launching thread that waited too */
	CAUSE_SYNC_RETURN,    /* … was inside a synchronising call or a blocking read-back */
	CAUSE_COPY_API,       /* … inside a copy or memset call */
	CAUSE_LAUNCH_API,     /* … inside a launch call */
	CAUSE_ALLOC,          /* … inside an allocation, free or host registration */
	CAUSE_MODULE_LOAD,    /* … loading a module, JIT, dlopen */
	CAUSE_OTHER_API,      /* … inside any other CUDA call */
	CAUSE_PROFILER,       /* … inside the profiler's own recorded overhead */
	CAUSE_LAUNCH_LATENCY, /* the launch was on its way after a synchronisation */
	CAUSE_DISPATCH,       /* the GPU's own gap between two ops that were both queued */
	CAUSE_DEPENDENCY,     /* the op was queued and waited for an event, stream or device */
	CAUSE_LATE_START,     /* the op was queued, had nothing to wait for, and started late all the same */
	CAUSE_MANAGED_MEMORY, /* ended by a unified-memory migration */
	CAUSE_OTHER_PROCESS,  /* another process ran on the same physical GPU */
	CAUSE_UNATTRIBUTED,   /* the profile does not say: the launch is missing, or no op follows */
	CAUSE_COUNT
};
extern const enum cause cause_of_call[];     /* by enum call_class: of idle time inside such a call */
const char *cause_name(enum cause cause);    /* "host_code" */
const char *cause_label(enum cause cause);   /* "host code" … a few words for a reader */
const char *cause_meaning(enum cause cause); /* one sentence for a legend or tooltip */

/* What opened a gap. */
enum opened { OPENED_SYNC, OPENED_DRY, OPENED_WAITING, OPENED_COUNT };
/* OPENED_SYNC: the host was inside a synchronising call and came back; OPENED_DRY: the queue ran dry while the host was
 * elsewhere; OPENED_WAITING: an op was queued but could not start. */
const char *opened_name(enum opened opened);

/* Who marked a run's steps. */
enum step_origin {
	STEPS_NONE,      /* nobody: the run is one measurement */
	STEPS_BY_RANGE,  /* an NVTX range */
	STEPS_BY_PATTERN /* the sequence of GPU operations, which repeats */
};

const char *step_origin_name(enum step_origin origin); /* "none", "range", "pattern" */

/* Something that repeats in the GPU's work. */
struct loop_result {
	uint32_t name;    /* the two kernels that weigh most: "gemm + softmax" */
	uint32_t steps;   /* times that it repeats, of the process with most */
	uint32_t differ;  /* of these, over all processes: hold something else than is usual */
	uint32_t ops;     /* kernels, copies, memsets and graphs that a step of one process holds */
	double period;    /* ns a step, the mean after its own warm-up */
	double share;     /* of the GPU time of the profile, 0 to 1 */
	double explained; /* of its ops and GPU time, by steps that all hold the same: 0.95 to 1 */
	bool judged;      /* its steps are the side's */
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
	struct idle_row *rows; /* by per_step descending; they add up to idle */
	uint32_t n_rows;
};

/* What held a GPU's clock back: NVML's reasons, one bit each. */
enum limit {
	LIMIT_POWER,            /* software power cap */
	LIMIT_THERMAL,          /* software thermal slowdown */
	LIMIT_HARDWARE_THERMAL, /* the hardware's own */
	LIMIT_HARDWARE,         /* hardware slowdown, for whichever reason */
	LIMIT_POWER_BRAKE,      /* asked for by the power supply */
	LIMIT_APPLICATION,      /* clocks set by the user */
	LIMIT_SYNC_BOOST,       /* kept in step with another GPU */
	LIMIT_OTHER,
	LIMIT_COUNT
};
const char *limit_name(enum limit limit);  /* "power_cap" */
const char *limit_label(enum limit limit); /* "power cap" */

struct spread {
	uint32_t n; /* samples that knew it; 0: nothing is known */
	double median, min, max;
};

/* How fast a GPU ran, from samples in the measured windows of all runs. Only those count that were taken while it
 * worked: an idle GPU clocks down. Samples are about a second apart, so a shorter window may hold none, idle or not:
 * then the last one before it and the first one after it stand for it, each if it is at most 1.5 s away. */
struct clocks {
	uint32_t samples; /* that count; 0: nothing is known */
	uint32_t idle;    /* in the windows, left out because the GPU was idle */
	uint32_t beside;  /* of `samples`: taken beside a window that holds none */
	uint32_t blind;   /* runs that sampled the GPU, but neither in their window nor near it */
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
	struct budget budget;
	double limit_ns; /* the launch-latency limit that was used (limit in docs/analysis.md, Causes), median run */
	struct clocks clocks;
};

struct phase_result {
	uint32_t name;                           /* 0: (between phases) */
	uint32_t rank;                           /* 1 … by cost */
	double cost, gpu, idle, host, instances; /* per step; cost, gpu and idle are means over devices */
	double cost_share;
};

struct kernel_result {
	uint32_t name;
	bool comm, graph;
	double instances, per_step;
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
};

/* NVTX ranges of one name that begin in the host's part of the measured window; per step, summed over threads. */
struct range_result {
	uint32_t domain, name;  /* the domain's name, 0: the default one; the range's, normalised: "step_#" */
	double instances, host; /* how many; how long they are open */
	double gpu; /* running time of the GPU work that their threads launched inside them, summed over GPUs */
};

/* The files of a side, as they were given. */
struct side_file {
	const char *file; /* base name, harmless */
	uint32_t run;     /* index into side.runs */
	int32_t rank;     /* in that run; -1: not known */
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
	size_t warmup;         /* leading steps left out (>= 1 when there are steps) */
	const int64_t *period; /* n_periods of them: all, in order; the first warmup − 1 are warm-up */
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

/* What a part of the waterfall is. part_kind_name gives the JSON's word. */
enum part_kind {
	PART_COMPUTE,   /* the budget's parts … */
	PART_COMM,      /* communication not overlapped */
	PART_COPY,      /* copies not overlapped */
	PART_IDLE,      /* one row of the idle time: a cause in a phase */
	PART_UNUSUAL,   /* headline minus the budget's period, where unusual steps were set aside */
	PART_RECORDING, /* what recording added: counted in the parts above and not in the headline, so it is negative
	                 */
	PART_OUTSIDE,   /* without steps: a program's start and end, which its stopwatch times and no part above holds,
	                 * less what recording added */
	PART_OTHER,     /* the smallest of a long list, added up */
	PART_COUNT
};
const char *part_kind_name(enum part_kind kind); /* "comm_exposed", "unusual_steps", … */

/* One of several devices of a side, beside the others; all times per step. Waiting for the last rank inside a
 * communication kernel is not work: `waiting`, `moving` and `unmatched` add up to the budget's comm_exposed. */
struct rank_result {
	uint32_t device;   /* index into side.devices */
	double own;        /* its step without exposed waiting: from the end of its own GPU work to the next such end */
	double waiting;    /* exposed: in collectives, until the last rank has entered */
	double moving;     /* exposed: in collectives, from then on */
	double unmatched;  /* exposed: in communication kernels that could not be matched with other ranks' */
	double hidden;     /* communication beside a computing kernel, its waiting included */
	double waited_for; /* what each of the other ranks waited for this one, mean over them */
	double last;       /* share of the collectives in which it came last */
};

/* Who is waited for. */
enum straggler_kind {
	STRAGGLER_NONE,       /* not known, or nobody waits for anybody */
	STRAGGLER_PERSISTENT, /* for one rank in two thirds of all the waiting, or more */
	STRAGGLER_TURNS       /* for several */
};
const char *straggler_kind_name(enum straggler_kind kind); /* "persistent" */

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
};

/* How long each rank's steps were (rank_result.own), in the side's median run. Cells hold the longest step of their
 * ranks and steps. */
enum { RANK_MAP_ROWS = 64, RANK_MAP_COLUMNS = 120 };
struct rank_map {
	uint32_t rows, columns;               /* 0: there is none: one device, or no steps */
	uint32_t ranks_a_row, steps_a_column; /* the last row and column may hold fewer */
	uint32_t first_step;                  /* number of the first step shown, counted from 0 in the run */
	const float *step;                    /* ns, row by row */
	double low, high; /* ns: what colours reach from and to; cells beyond half and twice the median are beyond */
};

/* The ranks of a side together; where there is one device, nothing is known of them. */
struct ranks_result {
	struct rank_result *list; /* the slowest first: by `own` */
	uint32_t n;               /* as many as devices, or 0 */
	double collectives;       /* matched, per step */
	bool known;               /* at least 95 % of the exposed communication is of matched collectives */
	bool one_clock;           /* times are of one host; else who came last is told by how long kernels ran */
	double waiting, moving, unmatched; /* exposed, mean over the devices that communicate, per step */
	struct straggler straggler;
	struct rank_map map;
};

struct side {
	const char *label;          /* "baseline" or "fixed"; "profile" for `gapline show` */
	const char *name;           /* what the user calls it, harmless; NULL: nothing but baseline or fixed */
	struct trace_source source; /* of the first run */
	struct run_result *runs;
	struct side_files files;
	uint32_t n_runs;
	uint32_t median_run; /* the run whose timeline and overview are shown */
	bool steps_found;
	enum step_origin step_origin; /* of the first run; STEPS_NONE where not all runs have steps */
	double step_coverage;      /* share of the profile's GPU time that belongs to steps, 0 to 1; mean over runs */
	uint32_t step_ranks;       /* ranks that make a step; of the first run */
	double startup;            /* ns before the first step began, mean over runs: run.startup */
	uint32_t step_name;        /* normalised: "step_#" */
	struct loop_result *loops; /* of the median run, by share; none where a range is the step */
	uint32_t n_loops;
	/* What the step thread did in `startup`, by cause: they add up to it. Zero without steps. */
	double startup_cause[CAUSE_COUNT];
	size_t measured;      /* step periods measured, all runs together */
	double time_per_step; /* headline, ns: the window over its steps, the mean over runs, and steps that were set
	                       * aside count as the mean of the others; without steps the mean span of a run */
	double stopwatch;     /* ns: a step, or a whole run without steps, in its stopwatch runs, mean of those that can
	                       * be used; 0: there are none */
	uint32_t n_stopwatch; /* how many of them can be used, … */
	uint32_t n_unused;    /* … and how many cannot, … */
	const char *unused;   /* … and why, of the first of them: a clause; NULL without one */
	double recorded;      /* ns: what time_per_step would be of the recorded runs alone */
	double period_typical; /* exp of the mean over runs of the 10 % trimmed mean of ln period */
	double period_mean, period_median, period_min,
		period_max; /* over all measured periods; mean: mean of runs' means */
	struct device_result *devices;
	uint32_t n_devices;
	struct budget budget; /* mean over devices */
	struct phase_result *phases;
	uint32_t n_phases; /* by rank */
	struct kernel_result *kernels;
	uint32_t n_kernels; /* by per_step descending; sums over devices */
	struct api_result *api;
	uint32_t n_api;
	struct copy_result *copies;
	uint32_t n_copies;
	struct range_result *ranges;
	uint32_t n_ranges;                                                         /* by host descending */
	double launches, graph_launches, collectives, range_instances, sync_calls; /* per step */
	double bytes_h2d, bytes_d2h, bytes_d2d;                                    /* per step */
	double busy;         /* compute + comm_exposed + copy_exposed */
	double overhead;     /* profiler's own recorded overhead on launching threads, per step */
	double waited_calls; /* recorded calls of launching threads that began while their GPU was idle, per step */
	double launch_pace;  /* ns from the start of a launch to the next call of its thread: but for one in a hundred
	                      * it is no less; 0: not known */
	double recording;    /* what recording those made the step longer, about, ns; at most the idle time */
	struct ranks_result ranks;
	struct timeline timeline;
	struct overview overview;
	const struct trace_dropped *dropped;
	uint32_t n_dropped; /* of all runs */
	const struct trace_diagnostic *diagnostics;
	uint32_t n_diagnostics;
	double unlaunched_share; /* of GPU ops without a launch in the profile */
	const char **notes;
	uint32_t n_notes; /* what a reader should know about this side's data: sentences */
};

/* The way from the baseline's step to the fixed one's. Parts add up to the two headline periods exactly (to double
 * rounding); empty when nothing differs. No two parts have the same (kind, cause, phase). */
struct waterfall_part {
	enum part_kind kind;
	enum cause cause;              /* of PART_IDLE */
	uint32_t phase;                /* of PART_IDLE: a name, the baseline's if it has one; 0: between phases */
	uint32_t renamed;              /* of PART_IDLE: what the fixed side calls the phase, if otherwise; else 0 */
	double baseline, fixed, delta; /* ns a step */
};

/* By the cost's own change, measured in the same way on both sides. */
enum finding_status {
	FINDING_RESOLVED, /* the cost fell to a fifth or less */
	FINDING_REDUCED,  /* it fell to four fifths or less */
	FINDING_REMAINING,
	FINDING_NEW /* there was a fifth of it in the baseline, or less */
};
const char *finding_status_name(enum finding_status status);

/* The evidence of a finding: numbers that its sentences are made of. */
enum finding_unit {
	FINDING_TIME,  /* ns (a step, where it is a cost) */
	FINDING_COUNT, /* a step */
	FINDING_BYTES, /* a step */
	FINDING_SHARE  /* 0 to 1 */
};
const char *finding_unit_name(enum finding_unit unit); /* "ms" (the JSON converts), "per_step", "bytes", "share" */
struct finding_number {
	const char *name; /* "cost", "copies", … */
	enum finding_unit unit;
	double value[2]; /* by side; 0 on a side that is not there */
};
enum { FINDING_NUMBERS = 8 };

struct finding {
	const char *id;    /* "input_starvation", "pageable_copies", … */
	const char *title; /* a few words: "Input starvation" */
	int side;  /* whose evidence, ceiling and advice these are: 1 where only the fixed side shows it, else 0 */
	bool both; /* both sides show it */
	enum finding_status status;
	uint32_t phase[2];  /* by side, the phase with most of it; 0: no phase */
	double per_step[2]; /* what it costs, ns a step, by side, measured in the same way */
	bool has_ceiling;
	double ceiling_step; /* ns: the mean step if this one thing were perfectly fixed */
	double ceiling_speedup;
	struct finding_number number[FINDING_NUMBERS];
	uint32_t n_numbers;
	const char *text;   /* evidence, with its numbers; of a pair, the other side's cost too */
	const char *advice; /* what to do */
};

/* A phase that has another name on the fixed side, by its place in the step. */
struct phase_rename {
	uint32_t from, to; /* names in the baseline and in the fixed side */
};

/* Whether what was found in the baseline, and is resolved, explains the gain. */
enum diagnosis_result {
	DIAGNOSIS_NONE,      /* nothing was resolved, or the verdict is not `faster`: nothing to explain */
	DIAGNOSIS_CONFIRMED, /* it explains 80 to 125 % of the gain */
	DIAGNOSIS_PARTLY,    /* less: `rest` says where more came from */
	DIAGNOSIS_EXCEEDED   /* more than was gained: something else changed too, `rest` */
};
const char *diagnosis_result_name(enum diagnosis_result result);

/* Times in ns a step, arithmetic means. */
struct diagnosis {
	enum diagnosis_result result;
	double combined_ceiling; /* the step if all that is resolved were perfectly fixed; 0: nothing was resolved */
	double measured;         /* the fixed side's step; 0: nothing was resolved */
	double gain;             /* how much shorter the step got */
	double explained;        /* how much of that the combined ceiling promised */
	double share;            /* explained / gain; 0 where nothing is judged */
	bool has_rest;
	struct waterfall_part rest; /* of `partly` the largest other gain, of `exceeded` the largest loss */
};

/* What runs without a profiler say, for the verdict on the recorded ones. */
struct unprofiled {
	struct verdict verdict; /* of those runs alone; has_interval is false without them */
	uint32_t n_runs[2];     /* by side */
	const char *unused;     /* why those that are there are not used, a sentence; else NULL */
};

/* A device among the others of its side: "rank 5"; "rank 5, device 1" where a rank has several; without ranks "device 0
 * of process 4711". */
const char *rank_label(const struct side *side, uint32_t device, struct arena *arena);

struct analysis {
	const struct names *names;
	const char *title;      /* may be NULL */
	double items;           /* that a step works on, 0: not told; --items '4096 tokens' */
	const char *items_name; /* "tokens", harmless; NULL without items */
	uint32_t n_sides;       /* 2, or 1 for `gapline show` (then only side[0], findings and notes mean anything) */
	struct side side[2];
	struct verdict verdict;
	double unrecorded;   /* the speedup of the unprofiled runs; 0: there are none */
	bool while_recorded; /* the speedup is of recorded programs, and may be another by more than 5 % without */
	struct unprofiled unprofiled; /* runs of the same programs without a profiler */
	struct verdict_conditions conditions;
	struct gates gates;
	enum same_work same_work;
	bool other_conditions; /* another GPU, driver, clock or way of recording on one side */
	bool comparable;       /* the same work or the same job, under the same conditions */
	const char **differences;
	uint32_t n_differences; /* material: each a sentence */
	const char **notes;
	uint32_t n_notes; /* differences that are not material */
	struct waterfall_part *waterfall;
	uint32_t n_waterfall;
	struct finding *findings;
	uint32_t n_findings; /* by per_step descending within status */
	const struct phase_rename *renames;
	uint32_t n_renames;
	struct waterfall_part change; /* the part that changed most in the direction of the verdict; … */
	bool has_change;              /* … only with `faster` and `slower` */
	struct diagnosis diagnosis;
};

#endif
