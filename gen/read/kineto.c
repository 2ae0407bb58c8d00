#include "read/kineto.h"
#include "base/sort.h"

#include "trace/columns.h"

#include <limits.h>
#include <string.h>

enum { RANKS_MAX = 10000000, DEVICES_MAX = 4096 };

static size_t space_before(const struct file_head *head)
{
	size_t i = head->n >= 3 && memcmp(head->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	while (i < head->n && head->data[i] && strchr(" \t\r\n", head->data[i]))
		i++;
	return i;
}

bool kineto_recognise(const struct file_head *head)
{
	size_t i = space_before(head);
	return i < head->n && (head->data[i] == '{' || head->data[i] == '[');
}

bool kineto_looks_like_trace(const struct file_head *head)
{
	static const char *const signs[] = {"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"ph\""};
	for (size_t i = 0; i < sizeof signs / sizeof *signs && kineto_recognise(head); i++)
		if (memmem(head->data, head->n, signs[i], strlen(signs[i])))
			return true;
	return false;
}

struct build_thread kineto_thread_of(const struct kineto *k, uint32_t thread)
{
	const struct kineto_thread *t = &k->threads[thread];
	return (struct build_thread){
		.key = thread, .process = t->process, .pid = k->processes[t->process].pid, .tid = t->tid};
}

/* ---- time ---- */

/* Before this there was no PyTorch profiler: a time of the file that is later counts from 1970. */
static const int64_t YEAR_2015 = 1420070400000000000;

struct clock {
	int64_t origin;  /* what is taken from every time: a little before the first */
	bool zero_fails; /* a time of 0 is one that the writer clamped, for all others are far from it */
};

/* Where most times count from 1970, one that does not is damaged, and the others are not counted from there. */
static struct clock find_clock(const struct kineto *k)
{
	static const int64_t hour = 3600LL * 1000 * 1000 * 1000;
	const size_t n = k->n_ops + k->n_spans;
	int64_t first = INT64_MAX, first_late = INT64_MAX;
	size_t late = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t start = i < k->n_ops ? k->ops[i].start : k->spans[i - k->n_ops].start;
		if (start == 0)
			continue;
		first = start < first ? start : first;
		first_late = start > YEAR_2015 && start < first_late ? start : first_late;
		late += start > YEAR_2015;
	}
	if (2 * late > n)
		first = first_late;
	if (first == INT64_MAX)
		return (struct clock){.origin = -1};
	if (first > hour)
		return (struct clock){first - 1, true};
	return (struct clock){(first < 0 ? first : 0) - 1, false};
}

static int64_t wall_time(const struct kineto *k, const struct clock *clock)
{
	if (k->base > YEAR_2015 && clock->origin < INT64_MAX - k->base)
		return k->base + clock->origin;
	return clock->origin > YEAR_2015 ? clock->origin : TRACE_NO_TIME;
}

/* ---- rows ---- */

/* Which processes launched: a process by correlation, and the correlations of graph launches. */
struct launches {
	struct keymap correlations;
	uint32_t *process; /* by index of correlations */
	bool *graph;
	uint32_t room;
	uint32_t process_of_all; /* where one process called, or none; else TRACE_NONE */
};

static void give_calls(struct kineto *k, const struct clock *clock, struct launches *l)
{
	uint32_t callers = 0;
	keymap_init(&l->correlations, &k->scratch);
	build_from(k->build, "cuda_runtime");
	l->process_of_all = k->n_spans ? k->threads[k->spans[0].thread].process : 0;
	for (uint32_t i = 0; i < k->n_processes; i++)
		if (k->processes[i].calls) {
			l->process_of_all = i;
			callers++;
		}
	if (callers > 1)
		l->process_of_all = TRACE_NONE;
	for (size_t i = 0; i < k->n_spans; i++) {
		const struct kineto_span *s = &k->spans[i];
		const char *name = names_text(k->names, s->name);
		if (s->kind == KINETO_OVERHEAD)
			build_overhead(k->build,
			               &(struct build_overhead){.start = s->start - clock->origin,
			                                        .end = s->end - clock->origin,
			                                        .name = build_text(k->build, name, strlen(name)),
			                                        .thread = kineto_thread_of(k, s->thread),
			                                        .class = OVERHEAD_PROFILER});
		if (s->kind != KINETO_CALL)
			continue;
		const struct build_call_notes notes = {.in_operator = s->in_operator,
		                                       .in_outermost = s->in_outermost,
		                                       .in_module = s->in_module,
		                                       .flops = s->flops,
		                                       .moved = s->moved,
		                                       .noted = s->noted};
		build_call(k->build, &(struct build_call){.start = s->start - clock->origin,
		                                          .end = s->end - clock->origin,
		                                          .correlation = s->correlation,
		                                          .name = build_text(k->build, name, strlen(name)),
		                                          .thread = kineto_thread_of(k, s->thread),
		                                          .notes = &notes});
		kineto_comm_give(k, s,
		                 &(struct build_range){.start = s->start - clock->origin,
		                                       .end = s->end - clock->origin,
		                                       .thread = kineto_thread_of(k, s->thread)});
		bool graph = strstr(name, "GraphLaunch") != NULL;
		if (!graph && l->process_of_all != TRACE_NONE)
			continue;
		uint32_t c = keymap_add(&l->correlations, (uint64_t)s->correlation);
		if (c >= l->room) {
			uint32_t room = c + c / 2 + 64;
			l->process = arena_grow(&k->scratch, l->process, l->room, room, sizeof *l->process);
			l->graph = arena_grow(&k->scratch, l->graph, l->room, room, sizeof *l->graph);
			l->room = room;
		}
		l->process[c] = k->threads[s->thread].process;
		l->graph[c] = graph;
	}
}

/* "Memcpy HtoD (Pageable -> Device)"; ROCm's "CopyHostToDevice", "Memcpy HtoD (Host -> Device)"; Intel's "M2D". */
static void tell_copy(const char *name, struct build_op *op)
{
	static const struct {
		const char *text;
		enum copy_kind kind;
	} directions[] = {{"HtoD", COPY_H2D},
	                  {"DtoH", COPY_D2H},
	                  {"DtoD", COPY_D2D},
	                  {"PtoP", COPY_P2P},
	                  {"HtoH", COPY_H2H},
	                  {"HtoA", COPY_H2A},
	                  {"AtoH", COPY_A2H},
	                  {"AtoA", COPY_A2A},
	                  {"AtoD", COPY_A2D},
	                  {"DtoA", COPY_D2A},
	                  {"HostToDevice", COPY_H2D},
	                  {"DeviceToHost", COPY_D2H},
	                  {"DeviceToDevice", COPY_D2D},
	                  {"HostToHost", COPY_H2H},
	                  {"M2D", COPY_H2D},
	                  {"D2M", COPY_D2H}};
	static const struct {
		const char *text;
		enum memory_kind kind;
	} kinds[] = {
		{"Pageable", MEMORY_PAGEABLE}, {"Pinned", MEMORY_PINNED},  {"Device Static", MEMORY_DEVICE_STATIC},
		{"Device", MEMORY_DEVICE},     {"Array", MEMORY_ARRAY},    {"Managed Static", MEMORY_MANAGED_STATIC},
		{"Managed", MEMORY_MANAGED},   {"Unknown", MEMORY_UNKNOWN}};
	const char *ends[2] = {strchr(name, '('), strstr(name, "-> ")};
	for (size_t i = sizeof directions / sizeof *directions; i--;)
		if (strstr(name, directions[i].text))
			op->copy = directions[i].kind;
	for (int e = 0; e < 2; e++)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds && ends[0] && ends[e]; i++) {
			const char *at = ends[e] + (e ? 3 : 1);
			if (strncmp(at, kinds[i].text, strlen(kinds[i].text)) == 0) {
				*(e ? &op->to : &op->from) = (uint8_t)kinds[i].kind;
				break;
			}
		}
}

static int give_ops(struct kineto *k, const struct clock *clock, const struct launches *l)
{
	static const char *const where[] = {
		[OP_KERNEL] = "kernel", [OP_COPY] = "gpu_memcpy", [OP_MEMSET] = "gpu_memset"};
	build_reserve(k->build, ROWS_OF_OPS, k->n_ops);
	for (size_t i = 0; i < k->n_ops; i++) {
		const struct kineto_op *from = &k->ops[i];
		const char *name = names_text(k->names, from->name);
		uint32_t c =
			l->correlations.n ? keymap_find(&l->correlations, (uint64_t)from->correlation) : TRACE_NONE;
		uint32_t process = l->process_of_all;
		if (process == TRACE_NONE)
			process = c != TRACE_NONE ? l->process[c] : 0;
		uint64_t text = build_text(k->build, name, strlen(name));
		struct build_op op = {.kind = (enum op_kind)from->kind,
		                      .start = from->start - clock->origin,
		                      .end = from->end - clock->origin,
		                      .bytes = from->bytes,
		                      .process = process,
		                      .pid = k->n_processes ? k->processes[process].pid : 0,
		                      .device = from->device,
		                      .stream = from->stream,
		                      .correlation = from->correlation,
		                      .name = text,
		                      .base_name = text,
		                      .mangled_name = text,
		                      .shape = from->shape,
		                      .context = from->context,
		                      .from = MEMORY_NOT_RECORDED,
		                      .to = MEMORY_NOT_RECORDED};
		if (from->node || (c != TRACE_NONE && l->graph[c]))
			op.flags |= OPF_GRAPH_NODE;
		if (op.kind == OP_COPY)
			tell_copy(name, &op);
		build_from(k->build, where[op.kind]);
		build_op(k->build, &op);
	}
	if (k->build->devices.n > DEVICES_MAX)
		return err_set(k->err, "%s: names %u devices, which no trace has; record it again", k->path,
		               k->build->devices.n);
	return 0;
}

/* ---- what is known about them ---- */

/* "thread 966 (pt_autograd_0)" -> "pt_autograd_0" */
static uint64_t thread_name(struct kineto *k, const char *text)
{
	const char *open = strncmp(text, "thread ", 7) == 0 ? strchr(text, '(') : NULL;
	size_t n = open ? strlen(open) : 0;
	return open && n > 2 && open[n - 1] == ')' ? build_text(k->build, open + 1, n - 2)
	                                           : build_text(k->build, text, strlen(text));
}

static void give_names(struct kineto *k)
{
	for (uint32_t i = 0; i < k->n_threads; i++)
		if (k->threads[i].name)
			build_system_name(k->build, i, thread_name(k, names_text(k->names, k->threads[i].name)));
	for (uint32_t i = 0; i < k->n_processes; i++) {
		uint32_t process = build_find_process(k->build, i);
		if (process != TRACE_NONE)
			k->build->trace->processes[process].name = k->processes[i].name;
	}
}

static void give_gpus(struct kineto *k, struct arena *arena)
{
	struct trace *t = k->build->trace;
	t->gpus = ARENA_NEW(arena, k->n_gpus, struct trace_gpu);
	for (uint32_t i = 0; i < k->n_gpus; i++) {
		const struct kineto_gpu *from = &k->gpus[i];
		t->gpus[t->n_gpus++] = (struct trace_gpu){.name = from->name,
		                                          .memory_bytes = from->memory > 0 ? from->memory : 0,
		                                          .sm_count = from->sms > 0 ? from->sms : 0};
		for (uint32_t d = 0; d < t->n_devices; d++)
			if (t->devices[d].gpu == TRACE_NONE && (int64_t)t->devices[d].ordinal == from->id)
				t->devices[d].gpu = i;
	}
}

SORT_ORDER(by_time, struct kineto_memory, ASCENDING(x->time, y->time) ?: ASCENDING(x->address, y->address))

static uint32_t find_thread(const struct kineto *k, uint32_t process, uint32_t thread)
{
	const struct trace *t = k->build->trace;
	uint32_t i = 0;
	while (i < t->n_threads && (t->threads[i].process != process || t->threads[i].tid != k->threads[thread].tid))
		i++;
	return i < t->n_threads ? i : TRACE_NONE;
}

/* What of the peak was allocated while it was recorded. */
static void give_held(struct kineto *k, const struct kineto_peak *peak, uint32_t process, uint32_t device,
                      int64_t origin)
{
	struct keymap there;
	struct held_allocation *list = ARENA_NEW(&k->scratch, k->n_memory, struct held_allocation);
	keymap_init(&there, &k->scratch);
	for (size_t i = 0; i < k->n_memory; i++) {
		const struct kineto_memory *m = &k->memory[i];
		if (m->device != peak->device || k->threads[m->thread].process != peak->process)
			continue;
		if (m->bytes < 0 && m->after - m->bytes == peak->bytes)
			break;
		list[keymap_add(&there, m->address)] =
			(struct held_allocation){.born = m->time - origin,
		                                 .bytes = m->bytes > 0 ? m->bytes : 0,
		                                 .process = process,
		                                 .thread = find_thread(k, process, m->thread),
		                                 .in_operator = m->in_operator};
		if (m->after == peak->bytes)
			break;
	}
	held_at_peak(k->build->trace, device, list, there.n);
}

/* How much was handed out between two events is what the second one says was there before it; where the first one says
 * otherwise, that was so for an instant: of several at one time nobody knows the order. */
static void give_levels(struct kineto *k, const struct kineto_peak *peak, uint32_t device, int64_t origin)
{
	struct trace *t = k->build->trace;
	const struct kineto_memory *before = NULL;
	for (size_t i = 0; i < k->n_memory; i++) {
		const struct kineto_memory *m = &k->memory[i];
		if (m->device != peak->device || k->threads[m->thread].process != peak->process)
			continue;
		const int64_t time = m->time - origin, there = m->after - m->bytes;
		const int64_t from = before ? before->time - origin : t->first_time < time ? t->first_time : time;
		if (before && before->after != there)
			held_add_level(t, device, from, from, before->after);
		held_add_level(t, device, from, time, there);
		before = m;
	}
	if (before)
		held_add_level(t, device, before->time - origin, t->last_time, before->after);
}

static void give_memory(struct kineto *k, int64_t origin, struct arena *arena)
{
	SORT(k->memory, k->n_memory, by_time);
	struct trace *t = k->build->trace;
	const size_t room = 2 * k->n_memory + k->n_peaks;
	columns_resize(t, ROWS_OF_LEVELS, arena, 0, room, false);
	for (uint32_t d = 0; d < t->n_devices; d++)
		for (size_t i = 0; i < k->n_peaks; i++) {
			const struct kineto_peak *peak = &k->peaks[i];
			struct trace_device *device = &t->devices[d];
			const uint32_t process = build_find_process(k->build, peak->process);
			if (device->process != process || (int64_t)device->ordinal != peak->device)
				continue;
			const bool known = peak->bytes >= 0 && !peak->unsaid;
			device->memory = known ? MEMORY_ALLOCATOR : peak->unsaid ? MEMORY_NO_START : MEMORY_DAMAGED;
			device->memory_peak = known ? peak->bytes : 0;
			if (!known)
				continue;
			give_held(k, peak, process, d, origin);
			give_levels(k, peak, d, origin);
		}
	columns_resize(t, ROWS_OF_LEVELS, arena, room, t->levels.n, false);
}

static void give_source(struct kineto *k, const struct clock *clock, struct arena *arena)
{
	struct trace_source *s = &k->build->trace->source;
	s->exporter = "PyTorch profiler (Kineto)";
	if (k->schema > 0)
		s->schema = arena_format(arena, "%lld", (long long)k->schema);
	if (k->driver >= 1000 && k->driver < 1000000)
		s->cuda_driver =
			arena_format(arena, "%lld.%lld", (long long)k->driver / 1000, (long long)k->driver % 1000 / 10);
	s->started = wall_time(k, clock);
	s->host = k->host;
	if (k->rank >= 0 && k->rank < RANKS_MAX && (k->ranks <= 0 || k->rank < k->ranks)) {
		s->rank = (int32_t)k->rank;
		s->ranks = k->ranks > 0 && k->ranks < RANKS_MAX ? (int32_t)k->ranks : -1;
	}
}

static int give_all(struct kineto *k, const struct read_wish *wish, struct arena *arena)
{
	const struct clock clock = find_clock(k);
	struct launches launches = {0};
	k->old_spelling = k->annotations == 0;
	if (clock.zero_fails)
		kineto_drop_clamped(k);
	kineto_drop_twins(k);
	kineto_give_ranges(k, clock.origin);
	give_calls(k, &clock, &launches);
	if (give_ops(k, &clock, &launches) != 0 || kineto_check_contents(k, wish) != 0)
		return -1;
	give_names(k);
	build_finish(k->build);
	if (wish->joined)
		build_drop_ids(k->build);
	give_gpus(k, arena);
	give_memory(k, clock.origin, arena);
	give_source(k, &clock, arena);
	return 0;
}

int kineto_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err)
{
	struct build build;
	struct kineto k = {.path = path, .names = names, .build = &build, .err = err, .rank = -1, .ranks = -1};
	build_begin(&build, trace, names, arena, wish->details);
	trace->source.kind = SOURCE_KINETO;
	trace->source.collector = "kineto";
	keymap_init(&k.comm_keys, &k.scratch);
	keymap_init(&k.pids, &k.scratch);
	keymap_init(&k.tids, &k.scratch);
	keymap_init(&k.thread_keys, &k.scratch);
	int result = kineto_parse(&k, source);
	if (result == 0)
		result = kineto_check_kind(&k, source->packing);
	if (result == 0)
		result = give_all(&k, wish, arena);
	arena_release(&k.scratch);
	return result;
}
