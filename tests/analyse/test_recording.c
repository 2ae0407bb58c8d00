/* What recording may have done to a speedup, worked out by hand for two sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/step_tables.h"
#include "said.h"
#include "scene.h"
#include "side/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US };

static void test_recorded_steps_apart(void **unused)
{
	static struct side side[2];
	struct verdict v = {.measured = VERDICT_STOPWATCH};
	(void)unused;
	side[0].headline = (struct headline){.recorded_timed = 10.1 * MS, .stopwatch = 10 * MS};
	side[1].headline = (struct headline){.recorded_timed = 4.91 * MS, .stopwatch = 5 * MS}; /* 1 and 1.8 % */
	assert_false(recording_apart(side, &v));
	side[1].headline.recorded_timed = 4.89 * MS;
	assert_true(recording_apart(side, &v));
	v.measured = VERDICT_RECORDED;
	assert_false(recording_apart(side, &v));
	v.measured = VERDICT_STOPWATCH;
	side[1].headline.stopwatch = 0; /* none was made */
	assert_false(recording_apart(side, &v));
}

static void test_recording_makes_kernels_longer(void **unused)
{
	/* The same 4 ms of kernels in steps of 8 and of 5 ms. Were each 2.5 % longer while recorded, they took 3.9 ms,
	 * and the steps 7.9 and 4.9. */
	static struct analysis a;
	static const double period[2] = {8 * MS, 5 * MS};
	double beyond[2];
	(void)unused;
	for (int i = 0; i < 2; i++)
		a.side[i] = (struct side){.budget = {.period = period[i], .compute = 4 * MS}, .busy = 4 * MS};
	recording_bounds(a.side, false, beyond);
	assert_float_equal(beyond[0], 0, 0);
	assert_float_equal(beyond[1], log(7.9 / 4.9) - log(8.0 / 5), 1e-6);
}

static void test_ranks_wait_for_a_host_that_recording_held_up(void **unused)
{
	/* A rank makes 1000 calls a step of 20 ms, of which it is idle for 5: at 4 µs each, the pace of its launches
	 * without the launch itself, recording took 4 ms. The ranks wait 3 ms for each other: they, too, may be gone
	 * where there are two or more, but no more than the others' 4 ms, and nothing where there is one. */
	static struct analysis a;
	double beyond[4][2];
	(void)unused;
	for (int i = 0; i < 2; i++) {
		a.side[i] = (struct side){.budget.period = 20 * MS, .busy = i ? 20 * MS : 15 * MS};
		a.side[i].recording.launch_pace = 4750;
		for (int p = 0; p < RECORDING_PRICES && !i; p++)
			a.side[i].recording.took[p] = 1000 * recording_price[p];
	}
	for (uint32_t n = 0; n < 4; n++) {
		a.side[0].ranks.n = n == 3 ? 2 : n;
		a.side[0].ranks.waiting = n == 3 ? 9 * MS : 3 * MS;
		recording_bounds(a.side, false, beyond[n]);
	}
	assert_float_equal(beyond[0][0], beyond[1][0], 1e-6);
	assert_float_equal(beyond[2][0] - beyond[1][0], log(20.0 - 4 - 3) - log(20.0 - 4), 1e-6);
	assert_float_equal(beyond[3][0] - beyond[1][0], log(20.0 - 4 - 4) - log(20.0 - 4), 1e-6);
}

static void test_calls_cost_no_more_than_their_step(void **unused)
{
	/* The pace of launches would allow 14 µs; the GPU waits for eight calls in each step of 40 µs. */
	static struct analysis a;
	double beyond[2];
	(void)unused;
	for (int i = 0; i < 2; i++) {
		a.side[i] = (struct side){.budget.period = 40 * US, .busy = 4 * US};
		a.side[i].recording.launch_pace = 14750;
		a.side[i].recording.waited_calls = 8;
		for (int p = 0; p < RECORDING_PRICES && !i; p++)
			a.side[i].recording.took[p] = recording_price[p];
	}
	recording_bounds(a.side, false, beyond);
	assert_float_equal(beyond[0], log(40.0 - 5) - log(40), 1e-6);
}

/* 40 steps: in each 50 kernels of 3 µs, one every 4 µs, and `ranges` around each launch but every tenth, of which begin
 * and end take 1 µs together: 4 µs of host code are in them, which begin while the kernel before still runs. */
static const struct trace *ranges_run(struct scene *s, int ranges)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 40; step++) {
		int64_t begin = t;
		for (int k = 0; k < 50; k++) {
			for (int r = 0; r < ranges && k % 10; r++, t += US)
				scene_range(s, s->main, t, t + US / 2, "op");
			scene_kernel(s, s->main, t, t + 2 * US, t + 3 * US, t + 6 * US);
			t += 4 * US;
		}
		t += 10 * US + step;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

/* Where only one side's launches lie in ranges, they may be all that it is slower by. */
static void test_ranges_that_one_side_has(void **state)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	struct scene *s = *state;
	struct err err = {0};
	const struct trace *with = ranges_run(s, 4), *without = ranges_run(s, 0);
	struct analyse_run runs[2] = {{.trace = with, .file = "with"}, {.trace = without, .file = "without"}};
	struct analysis *a = ARENA_NEW(&s->arena, 1, struct analysis);
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, a, &err))
		fail_msg("%s", err.text);
	assert_true(fabs(a->side[0].recording.waited_ranges - 4 * 45) < 2); /* and some steps' own */
	assert_true(a->side[1].recording.waited_ranges <= 1);
	assert_true(a->verdict.speedup > 1.8 && a->verdict.lo <= 1); /* 390 and 210 µs a step */
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
	assert_true(a->while_recorded);
}

/* 60 steps: 20 kernels (or CUDA graphs) of 2 µs that the host launches one every `pace` ns, then `rest` ns of host work
 * behind a wait. */
static const struct trace *launching_run_of(struct scene *s, bool graphs, int64_t pace, int64_t rest)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 60; step++) {
		int64_t begin = t;
		for (int k = 0; k < 20; k++) {
			maker_call(&s->m, s->main, t, t + US, graphs ? "cudaGraphLaunch" : "cudaLaunchKernel",
			           CALL_LAUNCH, ++s->correlation);
			maker_op(&s->m, s->gpu, 7, graphs ? OP_GRAPH : OP_KERNEL, t + 2 * US, t + 4 * US, names[k % 4],
			         s->correlation);
			t += pace + (step * 7 + k * 3) % 5;
		}
		scene_call(s, s->main, t, t + 4 * US, "cudaStreamSynchronize", CALL_SYNC);
		t += rest + step % 3;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

static const struct trace *launching_run(struct scene *s, int64_t pace, int64_t rest)
{
	return launching_run_of(s, false, pace, rest);
}

static const struct analysis *launching_pair(struct scene *s, const struct trace *baseline, const struct trace *fixed)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	struct err err = {0};
	struct analyse_run runs[2] = {{.trace = baseline, .file = "one"}, {.trace = fixed, .file = "other"}};
	struct analysis *a = ARENA_NEW(&s->arena, 1, struct analysis);
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, a, &err))
		fail_msg("%s", err.text);
	return a;
}

/* In every second step each of 20 launches takes a fifth longer until the next one; that from the first of them on,
 * too, where the host does something else for 0.3 ms, more than a quarter of all, and in every third step for twice as
 * long: which says nothing of the host's pace. */
static void test_the_pace_of_each_step(void **state)
{
	struct scene *s = *state;
	int64_t t = MS;
	scene_trace_begin(s);
	for (int step = 0; step < 40; step++) {
		int64_t begin = t, pace = step % 2 ? 12 * US : 10 * US;
		for (int k = 0; k < 21; k++) {
			maker_call(&s->m, s->main, t, t + US, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
			maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 2 * US, t + 4 * US, k ? "short" : "long",
			         s->correlation);
			t += k ? pace : step % 3 ? 300 * US : 600 * US;
		}
		scene_call(s, s->main, t, t + 4 * US, "cudaStreamSynchronize", CALL_SYNC);
		t += 10 * US;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	const struct trace *run = maker_link(&s->m);
	const struct analysis *a = launching_pair(s, run, run);
	const struct run_table *table = &a->tables->facts[0].runs[0];
	assert_int_equal(table->n_paces, 39);
	for (uint32_t k = 1; k < table->n_paces; k++)
		assert_int_equal(llabs(table->pace[k] - table->pace[k - 1]), 182); /* 1000 ln 1.2 */
}

/* The same program, each of whose 20 launches a step cost 2 µs more while one side was recorded: 150 instead of 110 µs.
 * Whichever side it is, the truth, 1, lies in the interval, and a sentence says why. */
static void test_one_side_recorded_at_a_higher_price(void **state)
{
	struct scene *s = *state;
	const struct trace *cheap = launching_run(s, 5 * US, 10 * US), *dear = launching_run(s, 7 * US, 10 * US);
	for (int swap = 0; swap < 2; swap++) {
		const struct analysis *a = launching_pair(s, swap ? dear : cheap, swap ? cheap : dear);
		const char *what = swap ? "2.0 µs longer in the baseline" : "2.0 µs longer on the fixed side";
		bool found = false;
		assert_true(fabs(log(a->verdict.speedup)) > log(1.3));
		assert_true(a->verdict.lo <= 1 && a->verdict.hi >= 1);
		assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
		for (size_t i = 0; i < a->verdict.reasons.n; i++)
			found = found || strstr(said(a->verdict.reasons.list[i], a->names), what);
		assert_true(found);
	}
}

/* Each of 20 launches comes 60 µs later than before, and recording is taken to cost 20 at most: the sentence says all
 * of it, and that the interval allows for a host that is twice as slow, and not thirteen times. */
static void test_a_host_slower_than_recording_makes_it(void **state)
{
	struct scene *s = *state;
	for (int way = 0; way < 4; way++) {
		const bool graphs = way / 2, swap = way % 2;
		const struct trace *fast = launching_run_of(s, graphs, 5 * US, 10 * US),
				   *slow = launching_run_of(s, graphs, 65 * US, 10 * US);
		const struct analysis *a = launching_pair(s, swap ? slow : fast, swap ? fast : slow);
		const char *what = swap ? "60.0 µs longer in the baseline, more than profiling costs"
		                        : "60.0 µs longer on the fixed side, more than profiling costs";
		bool found = false;
		assert_int_equal(a->verdict.result, swap ? VERDICT_FASTER : VERDICT_SLOWER);
		for (size_t i = 0; i < a->verdict.reasons.n; i++)
			found = found || (strstr(said(a->verdict.reasons.list[i], a->names), what) &&
			                  strstr(said(a->verdict.reasons.list[i], a->names),
			                         "allows for up to 20.0 µs each, and for a host up to twice as slow") &&
			                  strstr(said(a->verdict.reasons.list[i], a->names),
			                         graphs ? "slower there, or its graph launches cost more (a new"
			                                : "slower there. "));
		assert_true(found);
	}
}

/* 40 µs less between two steps are no price of launches: nothing is widened for them, and the fix is seen. */
static void test_a_shorter_pause_is_no_price(void **state)
{
	struct scene *s = *state;
	const struct trace *slow = launching_run(s, 5 * US, 50 * US), *fast = launching_run(s, 5 * US, 10 * US);
	const struct analysis *a = launching_pair(s, slow, fast); /* 150 and 110 µs a step */
	assert_int_equal(a->verdict.result, VERDICT_FASTER);
	for (size_t i = 0; i < a->verdict.reasons.n; i++)
		assert_null(strstr(said(a->verdict.reasons.list[i], a->names), "From a launch to the next call"));
}

/* 60 steps that nobody waits in: a kernel of 60 µs and 20 of 2 µs, launched one every 5 µs, and `load` ns of host work
 * behind them. The GPU is busy for 100 µs a step, and waits only at its end. */
static const struct trace *ahead_run(struct scene *s, int64_t load)
{
	int64_t t = 0, end = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 60; step++) {
		int64_t begin = t;
		for (int k = 0; k < 21; k++) {
			int64_t start = t + 2 * US > end ? t + 2 * US : end;
			end = start + (k ? 2 : 60) * US + (step + k) % 3;
			scene_kernel(s, s->main, t, t + US, start, end);
			t += 5 * US;
		}
		t += load;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

/* Each of 21 launches cost 2 µs for being recorded: without that the host is ahead all along, its 20 µs of other work
 * are hidden, and both programs take the GPU's 100 µs a step. Recorded they take 125 and 105, and only the last
 * launches of a step are waited for. */
static void test_calls_before_the_wait_count(void **state)
{
	struct scene *s = *state;
	const struct trace *slow = ahead_run(s, 20 * US), *fast = ahead_run(s, 0);
	const struct analysis *a = launching_pair(s, slow, fast);
	assert_true(a->verdict.speedup > 1.17 && a->verdict.speedup < 1.21);
	assert_true(a->side[0].recording.waited_calls < 3);
	assert_true(a->verdict.lo <= 1);
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
}

/* 60 steps of 20 kernels of 6 µs, launched one every `pace` ns, and `rest` ns of host work behind a wait for them. */
static const struct trace *waiting_run(struct scene *s, int64_t pace, int64_t rest)
{
	int64_t t = 0, end = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 60; step++) {
		int64_t begin = t;
		for (int k = 0; k < 20; k++) {
			int64_t start = t + 2 * US > end ? t + 2 * US : end;
			end = start + 6 * US + (step + k) % 3;
			scene_kernel(s, s->main, t, t + US, start, end);
			t += pace;
		}
		scene_call(s, s->main, t, end + US, "cudaStreamSynchronize", CALL_SYNC);
		t = end + US + rest;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

static const struct finding *find(const struct analysis *a, const char *id)
{
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, id) == 0)
			return &a->findings.list[i];
	fail_msg("no finding %s", id);
	return NULL;
}

/* One program, each of whose launches cost 7 µs more while one side was recorded: there the GPU waits for every launch,
 * and that is neither resolved nor new, nor does it remain. What the price does not reach, a pause of 0.9 ms that one
 * side lacks, is. */
static void test_what_only_the_profiler_adds_is_not_resolved(void **state)
{
	struct scene *s = *state;
	const struct trace *cheap = waiting_run(s, 5 * US, 10 * US), *dear = waiting_run(s, 12 * US, 10 * US);
	for (int swap = 0; swap < 2; swap++) {
		const struct analysis *a = launching_pair(s, swap ? dear : cheap, swap ? cheap : dear);
		const struct finding *f = find(a, "launch_bound");
		assert_true(f->per_step[!swap] > 100 * US && f->per_step[swap] < 15 * US);
		assert_int_equal(f->status, FINDING_SEEN);
		assert_non_null(strstr(f->text, swap ? "take longer in the baseline. If profiling"
		                                     : "take longer on the fixed side. If profiling"));
		assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_NONE);
	}
	/* Half of it is the program's own: that went, or came. */
	const struct trace *resting = waiting_run(s, 12 * US, 250 * US);
	assert_int_equal(find(launching_pair(s, resting, cheap), "launch_bound")->status, FINDING_REDUCED);
	assert_int_equal(find(launching_pair(s, cheap, resting), "launch_bound")->status, FINDING_REMAINING);
	const struct trace *pausing = waiting_run(s, 12 * US, 900 * US);
	const struct analysis *a = launching_pair(s, pausing, cheap);
	assert_int_equal(find(a, "launch_bound")->status, FINDING_RESOLVED);
}

/* 60 steps of one launch of a graph of `nodes` kernels of 1 µs, 1.25 µs from one to the next as they were recorded node
 * by node, or (0) of one kernel of 100 µs. */
static const struct trace *nodes_run(struct scene *s, int nodes)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 60; step++) {
		int64_t begin = t, end = t + 4 * US;
		if (!nodes)
			scene_kernel(s, s->main, t, t + 2 * US, end, end + 100 * US + step % 3);
		else
			maker_call(&s->m, s->main, t, t + 2 * US, "cudaGraphLaunch", CALL_LAUNCH, ++s->correlation);
		for (int k = 0; k < nodes; k++, end += 1250) {
			size_t row =
				maker_op(&s->m, s->gpu, 7, OP_KERNEL, end, end + US + step % 3, "k", s->correlation);
			s->m.trace->ops.flags[row] = OPF_GRAPH_NODE;
		}
		t = nodes ? end : end + 100 * US;
		scene_call(s, s->main, begin + 3 * US, t + US, "cudaStreamSynchronize", CALL_SYNC);
		t += 5 * US;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

/* 80 nodes of 1.25 µs beside one kernel of 100 µs take as long as that, recorded. Without a profiler they may take but
 * 0.5 µs each, so a fixed side of nodes may take 40 of 109 µs, and is not called unchanged. The same graph on
 * both sides pays the same. */
static void test_graphs_recorded_node_by_node(void **state)
{
	struct scene *s = *state;
	const struct trace *kernel = nodes_run(s, 0), *graph = nodes_run(s, 80);
	const struct analysis *a = launching_pair(s, kernel, graph);
	bool found = false;
	assert_true(fabs(log(a->verdict.speedup)) < 0.01);
	assert_true(a->verdict.hi > 109.0 / 40 && a->verdict.hi < 2.8);
	assert_true(a->verdict.recorded.lo > 0.97);
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
	assert_float_equal(a->side[1].recording.graph_nodes, 80, 1e-9);
	for (size_t i = 0; i < a->verdict.reasons.n; i++)
		found = found || strstr(said(a->verdict.reasons.list[i], a->names), "--cuda-graph-trace graph");
	assert_true(found);
	((struct trace *)kernel)->source.kind = ((struct trace *)graph)->source.kind = SOURCE_KINETO;
	a = launching_pair(s, kernel, graph);
	for (size_t i = 0; i < a->verdict.reasons.n; i++) /* the PyTorch profiler has no such option */
		assert_null(strstr(said(a->verdict.reasons.list[i], a->names), "--cuda-graph-trace"));
	((struct trace *)graph)->source.kind = SOURCE_NSYS_SQLITE;
	a = launching_pair(s, graph, nodes_run(s, 80));
	assert_true(a->verdict.hi < 1.01 && a->verdict.lo > 0.99);
}

/* Kinds of launches that take 1, 3 and 5 µs longer, the third one half of what both sides do; two are of one side only.
 */
static void test_paces_apart_by_hand(void **unused)
{
	struct launch_pace b[] = {{0, 1, 0, 10, 4000, 4000},
	                          {0, 2, 0, 15, 4000, 4000},
	                          {0, 3, 0, 15, 4000, 4000},
	                          {0, 4, 0, 10, 9000, 9000}};
	struct launch_pace f[] = {{0, 1, 0, 10, 5000, 5000},
	                          {0, 2, 0, 15, 7000, 7000},
	                          {0, 3, 0, 15, 9000, 9000},
	                          {0, 5, 0, 60, 100, 100}};
	const struct launch_paces baseline = {b, 4, 50}, fixed = {f, 4, 100}, none = {0};
	double shared;
	(void)unused;
	assert_true(paces_apart(&baseline, &fixed, &shared) == 3000);
	assert_float_equal(shared, 0.4, 1e-12);
	assert_true(paces_apart(&fixed, &baseline, &shared) == -3000);
	assert_float_equal(shared, 0.4, 1e-12);
	f[0].median = f[1].median = 3000; /* shorter: they do not agree any more */
	assert_true(paces_apart(&baseline, &fixed, &shared) == 0);
	assert_true(paces_apart(&baseline, &none, &shared) == 0 && shared == 0);
}

/* Three kinds that both sides launch weigh 2 each: shares of .2, .4 and .4 of the baseline's launches times 10, 10 and
 * 40 ns, .1, .2 and .2 of the fixed side's times 100, 10 and 10 ns; the smaller of both. The middle half of 6 reaches
 * from 1.5 to 4.5. */
static void test_paces_ratio_by_hand(void **unused)
{
	struct launch_pace b[] = {{0, 1, 0, 20, 1, 10}, {0, 2, 0, 40, 1, 10}, {0, 3, 0, 40, 1, 40}};
	struct launch_pace f[] = {
		{0, 1, 0, 20, 1, 100}, {0, 2, 0, 40, 1, 10}, {0, 3, 0, 40, 1, 10}, {0, 4, 0, 100, 1, 5}};
	const struct launch_paces baseline = {b, 3, 100}, fixed = {f, 4, 200}, none = {0};
	double shared;
	(void)unused;
	assert_float_equal(paces_ratio(&baseline, &fixed, &shared), (.5 * log(.1) + 2 * 0 + .5 * log(4)) / 3, 1e-12);
	assert_float_equal(shared, .5, 1e-12);
	assert_true(paces_ratio(&baseline, &none, &shared) == 0 && shared == 0);
}

/* A graph's launch takes what its nodes take: it says neither that the host was slower nor what recording costs, where
 * the other side launches kernels. */
static void test_a_graph_is_no_slow_launch(void **state)
{
	static struct analysis a;
	struct scene *s = *state;
	const struct analysis *made = launching_pair(s, waiting_run(s, 5 * US, 10 * US), nodes_run(s, 300));
	double beyond[3][2];
	assert_false(made->side[0].recording.of_graphs);
	assert_true(made->side[1].recording.of_graphs);
	for (int i = 0; i < 2; i++) {
		a.side[i] = (struct side){.budget.period = 20 * MS, .busy = 15 * MS};
		a.side[i].recording.launch_pace = i ? 24750 : 2750;
		for (int p = 0; p < RECORDING_PRICES; p++)
			a.side[i].recording.took[p] = (i ? 10 : 1000) * recording_price[p];
	}
	recording_bounds(a.side, false, beyond[0]);
	a.side[1].recording.of_graphs = true;
	recording_bounds(a.side, false, beyond[1]);
	a.side[1].recording.launch_pace = 2750;
	a.side[1].recording.of_graphs = false;
	recording_bounds(a.side, false, beyond[2]);
	assert_memory_not_equal(beyond[0], beyond[1], sizeof beyond[1]);
	assert_memory_equal(beyond[1], beyond[2], sizeof beyond[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_steps_apart),
		cmocka_unit_test(test_recording_makes_kernels_longer),
		cmocka_unit_test(test_calls_cost_no_more_than_their_step),
		cmocka_unit_test(test_ranks_wait_for_a_host_that_recording_held_up),
		SCENE(test_ranges_that_one_side_has),
		cmocka_unit_test(test_paces_apart_by_hand),
		cmocka_unit_test(test_paces_ratio_by_hand),
		SCENE(test_the_pace_of_each_step),
		SCENE(test_one_side_recorded_at_a_higher_price),
		SCENE(test_a_host_slower_than_recording_makes_it),
		SCENE(test_a_shorter_pause_is_no_price),
		SCENE(test_calls_before_the_wait_count),
		SCENE(test_what_only_the_profiler_adds_is_not_resolved),
		SCENE(test_graphs_recorded_node_by_node),
		SCENE(test_a_graph_is_no_slow_launch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
