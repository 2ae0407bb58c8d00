#include "base/sort.h"
#include "charge/tally.h"
#include "random_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The middle of integers that cannot be asked again, few and many, and what lies above a bound. */
static void test_tally(void **state)
{
	(void)state;
	struct random random = {.state = 7};
	const size_t sizes[] = {0, 1, 2, 999, 1000, TALLY_FEW, TALLY_FEW + 1, TALLY_FEW + 40000};
	/* what is counted by value, or not, or both */
	const int64_t tops[] = {5000, 2 * TALLY_SHORT, INT64_C(1) << 40};
	enum { SIZES = sizeof sizes / sizeof *sizes, TOPS = sizeof tops / sizeof *tops };
	for (size_t k = 0; k < SIZES * TOPS; k++) {
		size_t s = k / TOPS;
		struct arena arena = {0};
		struct tally tally = {0};
		double *list = ARENA_NEW(&arena, sizes[s] + 1, double), above = 0;
		for (size_t i = 0; i < sizes[s]; i++) {
			int64_t value = random_between(&random, 0, tops[k % TOPS]);
			list[i] = (double)value;
			above += value > 4000 ? (double)value - 10 : 0;
			tally_add(&tally, &arena, value);
		}
		sort_doubles(list, sizes[s]);
		double middle = sizes[s] ? (list[(sizes[s] - 1) / 2] + list[sizes[s] / 2]) / 2 : 0;
		assert_true(tally.many == (sizes[s] > TALLY_FEW));
		assert_true(tally_median(&tally) == middle);
		assert_true(tally_excess(&tally, 4000, 10) <= above * (1 + 1e-12));
		assert_true(tally_excess(&tally, 4000, 10) >= above * (1 - 1e-12));
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tally),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
