#include "table/inside.h"

#include "charge/step_table.h"
#include "side/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times are below 2^60 ns, 36 years: sums of them do not overflow. */
static const int64_t LONGEST = INT64_C(1) << 60;
static const int64_t MOST_PACE = 30000; /* thousandths of a logarithm */

static bool is_time(int64_t t)
{
	return t > -LONGEST && t < LONGEST;
}

static bool fits(uint32_t index, uint32_t n)
{
	return index < n || index == TRACE_NONE;
}

static bool are_groups(const double mean[STEP_GROUPS], const double variance[STEP_GROUPS])
{
	bool good = true;
	for (int g = 0; g < STEP_GROUPS; g++)
		good = good && fabs(mean[g]) < 1e18 && variance[g] >= 0 && variance[g] < 1e36;
	return good;
}

static bool has_columns(const struct run_table *run)
{
	bool good = true;
	if (run->n_columns)
		good = run->block && run->n_blocks && run->n_blocks <= STEP_TABLE_BLOCKS &&
		       (uint64_t)(run->n_blocks - 1) * run->block < run->n_steps &&
		       (uint64_t)run->n_blocks * run->block >= run->n_steps;
	for (uint32_t i = 0; i < run->n_columns && good; i++) {
		good = run->column[i].n == run->n_blocks;
		for (uint32_t b = 0; b < run->n_blocks && good; b++)
			good = is_time(run->column[i].ns[b]);
		good = good && are_groups(run->column[i].mean, run->column[i].variance);
	}
	for (int g = 0; g < STEP_GROUPS && good; g++)
		good = run->group_steps[g] >= 0 && run->group_steps[g] <= run->n_steps;
	for (size_t w = 0; w < REQUEST_WORKS; w++)
		good = good && are_groups(&run->work_mean[w * STEP_GROUPS], &run->work_variance[w * STEP_GROUPS]);
	return good && are_groups(run->group_mean, run->group_variance);
}

/* Of none of the steps, or one beside each period. */
static bool are_times(const int64_t *list, uint32_t n, const struct run_table *run)
{
	bool good = !n || n == run->n_periods;
	for (uint32_t i = 0; i < n && good; i++)
		good = list[i] >= 0 && is_time(list[i]);
	return good;
}

static bool has_times(const struct run_table *run)
{
	const int64_t times[] = {run->window_start, run->window_end, run->begin,    run->first_op,
	                         run->last_op,      run->once.start, run->once.end, run->source.ranges_ns};
	bool good = run->window_end > run->window_start && run->once.end >= run->once.start;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		good = good && is_time(times[i]);
	good = good && (run->source.started == TRACE_NO_TIME ||
	                (run->source.started >= 0 && run->source.started < 2 * LONGEST));
	for (uint32_t i = 0; i < run->n_periods && good; i++)
		good = run->period[i] >= 0 && is_time(run->period[i]);
	for (uint32_t i = 0; i < run->n_grids && good; i++)
		good = run->grid[i] > 0;
	good = good && (!run->n_paces || run->n_paces == run->n_periods);
	for (uint32_t i = 0; i < run->n_paces && good; i++)
		good = llabs(run->pace[i]) < MOST_PACE;
	return good && are_times(run->grid, run->n_grids, run) && are_times(run->request, run->n_requests, run) &&
	       are_times(run->first, run->n_first, run) && are_times(run->each, run->n_each, run);
}

static bool has_counts(const struct run_table *run)
{
	bool good = run->loop_title || !run->stranger;
	for (int k = 0; k < ROW_KINDS; k++)
		good = good && run->rows[k].dropped >= 0 && run->rows[k].read >= run->rows[k].dropped &&
		       is_time(run->rows[k].read);
	for (uint32_t i = 0; i < run->n_kernels; i++)
		good = good && run->kernels[i].n > 0 && is_time(run->kernels[i].n);
	for (uint32_t i = 0; i < run->n_dropped; i++)
		good = good && run->dropped[i].where && run->dropped[i].reason;
	return good && run->source.lost >= 0 && is_time(run->source.lost) && run->source.lost_events >= 0 &&
	       is_time(run->source.lost_events);
}

static bool has_texts(const struct trace_source *s)
{
	return s->collector && s->exporter && s->schema && s->driver && s->cuda_driver && s->captured_by && s->cupti &&
	       s->traced && s->sampled_by && s->incomplete;
}

static const char *check_runs(const struct side *side, const struct side_facts *facts)
{
	if (!facts->n_runs || facts->n_runs != side->n_runs || side->median_run >= side->n_runs ||
	    !has_texts(&side->source))
		return "its runs are not those of its side";
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		if (!run->file || !side->runs[r].file || !has_texts(&run->source) || !run->n_steps || !run->n_devices ||
		    run->found != facts->runs[0].found || side->steps.found != run->found)
			return "a run lacks what every run has";
		if (!has_columns(run) || !has_times(run) || !has_counts(run) ||
		    side->runs[r].warmup > (uint64_t)run->n_periods + 1)
			return "a run has columns that no run can have";
	}
	for (size_t i = 0; i < facts->timed.n_runs; i++)
		if (!(facts->timed.runs[i].step > 0))
			return "a timed run took no time";
	return NULL;
}

/* What gets words that need them: steps, what was dropped, and what the collector said. */
static bool can_be_said(const struct side *side)
{
	const struct quality *q = &side->quality;
	bool good = !side->steps.found || side->steps.name;
	for (uint32_t i = 0; i < q->n_dropped; i++)
		good = good && q->dropped[i].where && q->dropped[i].reason;
	for (uint32_t i = 0; i < q->n_diagnostics; i++)
		good = good && q->diagnostics[i].text;
	return good;
}

/* What the columns of a side's runs add up to, a step, as its budget has it: a mean over runs and devices. */
static double sum_of(const struct side_facts *facts, enum part_kind kind)
{
	double mean = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		int64_t sum = 0;
		for (uint32_t i = 0; i < run->n_columns; i++)
			for (uint32_t b = 0; run->column[i].kind == kind && b < run->n_blocks; b++)
				sum += run->column[i].ns[b];
		mean += (double)sum / run->n_steps / run->n_devices / (double)facts->n_runs;
	}
	return mean;
}

/* ns that sums of doubles may be apart, for rounding */
static double rounding(const struct budget *b)
{
	return 1e-11 * b->period + 1e-6;
}

static bool rows_add_up(const struct budget *b)
{
	double idle = 0, most = 0;
	for (uint32_t i = 0; i < b->n_rows; i++) {
		double opened = 0;
		for (int o = 0; o < OPENED_COUNT; o++)
			opened += b->rows[i].opened[o];
		most = fmax(most, fabs(opened - b->rows[i].per_step));
		idle += b->rows[i].per_step;
	}
	return most <= rounding(b) && fabs(idle - b->idle) <= rounding(b) &&
	       fabs(b->compute + b->comm_exposed + b->copy_exposed + b->idle - b->period) <= rounding(b);
}

/* The same times by step, by row and in sum: what was changed in one of them no longer fits the others. */
static bool adds_up(const struct side *side, const struct side_facts *facts)
{
	const struct budget *b = &side->budget;
	const double part[] = {b->compute, b->comm_exposed, b->copy_exposed, b->idle}, within = rounding(b);
	bool good = rows_add_up(b);
	for (uint32_t d = 0; d < side->n_devices; d++)
		good = good && rows_add_up(&side->devices[d].budget);
	if (!good)
		return false;
	for (size_t r = 0; r < facts->n_runs; r++)
		if (!facts->runs[r].n_columns || facts->runs[r].n_columns >= STEP_TABLE_MOST)
			return true;
	for (int k = PART_COMPUTE; k <= PART_IDLE; k++)
		if (!(fabs(sum_of(facts, (enum part_kind)k) - part[k]) <= within))
			return false;
	return true;
}

/* Whether what is said of ranks is of the side's devices. */
static bool has_ranks(const struct side *side)
{
	const struct ranks_result *ranks = &side->ranks;
	bool good = fits(ranks->straggler.device, side->n_devices);
	for (uint32_t i = 0; i < ranks->n; i++)
		good = good && ranks->list[i].device < side->n_devices && fits(ranks->list[i].partner, side->n_devices);
	good = good && (!ranks->n || ranks->n == side->n_devices);
	for (uint32_t i = 0; i < ranks->n_comms; i++)
		good = good && fits(ranks->comms[i].last, side->n_devices);
	return good;
}

static const char *check_side(const struct side *side, const struct side_facts *facts)
{
	bool good = side->n_devices && facts->comm.n == side->n_devices && has_ranks(side);
	for (uint32_t i = 0; i < facts->n_idle; i++)
		good = good && facts->idle[i].phase_slot < facts->n_idle;
	for (uint32_t i = 0; i < facts->places.n; i++)
		good = good && (facts->places.list[i].time || facts->places.list[i].idle < facts->n_idle);
	for (uint32_t i = 0; i < side->files.n; i++)
		good = good && side->files.file[i].file && side->files.file[i].run < side->n_runs;
	const char *why[] = {side->memory.why, side->memory.steps_why};
	for (size_t i = 0; i < 2; i++)
		good = good && (!why[i] || fact_key(words_info[WORDS_peak_unknown].keys, why[i], strlen(why[i])) >= 0);
	if (!can_be_said(side))
		return "a side lacks words for its steps or for its notes";
	const char *wrong = good ? check_runs(side, facts) : "it speaks of devices or runs that it does not have";
	return wrong || adds_up(side, facts) ? wrong : "its steps do not add up to its sums";
}

static const char *check_options(const struct table_options *options)
{
	const bool told = options->items_name != NULL;
	bool good = told == (options->items[0] > 0) && told == (options->items[1] > 0);
	for (size_t i = 0; i < options->gates.n_expressions; i++)
		good = good && options->gates.expressions[i].text;
	for (int s = 0; s < 2 && options->printed; s++)
		for (size_t r = 0; r < options->printed->n[s]; r++)
			good = good && options->printed->run[s][r].file;
	return good ? NULL : "it asks for what cannot be asked for";
}

static const char *check_carried(const struct step_tables *tables)
{
	const struct functions *f = &tables->functions;
	bool good = true;
	for (uint32_t i = 0; i < f->n_parts; i++)
		good = good && (f->part[i].parent < i || f->part[i].parent == TRACE_NONE);
	for (uint32_t i = 0; i < tables->inside.n; i++)
		good = good && tables->inside.pair[i].text && tables->inside.pair[i].advice;
	return good ? NULL : "its functions call each other in a circle";
}

static void empty_map(struct rank_map *map, struct arena *arena)
{
	float *cells = ARENA_NEW(arena, (size_t)map->rows * map->columns, float);
	for (size_t i = 0; i < (size_t)map->rows * map->columns; i++)
		cells[i] = -1;
	map->step = cells;
}

const char *table_check(struct step_tables *tables, struct arena *arena)
{
	const char *wrong = check_options(&tables->options);
	for (int s = 0; s < 2 && !wrong; s++) {
		struct side *side = &tables->side[s];
		wrong = check_side(side, &tables->facts[s]);
		if (wrong)
			break;
		side->label = s ? "fixed" : "baseline";
		for (uint32_t r = 0; r < side->n_runs; r++) {
			side->runs[r].period = tables->facts[s].runs[r].period;
			side->runs[r].n_periods = tables->facts[s].runs[r].n_periods;
		}
		paces_sort(&side->recording.paces);
		empty_map(&side->ranks.map, arena);
		for (int p = 0; p < RANK_PARTS; p++)
			empty_map(&side->ranks.parts[p], arena);
	}
	return wrong ? wrong : check_carried(tables);
}
