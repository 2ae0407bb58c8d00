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

#include <string.h>

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

/* One event of a PyTorch trace, from the numbers that the parser found in it to a row of struct kineto. */

/* A number that may be missing. */
struct kineto_value {
	int64_t value;
	bool there;
};

enum { KINETO_NO_CATEGORY = UINT8_MAX };

enum { KINETO_INPUTS = 4, KINETO_INPUT_SIZES = 5, KINETO_GIVEN = 11, KINETO_GIVEN_NUMBERS = 3 };

/* Sizes of an operator's input: as many as it has (n), of which the first are in `size`. */
struct kineto_input {
	int64_t size[KINETO_INPUT_SIZES];
	int n;
};

/* What is known of an event. Texts are the parser's, without an end. */
struct kineto_event {
	char phase;              /* "ph": 'X' complete, 'M' a name, 's' the start of an arrow …; 0: not said */
	uint8_t category;        /* kineto_category */
	bool bad_time;           /* a time that no clock shows */
	const char *name, *meta; /* "name"; of names: what is named so */
	size_t name_n, meta_n;
	struct kineto_value start, duration; /* ns */
	/* A pid or tid is a number, a text that is one, or a text that ends with one ("stream 7"). */
	struct kineto_value process, thread, correlation, device, stream, bytes, node, context, link;
	int64_t grid[3], block[3];                /* of a kernel; 0: not said */
	struct kineto_input input[KINETO_INPUTS]; /* of an operator, the first ones */
	int n_inputs, n_given, n_types;
	uint8_t format[KINETO_INPUTS], element[KINETO_INPUTS]; /* enum flop_format; bytes, 0: no numbers of a tensor */
	/* of a convolution: its inputs that are numbers or truth values, the first of each; n: how many are there */
	struct {
		int32_t value[KINETO_GIVEN_NUMBERS];
		int n;
	} given[KINETO_GIVEN];
	bool complex; /* an input is of complex numbers */
	/* of a communication kernel; 0: not said */
	uint8_t collective, element_bytes;
	bool uneven;                                         /* ranks send, or get, different amounts */
	struct kineto_value device_type, allocated, address; /* of an allocation: c10's number, bytes in all after it */
	struct kineto_value elements_in, elements_out, group_size;
	uint64_t group_name, group_ranks; /* hashes */
};

/* Whether a text of the trace is that word. */
static inline bool kineto_is(const char *word, const char *text, size_t n)
{
	return n && word[0] == text[0] && strlen(word) == n && memcmp(word, text, n) == 0;
}

/* A text that is a number or ends with one. */
struct kineto_value kineto_number(const char *text, size_t n);

/* A number for "cat", in every spelling since 2020; KINETO_NO_CATEGORY: one that nothing is made of. */
uint8_t kineto_category(const char *text, size_t n);

/* Adds what an event says to the lists of `k`, and counts it. One with an impossible time is dropped and counted. */
void kineto_event_keep(struct kineto *k, const struct kineto_event *event);

/* What NCCL's kernels say of their collective since 2024: libkineto copies it from PyTorch's record_param_comms to the
 * kernel's arguments (output_json.cpp). Older traces have nothing of it, and kineto_phases.c tells less.
 * Numbers for "Collective name" and bytes of an element for "dtype"; 0: not known. */
uint8_t kineto_collective(const char *text, size_t n);
uint8_t kineto_element_bytes(const char *text, size_t n);

/* Hands what the kernel that `call` launched says of its collective, if it does, to the builder; `range`: the call. */
void kineto_comm_give(struct kineto *k, const struct kineto_span *call, const struct build_range *range);

/* What an operator has to do, by the sizes of its inputs: floating-point operations as PyTorch counts them itself in
 * torch.utils.flop_counter (torch/utils/flop_counter.py, v2.5: bmm_flop, conv_flop_count, conv_backward_flop,
 * sdpa_flop_count, sdpa_backward_flop_count). A multiplication and an addition are two; sums of a bias are none, and
 * what a causal mask leaves out counts. One thing is otherwise: of a convolution in groups the gradient of the weights
 * is as much as that of the input; PyTorch counts products between groups, which nobody works out. */

/* The floating-point operations of an operator, as trace_flops; 0: not known. */
int64_t kineto_flops(const struct kineto_event *event);

/* 1 + the bytes that an operator reads and writes at least, each of its inputs and outputs once, of a convolution's
 * gradients for each; 0: not known. Copies into another order, which cuDNN makes of "NCHW", are not among them. */
int64_t kineto_moved(const struct kineto_event *event);

/* The type of an operator's next input: "float", "c10::Half". */
void kineto_note_type(struct kineto_event *event, const char *text, size_t n);

/* Whether the work of an operator of that name depends on inputs that are numbers: of convolutions and sums. */
bool kineto_needs_given(const char *name, size_t n);

/* The next of an operator's inputs, in words: numbers as "[1, 1]", truth values as "[True, False]", else nothing. */
void kineto_note_given(struct kineto_event *event, const char *text, size_t n);

#endif
