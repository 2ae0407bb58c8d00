#include "find/columns.h"

#include "verdict/evidence.h"

#include <math.h>

static const double SMALL = 0.001; /* of a step */

static bool is_of(const struct columns *t, int s, const struct table_column *column, const struct reason *reason)
{
	const struct waterfall_part *part = &reason->part;
	if (column->kind != part->kind)
		return false;
	if (column->kind != PART_IDLE)
		return !reason->one_way || column->way == reason->way;
	uint32_t name = s ? renames_baseline(t->renames, column->phase) : column->phase;
	return (reason->every_cause || column->cause == part->cause) && (reason->every_phase || name == part->phase);
}

struct row_run columns_of_run(const struct columns *t, int s, const struct run_table *run, const struct reason *reason,
                              struct arena *arena)
{
	double *x = ARENA_NEW(arena, run->n_blocks, double), sum = 0;
	for (uint32_t k = 0; k < run->n_columns; k++)
		if (is_of(t, s, &run->column[k], reason))
			for (uint32_t b = 0; b < run->n_blocks; b++)
				x[b] += (double)run->column[k].ns[b];
	for (uint32_t b = 0; b < run->n_blocks; b++) {
		x[b] /= run->n_devices * t->items[s];
		sum += x[b];
		x[b] /= step_table_steps(run->n_steps, run->block, b);
	}
	return (struct row_run){x, run->n_blocks, sum / run->n_steps};
}

static double single_share(const struct waterfall_part *part)
{
	return part->kind == PART_COMPUTE ? EVIDENCE_ROW_CLOCK : EVIDENCE_ROW_HOST;
}

double columns_slack(const struct waterfall_part *part)
{
	return part->has_interval ? part->half : single_share(part) * fmax(part->baseline, part->fixed);
}

/* The part in all runs of a side. False: a run has no columns, or the part has none. */
static bool read_side(const struct columns *t, int s, const struct reason *reason, struct arena *arena,
                      struct row_side *out)
{
	if (!t->facts || reason->part.kind > PART_IDLE)
		return false;
	const size_t n = t->facts[s].n_runs;
	const double step = t->side[s].headline.step / t->items[s];
	struct row_run *runs = ARENA_NEW(arena, n, struct row_run);
	for (size_t r = 0; r < n; r++) {
		const struct run_table *run = &t->facts[s].runs[r];
		if (!run->n_columns || !run->n_devices)
			return false;
		runs[r] = columns_of_run(t, s, run, reason, arena);
	}
	*out = (struct row_side){runs, n, fmax(reason->part.baseline, reason->part.fixed) < SMALL * step};
	return true;
}

void columns_interval(const struct columns *t, struct reason *reason)
{
	ARENA_LOCAL(scratch);
	struct row_side side[2];
	for (int s = 0; s < 2; s++)
		if (!read_side(t, s, reason, &scratch, &side[s]))
			return;
	const struct row_interval i = row_judge(side, t->apart, single_share(&reason->part));
	reason->part.has_interval = i.known;
	reason->part.within = i.known ? i.within : 0;
	reason->part.half = i.known ? i.half : 0;
}

double columns_half(const struct columns *t, int s, const struct reason *reason)
{
	ARENA_LOCAL(scratch);
	struct row_side side;
	if (!read_side(t, s, reason, &scratch, &side))
		return NAN;
	const struct row_interval i = row_judge_one(&side, single_share(&reason->part));
	return i.known ? i.half : NAN;
}
