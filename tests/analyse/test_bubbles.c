/* Bubbles: whose phase they are, and the idle stretches of a device in order of time. Worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "charge/comm.h"
#include "run/run.h"

/* A bubble is of the op that was launched first of those that run; where that ends, another bubble begins. */
static void test_phases(void **state)
{
	(void)state;
	const struct collective_op first = {.start = 0, .end = 20, .launched = 1, .phase = 1};
	const struct collective_op second = {.start = 10, .end = 30, .launched = 2, .phase = 2};
	const struct collective_op third = {.start = 30, .end = 40, .launched = 3, .phase = 2};
	const struct collective_op *const ops[] = {&first, &second, &third};
	const struct collective_op *running[3];
	struct arena arena = {0};
	struct bubble_list list = {.ops = ops, .n_ops = 3, .running = running, .arena = &arena};
	for (int64_t at = 0; at < 40; at += 10)
		bubbles_add(&list, &(struct stretch){at, at + 10});
	assert_int_equal(list.n, 2);
	assert_true(list.bubble[0].start == 0 && list.bubble[0].end == 20 && list.bubble[0].phase == 1);
	assert_true(list.bubble[1].start == 20 && list.bubble[1].end == 40 && list.bubble[1].phase == 2);
	arena_release(&arena);
}

struct scenery {
	int64_t start[3], end[3];
	struct gap_ops gaps[2];
	struct bubble bubbles[3];
	struct trace trace;
	struct device_run device;
	struct run run;
};

/* Ops at 0, 30 and 60, 10 long, and bubbles in each. */
static void build(struct scenery *s)
{
	*s = (struct scenery){.start = {0, 30, 60},
	                      .end = {10, 40, 70},
	                      .gaps = {{0, 1}, {1, 2}},
	                      .bubbles = {{2, 5, 0}, {32, 38, 0}, {61, 64, 0}}};
	s->trace.ops.n = 3;
	s->trace.ops.start = s->start;
	s->trace.ops.end = s->end;
	s->device.gaps = s->gaps;
	s->device.n_gaps = 2;
	s->device.bubbles = s->bubbles;
	s->device.n_bubbles = 3;
	s->run.trace = &s->trace;
}

/* Starts of what idle_next finds, gaps as they are and bubbles negative. */
static void expect(int64_t after, const int64_t *starts, size_t n)
{
	struct scenery s;
	build(&s);
	struct idle_walk walk = {&s.run, &s.device, &s.device, 0, 0};
	struct gap gap;
	const struct bubble *bubble;
	for (size_t i = 0; i < n; i++) {
		assert_true(idle_next(&walk, after, &gap, &bubble));
		assert_int_equal(bubble ? -bubble->start : gap.start, starts[i]);
	}
	assert_false(idle_next(&walk, after, &gap, &bubble));
}

static void test_order(void **state)
{
	(void)state;
	static const int64_t all[] = {-2, 10, -32, 40, -61};
	expect(0, all, 5);
	expect(5, all + 1, 4);  /* the first bubble ends then */
	expect(29, all + 1, 4); /* in a gap */
	expect(35, all + 2, 3);
	expect(64, all, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
