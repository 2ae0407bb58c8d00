/* Layers and steps (gen/steps/pattern_cycles.h): sequences written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps/pattern.h"

#include <string.h>

/* A letter is a kernel, of which 'u' is an optimizer's; '?' one that looks an input up; '>' a copy in, '<' a copy out,
 * for which the host waits. */
struct written {
	struct arena arena;
	char text[20000];
	size_t n;
};

static void add(struct written *w, const char *text, int times)
{
	for (int i = 0; i < times; i++) {
		size_t length = strlen(text);
		assert_true(w->n + length < sizeof w->text);
		memcpy(w->text + w->n, text, length);
		w->n += length;
	}
}

/* How many steps are found that consist of layers; 0: what is found does not. */
static uint32_t joined(struct written *w, struct run_loop *out)
{
	struct pattern_sequence s = {.n = w->n, .n_tokens = 128, .n_lanes = 1};
	struct pattern found;
	s.token = ARENA_NEW(&w->arena, w->n, uint32_t);
	s.at = ARENA_NEW(&w->arena, w->n, int64_t);
	s.end = ARENA_NEW(&w->arena, w->n, int64_t);
	s.length = ARENA_NEW(&w->arena, w->n, int64_t);
	s.pause = ARENA_NEW(&w->arena, w->n, float);
	s.flags = ARENA_NEW(&w->arena, w->n, uint8_t);
	s.lane = ARENA_NEW(&w->arena, 128, uint32_t);
	for (size_t i = 0; i < w->n; i++) {
		char c = w->text[i];
		s.token[i] = (uint32_t)c;
		s.at[i] = (int64_t)i * 10;
		s.end[i] = (int64_t)i * 10 + 9;
		s.length[i] = 9;
		s.flags[i] = c == '<'               ? PATTERN_HOST
		             : c == '>'             ? PATTERN_HOST | PATTERN_INPUT
		             : c == 'u' || c == 'U' ? PATTERN_WORK | PATTERN_UPDATE
		             : c == '?'             ? PATTERN_WORK | PATTERN_LOOKUP
		                                    : PATTERN_WORK;
	}
	pattern_find(&s, &w->arena, &found);
	assert_true(found.n_loops);
	*out = found.loops[0];
	return out->most ? out->n : 0;
}

static uint32_t joined_steps(const char *head, const char *layer, int layers, const char *tail, int steps,
                             struct run_loop *out)
{
	struct written w = {0};
	for (int i = 0; i < steps; i++) {
		add(&w, head, 1);
		add(&w, layer, layers);
		add(&w, tail, 1);
	}
	uint32_t n = joined(&w, out);
	arena_release(&w.arena);
	return n;
}

static void layers_of_a_step(void **state)
{
	(void)state;
	struct run_loop found;
	/* the first embedding lies before the first layer, so that the first step or the last one lacks a part */
	uint32_t n = joined_steps("xy", "abcd", 30, "opq<", 30, &found);
	assert_in_range(n, 29, 30);
	assert_int_equal(found.ops, 2 + 30 * 4 + 4);
	assert_int_equal(found.fewest, 30);
	assert_int_equal(found.most, 30);
	/* other kernels and no host at all */
	n = joined_steps("", "abcd", 9, "x", 40, &found);
	assert_in_range(n, 39, 40);
	assert_int_equal(found.most, 9);
	/* one small kernel again and again is no iteration */
	n = joined_steps("", "a", 30, "<", 40, &found);
	assert_in_range(n, 39, 40);
	assert_int_equal(found.most, 30);
	/* a copy in says that a step begins, whatever the size of a layer */
	n = joined_steps(">", "abcdefghijklmn", 4, "<", 25, &found);
	assert_in_range(n, 24, 25);
	assert_int_equal(found.most, 4);
}

static void steps_of_which_every_tenth_is_logged(void **state)
{
	(void)state;
	struct run_loop found;
	assert_int_equal(joined_steps("", "abcdefghijklmnpqrstvwxyz", 10, "o<", 30, &found), 0);
	assert_int_equal(joined_steps("", "abcdefghijklmnpqrstvwxyz", 10, "<", 30, &found), 0);
	/* a short iteration whose convergence is tested now and then */
	assert_int_equal(joined_steps("", "abcd", 10, "<", 30, &found), 0);
	/* five kernels of metrics, then the host reads them: 6 of 24 would do, beside what is read */
	assert_int_equal(joined_steps("", "abcdefghijklmnpqrstvwxyzABCDE", 10, "FGHIJ<", 30, &found), 0);
}

static void a_good_part_of_a_layer_parts_steps(void **state)
{
	(void)state;
	struct run_loop found;
	/* seven ops and the host's wait are a quarter of 29: an embedding and a head */
	uint32_t n = joined_steps("FG", "abcdefghijklmnpqrstvwxyzABCDE", 10, "HIJK<", 30, &found);
	assert_in_range(n, 29, 30);
	assert_int_equal(found.most, 10);
	/* one fewer may be metrics and what resets a counter */
	assert_int_equal(joined_steps("F", "abcdefghijklmnpqrstvwxyzABCDE", 10, "HIJK<", 30, &found), 0);
	assert_int_equal(joined_steps("FG", "abcdefghijklmnpqrstvwxyzABCDE", 10, "HIJ<", 30, &found), 0);
}

static void what_holds_an_optimizer_is_a_step(void **state)
{
	(void)state;
	struct run_loop found;
	assert_int_equal(joined_steps("xy", "abcu", 30, "opq<", 30, &found), 0);
}

static void micro_batches_end_with_an_optimizer(void **state)
{
	(void)state;
	struct run_loop found;
	/* each has its input and its loss, so that nothing else parts steps */
	uint32_t n = joined_steps("", "abcdefghiu>", 4, "U<", 30, &found);
	assert_in_range(n, 29, 30);
	assert_int_equal(found.fewest, 4);
	assert_int_equal(found.ops, 4 * 11 + 2);
	/* more than one op in twenty lies between the micro-batches, which come in bursts then */
	n = joined_steps("", "abcdefghiu>", 8, "wxyzUU<", 30, &found);
	assert_in_range(n, 29, 30);
	assert_int_equal(found.ops, 8 * 11 + 7);
	/* what is in every cycle ends no step, nor does what is no optimizer, or is too seldom */
	assert_int_equal(joined_steps("", "abcdefghiu>", 4, "u<", 30, &found), 0);
	assert_int_equal(joined_steps("", "abcdefghiu>", 4, "x<", 30, &found), 0);
	assert_int_equal(joined_steps("", "abcdefghiu>", 4, "U<", 19, &found), 0);
}

static void few_that_are_all_alike(void **state)
{
	(void)state;
	struct run_loop found;
	for (uint32_t n = 8; n < 20; n++) {
		assert_in_range(joined_steps("xy", "abcd", 30, "opq<", n, &found), n - 1, n);
		assert_int_equal(found.fewest, 30);
		assert_int_equal(found.most, 30);
	}
}

/* Four views of an image, two of which are turned around first, one after the other: what ends an image goes on to the
 * end of the profile, where nothing says that the last view but one was the last. */
static void the_last_step_ends_the_profile(void **state)
{
	(void)state;
	struct run_loop found;
#define VIEW "abcdeghijklmnpqrstvwxyz"
#define TURNED "afbcdeghijklmnpqrstvwxyz"
	uint32_t n = joined_steps("", VIEW VIEW TURNED VIEW "OPQ<", 1, "", 15, &found);
	assert_in_range(n, 14, 15);
	assert_int_equal(found.fewest, 4);
	assert_int_equal(found.most, 4);
}

#define LAYER "abcdefghijkl"
#define WIDE "PQRSTVWXYZPQRSTVWXYZPQRSTVWXYZ"

/* Five prompts, each with its tokens one after the other: what is calculated of a prompt is more than one op in twenty,
 * and parts their runs, which are too few to be of different lengths. Those of layers are not, as now and then a token
 * has more behind it. */
static uint32_t joined_tokens(const char *first, int tokens, struct run_loop *out)
{
	struct written w = {0};
	for (int prompt = 0; prompt < 5; prompt++) {
		add(&w, first, 1);
		add(&w, WIDE WIDE WIDE, 1);
		for (int i = 0; i < tokens + prompt; i++) {
			add(&w, first, 1);
			add(&w, LAYER, 6);
			add(&w, i * i % 11 == 4 ? "xyPQRSTVW" : "xy", 1);
		}
	}
	uint32_t n = joined(&w, out);
	arena_release(&w.arena);
	return n;
}

static void tokens_of_one_prompt_after_the_other(void **state)
{
	(void)state;
	struct run_loop found;
	assert_in_range(joined_tokens("?", 20, &found), 5 * 20 + 5, 5 * 20 + 10);
	assert_int_equal(found.ops, 1 + 6 * 12 + 2);
	/* what looks nothing up may be anything else */
	assert_int_equal(joined_tokens("z", 20, &found), 0);
}

static void too_few_or_uneven(void **state)
{
	(void)state;
	struct run_loop found;
	assert_int_equal(joined_steps("xy", "abcd", 30, "opq<", 6, &found), 0);
	struct written w = {0};
	for (int i = 0; i < 12; i++) { /* of so few all are alike */
		add(&w, "xy", 1);
		add(&w, "abcd", i == 7 ? 31 : 30);
		add(&w, "opq<", 1);
	}
	assert_int_equal(joined(&w, &found), 0);
	arena_release(&w.arena);
	w = (struct written){0};
	for (int i = 0; i < 40; i++) {
		add(&w, "xy", 1);
		add(&w, "abcd", 20 + i * 7 % 5 * 5); /* 20 to 40 */
		add(&w, "opq<", 1);
	}
	assert_int_equal(joined(&w, &found), 0);
	arena_release(&w.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_of_a_step),
		cmocka_unit_test(steps_of_which_every_tenth_is_logged),
		cmocka_unit_test(a_good_part_of_a_layer_parts_steps),
		cmocka_unit_test(what_holds_an_optimizer_is_a_step),
		cmocka_unit_test(micro_batches_end_with_an_optimizer),
		cmocka_unit_test(few_that_are_all_alike),
		cmocka_unit_test(the_last_step_ends_the_profile),
		cmocka_unit_test(tokens_of_one_prompt_after_the_other),
		cmocka_unit_test(too_few_or_uneven),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
