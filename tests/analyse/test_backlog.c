/* A GPU that works off a queue: its steps end faster than the host launches them, for as long as the queue lasts.
 * Traces of a host and a stream whose long-run time per step is known: the slower of the two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "charge/backlog.h"
#include "random_trace.h"
#include "said.h"
#include "scene.h"

#include <math.h>
#include <string.h>

enum { US = 1000 };

/* Steps of one kernel, behind a stall of the GPU. `pause`: every so many-th step's host work is longer by so much, the
 * others' shorter, so that the mean stays; `wait`: after every so many-th step the host waits for the GPU. */
struct job {
	int n;
	int64_t host, gpu, stall; /* ns */
	int jitter;               /* percent of the host's work, either way */
	int pause_every;
	int64_t pause;
	int wait_every;
	bool unlaunched; /* the profile has no calls */
};

static int64_t host_work(const struct job *job, struct random *r, int k)
{
	int64_t work = job->host + job->host * random_between(r, -job->jitter, job->jitter) / 100;
	if (!job->pause_every)
		return work;
	return work + (k % job->pause_every ? -job->pause / (job->pause_every - 1) : job->pause);
}

static const struct trace *trace_of(struct scene *s, const struct job *job)
{
	struct random r = {.state = 7};
	scene_trace_begin(s);
	int64_t t = 0, free = job->stall;
	maker_call(&s->m, s->main, 0, 10, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	if (job->stall)
		maker_op(&s->m, s->gpu, 7, OP_KERNEL, 20, job->stall, "stall", s->correlation);
	for (int k = 0; k < job->n; k++) {
		int64_t begin = t + 20;
		t = begin + host_work(job, &r, k);
		int64_t start = t + 15 > free + 5 ? t + 15 : free + 5;
		uint32_t correlation = ++s->correlation;
		if (!job->unlaunched)
			maker_call(&s->m, s->main, t, t + 5, "cudaLaunchKernel", CALL_LAUNCH, correlation);
		free = start + job->gpu + k % 3;
		maker_op(&s->m, s->gpu, 7, OP_KERNEL, start, free, "gemm", correlation);
		t += 10;
		if (job->wait_every && k % job->wait_every == job->wait_every - 1) {
			maker_call(&s->m, s->main, t, free + 50, "cudaStreamSynchronize", CALL_SYNC, 0);
			t = free + 60;
		}
		scene_range(s, s->main, begin, t, "step");
	}
	return maker_link(&s->m);
}

static const struct analysis *compare(struct scene *s, const struct trace *baseline, const struct trace *fixed)
{
	static const struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = baseline, .file = "baseline"}, {.trace = fixed, .file = "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &options, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static bool is_said(const struct verdict *v, const char *words)
{
	return said_in(&v->reasons, NULL, words) != NULL;
}

/* Both ways round: the speedup's interval holds the truth, and is mirrored; returns the verdict. */
static const struct verdict *judge(struct scene *s, const struct job *a, const struct job *b, double truth)
{
	const struct trace *baseline = trace_of(s, a), *fixed = trace_of(s, b);
	const struct verdict *v = &compare(s, baseline, fixed)->verdict, *w = &compare(s, fixed, baseline)->verdict;
	assert_true(v->lo <= truth * 1.005 && v->hi >= truth / 1.005);
	assert_true(fabs(v->speedup * w->speedup - 1) < 1e-12);
	assert_true(fabs(v->lo * w->hi - 1) < 1e-12);
	assert_true(fabs(v->hi * w->lo - 1) < 1e-12);
	assert_int_equal(is_said(v, "working through a queue"), is_said(w, "working through a queue"));
	return v;
}

static const struct job GPU_BOUND = {.n = 25, .host = 300 * US, .gpu = 900 * US, .stall = 1000 * US, .jitter = 3};
static const struct job QUEUE = {.n = 25, .host = 1000 * US, .gpu = 600 * US, .stall = 18000 * US, .jitter = 1};

static void test_a_queue_is_no_speed(void **state)
{
	/* The fixed side's GPU takes 0.6 ms a step while there is a queue, its host 1.0 ms: 0.9 / 1.0 in the long run.
	 */
	const struct verdict *v = judge(*state, &GPU_BOUND, &QUEUE, 0.9);
	assert_true(fabs(v->speedup - 1.5) < 0.01);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(v->more_steps + v->more_runs, 0);
	assert_true(is_said(v, "The fixed side's GPU was still working through a queue: steps ended every 0.6 ms, but "
	                       "were launched every 1 ms"));
	assert_false(is_said(v, "The baseline's GPU was"));
}

static void test_a_queue_is_no_slowdown_of_the_other(void **state)
{
	/* The same program, behind a stall and without one. */
	struct job other = QUEUE;
	other.stall = 1000 * US;
	const struct verdict *v = judge(*state, &QUEUE, &other, 1);
	assert_true(v->speedup < 0.62);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(is_said(v, "The baseline's GPU was still working through a queue"));
}

static void test_a_queue_that_decides_nothing(void **state)
{
	/* 3 / 0.6 or 3 / 1: faster either way, by no less than the latter. */
	const struct job slow = {.n = 25, .host = 300 * US, .gpu = 3000 * US, .stall = 1000 * US, .jitter = 3};
	const struct verdict *v = judge(*state, &slow, &QUEUE, 3);
	assert_int_equal(v->result, VERDICT_FASTER);
	assert_true(v->lo > 2.7 && v->lo < 3.05 && v->hi > 4.9);
	assert_true(is_said(v, "The fixed side's GPU was still working through a queue"));
}

static void test_steps_in_turns(void **state)
{
	/* Four short steps of the host and a long one: more steps let the lag grow than let it fall. */
	struct job uneven = QUEUE;
	uneven.n = 60;
	uneven.stall = 50000 * US;
	uneven.gpu = 900 * US;
	uneven.host = 1100 * US;
	uneven.pause_every = 5;
	uneven.pause = 1200 * US;
	const struct verdict *v = judge(*state, &uneven, &GPU_BOUND, 1100.0 / 900);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(is_said(v, "The baseline's GPU was still working through a queue"));
}

/* Nothing is said of these, and nothing widened: the interval is narrow, and holds what the slower of host and GPU
 * takes. */
static void test_no_queue(void **state)
{
	static const struct job jobs[] = {
		{.n = 40, .host = 300 * US, .gpu = 900 * US},                /* the host runs ahead */
		{.n = 40, .host = 1000 * US, .gpu = 600 * US, .jitter = 10}, /* the GPU waits for the host */
		{.n = 40, .host = 700 * US, .gpu = 900 * US, .stall = 5000 * US, .jitter = 30},
		/* a wait for the GPU every so often: the lag falls at once */
		{.n = 40, .host = 300 * US, .gpu = 900 * US, .wait_every = 10},
		{.n = 47, .host = 300 * US, .gpu = 900 * US, .wait_every = 19},
		/* the same once, in the last quarter: high before, low after */
		{.n = 40, .host = 300 * US, .gpu = 900 * US, .stall = 12000 * US, .wait_every = 30},
		/* pauses that the queue bridges */
		{.n = 43, .host = 700 * US, .gpu = 900 * US, .stall = 9000 * US, .pause_every = 9, .pause = 4000 * US},
	};
	struct job reference = {.n = 60, .host = 100 * US, .gpu = 2000 * US};
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		int64_t step = jobs[i].host > jobs[i].gpu ? jobs[i].host : jobs[i].gpu;
		const struct verdict *v = judge(*state, &reference, &jobs[i], 2000.0 * US / (double)step);
		assert_false(is_said(v, "queue"));
		assert_int_equal(v->result, VERDICT_FASTER);
		assert_true(v->recorded.hi / v->recorded.lo < 1.15);
	}
}

static void test_without_launches_nothing_is_told(void **state)
{
	struct scene *s = *state;
	struct job unlaunched = QUEUE;
	unlaunched.unlaunched = true;
	const struct trace *baseline = trace_of(s, &unlaunched), *fixed = trace_of(s, &unlaunched);
	assert_false(is_said(&compare(s, baseline, fixed)->verdict, "queue"));
}

enum { LAGS = 21 };

static double worked_off(int64_t *lag)
{
	struct step_thread thread = {0};
	struct run run = {.steps = {.found = true, .n = LAGS, .n_threads = 1, .n_ranks = 1, .threads = &thread},
	                  .rows.lag = lag,
	                  .window.warmup = 1,
	                  .window.n_steps = LAGS - 1,
	                  .window.end = 20000};
	return backlog_worked_off(&run);
}

/* A lag that falls by 900 a step, of which so many are not known. */
static double worked_off_but(uint32_t unknown)
{
	int64_t lag[LAGS];
	for (uint32_t k = 0; k < LAGS; k++)
		lag[k] = k >= 8 && k < 8 + unknown ? BACKLOG_UNKNOWN : 20000 - 900 * (int64_t)k;
	return worked_off(lag);
}

/* Nine in ten have to be known. */
static void test_unknown_lags(void **state)
{
	(void)state;
	assert_true(fabs(worked_off_but(0) - 900) < 60);
	assert_true(worked_off_but(2) > 0);
	assert_true(worked_off_but(3) == 0);
}

static void test_a_queue_that_comes_back(void **state)
{
	(void)state;
	/* Nearly gone after five steps, it grows again: a host that is slower than the GPU lets none grow. */
	int64_t back[LAGS] = {20000, 20000, 20000, 14000, 8000, 4500, 9000, 14000, 14000, 14000, 9000, 6000};
	int64_t gone[LAGS] = {20000, 20000, 20000, 18000, 17000, 15000, 14000, 13000, 12000, 10000, 9000, 6000};
	/* half of it in one step, the rest one by one */
	int64_t half[LAGS] = {20000, 20000, 20000, 19000, 18500, 9000, 8500, 7000, 6000, 5000, 4000, 2500};
	for (uint32_t k = 12; k < LAGS; k++)
		back[k] = gone[k] = half[k] = 2000;
	assert_true(worked_off(back) == 0);
	assert_true(worked_off(gone) > 0);
	assert_true(worked_off(half) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_a_queue_is_no_speed),
		SCENE(test_a_queue_is_no_slowdown_of_the_other),
		SCENE(test_a_queue_that_decides_nothing),
		SCENE(test_steps_in_turns),
		SCENE(test_no_queue),
		SCENE(test_without_launches_nothing_is_told),
		cmocka_unit_test(test_unknown_lags),
		cmocka_unit_test(test_a_queue_that_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
