#include "side/side_facts.h"

#include "base/keymap.h"
#include "base/list.h"
#include "base/sort.h"
#include "charge/tally.h"
#include "side/side.h"
#include "side/side_parts.h"
#include "trace/again.h"

#include <string.h>

/* Rows found by name: slot[name] is 1 + the index of its row. */
struct tables {
	struct side *side;        /* whose lists and counts grow … */
	struct side_facts *facts; /* … and the facts' `work` */
	struct launch_places launched;
	struct arena *arena;
	uint32_t *kernel_slot, *call_slot, *copy_slot[2]; /* copies: not pageable, pageable */
	uint32_t kernel_room, call_room, copy_room;
	struct owners {
		struct owner_result *list;
		uint32_t *slot, n, room;
		bool some; /* the profile has them */
	} operators, modules, outermost, lines;
	bool *several; /* by name of a kernel: several outermost operators launch it */
	size_t n_runs;
	double weight; /* 1 / (runs × steps of the run) */
	const struct names *names;
	struct arena *work;
	bool owned; /* operators, modules or lines may be known in any of the runs */
	/* of the run at hand */
	struct tally launch_calls, kernel_lengths; /* medians, not means: a launch that waits for a full queue takes a
	                                            * thousand times as long as the others */
	uint32_t *launches;                        /* by step: kernels that it launches */
	struct place_sums places;                  /* of what is launched, by enum place_time */
	struct streams {
		struct keymap ids;
		double *ns;
		uint32_t n, room, last, last_at; /* most kernels are on the stream of the one before */
	} streams;                               /* kernels' time of each */
};

/* The row of a slot, a new one if it has none; `rows`, `n` and `room` are changed then. */
#define ROW_OF(arena, slot, rows, n, room)                                                                             \
	({                                                                                                             \
		uint32_t *row_slot = (slot);                                                                           \
		if (__builtin_expect(!*row_slot, 0)) {                                                                 \
			LIST_GROW((arena), (rows), (n), (room));                                                       \
			*row_slot = ++(n);                                                                             \
		}                                                                                                      \
		&(rows)[*row_slot - 1];                                                                                \
	})

static uint32_t outermost_of(const struct trace *t, size_t op)
{
	uint32_t call = t->ops.launch[op];
	return call != TRACE_NONE && t->calls.in_outermost ? t->calls.in_outermost[call] : 0;
}

static void add_stream(struct tables *b, uint32_t stream, int64_t ns)
{
	struct streams *s = &b->streams;
	if (!s->n || stream != s->last) {
		s->last = stream;
		s->last_at = keymap_add(&s->ids, stream);
	}
	if (s->last_at == s->n) {
		LIST_GROW(b->work, s->ns, s->n, s->room);
		s->ns[s->n++] = 0;
	}
	s->ns[s->last_at] += (double)ns;
}

/* How many have so much of the kernels' time that it matters whether they run at once. */
static double count_streams(const struct streams *s)
{
	static const double considerable = 0.1;
	double all = 0, n = 0;
	for (uint32_t i = 0; i < s->n; i++)
		all += s->ns[i];
	for (uint32_t i = 0; i < s->n; i++)
		n += s->ns[i] >= considerable * all;
	return n;
}

static void add_kernel(struct tables *b, const struct trace *t, size_t i)
{
	struct side *side = b->side;
	struct kernel_result *k =
		ROW_OF(b->arena, &b->kernel_slot[t->ops.name[i]], side->kernels, side->n_kernels, b->kernel_room);
	k->name = t->ops.name[i];
	k->comm = t->ops.kind[i] == OP_COMM;
	const uint32_t of = outermost_of(t, i);
	if (of != k->of) {
		b->several[k->name] |= k->instances > 0;
		k->of = b->several[k->name] ? 0 : of;
	}
	if (t->ops.kind[i] == OP_KERNEL) {
		tally_add(&b->kernel_lengths, b->work, t->ops.end[i] - t->ops.start[i]);
		add_stream(b, t->ops.stream[i], t->ops.end[i] - t->ops.start[i]);
	}
	k->graph = t->ops.kind[i] == OP_GRAPH;
	k->instances += b->weight;
	k->per_step += (double)(t->ops.end[i] - t->ops.start[i]) * b->weight;
	if (k->graph)
		side->counts.graph_launches += b->weight;
	else
		side->counts.launches += b->weight;
	if (k->comm)
		side->counts.collectives += b->weight;
}

static void add_copy(struct tables *b, const struct trace *t, size_t i)
{
	bool pageable = t->ops.flags[i] & OPF_PAGEABLE;
	struct copy_result *c = ROW_OF(b->arena, &b->copy_slot[pageable][t->ops.name[i]], b->side->copies,
	                               b->side->n_copies, b->copy_room);
	double time = (double)(t->ops.end[i] - t->ops.start[i]) * b->weight;
	double bytes = (double)t->ops.bytes[i] * b->weight, unsized = t->ops.bytes[i] ? 0 : b->weight;
	c->name = t->ops.name[i];
	c->kind = (enum copy_kind)t->ops.copy[i];
	c->memset = t->ops.kind[i] == OP_MEMSET;
	c->pageable = pageable;
	c->instances += b->weight;
	c->bytes += bytes;
	c->unsized += unsized;
	c->bytes2 += (double)t->ops.bytes[i] * bytes;
	c->per_step += time;
	if (pageable) {
		b->facts->work.pageable_copies += b->weight;
		b->facts->work.pageable_bytes += bytes;
	}
	if (t->ops.flags[i] & OPF_MANAGED)
		b->facts->work.managed_copies += b->weight;
	if (c->memset)
		return;
	switch (c->kind) {
	case COPY_H2D:
	case COPY_UM_H2D:
		b->side->counts.bytes_h2d += bytes;
		b->side->counts.unsized_h2d += unsized;
		break;
	case COPY_D2H:
	case COPY_UM_D2H:
		b->side->counts.bytes_d2h += bytes;
		b->side->counts.unsized_d2h += unsized;
		break;
	default:
		b->side->counts.bytes_d2d += bytes;
		b->side->counts.unsized_d2d += unsized;
	}
}

static struct owner_result *add_owner(struct tables *b, struct owners *owners, uint32_t name, int64_t ns)
{
	struct owner_result *o = ROW_OF(b->arena, &owners->slot[name], owners->list, owners->n, owners->room);
	owners->some |= name != 0;
	o->name = name;
	o->instances += b->weight;
	o->per_step += (double)ns * b->weight;
	return o;
}

/* What a call's operator has to do, to its own time. */
static void add_work(struct tables *b, const struct trace *t, size_t i, struct owner_result *o)
{
	const uint32_t call = t->ops.launch[i], gpu = t->devices[t->ops.device[i]].gpu;
	const int64_t flops = t->calls.flops ? t->calls.flops[call] : 0;
	const int64_t moved = t->calls.moved ? t->calls.moved[call] : 0;
	const double weighed = (double)(t->ops.end[i] - t->ops.start[i]) * b->weight;
	const double count = (double)((flops >> 2) - 1) * b->weight;
	const char *model = gpu == TRACE_NONE ? "" : names_text(t->names, t->gpus[gpu].name);
	if (moved && t->ops.kind[i] == OP_KERNEL) {
		const double bytes = (double)(moved - 1) * b->weight, rate = peak_bytes(model);
		o->moved_known += weighed;
		o->moved += bytes;
		o->copied_known += rate > 0 ? weighed : 0;
		o->copied += rate > 0 ? bytes / rate : 0;
	}
	if (!flops)
		return;
	const double peak = peak_flops(model, (enum flop_format)(flops & 3));
	o->flops_known += weighed;
	o->flops += count;
	o->ideal_known += peak > 0 ? weighed : 0;
	o->ideal += peak > 0 ? count / peak : 0;
}

/* By a column of the calls: of a node of a graph the one that it was made in, else the one of its launch. */
static uint32_t owner_of(const struct trace *t, const uint32_t *of_call, size_t i)
{
	const uint32_t call[] = {t->ops.creator ? t->ops.creator[i] : TRACE_NONE, t->ops.launch[i]};
	uint32_t owner = 0;
	for (int k = 0; k < 2 && !owner && of_call; k++)
		owner = call[k] == TRACE_NONE ? 0 : of_call[call[k]];
	return owner;
}

static void add_owners(struct tables *b, const struct trace *t, size_t i)
{
	uint32_t call = t->ops.launch[i];
	int64_t ns = t->ops.end[i] - t->ops.start[i];
	bool called = call != TRACE_NONE;
	struct owner_result *o = add_owner(b, &b->operators, owner_of(t, t->calls.in_operator, i), ns);
	if (called && !(t->ops.flags[i] & OPF_GRAPH_NODE))
		add_work(b, t, i, o);
	add_owner(b, &b->modules, owner_of(t, t->calls.in_module, i), ns);
	add_owner(b, &b->lines, owner_of(t, t->calls.in_line, i), ns);
	if (t->ops.kind[i] == OP_KERNEL || t->ops.kind[i] == OP_GRAPH)
		add_owner(b, &b->outermost, outermost_of(t, i), ns);
}

/* Of a node of a graph: where it was made. */
static void add_place(struct tables *b, const struct run *run, size_t i)
{
	const struct trace_ops *ops = &run->trace->ops;
	const uint8_t kind = ops->kind[i];
	const enum place_time time = kind == OP_COMM                         ? PLACE_COMM
	                             : kind == OP_KERNEL || kind == OP_GRAPH ? PLACE_KERNELS
	                                                                     : PLACE_COPIES;
	const uint32_t made = ops->creator ? ops->creator[i] : TRACE_NONE;
	places_add_launched(run->charge->places, &b->places, time, made != TRACE_NONE ? made : ops->launch[i],
	                    owner_of(run->trace, run->trace->calls.in_module, i), ops->end[i] - ops->start[i]);
}

static void add_ops(struct tables *b, const struct run *run)
{
	const struct trace *t = run->trace;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (!run_measures_op(run, i))
			continue;
		if (b->owned)
			add_owners(b, t, i);
		if (run->charge->places)
			add_place(b, run, i);
		if (t->ops.kind[i] == OP_COPY || t->ops.kind[i] == OP_MEMSET)
			add_copy(b, t, i);
		else
			add_kernel(b, t, i);
	}
}

/* Whether a range is called as a module that calls are in. Of the profiler's own names of modules no path consists. */
static bool has_module_ranges(const struct trace *t)
{
	ARENA_LOCAL(scratch);
	if (!t->calls.in_module || t->calls.in_operator)
		return false;
	bool *is_module = ARENA_NEW(&scratch, t->names->n, bool), found = false;
	for (size_t i = 0; i < t->calls.n; i++)
		is_module[t->calls.in_module[i]] = t->calls.in_module[i] != 0;
	for (size_t i = 0; i < t->ranges.n && !found; i++)
		found = is_module[t->ranges.name[i]];
	return found;
}

/* How long the profiler held a thread up, where its process is measured. */
static void add_profiler_time(struct tables *b, const struct run *run, uint32_t thread)
{
	const struct trace *t = run->trace;
	const struct spans *parts = &run->window.host[t->threads[thread].process];
	for (uint32_t i = t->first_overhead[thread]; i < t->first_overhead[thread + 1]; i++)
		for (size_t h = 0; h < parts->n && t->overheads.class[i] == OVERHEAD_PROFILER; h++) {
			const int64_t *part = parts->at[h];
			int64_t a = t->overheads.start[i] > part[0] ? t->overheads.start[i] : part[0];
			int64_t z = t->overheads.end[i] < part[1] ? t->overheads.end[i] : part[1];
			b->side->counts.overhead += z > a ? (double)(z - a) * b->weight : 0;
		}
}

/* What is launched while a graph is captured is only written down. */
static void add_calls(struct tables *b, const struct run *run)
{
	struct side *side = b->side;
	struct work_facts *work = &b->facts->work;
	const struct trace *t = run->trace;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		struct host_window host = run_host(run, t->threads[thread].process);
		bool launches = run->charge->activity.launches[thread];
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
			if (!host_window_has(&host, t->calls.start[i]))
				continue;
			struct api_result *a =
				ROW_OF(b->arena, &b->call_slot[t->calls.name[i]], side->api, side->n_api, b->call_room);
			enum call_class class = (enum call_class)t->calls.class[i];
			a->name = t->calls.name[i];
			if (class > a->class)
				a->class = class;
			const bool launch = class == CALL_LAUNCH && t->calls.queues[i];
			if (launch)
				tally_add(&b->launch_calls, b->work, t->calls.end[i] - t->calls.start[i]);
			a->calls += b->weight;
			a->per_step += (double)(t->calls.end[i] - t->calls.start[i]) * b->weight;
			if (t->calls.waits[i]) {
				side->counts.syncs += b->weight;
				work->blocking_syncs += launches ? b->weight : 0;
			}
			if (!launches)
				continue;
			if (launch)
				work->launch_calls += b->weight;
			else if (class == CALL_MODULE)
				work->module_calls += b->weight;
			if (class != CALL_ALLOC)
				continue;
			work->alloc_calls += b->weight;
			work->alloc_time += (double)(t->calls.end[i] - t->calls.start[i]) * b->weight;
		}
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++)
			if (host_window_has(&host, t->ranges.start[i]))
				side->counts.ranges += b->weight;
		if (launches)
			add_profiler_time(b, run, thread);
	}
}

static void count_launches(struct tables *b, const struct run *part)
{
	const struct trace *t = part->trace;
	for (size_t i = 0; i < t->ops.n && part->steps.found; i++)
		if (t->ops.kind[i] == OP_KERNEL && part->steps.op_step[i] != TRACE_NONE &&
		    !(t->ops.flags[i] & OPF_GRAPH_NODE))
			b->launches[part->steps.op_step[i]]++;
}

/* Share of the measured steps that launch as many kernels as most of them do; one step alone says nothing of that. */
static double steady_launches(uint32_t *count, const struct run *run)
{
	uint32_t longest = 0;
	if (!run->steps.found || run->window.n_steps < 2)
		return 0;
	sort_counts(count + run->window.warmup, run->window.n_steps);
	for (uint32_t i = run->window.warmup, equal = 0; i < run->steps.n; i++) {
		equal = i > run->window.warmup && count[i] == count[i - 1] ? equal + 1 : 1;
		if (equal > longest)
			longest = equal;
	}
	return (double)longest / run->window.n_steps;
}

/* ---- order: by time, then by name, so that output is the same on every machine ---- */

static int compare_rows(double time_a, double time_b, uint32_t name_a, uint32_t name_b, const struct names *names)
{
	return DESCENDING(time_a, time_b) ?: strcmp(names_text(names, name_a), names_text(names, name_b));
}
SORT_ORDER_BY(compare_kernels, struct kernel_result, names,
              compare_rows(x->per_step, y->per_step, x->name, y->name, names))
SORT_ORDER_BY(compare_owners, struct owner_result, names,
              compare_rows(x->per_step, y->per_step, x->name, y->name, names))
SORT_ORDER_BY(compare_api, struct api_result, names, compare_rows(x->per_step, y->per_step, x->name, y->name, names))
SORT_ORDER_BY(compare_copies, struct copy_result, names,
              compare_rows(x->per_step, y->per_step, x->name, y->name, names) ?: (int)x->pageable - (int)y->pageable)

struct tables *side_tables_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena,
                                 struct side *side, struct side_facts *facts)
{
	struct tables *b = ARENA_NEW(work, 1, struct tables);
	b->side = side;
	b->facts = facts;
	b->arena = arena;
	b->work = work;
	b->n_runs = n;
	place_sums_init(&b->places, work);
	keymap_init(&b->streams.ids, work);
	keymap_init(&b->launched.keys, work);
	for (size_t r = 0; r < n; r++) {
		const struct trace *t = runs[r].trace;
		b->owned = b->owned || t->calls.in_operator || t->calls.in_module || t->calls.in_line;
		for (uint32_t i = 0; i < t->n_again; i++)
			b->owned = b->owned || t->again[i].owned;
	}
	b->names = runs[0].trace->names;
	b->kernel_slot = ARENA_NEW(work, b->names->n, uint32_t);
	b->operators.slot = ARENA_NEW(work, b->names->n, uint32_t);
	b->modules.slot = ARENA_NEW(work, b->names->n, uint32_t);
	b->outermost.slot = ARENA_NEW(work, b->names->n, uint32_t);
	b->lines.slot = ARENA_NEW(work, b->names->n, uint32_t);
	b->several = ARENA_NEW(work, b->names->n, bool);
	b->call_slot = ARENA_NEW(work, b->names->n, uint32_t);
	b->copy_slot[0] = ARENA_NEW(work, b->names->n, uint32_t);
	b->copy_slot[1] = ARENA_NEW(work, b->names->n, uint32_t);
	return b;
}

void side_tables_add(struct tables *b, const struct run *run, const struct run *part)
{
	b->weight = 1 / ((double)b->n_runs * run->window.n_steps);
	b->side->modules_by_ranges = b->side->modules_by_ranges || has_module_ranges(part->trace);
	if (!b->launches)
		b->launches = ARENA_NEW(b->work, (size_t)run->steps.n + 1, uint32_t);
	add_ops(b, part);
	add_calls(b, part);
	count_launches(b, part);
}

void side_tables_end_run(struct tables *b, const struct run *run)
{
	double n = (double)b->n_runs;
	b->facts->work.launch_call += tally_median(&b->launch_calls) / n;
	b->facts->work.kernel_median += tally_median(&b->kernel_lengths) / n;
	b->facts->work.streams += count_streams(&b->streams) / n;
	b->facts->work.steady_launches += steady_launches(b->launches, run) / n;
	launch_places_add(&b->launched, &b->places, 1 / ((double)b->n_runs * run->window.n_steps));
	place_sums_init(&b->places, b->work);
	b->launch_calls = b->kernel_lengths = (struct tally){0};
	b->streams = (struct streams){0};
	keymap_init(&b->streams.ids, b->work);
	b->launches = NULL;
}

static void end_owners(struct owners *owners, const struct names *names, struct owner_result **list, uint32_t *n)
{
	if (!owners->some)
		return;
	SORT_BY(owners->list, owners->n, compare_owners, names);
	*list = owners->list;
	*n = owners->n;
}

struct launch_places side_tables_end(struct tables *b)
{
	struct side *out = b->side;
	const struct names *names = b->names;
	SORT_BY(out->kernels, out->n_kernels, compare_kernels, names);
	end_owners(&b->operators, names, &out->operators, &out->n_operators);
	end_owners(&b->modules, names, &out->modules, &out->n_modules);
	end_owners(&b->outermost, names, &out->outermost, &out->n_outermost);
	end_owners(&b->lines, names, &out->lines, &out->n_lines);
	SORT_BY(out->api, out->n_api, compare_api, names);
	SORT_BY(out->copies, out->n_copies, compare_copies, names);
	return b->launched;
}
