/* One profile in memory: columns of integer nanoseconds and interned names. No SQL, no markup, no analysis.
 *
 * A reader (gen/read) hands its rows to a builder (trace/build.h), in any order; trace_link sorts them and joins GPU
 * ops to the calls that launched them. From then on the trace is constant. Everything lives in the arena given to the
 * reader.
 *
 * Times are int64 nanoseconds from the start of the capture; intervals are half-open [start, end), end >= start.
 * Indices are uint32; TRACE_NONE stands for "there is none". */
#ifndef GAPLINE_TRACE_TRACE_H
#define GAPLINE_TRACE_TRACE_H

#include "base/arena.h"
#include "base/err.h"
#include "trace/held.h"
#include "trace/launch.h"
#include "trace/names.h"
#include "trace/sampled.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_NONE UINT32_MAX
#define TRACE_NO_TIME INT64_MIN

enum op_kind {
	OP_KERNEL, /* a kernel that computes */
	OP_COMM,   /* a communication kernel (NCCL and the like), told by its name: classify_comm */
	OP_GRAPH,  /* a CUDA graph launch traced whole: its kernels are not in the profile */
	OP_COPY,
	OP_MEMSET
};

/* Direction of a copy, with CUPTI's numbers (CUpti_ActivityMemcpyKind; 11 to 13 are nsys's for unified memory). */
enum copy_kind {
	COPY_UNKNOWN = 0,
	COPY_H2D = 1,
	COPY_D2H = 2,
	COPY_H2A = 3,
	COPY_A2H = 4,
	COPY_A2A = 5,
	COPY_A2D = 6,
	COPY_D2A = 7,
	COPY_D2D = 8,
	COPY_H2H = 9,
	COPY_P2P = 10,
	COPY_UM_H2D = 11,
	COPY_UM_D2H = 12,
	COPY_UM_D2D = 13
};

enum op_flag {
	OPF_PAGEABLE = 1,   /* a copy whose host side is pageable memory */
	OPF_GRAPH_NODE = 2, /* runs as a node of a CUDA graph: several ops share one launch */
	OPF_MANAGED = 4     /* a unified-memory migration: no call launched it */
};

/* Kind of the memory that a copy reads or writes, with CUPTI's numbers (CUpti_ActivityMemoryKind) less one, as nsys
 * stores them. */
enum memory_kind {
	MEMORY_PAGEABLE = 0,
	MEMORY_PINNED = 1,
	MEMORY_DEVICE = 2,
	MEMORY_ARRAY = 3,
	MEMORY_MANAGED = 4,
	MEMORY_DEVICE_STATIC = 5,
	MEMORY_MANAGED_STATIC = 6,
	MEMORY_UNKNOWN = 7,
	MEMORY_NOT_RECORDED = 255
};

/* GPU ops, sorted by (device, start, end, launch). Ops of one stream may overlap. Rows that are equal in that are in
 * the order of their other columns, names by their texts; rows of other kinds likewise. */
struct trace_ops {
	size_t n;
	int64_t *start, *end;
	int64_t *bytes; /* copies and memsets; of kernels trace_launch of their grid and block; else 0 */
	uint32_t *name; /* kernels: demangled name; graphs: "[CUDA graph]"; copies: "[CUDA memcpy Host-to-Device]" … */
	uint32_t *device;      /* index into trace.devices */
	uint32_t *stream;      /* CUPTI's stream id */
	uint32_t *correlation; /* joins to a call of the same process; 0: none */
	uint32_t *launch;      /* index into calls, or TRACE_NONE; filled by trace_link */
	uint8_t *kind;         /* enum op_kind */
	uint8_t *copy;         /* enum copy_kind, for copies */
	uint8_t *flags;        /* enum op_flag */

	/* Of nodes of CUDA graphs, NULL where no op has one: the call that made it, most often by being captured. */
	uint32_t *creation; /* joins to a call of the same process; 0: none, or not known */
	uint32_t *creator;  /* index into calls, or TRACE_NONE; filled by trace_link */
	uint32_t *graph;    /* of graphs, too: which graph of the process it is, a number; 0: not known */

	/* On request, else NULL (struct read_wish): */
	uint32_t *base_name;    /* kernels: without template and arguments; else as `name` */
	uint32_t *mangled_name; /* kernels: as the compiler calls it; else, or where it was not recorded, as `name` */
	uint64_t *shape;        /* kernels: trace_shape of their launch; 0: not recorded */
	uint32_t *context;      /* CUPTI's context id */
	uint32_t *green;        /* green context id; 0: in none */
	uint8_t *from, *to;     /* enum memory_kind: of a copy's ends; a memset has `to` alone */
};

/* Floating-point operations and of which numbers they are: a number of 8 bits or 16, an integer, or any other. */
enum flop_format { FLOP_OTHER, FLOP_16, FLOP_8, FLOP_INT8 };
static inline int64_t trace_flops(int64_t n, enum flop_format format)
{
	return (n + 1) << 2 | (int64_t)format;
}

/* What a CUDA API call is about, strongest last: where calls nest, the strongest open one names what the thread does
 * (docs/method/analysis.md, Causes). Told by the call's name: classify_call. */
enum call_class { CALL_OTHER, CALL_LAUNCH, CALL_COPY, CALL_SYNC, CALL_ALLOC, CALL_MODULE };

/* What GPU work of the profile a call queued. */
enum call_queues { QUEUES_NONE, QUEUES_ONE, QUEUES_GRAPH };

/* CUDA runtime and driver calls, sorted by (thread, start, end descending). Calls of one thread may nest. */
struct trace_calls {
	size_t n;
	int64_t *start, *end;
	uint32_t *name;        /* without version suffix: cudaLaunchKernel, not cudaLaunchKernel_v7000 */
	uint32_t *thread;      /* index into trace.threads */
	uint32_t *correlation; /* likewise */
	uint8_t *class;        /* enum call_class; trace_link makes it CALL_SYNC for device-to-host copies whose call is
	                        * synchronous by its name */
	uint8_t *
		waits;   /* filled by trace_link: 1 if the call returns only when the GPU has got there: the CALL_SYNC
	                  * ones, and read-backs into pageable memory by an asynchronous call, which block all the same */
	uint8_t *queues; /* filled by trace_link: enum call_queues */
	uint32_t *noted; /* what else the profiler noted on the thread since the call before; NULL: not known */
	uint32_t *full_name;               /* on request, else NULL: with version suffix, as the profile has it */
	uint32_t *in_operator, *in_module; /* the innermost ones (PyTorch's, XLA's), 0: none; NULL: none at all */
	uint32_t *in_line;      /* where in Python, of calls that make nodes of graphs: "train.py:42 Block.forward" */
	uint32_t *in_outermost; /* likewise the outermost; of backward passes, of what they belong to */
	int64_t *flops;         /* trace_flops of in_operator at its first launch, later of 0; 0: not known */
	int64_t *moved;         /* 1 + the bytes that in_operator reads and writes at least, likewise */
};

enum range_kind { RANGE_PUSH_POP, RANGE_START_END };

/* NVTX ranges, sorted by (thread, start, end descending). Push/pop ranges of a thread nest; start/end ranges may
 * overlap freely and belong to the thread that started them. */
struct trace_ranges {
	size_t n;
	int64_t *start, *end;
	uint32_t *name;
	uint32_t *domain; /* name of the domain; 0 (the empty name) is the default domain */
	uint32_t *thread;
	uint8_t *kind;    /* enum range_kind */
	uint8_t *clipped; /* 1: was still open when the capture stopped; `end` is the last time seen in the profile */
	uint8_t *moved;   /* on request, else NULL: 1: a start/end range for which the profile names an ending thread */

	int64_t last_time; /* the latest start or end of anything that NVTX recorded, marks included */
};

/* It waits for a thread's signal, a lock, another process (MPI), or that what it gives away is taken. */
enum os_class { OS_OTHER, OS_WAIT, OS_MUTEX, OS_PEER, OS_OUTPUT };

/* Calls that hold a thread up (OS runtime tracing, MPI), sorted by (thread, start, end descending). */
struct trace_os_calls {
	size_t n;
	int64_t *start, *end;
	uint32_t *name, *thread;
	uint8_t *class; /* enum os_class, told by the name: classify_os */
};

/* The profiler's own work; the program's loading or JIT. */
enum overhead_class { OVERHEAD_PROFILER, OVERHEAD_MODULE_LOAD };

/* Overhead that the profiler recorded, sorted by (thread, start, end descending). */
struct trace_overheads {
	size_t n;
	int64_t *start, *end;
	uint32_t *name, *thread;
	uint8_t *class; /* enum overhead_class: rows named "dlopen(…)" or "dlclose", JIT, module and function loading
	                 * are the program's own (OVERHEAD_MODULE_LOAD) */
};

/* Slices of time in which a thread was on a processor, as the operating system's scheduler noted them, sorted by
 * (thread, start); those of a thread do not overlap. Between the end of a slice and the start of its thread's next one
 * the thread was off the processors; outside its first and last slice nothing is known. Only threads that have other
 * rows too are here, and of a capture in which the scheduler was not recorded none is. Where an event was lost, the
 * time between its neighbours counts as on a processor: "off" is only said where both of its ends were recorded. */
struct trace_slices {
	size_t n;
	int64_t *start, *end;
	uint32_t *thread;
};

struct trace_process {
	int64_t pid;
	uint32_t name; /* base name of the program, 0 if unknown */
	int32_t rank;  /* its number in a parallel job, -1 if the profile does not say */
	uint64_t host; /* digest of the host's name, 0 if unknown: tells hosts apart, and stands in no output */
};

struct trace_thread {
	int64_t tid;
	uint32_t process; /* index into trace.processes */
	uint32_t name;
};

/* The last bit of a GPU's digest where it is of a place on its host's bus; of a UUID it is 0. */
enum { TRACE_GPU_BY_PLACE = 1 };

/* A physical GPU as the profile describes it. Unknown numbers are 0. */
struct trace_gpu {
	uint32_t name;
	uint64_t id; /* digest of what tells it from every other GPU, of other hosts too; 0: not known. In no output */
	int64_t memory_bytes;
	int64_t clock_hz; /* highest SM clock */
	int64_t sm_count;
};

/* A (process, device) pair that ran GPU ops. */
struct trace_device {
	uint32_t process;
	uint32_t ordinal;  /* deviceId as the process counts */
	uint32_t gpu;      /* index into trace.gpus, TRACE_NONE if it cannot be told */
	uint32_t first_op; /* ops [first_op, first_op + n_ops) are this device's */
	uint32_t n_ops;
	enum memory_known memory;
	int64_t memory_peak; /* of MEMORY_SEEN and _ALLOCATOR: the most bytes there at once; else 0 */
	struct trace_held held[HELD_BYS][HELD_MOST]; /* of it, the largest parts */
};

/* Why the energy of a run is not known. */
enum {
	ENERGY_NOT_ASKED = 0,
	ENERGY_NO_COUNTER = -1, /* of a GPU that the program uses, or it went back */
	ENERGY_SHORT = -2,      /* of so few seconds the counters say little */
	ENERGY_SHARED = -3,     /* another process uses the GPU, too */
	ENERGY_MIG = -4,        /* the counter is that of all instances of the GPU */
	ENERGY_FLAWS = 5
};
#define ENERGY_MOST 1000000000000 /* mJ: no GPU uses so much in a run */

/* Another run of the same program, taken in turns with this one, in which nothing was recorded (`gapline run`). */
struct trace_stopwatch {
	int64_t start;      /* UTC of its start, ns */
	int64_t time;       /* ns that `steps` steps took, or the whole process where `steps` is 0; 0: not known */
	int64_t process;    /* ns from the process's start to its end */
	uint32_t steps;     /* 0: the program has none */
	uint32_t launches;  /* that a process made in that time, where they were counted; 0: ranges were, or it is not
	                       known */
	const char *step;   /* normalised name of the range that is a step, or title of the loop; NULL: not known */
	const char *unused; /* why `time` is not known, a clause; else NULL */
	int64_t energy;     /* mJ that the GPUs with devices used in `time`, each counted once; else ENERGY_… */
	bool looked;        /* how many such runs there are was decided by looking at those that were made */
};

/* What a GPU did at one instant, about once a second while gapline captured; gpu_samples is sorted by (gpu, time).
 * Numbers that are not known are -1. */
struct trace_gpu_sample {
	int64_t time;
	uint32_t gpu; /* index into trace.gpus */
	int32_t sm_mhz, memory_mhz, power_mw, temperature_c;
	int32_t busy_percent; /* of the time up to a second before */
	bool has_limits;      /* `limits` is known */
	uint64_t limits;      /* why the clock was held back: NVML's bits, see trace_limit */
};

/* NVML's clock event reasons (nvmlClocksEventReasons). */
enum trace_limit {
	LIMITED_IDLE = 0x1,
	LIMITED_APPLICATION = 0x2,
	LIMITED_POWER = 0x4,
	LIMITED_HARDWARE = 0x8,
	LIMITED_SYNC_BOOST = 0x10,
	LIMITED_THERMAL = 0x20,
	LIMITED_HARDWARE_THERMAL = 0x40,
	LIMITED_POWER_BRAKE = 0x80
};

/* NCCL's calls that say what they are about, in any order: NVTX ranges with a payload (read/nsys.h). They are
 * in `ranges` too. Numbers that a call does not say are −1, or TRACE_NONE. */
struct trace_comm_calls {
	size_t n;
	int64_t *start, *end;
	uint32_t *name; /* "ncclAllReduce" */
	uint32_t *thread;
	int64_t *comm;  /* of the communicator: one number on all of its ranks; 0: not known */
	int64_t *bytes; /* NCCL's message size: of all-gather and reduce-scatter one rank's share; 0: or not
	                 * known; negative: the call makes or ends a communicator */
	uint32_t *peer; /* of send and receive, and of broadcast and reduce the root: a rank of the communicator */
	uint32_t *rank, *ranks; /* of calls that make or end a communicator: the process's own rank in it, and how many
	                         * it has */
};

/* One host's clock beside the first host's, of a run whose files come from several hosts (trace/files.h). */
struct trace_clock {
	uint64_t host;      /* as in trace_process */
	uint32_t files;     /* of the run that are of this host */
	bool known;         /* the numbers below are: of the first host they are, and 0 */
	double offset;      /* ns that were added to its times, amid the run … */
	double drift;       /* … and more of it per ns: 1e-6 is one ppm */
	double within;      /* ns: a time is at most so far from the first host's */
	size_t collectives; /* that this is from */
};

/* Hardware counters that a GPU was sampled with, in percent of what its hardware can do: of links and memory their
 * bandwidth, of all else cycles, the mean over the units. */
enum metric {
	METRIC_SM_ACTIVE, /* cycles in which an SM had a warp */
	METRIC_SM_ISSUE,  /* … issued an instruction */
	METRIC_TENSOR,    /* … used its tensor cores */
	METRIC_DRAM_READ,
	METRIC_DRAM_WRITE,
	METRIC_PCIE_IN, /* to the GPU */
	METRIC_PCIE_OUT,
	METRIC_NVLINK_IN, /* all its links together */
	METRIC_NVLINK_OUT,
	METRIC_COUNT
};

enum { METRIC_NOT_SAMPLED = 255 };

/* The counters of one GPU, in order of time. The table of nsys gives every sample one time; which of its two sides the
 * sample counted is told by analysis. */
struct trace_metrics {
	uint32_t gpu; /* index into trace.gpus, TRACE_NONE: the profile does not list it */
	size_t n;
	int64_t *time;
	uint8_t *value[METRIC_COUNT]; /* n of each, percent, or METRIC_NOT_SAMPLED; NULL: none was sampled */
};

/* Kinds of rows, as they are counted. */
enum row_kind {
	ROWS_KERNELS,
	ROWS_GRAPHS,
	ROWS_COPIES,
	ROWS_MEMSETS,
	ROWS_CALLS,
	ROWS_RANGES, /* a row of NVTX that cannot be told to be a range or not counts as one */
	ROWS_OS_CALLS,
	ROWS_OVERHEADS,
	ROWS_SLICES, /* the scheduler's events that slices are made of */
	ROWS_STOPWATCH,
	ROWS_GPU_SAMPLES,
	ROWS_METRICS, /* a value of a hardware counter */
	ROWS_SAMPLES, /* samples of host threads, and the frames of their stacks */
	ROW_KINDS
};
const char *row_kind_name(enum row_kind kind); /* "kernels", "os_calls", … */

/* How many rows of a kind the profile holds, and how many were dropped because they make no sense. A kernel or a call
 * without a name stays and counts as dropped: nobody knows what it did. */
struct trace_count {
	int64_t read, dropped;
};

/* The reason for rows without a name. */
#define TRACE_NO_NAME "has no name"

struct trace_dropped { /* rows that make no sense */
	enum row_kind kind;
	const char *where;  /* the profile's own name for where they stand, such as a table's; arena text */
	const char *reason; /* "ends before it starts", "has no timestamp", … */
	int64_t rows;
};

struct trace_diagnostic {
	int severity;  /* 2 warning, 3 error */
	uint32_t text; /* file paths in it are shortened to their last part */
};

enum source_kind { SOURCE_NSYS_SQLITE, SOURCE_GAPLINE, SOURCE_KINETO };
/* How CUDA graph launches were traced, if there are any. */
enum graph_mode { GRAPHS_NONE, GRAPHS_WHOLE, GRAPHS_BY_NODE };

/* Where the profile comes from and what it can know. Texts are arena texts, "" if unknown. Nothing here names a host,
 * a user, a path or an environment variable. */
struct trace_source {
	enum source_kind kind;
	const char *collector;   /* "nsys", "gapline-cupti", …: the tool that recorded; decides comparability */
	const char *exporter;    /* "NVIDIA Nsight Systems 2025.3.2" */
	const char *schema;      /* "3.20.3" */
	const char *driver;      /* NVIDIA driver version */
	const char *cuda_driver; /* CUDA version of the driver */
	const char *captured_by; /* "0.1.0": the gapline that captured it; "" for a profile from elsewhere */
	const char *cupti;       /* CUPTI's version, when gapline's own collector recorded */
	const char *traced;      /* what that gapline was asked to trace: "cuda,nvtx" */
	const char *sampled_by;  /* where gpu_samples come from: "NVML", "none"; "nvidia-smi" until 0.2 */
	const char *incomplete;  /* why the end of the run may be missing, a sentence; "" when it is complete */
	int64_t lost;            /* records that the collector lost … */
	int64_t lost_events;     /* … and of these, those of host threads: ranges, operating-system calls, samples; 0:
	                          * none, or not known */
	int64_t sample_ns;       /* mean distance of the samples of a host thread, whatever it did, as gapline's own
	                          * sampler was told; 0: not known. What it could not read: */
	int64_t samples_torn;
	int64_t others;      /* processes of others that used one of the program's GPUs when it began, the most of any;
	                      * 0: none, or not known */
	int64_t ranges_ns;   /* what it took a step to add NVTX ranges while it was recorded; 0: none were added */
	int64_t started;     /* the trace's time 0 on the wall clock: ns since 1970 (UTC); TRACE_NO_TIME: not known */
	int64_t began;       /* when the program was started that was recorded from there on, on the trace's clock;
	                      * TRACE_NO_TIME: not known, or recording began later */
	uint64_t host;       /* digest of the host's name; 0: not known. No output shows it; trace_host_is_contained */
	uint64_t job;        /* digest of what a launcher calls the job that the program is part of; likewise */
	int32_t rank, ranks; /* the program's number in that job, and how many it has; -1: not known */
	bool has_calls, has_ranges, has_os_calls, has_overheads; /* whether the table exists and held rows */
	bool has_lock; /* it was looked whether threads wait for Python's interpreter lock: of several files, in all */
	enum graph_mode graphs;
};

/* A host's digest ends in these bits where its name looks like a container's, and in a 0 where it does not. */
enum { TRACE_HOST_CONTAINED = 15 };
static inline bool trace_host_is_contained(uint64_t host)
{
	return (host & TRACE_HOST_CONTAINED) == TRACE_HOST_CONTAINED;
}

/* One of which nothing is known yet: texts are empty, never NULL. */
static inline struct trace_source trace_source_unknown(void)
{
	return (struct trace_source){.collector = "",
	                             .exporter = "",
	                             .schema = "",
	                             .driver = "",
	                             .cuda_driver = "",
	                             .captured_by = "",
	                             .cupti = "",
	                             .traced = "",
	                             .sampled_by = "",
	                             .incomplete = "",
	                             .started = TRACE_NO_TIME,
	                             .began = TRACE_NO_TIME,
	                             .rank = -1,
	                             .ranks = -1};
}

struct trace_again;

struct trace {
	struct names *names;
	struct trace_source source;
	struct trace_ops ops;
	struct trace_calls calls;
	struct trace_ranges ranges;
	struct trace_os_calls os_calls;
	struct trace_overheads overheads;
	struct trace_slices slices;
	struct trace_samples samples;
	struct trace_gil gil;
	struct trace_unlooked unlooked;
	struct trace_stacks stacks;
	struct trace_process *processes;
	uint32_t n_processes;
	struct trace_thread *threads;
	uint32_t n_threads;
	struct trace_device *devices;
	uint32_t n_devices;
	struct trace_gpu *gpus;
	uint32_t n_gpus;
	struct trace_comm_calls comm_calls;
	struct trace_levels levels;
	struct trace_stopwatch *stopwatch; /* in the order in which they ran */
	uint32_t n_stopwatch;
	struct trace_gpu_sample *gpu_samples;
	size_t n_gpu_samples;
	struct trace_clock *clocks;    /* by host, of a run of several hosts; the first one's is the trace's clock */
	uint32_t n_clocks;             /* 0: one host, or hosts are not known */
	struct trace_metrics *metrics; /* by GPU; none where no hardware counter was sampled */
	uint32_t n_metrics;
	struct trace_count rows[ROW_KINDS];
	struct trace_dropped *dropped;
	uint32_t n_dropped;
	struct trace_diagnostic *diagnostics;
	uint32_t n_diagnostics;
	/* first row of each thread, filled by trace_link: rows of thread t are [first[t], first[t + 1]) */
	uint32_t *first_call, *first_range, *first_os_call, *first_overhead, *first_slice, *first_sample, *first_gil,
		*first_unlooked;
	int64_t first_time, last_time; /* of all ops, calls and ranges: when recording began and ended, as far as rows
	                                * tell; both 0 where there is none. Filled by trace_link */
	int64_t n_unlaunched;          /* ops other than unified-memory migrations without a call in the profile */
	/* Rows that are not held (again.h): here is only what NCCL, samples of threads, and these about Python's lock
	 * say, and of ops there are communication kernels (comm.h). NULL: all rows are here. */
	struct trace_again *again;
	uint32_t n_again; /* parts of the run */
};

/* Sorts all columns as documented, fills trace.first_*, devices' op spans, ops.launch (same correlation *and* same
 * process), n_unlaunched and the class of blocking copies; trace_order none of the last three. Memory: `arena`'s. */
void trace_link(struct trace *trace, struct arena *arena);
void trace_order(struct trace *trace, struct arena *arena);

/* Moves a trace to another table of names: every name of it becomes ids[name]. */
void trace_rename(struct trace *trace, struct names *names, const uint32_t *ids);

#endif
