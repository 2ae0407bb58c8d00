/* NVTX ranges by name: instances, time on the host, and the GPU time of what their threads launched inside them. All
 * numbers are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <math.h>

static void expect(struct scene *s, const char *domain, const char *name, double instances, double host, double gpu)
{
	const struct side *side = scene_analyse(s);
	uint32_t d = scene_name(s, domain), n = scene_name(s, name);
	for (uint32_t i = 0; i < side->n_ranges; i++) {
		const struct range_result *r = &side->ranges[i];
		if (r->domain != d || r->name != n)
			continue;
		if (fabs(r->instances - instances) > 1e-9 || fabs(r->host - host) > 1e-6 || fabs(r->gpu - gpu) > 1e-6)
			fail_msg("%s: %g instances, host %g, GPU %g", name, r->instances, r->host, r->gpu);
		return;
	}
	fail_msg("no range %s", name);
}

/* Without steps the run is the unit: everything counts. */
static void test_nested_names_count_work_once(void **state)
{
	struct scene *s = *state;
	scene_range(s, s->main, 0, 1000, "outer");
	scene_range(s, s->main, 100, 600, "inner");
	scene_range(s, s->main, 200, 400, "inner");     /* inside its namesake: its work is there already */
	scene_range(s, s->other, 0, 1000, "elsewhere"); /* another thread launches nothing */
	scene_kernel(s, s->main, 250, 260, 2000, 2700); /* in both */
	scene_kernel(s, s->main, 599, 700, 2700,
	             2800); /* launched at the inner one's last instant, returns behind it */
	scene_kernel(s, s->main, 600, 610, 3000, 3030);   /* at its end: not in it */
	scene_kernel(s, s->main, 1000, 1010, 4000, 4007); /* behind all */
	expect(s, NULL, "outer", 1, 1000, 700 + 100 + 30);
	expect(s, NULL, "inner", 2, 500 + 200, 700 + 100);
	expect(s, NULL, "elsewhere", 1, 1000, 0);
}

static void test_overlapping_stretches_join(void **state)
{
	struct scene *s = *state;
	maker_range(&s->m, s->main, 0, 300, "load", "", RANGE_START_END);
	maker_range(&s->m, s->main, 200, 500, "load", "", RANGE_START_END);
	maker_range(&s->m, s->main, 800, 900, "load", "", RANGE_START_END);
	scene_kernel(s, s->main, 250, 260, 1000, 1100);
	scene_kernel(s, s->main, 400, 410, 1100, 1110);
	scene_kernel(s, s->main, 600, 610, 1200, 1201); /* between two stretches */
	scene_kernel(s, s->main, 850, 860, 1300, 1305);
	expect(s, NULL, "load", 3, 300 + 300 + 100, 100 + 10 + 5);
}

/* PyTorch's backward: another thread launches, and has no ranges. */
static void test_a_thread_without_ranges(void **state)
{
	struct scene *s = *state;
	scene_range(s, s->main, 0, 1000, "backward");
	scene_kernel(s, s->main, 100, 110, 2000, 2040);
	scene_kernel(s, s->other, 500, 510, 3000, 3002);
	scene_kernel(s, s->other, 1500, 1510, 4000, 4100); /* outside */
	expect(s, NULL, "backward", 1, 1000, 42);
}

/* A library opens a range on that thread now and then: what is launched in it counts for it, the rest as before. */
static void test_a_thread_with_a_range_now_and_then(void **state)
{
	struct scene *s = *state;
	scene_range(s, s->main, 0, 1000, "backward");
	maker_range(&s->m, s->other, 200, 300, "gemm", "library", RANGE_PUSH_POP);
	maker_range(&s->m, s->other, 210, 220, "plan", "library", RANGE_PUSH_POP);
	scene_kernel(s, s->other, 100, 110, 1500, 1501);
	scene_kernel(s, s->other, 250, 260, 2000, 2040); /* open: gemm; plan has ended */
	scene_kernel(s, s->other, 500, 510, 3000, 3002);
	expect(s, NULL, "backward", 1, 1000, 1 + 2);
	expect(s, "library", "gemm", 1, 100, 40);
	expect(s, "library", "plan", 1, 10, 0);
}

static void test_domains_stay_apart(void **state)
{
	struct scene *s = *state;
	scene_range(s, s->main, 0, 1000, "sum");
	maker_range(&s->m, s->main, 100, 300, "sum", "library", RANGE_PUSH_POP);
	scene_kernel(s, s->main, 150, 160, 2000, 2040);
	scene_kernel(s, s->main, 500, 510, 3000, 3002);
	expect(s, NULL, "sum", 1, 1000, 42);
	expect(s, "library", "sum", 1, 200, 40);
}

/* Eight steps of 1000, of which the warm-up is left out, and means are per step that is left. */
static void test_only_measured_steps_count(void **state)
{
	struct scene *s = *state;
	s->warmup = 2;
	for (int64_t i = 0; i < 8; i++) {
		int64_t at = 1000 * i;
		scene_range(s, s->main, at, at + 900, arena_format(&s->arena, "step_%d", (int)i));
		scene_range(s, s->main, at + 100, at + 200 + (i < 2 ? 500 : 0), "forward");
		scene_kernel(s, s->main, at + 150, at + 160, at + 300, at + (i < 2 ? 900 : 400));
		scene_kernel(s, s->main, at + 850, at + 860, at + 900, at + 950);
	}
	expect(s, NULL, "step_#", 1, 900, 150);
	expect(s, NULL, "forward", 1, 100, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nested_names_count_work_once, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_overlapping_stretches_join, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_a_thread_without_ranges, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_a_thread_with_a_range_now_and_then, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_domains_stay_apart, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_only_measured_steps_count, scene_begin, scene_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
