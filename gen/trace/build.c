/* Rows in: checked, numbered, stored. */
#include "trace/build.h"

#include "base/format.h"
#include "base/list.h"

#include <string.h>

static const int64_t TIME_FAR = (int64_t)1 << 60;  /* 36 years: differences, doubled too, stay in range */
static const int64_t BYTES_MAX = (int64_t)1 << 50; /* no copy is a petabyte long; sums of sizes stay in range */

/* Keys of names: a number of the format's as it is, the id of a text with the first bit, any that cannot be one. */
static const uint64_t AT_HAND = BUILD_AT_HAND, UNKNOWN = BUILD_AT_HAND >> 1;

WORD_OF(row_kind_name, row_kind, [ROWS_KERNELS] = "kernels", [ROWS_GRAPHS] = "graphs", [ROWS_COPIES] = "copies",
        [ROWS_MEMSETS] = "memsets", [ROWS_CALLS] = "calls", [ROWS_RANGES] = "ranges", [ROWS_OS_CALLS] = "os_calls",
        [ROWS_OVERHEADS] = "overheads", [ROWS_SLICES] = "slices", [ROWS_STOPWATCH] = "stopwatch",
        [ROWS_GPU_SAMPLES] = "gpu_samples", [ROWS_METRICS] = "metrics", [ROWS_SAMPLES] = "samples")

void build_begin(struct build *b, struct trace *t, struct names *names, struct arena *arena, bool requested)
{
	*b = (struct build){.trace = t, .names = names, .arena = arena, .requested = requested, .where = ""};
	*t = (struct trace){.names = names, .source = trace_source_unknown()};
	struct keymap *const maps[] = {&b->strings,    &b->processes, &b->threads,  &b->devices,
	                               &b->domain_ids, &b->domains,   &b->scheduled};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		keymap_init(maps[i], arena);
	stack_samples_init(&b->samples, arena);
}

/* ---- room ---- */

static void name_ops(struct build *b);

void build_reserve(struct build *b, enum columns_of rows, size_t n)
{
	size_t old = b->room[rows], want = *columns_rows(b->trace, rows) + n;
	if (rows == ROWS_OF_OPS && !b->ops_named) {
		b->ops_named = true;
		name_ops(b);
	}
	if (want <= old)
		return;
	size_t more = old < 64 ? 64 : old + (old < 4096 ? old / 2 : old / 8);
	b->room[rows] = want > more ? want : more;
	columns_resize(b->trace, rows, b->arena, old, b->room[rows], b->requested);
}

/* A new row; the number of rows is `n`. */
static inline size_t new_row(struct build *b, enum columns_of rows, size_t *n)
{
	if (__builtin_expect(*n == b->room[rows], 0))
		build_reserve(b, rows, 1);
	return (*n)++;
}

void build_trim(struct build *b)
{
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		size_t n = *columns_rows(b->trace, rows);
		if (b->room[rows] > n)
			columns_resize(b->trace, rows, b->arena, b->room[rows], n, b->requested);
		b->room[rows] = n;
	}
}

/* ---- flaws ---- */

const char *build_time_flaw(int64_t start, int64_t end, bool from_zero)
{
	if (start == 0 && end == 0)
		return "has no timestamp";
	if (end < start)
		return "ends before it starts";
	if (from_zero && start < 0)
		return "starts before the capture";
	if (start < -TIME_FAR || end > TIME_FAR)
		return "has an impossible timestamp";
	return NULL;
}

void build_lack(struct build *b, enum row_kind kind, const char *reason, int64_t rows)
{
	struct trace *t = b->trace;
	uint32_t i = 0;
	t->rows[kind].dropped += rows;
	while (i < t->n_dropped && (t->dropped[i].kind != kind || strcmp(t->dropped[i].where, b->where) != 0 ||
	                            strcmp(t->dropped[i].reason, reason) != 0))
		i++;
	if (i == t->n_dropped)
		LIST_PUT(b->arena, t->dropped, t->n_dropped,
		         (struct trace_dropped){.kind = kind, .where = b->where, .reason = reason});
	t->dropped[i].rows += rows;
}

void build_drop(struct build *b, enum row_kind kind, const char *reason)
{
	b->trace->rows[kind].read++;
	build_lack(b, kind, reason, 1);
}

static inline void seen(struct build *b, int64_t time)
{
	b->last_time = time > b->last_time ? time : b->last_time;
}

static inline const char *first_flaw(const char *flaw, int64_t start, int64_t end, bool from_zero)
{
	return flaw ? flaw : build_time_flaw(start, end, from_zero);
}

/* True when the row can be used, which is counted either way. */
static inline bool usable(struct build *b, enum row_kind kind, const char *flaw)
{
	if (__builtin_expect(flaw != NULL, 0)) {
		build_drop(b, kind, flaw);
		return false;
	}
	b->trace->rows[kind].read++;
	return true;
}

static uint32_t correlation_of(int64_t id)
{
	return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* ---- names ---- */

uint64_t build_text(struct build *b, const char *text, size_t n)
{
	return AT_HAND | names_add(b->names, text, n);
}

uint64_t build_number(int64_t number)
{
	return number >= 0 && (uint64_t)number < UNKNOWN ? (uint64_t)number : UNKNOWN;
}

uint32_t build_wants(const struct build *b, int64_t number)
{
	return build_number(number) == UNKNOWN ? TRACE_NONE : keymap_find(&b->strings, (uint64_t)number);
}

static uint32_t *fill_none(uint32_t *list, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		list[i] = TRACE_NONE;
	return list;
}

/* Makes entry `i` of a list of indices exist; new ones are TRACE_NONE. */
static void entry(struct build *b, uint32_t **list, uint32_t *room, uint32_t i)
{
	if (i < *room)
		return;
	uint32_t more = i + i / 2 + 64;
	*list = fill_none(arena_grow(b->arena, *list, *room, more, sizeof **list), *room, more);
	*room = more;
}

void build_give(struct build *b, uint32_t index, const char *text, size_t n)
{
	if (!b->unknown_name)
		b->unknown_name = names_add_text(b->names, "(unknown name)");
	entry(b, &b->string_name, &b->string_room, index);
	uint32_t name = names_add(b->names, text, n), *known = &b->string_name[index];
	if (*known == TRACE_NONE || strcmp(names_text(b->names, name), names_text(b->names, *known)) < 0)
		*known = name;
}

/* ---- numbers ---- */

uint32_t build_process(struct build *b, uint64_t key, int64_t pid)
{
	struct trace *t = b->trace;
	uint32_t known = b->processes.n, p = KEYMAP_ADD(b->arena, &b->processes, key, t->processes);
	if (p == known) {
		t->processes[p] = (struct trace_process){.pid = pid, .rank = -1};
		t->n_processes = p + 1;
	}
	return p;
}

uint32_t build_find_process(const struct build *b, uint64_t key)
{
	return keymap_find(&b->processes, key);
}

uint32_t build_thread_index(struct build *b, const struct build_thread *thread)
{
	struct trace *t = b->trace;
	uint32_t known = b->threads.n, i = KEYMAP_ADD(b->arena, &b->threads, thread->key, t->threads);
	if (i == known) {
		t->threads[i] = (struct trace_thread){.tid = thread->tid,
		                                      .process = build_process(b, thread->process, thread->pid)};
		t->n_threads = i + 1;
	}
	return i;
}

static uint32_t device_of(struct build *b, uint64_t key, int64_t pid, int64_t ordinal)
{
	if (b->last_device && b->last_process == key && b->last_ordinal == ordinal)
		return b->last_device - 1;
	uint64_t process = build_process(b, key, pid);
	b->last_device = keymap_add(&b->devices, process << 32 | (uint64_t)ordinal) + 1;
	b->last_process = key;
	b->last_ordinal = ordinal;
	return b->last_device - 1;
}

/* Domain numbers are a process's own: two processes use one number for different domains. */
uint32_t build_domain_index(struct build *b, uint32_t process, int64_t number)
{
	uint64_t id = keymap_add(&b->domain_ids, (uint64_t)number);
	uint32_t domain = keymap_add(&b->domains, (uint64_t)process << 32 | id);
	entry(b, &b->domain_string, &b->domain_room, domain);
	return domain;
}

void build_domain(struct build *b, uint32_t process, int64_t number, uint64_t name)
{
	uint32_t domain = build_domain_index(b, process, number);
	b->domain_string[domain] = keymap_add(&b->strings, name);
}

void build_name_index(struct build *b, uint32_t thread, uint32_t string)
{
	entry(b, &b->thread_string, &b->thread_room, thread);
	b->thread_string[thread] = string;
}

void build_thread_name(struct build *b, const struct build_thread *thread, uint64_t name)
{
	uint32_t i = build_thread_index(b, thread);
	build_name_index(b, i, keymap_add(&b->strings, name));
}

void build_system_name(struct build *b, uint64_t thread, uint64_t name)
{
	uint32_t i = keymap_find(&b->threads, thread);
	if (i != TRACE_NONE && (i >= b->thread_room || b->thread_string[i] == TRACE_NONE))
		build_name_index(b, i, keymap_add(&b->strings, name));
}

void build_graphs(struct build *b, enum graph_mode mode)
{
	b->stated_mode = mode;
}

/* ---- rows ---- */

static const char *const COPY_NAMES[] = {
	"[CUDA memcpy Unknown]",
	"[CUDA memcpy Host-to-Device]",
	"[CUDA memcpy Device-to-Host]",
	"[CUDA memcpy Host-to-Array]",
	"[CUDA memcpy Array-to-Host]",
	"[CUDA memcpy Array-to-Array]",
	"[CUDA memcpy Array-to-Device]",
	"[CUDA memcpy Device-to-Array]",
	"[CUDA memcpy Device-to-Device]",
	"[CUDA memcpy Host-to-Host]",
	"[CUDA memcpy Peer-to-Peer]",
	"[CUDA memcpy Unified Host-to-Device]",
	"[CUDA memcpy Unified Device-to-Host]",
	"[CUDA memcpy Unified Device-to-Device]",
}; /* by enum copy_kind; the words of nsys's ENUM_CUDA_MEMCPY_OPER */

static uint32_t fixed_string(struct build *b, const char *text)
{
	return keymap_add(&b->strings, build_text(b, text, strlen(text)));
}

static void name_ops(struct build *b)
{
	b->graph_string = fixed_string(b, "[CUDA graph]");
	for (int i = 0; i <= COPY_UM_D2D; i++)
		b->copy_string[i] = fixed_string(b, COPY_NAMES[i]);
	b->memset_string = fixed_string(b, "[CUDA memset]");
}

/* The name of an op that is no kernel, an index of strings. */
static uint32_t fixed_name(const struct build *b, const struct build_op *row)
{
	return row->kind == OP_GRAPH    ? b->graph_string
	       : row->kind == OP_MEMSET ? b->memset_string
	                                : b->copy_string[row->copy];
}

/* Whether the host's side of a copy is pageable, and whether it is a migration that nobody called. */
static uint8_t copy_flags(const struct build_op *row)
{
	enum copy_kind kind = row->copy;
	bool from_host = kind == COPY_H2D || kind == COPY_H2A || kind == COPY_H2H;
	bool to_host = kind == COPY_D2H || kind == COPY_A2H || kind == COPY_H2H;
	uint8_t flags = row->flags;
	if ((from_host && row->from == MEMORY_PAGEABLE) || (to_host && row->to == MEMORY_PAGEABLE))
		flags |= OPF_PAGEABLE;
	if (kind >= COPY_UM_H2D && kind <= COPY_UM_D2D)
		flags |= OPF_MANAGED;
	return flags;
}

static const enum row_kind ROWS_OF_KIND[] = {[OP_KERNEL] = ROWS_KERNELS,
                                             [OP_COMM] = ROWS_KERNELS,
                                             [OP_GRAPH] = ROWS_GRAPHS,
                                             [OP_COPY] = ROWS_COPIES,
                                             [OP_MEMSET] = ROWS_MEMSETS};

static bool is_kernel(const struct build_op *row)
{
	return row->kind == OP_KERNEL || row->kind == OP_COMM;
}

static const char *op_flaw(const struct build_op *row)
{
	const char *flaw = first_flaw(row->flaw, row->start, row->end, true);
	if (flaw)
		return flaw;
	if (row->device < 0 || row->device > UINT32_MAX || row->stream < 0)
		return "has an impossible device or stream";
	return !is_kernel(row) && (row->bytes < 0 || row->bytes > BYTES_MAX) ? "has an impossible size" : NULL;
}

void build_op(struct build *b, const struct build_op *row)
{
	struct trace_ops *o = &b->trace->ops;
	bool kernel = is_kernel(row);
	if (!usable(b, ROWS_OF_KIND[row->kind], op_flaw(row)))
		return;
	uint8_t flags = row->kind == OP_COPY ? copy_flags(row) : row->flags;
	size_t i = new_row(b, ROWS_OF_OPS, &o->n);
	o->start[i] = row->start;
	o->end[i] = row->end;
	o->bytes[i] = row->bytes;
	o->name[i] = kernel ? keymap_add(&b->strings, row->name) : fixed_name(b, row);
	o->device[i] = device_of(b, row->process, row->pid, row->device);
	/* Graphs that kernels launch run in a stream of CUPTI's own, 1 << 57: both halves of the number together tell
	 * it from those of the program, which are small. */
	o->stream[i] = (uint32_t)((uint64_t)row->stream | (uint64_t)row->stream >> 32);
	o->correlation[i] = flags & OPF_MANAGED ? 0 : correlation_of(row->correlation);
	o->kind[i] = (uint8_t)(kernel ? OP_KERNEL : row->kind);
	o->copy[i] = (uint8_t)row->copy;
	o->flags[i] = flags;
	seen(b, row->end);
	if (row->node)
		build_note_node(b, i, row->node);
	columns_note(&o->graph, i, row->graph, b->room[ROWS_OF_OPS], b->arena);
	if (!b->requested)
		return;
	o->context[i] = row->context;
	o->green[i] = row->green;
	o->from[i] = row->kind == OP_COPY ? row->from : MEMORY_NOT_RECORDED;
	o->to[i] = row->kind == OP_COPY || row->kind == OP_MEMSET ? row->to : MEMORY_NOT_RECORDED;
	o->base_name[i] = kernel ? keymap_add(&b->strings, row->base_name) : o->name[i];
	o->mangled_name[i] = kernel ? keymap_add(&b->strings, row->mangled_name) : o->name[i];
	o->shape[i] = kernel ? row->shape : 0;
}

void build_call(struct build *b, const struct build_call *row)
{
	struct trace_calls *c = &b->trace->calls;
	if (!usable(b, ROWS_CALLS, first_flaw(row->flaw, row->start, row->end, true)))
		return;
	size_t i = new_row(b, ROWS_OF_CALLS, &c->n);
	c->start[i] = row->start;
	c->end[i] = row->end;
	c->name[i] = keymap_add(&b->strings, row->name);
	c->thread[i] = build_thread_index(b, &row->thread);
	c->correlation[i] = correlation_of(row->correlation);
	if (row->notes)
		build_note_call(b, i, row->notes);
	seen(b, row->end);
}

void build_mark(struct build *b, int64_t time)
{
	struct trace_ranges *r = &b->trace->ranges;
	if (time > r->last_time && time <= TIME_FAR)
		r->last_time = time;
}

bool build_range(struct build *b, const struct build_range *row)
{
	struct trace_ranges *r = &b->trace->ranges;
	bool open = row->end == INT64_MIN;
	/* An open one ends when it is known when the capture did; until then, where it starts. */
	int64_t end = open ? row->start : row->end;
	if (!usable(b, ROWS_RANGES, first_flaw(row->flaw, row->start, open && end <= 0 ? 1 : end, false)))
		return false;
	size_t i = new_row(b, ROWS_OF_RANGES, &r->n);
	r->start[i] = row->start;
	r->end[i] = end;
	r->thread[i] = build_thread_index(b, &row->thread);
	r->name[i] = keymap_add(&b->strings, row->name);
	r->domain[i] = build_domain_index(b, b->trace->threads[r->thread[i]].process, row->domain);
	r->kind[i] = (uint8_t)row->kind;
	r->clipped[i] = open;
	if (b->requested)
		r->moved[i] = row->moved;
	build_mark(b, row->start);
	build_mark(b, end);
	seen(b, end);
	return true;
}

void build_comm_call(struct build *b, const struct build_range *range, const struct build_comm_call *row)
{
	struct trace_comm_calls *c = &b->trace->comm_calls;
	int64_t end = range->end == INT64_MIN ? range->start : range->end;
	if (range->end != INT64_MIN && build_time_flaw(range->start, end, false))
		return;
	size_t i = new_row(b, ROWS_OF_COMM_CALLS, &c->n);
	c->start[i] = range->start;
	c->end[i] = end;
	c->thread[i] = build_thread_index(b, &range->thread);
	c->name[i] = keymap_add(&b->strings, range->name);
	c->comm[i] = row->comm;
	c->bytes[i] = row->bytes;
	c->peer[i] = row->peer;
	c->rank[i] = row->rank;
	c->ranks[i] = row->ranks;
}

void build_os_call(struct build *b, const struct build_os_call *row)
{
	struct trace_os_calls *o = &b->trace->os_calls;
	if (!usable(b, ROWS_OS_CALLS, first_flaw(row->flaw, row->start, row->end, false)))
		return;
	size_t i = new_row(b, ROWS_OF_OS_CALLS, &o->n);
	o->start[i] = row->start;
	o->end[i] = row->end;
	o->name[i] = keymap_add(&b->strings, row->name);
	o->thread[i] = build_thread_index(b, &row->thread);
	seen(b, row->end);
}

void build_overhead(struct build *b, const struct build_overhead *row)
{
	struct trace_overheads *v = &b->trace->overheads;
	if (!usable(b, ROWS_OVERHEADS, first_flaw(row->flaw, row->start, row->end, false)))
		return;
	size_t i = new_row(b, ROWS_OF_OVERHEADS, &v->n);
	v->start[i] = row->start;
	v->end[i] = row->end;
	v->name[i] = keymap_add(&b->strings, row->name);
	v->thread[i] = build_thread_index(b, &row->thread);
	v->class[i] = (uint8_t)row->class;
	seen(b, row->end);
}

void build_switch(struct build *b, const struct build_switch *row)
{
	const char *flaw = first_flaw(row->flaw, row->time, row->time, false);
	uint32_t thread = keymap_add(&b->scheduled, row->thread);
	if (flaw) {
		LIST_ADD(b->arena, b->flawed, b->n_flawed, b->flawed_room,
		         (struct flawed_switch){thread, b->where, flaw});
	} else if (usable(b, ROWS_SLICES, NULL)) {
		slices_note(&b->switches, b->arena, row->time, thread, row->in);
	}
}

static const char *stopwatch_flaw(const struct trace_stopwatch *run, const struct trace_stopwatch *before)
{
	if (run->time < 0 || run->process < 0 || (run->time == 0) != (run->unused != NULL))
		return "has a time that makes no sense";
	if (run->time > run->process)
		return "has steps that last longer than the process";
	if (before && (run->start < before->start || run->steps != before->steps))
		return "is out of order, or has other steps than the one before";
	return NULL;
}

void build_stopwatch(struct build *b, const struct trace_stopwatch *run, const char *flaw)
{
	struct trace *t = b->trace;
	const struct trace_stopwatch *before = t->n_stopwatch ? &t->stopwatch[t->n_stopwatch - 1] : NULL;
	if (!usable(b, ROWS_STOPWATCH, flaw ? flaw : stopwatch_flaw(run, before)))
		return;
	LIST_GROW(b->arena, t->stopwatch, t->n_stopwatch, b->stopwatch_room);
	t->stopwatch[t->n_stopwatch] = *run;
	if (run->unused)
		t->stopwatch[t->n_stopwatch].unused = names_text(b->names, names_add_text(b->names, run->unused));
	if (run->step)
		t->stopwatch[t->n_stopwatch].step = names_text(b->names, names_add_text(b->names, run->step));
	t->n_stopwatch++;
}

void build_sample(struct build *b, const struct trace_gpu_sample *sample, const char *flaw)
{
	struct trace *t = b->trace;
	/* Time 0 is as good as any other: an instant, noted by gapline itself. */
	if (!usable(b, ROWS_GPU_SAMPLES,
	            sample->time != 0 ? first_flaw(flaw, sample->time, sample->time, false) : flaw))
		return;
	LIST_ADD(b->arena, t->gpu_samples, t->n_gpu_samples, b->sample_room, *sample);
}
