/* Numbers of gen/steps/step_rules.h, each between two sequences that it tells apart and that a third more or less
 * would not: a lower-case letter is a kernel of 1 us, > a copy in, < a copy out. The numbers here are written out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps/pattern_cycles.h"

#include <string.h>

enum { ROOM = 20000, LENGTH = 1000 };

struct written {
	char text[ROOM];
	float pause[ROOM]; /* ns before an op */
	size_t n;
	struct arena arena;
};

static void add(struct written *w, const char *text, int times)
{
	for (; times; times--)
		for (const char *c = text; *c; c++) {
			assert_true(w->n < ROOM);
			w->text[w->n++] = *c;
		}
}

static struct pattern_sequence sequence_of(struct written *w)
{
	struct pattern_sequence s = {.n = w->n, .n_tokens = 128, .n_lanes = 1, .pause = w->pause};
	s.token = ARENA_NEW(&w->arena, w->n, uint32_t);
	s.at = ARENA_NEW(&w->arena, w->n, int64_t);
	s.end = ARENA_NEW(&w->arena, w->n, int64_t);
	s.length = ARENA_NEW(&w->arena, w->n, int64_t);
	s.flags = ARENA_NEW(&w->arena, w->n, uint8_t);
	s.lane = ARENA_NEW(&w->arena, s.n_tokens, uint32_t);
	int64_t now = 0;
	for (size_t i = 0; i < w->n; i++) {
		char c = w->text[i];
		now += LENGTH + (int64_t)w->pause[i];
		s.token[i] = (uint32_t)c;
		s.at[i] = now;
		s.length[i] = LENGTH;
		s.end[i] = now += LENGTH;
		s.flags[i] = c == '>' ? PATTERN_HOST | PATTERN_INPUT : c == '<' ? PATTERN_HOST : PATTERN_WORK;
	}
	return s;
}

/* The loops that are found; what was written is forgotten. `first` receives the largest one, its times left out. */
static uint32_t loops_of(struct written *w, struct run_loop *first, int64_t *begin)
{
	struct pattern_sequence s = sequence_of(w);
	struct pattern found;
	pattern_find(&s, &w->arena, &found);
	*first = found.n_loops ? found.loops[0] : (struct run_loop){0};
	*begin = found.n_loops ? found.loops[0].at[1] : 0;
	arena_release(&w->arena);
	*w = (struct written){0};
	return found.n_loops;
}

/* RULE_SPARE: a last step that lacks two operations is one, and one that lacks three was cut. */
static void a_last_step_lacks_two(void **state)
{
	(void)state;
	struct written w = {0};
	struct run_loop loop;
	int64_t begin;
	add(&w, "abcdefghijklmnopqrst", 10);
	add(&w, "abcdefghijklmnopqr", 1);
	assert_int_equal(loops_of(&w, &loop, &begin), 1);
	assert_int_equal(loop.n, 11);
	add(&w, "abcdefghijklmnopqrst", 10);
	add(&w, "abcdefghijklmnopq", 1);
	assert_int_equal(loops_of(&w, &loop, &begin), 1);
	assert_int_equal(loop.n, 10);
}

/* RULE_CYCLES: five steps are a loop, four are none. RULE_CYCLES_VARIED: eight where names differ, and the begin of the
 * next. */
static void so_many_steps(void **state)
{
	(void)state;
	struct written w = {0};
	struct run_loop loop;
	struct pattern_found found;
	int64_t begin;
	add(&w, "abc", 5);
	assert_int_equal(loops_of(&w, &loop, &begin), 1);
	add(&w, "abc", 4);
	assert_int_equal(loops_of(&w, &loop, &begin), 0);
	for (int n = 8; n <= 9; n++) {
		for (int i = 0; i < n; i++) {
			add(&w, ">a", 1);
			add(&w, (const char *[]){"x", "y", "z"}[i * i % 3], 1);
			add(&w, "bcdefghijk<", 1);
		}
		struct pattern_sequence s = sequence_of(&w);
		assert_int_equal(pattern_cuts_at(&s, '>', (size_t)n, NAMES_OF_KINDS, &w.arena, &found), n == 9);
		arena_release(&w.arena);
		w = (struct written){0};
	}
}

/* RULE_COMMON: of forty cycles eight are equal, and say what is usual; seven do not. */
static void equal_cycles_say_what_is_usual(void **state)
{
	(void)state;
	for (int equal = 7; equal <= 8; equal++) {
		struct written w = {0};
		struct pattern_fit fit;
		size_t cut[42];
		for (int k = 0; k <= 40; k++) {
			cut[k] = w.n;
			add(&w, "ab", 1);
			add(&w, k < equal || k == 40 ? "a" : (char[]){(char)('#' + k), 0}, 1);
		}
		struct pattern_sequence s = sequence_of(&w);
		assert_int_equal(pattern_fit_init(&fit, &s, cut, 41, false, &w.arena), equal == 8);
		arena_release(&w.arena);
	}
}

/* RULE_PAUSE: a step begins behind a pause that is longer than the one before what comes first by a quarter. */
static void a_step_begins_at_its_longest_pause(void **state)
{
	(void)state;
	for (int longer = 0; longer < 2; longer++) {
		struct written w = {0};
		struct run_loop loop;
		int64_t begin;
		for (int k = 0; k < 30; k++) {
			w.pause[w.n] = 10000;
			w.pause[w.n + 2] = longer ? 13500 : 12000;
			add(&w, "abcd", 1);
		}
		add(&w, "ab", 1);
		struct pattern_sequence s = sequence_of(&w);
		int64_t a = s.at[4], c = s.at[2], next = s.at[6];
		assert_int_equal(loops_of(&w, &loop, &begin), 1);
		if (longer)
			assert_true(begin == c || begin == next);
		else
			assert_int_equal(begin, a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_last_step_lacks_two),
		cmocka_unit_test(so_many_steps),
		cmocka_unit_test(equal_cycles_say_what_is_usual),
		cmocka_unit_test(a_step_begins_at_its_longest_pause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
