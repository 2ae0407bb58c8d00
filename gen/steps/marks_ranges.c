#include "steps/marks.h"

#include "base/keymap.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/order.h"

#include <string.h>

enum { MAIN_PART = 10 }; /* a thread that launches less than one in so many of another's kernels is not the loop's */

/* GPU time launched by one process, in order of the launching calls: time[i] is what the calls up to the i-th launch.
 * One whose work is not there (the capture ended before it ran) is a launch, too, of no time. */
struct launches {
	const int64_t *start;
	const struct marks_time *time;
	size_t n;
};

static void add_time(struct marks_time *to, const struct trace *t, size_t op)
{
	double length = (double)(t->ops.end[op] - t->ops.start[op]);
	to->all += length;
	to->work += t->ops.kind[op] == OP_COMM ? 0 : length;
}

static bool launches(const struct trace *t, size_t call)
{
	return t->calls.class[call] == CALL_LAUNCH || t->calls.queues[call];
}

static void collect_launches(const struct trace *t, struct arena *arena, struct launches *by_process)
{
	ARENA_LOCAL(scratch);
	struct marks_time *by_call = ARENA_TAKE(&scratch, t->calls.n + 1, struct marks_time);
	memset(by_call, 0, t->calls.n * sizeof *by_call); /* a page that is read before it is written faults twice */
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE)
			add_time(&by_call[t->ops.launch[i]], t, i);
	size_t n = 0;
	for (size_t c = 0; c < t->calls.n; c++)
		n += launches(t, c);
	int64_t *start = ARENA_TAKE(arena, n, int64_t);
	struct marks_time *time = ARENA_TAKE(arena, n, struct marks_time);
	uint32_t *process = ARENA_TAKE(&scratch, n, uint32_t);
	n = 0;
	for (size_t c = 0; c < t->calls.n; c++)
		if (launches(t, c)) {
			start[n] = t->calls.start[c];
			time[n] = by_call[c];
			process[n] = t->threads[t->calls.thread[c]].process;
			by_process[process[n++]].n++;
		}
	struct order order = {.n = n, .group = process, .n_groups = t->n_processes, .start = start};
	uint32_t *rows = order_rows(&order, &scratch);
	if (rows) {
		void *room = ARENA_TAKE(&scratch, n, struct marks_time);
		order_column(start, sizeof *start, n, rows, room);
		order_column(time, sizeof *time, n, rows, room);
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		by_process[p].start = start;
		by_process[p].time = time;
		for (size_t i = 1; i < by_process[p].n; i++)
			time[i] = (struct marks_time){time[i - 1].all + time[i].all, time[i - 1].work + time[i].work};
		start += by_process[p].n;
		time += by_process[p].n;
	}
}

/* Index of the first launch that starts at or after `t`, looked for from `near` on. */
static size_t launches_from(const struct launches *l, size_t near, int64_t t)
{
	return search_after(l->start, (uint32_t)l->n, (uint32_t)near, t - 1);
}

/* What is launched from the i-th launch on, and before the j-th. */
static struct marks_time time_between(const struct launches *l, size_t i, size_t j)
{
	const struct marks_time none = {0}, from = i ? l->time[i - 1] : none, to = j ? l->time[j - 1] : none;
	return (struct marks_time){to.all - from.all, to.work - from.work};
}

/* Ranges grouped by (thread, name, domain). */
struct groups {
	struct keymap names; /* by name << 32 | domain */
	struct keymap keys;  /* by thread << 32 | index in `names` */
	uint32_t *of;        /* by range: its group, or TRACE_NONE */
	size_t *first;       /* by group: its ranges are order[first[g] .. first[g + 1]) */
	uint32_t *order;
};

/* Whether a name that occurs so often may be a step, or be around some. */
static bool is_often(const struct trace *t, uint32_t name, uint32_t instances)
{
	return instances >= 2 || marks_name_class(names_text(t->names, name), "") >= MARK_STEP;
}

/* Ranges without a name are left out: nobody could say which they are. Without `few`, names that occur once are, too,
 * but for those of steps. */
static void group_ranges(const struct trace *t, const struct fold *fold, bool few, struct arena *arena,
                         struct groups *out)
{
	const struct trace_ranges *r = &t->ranges;
	uint32_t *instances = ARENA_NEW(arena, t->names->n, uint32_t);
	keymap_init(&out->names, arena);
	keymap_init(&out->keys, arena);
	out->of = ARENA_NEW(arena, r->n, uint32_t);
	for (size_t i = 0; i < r->n; i++)
		instances[fold->of[r->name[i]]]++;
	for (size_t i = 0; i < r->n; i++) {
		uint32_t name = fold->of[r->name[i]];
		uint64_t thread = r->thread[i];
		out->of[i] = TRACE_NONE;
		if (name && (few || is_often(t, name, instances[name])))
			out->of[i] =
				keymap_add(&out->keys,
			                   thread << 32 | keymap_add(&out->names, (uint64_t)name << 32 | r->domain[i]));
	}
	size_t *first = ARENA_NEW(arena, (size_t)out->keys.n + 2, size_t);
	for (size_t i = 0; i < r->n; i++)
		if (out->of[i] != TRACE_NONE)
			first[out->of[i] + 2]++;
	for (size_t g = 2; g < (size_t)out->keys.n + 2; g++)
		first[g] += first[g - 1];
	out->order = ARENA_NEW(arena, first[out->keys.n + 1], uint32_t);
	for (size_t i = 0; i < r->n; i++) /* ranges of a thread are in order of their start */
		if (out->of[i] != TRACE_NONE)
			out->order[first[out->of[i] + 1]++] = (uint32_t)i;
	out->first = first;
}

SORT_ORDER(compare_pieces, struct marks_piece,
           ASCENDING(x->process, y->process) ?: ASCENDING(x->name, y->name) ?: ASCENDING(x->domain, y->domain)
           ?: ASCENDING(x->thread, y->thread))

/* Ranges [first, first + n) of `order` are of one thread, name and domain: push/pop ones inside another are left out.
 */
static void fill_piece(const struct trace_ranges *r, uint32_t *order, size_t n, struct marks_piece *out)
{
	int64_t nested = INT64_MIN, until = INT64_MIN; /* ends of the push/pop ranges so far, of all */
	for (size_t k = out->first; k < out->first + n; k++) {
		uint32_t range = order[k];
		int64_t start = r->start[range], end = r->end[range];
		bool stacked = r->kind[range] == RANGE_PUSH_POP;
		if (stacked && start < nested && end <= nested)
			continue;
		out->overlap = out->overlap || start < until;
		until = end > until ? end : until;
		nested = stacked && end > nested ? end : nested;
		out->total += end - start;
		order[out->first + out->n++] = range;
	}
}

static void collect_pieces(struct marks_ranges *x, const struct fold *fold, bool few)
{
	const struct trace *t = x->trace;
	struct groups groups;
	group_ranges(t, fold, few, x->arena, &groups);
	x->order = groups.order;
	x->n_pieces = groups.keys.n;
	x->pieces = ARENA_NEW(x->arena, x->n_pieces, struct marks_piece);
	for (uint32_t g = 0; g < groups.keys.n; g++) {
		uint64_t name = groups.names.keys[(uint32_t)groups.keys.keys[g]];
		struct marks_piece *p = &x->pieces[g];
		*p = (struct marks_piece){.thread = (uint32_t)(groups.keys.keys[g] >> 32),
		                          .name = (uint32_t)(name >> 32),
		                          .domain = (uint32_t)name,
		                          .first = groups.first[g]};
		p->process = t->threads[p->thread].process;
		fill_piece(&t->ranges, x->order, groups.first[g + 1] - groups.first[g], p);
	}
	SORT(x->pieces, x->n_pieces, compare_pieces);
}

/* Of the calls before each call: how many launched an op, and the GPU time of the kernels that they launched. */
struct launching {
	uint32_t *n;
	double *kernels;
};

static struct launching count_launching(const struct trace *t, struct arena *arena)
{
	struct launching l = {ARENA_NEW(arena, t->calls.n + 1, uint32_t), ARENA_NEW(arena, t->calls.n + 1, double)};
	for (size_t i = 0; i < t->ops.n; i++) {
		if (t->ops.launch[i] == TRACE_NONE)
			continue;
		l.n[t->ops.launch[i] + 1] = 1;
		if (t->ops.kind[i] != OP_COPY && t->ops.kind[i] != OP_MEMSET)
			l.kernels[t->ops.launch[i] + 1] += (double)(t->ops.end[i] - t->ops.start[i]);
	}
	for (size_t c = 0; c < t->calls.n; c++) {
		l.n[c + 1] += l.n[c];
		l.kernels[c + 1] += l.kernels[c];
	}
	return l;
}

static uint32_t call_from(const struct trace *t, uint32_t thread, int64_t time)
{
	uint32_t call = t->first_call[thread];
	SEARCH(call, t->first_call[thread + 1], t->calls.start[call] < time);
	return call;
}

/* What the thread itself launches in its instances: in how many of them, and kernels of how long, an instance. */
static double look_at_launches(const struct marks_ranges *x, const struct marks_piece *p, const struct launching *l,
                               size_t *launching)
{
	const struct trace *t = x->trace;
	double kernels = 0;
	*launching = 0;
	for (size_t i = p->first; i < p->first + p->n; i++) {
		uint32_t from = call_from(t, p->thread, t->ranges.start[x->order[i]]);
		uint32_t to = call_from(t, p->thread, t->ranges.end[x->order[i]]);
		*launching += l->n[to] > l->n[from];
		kernels += l->kernels[to] - l->kernels[from];
	}
	return p->n ? kernels / (double)p->n : 0;
}

/* Takes out the pieces of threads that only watch others launch, or prepare what others work on: that launch in less
 * than half as many of their instances as another one, or less than a part of its kernels. */
static void drop_watchers(const struct marks_ranges *x, struct marks_range *c, const struct launching *l)
{
	size_t kept = 0;
	struct marks_piece *p = &x->pieces[c->first];
	double *kernels = ARENA_NEW(x->arena, c->n, double), *share = ARENA_NEW(x->arena, c->n, double);
	double most = 0, most_share = 0;
	for (size_t i = 0; i < c->n; i++) {
		size_t launching;
		kernels[i] = look_at_launches(x, &p[i], l, &launching);
		share[i] = p[i].n ? (double)launching / (double)p[i].n : 0;
		most = kernels[i] > most ? kernels[i] : most;
		most_share = share[i] > most_share ? share[i] : most_share;
	}
	for (size_t i = 0; i < c->n; i++) /* of requests whose work another thread does all count: none launches any */
		if (2 * share[i] >= most_share && MAIN_PART * kernels[i] >= most)
			p[kept++] = p[i];
	c->n = kept ? kept : c->n;
}

static void collect_candidates(struct marks_ranges *x, bool few)
{
	struct launching launching = {0};
	x->list = ARENA_NEW(x->arena, x->n_pieces, struct marks_range);
	for (size_t i = 0, next; i < x->n_pieces; i = next) {
		const struct marks_piece *p = x->pieces;
		const char *name = names_text(x->trace->names, p[i].name),
			   *domain = names_text(x->trace->names, p[i].domain);
		struct marks_range c = {.first = i, .class = (uint8_t)marks_name_class(name, domain)};
		for (next = i; next < x->n_pieces && p[next].process == p[i].process && p[next].name == p[i].name &&
		               p[next].domain == p[i].domain;)
			next++;
		c.n = next - i;
		if (c.n > 1) {
			if (!launching.n)
				launching = count_launching(x->trace, x->arena);
			drop_watchers(x, &c, &launching);
		}
		for (size_t k = c.first; k < c.first + c.n; k++) {
			c.instances += p[k].n;
			c.total = p[k].total > c.total ? p[k].total : c.total;
			c.overlap = c.overlap || p[k].overlap;
		}
		if (few || (c.class != MARK_NEVER && (c.instances >= 2 || c.class >= MARK_STEP)))
			x->list[x->n++] = c;
	}
}

void marks_ranges_collect(struct marks_ranges *x, const struct fold *fold, bool few)
{
	collect_pieces(x, fold, few);
	collect_candidates(x, few);
}

struct interval {
	int64_t start, end;
	bool clipped;    /* the capture ended in it: what it holds may be far more than a step */
	size_t from, to; /* the launches inside */
};

SORT_ORDER(compare_intervals, struct interval, ASCENDING(x->start, y->start))

/* The rules for one process, of which `least` instances are one; fills c->stretch. */
static bool is_step(const struct marks_ranges *x, struct marks_range *c, const struct launches *launches, size_t least,
                    bool like)
{
	struct arena scratch = {0};
	const struct trace_ranges *r = &x->trace->ranges;
	const struct launches *l = &launches[x->pieces[c->first].process];
	struct interval *open = ARENA_NEW(&scratch, c->instances, struct interval);
	size_t n = 0, launching = 0, whole = 0;
	for (size_t k = c->first; k < c->first + c->n; k++)
		for (size_t i = x->pieces[k].first; i < x->pieces[k].first + x->pieces[k].n; i++) {
			int64_t start = r->start[x->order[i]], end = r->end[x->order[i]];
			size_t from = launches_from(l, n ? open[n - 1].from : 0, start);
			open[n] = (struct interval){start, end, r->clipped[x->order[i]], from,
			                            launches_from(l, from, end)};
			whole += !open[n].clipped;
			launching += open[n].to > from;
			n++;
		}
	if (c->n > 1) /* ranges of one thread are in order of their start */
		SORT(open, n, compare_intervals);
	double inside = 0;
	int64_t until = open[0].start; /* what is launched before is accounted for … */
	size_t done = open[0].from;    /* … which is the launches before this one */
	for (size_t i = 0; i < n; i++) {
		if (open[i].end <= until || open[i].end == open[i].start || (open[i].clipped && whole))
			continue;
		size_t from = open[i].from > done ? open[i].from : done;
		until = open[i].end;
		done = open[i].to;
		inside += time_between(l, from, done).all;
	}
	c->stretch = time_between(l, open[0].from, done);
	arena_release(&scratch);
	if (c->class == MARK_PROFILER)
		return launching > 0;
	return n >= least && 5 * launching >= (like ? n : 4 * n) && c->stretch.all > 0 &&
	       10 * inside >= 7 * c->stretch.all;
}

/* The longest of those that are often enough by themselves. */
static int64_t longest_of(const struct marks_ranges *x, size_t least)
{
	int64_t longest = 0;
	for (size_t i = 0; i < x->n; i++)
		if (x->list[i].instances >= least && x->list[i].total > longest)
			longest = x->list[i].total;
	return longest;
}

/* How many instances are enough; 0: no number is. A few around others have to last about as long as those. */
static size_t enough(const struct marks_range *c, size_t least, int64_t longest)
{
	if (c->class == MARK_NEVER)
		return 0;
	if (c->class >= MARK_STEP)
		return 1;
	return c->instances >= least || 2 * c->total < longest ? least : 2;
}

struct marks_time marks_ranges_judge(struct marks_ranges *x, bool like)
{
	const size_t least = like ? MARKS_MIN_LIKE : MARKS_MIN_INSTANCES;
	const struct trace *t = x->trace;
	struct launches *launches = ARENA_NEW(x->arena, t->n_processes, struct launches);
	struct marks_time whole = {0};
	if (x->n)
		collect_launches(t, x->arena, launches);
	for (size_t i = 0; i < t->ops.n; i++)
		add_time(&whole, t, i);
	int64_t longest = longest_of(x, least);
	for (size_t i = 0; i < x->n; i++) {
		struct marks_range *c = &x->list[i];
		size_t n = enough(c, least, longest);
		c->fits = n && c->instances >= n && is_step(x, c, launches, n, like);
		c->grade = c->class == MARK_PROFILER            ? GRADE_PROFILER
		           : c->class == MARK_STEP              ? GRADE_STEP
		           : c->instances < MARKS_MIN_INSTANCES ? GRADE_AROUND
		                                                : GRADE_PLAIN;
	}
	return whole;
}
