#include "analyse/analyse.h"

#include "analyse/sides.h"
#include "analyse/step_tables.h"
#include "find/bound.h"
#include "find/columns.h"
#include "find/findings.h"
#include "find/functions.h"
#include "find/graphs_inside.h"
#include "find/ncu.h"
#include "find/quantiles.h"
#include "find/waterfall.h"
#include "gate/gate.h"
#include "same/controls.h"
#include "same/doubts.h"
#include "same/same_work.h"
#include "say/say.h"
#include "side/recording.h"
#include "side/side_parts.h"
#include "verdict/exchange.h"
#include "verdict/stopwatch.h"

#include <math.h>
#include <string.h>

/* `paced`: the interval also holds the speedup at one pace of the host. */
static struct verdict_side series_of(const struct side_facts *facts, const struct side *side, bool paced,
                                     struct arena *arena)
{
	const struct run_table *runs = facts->runs;
	const size_t n = facts->n_runs;
	const bool steps = side->steps.found;
	struct verdict_run *list = ARENA_NEW(arena, n, struct verdict_run);
	for (size_t r = 0; r < n; r++) {
		int64_t started = runs[r].source.started, *span = ARENA_NEW(arena, 1, int64_t);
		*span = runs[r].window_end - runs[r].window_start;
		list[r] = steps ? (struct verdict_run){.period = runs[r].period,
		                                       .n = runs[r].n_periods,
		                                       .grid = runs[r].n_grids ? runs[r].grid : NULL,
		                                       .pace = paced && runs[r].n_paces ? runs[r].pace : NULL,
		                                       .opened = runs[r].opened}
		                : (struct verdict_run){.period = span, .n = 1};
		list[r].start = started == TRACE_NO_TIME ? 0 : started;
		list[r].end = list[r].start ? started + runs[r].last_op : 0;
		list[r].place = runs[r].place;
		list[r].before = steps ? 0 : (double)(runs[r].window_start - runs[r].begin);
		list[r].shrinks = steps && runs[r].shrinks;
	}
	return (struct verdict_side){list, n, steps, side->items};
}

/* The mean step of a side's runs between launches over that between ends, a logarithm. */
static double queue_of(const struct run_table *runs, size_t n)
{
	double ends = 0, more = 0;
	for (size_t r = 0; r < n; r++) {
		for (uint32_t k = runs[r].n_periods - runs[r].n_steps; k < runs[r].n_periods; k++)
			ends += (double)runs[r].period[k] / runs[r].n_steps;
		more += runs[r].worked_off;
	}
	return more > 0 ? log1p(more / ends) : 0;
}

/* What else is known of the sides, once they are built: `doubt` says why their numbers prove nothing, or is NULL. */
static struct verdict_conditions find_conditions(const struct side_facts facts[2], const struct side side[2],
                                                 const struct comparison *comparison, const struct fact *doubt,
                                                 const struct fact *nothing, struct arena *arena)
{
	struct verdict_conditions c = {.nothing = nothing ? nothing : nothing_to_compare(facts, arena),
	                               .doubt = doubt,
	                               .other_unit = comparison->other_unit,
	                               .other_gpus = comparison->other_gpus,
	                               .controls = ARENA_NEW(arena, 1, struct controls)};
	*c.controls = controls_find(side, comparison);
	const size_t n[2] = {facts[0].n_runs, facts[1].n_runs};
	recording_bounds(side, c.controls->known && exchange_has_state(n, c.controls), c.beyond);
	for (int s = 0; s < 2; s++) {
		c.queue[s] = queue_of(facts[s].runs, facts[s].n_runs);
		c.kernels[s] = variation_of_kernels(&facts[s]);
	}
	return c;
}

/* With two such runs per side and more, they say what is said; what was recorded explains it. Not where there is
 * nothing to compare, or doubt about what is compared. */
static struct verdict judge_stopwatch(const struct stopwatch_side sides[2], const struct verdict_conditions *conditions,
                                      const struct verdict *recorded, struct arena *arena)
{
	if (!conditions->nothing && !conditions->doubt && sides[0].n_runs >= STOPWATCH_LEAST_RUNS &&
	    sides[1].n_runs >= STOPWATCH_LEAST_RUNS)
		return verdict_stopwatch(sides, recorded, arena);
	return *recorded;
}

/* 0: there are no runs. */
static double mean_of(const struct stopwatch_side *stopwatch)
{
	double sum = 0;
	for (size_t r = 0; r < stopwatch->n_runs; r++)
		sum += stopwatch->runs[r].step;
	return stopwatch->n_runs ? sum / (double)stopwatch->n_runs : 0;
}

static struct headline headline_of(const struct verdict *verdict, const struct verdict *recorded,
                                   const struct side_facts *facts, int which, struct arena *arena)
{
	const struct stopwatch_side *stopwatch = &facts->timed;
	double timed = stopwatches_recorded(facts->runs, facts->n_runs, stopwatch);
	double *each = ARENA_NEW(arena, stopwatch->n_runs, double);
	for (size_t r = 0; r < stopwatch->n_runs; r++)
		each[r] = stopwatch->runs[r].step;
	return (struct headline){.step = verdict->step[which],
	                         .recorded = recorded->step[which],
	                         .recorded_timed = timed > 0 || !stopwatch->n_runs ? timed : recorded->step[which],
	                         .typical = verdict->step_typical[which],
	                         .stopwatch = mean_of(stopwatch),
	                         .timed = each,
	                         .n_stopwatch = (uint32_t)stopwatch->n_runs,
	                         .n_unused = stopwatch->n_unused,
	                         .unused = stopwatch->unused};
}

/* Reports of Nsight Compute, and where the GPU is the bottleneck and there is none, how to make it; and what is in
 * graphs. */
static struct kernels_inside look_inside(const struct findings_input *of, const struct findings *findings,
                                         const struct analyse_options *options, struct names *names,
                                         struct arena *arena)
{
	struct ncu_input input = {.facts = of->facts,
	                          .report = {options->ncu[0], options->ncu[1]},
	                          .n_sides = of->n_sides,
	                          .names = of->names};
	for (uint32_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->list[i];
		for (int s = 0; s < 2 && strcmp(f->id, "gpu_bound") == 0; s++)
			input.gpu_bound[s] = f->both || f->side == s;
	}
	struct kernels_inside out = ncu_evidence(&input, arena);
	for (uint32_t s = 0; s < of->n_sides; s++) {
		const struct analyse_run *nodes = &options->graph_nodes[s];
		const struct graphs_input graphs = {&of->side[s], &of->facts[s], nodes->trace, nodes->file,
		                                    of->n_sides > 1 ? (int)s : FACT_NO_SIDE};
		if (graphs.nodes)
			out.graphs[s] = graphs_look_inside(&graphs, names, arena);
	}
	return out;
}

/* Side s as it was built, with what only a verdict knows of it. `series` are by run; NULL: there are none. */
static struct side with_verdict(const struct side *built, const struct side_facts *facts,
                                const struct headline *headline, const struct latencies *times, int s,
                                const struct series *series, struct arena *arena)
{
	struct side side = *built;
	side.headline = *headline;
	side.runs = ARENA_NEW(arena, built->n_runs, struct run_result);
	for (uint32_t r = 0; r < built->n_runs; r++) {
		side.runs[r] = built->runs[r];
		side.runs[r].series = series ? &series[r] : NULL;
	}
	latencies_of_side(times, s, series, side.latency);
	slowest_of_side(facts, times->requests, &side.slowest);
	return side;
}

/* A side by whose items it is compared; 0: by the step. */
static struct side with_items(const struct side *built, double items)
{
	struct side side = *built;
	side.items = items;
	return side;
}

static struct stopwatch_side timed_of(const struct side_facts *facts, const struct side *side)
{
	struct stopwatch_side timed = facts->timed;
	timed.items = side->items;
	return timed;
}

/* Whether the sides are one rank each, of one run. */
static bool are_two_ranks(const struct table_options *asked, const struct side side[2])
{
	const bool one_run = asked->nothing && asked->nothing->id == FACT_ranks_of_one_run;
	return one_run && side[0].n_devices == 1 && side[1].n_devices == 1;
}

/* `doubt`: why no result is believed; `rest`: what the sides repeat is not all that the program does. NULL: neither. */
static struct verdict_conditions conditions_of(const struct table_options *asked, const struct side_facts *facts,
                                               const struct side built[2], const struct comparison *comparison,
                                               const struct fact *doubt, const struct fact *rest, struct arena *arena)
{
	const struct fact *nothing = asked->nothing          ? asked->nothing
	                             : comparison->strangers ? comparison->mismatch
	                                                     : NULL;
	struct verdict_conditions out = find_conditions(facts, built, comparison, doubt, nothing, arena);
	out.rest = rest;
	return out;
}

/* Two sides; each stage needs those before it, and what it says is complete: nothing here is changed afterwards.
 * `options` says what is asked of the sides' rows, NULL where there are none. */
static struct analysis judge_pair(const struct step_tables *tables, const struct analyse_options *options,
                                  struct names *names, struct arena *arena)
{
	const struct table_options *asked = &tables->options;
	const struct side_facts *facts = tables->facts;
	const bool per_item = asked->items_name && tables->side[0].steps.found && tables->side[1].steps.found;
	const struct side built[2] = {with_items(&tables->side[0], per_item ? asked->items[0] : 0),
	                              with_items(&tables->side[1], per_item ? asked->items[1] : 0)};
	struct stopwatch_side unrecorded[2] = {timed_of(&facts[0], &built[0]), timed_of(&facts[1], &built[1])};
	const struct fact *rest = nothing_but_rest(facts, 2, arena);
	const struct fact *impossible =
		possible_recording(facts, 2, arena) ?: possible_stopwatch(built, unrecorded, arena);
	struct comparison comparison = compare_work(built, facts, rest || impossible, are_two_ranks(asked, built),
	                                            asked->printed, names, arena);
	unrecorded[0].other_gpus = unrecorded[1].other_gpus = comparison.other_gpus;
	if (asked->items_name && !per_item)
		FACT_ADD(&comparison.differences, arena, items_need_steps, FACT_NO_SIDE);
	const struct fact *doubt = comparison.mismatch ? comparison.mismatch : rest ? rest : impossible;
	const struct verdict_conditions conditions =
		conditions_of(asked, facts, built, &comparison, doubt, rest, arena);
	const bool paced = exchange_has_state((const size_t[]){facts[0].n_runs, facts[1].n_runs}, conditions.controls);
	const struct verdict_side sides[2] = {series_of(&facts[0], &built[0], paced, arena),
	                                      series_of(&facts[1], &built[1], paced, arena)};
	const struct verdict recorded = verdict_judge(sides, asked->warmup, &conditions, arena);
	const struct verdict bare = judge_stopwatch(unrecorded, &conditions, &recorded, arena);
	struct side side[2];
	struct latencies times;
	latencies_find(sides, facts, recorded.series, 2, arena, &times);
	for (int s = 0; s < 2; s++) {
		const struct headline headline = headline_of(&bare, &recorded, &facts[s], s, arena);
		side[s] = with_verdict(&built[s], &facts[s], &headline, &times, s, recorded.series[s], arena);
	}
	const struct facts stopwatch = timed_reasons(side, unrecorded, &bare, arena);
	const struct conditions_said said = conditions_reasons(side, facts, &bare, &conditions, arena);
	const struct verdict verdict = conditions_complete(&bare, &stopwatch, &said, arena);
	const struct gates usual = gates_judge(&verdict, &comparison, &asked->gates, arena);
	struct quantile_change quantile[LATENCIES][QUANTILES];
	for (enum latency_of of = LATENCY_STEP; of < LATENCIES; of++)
		quantiles_changes(times.of[of], &recorded, quantile[of]);
	const struct energy_change energy = stopwatch_energy(unrecorded, &verdict);
	const struct columns columns = {facts, side, {1, 1}, &comparison.renames, verdict.exchange.apart};
	const struct gate_source source = {names, side, &verdict, &comparison.renames, quantile, &energy, &columns};
	const struct gates gates = gate_metric_judge(&usual, &asked->gates, &source, arena);
	const struct waterfall waterfall =
		side[0].steps.found == side[1].steps.found
			? waterfall_build(side, facts, &comparison.renames, &verdict, names, arena)
			: (struct waterfall){0};
	struct findings_input input = {.side = side,
	                               .facts = facts,
	                               .n_sides = 2,
	                               .names = names,
	                               .renames = &comparison.renames,
	                               .waterfall = &waterfall,
	                               .result = verdict.result,
	                               .doubt = doubt};
	recording_more(side, input.recorded_more);
	const struct findings findings = findings_build(&input, arena);
	const struct functions functions =
		options ? functions_build(side, facts, 2, &comparison.renames, names, arena) : tables->functions;
	const struct findings told = functions_tell(&functions, side, &comparison.renames, &findings, names, arena);
	struct analysis out = {
		.names = names,
		.items_name = per_item ? asked->items_name : NULL,
		.n_sides = 2,
		.side = {bound_side(&side[0], names, arena), bound_side(&side[1], names, arena)},
		.verdict = verdict,
		.recorded_apart = recording_apart(side, &verdict),
		.while_recorded = recording_turns(&verdict, &conditions),
		.conditions = conditions,
		.gates = gates,
		.comparison = comparison,
		.turning = {timed_opposite(side, &bare, arena), said.held_back, said.broken_off, said.shared},
		.waterfall = bound_waterfall(&waterfall, arena),
		.findings = told,
		.inside = options ? look_inside(&input, &findings, options, names, arena) : tables->inside,
		.energy = energy,
		.functions = functions};
	memcpy(out.quantile, quantile, sizeof quantile);
	return out;
}

static struct side_words words_of(const struct analyse_options *options, int side, const char *label)
{
	return (struct side_words){
		.label = label, .name = options->name[side], .files = options->files[side], .events = options->events};
}

/* A side of a report, in the place of runs: its rows are gone. */
static void take_side(const struct analyse_options *options, int s, struct arena *arena, struct step_tables *out)
{
	const struct step_tables *from = options->table[s];
	const bool together = options->table[0] == options->table[1]; /* both sides of one report */
	struct side *side = &out->side[s];
	*side = from->side[options->table_side[s]];
	out->facts[s] = from->facts[options->table_side[s]];
	side->label = s ? "fixed" : "baseline";
	side->name = options->name[s] ? options->name[s] : side->name;
	side->quality.notes = (struct facts){0};
	facts_add_all(&side->quality.notes, arena, &from->side[options->table_side[s]].quality.notes);
	QUALITY_FIND(&side->quality, arena, from_report, FACT_NO_SIDE,
	             .steps = side->steps.origin == STEPS_BY_PATTERN && !together ? "found" : "marked");
}

int analyse_pair(const struct analyse_run *baseline, size_t n_baseline, const struct analyse_run *fixed, size_t n_fixed,
                 const struct analyse_options *options, struct names *names, struct arena *arena, struct analysis *out,
                 struct err *err)
{
	static const char *const labels[] = {"baseline", "fixed"};
	const struct analyse_run *runs[2] = {baseline, fixed};
	const size_t n[2] = {n_baseline, n_fixed};
	ARENA_LOCAL(work);
	struct sides_job jobs[2] = {0};
	int n_jobs = 0, side_of[2];
	for (int s = 0; s < 2; s++)
		if (!options->table[s]) {
			side_of[n_jobs] = s;
			jobs[n_jobs++] = (struct sides_job){
				.inputs = runs[s], .n = n[s], .words = words_of(options, s, labels[s])};
		}
	int result = n_jobs ? sides_build(jobs, n_jobs, options, names, &work, arena, err) : 0;
	if (result == 0) {
		struct step_tables *tables = ARENA_NEW(arena, 1, struct step_tables);
		*tables = (struct step_tables){.options = {.items = {options->items[0], options->items[1]},
		                                           .items_name = options->items_name,
		                                           .warmup = options->warmup,
		                                           .gates = options->gates,
		                                           .printed = options->printed,
		                                           .nothing = options->nothing}};
		for (int j = 0; j < n_jobs; j++) {
			tables->side[side_of[j]] = jobs[j].side;
			tables->facts[side_of[j]] = jobs[j].facts;
		}
		for (int s = 0; s < 2; s++)
			if (options->table[s])
				take_side(options, s, arena, tables);
		run_tables_fit((struct run_table *const[2]){tables->facts[0].runs, tables->facts[1].runs},
		               (const size_t[2]){tables->facts[0].n_runs, tables->facts[1].n_runs});
		*out = judge_pair(tables, n_jobs == 2 ? options : NULL, names, arena);
		out->title = options->title;
		out->tables = tables;
		tables->functions = out->functions;
		tables->inside = out->inside;
		for (int s = 0; s < 2; s++)
			tables->facts[s].rows = NULL; /* they are gone now */
	}
	return result;
}

struct analysis analyse_tables(const struct step_tables *tables, struct names *names, struct arena *arena)
{
	struct analysis out = judge_pair(tables, NULL, names, arena);
	out.tables = tables;
	return out;
}

/* The means of a side's series, all of its steps counted as in its budget; with timed runs (`timed`, of none where they
 * are not asked for) it takes what they say. */
static struct headline headline_alone(const struct side *side, const struct series *series,
                                      const struct stopwatch_side *timed)
{
	double mean = 0, typical = 0;
	for (uint32_t r = 0; r < side->n_runs; r++) {
		mean += series[r].counted / side->n_runs;
		typical += series[r].typical / side->n_runs;
	}
	double recorded = side->steps.found ? mean : side->steps.mean, stopwatch = mean_of(timed);
	return (struct headline){.step = timed->n_runs ? stopwatch : recorded,
	                         .recorded = recorded,
	                         .typical = side->steps.found ? exp(typical) : side->steps.mean,
	                         .stopwatch = stopwatch,
	                         .energy = stopwatch_joule(timed),
	                         .n_stopwatch = (uint32_t)timed->n_runs};
}

/* One side without another: a headline of its own runs. What stands beside the verdict of a pair has to stand beside
 * these numbers, too. */
static struct side describe_alone(const struct sides_job *job, bool stopwatch, int warmup, struct arena *arena)
{
	const struct side *built = &job->side;
	struct stopwatch_side timed = {0};
	struct series *series = ARENA_NEW(arena, job->n, struct series);
	const struct side_facts *facts = &job->facts;
	const struct verdict_side steps = series_of(facts, built, false, arena);
	struct latencies times;
	for (size_t r = 0; r < job->n; r++)
		series_of_run(&steps.runs[r], warmup, arena, &series[r]);
	if (stopwatch)
		timed = facts->timed;
	const struct headline headline = headline_alone(built, series, &timed);
	const struct series *of_steps = built->steps.found ? series : NULL;
	latencies_find(&steps, facts, &of_steps, 1, arena, &times);
	struct side side = with_verdict(built, facts, &headline, &times, 0, of_steps, arena);
	const struct fact *rest = nothing_but_rest(facts, 1, arena);
	if (!rest)
		rest = possible_recording(facts, 1, arena);
	if (rest)
		quality_find(&side.quality, arena, rest);
	side.doubt = say_fact(rest, NULL, arena);
	return side;
}

static int analyse_alone(struct sides_job *job, bool stopwatch, const struct analyse_options *options,
                         struct names *names, struct arena *arena, struct analysis *out, struct err *err)
{
	ARENA_LOCAL(work);
	int result = sides_build(job, 1, options, names, &work, arena, err);
	if (result == 0) {
		const struct side side = describe_alone(job, stopwatch, options->warmup, arena);
		const struct findings_input of = {.side = &side, .facts = &job->facts, .n_sides = 1, .names = names};
		const struct findings findings = findings_build(&of, arena);
		const struct functions functions = functions_build(&side, &job->facts, 1, NULL, names, arena);
		*out = (struct analysis){.names = names,
		                         .title = options->title,
		                         .n_sides = 1,
		                         .side = {bound_side(&side, names, arena)},
		                         .findings = functions_tell(&functions, &side, NULL, &findings, names, arena),
		                         .inside = look_inside(&of, &findings, options, names, arena),
		                         .functions = functions};
	}
	return result;
}

struct analysis analyse_table_side(const struct step_tables *tables, int side, struct names *names, struct arena *arena)
{
	const struct sides_job job = {
		.n = tables->facts[side].n_runs, .side = tables->side[side], .facts = tables->facts[side]};
	return (struct analysis){
		.names = names, .n_sides = 1, .side = {describe_alone(&job, true, tables->options.warmup, arena)}};
}

int analyse_one(const struct analyse_run *input, const struct analyse_options *options, struct names *names,
                struct arena *arena, struct analysis *out, struct err *err)
{
	struct sides_job job = {.inputs = input, .n = 1, .words = {.label = "profile", .events = options->events}};
	return analyse_alone(&job, false, options, names, arena, out, err);
}

int analyse_side(const struct analyse_run *runs, size_t n, const struct analyse_options *options, struct names *names,
                 struct arena *arena, struct analysis *out, struct err *err)
{
	struct sides_job job = {.inputs = runs, .n = n, .words = {.label = "commit", .files = options->files[0]}};
	return analyse_alone(&job, true, options, names, arena, out, err);
}
