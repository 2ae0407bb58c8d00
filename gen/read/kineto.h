/* Traces of the PyTorch profiler (Kineto): Chrome's trace format as JSON, packed or not, an array of events or an
 * object around it, in every spelling since 2020. The layout is what libkineto's output_json.cpp writes.
 *
 * The file is streamed: base/json_scan holds a window of it, kineto_parse keeps the few numbers of each event that
 * count, and kineto_phases and kineto_read hand them to the builder. Memory is that of the events kept, whatever else
 * the file holds. */
#ifndef GAPLINE_READ_KINETO_H
#define GAPLINE_READ_KINETO_H

#include "base/buf.h"
#include "base/keymap.h"
#include "read/read.h"
#include "read/source.h"
#include "trace/build.h"

/* ---- for read.c ---- */

/* Whether it begins as JSON does: only reading it tells whether it is a trace. */
bool kineto_recognise(const struct file_head *head);

/* Whether its first bytes show that it is a trace of this kind; one that says so later is missed. */
bool kineto_looks_like_trace(const struct file_head *head);

int kineto_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err);

/* ---- inside ---- */

/* Decimal microseconds, as JSON writes a number ("4320554113004.505", "5e-1"), in ns, exactly; beyond three decimals
 * the nearest ns. False: no number, or 2^61 ns and more. */
bool kineto_ns(const char *text, size_t n, int64_t *ns);

/* A decimal integer, also as a fraction of zeros. False: none, or it does not fit. */
bool kineto_integer(const char *text, size_t n, int64_t *value);

/* KINETO_MODULE: a function too short to be one, that is a module's. */
enum kineto_kind { KINETO_CALL, KINETO_OPERATOR, KINETO_ANNOTATION, KINETO_MODULE, KINETO_FUNCTION, KINETO_OVERHEAD };

/* What PyTorch calls the function of a module: "nn.Module: Linear_7". */
#define KINETO_MODULE_PREFIX "nn.Module: "

/* Something that a thread did. Times as the file has them, ns. */
struct kineto_span {
	int64_t start, end, correlation; /* correlation: of calls */
	int64_t flops, moved;  /* of operators, and of calls by kineto_give_ranges: as in struct trace_calls */
	uint32_t name, thread; /* name: id; thread: index into kineto.threads */
	uint32_t in_operator, in_outermost, in_module; /* of calls, by kineto_give_ranges: as in struct trace_calls;
	                                                * in_module of a module: its own path */
	uint16_t noted;                                /* likewise; UINT16_MAX stands for more, too */
	uint8_t kind;                                  /* enum kineto_kind */
};

/* Something that a GPU did. */
struct kineto_op {
	int64_t start, end, bytes, correlation, device, stream;
	uint64_t shape; /* trace_shape of a kernel's launch; 0: not said */
	uint32_t name, context;
	uint8_t kind; /* enum op_kind: kernel, copy or memset */
	bool node;    /* of a graph */
};

/* What a kernel says of its collective; numbers as in struct trace_comm_calls. */
struct kineto_comm {
	int64_t comm, bytes;
	const char *name;
};

/* Where a forward operator begins, and an operator of the backward pass that belongs to it: they have one number. */
struct kineto_link {
	int64_t time, id;
	uint32_t thread;
	uint32_t module, outermost; /* of the forward operator, by kineto_give_ranges */
};

/* From the end of an optimizer's step to the end of the next one, on the thread that calls it. */
struct kineto_step {
	int64_t start, end;
	uint32_t thread;
};

struct kineto_thread {
	int64_t tid;
	uint32_t process; /* index into kineto.processes */
	uint32_t name;    /* id, 0: not said */
};

struct kineto_process {
	int64_t pid;
	uint32_t name;
	uint32_t calls; /* CUDA calls seen */
};

/* What PyTorch's caching allocator had handed out at most of a GPU to a process. */
struct kineto_peak {
	int64_t device, bytes; /* bytes: below 0: a number makes no sense */
	uint32_t process;      /* index into kineto.processes */
	bool unsaid;           /* how much is handed out in all: PyTorch of before 2022 says changes alone */
};

/* An allocation of the caching allocator, or a free. */
struct kineto_memory {
	int64_t time, bytes, after, device; /* bytes: < 0: freed; after: all that is handed out then */
	uint64_t address;
	uint32_t thread;
	uint32_t in_operator; /* the outermost, by kineto_give_ranges; 0: none */
};

struct kineto_gpu {
	int64_t id, memory, sms;
	uint32_t name;
};

struct kineto {
	const char *path;
	struct arena scratch; /* what the lists below live in */
	struct names *names;
	struct build *build;
	struct err *err;

	struct kineto_span *spans;
	struct kineto_op *ops;
	struct kineto_link *links, *backs; /* forward, backward */
	struct kineto_comm *comms;         /* by comm_keys, of correlations */
	struct kineto_thread *threads;
	struct kineto_process *processes;
	struct kineto_gpu *gpus;
	struct kineto_peak *peaks;
	struct kineto_memory *memory;
	struct kineto_step *steps; /* by kineto_find_steps */
	size_t n_spans, n_ops, n_links, n_backs, n_gpus, n_peaks, n_memory, n_steps;
	size_t span_room, op_room, link_room, back_room, gpu_room, peak_room, memory_room, step_room;
	uint32_t n_threads, n_processes, n_comms, thread_room, process_room, comm_room;
	struct keymap comm_keys;
	struct keymap pids, tids, thread_keys; /* numbers as the file has them; pairs of their indices */

	int64_t events, operators, annotations, functions, calls; /* seen */
	bool is_trace;                                            /* it is an array of events, or holds one */
	int execution;     /* how many of "schema" and "nodes" are there: both in what PyTorch calls execution traces */
	bool old_profiler; /* a process is "CPU functions" */
	bool counted;      /* kernels were run again to count what they do, and have no times */
	const char *elsewhere; /* the category of work of a device that is not read; NULL: there is none */
	bool old_spelling;     /* no event has a category of annotations: they are among the operators */

	int64_t base; /* ns since 1970 that times count from; 0: not said */
	int64_t schema, driver, rank, ranks;
	uint64_t host; /* digest; 0: not said */
};

/* Reads all of the file. 0, or -1 with `err`. */
int kineto_parse(struct kineto *k, struct source *source);

/* Whether it is a trace of PyTorch, with GPU work, unless that is not wished for: 0, or -1 with `err`. */
int kineto_check_kind(const struct kineto *k, enum packing packing);
int kineto_check_contents(const struct kineto *k, const struct read_wish *wish);

/* Leaves out what begins at 0, where that is no time. */
void kineto_drop_clamped(struct kineto *k);

/* Leaves out GPU work and calls that are there twice, as where a trace was merged with itself: the same number, name
 * and times in the same place. Before kineto_give_ranges. */
void kineto_drop_twins(struct kineto *k);

/* Hands annotations, and what is made of operators where a step has no annotations, to the builder. Sorts the spans by
 * (thread, start, end descending), and says of calls in which operator and module they are. `origin` is what is taken
 * from every time. */
void kineto_give_ranges(struct kineto *k, int64_t origin);

/* For that: says of calls in which operator and module they are; spans and links are in order. */
void kineto_find_owners(struct kineto *k);

/* Fills `steps` by the optimizers' steps that PyTorch notes; spans are in order. */
void kineto_find_steps(struct kineto *k);

/* Whether it is an optimizer's step. */
bool kineto_is_optimizer(const struct kineto *k, const struct kineto_span *s);

/* Where the spans of the next thread begin; and the order of links, by thread and time. */
size_t kineto_next_thread(const struct kineto *k, size_t i);
int kineto_compare_links(const void *a, const void *b);

struct build_thread kineto_thread_of(const struct kineto *k, uint32_t thread);

#endif
