/* What is said of a change between commits, of series that were made: levels, phases, drivers, what can be compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trend/trend.h"

enum { MS = 1000000, MOST = 300 };

struct history {
	struct arena arena;
	struct trend_commit commit[MOST];
	size_t n;
	unsigned seed;
};

/* `n` commits whose steps take `train` + `other` ms, the latter in a phase; 0.2 % noise. */
static void add(struct history *h, size_t n, double train, const char *phase, double other)
{
	for (size_t i = 0; i < n; i++) {
		h->seed = h->seed * 1103515245 + 12345;
		double noise = 1 + 0.004 * ((h->seed >> 16) % 1000 / 1000.0 - 0.5);
		struct trend_phase *phases = ARENA_NEW(&h->arena, 2, struct trend_phase);
		phases[0] = (struct trend_phase){"train", train * noise * MS};
		if (phase)
			phases[1] = (struct trend_phase){phase, other * noise * MS};
		h->commit[h->n++] = (struct trend_commit){
			.name = "commit",
			.runs = 1,
			.step = (train + other) * noise * MS,
			.part = {[TREND_COMPUTE] = train * noise * MS, [TREND_IDLE] = other * noise * MS},
			.phases = phases,
			.n_phases = phase ? 2 : 1,
			.driver = "1",
			.like = "GPU"};
	}
}

static struct trend build(struct history *h)
{
	return trend_build(h->commit, h->n, TREND_LEAST, &h->arena);
}

static void near(double found, double ms)
{
	assert_float_equal(found, ms * MS, 0.002 * ms * MS);
}

static void levels_reach_to_the_changes_beside(void **state)
{
	/* 100 commits at 100 ms, 60 at 130, 60 at 160: the second change is from 130, although more were at 100. */
	(void)state;
	struct history h = {0};
	add(&h, 100, 100, NULL, 0);
	add(&h, 60, 130, NULL, 0);
	add(&h, 60, 160, NULL, 0);
	struct trend t = build(&h);
	assert_int_equal(t.n_series, 1);
	assert_int_equal(t.series[0].n_changes, 2);
	const struct trend_change *c = t.series[0].changes;
	assert_int_equal(c[0].change.at, 100);
	assert_int_equal(c[1].change.at, 160);
	near(c[0].before, 100);
	near(c[0].after, 130);
	near(c[1].before, 130);
	near(c[1].after, 160);
	near(c[1].part[0][TREND_COMPUTE], 130);
	near(c[1].part[1][TREND_COMPUTE], 160);
	near(t.series[0].level, 160);
	assert_int_equal(t.series[0].since, 160);
	assert_null(c[1].driver_before);
	arena_release(&h.arena);
}

static void a_phase_may_come_or_go(void **state)
{
	/* A phase of 20 ms goes; one of 30 comes. */
	(void)state;
	struct history h = {0};
	add(&h, 60, 80, "load", 20);
	add(&h, 60, 80, NULL, 0);
	add(&h, 60, 80, "eval", 30);
	struct trend t = build(&h);
	assert_int_equal(t.series[0].n_changes, 2);
	const struct trend_change *c = t.series[0].changes;
	assert_string_equal(c[0].phase, "load");
	near(c[0].phase_before, 20);
	assert_true(c[0].phase_after == 0);
	near(c[0].part[0][TREND_IDLE], 20);
	assert_string_equal(c[1].phase, "eval");
	assert_true(c[1].phase_before == 0);
	near(c[1].phase_after, 30);
	arena_release(&h.arena);
}

static void only_what_is_alike_is_compared(void **state)
{
	/* Another GPU for the last 30, of which every third says nothing; a driver that changes with the step. */
	(void)state;
	struct history h = {0};
	add(&h, 60, 100, NULL, 0);
	add(&h, 60, 120, NULL, 0);
	for (size_t i = 60; i < 120; i++)
		h.commit[i].driver = "2";
	add(&h, 30, 70, NULL, 0);
	for (size_t i = 120; i < 150; i++) {
		h.commit[i].like = "another GPU";
		if (i % 3 == 0)
			h.commit[i] = (struct trend_commit){.name = "commit", .unused = "no profile"};
	}
	struct trend t = build(&h);
	assert_int_equal(t.n_series, 2);
	assert_string_equal(t.series[0].like, "another GPU"); /* the latest commit's */
	assert_int_equal(t.series[0].n, 20);
	assert_int_equal(t.series[0].n_changes, 0);
	assert_int_equal(t.series[1].n, 120);
	assert_int_equal(t.series[1].n_changes, 1);
	assert_string_equal(t.series[1].changes[0].driver_before, "1");
	assert_string_equal(t.series[1].changes[0].driver_after, "2");
	arena_release(&h.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_reach_to_the_changes_beside),
		cmocka_unit_test(a_phase_may_come_or_go),
		cmocka_unit_test(only_what_is_alike_is_compared),
	};
	return cmocka_run_group_tests_name("trend", tests, NULL, NULL);
}
