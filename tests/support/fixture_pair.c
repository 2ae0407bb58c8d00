#include "fixture_maker.h"
#include "said.h"

#include <math.h>

static const double MS = 1e6;

void fixture_stopwatch(struct analysis *a)
{
	static const double timed[2][5] = {{49.8e6, 50.3e6, 49.6e6, 50.1e6, 50.2e6},
	                                   {23.9e6, 23.7e6, 23.8e6, 23.6e6, 24e6}};
	for (int s = 0; s < 2; s++) {
		a->side[s].headline.timed = timed[s];
		a->side[s].headline.recorded = a->side[s].headline.recorded_timed = a->side[s].headline.step;
		a->side[s].headline.stopwatch = a->side[s].headline.step = s ? 23.8 * MS : 50 * MS;
		a->side[s].headline.n_stopwatch = 5;
	}
}

void fixture_waterfall(struct maker *m, struct analysis *a)
{
	const struct budget *b = &a->side[0].budget, *f = &a->side[1].budget;
	struct waterfall_part *w = ARENA_NEW(m->arena, 4 + b->n_rows + f->n_rows, struct waterfall_part);
	uint32_t n = 0;
	w[n++] = (struct waterfall_part){.kind = PART_COMPUTE, .baseline = b->compute, .fixed = f->compute};
	w[n++] = (struct waterfall_part){.kind = PART_COMM, .baseline = b->comm_exposed, .fixed = f->comm_exposed};
	w[n++] = (struct waterfall_part){.kind = PART_COPY, .baseline = b->copy_exposed, .fixed = f->copy_exposed};
	for (uint32_t i = 0; i < b->n_rows + f->n_rows; i++) {
		const struct idle_row *row = i < b->n_rows ? &b->rows[i] : &f->rows[i - b->n_rows];
		uint32_t at = 3;
		while (at < n && (w[at].cause != row->cause || w[at].phase != row->phase))
			at++;
		w[at].kind = PART_IDLE;
		w[at].cause = row->cause;
		w[at].phase = row->phase;
		*(i < b->n_rows ? &w[at].baseline : &w[at].fixed) += row->per_step;
		n = at == n ? n + 1 : n;
	}
	w[n++] = (struct waterfall_part){.kind = m->which == FIXTURE_STOPWATCH ? PART_RECORDING : PART_UNUSUAL,
	                                 .baseline = a->side[0].headline.step - b->period,
	                                 .fixed = a->side[1].headline.step - f->period};
	for (uint32_t i = 0; i < n; i++) {
		w[i].delta = w[i].fixed - w[i].baseline;
		a->waterfall.rest += w[i].delta;
		if (w[i].delta >= a->waterfall.reason[0].part.delta)
			continue;
		a->waterfall.reason[0].part = w[i]; /* faster, all of them */
		a->waterfall.n_reasons = 1;
	}
	a->waterfall.rest -= a->waterfall.reason[0].part.delta;
	a->waterfall.part = w;
	a->waterfall.n = n;
}

void fixture_findings(struct maker *m, struct analysis *a)
{
	a->findings.list = ARENA_NEW(m->arena, 3, struct finding);
	a->findings.n = 3;
	a->findings.list[0] = (struct finding){
		.id = "gpu_bound",
		.fact = FACT_NEW(m->arena, gpu_bound, 1, .cost = 23.993 * MS, .period = 24.22 * MS, .share = 0.99,
	                         .unit = "step", .profiler = "ncu"),
		.title = "The GPU is the bottleneck",
		.side = 1,
		.status = FINDING_SEEN,
		.per_step = {0, 23.993 * MS},
		.text = "The GPU is busy 99.0 % of the window: 23.99 of 24.22 ms a step.",
		.advice = "Nothing is left to gain between kernels: look at the kernels themselves.",
	};
	a->findings.list[1] = (struct finding){
		.id = "input_starvation",
		.fact = FACT_NEW(m->arena, input_starvation, 0, .cost = 31.040 * MS, .share = 0.551, .unit = "step",
	                         .phase = fixture_text(m, "data_load")),
		.title = "Input starvation",
		.status = FINDING_RESOLVED,
		.phase = {fixture_text(m, "data_load"), 0},
		.per_step = {31.040 * MS, 0},
		.has_ceiling = true,
		.ceiling_step = 24.67 * MS,
		.ceiling_speedup = 56.31 / 24.67,
		.text = arena_format(m->arena, "The GPU waits 31.04 ms a step for host code in %s.",
	                             names_text(m->names, fixture_text(m, "data_load"))),
		.advice = "Load the next batch while the GPU works: worker processes, a producer thread, prefetching.",
	};
	a->findings.list[2] = (struct finding){
		.id = "pageable_copies",
		.fact = FACT_NEW(m->arena, pageable_copies, 0, .unit = "step", .copies = 2, .bytes = 19.3e6,
	                         .alone = 0.591 * MS),
		.title = "Copies from pageable memory",
		.status = FINDING_RESOLVED,
		.phase = {fixture_text(m, "data_load"), 0},
		.per_step = {0.591 * MS, 0},
		.has_ceiling = true,
		.ceiling_step = 55.72 * MS,
		.ceiling_speedup = 56.31 / 55.72,
		.text = "2 copies a step (19.3 MB) come from pageable memory and keep the GPU from working for 0.59 "
			"ms.",
		.advice = "Allocate the batches in pinned memory and copy asynchronously.",
	};
}

void fixture_judge(struct maker *m, struct analysis *a, const struct series *series[2])
{
	static const char few[] = "A step was measured 6 times in the baseline: too seldom.";
	static const char launches[] = "kernel launches a step: 302 in the baseline, 344 in the fixed side (+13.9 %)";
	static const char version[] = "nsys 2025.3.1 recorded the baseline, 2025.3.2 the fixed side";
	struct verdict *v = &a->verdict;
	bool few_steps = m->which == FIXTURE_INCONCLUSIVE, self = m->which == FIXTURE_SELF;
	double half = few_steps ? 0 : self ? 0.008 : 0.034; /* what is unchanged is shown to be within 2 % */
	double speedup = a->side[0].headline.step / a->side[1].headline.step;
	*v = (struct verdict){.result = few_steps ? VERDICT_INCONCLUSIVE
	                                : self    ? VERDICT_UNCHANGED
	                                          : VERDICT_FASTER,
	                      .has_speedup = true,
	                      .speedup = speedup,
	                      .counted = speedup,
	                      .lo = speedup * exp(-half),
	                      .hi = speedup * exp(half),
	                      .has_interval = !few_steps,
	                      .judged = !few_steps,
	                      .half_width = half,
	                      .floor = few_steps ? 0 : log(1.03),
	                      .step = {a->side[0].headline.step, a->side[1].headline.step},
	                      .short_capture = few_steps,
	                      .few = few_steps,
	                      .one_run = m->which != FIXTURE_NO_STEPS,
	                      .more_steps = few_steps ? 20 : 0,
	                      .series = {series[0], series[1]}};
	if (few_steps)
		facts_add(&v->reasons, m->arena, fact_that_says(m->arena, few));
	if (v->one_run)
		FACT_ADD(&v->reasons, m->arena, one_run_each, FACT_NO_SIDE);
	v->recorded = (struct verdict_estimate){true, v->has_interval, v->speedup, v->lo, v->hi};
	if (m->which == FIXTURE_STOPWATCH) {
		v->measured = VERDICT_STOPWATCH;
		a->recorded_apart = true;
		v->one_run = false;
		v->exchange.known = v->exchange.in_turns = true;
		v->reasons.n = 0;
		v->recorded.speedup = a->side[0].headline.recorded / a->side[1].headline.recorded;
		v->recorded.lo = v->recorded.speedup * exp(-0.034);
		v->recorded.hi = v->recorded.speedup * exp(0.034);
	}
	v->typical = v->recorded;
	struct gates_asked asked = {.max_regression = -1, .require_comparable = m->which == FIXTURE_DEVICES};
	if (m->which == FIXTURE_PAIR || few_steps || m->which == FIXTURE_DEVICES)
		asked.min_speedup = 1.5;
	a->comparison.comparable = m->which != FIXTURE_DEVICES;
	a->comparison.same_work = a->comparison.comparable ? SAME_WORK_SAME : SAME_WORK_DIFFERENT;
	a->gates = gates_judge(v, &a->comparison, &asked, m->arena);
	if (!a->comparison.comparable)
		facts_add(&a->comparison.differences, m->arena, fact_that_says(m->arena, launches));
	if (!self)
		facts_add(&a->comparison.notes, m->arena, fact_that_says(m->arena, version));
	if (!few_steps && !self) {
		double measured = a->side[1].budget.period, gain = a->side[0].budget.period - measured;
		double explained = a->side[0].budget.period - 24.36 * MS;
		a->findings.diagnosis = (struct diagnosis){.result = DIAGNOSIS_CONFIRMED,
		                                           .combined_ceiling = 24.36 * MS,
		                                           .measured = measured,
		                                           .gain = gain,
		                                           .explained = explained,
		                                           .share = explained / gain};
	}
}
