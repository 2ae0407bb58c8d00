/* Which gaps happened once, counted by hand: fewer than three alike, or fewer than one in a hundred steps
 * and than ten. Of fewer than eight steps one more of its kind is enough, of two nothing is once. */
#include "charge/idle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 40 };

/* How many of `n` gaps of one kind, each of the length before it and `more` % of it, happened once in so many steps. */
static size_t once_of(size_t n, uint32_t steps, int more)
{
	struct once_candidate list[MOST];
	int64_t length = 2000000;
	for (size_t i = 0; i < n; i++, length += length * more / 100)
		list[i] = (struct once_candidate){i, length, i % 2 ? CAUSE_HOST_BLOCKED : CAUSE_HOST_CODE, 7};
	return once_select(list, n, steps);
}

static void fewer_than_three_are_few(void **state)
{
	(void)state;
	for (uint32_t steps = 0; steps <= 300; steps += 60) {
		assert_int_equal(once_of(2, steps, 0), 2);
		assert_int_equal(once_of(3, steps, 0), 0);
	}
}

static void of_many_steps_one_in_a_hundred_is_few(void **state)
{
	(void)state;
	assert_int_equal(once_of(3, 301, 0), 3);
	assert_int_equal(once_of(4, 301, 0), 0);
	assert_int_equal(once_of(8, 900, 0), 8);
	assert_int_equal(once_of(9, 900, 0), 0);
	assert_int_equal(once_of(9, 100000, 0), 9);
	assert_int_equal(once_of(10, 100000, 0), 0);
}

/* Each twice as long as the one before and a little more: to a gap longer ones are alike, and shorter ones are not. So
 * the longest has one, itself, the next two, and the others three and more. */
static void lengths_tell_them_apart(void **state)
{
	(void)state;
	assert_int_equal(once_of(5, 40, 110), 2);
	assert_int_equal(once_of(5, 40, 5), 0);
}

/* Three waits for input in three steps, each more than twice as long as the one before, are none of once; one is. */
static void of_few_steps_nobody_knows(void **state)
{
	(void)state;
	for (uint32_t steps = 1; steps <= 9; steps++) {
		assert_int_equal(once_of(1, steps, 0), steps > 2);
		assert_int_equal(once_of(2, steps, 0), steps < 8 ? 0 : 2);
		assert_int_equal(once_of(3, steps, 110), steps < 8 ? 0 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_than_three_are_few),
		cmocka_unit_test(of_many_steps_one_in_a_hundred_is_few),
		cmocka_unit_test(of_few_steps_nobody_knows),
		cmocka_unit_test(lengths_tell_them_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
