/* What repeats in a sequence of ops (gen/steps/pattern*.c). The truth is the generator's: it puts steps of a
 * known structure in, and knows of every op which step it belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draws.h"
#include "steps/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 400000, TRIALS = 100, TOKENS = 4096, NO_STEP = -1 };

struct op {
	uint32_t token, lane;
	int64_t at;
	int64_t length;
	uint8_t flags;
	int step;
};

struct generated {
	struct op *op;
	size_t n;
	int64_t now;
	uint64_t random;
	uint32_t lanes;
	int steps; /* put in */
};

static uint64_t draw(struct generated *g)
{
	g->random = g->random * 6364136223846793005u + 1442695040888963407u;
	return g->random >> 33;
}

static int between(struct generated *g, int low, int high)
{
	return low + (int)(draw(g) % (uint64_t)(high - low + 1));
}

static bool chance(struct generated *g, int percent)
{
	return between(g, 0, 99) < percent;
}

/* An op of name `name`; names are one per lane. */
static void put(struct generated *g, uint32_t lane, uint32_t name, int64_t length, uint8_t flags, int step)
{
	assert_true(g->n < ROOM && name < TOKENS / 4 && lane < 4);
	g->op[g->n++] = (struct op){name * 4 + lane, lane, g->now, length, flags, step};
	g->now += between(g, 2000, 4000);
}

/* A block of ops: what a layer or a step is made of. */
struct block {
	int n;
	uint32_t name[512];
	int64_t length[512];
};

/* `names` different ones from `first` on, in any order, as often as they come. */
static struct block make_block(struct generated *g, int n, uint32_t first, int names)
{
	struct block b = {.n = n};
	for (int i = 0; i < n; i++) {
		b.name[i] = first + (uint32_t)between(g, 0, names - 1);
		b.length[i] = between(g, 2, 400) * 1000;
	}
	return b;
}

/* The same of `least` to `most` ops; which of two draws comes first is not the compiler's to choose. */
static struct block make_drawn(struct generated *g, int least, int most, uint32_t first, int fewest, int names)
{
	names = between(g, fewest, names);
	return make_block(g, between(g, least, most), first, names);
}

static void put_block(struct generated *g, const struct block *b, int step)
{
	for (int i = 0; i < b->n; i++)
		put(g, 0, b->name[i], b->length[i] + between(g, 0, (int)b->length[i] / 20), PATTERN_WORK, step);
}

static void pause_host(struct generated *g)
{
	g->now += between(g, 50000, 200000);
}

static int compare_ops(const void *a, const void *b)
{
	const struct op *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

static struct pattern_sequence sequence_of(struct generated *g, struct arena *arena)
{
	struct pattern_sequence s = {.n = g->n, .n_tokens = TOKENS, .n_lanes = g->lanes};
	s.token = ARENA_NEW(arena, g->n, uint32_t);
	s.at = ARENA_NEW(arena, g->n, int64_t);
	s.end = ARENA_NEW(arena, g->n, int64_t);
	s.length = ARENA_NEW(arena, g->n, int64_t);
	s.pause = ARENA_NEW(arena, g->n, float);
	s.flags = ARENA_NEW(arena, g->n, uint8_t);
	s.lane = ARENA_NEW(arena, TOKENS, uint32_t);
	for (uint32_t token = 0; token < TOKENS; token++)
		s.lane[token] = token % 4;
	int64_t gpu = 0;
	qsort(g->op, g->n, sizeof *g->op, compare_ops);
	for (size_t i = 0; i < g->n; i++) {
		gpu = (gpu > g->op[i].at ? gpu : g->op[i].at) + g->op[i].length;
		s.token[i] = g->op[i].token;
		s.at[i] = g->op[i].at;
		s.end[i] = gpu;
		s.length[i] = g->op[i].length;
		s.flags[i] = g->op[i].flags;
		s.pause[i] = i && s.at[i] - s.at[i - 1] > 2000 ? (float)(s.at[i] - s.at[i - 1] - 2000) : 0;
	}
	return s;
}

/* ---- structures ---- */

enum { FIRST_WARM = 900 }; /* names that only warm-up has */

static void put_warm_up(struct generated *g, const struct block *step)
{
	for (int i = between(g, 0, 400); i-- > 0;) {
		int k = between(g, 0, step->n - 1);
		put(g, 0, chance(g, 50) ? step->name[k] : FIRST_WARM + (uint32_t)between(g, 0, 40), step->length[k],
		    PATTERN_WORK, NO_STEP);
	}
}

/* Steps of one block, some with a logging op, some of which an op was lost. */
static void plain(struct generated *g)
{
	struct block step = make_drawn(g, 3, 300, 1, 2, 60);
	int every = between(g, 5, 20);
	put_warm_up(g, &step);
	for (int k = 0; k < g->steps; k++) {
		pause_host(g);
		put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, k);
		put_block(g, &step, k);
		if (k % every == every - 1)
			put(g, 0, 801, 3000, PATTERN_HOST, k);
	}
}

/* Embedding, layers, head, backward layers, optimizer. */
static void nested(struct generated *g)
{
	struct block forward = make_drawn(g, 3, 20, 1, 2, 12);
	struct block backward = make_drawn(g, 3, 30, 20, 2, 12);
	struct block head = make_block(g, between(g, 2, 12), 1, 40), optimizer = make_block(g, between(g, 1, 8), 60, 3);
	int layers = between(g, 2, 48);
	bool training = chance(g, 70);
	put_warm_up(g, &forward);
	for (int k = 0; k < g->steps; k++) {
		pause_host(g);
		put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, k);
		for (int l = 0; l < layers; l++)
			put_block(g, &forward, k);
		put_block(g, &head, k);
		for (int l = 0; training && l < layers; l++)
			put_block(g, &backward, k);
		if (training)
			put_block(g, &optimizer, k);
	}
}

/* A batch in every step, the optimizer in every n-th. */
static void accumulation(struct generated *g)
{
	struct block step = make_drawn(g, 60, 300, 1, 10, 60);
	struct block optimizer = make_block(g, between(g, 1, 6), 100, 6);
	int every = between(g, 2, 8);
	for (int i = 0; i < optimizer.n; i++)
		optimizer.length[i] = 2000;
	put_warm_up(g, &step);
	for (int k = 0; k < g->steps; k++) {
		pause_host(g);
		put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, k);
		put_block(g, &step, k);
		if (k % every == every - 1)
			put_block(g, &optimizer, k);
	}
}

/* Training, and every so often a validation of some steps with the forward half of the kernels. */
static void validation(struct generated *g)
{
	struct block forward = make_drawn(g, 10, 60, 1, 5, 30);
	struct block backward = make_drawn(g, 10, 90, 50, 5, 30);
	int every = between(g, 8, 20), batches = between(g, 1, 8);
	put_warm_up(g, &forward);
	for (int k = 0; k < g->steps; k++) {
		pause_host(g);
		put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, k);
		put_block(g, &forward, k);
		put_block(g, &backward, k);
		for (int b = 0; k % every == every - 1 && b < batches; b++) {
			pause_host(g);
			put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, NO_STEP);
			put_block(g, &forward, NO_STEP);
			put(g, 0, 802, 3000, PATTERN_HOST, NO_STEP);
		}
	}
}

/* As many layers as it takes; after every so many, or all but those, the host asks whether it takes more, and waits. */
static void asked(struct generated *g)
{
	struct block head = make_drawn(g, 2, 6, 100, 2, 6), layer = make_drawn(g, 4, 14, 1, 3, 14);
	struct block tail = make_drawn(g, 2, 8, 200, 2, 8);
	int most = between(g, 8, 24), every = between(g, 2, 5);
	bool but = chance(g, 50);
	put_warm_up(g, &layer);
	for (int k = 0; k < g->steps; k++) {
		int layers = between(g, most / 3, most);
		pause_host(g);
		put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, k);
		put_block(g, &head, k);
		for (int l = 1; l <= layers; l++) {
			put_block(g, &layer, k);
			if ((l % every == 0) != but) {
				g->op[g->n - 1].flags |= PATTERN_HOST;
				pause_host(g);
			}
		}
		put_block(g, &tail, k);
		put(g, 0, 802, 3000, PATTERN_HOST, k);
	}
}

/* Some cycles are gone, of others a few ops. */
static void dropped(struct generated *g)
{
	struct block step = make_drawn(g, 10, 300, 1, 2, 60);
	int gone = 0;
	put_warm_up(g, &step);
	for (int k = 0; k < g->steps; k++) {
		pause_host(g);
		if (chance(g, 5)) {
			gone++;
			continue;
		}
		size_t before = g->n;
		put(g, 0, 800, 5000, PATTERN_HOST | PATTERN_INPUT, k - gone);
		put_block(g, &step, k - gone);
		for (int i = chance(g, 20) ? between(g, 1, 3) : 0; i > 0; i--) {
			size_t at = before + 1 + draw(g) % (g->n - before - 1);
			memmove(&g->op[at], &g->op[at + 1], (g->n - at - 1) * sizeof *g->op);
			g->n--;
		}
	}
	g->steps -= gone;
}

/* Two or three streams, in order each; when one of their ops starts is a matter of chance. */
static void streams(struct generated *g)
{
	struct block step = make_drawn(g, 10, 150, 1, 5, 60);
	g->lanes = (uint32_t)between(g, 2, 3);
	int copies = between(g, 1, 4), more = between(g, 0, 20);
	int64_t free_from[4] = {0};
	for (int k = 0; k < g->steps; k++) {
		int64_t begin = g->now;
		put_block(g, &step, k);
		int64_t after = g->now;
		for (uint32_t lane = 1; lane < g->lanes; lane++) {
			/* it runs ahead or behind by up to a fifth of a step */
			int64_t jitter = (int64_t)(draw(g) % (uint64_t)((after - begin) / 5 + 1));
			g->now = begin + jitter > free_from[lane] ? begin + jitter : free_from[lane];
			for (int i = 0; i < (lane == 1 ? copies : more); i++)
				put(g, lane, lane == 1 ? 850 : 860 + (uint32_t)i, 4000,
				    lane == 1 ? PATTERN_HOST : PATTERN_WORK, k);
			free_from[lane] = g->now;
		}
		g->now = after;
		pause_host(g);
	}
}

/* Names in no order: evenly likely, or some more than others. */
static void noise(struct generated *g)
{
	int names = between(g, 3, 200);
	bool skewed = chance(g, 50);
	for (int i = between(g, 200, 20000); i-- > 0;) {
		int name = between(g, 1, names);
		if (skewed)
			name = 1 + between(g, 0, name) / 2;
		put(g, 0, (uint32_t)name, between(g, 2, 40) * 1000, chance(g, 5) ? PATTERN_HOST : PATTERN_WORK,
		    NO_STEP);
		if (chance(g, 3))
			pause_host(g);
	}
}

/* ---- what is found, held against what was put in ---- */

/* Whether the first loop's cycles are the steps: as many but for two (the first and last may be cut), and most ops of a
 * cycle are of one step and of no other cycle. */
static bool is_right(const struct generated *g, const struct pattern *p, bool say)
{
	if (!p->n_loops) {
		if (say)
			print_message("nothing found, %d steps put in\n", g->steps);
		return false;
	}
	const struct run_loop *loop = &p->loops[0];
	if (say)
		print_message("%d steps put in, %u cycles of %u ops found, %u loops\n", g->steps, loop->n, loop->ops,
		              p->n_loops);
	if ((int)loop->n > g->steps + 1 || (int)loop->n < g->steps - 2)
		return false;
	/* the shift between a step's number and its cycle's is the same nearly everywhere, or one more: cuts lie
	 * anywhere */
	size_t shift[8] = {0}, all = 0;
	for (size_t i = 0; i < g->n; i++)
		if (p->loop[i] == 1 && g->op[i].step != NO_STEP) {
			int by = g->op[i].step - (int)p->cycle[i] + 3;
			if (by >= 0 && by < 8)
				shift[by]++;
			all++;
		}
	size_t best = 0;
	for (int by = 0; by + 1 < 8; by++)
		best = shift[by] + shift[by + 1] > best ? shift[by] + shift[by + 1] : best;
	return best * 100 >= all * 95;
}

static int count_wrong(void (*make)(struct generated *), const char *name, int lowest, int highest)
{
	int wrong = 0;
	for (uint64_t seed = 1; seed <= (uint64_t)draws(TRIALS); seed++) {
		struct arena arena = {0};
		struct generated g = {.op = ARENA_NEW(&arena, ROOM, struct op), .random = seed * 7919, .lanes = 1};
		for (int i = 0; i < 8; i++)
			draw(&g);
		g.steps = between(&g, lowest, highest);
		make(&g);
		struct pattern_sequence s = sequence_of(&g, &arena);
		struct pattern p;
		pattern_find(&s, &arena, &p);
		bool good = is_right(&g, &p, false);
		if (!good) {
			print_message("%s, seed %u: ", name, (unsigned)seed);
			is_right(&g, &p, true);
		}
		wrong += !good;
		arena_release(&arena);
	}
	return wrong;
}

/* Of a hundred programs of a kind, of so many steps, so many may be missed. */
#define TEST_OF(kind, lowest, highest, most)                                                                           \
	static void test_##kind(void **state)                                                                          \
	{                                                                                                              \
		(void)state;                                                                                           \
		assert_in_range(count_wrong(kind, #kind, lowest, highest), 0, most);                                   \
	}
TEST_OF(plain, 6, 200, 2)
TEST_OF(nested, 20, 60, 2)
TEST_OF(accumulation, 16, 120, 2)
TEST_OF(validation, 40, 200, 2)
TEST_OF(asked, 60, 150, 10)
TEST_OF(dropped, 30, 200, 2)
TEST_OF(streams, 20, 200, 2)

static void test_noise(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= (uint64_t)draws(TRIALS); seed++) {
		struct arena arena = {0};
		struct generated g = {.op = ARENA_NEW(&arena, ROOM, struct op), .random = seed * 104729, .lanes = 1};
		noise(&g);
		struct pattern_sequence s = sequence_of(&g, &arena);
		struct pattern p;
		pattern_find(&s, &arena, &p);
		double time = 0, all = 0;
		for (size_t i = 0; i < s.n; i++)
			all += (double)s.length[i];
		for (uint32_t l = 0; l < p.n_loops; l++)
			time += p.loops[l].time;
		assert_true(time < all * 0.1);
		arena_release(&arena);
	}
}

/* ---- by hand ---- */

/* A sequence written as letters; lower case takes 1000 ns, upper case is a copy that the host has to do with. */
static struct pattern found_in(const char *text, struct arena *arena)
{
	struct generated g = {.op = ARENA_NEW(arena, ROOM, struct op), .lanes = 1};
	for (const char *c = text; *c; c++)
		put(&g, 0, (uint32_t)*c, 1000, *c < 'a' ? PATTERN_HOST : PATTERN_WORK, 0);
	struct pattern_sequence s = sequence_of(&g, arena);
	struct pattern p;
	pattern_find(&s, arena, &p);
	return p;
}

static void test_by_hand(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct pattern p = found_in("xyabcabcabcabcabcz", &arena);
	assert_int_equal(p.n_loops, 1);
	assert_int_equal(p.loops[0].n, 5);
	assert_int_equal(p.loops[0].ops, 3);
	assert_int_equal(p.loop[1], 0);
	assert_int_equal(p.loop[2], 1);
	assert_int_equal(p.cycle[16], 4);
	assert_int_equal(p.loop[17], 0);

	assert_int_equal(found_in("abcabcabcabc", &arena).n_loops, 0); /* four are too few */
	assert_int_equal(found_in("", &arena).n_loops, 0);
	assert_int_equal(found_in("a", &arena).n_loops, 0);
	p = found_in("aaaaaaa", &arena);
	assert_int_equal(p.n_loops, 1);
	assert_int_equal(p.loops[0].n, 7);

	p = found_in("QQQQQQQQQQQQ", &arena); /* copies alone are no step, and none of their loops is left */
	assert_int_equal(p.n_loops + p.loop[0] + p.loop[11], 0);

	/* the shortest, although every name is there twice in it or not at all */
	p = found_in("aabbaabbaabbaabbaabbaabb", &arena);
	assert_int_equal(p.n_loops, 1);
	assert_int_equal(p.loops[0].ops, 4);
	assert_int_equal(p.loops[0].n, 6);

	/* one loop after another */
	p = found_in("ababababababcdecdecdecdecdecde", &arena);
	assert_int_equal(p.n_loops, 2);
	assert_int_equal(p.loops[0].ops, 3);
	assert_int_equal(p.loops[1].ops, 2);
	assert_int_equal(p.loops[1].n, 6);
	assert_int_equal(p.loop[0], 2);
	assert_int_equal(p.loop[12], 1);
	arena_release(&arena);
}

/* The same solver at another size is another loop: the names are the same, the time is not. */
static void test_by_time(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct generated g = {.op = ARENA_NEW(&arena, ROOM, struct op), .lanes = 1};
	for (int i = 0; i < 300; i++) {
		if (i == 200)
			put(&g, 0, 2, 1000, PATTERN_HOST, 0);
		put(&g, 0, 1, i < 200 ? 300000 : 900000, PATTERN_WORK, 0);
	}
	struct pattern_sequence s = sequence_of(&g, &arena);
	struct pattern p;
	pattern_find(&s, &arena, &p);
	assert_int_equal(p.n_loops, 2);
	assert_int_equal(p.loops[0].n, 100); /* 90 ms */
	assert_int_equal(p.loops[1].n, 200); /* 60 ms */
	arena_release(&arena);
}

/* 300 equal kernels and a synchronisation: the host has to do with every 300th kernel only, so they are one step. */
static void test_layers(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct generated g = {.op = ARENA_NEW(&arena, ROOM, struct op), .lanes = 1};
	for (int i = 0; i < 30 * 300; i++)
		put(&g, 0, 1, 1000, i % 300 == 299 ? PATTERN_WORK | PATTERN_HOST : PATTERN_WORK, 0);
	struct pattern_sequence s = sequence_of(&g, &arena);
	struct pattern p;
	pattern_find(&s, &arena, &p);
	assert_int_equal(p.n_loops, 1);
	assert_int_equal(p.loops[0].n, 30);
	assert_int_equal(p.loops[0].ops, 300);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_by_time), cmocka_unit_test(test_layers),
		cmocka_unit_test(test_plain),      cmocka_unit_test(test_nested),  cmocka_unit_test(test_accumulation),
		cmocka_unit_test(test_validation), cmocka_unit_test(test_asked),   cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_streams),    cmocka_unit_test(test_noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
