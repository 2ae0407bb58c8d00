/* Steps that are the same work under other names (gen/steps/pattern_fit.c), from sequences
 * written as letters: > is a copy in, < a copy out, ! an optimizer's kernel, everything else a kernel, G a long one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps/pattern_cycles.h"

#include <string.h>

enum { ROOM = 20000 };

struct written {
	char text[ROOM];
	size_t n;
	uint64_t random;
	struct arena arena;
};

static uint32_t draw(struct written *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((w->random >> 33) % below);
}

static void add(struct written *w, const char *text)
{
	for (; *text; text++) {
		assert_true(w->n < ROOM);
		w->text[w->n++] = *text;
	}
}

/* One of `names`. */
static void add_one(struct written *w, const char *names)
{
	add(w, (char[]){names[draw(w, (uint32_t)strlen(names))], 0});
}

static struct pattern_sequence sequence_of(struct written *w)
{
	struct pattern_sequence s = {.n = w->n, .n_tokens = 128, .n_lanes = 1};
	s.token = ARENA_NEW(&w->arena, w->n, uint32_t);
	s.at = ARENA_NEW(&w->arena, w->n, int64_t);
	s.end = ARENA_NEW(&w->arena, w->n, int64_t);
	s.length = ARENA_NEW(&w->arena, w->n, int64_t);
	s.pause = ARENA_NEW(&w->arena, w->n, float);
	s.flags = ARENA_NEW(&w->arena, w->n, uint8_t);
	s.lane = ARENA_NEW(&w->arena, s.n_tokens, uint32_t);
	for (size_t i = 0; i < w->n; i++) {
		char c = w->text[i];
		s.token[i] = (uint32_t)c;
		s.at[i] = (int64_t)i * 2000;
		s.end[i] = s.at[i] + 1000;
		s.length[i] = c == 'G' ? 1000000 : 1000;
		s.flags[i] = c == '>'   ? PATTERN_HOST | PATTERN_INPUT
		             : c == '<' ? PATTERN_HOST
		             : c == '!' ? PATTERN_WORK | PATTERN_UPDATE
		                        : PATTERN_WORK;
	}
	return s;
}

/* How many steps are found; `out` is the largest loop then, its times left out. */
static uint32_t steps_in(struct written *w, struct run_loop *out)
{
	struct pattern_sequence s = sequence_of(w);
	struct pattern found;
	pattern_find(&s, &w->arena, &found);
	*out = found.n_loops ? found.loops[0] : (struct run_loop){0};
	return out->n;
}

/* The same of steps that have other names each time; those whose names repeat are none of them. */
static uint32_t varied_steps_in(struct written *w)
{
	struct run_loop loop;
	uint32_t n = steps_in(w, &loop);
	return loop.same < 1 ? n : 0;
}

/* Where a step begins. */
static size_t begin_of(const struct run_loop *loop, uint32_t step)
{
	return (size_t)loop->at[step] / 2000;
}

/* Three lengths in any order: the second and the fifth kernel, and one more in one of them. */
static void kernels_by_length(void **state)
{
	(void)state;
	struct written w = {.random = 1};
	struct run_loop loop;
	for (int i = 0; i < 40; i++) {
		uint32_t length = draw(&w, 3);
		add(&w, ">a");
		add(&w, (const char *[]){"x", "y", "zs"}[length]);
		add(&w, "bc");
		add(&w, (const char *[]){"u", "v", "w"}[length]);
		add(&w, "def<");
	}
	assert_int_equal(steps_in(&w, &loop), 40);
	assert_int_equal(w.text[begin_of(&loop, 0)], '>');
	assert_int_equal(begin_of(&loop, 1), strcspn(w.text + 1, ">") + 1);
	assert_true(loop.same > 0.75 && loop.same < 0.85);
	assert_true(loop.explained > 0.95);
	arena_release(&w.arena);
}

/* A layer's kernel is another one now and then: a step is all of its layers. */
static void layers_are_no_steps(void **state)
{
	(void)state;
	struct written w = {.random = 2};
	struct run_loop loop;
	for (int i = 0; i < 30; i++) {
		add(&w, ">h");
		for (int l = 0; l < 12; l++) {
			add(&w, "ab");
			add_one(&w, "xyz");
			add(&w, "cd");
		}
		add(&w, "t<");
	}
	assert_int_equal(steps_in(&w, &loop), 30);
	/* as many as it takes */
	w.n = 0;
	for (int i = 0; i < 30; i++) {
		add(&w, ">h");
		for (uint32_t l = 3 + draw(&w, 9); l; l--)
			add(&w, "abcd");
		add(&w, "t<");
	}
	assert_int_equal(steps_in(&w, &loop), 30);
	/* no input, no optimizer: what is read now and then may be a loss, and what comes between two reads no step */
	w.n = 0;
	for (int i = 0; i < 30; i++) {
		for (int l = 0; l < 12; l++) {
			add(&w, "abefgijk");
			add_one(&w, "xyz");
			add(&w, "cd");
		}
		add(&w, "<");
	}
	assert_int_equal(varied_steps_in(&w), 0);
	arena_release(&w.arena);
}

/* From one optimizer to the next, however many micro-batches; the last one has no optimizer. */
static void optimizers_end_steps(void **state)
{
	(void)state;
	struct written w = {.random = 3};
	struct run_loop loop;
	for (int i = 0; i < 31; i++) {
		for (uint32_t m = 1 + draw(&w, 5); m; m--)
			add(&w, ">abcdef");
		add(&w, i < 30 ? "!" : "");
	}
	uint32_t n = steps_in(&w, &loop);
	assert_in_range(n, 29, 30);
	for (uint32_t k = 0; k + 1 < n; k++) /* one in each */
		assert_int_equal(strcspn(w.text + begin_of(&loop, k) + 1, "!") + 1 + begin_of(&loop, k),
		                 begin_of(&loop, k + 1));
	arena_release(&w.arena);
}

/* Programs of their own for each length have no name in common; that one follows the other each time is no length. */
static void kinds_of_steps(void **state)
{
	(void)state;
	struct written w = {.random = 4};
	struct run_loop loop;
	for (int i = 0; i < 40; i++)
		add(&w, (const char *[]){">abcdefgh<", ">ijklmnop<", ">qrstuvwx<"}[draw(&w, 3)]);
	assert_int_equal(steps_in(&w, &loop), 40);
	struct pattern_sequence s = sequence_of(&w);
	struct pattern_found found;
	assert_false(pattern_cuts_at(&s, '>', 40, NAMES_VARY, &w.arena, &found));
	w.n = 0;
	for (int i = 0; i < 40; i++)
		add(&w, i % 2 ? ">abcdefgh" : ">ijklmnop");
	assert_in_range(steps_in(&w, &loop), 19, 20); /* both are one */
	arena_release(&w.arena);
}

/* Tokens of answers, each of which begins with an input: the host reads every token. */
static void tokens_of_answers(void **state)
{
	(void)state;
	struct written w = {.random = 8};
	struct run_loop loop;
	for (int i = 0; i < 10; i++)
		for (int token = 0; token < 8; token++) {
			add(&w, token ? "" : ">");
			add(&w, "ab");
			add_one(&w, "xyz");
			add(&w, "cdef<");
		}
	assert_in_range(steps_in(&w, &loop), 79, 80);
	arena_release(&w.arena);
}

/* A solver reads sums of a few kinds, and every twenty of them evaluates its function, which takes nearly all of the
 * time: that is no step like the others. */
static void sums_are_no_steps(void **state)
{
	(void)state;
	struct written w = {.random = 9};
	struct run_loop loop;
	for (int i = 0; i < 240; i++)
		add(&w, i % 20 ? (const char *[]){"abcdef<", "ghijkl<", "mnopqr<"}[draw(&w, 3)] : "GGGstu<");
	assert_true(steps_in(&w, &loop) <= 12);
	arena_release(&w.arena);
}

/* Few names at random: any cycle holds them all, in no order. */
static void nothing_in_noise(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct written w = {.random = seed * 7919};
		const char *names = (const char *[]){"ab",        "abc",       "aaaaaaab",
		                                     "abcdefgh<", "aaaabbc<>", "abcdefghijklmnop<<>"}[seed % 6];
		for (int i = 0; i < 3000; i++)
			add_one(&w, names);
		assert_int_equal(varied_steps_in(&w), 0);
		arena_release(&w.arena);
	}
}

/* Three turns of a query: tables are copied in piece by piece, of one size many, and between them a few kernels. A copy
 * is no step, though each is like the others. */
static void copies_are_no_steps(void **state)
{
	(void)state;
	struct written w = {.random = 6};
	struct run_loop loop;
	for (int i = 0; i < 3; i++)
		add(&w, ">>>b>>>>b>>>b>>>>>p<");
	assert_int_equal(steps_in(&w, &loop), 0);
	arena_release(&w.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_by_length),    cmocka_unit_test(layers_are_no_steps),
		cmocka_unit_test(optimizers_end_steps), cmocka_unit_test(kinds_of_steps),
		cmocka_unit_test(tokens_of_answers),    cmocka_unit_test(sums_are_no_steps),
		cmocka_unit_test(nothing_in_noise),     cmocka_unit_test(copies_are_no_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
