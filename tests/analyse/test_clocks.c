/* Clocks under load, worked out by hand, and what is said when the two sides ran at different ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "said.h"
#include "scene.h"

#include <math.h>
#include <string.h>

enum { STEPS = 20 };

/* A sample of the scene's GPU; the rest is unknown. */
struct shot {
	int64_t time;
	int32_t sm, busy, power;
	int64_t limits; /* -1: unknown */
};

/* Steps of 1000 ns, whose kernels end at 900, 1900, …: with one step of warm-up the window is [900, 19900). */
/* A kernel of `length` a step, and one of `second` after it where that is not 0; the last ones take `drift` per cent
 * longer. */
static const struct trace *drifting_kernels(struct scene *s, const struct shot *shot, size_t n, int64_t length,
                                            int64_t second, int64_t drift)
{
	const int64_t from[2] = {length, second};
	scene_trace_begin(s);
	uint32_t gpu = maker_gpu(&s->m, "NVIDIA H200"), other = maker_gpu(&s->m, "NVIDIA T400");
	s->m.trace->devices[0].gpu = gpu;
	for (int64_t t = 0; t < STEPS * 1000; t += 1000) {
		length = from[0] + from[0] * drift * t / (STEPS * 100000);
		second = from[1] + from[1] * drift * t / (STEPS * 100000);
		scene_range(s, s->main, t, t + 520, "step");
		scene_kernel(s, s->main, t + 400, t + 480, t + 500, t + 500 + length);
		s->m.trace->ops.bytes[s->m.trace->ops.n - 1] = 132; /* blocks */
		if (!second)
			continue;
		scene_kernel(s, s->main, t + 480, t + 490, t + 500 + length, t + 500 + length + second);
		s->m.trace->ops.bytes[s->m.trace->ops.n - 1] = 132;
		s->m.trace->ops.name[s->m.trace->ops.n - 1] = names_add(&s->names, "second", 6);
	}
	s->m.trace->gpu_samples = ARENA_NEW(&s->arena, n + 1, struct trace_gpu_sample);
	for (size_t i = 0; i < n; i++)
		s->m.trace->gpu_samples[i] = (struct trace_gpu_sample){.time = shot[i].time,
		                                                       .gpu = gpu,
		                                                       .sm_mhz = shot[i].sm,
		                                                       .memory_mhz = -1,
		                                                       .power_mw = shot[i].power,
		                                                       .temperature_c = -1,
		                                                       .busy_percent = shot[i].busy,
		                                                       .has_limits = shot[i].limits >= 0,
		                                                       .limits = (uint64_t)shot[i].limits};
	s->m.trace->gpu_samples[n] = (struct trace_gpu_sample){.time = 2000, .gpu = other, .sm_mhz = 1};
	s->m.trace->n_gpu_samples = n + 1;
	return maker_link(&s->m);
}

static const struct trace *sampled_kernels(struct scene *s, const struct shot *shot, size_t n, int64_t length,
                                           int64_t second)
{
	return drifting_kernels(s, shot, n, length, second, 0);
}

static const struct trace *sampled_trace(struct scene *s, const struct shot *shot, size_t n)
{
	return sampled_kernels(s, shot, n, 400, 0);
}

static const struct analysis *compare(struct scene *s, const struct trace *a, const struct trace *b)
{
	static const struct analyse_options options = {.warmup = 1, .gates.max_regression = -1};
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = a, .file = "a"}, {.trace = b, .file = "b"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &options, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

#define DIFFERENCE(a, word) said_in(&(a)->comparison.differences, (a)->names, word)
#define NOTE(a, word) said_in(&(a)->comparison.notes, (a)->names, word)
#define REASON(a, word) said_in(&(a)->verdict.reasons, (a)->names, word)

static void test_under_load(void **state)
{
	static const struct shot shots[] = {
		{899, 100, 90, 100000, 4},     /* before the window */
		{900, 1000, 90, 200000, 4},    /* its first instant */
		{5000, 345, 0, 70000, 1},      /* idle by its utilisation */
		{6000, 2000, 1, 300000, 0x24}, /* power and heat */
		{7000, 1500, 50, -1, 1},       /* busy, whatever the reason says */
		{8000, 210, -1, 60000, 1},     /* idle by the reason, utilisation unknown */
		{9000, -1, 90, 400000, -1},    {19899, 1800, -1, 500000, 0x100}, /* its last */
		{19900, 100, 90, 100000, 4},                                     /* after it */
	};
	struct scene *s = *state;
	s->trace = sampled_trace(s, shots, sizeof shots / sizeof *shots);
	s->warmup = 1;
	const struct clocks *c = &scene_analyse(s)->devices[0].clocks;
	assert_int_equal(c->samples, 5);
	assert_int_equal(c->idle, 2);
	/* 1000 1500 1800 2000 */
	assert_int_equal(c->sm_mhz.n, 4);
	assert_true(c->sm_mhz.median == 1650 && c->sm_mhz.min == 1000 && c->sm_mhz.max == 2000);
	/* 200 300 400 500 W */
	assert_int_equal(c->power_w.n, 4);
	assert_true(c->power_w.median == 350 && c->power_w.min == 200 && c->power_w.max == 500);
	assert_int_equal(c->memory_mhz.n, 0);
	assert_int_equal(c->temperature_c.n, 0);
	/* 4, 0x24, 1, 0x100 */
	assert_int_equal(c->judged, 4);
	assert_true(c->limited[LIMIT_POWER] == 0.5 && c->limited[LIMIT_THERMAL] == 0.25);
	assert_true(c->limited[LIMIT_OTHER] == 0.25 && c->limited[LIMIT_HARDWARE] == 0);
}

/* The window holds no sample: the last one before it and the first one after it count, if they are near. */
static void test_beside_the_window(void **state)
{
	enum { START = 900, END = 19900, NEAR = 1500000000 };
	static const struct {
		struct shot shots[5];
		uint32_t samples, idle, beside, blind;
		double sm;
		const char *note;
	} cases[] = {
		/* in any order */
		{{{END + 5, 1, 90, 1, 0},
	          {END, 1800, 90, 1, 4},
	          {0, 2, 90, 1, 0},
	          {START - 1, 1600, 90, 1, 0},
	          {-9, 3, 90, 1, 0}},
	         2,
	         0,
	         2,
	         0,
	         1700,
	         "are used"},
		/* one side is too far by a nanosecond */
		{{{START - NEAR - 1, 1, 90, 1, 0}, {END + NEAR, 1800, 90, 1, 0}}, 1, 0, 1, 0, 1800, "are used"},
		{{{START - NEAR, 1500, 90, 1, 0}, {END + NEAR + 1, 1, 90, 1, 0}}, 1, 0, 1, 0, 1500, "are used"},
		{{{START - NEAR - 1, 1, 90, 1, 0}, {END + NEAR + 1, 1, 90, 1, 0}},
	         0,
	         0,
	         0,
	         1,
	         0,
	         "or within 1.5 s of it"},
		/* idle ones are left out as ever, and no other is looked for */
		{{{START - 2, 1, 90, 1, 0}, {START - 1, 345, 0, 1, 1}, {END, 1800, 90, 1, 0}},
	         1,
	         1,
	         1,
	         0,
	         1800,
	         "are used"},
		/* an idle one in the window: the GPU was idle */
		{{{START - 1, 1, 90, 1, 0}, {START, 345, 0, 1, 1}, {END, 1, 90, 1, 0}}, 0, 1, 0, 0, 0, NULL},
		/* nothing was sampled */
		{{{0}}, 0, 0, 0, 0, 0, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene *s = *state;
		size_t n = 0;
		while (n < 5 && cases[i].shots[n].sm)
			n++;
		s->trace = sampled_trace(s, cases[i].shots, n);
		s->warmup = 1;
		const struct side *side = scene_analyse(s);
		const struct clocks *c = &side->devices[0].clocks;
		assert_int_equal(c->samples, cases[i].samples);
		assert_int_equal(c->idle, cases[i].idle);
		assert_int_equal(c->beside, cases[i].beside);
		assert_int_equal(c->blind, cases[i].blind);
		assert_true(c->sm_mhz.median == cases[i].sm);
		const char *note = said_in(&side->quality.notes, NULL, "No clock sample");
		assert_true(cases[i].note ? note && strstr(note, cases[i].note) : !note);
	}
}

/* Samples beside the window show a difference, but nothing is built on them. */
static void test_beside_the_windows_of_a_pair(void **state)
{
	struct scene *s = *state;
	const struct shot fast[] = {{899, 1980, 99, 1, 0}, {19900, 1980, 99, 1, 0}};
	const struct shot slow[] = {{899, 1755, 99, 1, 0}, {19900, 1755, 99, 1, 0}};
	const struct analysis *a = compare(s, sampled_trace(s, fast, 2), sampled_trace(s, fast, 2));
	assert_int_equal(a->side[1].devices[0].clocks.beside, 2);
	assert_null(REASON(a, "SM clock"));
	a = compare(s, sampled_trace(s, fast, 2), sampled_trace(s, slow, 2));
	assert_true(a->comparison.comparable);
	assert_non_null(NOTE(a, "These are medians of 2 and 2 samples"));
}

/* Medians of 1980 and of `mhz`, with `n` samples each. */
static const struct analysis *with_clocks(struct scene *s, int32_t mhz, size_t n)
{
	struct shot a[8], b[8];
	for (size_t i = 0; i < n; i++) {
		a[i] = (struct shot){2000 + 1000 * (int64_t)i, 1980, 99, 500000, 0};
		b[i] = (struct shot){2000 + 1000 * (int64_t)i, mhz, 99, 500000, 0};
	}
	const struct trace *baseline = sampled_trace(s, a, n), *fixed = sampled_trace(s, b, n);
	return compare(s, baseline, fixed);
}

/* All kernels take 0.8 times as long: a higher clock may be why, unless samples say that it was the same, or there is
 * but one, which faster code may be why of, too. */
static void test_all_kernels_faster(void **state)
{
	struct scene *s = *state;
	const struct {
		int32_t mhz;
		size_t n;
		int64_t second;
		enum same_work work;
	} cases[] = {{0, 0, 50, SAME_WORK_SAME},       {1584, 4, 50, SAME_WORK_SAME}, {1980, 2, 50, SAME_WORK_SAME},
	             {1980, 4, 50, SAME_WORK_UNKNOWN}, {0, 0, 0, SAME_WORK_UNKNOWN},  {1584, 4, 0, SAME_WORK_SAME},
	             {1980, 2, 0, SAME_WORK_UNKNOWN}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct shot a[4], b[4];
		for (size_t k = 0; k < cases[i].n; k++) {
			a[k] = (struct shot){2000 + 1000 * (int64_t)k, cases[i].mhz, 99, 500000, 0};
			b[k] = a[k];
			b[k].sm = 1980;
		}
		const struct trace *baseline = sampled_kernels(s, a, cases[i].n, 400, cases[i].second);
		const struct trace *fixed = sampled_kernels(s, b, cases[i].n, 320, cases[i].second * 4 / 5);
		assert_int_equal(compare(s, baseline, fixed)->comparison.same_work, cases[i].work);
	}
}

/* A clock that drifts within a run hides by how much it is apart; it is allowed for all the same. */
static void test_a_clock_that_drifts(void **state)
{
	struct scene *s = *state;
	for (int64_t drift = 0; drift <= 20; drift += 5) {
		const struct trace *baseline = drifting_kernels(s, NULL, 0, 400, 50, 0);
		const struct trace *fixed = drifting_kernels(s, NULL, 0, 320, 40, drift);
		const struct analysis *a = compare(s, baseline, fixed);
		assert_int_equal(a->comparison.same_work, SAME_WORK_SAME);
		assert_true(fabs(a->comparison.as_clock - log(1.25 / (1 + (double)drift / 200))) < 0.02);
	}
}

static void test_other_clocks(void **state)
{
	struct scene *s = *state;
	/* 225 of 1980: 11.36 % */
	const struct analysis *a = with_clocks(s, 1755, 4);
	assert_false(a->comparison.comparable);
	assert_string_equal(
		DIFFERENCE(a, "SM clock"),
		"The SM clock under load differs by 11.4 %: 1980 MHz in the baseline, 1755 MHz in the fixed "
		"side. These are medians of 4 and 4 samples. A clock changes GPU times, whatever the fix "
		"does.");
	assert_null(REASON(a, "SM clock"));
	/* 40 of 1980 are 2.02 %, 39 are 1.97 % */
	assert_non_null(DIFFERENCE(with_clocks(s, 1940, 4), "differs by 2.0 %"));
	a = with_clocks(s, 1941, 4);
	assert_true(a->comparison.comparable);
	assert_null(NOTE(a, "SM clock"));
	assert_string_equal(REASON(a, "SM clock"),
	                    "The SM clock under load explains no difference: 1980 MHz in the baseline, 1941 MHz in the "
	                    "fixed side (medians of 4 and 4 samples).");
	/* Two samples are no median to rely on. */
	a = with_clocks(s, 1755, 2);
	assert_true(a->comparison.comparable);
	assert_non_null(NOTE(a, "These are medians of 2 and 2 samples"));
	/* … nor does the same clock in two samples explain anything away. */
	assert_null(REASON(with_clocks(s, 1980, 2), "SM clock"));
	assert_non_null(REASON(with_clocks(s, 1980, 3), "SM clock"));
}

/* Of ten samples of the fixed side so many lie at 1410 MHz, and one while the clock goes up, at 345. */
static const struct analysis *held_for_a_while(struct scene *s, size_t slow, bool rising)
{
	struct shot a[10], b[10];
	for (size_t i = 0; i < 10; i++) {
		int32_t mhz = i < 10 - slow ? 1980 : 1410;
		a[i] = (struct shot){1000 + 1000 * (int64_t)i, 1980, 99, 500000, 0};
		b[i] = (struct shot){1000 + 1000 * (int64_t)i, rising && i == 0 ? 345 : mhz, 99, 500000, 0};
	}
	return compare(s, sampled_trace(s, a, 10), sampled_trace(s, b, 10));
}

/* Equal medians explain nothing away where the clock was low for three samples of ten. */
static void test_low_for_a_while(void **state)
{
	/* without the least and the most (6 * 1980 + 2 * 1410) / 8 = 1837.5, 7.197 % below 1980 */
	const struct analysis *a = held_for_a_while(*state, 3, false);
	assert_int_equal((int)a->side[1].devices[0].clocks.sm_mhz.median, 1980);
	assert_true(a->side[1].devices[0].clocks.sm_mhz.mean == 1837.5);
	assert_non_null(DIFFERENCE(a, "differs by 7.2 %: 1980 MHz in the baseline, 1838 MHz in the fixed side. These "
	                              "are means of 10 and 10 samples."));
	assert_null(REASON(a, "explains no difference"));
	a = held_for_a_while(*state, 0, true);
	assert_null(DIFFERENCE(a, "SM clock"));
	assert_non_null(REASON(a, "explains no difference"));
}

static void test_unknown_clocks(void **state)
{
	struct scene *s = *state;
	const struct analysis *a = with_clocks(s, -1, 4); /* known on one side only */
	assert_true(a->comparison.comparable);
	assert_null(NOTE(a, "SM clock"));
	assert_null(REASON(a, "SM clock"));
	a = with_clocks(s, 1755, 0);
	assert_true(a->comparison.comparable);
	assert_null(REASON(a, "SM clock"));
	assert_int_equal(a->side[0].devices[0].clocks.samples, 0);
}

static void test_held_back(void **state)
{
	static const struct shot hot[] = {
		{2000, 1980, 99, 1, 0x4}, {3000, 1980, 99, 1, 0x4}, {4000, 1980, 99, 1, 0x24}, {5000, 1980, 99, 1, 0}};
	static const struct shot cool[] = {
		{2000, 1980, 99, 1, 0}, {3000, 1980, 99, 1, 0x2}, {4000, 1980, 99, 1, 0}, {5000, 1980, 0, 1, 0x4}};
	static const struct shot warm[] = {
		{2000, 1980, 99, 1, 0}, {3000, 1980, 99, 1, 0x4}, {4000, 1980, 99, 1, 0}, {5000, 1980, 99, 1, 0}};
	struct scene *s = *state;
	const struct trace *h = sampled_trace(s, hot, 4), *c = sampled_trace(s, cool, 4),
			   *w = sampled_trace(s, warm, 4);
	assert_string_equal(REASON(compare(s, c, h), "held back"),
	                    "Only the fixed side had its GPU clock held back: power cap in 75 %, heat in 25 % of 4 "
	                    "samples under load.");
	assert_non_null(strstr(REASON(compare(s, h, c), "held back"), "Only the baseline"));
	/* The power cap on both sides: only the heat is one's own. */
	assert_string_equal(REASON(compare(s, h, w), "held back"),
	                    "Only the baseline had its GPU clock held back: heat in 25 % of 4 samples under load.");
	assert_null(REASON(compare(s, c, c), "held back"));
	/* Two samples prove nothing about the other side. */
	assert_null(REASON(compare(s, sampled_trace(s, cool, 2), h), "held back"));
}

static void test_incomplete(void **state)
{
	struct scene *s = *state;
	const struct trace *whole = sampled_trace(s, NULL, 0), *cut = sampled_trace(s, NULL, 0);
	s->m.trace->source.incomplete = "the program was killed by SIGKILL";
	s->m.trace->source.lost = 12;
	const struct analysis *a = compare(s, whole, cut);
	assert_string_equal(REASON(a, "incomplete"),
	                    "Only the capture of the fixed side is incomplete (the program was "
	                    "killed by SIGKILL), so its end is missing.");
	assert_non_null(said_in(&a->side[1].quality.notes, a->names,
	                        "The capture of b is incomplete: the program was killed by SIGKILL."));
	assert_non_null(said_in(&a->side[1].quality.notes, a->names, "12 records were lost while b was captured."));
	assert_null(REASON(compare(s, whole, whole), "incomplete"));
	assert_string_equal(
		REASON(compare(s, cut, cut), "incomplete"),
		"Both captures are incomplete (the program was killed by SIGKILL), so their ends are missing.");
}

static void test_others_use_the_gpu(void **state)
{
	struct scene *s = *state;
	const struct trace *alone = sampled_trace(s, NULL, 0), *shared = sampled_trace(s, NULL, 0);
	s->m.trace->source.others = 2;
	const struct analysis *a = compare(s, alone, shared);
	assert_string_equal(REASON(a, "ther processes"),
	                    "Other processes used the GPU when the program began, only in the fixed side. No profile "
	                    "shows their work, which makes steps longer.");
	assert_string_equal(said(a->turning.shared, a->names), REASON(a, "ther processes"));
	assert_non_null(said_in(&a->side[1].quality.notes, a->names,
	                        "2 other processes used a GPU of b when its program began. Their work is not in the "
	                        "profile, and makes steps longer."));
	assert_non_null(strstr(REASON(compare(s, shared, alone), "ther processes"), "only in the baseline"));
	assert_non_null(strstr(REASON(compare(s, shared, shared), "ther processes"), "on both sides"));
	a = compare(s, alone, alone);
	assert_null(REASON(a, "ther processes"));
	assert_null(a->turning.shared);
}

/* Two ranks whose processes have numbers in this order; the GPU of rank 1 is slower. */
static const struct trace *two_ranks(struct scene *s, int32_t first)
{
	enum { SAMPLES = 5 };
	scene_trace_begin(s);
	uint32_t process[2] = {s->process, maker_process(&s->m, 200)}, gpu[2], device[2], thread[2];
	thread[0] = s->main;
	thread[1] = maker_thread(&s->m, process[1], 200);
	for (int p = 0; p < 2; p++)
		gpu[p] = maker_gpu(&s->m, p ? "NVIDIA H200 B" : "NVIDIA H200 A");
	s->m.trace->devices[0].gpu = gpu[0];
	device[0] = s->gpu;
	device[1] = maker_device(&s->m, process[1], 0, gpu[1]);
	s->m.trace->gpu_samples = ARENA_NEW(&s->arena, 2 * SAMPLES, struct trace_gpu_sample);
	for (int p = 0; p < 2; p++) {
		int32_t rank = p ? 1 - first : first;
		s->m.trace->processes[process[p]].rank = rank;
		for (int64_t t = 0; t < STEPS * 1000; t += 1000) {
			uint32_t id = ++s->correlation;
			scene_range(s, thread[p], t, t + 520, "step");
			maker_call(&s->m, thread[p], t + 400, t + 480, "cudaLaunchKernel", CALL_LAUNCH, id);
			maker_op(&s->m, device[p], 7, OP_KERNEL, t + 500, t + 900, "gemm", id);
		}
		for (int i = 0; i < SAMPLES; i++)
			s->m.trace->gpu_samples[s->m.trace->n_gpu_samples++] =
				(struct trace_gpu_sample){.time = 2000 + 1000 * i,
			                                  .gpu = gpu[p],
			                                  .sm_mhz = rank ? 1200 : 1980,
			                                  .memory_mhz = -1,
			                                  .power_mw = -1,
			                                  .temperature_c = -1,
			                                  .busy_percent = 90};
	}
	return maker_link(&s->m);
}

static void test_ranks_are_compared_with_themselves(void **state)
{
	/* Which process got the lower number is an accident: the second side's ranks come the other way round. */
	struct scene *s = *state;
	const struct trace *baseline = two_ranks(s, 0), *fixed = two_ranks(s, 1);
	const struct analysis *a = compare(s, baseline, fixed);
	assert_true(a->side[0].devices[0].clocks.sm_mhz.median == 1980);
	assert_true(a->side[1].devices[0].clocks.sm_mhz.median == 1200);
	assert_null(said_in(&a->comparison.differences, a->names, "SM clock"));
	assert_null(said_in(&a->comparison.notes, a->names, "SM clock"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_under_load),         TEST(test_other_clocks),
		TEST(test_all_kernels_faster), TEST(test_a_clock_that_drifts),
		TEST(test_low_for_a_while),    TEST(test_unknown_clocks),
		TEST(test_held_back),          TEST(test_incomplete),
		TEST(test_others_use_the_gpu), TEST(test_ranks_are_compared_with_themselves),
		TEST(test_beside_the_window),  TEST(test_beside_the_windows_of_a_pair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
