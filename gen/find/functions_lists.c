/* Lists of functions, and the part of their tree that a picture shows. */
#include "base/sort.h"
#include "find/functions.h"

#include "base/list.h"

#include <math.h>
#include <string.h>

/* ---- lists ---- */

/* Names in the order of their text, and what has none behind them. */
static int functions_compare(const struct names *names, const struct sampled_function *a,
                             const struct sampled_function *b)
{
	return ASCENDING(a->kind, b->kind) ?: strcmp(names_text(names, a->name), names_text(names, b->name))
		?: strcmp(names_text(names, a->module), names_text(names, b->module));
}

struct ranked {
	const struct names *names;
	bool by_change;
	double all[2]; /* time of all */
};

/* What nearly everything goes through says little, and stands behind the rest. */
static bool is_trunk(const struct function_row *row, const double all[2])
{
	const double nearly = 0.9;
	return row->self[0] <= 0 && row->self[1] <= 0 && row->total[0] >= nearly * all[0] &&
	       row->total[1] >= nearly * all[1];
}

static double rank_of(const struct function_row *row, bool by_change)
{
	return by_change ? fabs(row->self[1] - row->self[0]) : fmax(row->self[0], row->self[1]);
}

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct ranked *in = context;
	const struct function_row *x = a, *y = b;
	if (in->by_change && x->changed != y->changed)
		return y->changed - x->changed;
	const bool by_change = in->by_change && x->changed;
	return DESCENDING(rank_of(x, by_change), rank_of(y, by_change))
		?: is_trunk(x, in->all) - is_trunk(y, in->all)
		?: DESCENDING(fmax(x->total[0], x->total[1]), fmax(y->total[0], y->total[1]))
		?: functions_compare(in->names, &x->function, &y->function);
}

struct function_list function_list_of(const struct sample_sums *sums, uint32_t row, bool by_change, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	const struct sample_tree *tree = sums->tree;
	uint32_t n = tree->function_keys.n, used = 0;
	uint32_t from = row == TRACE_NONE ? 0 : sums->first[row];
	uint32_t to = row == TRACE_NONE ? tree->node_keys.n : sums->first[row + 1];
	struct function_row *all = ARENA_NEW(&scratch, n, struct function_row);
	double(*sample)[2] = arena_alloc(&scratch, n, sizeof *sample); /* the most that one counts for */
	uint32_t *last = ARENA_NEW(&scratch, n, uint32_t);             /* row + 1 in which it was met last */
	for (uint32_t i = from; i < to; i++) {
		uint32_t k = sums->sorted[i];
		const struct sample_node *node = &tree->nodes[k];
		if (node->function == TRACE_NONE)
			continue;
		struct function_row *f = &all[node->function];
		for (int s = 0; s < 2; s++) {
			f->self[s] += sums->self[k][s];
			f->total[s] += node->again ? 0 : sums->total[k][s];
			f->samples[s] += node->samples[s];
			sample[node->function][s] = fmax(sample[node->function][s], sums->sample[node->row][s]);
			f->untold[s] += last[node->function] == node->row + 1 ? 0 : sums->untold[node->row][s];
		}
		last[node->function] = node->row + 1;
	}
	struct ranked ranked = {.names = sums->names, .by_change = by_change};
	for (uint32_t i = 0; i < n; i++) {
		enum frame_kind kind = tree->functions[i].kind;
		ranked.all[0] += all[i].self[0];
		ranked.all[1] += all[i].self[1];
		if ((all[i].total[0] <= 0 && all[i].total[1] <= 0) || kind == FRAME_BROKEN || kind == FRAME_CUT)
			continue;
		all[i].function = tree->functions[i];
		all[i].changed = sums->n_sides > 1 &&
		                 functions_change(all[i].self, all[i].untold, all[i].samples, sample[i]) != 0;
		all[used++] = all[i];
	}
	SORT_BY(all, used, compare_functions, &ranked);
	struct function_list list = {.n = used < FUNCTIONS_ROWS ? used : FUNCTIONS_ROWS};
	list.left_out = used - list.n;
	list.row = ARENA_NEW(arena, list.n, struct function_row);
	for (uint32_t i = 0; i < used; i++)
		if (i < list.n)
			list.row[i] = all[i];
		else
			for (int s = 0; s < 2; s++)
				list.rest[s] += all[i].self[s];
	return list;
}

/* ---- the picture ---- */

enum { PARTS_MOST = 350 };
static const double VISIBLE = 0.0025; /* of the picture's width */
static const double MUCH = 0.5;       /* of what it was */

struct drawing {
	const struct sample_sums *sums;
	struct functions *out;
	struct arena *arena;
	uint32_t *child, *sibling; /* by node: its first child to be seen, and its next one; TRACE_NONE */
	uint32_t *node;            /* by part: the innermost of those that stand there */
};

static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct sample_sums *sums = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct sample_node *x = &sums->tree->nodes[i], *y = &sums->tree->nodes[k];
	const double *p = sums->total[i], *q = sums->total[k];
	int order = DESCENDING(fmax(p[0], p[1]), fmax(q[0], q[1]));
	if (order || x->function == TRACE_NONE || y->function == TRACE_NONE)
		return order ?: ASCENDING(x->row, y->row);
	return functions_compare(sums->names, &sums->tree->functions[x->function], &sums->tree->functions[y->function]);
}

static enum stack_change change_of(const double time[2], double change)
{
	double much = MUCH * fmax(time[0], time[1]);
	if (change == 0)
		return STACK_SAME;
	if (change < 0)
		return -change >= much ? STACK_MUCH_LESS : STACK_LESS;
	return change >= much ? STACK_MUCH_MORE : STACK_MORE;
}

/* The only function that `node` called, as far as can be seen, where it did nothing itself; else TRACE_NONE. */
static uint32_t only_callee(const struct drawing *d, uint32_t node)
{
	uint32_t child = d->child[node];
	if (d->sums->tree->nodes[node].function == TRACE_NONE || child == TRACE_NONE || d->sibling[child] != TRACE_NONE)
		return TRACE_NONE;
	const double *all = d->sums->total[node], *of_child = d->sums->total[child];
	double rest = fmax(all[0] - of_child[0], all[1] - of_child[1]);
	return rest < VISIBLE * d->out->width ? child : TRACE_NONE;
}

static void add_part(struct drawing *d, uint32_t node, uint32_t parent, const double start[2])
{
	const struct sample_sums *sums = d->sums;
	const struct sample_row *row = &sums->tree->rows[sums->tree->nodes[node].row];
	const double *sample = sums->sample[sums->tree->nodes[node].row];
	struct stack_part *part = &d->out->part[d->out->n_parts];
	struct sampled_function *callers = NULL;
	uint32_t n = 0, room = 0, inner = node;
	*part = (struct stack_part){.parent = parent, .cause = row->cause, .phase = row->phase};
	for (uint32_t next; (next = only_callee(d, inner)) != TRACE_NONE; inner = next) {
		LIST_ADD(d->arena, callers, n, room, sums->tree->functions[sums->tree->nodes[inner].function]);
	}
	part->callers = callers;
	part->n_callers = n;
	if (sums->tree->nodes[inner].function != TRACE_NONE)
		part->function = sums->tree->functions[sums->tree->nodes[inner].function];
	if (parent != TRACE_NONE)
		part->depth = d->out->part[parent].depth + 1;
	double samples[2];
	for (int s = 0; s < 2; s++) {
		part->start[s] = start[s];
		part->time[s] = sums->total[node][s];
		part->untold[s] = parent == TRACE_NONE ? 0 : sums->untold[sums->tree->nodes[node].row][s];
		samples[s] = sample[s] > 0 ? part->time[s] / sample[s] : 0;
		part->samples[s] = row->samples[s] > 0 ? samples[s] : 0;
	}
	if (d->out->both)
		part->change = change_of(part->time, functions_change(part->time, part->untold, samples, sample));
	d->node[d->out->n_parts++] = inner;
}

/* Appends the nodes that can be seen below `parent`, an index of parts, one level after the other. */
static void add_children(struct drawing *d, uint32_t first, uint32_t parent)
{
	double start[2] = {0, 0};
	for (int s = 0; s < 2 && parent != TRACE_NONE; s++)
		start[s] = d->out->part[parent].start[s];
	for (uint32_t node = first; node != TRACE_NONE && d->out->n_parts < PARTS_MOST; node = d->sibling[node]) {
		add_part(d, node, parent, start);
		for (int s = 0; s < 2; s++)
			start[s] += d->sums->total[node][s];
	}
}

void functions_draw(const struct sample_sums *sums, struct functions *out, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	uint32_t n = sums->tree->node_keys.n, seen = 0, first = TRACE_NONE, *order = ARENA_NEW(&scratch, n, uint32_t);
	struct drawing d = {.sums = sums,
	                    .out = out,
	                    .arena = arena,
	                    .child = ARENA_NEW(&scratch, n, uint32_t),
	                    .sibling = ARENA_NEW(&scratch, n, uint32_t),
	                    .node = ARENA_NEW(&scratch, PARTS_MOST, uint32_t)};
	out->part = ARENA_NEW(arena, PARTS_MOST, struct stack_part);
	out->width = fmax(out->drawn[0], out->drawn[1]);
	for (uint32_t i = 0; i < n; i++) {
		d.child[i] = d.sibling[i] = TRACE_NONE;
		if (fmax(sums->total[i][0], sums->total[i][1]) >= VISIBLE * out->width)
			order[seen++] = i;
	}
	SORT_BY(order, seen, compare_nodes, sums);
	for (uint32_t i = seen; i-- > 0;) { /* from the smallest on, each before its siblings */
		uint32_t parent = sums->tree->nodes[order[i]].parent;
		uint32_t *head = parent == TRACE_NONE ? &first : &d.child[parent];
		d.sibling[order[i]] = *head;
		*head = order[i];
	}
	add_children(&d, first, TRACE_NONE);
	for (uint32_t i = 0; i < out->n_parts; i++) /* which grow meanwhile */
		add_children(&d, d.child[d.node[i]], i);
}
