/* nvtx_gpu_proj_sum: ranges projected onto the GPU. A range owns the ops whose launching call lies wholly inside it on
 * the thread that opened it; its projection reaches from the first start to the last end of them. What one call
 * launched is one op, as nsys counts them (different correlation ids): the table says the same of a graph traced by
 * node as of the whole one that :graphs=1 counts. Ranges that own nothing do not appear, not even as another's parent.
 */
#include "base/search.h"
#include "stats/reports.h"

static const struct sheet_column columns[] = {
	{"Range", SHEET_TEXT},
	{"Style", SHEET_TEXT},
	{"Total Proj Time (ns)", SHEET_WHOLE},
	{"Total Range Time (ns)", SHEET_WHOLE},
	{"Range Instances", SHEET_WHOLE},
	{"Proj Avg (ns)", SHEET_TENTHS},
	{"Proj Med (ns)", SHEET_TENTHS},
	{"Proj Min (ns)", SHEET_WHOLE},
	{"Proj Max (ns)", SHEET_WHOLE},
	{"Proj StdDev (ns)", SHEET_TENTHS},
	{"Total GPU Ops", SHEET_WHOLE},
	{"Avg GPU Ops", SHEET_TENTHS},
	{"Avg Range Lvl", SHEET_TENTHS},
	{"Avg Num Child", SHEET_TENTHS},
};
enum { NAME, STYLE, PROJECTED };

/* What several launching calls come to. */
struct work {
	int64_t call_end;         /* of the call that ends last */
	int64_t op_start, op_end; /* first start, last end of the ops */
	int64_t n_ops;            /* the calls: see above */
};

static const struct work NO_WORK = {INT64_MIN, INT64_MAX, INT64_MIN, 0};

static struct work work_sum(struct work a, struct work b)
{
	return (struct work){a.call_end > b.call_end ? a.call_end : b.call_end,
	                     a.op_start < b.op_start ? a.op_start : b.op_start,
	                     a.op_end > b.op_end ? a.op_end : b.op_end, a.n_ops + b.n_ops};
}

/* All calls that launched something, in the trace's order (thread, start), and a binary tree over one thread's: node k
 * sums up nodes 2k and 2k + 1, call i of the thread is node `leaves` + i. */
struct launching {
	size_t n;
	uint32_t *call;
	struct work *work;
	struct work *tree;
	size_t leaves;
};

static bool projects(uint8_t kind, const struct stats_request *request)
{
	return kind != OP_GRAPH || request->graphs;
}

static struct launching find_launching(const struct trace *trace, const struct stats_request *request,
                                       struct arena *arena)
{
	const struct trace_ops *ops = &trace->ops;
	struct launching l = {0};
	uint32_t *place = ARENA_NEW(arena, trace->calls.n, uint32_t); /* by call: index + 1 */
	for (size_t i = 0; i < ops->n; i++)
		if (ops->launch[i] != TRACE_NONE && projects(ops->kind[i], request))
			place[ops->launch[i]] = 1;
	for (size_t i = 0; i < trace->calls.n; i++)
		l.n += place[i];
	l.call = ARENA_NEW(arena, l.n, uint32_t);
	l.work = ARENA_NEW(arena, l.n, struct work);
	size_t n = 0;
	for (size_t i = 0; i < trace->calls.n; i++)
		if (place[i]) {
			l.call[n] = (uint32_t)i;
			l.work[n] = NO_WORK;
			l.work[n].call_end = trace->calls.end[i];
			place[i] = (uint32_t)++n;
		}
	for (size_t i = 0; i < ops->n; i++)
		if (ops->launch[i] != TRACE_NONE && projects(ops->kind[i], request)) {
			struct work *work = &l.work[place[ops->launch[i]] - 1];
			const struct work op = {work->call_end, ops->start[i], ops->end[i], work->n_ops == 0};
			*work = work_sum(*work, op);
		}
	/* The largest tree that any thread can need. */
	for (l.leaves = 1; l.leaves < l.n; l.leaves *= 2)
		;
	l.tree = ARENA_NEW(arena, 2 * l.leaves, struct work);
	return l;
}

static void plant(struct launching *l, size_t first, size_t n)
{
	for (l->leaves = 1; l->leaves < n; l->leaves *= 2)
		;
	for (size_t i = 0; i < l->leaves; i++)
		l->tree[l->leaves + i] = i < n ? l->work[first + i] : NO_WORK;
	for (size_t k = l->leaves - 1; k > 0; k--)
		l->tree[k] = work_sum(l->tree[2 * k], l->tree[2 * k + 1]);
}

/* The work of calls [from, to) below node k, which stands for [low, low + width), without those that end after
 * `until`. Whole subtrees are taken wherever all their calls end in time, so that only the few calls that are open at
 * `until` cost a descent. */
static struct work tree_work(const struct launching *l, size_t k, size_t low, size_t width, size_t from, size_t to,
                             int64_t until)
{
	if (low >= to || low + width <= from || l->tree[k].n_ops == 0)
		return NO_WORK;
	if (low >= from && low + width <= to && l->tree[k].call_end <= until)
		return l->tree[k];
	if (width == 1)
		return NO_WORK;
	return work_sum(tree_work(l, 2 * k, low, width / 2, from, to, until),
	                tree_work(l, 2 * k + 1, low + width / 2, width / 2, from, to, until));
}

/* The first of n calls that starts at `time` or later. */
static size_t calls_before(const struct trace *trace, const uint32_t *call, size_t n, int64_t time)
{
	size_t i = 0;
	SEARCH(i, n, trace->calls.start[call[i]] < time);
	return i;
}

/* ---- ranges ---- */

struct projection {
	uint32_t *group; /* TALLY_NO_GROUP: owns nothing */
	int64_t *start, *end;
	uint32_t *n_ops, *level, *n_children;
};

/* Projects the ranges [first, last) of one thread, then finds out how those that own something nest. The parent of a
 * range is the one around it that began last. */
static void project_thread(const struct trace *trace, const struct launching *l, const uint32_t *call, size_t n,
                           size_t first, size_t last, struct tally *tally, struct projection *p, uint32_t *open)
{
	const struct trace_ranges *r = &trace->ranges;
	size_t depth = 0;
	for (size_t i = first; i < last; i++) {
		int64_t end = stats_range_end(r, i);
		p->group[i] = TALLY_NO_GROUP;
		if (r->moved && r->moved[i])
			continue;
		size_t from = calls_before(trace, call, n, r->start[i]), to = calls_before(trace, call, n, end + 1);
		struct work work = tree_work(l, 1, 0, l->leaves, from, to, end);
		if (work.n_ops == 0)
			continue;
		p->group[i] = tally_group(tally, (uint32_t[]){r->domain[i], r->name[i], r->kind[i]});
		p->start[i] = work.op_start;
		p->end[i] = work.op_end;
		p->n_ops[i] = (uint32_t)work.n_ops;
		while (depth && stats_range_end(r, open[depth - 1]) < end)
			depth--;
		if (depth) {
			p->level[i] = p->level[open[depth - 1]] + 1;
			p->n_children[open[depth - 1]]++;
		}
		open[depth++] = (uint32_t)i;
	}
}

static void project(const struct trace *trace, struct launching *l, struct tally *tally, struct projection *p,
                    struct arena *arena)
{
	const struct trace_ranges *r = &trace->ranges;
	uint32_t *open = ARENA_NEW(arena, r->n, uint32_t);
	size_t range = 0, call = 0;
	while (range < r->n) {
		uint32_t thread = r->thread[range];
		size_t last = range, call_last;
		while (last < r->n && r->thread[last] == thread)
			last++;
		while (call < l->n && trace->calls.thread[l->call[call]] < thread)
			call++;
		for (call_last = call; call_last < l->n && trace->calls.thread[l->call[call_last]] == thread;)
			call_last++;
		plant(l, call, call_last - call);
		project_thread(trace, l, l->call + call, call_last - call, range, last, tally, p, open);
		range = last;
		call = call_last;
	}
}

/* ---- rows ---- */

struct extra {
	int64_t range_time, n_ops, levels, children;
};

static struct extra *sum_extras(const struct trace_ranges *r, const struct projection *p, const struct tally *tally)
{
	struct extra *extra = ARENA_NEW(tally->arena, tally->n, struct extra);
	for (size_t i = 0; i < r->n; i++) {
		if (p->group[i] == TALLY_NO_GROUP)
			continue;
		struct extra *e = &extra[p->group[i]];
		if (__builtin_add_overflow(e->range_time, stats_range_end(r, i) - r->start[i], &e->range_time))
			e->range_time = INT64_MAX;
		e->n_ops += p->n_ops[i];
		e->levels += p->level[i];
		e->children += p->n_children[i];
	}
	return extra;
}

void stats_projection_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	STATS_COLUMNS(out, columns);
	const struct trace_ranges *r = &trace->ranges;
	ARENA_LOCAL(arena);
	struct launching l = find_launching(trace, request, &arena);
	struct projection p = {ARENA_NEW(&arena, r->n, uint32_t), ARENA_NEW(&arena, r->n, int64_t),
	                       ARENA_NEW(&arena, r->n, int64_t),  ARENA_NEW(&arena, r->n, uint32_t),
	                       ARENA_NEW(&arena, r->n, uint32_t), ARENA_NEW(&arena, r->n, uint32_t)};
	struct tally tally;
	struct tally_values values;
	tally_init(&tally, 3, &arena);
	project(trace, &l, &tally, &p, &arena);
	tally_spans(&tally, p.group, p.start, p.end, r->n, &values);
	const struct extra *extra = sum_extras(r, &p, &tally);
	for (uint32_t g = 0; g < tally.n; g++) {
		const uint32_t *key = tally_key(&tally, g);
		struct summary s = tally_summary(&values, g);
		struct sheet_cell *cell = sheet_add(out);
		double n = (double)s.n;
		SHEET_CELLS(cell, sheet_text(stats_range_name(trace, key[0], key[1], out->arena)),
		            sheet_text(stats_style((uint8_t)key[2])), sheet_whole(s.total),
		            sheet_whole(extra[g].range_time), sheet_whole((int64_t)s.n), sheet_number(s.mean),
		            sheet_number(s.median), sheet_whole(s.least), sheet_whole(s.most),
		            sheet_number(s.deviation), sheet_whole(extra[g].n_ops),
		            sheet_number((double)extra[g].n_ops / n), sheet_number((double)extra[g].levels / n),
		            sheet_number((double)extra[g].children / n));
	}
	sheet_sort(out, (const struct sheet_order[]){{PROJECTED, true}, {NAME, false}, {STYLE, false}}, 3);
	stats_note_graphs(trace, request, out);
}
