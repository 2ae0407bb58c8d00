#include "same/same_work.h"

#include "verdict/series.h"

#include <math.h>

static const double MUCH = 0.02;    /* of a step's kernels: clocks that drift make less */
static const double MOST_CLOCK = 2; /* times: what a clock that falls makes of kernels' time is less */
enum {
	LEAST_BLOCKS = 8, /* to tell what steps vary by */
	LEAST_TURN = 4    /* blocks before and after, of four times as many: by chance one of 1820 orders */
};

/* The kernels' time of each block of a run's steps, ns a step. */
struct kernel_time {
	double *ns, mean;
	uint32_t n;
};

static bool kernel_time_of(const struct run_table *run, struct arena *arena, struct kernel_time *out)
{
	const struct table_column *column = run->column, *end = column + run->n_columns;
	double sum = 0;
	while (column < end && column->kind != PART_COMPUTE)
		column++;
	if (column == end)
		return false;
	*out = (struct kernel_time){.ns = ARENA_NEW(arena, column->n, double), .n = column->n};
	for (uint32_t b = 0; b < column->n; b++) {
		sum += (double)column->ns[b];
		out->ns[b] = (double)column->ns[b] / step_table_steps(run->n_steps, run->block, b);
	}
	out->mean = sum / run->n_steps;
	return out->mean > 0;
}

/* NAN: the blocks are too few, or take as long as each other. */
static double share_of_kernels(const struct run_table *run)
{
	ARENA_LOCAL(work);
	struct kernel_time kernels;
	double both = 0, all = 0, mean = 0;
	if (run->n_blocks < LEAST_BLOCKS || !kernel_time_of(run, &work, &kernels))
		return NAN;
	double *step = ARENA_NEW(&work, run->n_blocks, double);
	for (uint32_t b = 0; b < run->n_blocks; b++) {
		for (uint32_t c = 0; c < run->n_columns; c++)
			step[b] += (double)run->column[c].ns[b] / step_table_steps(run->n_steps, run->block, b);
		mean += step[b] / run->n_blocks;
	}
	for (uint32_t b = 0; b < run->n_blocks; b++) {
		both += (step[b] - mean) * kernels.ns[b];
		all += (step[b] - mean) * (step[b] - mean);
	}
	return all > 0 ? both / all : NAN;
}

double variation_of_kernels(const struct side_facts *facts)
{
	double sum = 0, n = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		double share = share_of_kernels(&facts->runs[r]);
		sum += isnan(share) ? 0 : share;
		n += !isnan(share);
	}
	return n > 0 ? sum / n : 0;
}

/* The least and the most of the first `at` blocks, and of those from `from` on. */
static void ends_of(const struct kernel_time *of, uint32_t at, uint32_t from, double least[2], double most[2])
{
	for (int later = 0; later < 2; later++) {
		least[later] = INFINITY;
		most[later] = 0;
		for (uint32_t b = later ? from : 0; b < (later ? of->n : at); b++) {
			least[later] = of->ns[b] < least[later] ? of->ns[b] : least[later];
			most[later] = of->ns[b] > most[later] ? of->ns[b] : most[later];
		}
	}
}

/* The first block that takes another time than all before, as all after it do, and by more than a clock makes of it; 0:
 * there is none. */
static uint32_t turn_of(const struct kernel_time *of, double level[2])
{
	double least[2], most[2];
	if (of->n < 4 * LEAST_TURN)
		return 0;
	ends_of(of, LEAST_TURN, of->n - LEAST_TURN, least, most);
	const bool up = least[1] > most[0];
	if (!up && least[0] <= most[1])
		return 0;
	for (uint32_t at = LEAST_TURN; at + LEAST_TURN <= of->n; at++) {
		ends_of(of, at, at, least, most);
		if (least[up] <= most[!up])
			continue;
		level[0] = level[1] = 0;
		for (uint32_t b = 0; b < of->n; b++)
			level[b >= at] += of->ns[b] / (b >= at ? of->n - at : at);
		const double far = fabs(level[1] - level[0]);
		if (least[up] - most[!up] > far / 2 && level[up] > MOST_CLOCK * level[!up])
			return at;
	}
	return 0;
}

/* Whether that is so of all of the side's runs; of the first one, where, goes into `out`. */
static bool side_turns(const struct side_facts *facts, int side, struct variation *out)
{
	const struct run_table *run = facts->runs;
	double level[2] = {0, 0};
	uint32_t at = 0;
	for (size_t r = facts->n_runs; r-- > 0;) {
		ARENA_LOCAL(work);
		struct kernel_time of;
		at = kernel_time_of(&run[r], &work, &of) ? turn_of(&of, level) : 0;
		if (!at)
			return false;
	}
	if (!at)
		return false;
	out->turns = side;
	out->turn[0] = at * run->block;
	out->turn[1] = run->n_steps - out->turn[0];
	for (int later = 0; later < 2; later++)
		out->turn_ns[later] = level[later] / run->n_devices;
	return true;
}

static void level_turn(struct kernel_time *of)
{
	double level[2];
	const uint32_t at = turn_of(of, level);
	for (uint32_t b = 0; b < of->n && at; b++)
		of->ns[b] = of->mean + round(of->ns[b] - level[b >= at]); /* what is left of a sum is no rhythm */
}

static void add_side(const struct side_facts *facts, bool turns, struct variation *out, double *most)
{
	double tau = 0, runs = 0, variance = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		ARENA_LOCAL(work);
		struct kernel_time of;
		struct series series;
		if (!kernel_time_of(&facts->runs[r], &work, &of))
			continue;
		if (turns)
			level_turn(&of);
		series_of_row(of.ns, of.n, false, &series);
		tau += series.tau;
		variance += series.variance / (of.mean * of.mean);
		runs++;
	}
	*most = fmax(*most, runs > 0 ? tau / runs : 1);
	out->varies = hypot(out->varies, runs > 0 ? sqrt(variance) / runs : 0);
}

/* What two runs' steps vary by, and what of it is not alike, go into `out`; false: they do not vary alike. */
static bool add_pair(const struct run_table *a, const struct run_table *b, struct variation *out)
{
	ARENA_LOCAL(work);
	const struct run_table *run[2] = {a, b};
	struct kernel_time of[2];
	struct series series;
	double *share[2];
	if (a->n_steps != b->n_steps || a->block != b->block)
		return false;
	for (int s = 0; s < 2; s++) {
		if (!kernel_time_of(run[s], &work, &of[s]))
			return false;
		share[s] = ARENA_NEW(&work, of[s].n, double);
		for (uint32_t i = 0; i < of[s].n; i++) {
			share[s][i] = of[s].ns[i] / of[s].mean - 1;
			out->together += share[s][i] * share[s][i] / (2 * of[s].n);
		}
	}
	if (!series_pair_rows(share[0], share[1], of[0].n, &series))
		return false;
	out->apart += series.variance;
	out->dof += series.dof;
	return true;
}

/* Whether each step of all runs has less to do than the one before it: that is a law, and no chance. */
static bool all_shrink(const struct side_facts facts[2])
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++)
			if (!facts[s].runs[r].shrinks)
				return false;
	return true;
}

struct variation variation_of(const struct side_facts facts[2], double steps)
{
	struct variation out = {.turns = FACT_NO_SIDE};
	const size_t n = facts[0].n_runs;
	double most = 1, runs = (double)n;
	if (side_turns(&facts[1], 1, &out) == side_turns(&facts[0], 0, &out))
		out.turns = FACT_NO_SIDE;
	for (int s = 0; s < 2; s++)
		add_side(&facts[s], out.turns == s, &out, &most);
	out.seen = steps / most;
	out.alike = n == facts[1].n_runs && steps > 0;
	for (size_t r = 0; r < n && out.alike; r++)
		out.alike = add_pair(&facts[0].runs[r], &facts[1].runs[r], &out);
	out.wanders = !out.alike && !all_shrink(facts) && out.seen < SERIES_INDEPENDENT && out.varies > MUCH;
	out.together = sqrt(out.together / runs);
	out.apart = sqrt(out.apart) / runs;
	return out;
}
