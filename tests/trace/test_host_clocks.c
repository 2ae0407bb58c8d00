/* Clocks of hosts that never meet: they are found through others, the surest ones first, and what is stated adds up. */
#include "trace/files.h"
#include "trace_maker.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { US = 1000, MS = 1000 * US, HOSTS = 4, MEETINGS = 80 };

/* Two hosts whose ranks meet in collectives, which move data for so long: the less, the better their clocks are known.
 */
struct couple {
	int host[2];
	const char *kernel;
	int64_t moves;
};

struct world {
	struct arena arena;
	struct names names;
	struct maker maker[HOSTS];
	uint32_t thread[HOSTS], device[HOSTS], correlation;
	int n;
	int64_t ahead[HOSTS];
	int64_t wander; /* every other meeting, the last host's clock is so much further ahead */
	int unknown;    /* the host whose clock is not known then; 0: all are */
	struct merge_part part[HOSTS];
	struct host_clocks clocks;
};

static uint64_t seed;

static int64_t uniform(int64_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)limit);
}

static void meet(struct world *w, const struct couple *c, int64_t at)
{
	int64_t entered[2] = {at + uniform(300 * US), at + uniform(300 * US)};
	int64_t moved = (entered[0] > entered[1] ? entered[0] : entered[1]) + c->moves;
	for (int i = 0; i < 2; i++) {
		int h = c->host[i];
		int64_t ahead = w->ahead[h] + (h == w->n - 1 && at / (10 * MS) % 2 ? w->wander : 0);
		int64_t start = entered[i] + ahead, end = moved + uniform(2 * US) + ahead;
		maker_call(&w->maker[h], w->thread[h], start - 9 * US, start - 5 * US, "cudaLaunchKernel", CALL_LAUNCH,
		           ++w->correlation);
		maker_op(&w->maker[h], w->device[h], 7, OP_COMM, start, end, c->kernel, w->correlation);
	}
}

/* Aligns the hosts' files, and holds each clock that is known against the one that was put in. */
static void align(struct world *w, int n, const int64_t *ahead, const struct couple *couples, size_t n_couples)
{
	seed = 1;
	w->n = n;
	names_init(&w->names, &w->arena);
	for (int h = 0; h < n; h++) {
		struct maker *m = &w->maker[h];
		maker_init(m, &w->arena, &w->names);
		uint32_t process = maker_process(m, 100);
		w->thread[h] = maker_thread(m, process, 100);
		w->device[h] = maker_device(m, process, 0, TRACE_NONE);
		w->ahead[h] = ahead[h];
	}
	for (int64_t k = 0; k < MEETINGS; k++)
		for (size_t c = 0; c < n_couples; c++)
			meet(w, &couples[c], (10 * k + 1 + 2 * (int64_t)c) * MS);
	for (int h = 0; h < n; h++) {
		maker_link(&w->maker[h]);
		w->maker[h].trace->source.host = 11 + (uint64_t)h;
		w->part[h] = (struct merge_part){.trace = w->maker[h].trace};
	}
	clocks_align(w->part, (size_t)n, &w->arena, &w->clocks);
	assert_int_equal(w->clocks.n, n);
	for (int h = 0; h < n; h++) {
		assert_int_equal(w->clocks.list[h].known, !w->unknown || h != w->unknown);
		if (!w->clocks.list[h].known)
			continue;
		for (int64_t t = 0; t < 10 * MEETINGS * MS; t += 100 * MS) {
			double error = (double)(time_map_of(&w->part[h].map, t + w->ahead[h]) - (t + w->ahead[0]));
			if (fabs(error) > w->clocks.list[h].within + 2)
				fail_msg("host %d is wrong by %.0f ns, stated are %.0f", h, error,
				         w->clocks.list[h].within);
		}
	}
}

static void found_through_another_host(void **state)
{
	(void)state;
	static const struct couple couples[] = {{{0, 1}, "ncclDevKernel_AllReduce_a", 50 * US},
	                                        {{1, 2}, "ncclDevKernel_AllReduce_b", 50 * US}};
	struct world w = {0};
	align(&w, 3, (const int64_t[]){0, 3 * MS, -2 * MS}, couples, 2);
	const struct trace_clock *clock = w.clocks.list;
	assert_true(clock[0].within == 0 && clock[1].within > 0);
	assert_true(clock[2].within > 1.5 * clock[1].within); /* both are as sure: what is found through one is twice */
	arena_release(&w.arena);
}

static void the_surest_way_is_taken(void **state)
{
	/* The last host meets both others: the second one's clock is hardly known, the third one's well. */
	(void)state;
	static const struct couple couples[] = {{{0, 1}, "ncclDevKernel_AllReduce_a", 900 * US},
	                                        {{0, 2}, "ncclDevKernel_AllReduce_b", 50 * US},
	                                        {{1, 3}, "ncclDevKernel_AllReduce_c", 50 * US},
	                                        {{2, 3}, "ncclDevKernel_AllReduce_d", 50 * US}};
	struct world w = {0};
	align(&w, 4, (const int64_t[]){0, 3 * MS, -2 * MS, 5 * MS}, couples, 4);
	const struct trace_clock *clock = w.clocks.list;
	assert_true(clock[1].within > 4 * clock[2].within);
	assert_true(clock[3].within < clock[1].within / 2);
	arena_release(&w.arena);
}

/* A clock that jumps back and forth is none: its bounds would have to give way by more than one that is read. */
static void a_clock_that_jumps_is_not_known(void **state)
{
	(void)state;
	static const struct couple couples[] = {{{0, 1}, "ncclDevKernel_AllReduce_a", 50 * US}};
	struct world w = {.wander = 200 * US, .unknown = 1};
	align(&w, 2, (const int64_t[]){0, 3 * MS}, couples, 1);
	arena_release(&w.arena);
}

/* A drifting clock's times are rounded as the C library rounds, halves away from zero. */
static void times_are_rounded_to_the_nearest(void **state)
{
	static const double drifts[] = {1e-3, -1e-3, 0.5, -0.5, 1.0 / 3, 3e-9, 0.25};
	(void)state;
	for (size_t d = 0; d < sizeof drifts / sizeof *drifts; d++)
		for (int64_t time = -50; time <= (int64_t)1 << 59; time = time < 50 ? time + 1 : time * 3 + 1) {
			const struct time_map map = {.offset = 1000, .drift = drifts[d], .at = 7};
			assert_int_equal(time_map_of(&map, time),
			                 time + 1000 + llround(drifts[d] * (double)(time - 7)));
		}
}

/* Nine collectives at the end of one host's are as regular as nine at the beginning of the other's, and clocks that are
 * far apart lay those on each other: a match of so few says nothing beside one of a hundred. */
static void few_collectives_match_by_chance(void **state)
{
	enum { N = 100, FEW = 9 };
	struct meeting a[N], b[N];
	struct arena scratch = {0};
	int64_t at = 0, shift = -1;
	(void)state;
	seed = 3;
	for (size_t k = 0; k < N; k++) {
		bool regular = k < FEW || k >= N - FEW;
		at += regular ? 10 * MS : 5 * MS + uniform(10 * MS);
		a[k] = (struct meeting){at - uniform(900 * US), at};
		b[k] = (struct meeting){at - uniform(900 * US), at + (regular ? 0 : uniform(20 * US))};
	}
	int64_t apart = a[N - FEW].left - b[0].left;
	for (size_t k = 0; k < N; k++)
		b[k] = (struct meeting){b[k].entered + apart, b[k].left + apart};
	const struct clock_seen host = {a, N}, other = {b, N};
	assert_true(clock_shift_find(&host, &other, false, &scratch, &shift));
	assert_int_equal(shift, 0);
	arena_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_collectives_match_by_chance), cmocka_unit_test(times_are_rounded_to_the_nearest),
		cmocka_unit_test(found_through_another_host),      cmocka_unit_test(the_surest_way_is_taken),
		cmocka_unit_test(a_clock_that_jumps_is_not_known),
	};
	return cmocka_run_group_tests_name("host clocks", tests, NULL, NULL);
}
