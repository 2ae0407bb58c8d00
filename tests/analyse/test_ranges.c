/* NVTX ranges by name: instances, time on the host, and the GPU time of what their threads launched inside them. All
 * numbers are worked out by hand, but for the last test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <math.h>
#include <stdlib.h>

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

/* Four frames, end to end, of which two launch: also at their first instant, and what is in one counts once. */
static void test_frames_that_launch(void **state)
{
	struct scene *s = *state;
	for (int64_t t = 0; t < 400; t += 100)
		scene_range(s, s->main, t, t + 100, "frame");
	scene_range(s, s->main, 110, 190, "frame");
	scene_kernel(s, s->main, 100, 105, 1000, 1040);
	scene_kernel(s, s->main, 120, 125, 1100, 1102);
	scene_kernel(s, s->main, 399, 410, 1200, 1300);
	expect(s, NULL, "frame", 5, 400 + 80, 142);
	assert_float_equal(scene_analyse(s)->ranges[0].launching, 2, 0);
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

/* A graph captured in `block`, which holds `attn` and `mlp`, a node in each, and replayed twice: in `work`, and in
 * another `block`, for which that replay counts once. `set up` is around the capture. */
static void test_what_was_captured_counts_at_every_replay(void **state)
{
	struct scene *s = *state;
	scene_range(s, s->main, 100, 500, "set up");
	maker_call(&s->m, s->main, 200, 201, "cudaStreamBeginCapture", CALL_OTHER, 900);
	scene_range(s, s->main, 210, 390, "block");
	scene_range(s, s->main, 220, 280, "attn");
	maker_call(&s->m, s->main, 230, 240, "cudaLaunchKernel", CALL_LAUNCH, 901);
	scene_range(s, s->main, 300, 380, "mlp");
	maker_call(&s->m, s->other, 310, 320, "cudaLaunchKernel", CALL_LAUNCH, 902); /* a thread without ranges */
	scene_range(s, s->main, 1000, 1100, "work");
	scene_range(s, s->main, 2000, 2100, "block");
	for (int64_t t = 1010; t < 3000; t += 1000) {
		uint32_t launch = (uint32_t)t;
		maker_call(&s->m, s->main, t, t + 10, "cudaGraphLaunch", CALL_LAUNCH, launch);
		maker_created(&s->m, maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 100, t + 200, "gemm", launch), 901);
		maker_created(&s->m, maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 200, t + 250, "relu", launch), 902);
	}
	expect(s, NULL, "attn", 1, 60, 2 * 100);
	expect(s, NULL, "mlp", 1, 80, 2 * 50);
	expect(s, NULL, "block", 2, 180 + 100, 2 * 150);
	expect(s, NULL, "work", 1, 100, 150);
	expect(s, NULL, "set up", 1, 400, 0);
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

/* ---- any ranges, against asking every range of every kernel ---- */

enum { RANGES = 40, KERNELS = 60, NAMES = 4 };

struct made {
	int64_t start, end;
	uint32_t thread, name;
};

struct drawn {
	struct made range[RANGES];
	struct {
		int64_t at, ns;
		uint32_t thread;
	} kernel[KERNELS];
	uint32_t n_ranges, n_kernels;
};

static bool is_open(const struct drawn *d, uint32_t thread, uint32_t name, int64_t at)
{
	for (uint32_t i = 0; i < d->n_ranges; i++)
		if (d->range[i].thread == thread && (name == NAMES || d->range[i].name == name) &&
		    d->range[i].start <= at && at < d->range[i].end)
			return true;
	return false;
}

static int64_t open_time(const struct drawn *d, uint32_t thread)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < d->n_ranges; i++)
		sum += d->range[i].thread == thread ? d->range[i].end - d->range[i].start : 0;
	return sum;
}

static void test_any_ranges(void **state)
{
	static const char *const names[NAMES] = {"a", "b", "c", "d"};
	struct scene *s = *state;
	srandom(11);
	s->step = "none";
	for (int round = 0; round < 300; round++) {
		struct drawn d = {.n_ranges = (uint32_t)(1 + random() % RANGES), .n_kernels = KERNELS};
		int64_t most = round % 2 ? 400 : 40; /* many begin and end at the same time */
		scene_trace_begin(s);
		for (uint32_t i = 0; i < d.n_ranges; i++) {
			int64_t start = random() % most;
			d.range[i] = (struct made){start, start + random() % (round % 3 ? most : 10),
			                           random() % 3 ? s->main : s->other, (uint32_t)(random() % NAMES)};
			maker_range(&s->m, d.range[i].thread, d.range[i].start, d.range[i].end, names[d.range[i].name],
			            "", RANGE_START_END);
		}
		for (uint32_t i = 0; i < d.n_kernels; i++) {
			d.kernel[i].at = random() % (2 * most);
			d.kernel[i].ns = 1 + random() % 1000;
			d.kernel[i].thread = random() % 2 ? s->main : s->other;
			int64_t begin = 10000 + random() % 10000; /* in any order on the GPU */
			scene_kernel(s, d.kernel[i].thread, d.kernel[i].at, d.kernel[i].at + 1, begin,
			             begin + d.kernel[i].ns);
		}
		uint32_t main = open_time(&d, s->main) >= open_time(&d, s->other) ? s->main : s->other;
		for (uint32_t name = 0; name < NAMES; name++) {
			double instances = 0, host = 0, gpu = 0;
			for (uint32_t i = 0; i < d.n_ranges; i++) {
				instances += d.range[i].name == name;
				host += d.range[i].name == name ? (double)(d.range[i].end - d.range[i].start) : 0;
			}
			for (uint32_t i = 0; i < d.n_kernels; i++) {
				bool own = is_open(&d, d.kernel[i].thread, NAMES, d.kernel[i].at);
				gpu += is_open(&d, own ? d.kernel[i].thread : main, name, d.kernel[i].at)
				               ? (double)d.kernel[i].ns
				               : 0;
			}
			if (instances > 0)
				expect(s, NULL, names[name], instances, host, gpu);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nested_names_count_work_once, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_overlapping_stretches_join, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_frames_that_launch, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_a_thread_without_ranges, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_what_was_captured_counts_at_every_replay, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_a_thread_with_a_range_now_and_then, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_domains_stay_apart, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_only_measured_steps_count, scene_begin, scene_end),
		SCENE(test_any_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
