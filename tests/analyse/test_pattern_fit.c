/* How well cuts explain a sequence, counted by hand. */
#include "steps/pattern_cycles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Letters are ops of 10 ns; a space begins a cycle and is none. */
static struct pattern_found share_of(const char *text, struct arena *arena)
{
	size_t n = strlen(text), *cut = ARENA_NEW(arena, n + 2, size_t);
	struct pattern_sequence s = {.token = ARENA_NEW(arena, n, uint32_t),
	                             .at = ARENA_NEW(arena, n, int64_t),
	                             .end = ARENA_NEW(arena, n, int64_t),
	                             .length = ARENA_NEW(arena, n, int64_t),
	                             .pause = ARENA_NEW(arena, n, float),
	                             .flags = ARENA_NEW(arena, n, uint8_t),
	                             .lane = ARENA_NEW(arena, 26, uint32_t),
	                             .n_tokens = 26,
	                             .n_lanes = 1};
	uint32_t cycles = 1;
	for (; *text; text++) {
		if (*text == ' ') {
			cut[cycles++] = s.n;
			continue;
		}
		s.at[s.n] = 10 * (int64_t)s.n;
		s.end[s.n] = s.at[s.n] + 10;
		s.length[s.n] = 10;
		s.token[s.n++] = (uint32_t)(*text - 'a');
	}
	struct pattern_found found;
	pattern_cuts_try(&s, cut, cycles, NAMES_SAME, arena, &found);
	return found;
}

static void what_is_usual_explains_all(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct pattern_found share = share_of("abcd abcd abcd abcd abcd abcd", &arena);
	assert_float_equal(share.ops, 1, 0);
	assert_float_equal(share.time, 1, 0);
	assert_int_equal(share.cycles, 6);
	assert_int_equal(share.n_ops, 24);
	assert_int_equal(share.fit.ops, 4);
	arena_release(&arena);
}

static void what_is_there_beside_it_is_not_explained(void **state)
{
	(void)state;
	struct arena arena = {0};
	/* one of 25 ops, and its time */
	struct pattern_found share = share_of("abcd abcd abcd abcd abcxd abcd", &arena);
	assert_float_equal(share.ops, 1 - 1. / 25, 1e-12);
	assert_float_equal(share.time, 1 - 1. / 25, 1e-12);
	/* and neither is what is missing: one of the 24 that there would be; time that was not spent is no matter */
	share = share_of("abcd abcd abcd abcd abd abcd", &arena);
	assert_float_equal(share.ops, 1 - 1. / 24, 1e-12);
	assert_float_equal(share.time, 1, 0);
	/* a neighbour makes up for it: it only came later */
	share = share_of("abcd abcd abcd abd abccd abcd", &arena);
	assert_float_equal(share.ops, 1, 1e-12);
	arena_release(&arena);
}

/* The capture ended in the last cycle: that is no fault of the loop. */
static void the_last_cycle_may_be_cut_short(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct pattern_found share = share_of("abcd abcd abcd abcd abcd abc", &arena);
	assert_float_equal(share.ops, 1, 0);
	share = share_of("abc abcd abcd abcd abcd abcd", &arena); /* the first may not */
	assert_float_equal(share.ops, 1 - 1. / 24, 1e-12);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_usual_explains_all),
		cmocka_unit_test(what_is_there_beside_it_is_not_explained),
		cmocka_unit_test(the_last_cycle_may_be_cut_short),
	};
	return cmocka_run_group_tests_name("pattern_fit", tests, NULL, NULL);
}
