/* Time per step is what a stopwatch around the loop says, whatever the steps look like: loops are made at random so
 * that an instance comes every so many nanoseconds, and the time per step has to be that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_trace.h"
#include "scene.h"

#include <math.h>
#include <stdio.h>

enum { TRACES = 60, WARMUP = 5 };
static const double TOLERANCE = 0.008;

/* One loop: `n` instances of each of its threads, one every `period`. */
struct loop {
	struct scene *s;
	struct random *r;
	int64_t n, period;
	bool cut;      /* the capture ends in the last instance */
	double truth;  /* ns a step */
	int64_t steps; /* in all; 0: not asked */
};

/* A share of the period between `low` and `high` percent. */
static int64_t part(struct loop *l, int low, int high)
{
	return l->period * random_between(l->r, low, high) / 100;
}

static void range(struct loop *l, uint32_t thread, int64_t k, int64_t start, int64_t end)
{
	struct trace_ranges *r = &l->s->m.trace->ranges;
	maker_range(&l->s->m, thread, start, end, "step", "", RANGE_PUSH_POP);
	r->kind[r->n - 1] = RANGE_START_END;
	r->clipped[r->n - 1] = l->cut && k == l->n - 1;
}

static void op(struct loop *l, uint32_t thread, uint32_t gpu, uint32_t stream, int64_t launch, int64_t start,
               int64_t length)
{
	maker_call(&l->s->m, thread, launch, launch + 5, "cudaLaunchKernel", CALL_LAUNCH, ++l->s->correlation);
	maker_op(&l->s->m, gpu, stream, OP_KERNEL, start, start + length, "gemm", l->s->correlation);
}

/* Workers of one GPU, each with steps of its own, at any phase to each other. */
static void make_workers(struct loop *l)
{
	int64_t workers = random_between(l->r, 2, 5);
	for (int64_t w = 0; w < workers; w++) {
		uint32_t thread = maker_thread(&l->s->m, l->s->process, 200 + w);
		int64_t phase = part(l, 0, 100);
		for (int64_t k = 0; k < l->n; k++) {
			int64_t start = phase + k * l->period + part(l, 0, 3);
			range(l, thread, k, start, start + part(l, 50, 95));
			op(l, thread, l->s->gpu, (uint32_t)(7 + w), start + 20, start + 40, part(l, 10, 40));
		}
	}
	l->truth = (double)l->period / (double)workers;
}

/* Every few steps an op outlives the steps that follow. */
static void make_overtaken(struct loop *l)
{
	int64_t every = random_between(l->r, 2, 7), outlives = part(l, 120, 100 * (int)every - 30);
	for (int64_t k = 0; k < l->n; k++) {
		int64_t start = k * l->period;
		range(l, l->s->main, k, start, start + part(l, 60, 95));
		op(l, l->s->main, l->s->gpu, 7, start + 10, start + 20, part(l, 30, 60));
		if (k % every == 0)
			op(l, l->s->main, l->s->gpu, 8, start + 30, start + 50, outlives + part(l, 0, 4));
	}
	l->truth = (double)l->period;
}

/* The host runs ahead, and each step's stages run while the next steps' do. */
static void make_pipelined(struct loop *l)
{
	int64_t stages = random_between(l->r, 2, 5);
	for (int64_t k = 0; k < l->n; k++) {
		range(l, l->s->main, k, k * l->period, k * l->period + part(l, 60, 95));
		for (int64_t stage = 0; stage < stages; stage++)
			op(l, l->s->main, l->s->gpu, (uint32_t)(7 + stage), k * l->period + 10 * stage,
			   (k + stage) * l->period + part(l, 2, 9), part(l, 70, 90));
	}
	l->truth = (double)l->period;
}

/* Instances of one thread that are open at the same time: requests of an event loop. */
static void make_concurrent(struct loop *l)
{
	for (int64_t k = 0; k < l->n; k++) {
		int64_t start = k * l->period + part(l, 0, 3);
		range(l, l->s->main, k, start, start + part(l, 120, 350));
		op(l, l->s->main, l->s->gpu, 7, start + 10, start + 50, part(l, 20, 90));
	}
	l->truth = (double)l->period;
}

/* Steps that launch nothing in between. */
static void make_sparse(struct loop *l)
{
	for (int64_t k = 0; k < l->n; k++) {
		range(l, l->s->main, k, k * l->period, k * l->period + part(l, 60, 95));
		if (k < 10 || k > l->n - 5 || random_chance(l->r, 92))
			op(l, l->s->main, l->s->gpu, 7, k * l->period + 10, k * l->period + 50, part(l, 40, 60));
	}
	l->truth = (double)l->period;
}

/* Ranks: processes with a GPU each, or threads of one process. */
static void make_ranks(struct loop *l)
{
	int64_t ranks = random_between(l->r, 2, 4);
	bool processes = random_chance(l->r, 50);
	for (int64_t rank = 0; rank < ranks; rank++) {
		uint32_t process = processes ? maker_process(&l->s->m, 300 + rank) : l->s->process;
		uint32_t thread = maker_thread(&l->s->m, process, 300 + rank);
		uint32_t gpu = maker_device(&l->s->m, process, (uint32_t)(processes ? 0 : 1 + rank), TRACE_NONE);
		for (int64_t k = 0; k < l->n; k++) {
			int64_t start = k * l->period + part(l, 0, 5);
			range(l, thread, k, start, start + part(l, 60, 90));
			op(l, thread, gpu, 7, start + 10, start + 40, part(l, 40, 70));
		}
	}
	l->truth = (double)l->period;
	l->steps = l->n - l->cut;
}

static void (*const makers[])(struct loop *) = {make_workers,    make_overtaken, make_pipelined,
                                                make_concurrent, make_sparse,    make_ranks};

static void test_time_per_step(void **state)
{
	struct scene *s = *state;
	int wrong = 0;
	s->warmup = WARMUP;
	for (uint64_t seed = 0; seed < TRACES * sizeof makers / sizeof makers[0]; seed++) {
		struct random r = {.state = 77 + seed};
		struct loop l = {.s = s, .r = &r, .n = random_between(&r, 150, 250), .period = 100000};
		l.cut = random_chance(&r, 30);
		scene_trace_begin(s);
		makers[seed % (sizeof makers / sizeof makers[0])](&l);
		const struct side *side = scene_analyse(s);
		const struct run_result *run = &side->runs[0];
		int64_t sum = 0;
		for (size_t i = run->warmup - 1; i < run->n_periods; i++)
			sum += run->period[i];
		double per_step = (double)run->window_ns / (double)(run->n_steps - run->warmup);
		if (sum != run->window_ns || fabs(per_step / l.truth - 1) > TOLERANCE ||
		    fabs(side->budget.period / per_step - 1) > 1e-12 || (l.steps && (int64_t)run->n_steps != l.steps)) {
			printf("kind %d, seed %d: %.0f ns a step, truth %.0f; %zu steps, window %lld, periods %lld\n",
			       (int)(seed % (sizeof makers / sizeof makers[0])), (int)seed, per_step, l.truth,
			       run->n_steps, (long long)run->window_ns, (long long)sum);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_time_per_step, scene_begin, scene_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
