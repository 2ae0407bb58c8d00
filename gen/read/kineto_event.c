/* An event that was read becomes a row of the lists in struct kineto, or nothing: most events say nothing that matters.
 */
#include "read/kineto_event.h"
#include "base/list.h"
#include "read/kineto_comm.h"

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
	{"cpu_op", OPERATOR, ROWS_RANGES},
	{"Operator", OPERATOR, ROWS_RANGES},
	{"user_annotation", ANNOTATION, ROWS_RANGES},
	{"python_function", FUNCTION, ROWS_RANGES},
	{"overhead", OVERHEAD, ROWS_OVERHEADS},
	{"fwdbwd", LINK, ROWS_RANGES},
	{"forward_backward", LINK, ROWS_RANGES},
};
enum { CATEGORIES_N = sizeof CATEGORIES / sizeof *CATEGORIES };
_Static_assert((int)CATEGORIES_N <= (int)KINETO_NO_CATEGORY, "a category fits into a byte");

uint8_t kineto_category(const char *text, size_t n)
{
	uint8_t i = 0;
	while (i < CATEGORIES_N && (strlen(CATEGORIES[i].text) != n || memcmp(CATEGORIES[i].text, text, n) != 0))
		i++;
	return i < CATEGORIES_N ? i : KINETO_NO_CATEGORY;
}

/* ---- numbers of processes and threads ---- */

static uint32_t process_index(struct kineto *k, int64_t pid)
{
	uint32_t known = k->n_processes, i = keymap_add(&k->pids, (uint64_t)pid);
	if (i == known) {
		LIST_GROW(&k->scratch, k->processes, k->n_processes, k->process_room);
		k->processes[k->n_processes++] = (struct kineto_process){.pid = pid};
	}
	return i;
}

static uint32_t thread_index(struct kineto *k, int64_t pid, int64_t tid)
{
	uint32_t process = process_index(k, pid), known = k->n_threads;
	uint32_t i = keymap_add(&k->thread_keys, (uint64_t)process << 32 | keymap_add(&k->tids, (uint64_t)tid));
	if (i == known) {
		LIST_GROW(&k->scratch, k->threads, k->n_threads, k->thread_room);
		k->threads[k->n_threads++] = (struct kineto_thread){.tid = tid, .process = process};
	}
	return i;
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

static int64_t blocks_of(const int64_t grid[3])
{
	double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
	return blocks < (double)INT64_MAX && grid[0] > 0 && grid[1] > 0 ? trace_blocks((int64_t)blocks) : 0;
}

static void add_op(struct kineto *k, const struct kineto_event *e, enum op_kind kind)
{
	/* A kernel's pid is its device and its tid the stream, where its arguments do not say so. */
	const struct kineto_value *device = e->device.there ? &e->device : &e->process;
	const struct kineto_value *stream = e->stream.there ? &e->stream : &e->thread;
	LIST_GROW(&k->scratch, k->ops, k->n_ops, k->op_room);
	k->ops[k->n_ops++] = (struct kineto_op){.start = e->start.value,
	                                        .end = e->start.value + e->duration.value,
	                                        .bytes = kind == OP_KERNEL ? blocks_of(e->grid) : e->bytes.value,
	                                        .correlation = e->correlation.value,
	                                        .shape = kind == OP_KERNEL ? trace_shape(e->grid, e->block) : 0,
	                                        .device = device->value,
	                                        .stream = stream->value,
	                                        .name = names_add(k->names, e->name, e->name_n),
	                                        .context = (uint32_t)e->context.value,
	                                        .node = e->node.value > 0,
	                                        .kind = (uint8_t)kind};
}

static void add_span(struct kineto *k, const struct kineto_event *e, enum kineto_kind kind)
{
	uint32_t thread = thread_index(k, e->process.value, e->thread.value);
	k->processes[k->threads[thread].process].calls += kind == KINETO_CALL;
	LIST_GROW(&k->scratch, k->spans, k->n_spans, k->span_room);
	k->spans[k->n_spans++] = (struct kineto_span){.start = e->start.value,
	                                              .end = e->start.value + e->duration.value,
	                                              .correlation = e->correlation.value,
	                                              .name = names_add(k->names, e->name, e->name_n),
	                                              .thread = thread,
	                                              .kind = (uint8_t)kind};
}

/* Functions of Python are most of a trace that has them, and what is shorter than this explains no gap. */
static const int64_t FUNCTION_MIN = 100000;

static void keep_complete(struct kineto *k, const struct kineto_event *e)
{
	const char *flaw = time_flaw(e);
	enum category category = CATEGORIES[e->category].category;
	build_from(k->build, CATEGORIES[e->category].text);
	k->operators += category == OPERATOR;
	k->annotations += category == ANNOTATION;
	k->functions += category == FUNCTION;
	k->calls += category == CALL;
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
		break;
	case ANNOTATION:
		add_span(k, e, KINETO_ANNOTATION);
		break;
	case FUNCTION:
		if (e->duration.value >= FUNCTION_MIN)
			add_span(k, e, KINETO_FUNCTION);
		break;
	case OVERHEAD:
		if (e->process.value > 0 && e->thread.value != 0) /* else nobody knows whose it was */
			add_span(k, e, KINETO_OVERHEAD);
		break;
	case LINK:
	case OTHERS:
		break;
	}
}

void kineto_event_keep(struct kineto *k, const struct kineto_event *e)
{
	k->events += e->phase != 0;
	if (e->phase == 'X' && e->category < CATEGORIES_N) {
		keep_complete(k, e);
	} else if (e->phase == 's' && e->category < CATEGORIES_N && CATEGORIES[e->category].category == LINK &&
	           e->start.there) {
		LIST_GROW(&k->scratch, k->links, k->n_links, k->link_room);
		k->links[k->n_links++] = (struct kineto_link){
			.time = e->start.value, .thread = thread_index(k, e->process.value, e->thread.value)};
	} else if (e->phase == 'M' && e->meta_n && e->process.there) {
		uint32_t text = names_add(k->names, e->meta, e->meta_n);
		if (e->name_n == 12 && memcmp(e->name, "process_name", 12) == 0) {
			uint32_t process = process_index(k, e->process.value); /* may move the list */
			k->processes[process].name = text;
		} else if (e->name_n == 11 && memcmp(e->name, "thread_name", 11) == 0 && e->thread.there) {
			uint32_t thread = thread_index(k, e->process.value, e->thread.value);
			k->threads[thread].name = text;
		}
	}
}
