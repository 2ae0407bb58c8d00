#include "analyse/side/side.h"

#include "analyse/side/clocks.h"
#include "analyse/side/events.h"
#include "analyse/side/loops.h"
#include "analyse/side/periods.h"
#include "analyse/side/phases.h"
#include "analyse/side/quality.h"
#include "analyse/side/ranges.h"
#include "analyse/side/ranks.h"
#include "analyse/side/recording.h"
#include "analyse/side/startup.h"
#include "analyse/side/timeline.h"

/* Host work of the step threads, a step, mean over them, because they work side by side: what is neither synchronising
 * nor blocked; a launch call longer than ten times their median counts at the median, because it waits for a full queue
 * (docs/analysis.md, Ceilings). */
struct host_work {
	double ns;
};

static void add_host_work(void *context, const struct doing *stretch)
{
	struct host_work *w = context;
	if (!stretch->waits)
		w->ns += (double)(stretch->end - stretch->start);
}

static double host_work_of(struct run *run, double launch_call)
{
	const struct trace *t = run->trace;
	const struct steps *s = &run->steps;
	struct host_work work = {0};
	if (!s->found)
		return 0;
	for (uint32_t m = 0; m < s->n_threads; m++) {
		int64_t start, end;
		uint32_t thread = s->threads[m].thread;
		run_host_window(run, s->threads[m].process, &start, &end);
		activity_walk(&run->activity, thread, start, end, add_host_work, &work);
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
			double length = (double)(t->calls.end[i] - t->calls.start[i]);
			if (t->calls.class[i] == CALL_LAUNCH && t->calls.start[i] >= start && t->calls.start[i] < end &&
			    length > 10 * launch_call)
				work.ns -= length - launch_call;
		}
	}
	return work.ns / s->n_threads / run->n_steps;
}

/* What the step threads of all runs work, with the side's median length of a launch call. */
static double host_work(struct run *runs, size_t n, double launch_call)
{
	double sum = 0;
	for (size_t r = 0; r < n; r++)
		sum += host_work_of(&runs[r], launch_call) / (double)n;
	return sum;
}

struct side side_build(struct run *runs, size_t n, const struct side_words *words, struct arena *arena,
                       struct side_facts *facts)
{
	const struct side_periods periods = periods_build(runs, n, words->run_files, arena);
	struct run *median = &runs[periods.median_run];
	const struct side_budgets budgets = budgets_build(runs, n, periods.median_run, arena);
	const struct side_phases phases = phases_build(runs, n, &budgets.mean, arena);
	const struct side_tables tables = tables_build(runs, n, arena);
	const struct side_ranges ranges = ranges_build(runs, n, arena);
	const struct side_loops loops = loops_build(median, &periods.steps, arena);
	const struct ranks_result ranks = ranks_build(runs, n, periods.median_run, &budgets, arena);
	const struct timeline timeline = timeline_build(median, &ranks, arena);
	const struct recording_cost recording = recording_build(runs, n, &budgets.mean);
	const struct quality_notes notes = {
		.files = words->files.note,
		.left_out = timeline.left_out,
		.clocks = clocks_note(budgets.devices, budgets.n_devices),
		.recording = recording_note(&recording, &budgets.mean, periods.steps.found, arena)};
	*facts = (struct side_facts){.runs = runs,
	                             .n_runs = n,
	                             .idle = budgets.idle,
	                             .n_idle = budgets.n_idle,
	                             .copy_pageable = budgets.copy_pageable,
	                             .copy_managed = budgets.copy_managed,
	                             .sync_gaps = budgets.sync_gaps,
	                             .host_work = host_work(runs, n, tables.work.launch_call),
	                             .comm = budgets.comm,
	                             .work = tables.work};
	return (struct side){.label = words->label,
	                     .name = words->name,
	                     .source = runs[0].trace->source,
	                     .files = words->files,
	                     .runs = periods.runs,
	                     .n_runs = periods.n_runs,
	                     .median_run = periods.median_run,
	                     .steps = periods.steps,
	                     .startup = startup_build(runs, n),
	                     .loops = loops.list,
	                     .n_loops = loops.n,
	                     .devices = budgets.devices,
	                     .n_devices = budgets.n_devices,
	                     .budget = budgets.mean,
	                     .busy = budget_busy(&budgets.mean),
	                     .phases = phases.list,
	                     .n_phases = phases.n,
	                     .phases_by_work = phases.by_work,
	                     .kernels = tables.kernels,
	                     .n_kernels = tables.n_kernels,
	                     .api = tables.api,
	                     .n_api = tables.n_api,
	                     .copies = tables.copies,
	                     .n_copies = tables.n_copies,
	                     .ranges = ranges.list,
	                     .n_ranges = ranges.n,
	                     .counts = tables.counts,
	                     .recording = recording,
	                     .ranks = ranks,
	                     .timeline = timeline,
	                     .overview = median->overview,
	                     .events = words->events ? events_build(median, arena) : NULL,
	                     .quality = quality_build(runs, n, words->run_files, &notes, arena)};
}
