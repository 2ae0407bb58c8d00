#include "find/functions.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

static const double SMALL = 0.01; /* of a step: less idle time has no list of its own */

/* Samples come at even distances, so chance moves their number by less than the square root that independent ones would
 * show: the bound errs on the careful side. 2.6: one in a hundred. */
static const double SURE = 2.6;

double functions_change(const double time[2], const double untold[2], const double samples[2], const double sample[2])
{
	double variance = 0, least[2];
	for (int s = 0; s < 2; s++) {
		variance += sample[s] * sample[s] * fmax(samples[s], 1);
		least[s] = fmin(time[s] + untold[s], fmax(time[s], time[!s]));
	}
	double change = least[1] - least[0];
	return fabs(change) > SURE * sqrt(variance) ? change : 0;
}

/* Of a row's idle time, as much as samples stand for where they were taken: what lies outside of that is taken for the
 * like. */
static double scale_of(const struct sample_row *row, int s)
{
	double of = fmax(row->looked[s], row->time[s]);
	return of > 0 ? row->idle[s] / of : 0;
}

/* What a sample of each row counts for. A side that has none of a row is taken as if it were sampled there like in the
 * others, or like the other side, so that its idle time is no surer than samples of it would be. */
static void weigh_samples(struct sample_sums *sums, struct arena *scratch)
{
	const struct sample_tree *tree = sums->tree;
	uint32_t n_rows = tree->row_keys.n;
	double time[2] = {0}, samples[2] = {0};
	sums->sample = arena_alloc(scratch, n_rows, sizeof *sums->sample);
	sums->untold = arena_alloc(scratch, n_rows, sizeof *sums->untold);
	for (uint32_t r = 0; r < n_rows; r++)
		for (int s = 0; s < 2; s++) {
			const struct sample_row *row = &tree->rows[r];
			if (row->samples[s] > 0)
				sums->sample[r][s] = row->time[s] * scale_of(row, s) / row->samples[s];
			time[s] += sums->sample[r][s] * row->samples[s];
			samples[s] += row->samples[s];
		}
	for (uint32_t r = 0; r < n_rows; r++)
		for (int s = 0; s < (int)sums->n_sides; s++) {
			const struct sample_row *row = &tree->rows[r];
			int like = samples[s] > 0 ? s : !s;
			if (row->samples[s] > 0)
				continue;
			sums->sample[r][s] = time[like] / samples[like];
			sums->untold[r][s] = row->idle[s] > sums->sample[r][s] ? row->idle[s] : 0;
		}
}

static void sum_up(struct sample_sums *sums, struct arena *scratch)
{
	const struct sample_tree *tree = sums->tree;
	uint32_t n_rows = tree->row_keys.n;
	sums->self = arena_alloc(scratch, tree->node_keys.n, sizeof *sums->self);
	sums->total = arena_alloc(scratch, tree->node_keys.n, sizeof *sums->total);
	sums->first = ARENA_NEW(scratch, (size_t)n_rows + 2, uint32_t);
	sums->sorted = ARENA_NEW(scratch, tree->node_keys.n, uint32_t);
	weigh_samples(sums, scratch);
	uint32_t *at = sums->first + 1;
	for (uint32_t i = 0; i < tree->node_keys.n; i++)
		at[tree->nodes[i].row + 1]++;
	for (uint32_t r = 0; r < n_rows; r++)
		at[r + 1] += at[r];
	for (uint32_t i = 0; i < tree->node_keys.n; i++)
		sums->sorted[at[tree->nodes[i].row]++] = i;
	for (uint32_t i = tree->node_keys.n; i-- > 0;) {
		const struct sample_node *node = &tree->nodes[i];
		for (int s = 0; s < 2; s++) {
			const struct sample_row *row = &tree->rows[node->row];
			bool none = node->function == TRACE_NONE && row->samples[s] <= 0;
			sums->self[i][s] = none ? row->idle[s] : node->time[s] * scale_of(row, s);
			sums->total[i][s] += sums->self[i][s];
			if (node->parent != TRACE_NONE)
				sums->total[node->parent][s] += sums->total[i][s];
		}
	}
}

/* ---- causes ---- */

struct ranked {
	const struct sample_tree *tree;
	const struct names *names;
};

static double longest(const double time[2])
{
	return fmax(time[0], time[1]);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct ranked *in = context;
	const struct sample_row *x = &in->tree->rows[*(const uint32_t *)a], *y = &in->tree->rows[*(const uint32_t *)b];
	return DESCENDING(longest(x->idle), longest(y->idle)) ?: ASCENDING(x->cause, y->cause)
		?: strcmp(names_text(in->names, x->phase), names_text(in->names, y->phase));
}

static bool has_list(const struct sample_row *row, const double period[2])
{
	return longest(row->samples) >= FUNCTIONS_LEAST &&
	       (row->idle[0] >= SMALL * period[0] || row->idle[1] >= SMALL * period[1]) && longest(row->time) > 0;
}

static int compare_holders(const void *a, const void *b, void *context)
{
	const struct lock_holder *x = a, *y = b;
	const struct names *names = context;
	return DESCENDING(longest(x->time), longest(y->time)) ?: DESCENDING(x->main, y->main)
		?: strcmp(names_text(names, x->name), names_text(names, y->name));
}

/* The threads that held the interpreter's lock. */
static void list_holders(const struct sample_sums *sums, uint32_t row, struct sampled_cause *cause, struct arena *arena)
{
	enum { MOST = 16 };
	ARENA_LOCAL(scratch);
	const struct sample_tree *tree = sums->tree;
	struct lock_holder *all = ARENA_NEW(&scratch, tree->holder_keys.n, struct lock_holder);
	uint32_t n = 0;
	for (uint32_t i = 0; i < tree->holder_keys.n; i++) {
		const struct sample_holder *h = &tree->holders[i];
		if (h->row != row)
			continue;
		all[n] = (struct lock_holder){.name = h->name, .main = h->main};
		for (int s = 0; s < 2; s++)
			all[n].time[s] = h->time[s] * scale_of(&tree->rows[row], s);
		n++;
	}
	SORT_BY(all, n, compare_holders, sums->names);
	cause->n_holders = n < MOST ? n : MOST;
	cause->holders_left_out = n - cause->n_holders;
	cause->holders = ARENA_NEW(arena, cause->n_holders, struct lock_holder);
	for (uint32_t i = 0; i < cause->n_holders; i++)
		cause->holders[i] = all[i];
}

static void list_causes(const struct sample_sums *sums, const double period[2], struct functions *out,
                        struct arena *arena)
{
	ARENA_LOCAL(scratch);
	const struct sample_tree *tree = sums->tree;
	uint32_t n = tree->row_keys.n, *row = ARENA_NEW(&scratch, n, uint32_t);
	struct ranked ranked = {tree, sums->names};
	for (uint32_t r = 0; r < n; r++)
		row[r] = r;
	SORT_BY(row, n, compare_rows, &ranked);
	out->cause = ARENA_NEW(arena, FUNCTIONS_CAUSES, struct sampled_cause);
	for (uint32_t i = 0; i < n && out->n_causes < FUNCTIONS_CAUSES; i++) {
		const struct sample_row *r = &tree->rows[row[i]];
		if (!has_list(r, period))
			continue;
		struct sampled_cause *cause = &out->cause[out->n_causes++];
		*cause = (struct sampled_cause){.cause = r->cause, .phase = r->phase};
		cause->functions = function_list_of(sums, row[i], false, arena);
		for (int s = 0; s < 2; s++) {
			cause->idle[s] = r->idle[s];
			cause->sampled[s] = sums->sample[row[i]][s] * r->samples[s];
			cause->samples[s] = r->samples[s];
		}
		list_holders(sums, row[i], cause, arena);
	}
}

static bool any_samples(const struct side_facts *facts, uint32_t n_sides)
{
	for (uint32_t s = 0; s < n_sides; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++)
			if (facts[s].rows && facts[s].rows[r].trace->samples.n)
				return true;
	return false;
}

struct functions functions_build(const struct side *side, const struct side_facts *facts, uint32_t n_sides,
                                 const struct renames *renames, const struct names *names, struct arena *arena)
{
	struct functions out = {0};
	ARENA_LOCAL(scratch);
	struct sample_tree tree;
	double period[2] = {INFINITY, INFINITY};
	if (!any_samples(facts, n_sides)) /* gaps are walked once more for them */
		return out;
	sample_tree_init(&tree, &scratch);
	for (uint32_t s = 0; s < n_sides; s++) {
		period[s] = side[s].budget.period;
		/* facts borrow the runs as constant; looking at them fills what they keep of earlier looks */
		sample_tree_add(&tree, (struct run *)facts[s].rows, &side[s], (int)s, s ? renames : NULL);
		out.side[s] = tree.side[s];
	}
	out.known = out.side[0].idle > 0 || out.side[1].idle > 0;
	out.both = out.known && n_sides > 1;
	if (out.known) {
		struct sample_sums sums = {.tree = &tree, .names = names, .n_sides = n_sides};
		sum_up(&sums, &scratch);
		list_causes(&sums, period, &out, arena);
		out.all = function_list_of(&sums, TRACE_NONE, out.both, arena);
		for (uint32_t r = 0; r < tree.row_keys.n; r++)
			for (int s = 0; s < 2; s++) {
				const struct sample_row *row = &tree.rows[r];
				double idle = row->samples[s] > 0 ? sums.sample[r][s] * row->samples[s] : 0;
				out.idle[s] += idle;
				out.drawn[s] += row->samples[s] > 0 ? idle : row->idle[s];
			}
		functions_draw(&sums, &out, arena);
	}
	return out;
}
