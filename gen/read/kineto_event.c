/* An event that was read becomes a row of the lists in struct kineto, or nothing: most events say nothing that matters.
 */
#include "read/kineto.h"

#include "base/list.h"
#include "read/name_hash.h"

#include <ctype.h>
#include <string.h>

/* Categories, as they have been written since 2020. */
enum category {
	OTHERS,
	KERNEL,
	COPY,
	SET,
	CALL,
	OPERATOR,
	ANNOTATION,
	FUNCTION,
	OVERHEAD,
	LINK,
	ELSEWHERE, /* work of a device whose events are no kernels and copies */
	COUNTED,
};

static const struct {
	const char *text;
	enum category category;
	enum row_kind rows;
} CATEGORIES[] = {
	{"kernel", KERNEL, ROWS_KERNELS},
	{"Kernel", KERNEL, ROWS_KERNELS},
	{"gpu_memcpy", COPY, ROWS_COPIES},
	{"Memcpy", COPY, ROWS_COPIES},
	{"gpu_memset", SET, ROWS_MEMSETS},
	{"Memset", SET, ROWS_MEMSETS},
	{"cuda_runtime", CALL, ROWS_CALLS},
	{"cuda_driver", CALL, ROWS_CALLS},
	{"Runtime", CALL, ROWS_CALLS},
	{"xpu_runtime", CALL, ROWS_CALLS},
	{"xpu_driver", CALL, ROWS_CALLS},
	{"privateuse1_runtime", CALL, ROWS_CALLS},
	{"privateuse1_driver", CALL, ROWS_CALLS},
	{"cpu_op", OPERATOR, ROWS_RANGES},
	{"Operator", OPERATOR, ROWS_RANGES},
	{"user_annotation", ANNOTATION, ROWS_RANGES},
	{"python_function", FUNCTION, ROWS_RANGES},
	{"overhead", OVERHEAD, ROWS_OVERHEADS},
	{"fwdbwd", LINK, ROWS_RANGES},
	{"forward_backward", LINK, ROWS_RANGES},
	{"mtia_ccp_events", ELSEWHERE, ROWS_KERNELS},
	{"cuda_profiler_range", COUNTED, ROWS_KERNELS},
};
enum { CATEGORIES_N = sizeof CATEGORIES / sizeof *CATEGORIES };
_Static_assert((int)CATEGORIES_N <= (int)KINETO_NO_CATEGORY, "a category fits into a byte");

uint8_t kineto_category(const char *text, size_t n)
{
	uint8_t i = 0;
	while (i < CATEGORIES_N && !kineto_is(CATEGORIES[i].text, text, n))
		i++;
	return i < CATEGORIES_N ? i : KINETO_NO_CATEGORY;
}

/* Numbers of a trace, from their text: 2024's absolute times have 19 digits, which a double does not hold. */

static size_t digits_of(const char *text, size_t n)
{
	size_t i = 0;
	while (i < n && isdigit((unsigned char)text[i]))
		i++;
	return i;
}

/* What is left of a number, "e-3", or nothing; false: neither. */
static bool take_exponent(const char *text, size_t n, int64_t *exponent)
{
	enum { EXPONENT_MAX = 1000 };
	*exponent = 0;
	if (!n)
		return true;
	size_t at = 1 + (n > 1 && memchr("+-", text[1], 2));
	if (!memchr("eE", text[0], 2) || at == n || digits_of(text + at, n - at) != n - at)
		return false;
	for (; at < n; at++)
		*exponent = *exponent > EXPONENT_MAX ? *exponent : *exponent * 10 + (text[at] - '0');
	if (text[1] == '-')
		*exponent = -*exponent;
	return true;
}

/* The value of a JSON number times 10^scale, rounded half away from zero. */
static bool scaled(const char *text, size_t n, int scale, int64_t max, int64_t *value)
{
	bool negative = n && text[0] == '-';
	text += negative;
	n -= negative;
	const char *whole = text, *part = text;
	size_t n_whole = digits_of(text, n), n_part = 0, at = n_whole;
	int64_t exponent, result = 0;
	if (at < n && text[at] == '.') {
		part = text + at + 1;
		n_part = digits_of(part, n - at - 1);
		at += 1 + n_part;
	}
	if (n_whole + n_part == 0 || !take_exponent(text + at, n - at, &exponent))
		return false;
	/* How many of the digits stand before the point of the result. */
	int64_t keep = (int64_t)n_whole + exponent + scale;
	for (int64_t i = 0; i <= keep; i++) {
		size_t k = (size_t)i;
		int digit = k < n_whole ? whole[k] - '0' : k - n_whole < n_part ? part[k - n_whole] - '0' : 0;
		if (i == keep)
			result += digit >= 5;
		else if (result > (max - digit) / 10)
			return false;
		else
			result = result * 10 + digit;
	}
	if (result > max)
		return false;
	*value = negative ? -result : result;
	return true;
}

bool kineto_ns(const char *text, size_t n, int64_t *ns)
{
	return scaled(text, n, 3, ((int64_t)1 << 61) - 1, ns);
}

bool kineto_integer(const char *text, size_t n, int64_t *value)
{
	enum { FEW = 18 }; /* digits that fit, whatever they are */
	int64_t few = 0;
	size_t i = 0;
	for (; i < n && i < FEW && text[i] >= '0' && text[i] <= '9'; i++)
		few = few * 10 + (text[i] - '0');
	if (n && i == n) {
		*value = few;
		return true;
	}
	return scaled(text, n, 0, INT64_MAX - 1, value);
}

struct kineto_value kineto_number(const char *text, size_t n)
{
	struct kineto_value number = {0};
	while (n && text[n - 1] == ' ')
		n--;
	size_t at = n;
	while (at && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	if (at == 1 && text[0] == '-')
		at = 0;
	number.there = kineto_integer(text + at, n - at, &number.value);
	return number;
}

/* ---- numbers of processes and threads ---- */

static uint32_t process_index(struct kineto *k, int64_t pid)
{
	uint32_t known = k->n_processes, i = keymap_add(&k->pids, (uint64_t)pid);
	if (i == known) {
		LIST_ADD(&k->scratch, k->processes, k->n_processes, k->process_room,
		         (struct kineto_process){.pid = pid});
	}
	return i;
}

static uint32_t thread_index(struct kineto *k, int64_t pid, int64_t tid)
{
	uint32_t process = process_index(k, pid), known = k->n_threads;
	uint32_t i = keymap_add(&k->thread_keys, (uint64_t)process << 32 | keymap_add(&k->tids, (uint64_t)tid));
	if (i == known) {
		LIST_ADD(&k->scratch, k->threads, k->n_threads, k->thread_room,
		         (struct kineto_thread){.tid = tid, .process = process});
	}
	return i;
}

/* ---- what kernels say of their collective ---- */

/* c10d's words (its "Collective name") and NCCL's. Sends and receives are not among them: whom they go to is not said
 * in numbers of the communicator. */
static const struct {
	const char *pytorch, *nccl;
} COLLECTIVES[] = {
	{"allreduce", "ncclAllReduce"},
	{"allreduce_coalesced", "ncclAllReduce"},
	{"allgather", "ncclAllGather"},
	{"_allgather_base", "ncclAllGather"},
	{"allgather_into_tensor_coalesced", "ncclAllGather"},
	{"reduce_scatter", "ncclReduceScatter"},
	{"_reduce_scatter_base", "ncclReduceScatter"},
	{"reduce_scatter_tensor_coalesced", "ncclReduceScatter"},
	{"all_to_all", "ncclAllToAll"},
	{"all_to_allv", "ncclAllToAll"},
	{"alltoall", "ncclAllToAll"},
	{"alltoall_base", "ncclAllToAll"},
};

/* Bytes of one element, by c10's names of scalar types. */
static const struct {
	const char *type;
	uint8_t bytes;
} TYPES[] = {
	{"Float", 4},
	{"Half", 2},
	{"BFloat16", 2},
	{"Double", 8},
	{"Long", 8},
	{"Int", 4},
	{"Short", 2},
	{"Byte", 1},
	{"Char", 1},
	{"Bool", 1},
	{"UInt16", 2},
	{"UInt32", 4},
	{"UInt64", 8},
	{"Float8_e4m3fn", 1},
	{"Float8_e5m2", 1},
	{"ComplexHalf", 4},
	{"ComplexFloat", 8},
	{"ComplexDouble", 16},
	{"Float8_e4m3fnuz", 1},
	{"Float8_e5m2fnuz", 1},
};

uint8_t kineto_collective(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof COLLECTIVES / sizeof *COLLECTIVES; i++)
		if (kineto_is(COLLECTIVES[i].pytorch, text, n))
			return (uint8_t)(i + 1);
	return 0;
}

uint8_t kineto_element_bytes(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
		if (kineto_is(TYPES[i].type, text, n))
			return TYPES[i].bytes;
	return 0;
}

/* NCCL's message size, as its own payloads have it: one rank's share of all-gather, reduce-scatter and all-to-all. 0:
 * not known. */
static int64_t message_bytes(const struct kineto_event *e, const char *nccl)
{
	bool scatters = strcmp(nccl, "ncclReduceScatter") == 0, all_to_all = strcmp(nccl, "ncclAllToAll") == 0;
	const struct kineto_value *elements = scatters ? &e->elements_out : &e->elements_in;
	int64_t bytes;
	if (!elements->there || elements->value < 0 || (all_to_all && (e->uneven || e->group_size.value < 1)) ||
	    __builtin_mul_overflow(elements->value, (int64_t)e->element_bytes, &bytes))
		return 0;
	return all_to_all ? bytes / e->group_size.value : bytes;
}

/* Keeps what a kernel says of its collective, by correlation. */
static void kineto_comm_keep(struct kineto *k, const struct kineto_event *e)
{
	if (!e->collective || !e->correlation.there)
		return;
	const char *nccl = COLLECTIVES[e->collective - 1].nccl;
	uint32_t known = k->n_comms, i = keymap_add(&k->comm_keys, (uint64_t)e->correlation.value);
	if (i < known)
		return;
	/* A process group is a communicator: its name, which all ranks count alike, and who is in it. */
	uint64_t group = e->group_name ? e->group_name ^ e->group_ranks * 0x9e3779b97f4a7c15u : 0;
	LIST_GROW(&k->scratch, k->comms, k->n_comms, k->comm_room);
	k->comms[k->n_comms++] =
		(struct kineto_comm){.comm = (int64_t)(group >> 1), .bytes = message_bytes(e, nccl), .name = nccl};
}

void kineto_comm_give(struct kineto *k, const struct kineto_span *call, const struct build_range *range)
{
	uint32_t i = k->n_comms ? keymap_find(&k->comm_keys, (uint64_t)call->correlation) : UINT32_MAX;
	if (i == UINT32_MAX)
		return;
	struct build_range named = *range;
	named.name = build_text(k->build, k->comms[i].name, strlen(k->comms[i].name));
	build_comm_call(k->build, &named,
	                &(struct build_comm_call){.comm = k->comms[i].comm,
	                                          .bytes = k->comms[i].bytes,
	                                          .peer = TRACE_NONE,
	                                          .rank = TRACE_NONE,
	                                          .ranks = TRACE_NONE});
}

/* ---- events ---- */

static const char *time_flaw(const struct kineto_event *e)
{
	if (!e->start.there)
		return e->bad_time ? "has an impossible timestamp" : "has no timestamp";
	if (e->bad_time)
		return "has an impossible duration";
	return e->duration.there ? NULL : "has no duration"; /* not 0: that would be work that took no time */
}

static void add_op(struct kineto *k, const struct kineto_event *e, enum op_kind kind)
{
	/* A kernel's pid is its device and its tid the stream, where its arguments do not say so. */
	const struct kineto_value *device = e->device.there ? &e->device : &e->process;
	const struct kineto_value *stream = e->stream.there ? &e->stream : &e->thread;
	LIST_ADD(&k->scratch, k->ops, k->n_ops, k->op_room,
	         (struct kineto_op){.start = e->start.value,
	                            .end = e->start.value + e->duration.value,
	                            .bytes = kind == OP_KERNEL
	                                             ? trace_launch(trace_product(e->grid), trace_product(e->block))
	                                             : e->bytes.value,
	                            .correlation = e->correlation.value,
	                            .shape = kind == OP_KERNEL ? trace_shape(e->grid, e->block) : 0,
	                            .device = device->value,
	                            .stream = stream->value,
	                            .name = names_add(k->names, e->name, e->name_n),
	                            .context = (uint32_t)e->context.value,
	                            .node = e->node.value > 0,
	                            .kind = (uint8_t)kind});
}

static void add_span(struct kineto *k, const struct kineto_event *e, enum kineto_kind kind)
{
	uint32_t thread = thread_index(k, e->process.value, e->thread.value);
	k->processes[k->threads[thread].process].calls += kind == KINETO_CALL;
	LIST_ADD(&k->scratch, k->spans, k->n_spans, k->span_room,
	         (struct kineto_span){.start = e->start.value,
	                              .end = e->start.value + e->duration.value,
	                              .correlation = e->correlation.value,
	                              .name = names_add(k->names, e->name, e->name_n),
	                              .thread = thread,
	                              .kind = (uint8_t)kind});
}

/* Functions of Python are most of a trace that has them, and what is shorter than this explains no gap. */
static const int64_t FUNCTION_MIN = 100000;

static void keep_complete(struct kineto *k, const struct kineto_event *e)
{
	static const size_t module_n = sizeof KINETO_MODULE_PREFIX - 1;
	const char *flaw = time_flaw(e);
	enum category category = CATEGORIES[e->category].category;
	build_from(k->build, CATEGORIES[e->category].text);
	k->operators += category == OPERATOR;
	k->annotations += category == ANNOTATION;
	k->functions += category == FUNCTION;
	k->calls += category == CALL;
	k->counted = k->counted || category == COUNTED;
	k->elsewhere = category == ELSEWHERE ? CATEGORIES[e->category].text : k->elsewhere;
	if (flaw) {
		build_drop(k->build, CATEGORIES[e->category].rows, flaw);
		return;
	}
	switch (category) {
	case KERNEL:
		add_op(k, e, OP_KERNEL);
		kineto_comm_keep(k, e);
		break;
	case COPY:
		add_op(k, e, OP_COPY);
		break;
	case SET:
		add_op(k, e, OP_MEMSET);
		break;
	case CALL:
		add_span(k, e, KINETO_CALL);
		break;
	case OPERATOR:
		add_span(k, e, KINETO_OPERATOR);
		k->spans[k->n_spans - 1].flops = kineto_flops(e);
		k->spans[k->n_spans - 1].moved = kineto_moved(e);
		break;
	case ANNOTATION:
		add_span(k, e, KINETO_ANNOTATION);
		break;
	case FUNCTION:
		if (e->duration.value >= FUNCTION_MIN)
			add_span(k, e, KINETO_FUNCTION);
		else if (e->name_n > module_n && memcmp(e->name, KINETO_MODULE_PREFIX, module_n) == 0)
			add_span(k, e, KINETO_MODULE);
		break;
	case OVERHEAD:
		if (e->process.value > 0 && e->thread.value != 0) /* else nobody knows whose it was */
			add_span(k, e, KINETO_OVERHEAD);
		break;
	case LINK:
	case ELSEWHERE:
	case COUNTED:
	case OTHERS:
		break;
	}
}

/* An allocation, or a free: what was handed out before it and after it. */
static void keep_memory(struct kineto *k, const struct kineto_event *e)
{
	enum { CUDA = 1 }; /* c10::DeviceType; of ROCm, too */
	static const int64_t most = (int64_t)1 << 50;
	if (e->device_type.value != CUDA || !e->process.there)
		return;
	uint32_t process = process_index(k, e->process.value);
	size_t i = 0;
	while (i < k->n_peaks && (k->peaks[i].process != process || k->peaks[i].device != e->device.value))
		i++;
	if (i == k->n_peaks) {
		LIST_ADD(&k->scratch, k->peaks, k->n_peaks, k->peak_room,
		         (struct kineto_peak){.device = e->device.value, .process = process});
	}
	if (!e->allocated.there) {
		k->peaks[i].unsaid = true;
		return;
	}
	if (e->start.there && e->thread.there) {
		uint32_t thread = thread_index(k, e->process.value, e->thread.value);
		LIST_ADD(&k->scratch, k->memory, k->n_memory, k->memory_room,
		         (struct kineto_memory){.time = e->start.value,
		                                .bytes = e->bytes.value,
		                                .after = e->allocated.value,
		                                .device = e->device.value,
		                                .address = (uint64_t)e->address.value,
		                                .thread = thread});
	}
	struct kineto_peak *peak = &k->peaks[i];
	const int64_t after = e->allocated.value, bytes = e->bytes.value;
	if (after < 0 || after > most || bytes > after || bytes < -most)
		peak->bytes = -1;
	if (peak->bytes >= 0) {
		const int64_t there = bytes < 0 ? after - bytes : after;
		peak->bytes = there > peak->bytes ? there : peak->bytes;
	}
}

/* An arrow from an operator to its own of the backward pass: where it begins, or where it ends. */
static void keep_link(struct kineto *k, const struct kineto_event *e)
{
	if (e->category >= CATEGORIES_N || CATEGORIES[e->category].category != LINK || !e->start.there)
		return;
	const struct kineto_link link = {.time = e->start.value,
	                                 .id = e->link.there ? e->link.value : -1,
	                                 .thread = thread_index(k, e->process.value, e->thread.value)};
	if (e->phase == 's') {
		LIST_ADD(&k->scratch, k->links, k->n_links, k->link_room, link);
	} else if (link.id >= 0) {
		LIST_ADD(&k->scratch, k->backs, k->n_backs, k->back_room, link);
	}
}

/* What a process or a thread is called. */
static void keep_name(struct kineto *k, const struct kineto_event *e)
{
	if (!e->meta_n || !e->process.there)
		return;
	uint32_t text = names_add(k->names, e->meta, e->meta_n);
	if (kineto_is("process_name", e->name, e->name_n)) {
		uint32_t process = process_index(k, e->process.value); /* may move the list */
		k->processes[process].name = text;
	} else if (kineto_is("thread_name", e->name, e->name_n) && e->thread.there) {
		uint32_t thread = thread_index(k, e->process.value, e->thread.value);
		k->threads[thread].name = text;
	}
}

void kineto_event_keep(struct kineto *k, const struct kineto_event *e)
{
	k->events += e->phase != 0;
	switch (e->phase) {
	case 'X':
		if (e->category < CATEGORIES_N)
			keep_complete(k, e);
		break;
	case 'i':
	case 'I':
		if (kineto_is("[memory]", e->name, e->name_n))
			keep_memory(k, e);
		break;
	case 's':
	case 'f':
		keep_link(k, e);
		break;
	case 'M':
		keep_name(k, e);
		break;
	}
}
