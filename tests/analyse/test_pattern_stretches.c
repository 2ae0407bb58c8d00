/* A loop that goes on under other names from some step on (gen/steps/pattern.c), and two loops that are
 * only alike, from sequences written as letters: > is a copy in, < a copy out, everything else a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps/pattern.h"

#include <string.h>

enum { ROOM = 20000, LENGTH = 1000 };

struct written {
	char text[ROOM];
	int64_t length[ROOM];
	float pause[ROOM];
	size_t n;
	struct arena arena;
};

/* `times` times `text`, of which the upper-case letters take `times_longer` as long. */
static void add(struct written *w, const char *text, int times, int64_t times_longer)
{
	for (; times; times--)
		for (const char *c = text; *c; c++) {
			assert_true(w->n < ROOM);
			w->length[w->n] = *c >= 'A' && *c <= 'Z' ? LENGTH * times_longer : LENGTH;
			w->text[w->n++] = *c;
		}
}

static struct pattern find(struct written *w)
{
	struct pattern_sequence s = {.n = w->n, .n_tokens = 128, .n_lanes = 1, .pause = w->pause};
	struct pattern found;
	s.token = ARENA_NEW(&w->arena, w->n, uint32_t);
	s.at = ARENA_NEW(&w->arena, w->n, int64_t);
	s.end = ARENA_NEW(&w->arena, w->n, int64_t);
	s.length = w->length;
	s.flags = ARENA_NEW(&w->arena, w->n, uint8_t);
	s.lane = ARENA_NEW(&w->arena, s.n_tokens, uint32_t);
	int64_t now = 0;
	for (size_t i = 0; i < w->n; i++) {
		char c = w->text[i];
		now += LENGTH + (int64_t)w->pause[i];
		s.token[i] = (uint32_t)c;
		s.at[i] = now;
		s.end[i] = now += w->length[i];
		s.flags[i] = c == '>' ? PATTERN_HOST | PATTERN_INPUT : c == '<' ? PATTERN_HOST : PATTERN_WORK;
	}
	pattern_find(&s, &w->arena, &found);
	return found;
}

/* How many cycles the loop of most GPU time has; `loops` receives how many loops there are. */
static uint32_t cycles_of(struct written *w, uint32_t *loops)
{
	const struct pattern found = find(w);
	uint32_t n = found.n_loops ? found.loops[0].n : 0;
	*loops = found.n_loops;
	arena_release(&w->arena);
	*w = (struct written){0};
	return n;
}

/* Another kernel in its place, later one more behind it: a few steps of that are enough. */
static void it_goes_on(void **state)
{
	(void)state;
	struct written w = {0};
	uint32_t loops;
	add(&w, ">abcAdefghij<", 60, 1);
	add(&w, ">abcBdefghij<", 80, 1);
	add(&w, ">abcBCdefghij<", 4, 1);
	assert_in_range(cycles_of(&w, &loops), 143, 144); /* an end may lack what lies before its begin */
	assert_int_equal(loops, 1);
	/* it is loaded, and what is launched with it planned, before its first launch */
	for (size_t i = 0; i < 2; i++) {
		add(&w, ">abcAdefghij<", 60, 1);
		w.pause[w.n + 4 - i] = 1e9f;
		add(&w, ">abcBdefghij<", 80, 1);
		assert_in_range(cycles_of(&w, &loops), 139, 140);
		assert_int_equal(loops, 1);
	}
}

/* Each of these is two loops. */
/* A cycle lacks what something else may stand in for: not where a short kernel is missing, but where most of its time
 * is. */
static void what_a_cycle_lacks(void **state)
{
	(void)state;
	struct written w = {0};
	add(&w, ">abcAdefghij<", 30, 20);
	add(&w, ">abAdefghij<", 1, 20);
	add(&w, ">abcAdefghij<", 30, 20);
	add(&w, ">abcdefghij<", 1, 20);
	add(&w, ">abcAdefghij<", 30, 20);
	const struct pattern found = find(&w);
	assert_int_equal(found.n_loops, 1);
	assert_in_range(found.loops[0].n, 91, 92);
	for (uint32_t k = 0; k < found.loops[0].n; k++)
		assert_int_equal(found.loops[0].lacks[k], k == 61);
	arena_release(&w.arena);
}

static void two_loops(void **state)
{
	(void)state;
	struct written w = {0};
	uint32_t loops;
	/* other work between them */
	add(&w, ">abcAdefghij<", 60, 1);
	add(&w, "stuvwxyz", 1, 1);
	add(&w, ">abcBdefghij<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* a pause */
	add(&w, ">abcAdefghij<", 60, 1);
	w.pause[w.n] = 1e9f;
	add(&w, ">abcBdefghij<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* what differs is most of the time, */
	add(&w, ">abcAdefghij<", 60, 20);
	add(&w, ">abcBdefghij<", 80, 20);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* or takes much longer, */
	add(&w, ">abcAdefghij<", 60, 1);
	add(&w, ">abcBdefghij<", 80, 9);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* or is many kernels */
	add(&w, ">abcADEFefghij<", 60, 1);
	add(&w, ">abcBKLMefghij<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* the host has something else to do with them */
	add(&w, ">abcAdefghij<", 60, 1);
	add(&w, ">abc>defghij<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* copies around one kernel: two of them are compared */
	add(&w, ">>A<", 60, 1);
	add(&w, ">>B<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	add(&w, ">aAb<", 60, 1);
	add(&w, ">aBb<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* a few kernels, of which one is another */
	add(&w, "abAd", 60, 1);
	add(&w, "abBd", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
	/* three operations, of which one is another */
	add(&w, ">A<", 60, 1);
	add(&w, ">B<", 80, 1);
	assert_in_range(cycles_of(&w, &loops), 79, 80);
	assert_int_equal(loops, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_on),
		cmocka_unit_test(what_a_cycle_lacks),
		cmocka_unit_test(two_loops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
