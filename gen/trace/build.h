/* Builds a struct trace from rows, in whatever order a profile holds them. A format is "rows in" and nothing else:
 * processes, threads, devices, domains and names are numbered here, rows that make no sense are dropped and counted,
 * and build_finish classifies, orders and links what is left.
 *
 *	struct build b;
 *	build_begin(&b, &trace, &names, &arena, false);
 *	build_from(&b, "kernels");
 *	build_op(&b, &(struct build_op){.kind = OP_KERNEL, .start = 20, .end = 50, .process = 100, .pid = 100,
 *	                                .correlation = 7, .name = build_text(&b, "gemm", 4)});
 *	build_call(&b, &(struct build_call){.thread = {.key = 101, .process = 100, .pid = 100, .tid = 101},
 *	                                    .start = 10, .end = 14, .correlation = 7,
 *	                                    .name = build_text(&b, "cudaLaunchKernel", 16)});
 *	build_finish(&b);
 *
 * Times are ns from the start of the capture. Everything lives in the arena. Functions do not fail: a row that cannot
 * be used is counted in trace.dropped. */
#ifndef GAPLINE_TRACE_BUILD_H
#define GAPLINE_TRACE_BUILD_H

#include "base/keymap.h"
#include "trace/columns.h"
#include "trace/samples.h"

static const uint64_t BUILD_AT_HAND = (uint64_t)1 << 62; /* in a key of strings: the rest is the id of a text */

struct build {
	struct trace *trace;
	struct names *names;
	struct arena *arena;
	bool requested; /* fill the columns that trace.h calls "on request" */

	/* all else is the builder's own */
	const char *where;
	size_t room[COLUMNS_OF];

	struct keymap strings; /* names: by a number of the format's, or by their id; see build_number, build_text */
	uint32_t *string_name; /* by index of strings: the id of its text, or TRACE_NONE */
	uint32_t string_room;
	uint32_t unknown_name; /* id of what a name is called whose text was not given; 0: not needed yet */
	bool ops_named;
	uint32_t graph_string, memset_string, copy_string[COPY_UM_D2D + 1]; /* indices of the fixed names of ops */

	struct keymap processes, threads; /* by the format's keys */
	struct keymap devices;            /* by process << 32 | ordinal */
	uint64_t last_process;            /* the device of the op before: last_device, when it is of this process … */
	int64_t last_ordinal;             /* … and has this ordinal */
	uint32_t last_device;             /* index + 1; 0: none yet */

	struct keymap domain_ids; /* numbers of any size, numbered */
	struct keymap domains;    /* by process << 32 | index of domain_ids */
	uint32_t *domain_string;  /* by index of domains: index of strings, or TRACE_NONE */
	uint32_t domain_room;
	uint32_t *thread_string; /* by thread: the name that the program gave it, likewise */
	uint32_t thread_room;

	struct keymap scheduled; /* keys of threads in the scheduler's events and in samples, which are no reason to
	                          * list them */
	struct slice_events switches;
	struct flawed_switch {
		uint32_t thread;
		const char *where, *flaw;
	} * flawed; /* those that make no sense, which is a loss where their thread has rows */
	size_t n_flawed, flawed_room;
	struct stack_samples samples; /* their threads are numbered like the switches' */
	struct gil_looks gil;         /* likewise */
	size_t sample_room, stopwatch_room;
	struct build_node { /* where a node of a graph was made */
		uint64_t thread;
		int64_t time;
		uint32_t function, file; /* indices of strings, TRACE_NONE: not known; behind resolve_names names */
		uint32_t line;           /* 0: not known */
	} * nodes;
	uint32_t n_nodes;
	size_t node_room;

	int64_t last_time; /* the latest time in any row that was kept */
	enum graph_mode stated_mode;
};

/* Makes `trace` empty, of an unknown source, and begins. `names`: where texts go. */
void build_begin(struct build *b, struct trace *trace, struct names *names, struct arena *arena, bool requested);

/* Says where the rows that follow stand, for the list of dropped rows: a table of a database. The text has to live as
 * long as the trace. */
static inline void build_from(struct build *b, const char *where)
{
	b->where = where;
}

/* `n` more rows of a kind are to be expected. */
void build_reserve(struct build *b, enum columns_of rows, size_t n);

/* ---- names ---- */

/* A row names things by a key. A text that is at hand: */
uint64_t build_text(struct build *b, const char *text, size_t n);

/* A text that the format keeps elsewhere under a number, and gives later or never (then the name is unknown). A
 * negative number is the unknown name. */
uint64_t build_number(int64_t number);

/* That text, if any row names it: build_wants gives an index to be handed to build_give, or TRACE_NONE. Of several for
 * one number the first in the alphabet counts. */
uint32_t build_wants(const struct build *b, int64_t number);
void build_give(struct build *b, uint32_t index, const char *text, size_t n);

/* ---- rows ---- */

/* A thread, told apart by `key`, of the process told apart by `process`: numbers of the format's own that also order
 * them. */
struct build_thread {
	uint64_t key, process;
	int64_t pid, tid; /* as people know them */
};

/* Common to all rows: `flaw` is why the row cannot be used, as far as the format can tell, else NULL. Times, sizes and
 * numbers are looked at here. */

struct build_op {
	const char *flaw;
	int64_t start, end, bytes; /* bytes: as in struct trace_ops */
	uint64_t process;
	int64_t pid;
	int64_t device, stream; /* ordinal of the device in its process; stream id */
	int64_t correlation;    /* not in 1 to UINT32_MAX: joins nothing */
	uint64_t name;          /* of a kernel; the others have fixed names */
	enum op_kind kind;      /* OP_COMM is told by the name */
	enum copy_kind copy;
	uint8_t flags;    /* enum op_flag; OPF_PAGEABLE and OPF_MANAGED of a copy are told by its kinds */
	uint32_t node;    /* build_node; 0: where it was made is not known */
	uint32_t graph;   /* as in struct trace_ops */
	uint8_t from, to; /* enum memory_kind */
	uint64_t base_name, mangled_name; /* of a kernel, on request; and so: */
	uint64_t shape;
	uint32_t context, green;
};

struct build_call {
	const char *flaw;
	int64_t start, end, correlation;
	uint64_t name; /* with or without CUDA's version suffix */
	struct build_thread thread;
	const struct build_call_notes *notes; /* NULL: none */
};

/* What is known of it from operators. */
struct build_call_notes {
	uint32_t in_operator, in_outermost, in_module; /* ids of their names in `names`, 0: none. Of a builder that
	                                                * joins no other */
	int64_t flops, moved;                          /* as in struct trace_calls, and so: */
	uint32_t noted;
};

struct build_range {
	const char *flaw;
	int64_t start, end; /* end is INT64_MIN: was still open when the capture stopped */
	uint64_t name;
	int64_t domain; /* the process's number for it: build_domain */
	struct build_thread thread;
	enum range_kind kind;
	bool moved; /* a start/end range for which the profile names an ending thread */
};

/* What a range says of a collective; numbers as in struct trace_comm_calls. Nothing comes of one whose times cannot be
 * used: it was counted as a range or a call. */
struct build_comm_call {
	int64_t comm, bytes;
	uint32_t peer, rank, ranks;
};

struct build_os_call {
	const char *flaw;
	int64_t start, end;
	uint64_t name;
	struct build_thread thread;
};

struct build_overhead {
	const char *flaw;
	int64_t start, end;
	uint64_t name;
	struct build_thread thread;
	enum overhead_class class; /* OVERHEAD_PROFILER: or what its name tells */
};

/* The scheduler put a thread on a processor (in) or took it off. */
struct build_switch {
	const char *flaw;
	int64_t time;
	uint64_t thread; /* key */
	bool in;
};

/* A frame of a sampled stack. */
struct build_frame {
	uint64_t name, module; /* of a frame that is not resolved the name means nothing */
	bool unresolved;
};

/* A look at a thread's stack. */
struct build_host_sample {
	const char *flaw;
	int64_t time;
	uint64_t thread; /* key */
	uint32_t stack;  /* build_stack; 0: the stack is not known */
};

/* Whether a thread waited for the global interpreter lock when it was looked at. */
struct build_gil {
	const char *flaw;
	int64_t time;
	uint64_t thread; /* key */
	bool waits;
	uint64_t switches;          /* how often the lock had changed hands by then; 0: not known */
	struct build_thread holder; /* key 0: not known */
	uint32_t stack;             /* what the holder did: build_stack, 0: not known */
};

/* A node of a CUDA graph: a number for ops of this builder. */
struct build_made {
	uint64_t thread; /* its key */
	int64_t time;
	uint64_t function, file; /* of whom it was made: names as of other rows; 0: that is not known */
	uint32_t line;           /* 0: not known */
};
uint32_t build_node(struct build *b, const struct build_made *made);

void build_op(struct build *b, const struct build_op *row);
void build_call(struct build *b, const struct build_call *row);
bool build_range(struct build *b, const struct build_range *row); /* true: kept */
void build_comm_call(struct build *b, const struct build_range *range, const struct build_comm_call *row);
void build_os_call(struct build *b, const struct build_os_call *row);
void build_overhead(struct build *b, const struct build_overhead *row);
void build_switch(struct build *b, const struct build_switch *row);
void build_host_sample(struct build *b, const struct build_host_sample *row);
void build_gil(struct build *b, const struct build_gil *row); /* of a thread in order of time */

/* The innermost frame of a stack, the outermost first; 0: it is empty. */
uint32_t build_stack(struct build *b, const struct build_frame *frames, size_t n);

/* What a GPU of trace.gpus did: at any time, also behind build_finish; build_order_samples after the last of them. */
void build_sample(struct build *b, const struct trace_gpu_sample *sample, const char *flaw);
void build_order_samples(struct build *b);

/* A timed run, after the one before it; `unused` is any text, NULL where there is a time;
 * `step` any text or NULL. */
void build_stopwatch(struct build *b, const struct trace_stopwatch *run, const char *flaw);

/* Counts a row that is left out; and `rows` that were counted as read, and say too little to be counted on. */
void build_drop(struct build *b, enum row_kind kind, const char *reason);
void build_lack(struct build *b, enum row_kind kind, const char *reason, int64_t rows);

/* Why a row with these times cannot be used, or NULL. `from_zero`: its kind never starts before the capture. */
const char *build_time_flaw(int64_t start, int64_t end, bool from_zero);

/* A time at which NVTX recorded something that is no range. */
void build_mark(struct build *b, int64_t time);

/* ---- what is known about them ---- */

/* Index in trace.processes until build_finish, added if it is new; or TRACE_NONE when no row is of that process. */
uint32_t build_process(struct build *b, uint64_t key, int64_t pid);
uint32_t build_find_process(const struct build *b, uint64_t key);

/* The program's own name for a domain of a process, or for a thread; and a name that the system has for a thread, which
 * counts where rows are of that thread and the program has none. */
void build_domain(struct build *b, uint32_t process, int64_t domain, uint64_t name);
void build_thread_name(struct build *b, const struct build_thread *thread, uint64_t name);
void build_system_name(struct build *b, uint64_t thread, uint64_t name);

/* How the capture's options say that graphs were traced. */
void build_graphs(struct build *b, enum graph_mode mode);

/* ---- inside the builder ---- */

uint32_t build_thread_index(struct build *b, const struct build_thread *thread);
uint32_t build_domain_index(struct build *b, uint32_t process, int64_t domain);
void build_name_index(struct build *b, uint32_t thread, uint32_t string);
void build_note_node(struct build *b, size_t op, uint32_t node);
void build_note_call(struct build *b, size_t call, const struct build_call_notes *notes);
void build_number_nodes(struct build *b, const uint32_t *number); /* names of functions and files, once more */
void build_creators(struct build *b); /* when calls are in order, and threads of nodes are indices */

/* ---- the end ---- */

/* Gives back room that the rows so far do not need. */
void build_trim(struct build *b);

/* Takes over what another builder was given, as if `b` had been given it now; `from` and its names must not be used any
 * more, and its arena has to live on. */
void build_join(struct build *b, struct build *from);

/* Turns keys into names, orders processes, threads and devices by their keys, tells what names mean, fills trace.source
 * as far as rows tell, and links (trace_link). From then on rows are constant; GPUs, ranks and texts of the source may
 * still be filled in. */
void build_finish(struct build *b);

/* Gives back the ids by which ops found their calls, which nothing needs after build_finish but what shows them. */
void build_drop_ids(struct build *b);

#endif
