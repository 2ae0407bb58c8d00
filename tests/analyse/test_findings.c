/* Findings, ceilings and the same-work guard on a little model of a training step whose faults are set by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "find/rules_parts.h"
#include "findings_pair.h"
#include "said.h"
#include "side/recording.h"
#include "side/side.h"

#include <math.h>
#include <string.h>

static void test_healthy(void **state)
{
	const struct analysis *a = compare_programs(*state, healthy, healthy);
	expect_only(a, NULL, 0);
	assert_non_null(finding_of(a, "gpu_bound", 0));
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_NONE);
	assert_true(a->comparison.comparable);
}

static void test_input_starvation(void **state)
{
	/* 2 ms of host work before each copy, after a synchronisation: the GPU waits for all of it. The copy is pinned
	 * and short. */
	struct program slow = {.host = 2 * MS, .copy = 10 * US, .kernel = 100 * US, .kernels = 30, .sync = true};
	struct program fast = slow;
	fast.host = 0;
	fast.sync = false;
	const struct analysis *a = compare_programs(*state, slow, fast);
	const struct finding *f = finding_of(a, "input_starvation", 0);
	assert_non_null(f);
	assert_true(fabs(f->per_step[f->side] / (2 * MS) - 1) < 0.03);
	assert_string_equal(names_text(a->names, f->phase[f->side]), "load");
	assert_int_equal(f->status, FINDING_RESOLVED);
	/* period 2000 + 10 + 3000 + some calls; without the 2000: about 3010, which is what the fixed side needs */
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_CONFIRMED);
	slow.blocked = 1900 * US; /* what it writes until then is no input */
	a = compare_programs(*state, slow, fast);
	assert_null(finding_of(a, "input_starvation", 0));
	assert_null(finding_of(a, "host_before_copy", 0));
	assert_float_equal(finding_of(a, "sync_every_step", 0)->per_step[0], 1900 * US, 150 * US);
	slow.polls = true; /* for those who make the input: most of the time, or less than half of it */
	for (int most = 0; most < 2; most++) {
		slow.blocked = (most ? 1900 : 900) * US;
		f = finding_of(compare_programs(*state, slow, fast), "input_starvation", 0);
		assert_int_equal(strstr(f->advice, "waits for its producer") != NULL, most);
	}
}

static void test_allocation(void **state)
{
	/* The step's 30 launches are sent in 60 µs; then 6 ms of allocation, while the GPU has 3 ms of work. */
	struct program slow = healthy;
	slow.alloc = 6 * MS;
	const struct finding *f = expect_only(compare_programs(*state, slow, healthy), "alloc_in_step", 3 * MS);
	assert_non_null(strstr(f->text, "Most of the time is in cudaMalloc."));
	assert_non_null(strstr(f->advice, "allocate from a pool"));
	slow.mixed = true;
	f = expect_only(compare_programs(*state, slow, healthy), "alloc_in_step", 3 * MS);
	assert_null(strstr(f->text, "Most of the time"));
	slow.mixed = false;
	/* a host that also waits for the GPU does not run ahead without them: 11 ms, of which these are 6 */
	struct program waits = slow;
	waits.host = 2 * MS;
	waits.sync = true;
	f = finding_of(compare_programs(*state, waits, waits), "alloc_in_step", 0);
	assert_float_equal(f->ceiling_step, 5 * MS, 200 * US);
	slow.pool = true;
	f = expect_only(compare_programs(*state, slow, healthy), "alloc_in_step", 3 * MS);
	assert_non_null(strstr(f->advice, "Let the pool keep its memory"));
	assert_null(strstr(f->advice, "allocate from a pool"));
}

static void test_a_remainder_is_resolved(void **state)
{
	/* Of 3 ms of idle time in a step of 6, 0.21 stay, 6 % of the shorter step: what the fix was for is done. Not so
	 * when 0.9 stay. */
	struct program slow = healthy, fast = healthy;
	slow.alloc = 6 * MS;
	fast.alloc = 3150 * US;
	const struct analysis *a = compare_programs(*state, slow, fast);
	assert_int_equal(finding_of(a, "alloc_in_step", 0)->status, FINDING_RESOLVED);
	assert_ptr_equal(finding_of(a, "alloc_in_step", 1), finding_of(a, "alloc_in_step", 0));
	assert_float_equal(finding_of(a, "alloc_in_step", 1)->per_step[1], 210 * US, 10 * US);
	assert_true(a->findings.diagnosis.combined_ceiling > 0);
	fast.alloc = 3900 * US;
	a = compare_programs(*state, slow, fast);
	assert_int_equal(finding_of(a, "alloc_in_step", 0)->status, FINDING_REDUCED);
	assert_non_null(strstr(finding_of(a, "alloc_in_step", 0)->text, "Fixed side: 0.9"));
	a = compare_programs(*state, fast, slow); /* it has grown, and is not new */
	assert_int_equal(finding_of(a, "alloc_in_step", 0)->status, FINDING_REMAINING);
}

static void test_a_synchronisation_is_resolved_by_its_own_fix(void **state)
{
	/* Once a step the host waits for the GPU, and then works for 2 ms before it launches 3 ms of kernels. */
	struct program slow = {.host = 2 * MS, .kernel = 100 * US, .kernels = 30, .sync = true};
	struct program ahead = slow, quick = slow, often = slow;
	ahead.sync = false;
	quick.host = 40 * US;
	/* no waiting: the work is hidden behind the kernels, and the synchronisation was the reason */
	const struct analysis *a = compare_programs(*state, slow, ahead);
	assert_int_equal(finding_of(a, "sync_every_step", 0)->status, FINDING_RESOLVED);
	assert_non_null(strstr(finding_of(a, "sync_every_step", 0)->advice, "Wait less often")); /* it reads nothing */
	assert_null(finding_of(a, "host_after_sync", 0));
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_CONFIRMED);
	/* less work: the host waits as before, and comes back to an idle GPU as before */
	a = compare_programs(*state, slow, quick);
	assert_null(finding_of(a, "sync_every_step", 0));
	assert_int_equal(finding_of(a, "host_after_sync", 0)->status, FINDING_RESOLVED);
	assert_float_equal(finding_of(a, "host_after_sync", 0)->per_step[0], 2 * MS, 20 * US);
	assert_string_equal(names_text(a->names, finding_of(a, "host_after_sync", 0)->phase[0]), "load");
	/* the call that most of it is in is named */
	assert_null(strstr(finding_of(a, "host_after_sync", 0)->text, "Most of this time is in"));
	for (int most = 0; most < 2; most++) {
		slow.blocked = most ? 1100 * US : 900 * US;
		a = compare_programs(*state, slow, quick);
		const char *text = finding_of(a, "host_after_sync", 0)->text;
		assert_int_equal(strstr(text, "Most of this time is in fsync.") != NULL, most);
	}
	slow.blocked = 0;
	/* more work: nothing is new about the synchronisation */
	a = compare_programs(*state, quick, slow);
	assert_null(finding_of(a, "sync_every_step", 1));
	assert_int_equal(finding_of(a, "host_after_sync", 1)->status, FINDING_NEW);
	/* nothing changed: both are what they are, one finding */
	a = compare_programs(*state, slow, often);
	assert_int_equal(finding_of(a, "sync_every_step", 0)->status, FINDING_REMAINING);
	assert_null(finding_of(a, "host_after_sync", 0));
	/* less than half as many, though few: those that went are the reason */
	slow.syncs = 15, slow.of = 16, often.syncs = 4, often.of = 9;
	a = compare_programs(*state, slow, often);
	assert_int_equal(finding_of(a, "sync_every_step", 0)->status, FINDING_REDUCED);
}

/* After every fourth step the host waits for the GPU, and works for 2 ms: half a millisecond a step. */
static void test_work_behind_a_seldom_synchronisation(void **state)
{
	struct program slow = {.host = 2 * MS, .kernel = 100 * US, .kernels = 30, .sync = true, .syncs = 1, .of = 4};
	struct program quick = slow;
	quick.host = 40 * US;
	const struct finding *f = finding_of(compare_programs(*state, slow, quick), "host_work", 0);
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_RESOLVED);
	assert_float_equal(f->per_step[0], 2 * MS / 4.0, 50 * US);
	/* with one in each step it is the synchronisation's */
	slow.syncs = slow.of = quick.syncs = quick.of = 1;
	assert_null(finding_of(compare_programs(*state, slow, quick), "host_work", 0));
}

static void test_calls_that_are_still_made(void **state)
{
	struct program slow = healthy, hidden = healthy;
	slow.alloc = 6 * MS;
	hidden.alloc = 1 * MS; /* behind 3 ms of kernels */
	const struct finding *f = finding_of(compare_programs(*state, slow, hidden), "alloc_in_step", 0);
	assert_int_equal(f->status, FINDING_RESOLVED);
	assert_non_null(strstr(f->text, "Fixed side: none. The fixed side still makes 1 such calls per step."));
	f = finding_of(compare_programs(*state, slow, healthy), "alloc_in_step", 0);
	assert_null(strstr(f->text, "still"));
}

/* A reason of the verdict or a note of the baseline that has the words, or NULL. */
static void test_recording_is_named(void **state)
{
	/* 300 launches of 20 µs for kernels of 1 µs: the GPU waits for every call, 240 µs of about 6 ms are recording.
	 * In one graph it waits for one call a step. */
	struct program slow = {.kernel = 1 * US, .kernels = 300, .launch = 20 * US};
	struct program graph = {.kernel = 1 * US, .kernels = 300, .launch = 20 * US, .per_launch = 300};
	const struct analysis *a = compare_programs(*state, slow, graph);
	assert_float_equal(a->side[0].recording.waited_calls, 300, 1);
	assert_float_equal(a->side[0].recording.added, 240 * US, 1 * US);
	assert_true(a->side[1].recording.waited_calls < 2);
	assert_non_null(said_in(&a->side[0].quality.notes, a->names, "300 calls per step"));
	assert_non_null(said_in(&a->verdict.reasons, a->names, "Timed runs avoid it"));
	assert_true(a->while_recorded);
	/* kernels that queue up: no call is waited for, and nothing is said */
	a = compare_programs(*state, healthy, healthy);
	assert_true(a->side[0].recording.waited_calls < 2);
	assert_null(said_in(&a->side[0].quality.notes, a->names, "Recording"));
	assert_null(said_in(&a->verdict.reasons, a->names, "ecord"));
}

/* Launches that take longer in the baseline are, perhaps, recording. The pause before them is not. */
static void test_recording_makes_no_pause(void **state)
{
	struct program slow = {.host = 1500 * US, .kernel = 1 * US, .kernels = 300, .launch = 5 * US};
	struct program fast = slow;
	fast.host = 20 * US;
	fast.launch = 2 * US;
	const struct analysis *a = compare_programs(*state, slow, fast);
	const struct finding *launches = finding_of(a, "launch_bound", 0);
	assert_non_null(launches);
	assert_non_null(strstr(launches->text, "If profiling causes that, up to"));
	const struct finding *pause = finding_of(a, "host_work", 0);
	assert_int_equal(pause->status, FINDING_RESOLVED);
	assert_null(strstr(pause->text, "profiling"));
}

/* The step of a side without what recording took at a price of `ns` a call. */
static double unrecorded_step(const struct side *side, double ns)
{
	double waited = side->budget.period - side->budget.compute - side->budget.copy_exposed;
	return side->budget.period - fmin(waited, side->recording.waited_calls * ns);
}

static void test_recording_widens_the_interval(void **state)
{
	/* Launches of 2 µs, one right after the other: all but 0.75 µs of it may be recording, and no more. */
	struct program slow = {.kernel = 1 * US, .kernels = 300, .launch = 2 * US};
	struct program graph = {.kernel = 1 * US, .kernels = 300, .launch = 2 * US, .per_launch = 300};
	const struct analysis *a = compare_programs(*state, slow, graph);
	double most[2], shared = a->conditions.beyond[1];
	for (int i = 0; i < 2; i++) /* a call of the side, by its own pace, within what calls paid anywhere */
		most[i] = fmin(fmax(a->side[i].recording.launch_pace - 750, 800), 20000);
	assert_true(a->side[0].recording.launch_pace >= 2 * US && a->side[0].recording.launch_pace < 2.15 * US);
	double lowest = 1, highest = 1, recorded = unrecorded_step(&a->side[0], 0) / unrecorded_step(&a->side[1], 0);
	for (int price = 0; price <= fmax(most[0], most[1]); price += 10) { /* every price that a call may have */
		double speedup = unrecorded_step(&a->side[0], fmin(price, most[0])) /
		                 unrecorded_step(&a->side[1], fmin(price, most[1]));
		lowest = fmin(lowest, speedup / recorded);
		highest = fmax(highest, speedup / recorded);
	}
	assert_true(lowest < 0.7);
	/* and kernels, 2.5 % at most: the sides keep the GPU busy for as long, half of the step here and all of it
	 * there */
	double longer[2];
	for (int i = 0; i < 2; i++)
		longer[i] = 1 - 0.025 * a->side[i].busy / a->side[i].budget.period;
	assert_true(longer[0] / longer[1] > 1.01);
	assert_float_equal(a->verdict.lo, a->verdict.recorded.lo * lowest, 5e-3);
	/* and nodes of the graph: 2 µs each would be all of the step, of which 0.5 µs a node are its own */
	double step = a->side[1].budget.period, nodes = step / (300 * 0.5 * US);
	assert_float_equal(a->verdict.hi, a->verdict.recorded.hi * highest * longer[0] / longer[1] * nodes, 5e-3);
	assert_float_equal(a->verdict.hi, a->verdict.recorded.hi * exp(shared), 1e-9);
	/* the same program on both sides: whatever a call costs, it costs it twice */
	graph = slow;
	graph.kernel += 1; /* another capture */
	a = compare_programs(*state, slow, graph);
	assert_float_equal(a->verdict.lo, a->verdict.recorded.lo, 2e-3);
	assert_float_equal(a->verdict.hi, a->verdict.recorded.hi, 2e-3);
	assert_false(a->while_recorded);
}

static void test_no_gain_is_explained_where_the_recorded_step_got_longer(void **unused)
{
	/* 2 of the baseline's 10 ms are resolved. A stopwatch may say faster all the same where recording hurt the
	 * fixed side more: of what was recorded there is nothing to explain then. */
	static const struct rule plain = {.kind = RULE_PLAIN};
	static struct waterfall_part part = {
		.kind = PART_COPY, .baseline = 2 * MS, .fixed = 0.2 * MS, .delta = -1.8 * MS};
	static const struct waterfall waterfall = {.part = &part, .n = 1};
	static struct side side[2];
	static struct side_facts facts;
	(void)unused;
	side[0].budget.period = 10 * MS;
	side[1].budget.period = 11 * MS;
	const struct evidence found = {.rule = &plain, .side = &side[0], .facts = &facts, .busy = 2 * MS};
	const struct evidence *const resolved = &found;
	const struct findings_input in = {.side = side, .waterfall = &waterfall, .result = VERDICT_FASTER};
	struct diagnosis d = diagnosis_judge(&resolved, 1, &in);
	assert_int_equal(d.result, DIAGNOSIS_NONE);
	assert_float_equal(d.combined_ceiling, 8 * MS, 1e-6);
	assert_float_equal(d.gain, -1 * MS, 1e-6);
	assert_float_equal(d.share, 0, 0);
	side[1].budget.period = 10 * MS; /* … nor where it stayed as it was */
	assert_int_equal(diagnosis_judge(&resolved, 1, &in).result, DIAGNOSIS_NONE);
	side[1].budget.period = 8.2 * MS;
	assert_int_equal(diagnosis_judge(&resolved, 1, &in).result, DIAGNOSIS_CONFIRMED);
	/* as large a gain of which kernels are half is no proof of what was predicted of copies */
	part.delta = -0.9 * MS;
	d = diagnosis_judge(&resolved, 1, &in);
	assert_int_equal(d.result, DIAGNOSIS_PARTLY);
	assert_float_equal(d.share, 0.5, 1e-9);
}

static void test_recording_that_fills_a_sides_waits(void **unused)
{
	/* 0.8 and 6 ms of waits: from 0.4 µs a call on the baseline has none left to lose, the fixed side has. */
	static struct analysis a;
	static const double compute[2] = {9.2 * MS, 4 * MS}, calls[2] = {2000, 1000};
	double beyond[2], lowest = 0, highest = 0;
	(void)unused;
	for (int i = 0; i < 2; i++)
		a.side[i] = (struct side){.budget = {.period = 10 * MS, .compute = compute[i]},
		                          .busy = compute[i],
		                          .recording.waited_calls = calls[i],
		                          .recording.launch_pace = 2 * US + 750};
	for (int i = 0; i < 2 * RECORDING_PRICES; i++) {
		struct side *x = &a.side[i % 2];
		double all = calls[i % 2] * recording_price[i / 2];
		x->recording.took[i / 2] = fmin(all, x->budget.period - x->busy);
	}
	recording_bounds(a.side, false, beyond);
	for (int price = 0; price <= 2 * US; price++) {
		double speedup = unrecorded_step(&a.side[0], price) / unrecorded_step(&a.side[1], price);
		lowest = fmin(lowest, log(speedup));
		highest = fmax(highest, log(speedup));
	}
	assert_true(lowest < -0.02 && highest > 0.1);
	double kernels = 0.025; /* one side keeps the GPU busy more than twice as long */
	assert_float_equal(beyond[0], lowest - kernels, 1e-9);
	assert_float_equal(beyond[1], highest + kernels, 1e-9);
}

static void test_launch_bound(void **state)
{
	/* 300 kernels of 1 µs, a launch every 2 µs: of every 2 µs the GPU waits one. */
	struct program slow = {.kernel = 1 * US, .kernels = 300};
	struct program graph = {.kernel = 1 * US, .kernels = 300, .per_launch = 300};
	const struct analysis *a = compare_programs(*state, slow, graph);
	assert_non_null(finding_of(a, "launch_bound", 0));
	assert_non_null(strstr(finding_of(a, "launch_bound", 0)->text, "one graph may"));
	assert_true(fabs(finding_of(a, "launch_bound", 0)->per_step[0] / (300 * US) - 1) < 0.03);
	assert_int_equal(finding_of(a, "launch_bound", 0)->status, FINDING_RESOLVED);
	assert_null(finding_of(a, "launch_bound", 1));
}

static void test_host_work_is_not_launch_bound(void **state)
{
	/* 20 ms of host code a step, 30 kernels of 300 µs launched in 60 µs, no synchronisation: the GPU waits 11 ms,
	 * and a graph would not help. */
	struct program slow = {.host = 20 * MS, .kernel = 300 * US, .kernels = 30};
	struct program fast = slow;
	fast.host = 0;
	const struct analysis *a = compare_programs(*state, slow, fast);
	expect_only(a, "host_work", 11 * MS);
	assert_int_equal(finding_of(a, "host_work", 0)->status, FINDING_RESOLVED);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_CONFIRMED);
}

static void test_a_graph_needs_no_graph(void **state)
{
	/* One graph launch of 100 nodes, with 300 µs of host code before it. */
	struct program slow = {.host = 300 * US, .kernel = 1 * US, .kernels = 100, .per_launch = 100};
	const struct analysis *a = compare_programs(*state, slow, slow);
	assert_null(finding_of(a, "launch_bound", 0));
}

static void test_fewer_launches_resolve_nothing(void **state)
{
	/* 25 and 19 launches stand on either side of what counts as many; the GPU waits as long in both. */
	struct program before = {.host = 350 * US, .kernel = 2 * US, .kernels = 25}, after = before;
	after.kernels = 19;
	const struct analysis *a = compare_programs(*state, before, after);
	const struct finding *f = finding_of(a, "launch_bound", 0);
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_REMAINING);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_NONE);
	after.sync = true; /* the same wait, behind a synchronisation */
	f = finding_of(compare_programs(*state, before, after), "launch_bound", 0);
	if (!strstr(f->text, " per step (88.9 %), 0.351 ms of it for other calls."))
		fail_msg("%s", f->text);
}

static void test_half_the_work_in_the_same_kernels(void **state)
{
	struct program half = healthy;
	half.kernel /= 2;
	const struct analysis *a = compare_programs(*state, healthy, half);
	assert_int_equal(a->verdict.result, VERDICT_FASTER);
	assert_false(a->comparison.comparable);
	const char *text = said(a->comparison.differences.list[0], a->names);
	assert_non_null(strstr(text, "as many launches but another length"));
	assert_non_null(strstr(text, "Longer kernel in the baseline: more work, another block size"));
	a = compare_programs(*state, half, healthy);
	assert_non_null(strstr(said(a->comparison.differences.list[0], a->names),
	                       "Longer kernel in the fixed side: more work"));
}

static void test_steps_are_agreed_on(void **state)
{
	/* The same program; in one capture a range lies around every eight steps and has the longer total. */
	struct program epochs = healthy;
	epochs.epochs = true;
	epochs.kernel += 1; /* another capture */
	const struct analysis *a = compare_programs(*state, healthy, epochs);
	assert_true(a->side[0].steps.found && a->side[1].steps.found);
	assert_string_equal(names_text(a->names, a->side[1].steps.name), "step");
	assert_int_equal(a->verdict.result, VERDICT_UNCHANGED);
}

/* Two different runs of the same program a side. */
static int analyse_runs(struct scene *s, struct trace *baseline[2], struct trace *fixed[2], struct analysis *result,
                        struct err *err)
{
	static const struct analyse_options options = {.warmup = 5, .gates.max_regression = -1};
	struct analyse_run b[2] = {{baseline[0], "b1"}, {baseline[1], "b2"}},
			   f[2] = {{fixed[0], "f1"}, {fixed[1], "f2"}};
	return analyse_pair(b, 2, f, 2, &options, &s->names, &s->arena, result, err);
}

static void four_runs(struct scene *s, struct trace *baseline[2], struct trace *fixed[2])
{
	for (int i = 0; i < 4; i++) {
		struct program p = healthy;
		p.kernel += i * 100; /* no two captures are the same */
		scene_program(s, &p);
		(i < 2 ? baseline : fixed)[i % 2] = s->m.trace;
	}
}

static void test_every_run_is_guarded(void **state)
{
	struct scene *s = *state;
	struct trace *baseline[2], *fixed[2];
	struct analysis result;
	struct err err = {0};
	four_runs(s, baseline, fixed);
	assert_int_equal(analyse_runs(s, baseline, fixed, &result, &err), 0);
	assert_int_equal(result.verdict.result, VERDICT_UNCHANGED);
	assert_true(result.comparison.comparable);

	fixed[1]->source.driver = "1.2.3"; /* another machine, in the second run only */
	assert_int_equal(analyse_runs(s, baseline, fixed, &result, &err), 0);
	assert_false(result.comparison.comparable);
	assert_non_null(strstr(said(result.comparison.differences.list[0], result.names),
	                       "f2 was captured with another driver than f1"));

	for (int r = 0; r < 2; r++)
		baseline[r]->source.graphs = fixed[r]->source.graphs = GRAPHS_WHOLE;
	baseline[1]->source.graphs = GRAPHS_BY_NODE;
	assert_int_equal(analyse_runs(s, baseline, fixed, &result, &err), 0);
	assert_int_equal(result.verdict.result, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(said(result.comparison.differences.list[0], result.names),
	                       "traced whole in one run and node by node in another"));
}

static void test_runs_of_a_side_have_the_same_steps(void **state)
{
	struct scene *s = *state;
	struct trace *baseline[2], *fixed[2];
	struct analysis result;
	struct err err = {0};
	four_runs(s, baseline, fixed);
	fixed[1]->ranges.n = 0; /* captured without NVTX */
	memset(fixed[1]->first_range, 0, (fixed[1]->n_threads + 1) * sizeof *fixed[1]->first_range);
	/* then the steps of all four are what repeats */
	assert_int_equal(analyse_runs(s, baseline, fixed, &result, &err), 0);
	for (int side = 0; side < 2; side++)
		assert_int_equal(result.side[side].steps.origin, STEPS_BY_PATTERN);
	assert_int_equal(result.side[0].steps.name, result.side[1].steps.name);

	/* and where nothing repeats, there is no step that all have */
	for (size_t i = 0; i < fixed[1]->ops.n; i++)
		fixed[1]->ops.name[i] = (uint32_t)((i * i * 2654435761u >> 7) % s->names.n);
	assert_int_equal(analyse_runs(s, baseline, fixed, &result, &err), -1);
	assert_non_null(strstr(err.text, "f2 (fixed): its steps are not found, those of f1 are step"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(test_healthy),
		TEST(test_input_starvation),
		TEST(test_allocation),
		TEST(test_a_remainder_is_resolved),
		TEST(test_a_synchronisation_is_resolved_by_its_own_fix),
		TEST(test_work_behind_a_seldom_synchronisation),
		TEST(test_calls_that_are_still_made),
		TEST(test_recording_is_named),
		TEST(test_recording_makes_no_pause),
		TEST(test_recording_widens_the_interval),
		TEST(test_recording_that_fills_a_sides_waits),
		TEST(test_no_gain_is_explained_where_the_recorded_step_got_longer),
		TEST(test_launch_bound),
		TEST(test_host_work_is_not_launch_bound),
		TEST(test_a_graph_needs_no_graph),
		TEST(test_fewer_launches_resolve_nothing),
		TEST(test_half_the_work_in_the_same_kernels),
		TEST(test_steps_are_agreed_on),
		TEST(test_every_run_is_guarded),
		TEST(test_runs_of_a_side_have_the_same_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
