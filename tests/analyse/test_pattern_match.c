/* Loops that are the same one (gen/run/choose_steps.h), against all ways to pair them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/choose_steps.h"

#include <math.h>
#include <string.h>

enum { MOST = 5, NAMES = 4 };

struct made {
	struct run_loops loops;
	struct run_loop list[MOST];
	struct run_loop_op makeup[MOST][NAMES];
};

static uint64_t seed;
static struct arena arena;
static struct names names;

/* Names 1 to 5: three kernels, and copies both ways. */
static int add_names(void **unused)
{
	(void)unused;
	static const char *const TEXTS[] = {"gemm", "relu", "adam", "[CUDA memcpy Host-to-Device]",
	                                    "[CUDA memcpy Device-to-Host]"};
	names_init(&names, &arena);
	for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
		assert_int_equal(names_add(&names, TEXTS[i], strlen(TEXTS[i])), i + 1);
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	arena_release(&arena);
	return 0;
}

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void make(struct made *made, uint32_t n)
{
	static const char *const TITLES[] = {"gemm", "softmax", "gemm + softmax", "norm", "adam", "copy"};
	*made = (struct made){.loops = {.list = made->list, .n = n}};
	for (uint32_t l = 0; l < n; l++) {
		struct run_loop *loop = &made->list[l];
		*loop = (struct run_loop){.title = TITLES[below(6)], .n = 20 + below(40), .makeup = made->makeup[l]};
		for (uint32_t name = 0; name < NAMES; name++)
			if (below(2) || !loop->n_makeup) {
				double time = 1 + below(1000);
				loop->makeup[loop->n_makeup++] =
					(struct run_loop_op){.name = name + 1, .n = 1, .time = time};
				loop->time += time;
			}
		loop->ops = 10 + below(20);
		loop->share = 0.06 + below(1000) / 2000.;
	}
}

/* What a pair is worth, as docs and the source say. */
static double worth(const struct run_loop *mine, const struct run_loop *like)
{
	uint32_t more = mine->n > like->n ? mine->n : like->n, fewer = mine->n > like->n ? like->n : mine->n;
	bool often = more - fewer <= 2 || (more - fewer) * 10 <= more;
	double alike = run_loop_alike(mine, like);
	if (alike < PATTERN_ALIKE && !often)
		return 0;
	double most = fmax(mine->ops, like->ops), least = fmin(mine->ops, like->ops);
	return alike * (most <= 1.1 * least ? 2 : 1) + often + (strcmp(mine->title, like->title) == 0 ? 0.1 : 0) +
	       sqrt(mine->share * like->share);
}

/* The best sum of all pairings of the likes from `row` on with those of mine that are not taken. */
static double best(const struct made *mine, const struct made *likes, uint32_t row, uint32_t taken)
{
	if (row == likes->loops.n)
		return 0;
	double most = best(mine, likes, row + 1, taken);
	for (uint32_t m = 0; m < mine->loops.n; m++)
		if (!(taken >> m & 1))
			most = fmax(most, worth(&mine->list[m], &likes->list[row]) +
			                          best(mine, likes, row + 1, taken | 1u << m));
	return most;
}

/* With one pair given. */
static double best_with(const struct made *mine, const struct made *likes, uint32_t like, uint32_t match)
{
	struct made rest = *likes;
	rest.loops.list = rest.list;
	rest.loops.n--;
	for (uint32_t l = like; l < rest.loops.n; l++)
		rest.list[l] = rest.list[l + 1];
	double one = match == UINT32_MAX ? 0 : worth(&mine->list[match], &likes->list[like]);
	return one + best(mine, &rest, 0, match == UINT32_MAX ? 0 : 1u << match);
}

static void all_pairings(void **unused)
{
	(void)unused;
	uint32_t none = 0, not_the_nearest = 0;
	for (uint32_t i = 0; i < 3000; i++) {
		seed = i * 7919u + 1;
		struct made mine, likes;
		make(&mine, 1 + below(MOST));
		make(&likes, 1 + below(MOST));
		uint32_t like = below(likes.loops.n);
		uint32_t match = pattern_match(&mine.loops, &likes.loops, like);
		double most = best(&mine, &likes, 0, 0);
		assert_true(match == UINT32_MAX || match < mine.loops.n);
		assert_true(fabs(best_with(&mine, &likes, like, match) - most) < 1e-9);
		none += match == UINT32_MAX;
		for (uint32_t m = 0; m < mine.loops.n; m++)
			if (match != UINT32_MAX &&
			    worth(&mine.list[m], &likes.list[like]) > worth(&mine.list[match], &likes.list[like])) {
				not_the_nearest++;
				break;
			}
	}
	assert_true(none > 100 && not_the_nearest > 100);
}

/* Whichever side is asked first, the same two loops are most of both. */
static void asked_of_both(void **unused)
{
	(void)unused;
	uint32_t none = 0, not_the_first = 0;
	for (uint32_t i = 0; i < 3000; i++) {
		seed = i * 6971u + 1;
		struct made a, b;
		make(&a, 1 + below(MOST));
		make(&b, 1 + below(MOST));
		uint32_t there[2] = {UINT32_MAX, UINT32_MAX}, back[2] = {UINT32_MAX, UINT32_MAX};
		bool found = pattern_match_most(&a.loops, &b.loops, there);
		assert_int_equal(pattern_match_most(&b.loops, &a.loops, back), found);
		none += !found;
		if (!found) {
			assert_int_equal(there[0], UINT32_MAX);
			continue;
		}
		double share = a.list[there[0]].share + b.list[there[1]].share;
		assert_true(worth(&b.list[there[1]], &a.list[there[0]]) > 0);
		assert_true(fabs(a.list[back[1]].share + b.list[back[0]].share - share) < 1e-12);
		not_the_first += there[0] > 0;
	}
	assert_true(none > 10 && not_the_first > 1000);
}

/* Three lengths of a sequence, of which the last is 42 times there on one side, and the second on the other one. */
static void as_often_by_chance(void **unused)
{
	(void)unused;
	struct run_loop_op ops[3][2] = {{{2, 1, 60, false}, {1, 1, 40, false}},
	                                {{3, 1, 60, false}, {1, 1, 40, false}},
	                                {{4, 1, 60, false}, {1, 1, 40, false}}};
	struct run_loop a[3], b[3];
	static const uint32_t n[2][3] = {{42, 26, 41}, {34, 42, 23}};
	static const double share[2][3] = {{0.65, 0.194, 0.155}, {0.55, 0.35, 0.09}};
	for (int l = 0; l < 3; l++) {
		a[l] = (struct run_loop){
			.title = "a", .n = n[0][l], .time = 100, .share = share[0][l], .makeup = ops[l], .n_makeup = 2};
		b[l] = (struct run_loop){
			.title = "b", .n = n[1][l], .time = 100, .share = share[1][l], .makeup = ops[l], .n_makeup = 2};
	}
	struct run_loops likes = {.list = a, .n = 3}, mine = {.list = b, .n = 3};
	for (uint32_t l = 0; l < 3; l++)
		assert_int_equal(pattern_match(&mine, &likes, l), l);
}

/* Twelve layers were one step 70 times; the fix left out kernels outside them, so a step has 12.9 layers' gemms. */
static void as_many_cycles_as_they_are_often(void **unused)
{
	(void)unused;
	struct run_loop_op layer[] = {{1, 2, 100, false}}, step[] = {{1, 25.8, 100, false}};
	struct run_loop shorter = {.n = 840, .time = 100, .makeup = layer, .n_makeup = 1};
	struct run_loop longer = {.n = 70, .time = 100, .makeup = step, .n_makeup = 1};
	assert_int_equal(pattern_cycles_together(&shorter, &longer, &names), 12);
	/* what the kernels say cannot be twice that */
	step[0].n = 50;
	assert_int_equal(pattern_cycles_together(&shorter, &longer, &names), 0);
	/* cycles were lost at the ends: the kernels say it */
	step[0].n = 24;
	shorter.n = 825;
	assert_int_equal(pattern_cycles_together(&shorter, &longer, &names), 12);
	/* 51.4 times as often, one of 36 is cut at an end: 50 times the gemms; a check each time is one each 25 times
	 * now */
	struct run_loop_op checks[] = {{1, 5, 85, false}, {2, 1, 15, false}},
			   some[] = {{1, 250, 85, false}, {2, 2, 1, false}};
	shorter = (struct run_loop){.n = 1799, .time = 100, .makeup = checks, .n_makeup = 2};
	longer = (struct run_loop){.n = 35, .time = 86, .makeup = some, .n_makeup = 2};
	assert_int_equal(pattern_cycles_together(&shorter, &longer, &names), 50);
}

/* Ranks that gather on one side and reduce on the other wait in both for most of the time. */
static void waiting_ranks_are_alike_by_their_work(void **unused)
{
	(void)unused;
	struct run_loop_op gathers[] = {{1, 12, 900, true}, {2, 24, 100, false}};
	struct run_loop_op reduces[] = {{3, 12, 700, true}, {2, 24, 90, false}};
	struct run_loop a = {.n = 70, .time = 1000, .makeup = gathers, .n_makeup = 2};
	struct run_loop b = {.n = 70, .time = 790, .makeup = reduces, .n_makeup = 2};
	assert_true(run_loop_work(&a) == 100);
	assert_true(run_loop_alike(&a, &b) == 1);
	assert_true(pattern_same_unit(&a, &b, &names));
	/* who does nothing else is alike by that */
	a.n_makeup = b.n_makeup = 1;
	assert_true(run_loop_alike(&a, &b) == 0);
	reduces[0].name = 1;
	assert_true(run_loop_alike(&a, &b) > 0.8);
}

/* Every second step computes little: a cycle is two of the steps of the other side, for two inputs go in. */
static void as_many_cycles_as_inputs(void **unused)
{
	(void)unused;
	struct run_loop_op whole[] = {{1, 12, 900, false}, {4, 1, 30, false}, {5, 1, 10, false}};
	struct run_loop_op two[] = {{1, 14, 1000, false}, {4, 2, 30, false}, {5, 2, 10, false}};
	struct run_loop a = {.n = 60, .time = 940, .makeup = whole, .n_makeup = 3};
	struct run_loop b = {.n = 30, .time = 1040, .makeup = two, .n_makeup = 3};
	assert_false(pattern_same_unit(&a, &b, &names) || pattern_same_unit(&b, &a, &names));
	assert_int_equal(pattern_cycles_together(&a, &b, &names), 2);
	assert_int_equal(pattern_cycles_together(&b, &a, &names), 0);
	two[2].n = 1; /* results are read back once: who knows what it is one of */
	assert_true(pattern_same_unit(&a, &b, &names));
	two[2].n = 2;
	b.n = 58; /* as often: the fix copies in two parts */
	assert_true(pattern_same_unit(&a, &b, &names));
	b.n = 41; /* neither */
	assert_true(pattern_same_unit(&a, &b, &names));
}

/* A generation has 64 candidates and what is done with them, which is a cycle that differs. */
static void as_many_cycles_as_an_outer_loop_has(void **unused)
{
	(void)unused;
	struct run_loop_op one[] = {{1, 2, 100, false}}, all[] = {{2, 9, 100, false}};
	struct run_loop a = {.n = 4479, .differ = 69, .processes = 1, .time = 100, .makeup = one, .n_makeup = 1};
	struct run_loop b = {.n = 69, .processes = 1, .time = 100, .makeup = all, .n_makeup = 1};
	assert_true(pattern_is_outer(&a, &b) && pattern_is_outer(&b, &a));
	assert_int_equal(pattern_cycles_together(&a, &b, &names), 65);
	assert_int_equal(pattern_cycles_together(&b, &a, &names), 0);
	a.differ = 34; /* not as often */
	assert_false(pattern_is_outer(&a, &b));
	a.differ = 69;
	a.n = 718; /* not a whole number */
	assert_false(pattern_is_outer(&a, &b));
	a.n = 69; /* one is one */
	assert_false(pattern_is_outer(&a, &b));
	a.n = 260; /* as few may be chance */
	a.differ = b.n = 4;
	assert_false(pattern_is_outer(&a, &b));
}

/* A part has 50 tokens and their sound; where tokens were found alone, and 50 of them taken as one, sound is amid them.
 */
static void what_is_amid_many_cycles_is_theirs(void **unused)
{
	(void)unused;
	struct run_loop_op part[] = {{1, 250, 80, false}, {2, 20, 20, false}}, tokens[] = {{1, 250, 80, false}},
			   sound[] = {{2, 20, 20, false}};
	struct run_loop
		one = {.title = "gemm", .n = 35, .ops = 270, .share = 1, .time = 100, .makeup = part, .n_makeup = 2},
		two[] = {{.title = "gemm",
	                  .n = 35,
	                  .ops = 250,
	                  .share = 0.8,
	                  .time = 80,
	                  .makeup = tokens,
	                  .n_makeup = 1,
	                  .most = 50,
	                  .end = 1000},
	                 {.title = "relu",
	                  .n = 36,
	                  .ops = 20,
	                  .share = 0.2,
	                  .time = 20,
	                  .makeup = sound,
	                  .n_makeup = 1,
	                  .start = 20,
	                  .end = 1010}};
	const struct run_loops whole = {.list = &one, .n = 1}, divided = {.list = two, .n = 2};
	assert_true(pattern_repeats_alike(&whole, 0, &divided, 0, &names));
	assert_true(pattern_repeats_alike(&divided, 0, &whole, 0, &names));
	two[1].start = 990; /* behind all of them */
	two[1].end = 2000;
	assert_false(pattern_repeats_alike(&whole, 0, &divided, 0, &names));
	two[1].start = 20;
	two[1].end = 1010;
	two[0].most = 0; /* a step of its own */
	assert_false(pattern_repeats_alike(&whole, 0, &divided, 0, &names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_cycles_as_an_outer_loop_has),
		cmocka_unit_test(what_is_amid_many_cycles_is_theirs),
		cmocka_unit_test(all_pairings),
		cmocka_unit_test(asked_of_both),
		cmocka_unit_test(as_often_by_chance),
		cmocka_unit_test(as_many_cycles_as_they_are_often),
		cmocka_unit_test(waiting_ranks_are_alike_by_their_work),
		cmocka_unit_test(as_many_cycles_as_inputs),
	};
	return cmocka_run_group_tests(tests, add_names, tear_down);
}
