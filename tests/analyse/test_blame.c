/* For whom ranks wait in the end: by hand, and by the rule, wait by wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "charge/comm.h"

enum { RANKS = 4, MEETINGS = 16 };

/* The stretches of a rank, in order of time; none overlap. */
struct rank_waits {
	struct rank_wait *list;
	size_t n;
};

static void find(const struct rank_waits *waits, uint32_t n, bool follow, double *ns)
{
	struct blame blame = {0};
	for (uint32_t r = 0; r < n; r++)
		blame_add(&blame, waits[r].list, waits[r].n);
	blame_find(&blame, follow, ns);
}

/* Rank 2 waits for rank 1 from 60 to 100; they met at 0 and worked for 60 and 70 since: 10 is for rank 1 itself, 30 for
 * those that it waited for, 20 in a collective for rank 0, which worked all the time, and 10 in a bubble for rank 3. */
static void test_by_hand(void **state)
{
	(void)state;
	struct rank_wait of_1[] = {
		{.start = 5, .end = 25, .since = -10, .came = 5, .last = 25, .whom = 0},
		{.start = 30, .end = 40, .since = 0, .came = 30, .last = 40, .whom = 3, .bubble = true}};
	struct rank_wait of_2[] = {{.start = 60, .end = 100, .since = 0, .came = 60, .last = 100, .whom = 1}};
	struct rank_waits waits[4] = {{0}, {.list = of_1, .n = 2}, {.list = of_2, .n = 1}, {0}};
	double ns[4] = {0}, direct[4] = {0};
	find(waits, 4, true, ns);
	assert_float_equal(ns[0], 20 + 20, 1e-9);
	assert_float_equal(ns[1], 10, 1e-9);
	assert_float_equal(ns[2], 0, 1e-9);
	assert_float_equal(ns[3], 10, 1e-9);
	find(waits, 4, false, direct);
	assert_float_equal(direct[0], 20, 1e-9);
	assert_float_equal(direct[1], 40, 1e-9);
	assert_float_equal(direct[3], 0, 1e-9);
}

static uint64_t state_of = 1;
static uint32_t below(uint32_t n)
{
	state_of = state_of * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state_of >> 33) % n;
}

static double waited(const struct rank_waits *waits, int64_t from, int64_t to)
{
	double sum = 0;
	for (int64_t at = from; at < to; at++)
		for (size_t i = 0; i < waits->n; i++)
			sum += waits->list[i].start <= at && at < waits->list[i].end;
	return sum;
}

/* The rule, wait by wait: `part` of a wait. */
static void follow(const struct rank_waits *waits, uint32_t rank, const struct rank_wait *w, double part, double *ns)
{
	const struct rank_waits *theirs = &waits[w->whom];
	double whom = waited(theirs, w->since, w->last), all = (double)(w->last - w->came);
	double worked = (double)(w->last - w->since) - whom;
	double more = worked - ((double)(w->came - w->since) - waited(&waits[rank], w->since, w->came));
	double own = !whom || more >= all ? 1 : more <= 0 ? 0 : more / all;
	ns[w->whom] += own * part;
	for (size_t i = 0; i < theirs->n && own < 1; i++) {
		struct rank_waits alone = {.list = &theirs->list[i], .n = 1};
		double of = waited(&alone, w->since, w->last);
		if (of > 0)
			follow(waits, w->whom, alone.list, (1 - own) * part * of / whom, ns);
	}
}

/* Ranks that work for a while and meet in any set of them, over and over. */
static void test_the_rule(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		static struct rank_wait list[RANKS][MEETINGS];
		struct rank_waits waits[RANKS] = {{0}};
		int64_t met[1 << RANKS] = {0}, now[RANKS] = {0};
		double ns[RANKS] = {0}, expected[RANKS] = {0};
		for (uint32_t r = 0; r < RANKS; r++)
			waits[r].list = list[r];
		for (int k = 0; k < MEETINGS; k++) {
			uint32_t who = 1 + below((1 << RANKS) - 1), last = RANKS;
			for (uint32_t r = 0; r < RANKS; r++) {
				now[r] += who >> r & 1 ? 1 + below(20) : 0;
				if (who >> r & 1 && (last == RANKS || now[r] > now[last]))
					last = r;
			}
			const int64_t come = now[last], before = met[who];
			bool bubble = below(3) == 0;
			for (uint32_t r = 0; r < RANKS; r++) {
				if (!(who >> r & 1))
					continue;
				if (now[r] < come)
					list[r][waits[r].n++] = (struct rank_wait){.start = now[r],
					                                           .end = come,
					                                           .since = before,
					                                           .came = now[r],
					                                           .last = come,
					                                           .whom = last,
					                                           .bubble = bubble};
				now[r] = come + 1 + below(5);
			}
			met[who] = come;
		}
		for (uint32_t r = 0; r < RANKS; r++)
			for (size_t i = 0; i < waits[r].n; i++)
				if (!list[r][i].bubble)
					follow(waits, r, &list[r][i], (double)(list[r][i].end - list[r][i].start),
					       expected);
		find(waits, RANKS, true, ns);
		for (uint32_t r = 0; r < RANKS; r++)
			assert_float_equal(ns[r], expected[r], 1e-6);
	}
}

/* Clocks that are not quite one may let ranks wait for each other. */
static void test_a_ring_ends(void **state)
{
	(void)state;
	struct rank_wait of_0 = {.end = 10, .last = 10, .whom = 1}, of_1 = {.end = 10, .last = 10, .whom = 0};
	struct rank_waits waits[2] = {{.list = &of_0, .n = 1}, {.list = &of_1, .n = 1}};
	double ns[2] = {0};
	find(waits, 2, true, ns);
	assert_float_equal(ns[0] + ns[1], 20, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_the_rule),
		cmocka_unit_test(test_a_ring_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
