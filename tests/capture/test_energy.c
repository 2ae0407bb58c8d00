/* Energy counters, sampled and interpolated: by hand, and on the stand-in for NVML, whose first GPU draws 100 W. */
#include "capture/gpu.h"

#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void between_values(void **unused)
{
	(void)unused;
	static const struct energy_value list[] = {{100, 10}, {200, 30}, {400, 40}};
	assert_true(energy_at(list, 3, 100) == 10);
	assert_true(energy_at(list, 3, 150) == 20);
	assert_true(energy_at(list, 3, 300) == 35);
	assert_true(energy_at(list, 3, 50) == 10); /* before and behind them nothing is known */
	assert_true(energy_at(list, 3, 500) == 40);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* 5.2 s at 100 W are 520 J; the first and the last value of the counter are seen up to 20 ms late, each. */
static void of_a_stand_in(void **unused)
{
	(void)unused;
	struct arena arena = {0};
	unsetenv("STANDIN_NVML");
	struct energy *e = energy_begin(STANDIN_NVML_NEW, &arena);
	assert_non_null(e);
	nanosleep(&(struct timespec){0, 200000000}, NULL);
	int64_t from = now();
	nanosleep(&(struct timespec){5, 200000000}, NULL);
	int64_t to = now();
	energy_end(e, to - from);
	const char *text = energy_text(e, from, to, &arena), *is = strchr(text, '=');
	double joules = strtod(is + 1, NULL) / 1e3, right = (double)(to - from) / 1e9 * 100;
	if (joules < right * .98 || joules > right * 1.02)
		fail_msg("%g J, and %g are right", joules, right);
	assert_non_null(strstr(text, " GPU-00000001-1111-2222-3333-444444444444=-1"));
	/* a window of less than 5 s says nothing */
	text = energy_text(e, from, from + ENERGY_LEAST_NS - 1, &arena);
	assert_true(strtol(strchr(text, '=') + 1, NULL, 10) == ENERGY_SHORT);
	arena_release(&arena);
}

/* What is said of a window of `times` the least: mJ, or why it is not known. */
static long say_window(const struct energy *e, int64_t from, int times, struct arena *arena)
{
	const char *text = energy_text(e, from, from + times * ENERGY_LEAST_NS, arena);
	return strtol(strchr(text, '=') + 1, NULL, 10);
}

/* Whether a window of five times the least is long enough for looks at this counter, and one of twice the least where
 * they are quick. */
static bool is_as_far_apart(bool slow)
{
	struct arena arena = {0};
	if (slow)
		setenv("STANDIN_NVML", "slow", 1);
	else
		unsetenv("STANDIN_NVML");
	int64_t from = now();
	struct energy *e = energy_begin(STANDIN_NVML_NEW, &arena);
	assert_non_null(e);
	nanosleep(&(struct timespec){0, 100000000}, NULL);
	energy_end(e, 0);
	const bool right =
		(say_window(e, from, 2, &arena) == ENERGY_SHORT) == slow && say_window(e, from, 5, &arena) >= 0;
	arena_release(&arena);
	return right;
}

/* A look that takes 10 ms holds the program up as long: there is one in 2 s, and a window of 20 s is the least. A busy
 * machine may hold up a look, too: some are tried. */
static void looks_that_take_long(void **unused)
{
	(void)unused;
	for (int slow = 0; slow < 2; slow++) {
		int tries = 20;
		while (tries && !is_as_far_apart(slow))
			tries--;
		assert_true(tries);
	}
	unsetenv("STANDIN_NVML");
}

static void without(void **unused)
{
	(void)unused;
	struct arena arena = {0};
	assert_null(energy_begin("/nonexistent/libnvidia-ml.so.1", &arena));
	energy_end(NULL, 0);
	assert_null(energy_text(NULL, 0, 1, &arena));
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(between_values), cmocka_unit_test(of_a_stand_in),
	                                   cmocka_unit_test(looks_that_take_long), cmocka_unit_test(without)};
	return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
