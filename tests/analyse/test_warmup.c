/* Where a run starts: the warm-up that is cut, and what is none. */
#include "verdict/stats.h"
#include "verdict_pair.h"

static void warmup_by_hand(void **unused)
{
	(void)unused;
	int64_t period[6] = {10, 20, 30, 40, 50, 60};
	static const struct {
		int warmup;
		size_t cut;
	} CASES[] = {{0, 0}, {1, 0}, {2, 1}, {4, 3}, {6, 5}, {7, 5}, {1000000, 5}};
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct series s = measure(period, 6, CASES[i].warmup);
		assert_int_equal(s.cut, CASES[i].cut);
		assert_int_equal(s.m, 6 - CASES[i].cut);
	}
	near(measure(period, 6, 7).mean, 60, 0);
}

static size_t cut_of(const int64_t *period, size_t n)
{
	return measure(period, n, -1).cut;
}

static void warmup_found(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = 1000000;
	assert_int_equal(cut_of(p, 40), 0);
	/* three slow steps in front */
	p[0] = 1500000, p[1] = 1300000, p[2] = 1200000;
	assert_int_equal(cut_of(p, 40), 3);
	assert_int_equal(cut_of(p, 8), 3);
	/* at least five steps are left: of 7 at most 2 may go, and with the third still in, these two are cut */
	assert_int_equal(cut_of(p, 7), 2);
	assert_int_equal(cut_of(p, 5), 0);
	/* the first step alone is warm-up however isolated it is … */
	p[1] = p[2] = 1000000;
	assert_int_equal(cut_of(p, 40), 1);
	/* … and the second alone is a spike, which is clipped and cuts nothing */
	p[0] = 1000000, p[1] = 1500000;
	assert_int_equal(cut_of(p, 40), 0);
	/* two together are no isolated spike */
	p[2] = 1500000;
	assert_int_equal(cut_of(p, 40), 3);
	/* a series that ends with a spike: the last element has one neighbour */
	p[1] = p[2] = 1000000, p[39] = 1500000;
	assert_int_equal(cut_of(p, 40), 0);
	/* faster at first: nothing to cut, the statistics must bear it */
	p[39] = 1000000, p[0] = p[1] = 700000;
	assert_int_equal(cut_of(p, 40), 0);
}

/* Spikes inflate the variance of every remainder alike and so hide a warm-up; clipped, they do not. The warm-up has a
 * quick step before it, so that only MSER can find it. */
static void spikes_hide_no_warmup(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = i > 0 && i < 4 ? 1070000 : 1000000;
	assert_int_equal(cut_of(p, 40), 4);
	p[39] = 1090000; /* the last element has one neighbour */
	assert_int_equal(cut_of(p, 40), 4);
	p[20] = p[26] = p[32] = 1090000;
	assert_int_equal(cut_of(p, 40), 4);
	/* The fence comes from the second half: 5 values of −10 % and 6 of +10 % among 20 have the MAD 10 %, so that
	 * nothing is a spike. The squares of these 11, 0.11, drown the warm-up's 3 · 0.07²: over 40² less than 0.11
	 * over 36². (A fence from the still first half would clip the six, and 0.05 would not drown it.) */
	for (int i = 0; i < 40; i++)
		p[i] = i > 0 && i < 4 ? 1070000 : i < 24 || i > 34 ? 1000000 : i % 2 ? 900000 : 1100000;
	assert_int_equal(cut_of(p, 40), 0);
	/* ±1 % in turn: the fence is 1 + 3 · 1.4826 = 5.4 % above the lower of them. Spikes of 7 % are clipped to it.
	 */
	for (int i = 0; i < 40; i++)
		p[i] = i > 0 && i < 4 ? 1060000 : i % 2 ? 1010000 : 990000;
	p[10] = p[16] = p[22] = p[28] = p[34] = 1070000;
	assert_int_equal(cut_of(p, 40), 4);
}

/* What leads and is slow is left out, however steady the rest is that MSER would rather cut. */
static void slow_start_is_skipped(void **unused)
{
	(void)unused;
	int64_t p[40];
	/* a slow first step, then one that settles by 0.3 % until the tenth: MSER cuts 10, which are not slow as a
	 * whole */
	for (int i = 0; i < 40; i++)
		p[i] = i < 10 ? 1003000 : 1000000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = 1110000;
	assert_int_equal(cut_of(p, 40), 1);
	p[1] = 1050000;
	assert_int_equal(cut_of(p, 40), 2);
	p[3] = 1050000; /* not behind a steady step */
	assert_int_equal(cut_of(p, 40), 2);
	/* nor within half a percent */
	p[0] = p[1] = 1004900, p[3] = 1003000;
	assert_int_equal(cut_of(p, 40), 0);
	/* nor within 3 · 1.4826 · MAD: −2 to 2 % in equal parts make it 4.47 %. A quick step behind it keeps MSER from
	 * cutting at the front. */
	for (int i = 0; i < 40; i++)
		p[i] = 980000 + 10000 * (i * 7 % 5);
	p[1] = 700000;
	p[0] = 1040000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = 1060000;
	assert_int_equal(cut_of(p, 40), 1);
	p[1] = 1000000;
	/* with 8 steps all of them are needed for an interval */
	p[0] = 1500000;
	assert_int_equal(cut_of(p, 9), 1);
	for (int i = 0; i < 9; i++)
		p[i] = i == 0 ? 1110000 : i < 3 ? 1003000 : 1000000;
	assert_int_equal(cut_of(p, 9), 1);
	assert_int_equal(cut_of(p, 8), 0);
}

static void warmup_must_be_material(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = 1000000;
	/* beyond half a percent, also where nothing varies */
	p[0] = p[1] = p[2] = 1004000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = p[1] = p[2] = 1006000;
	assert_int_equal(cut_of(p, 40), 3);
	/* and beyond 2 · 1.4826 · MAD: ±1 % in turn makes it 2.97 % */
	for (int i = 0; i < 40; i++)
		p[i] = i % 2 ? 1010000 : 990000;
	p[0] = p[1] = p[2] = p[3] = 1027000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = p[1] = p[2] = p[3] = 1035000;
	assert_int_equal(cut_of(p, 40), 4);
	/* two slow steps behind six good ones: the mean of these eight is high, their median is not */
	for (int i = 0; i < 40; i++)
		p[i] = i == 6 || i == 7 ? 1500000 : 1000000;
	assert_int_equal(cut_of(p, 40), 0);
}

/* Three slow steps: of as large kernels, of kernels that are larger by half of what the steps are longer, by less, and
 * by what makes the later two longer. And a second half that falls. */
static void larger_kernels_are_no_start(void **unused)
{
	(void)unused;
	static const struct {
		int64_t grid[3];
		size_t cut;
	} CASES[] = {{{100, 100, 100}, 3}, {{142, 133, 123}, 0}, {{120, 112, 108}, 3}, {{100, 160, 150}, 1}};
	int64_t p[40], grid[40];
	struct series s;
	for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
		for (int i = 0; i < 40; i++) {
			p[i] = i < 3 ? 2000000 - 250000 * i : 1000000;
			grid[i] = i < 3 ? CASES[c].grid[i] : 100;
		}
		series_cut(&(struct verdict_run){.period = p, .n = 40, .grid = grid}, -1, &s);
		assert_int_equal(s.cut, CASES[c].cut);
	}
	for (int alike = 0; alike < 2; alike++) {
		for (int i = 0; i < 40; i++)
			grid[i] = alike ? 100 : (p[i] = 2000000 - 20000 * i) / 1000;
		series_cut(&(struct verdict_run){.period = p, .n = 40, .grid = grid}, -1, &s);
		assert_int_equal(s.warming, alike);
	}
}

/* The lower median: of two steps of which one is slow none is a slow start. Five steps settle by 0.6 % afterwards, so
 * that MSER cuts seven. */
static void one_slow_step_is_no_start(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = i % 2 ? 1000500 : 999500;
	p[1] = 1200000;
	p[2] = 1150000; /* two together are no spike: MSER cuts three, one of which is quick: mean and lower median
	                   count */
	assert_int_equal(cut_of(p, 40), 3);
	p[2] = 999500;
	assert_int_equal(cut_of(p, 40), 0);
}

/* What comes back is the program: a checkpoint at step 0, 12, 24. */
static void what_comes_back_is_no_start(void **unused)
{
	(void)unused;
	int64_t p[36];
	for (int i = 0; i < 36; i++)
		p[i] = i == 0 ? 3000000 : 1000000 + i % 3;
	assert_int_equal(cut_of(p, 36), 1);
	p[12] = p[24] = 3000000;
	assert_int_equal(cut_of(p, 36), 0);
	/* half the head's excess, in logs, is enough, less is not: √3 = 1.732 */
	p[12] = p[24] = 1740000;
	assert_int_equal(cut_of(p, 36), 0);
	p[12] = p[24] = 1720000;
	assert_int_equal(cut_of(p, 36), 1);
}

/* A level that holds for more than a quarter and does not decay is kept, and said. */
static void a_level_is_kept(void **unused)
{
	(void)unused;
	int64_t p[60];
	for (int i = 0; i < 60; i++)
		p[i] = (i < 20 ? 1300000 : 1000000) + i % 3 * 100;
	struct series s = measure(p, 60, -1);
	assert_int_equal(s.cut, 0);
	assert_true(s.level_start && s.level_n == 20);
	near(expm1(s.level_excess), 0.3, 1e-3);
	/* nor one behind whose end steps are a little slower for a while: another process had the GPU */
	for (int slow = 20; slow >= 12; slow -= 8) {
		for (int i = 0; i < 60; i++)
			p[i] = (i < slow ? 24000000 : i < 28 ? 1060000 : 1000000) + i % 3 * 100;
		s = measure(p, 60, -1);
		assert_int_equal(s.cut, slow == 20 ? 0 : 28); /* no more than a quarter is left out … */
		assert_true(slow == 20 ? s.level_start && s.level_n == 20 : s.flat); /* … but it gets no faster */
	}
	/* one that decays goes: 30 %, 27 %, … and what is left of it below the noise */
	for (int i = 0; i < 60; i++)
		p[i] = (i < 20 ? 1300000 - 14000 * i : 1000000) + i % 3 * 100;
	s = measure(p, 60, -1);
	assert_int_equal(s.cut, 20);
	assert_false(s.level_start || s.warming);
	/* up to a quarter nothing is asked */
	for (int i = 0; i < 60; i++)
		p[i] = (i < 15 ? 1300000 : 1000000) + i % 3 * 100;
	assert_int_equal(cut_of(p, 60), 15);
}

/* A cut that reaches the middle, or a rest that still falls: the level was never reached. */
static void still_warming(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = (int64_t)(1e6 * (1 + exp(-i / 15.0)) + i % 3 * 100);
	struct series s = measure(p, 40, -1);
	assert_true(s.cut > 0 && s.warming);
	for (int i = 0; i < 40; i++)
		p[i] = (int64_t)(1e6 * (1 + exp(-i / 2.0)) + i % 3 * 100);
	s = measure(p, 40, -1);
	assert_true(s.cut > 0 && !s.warming);
	/* one that takes longer than the capture: 17 of 17 periods fall, and no cut of them decays to a half */
	for (int n = 12; n <= 36; n += 6) {
		for (int i = 0; i < n; i++)
			p[i] = (int64_t)(1e6 * (1 + exp(-i / 35.0)) + i * 37 % 5 * 2000);
		assert_true(measure(p, (size_t)n, -1).warming);
	}
	/* a change of level in the second half is another state and no start; nor is a fall of less than half a percent
	 */
	for (int i = 0; i < 40; i++)
		p[i] = (i >= 20 && i < 30 ? 1300000 : 1000000) + i % 3 * 100;
	assert_false(measure(p, 40, -1).warming);
	for (int i = 0; i < 40; i++)
		p[i] = 1000000 - 100 * i + i % 3 * 100;
	assert_false(measure(p, 40, -1).warming);
	/* what --warmup leaves out is the user's word */
	for (int i = 0; i < 40; i++)
		p[i] = 1000000 + i % 3 * 100;
	assert_false(measure(p, 40, 30).warming);
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(warmup_by_hand),
		TEST(warmup_found),
		TEST(spikes_hide_no_warmup),
		TEST(slow_start_is_skipped),
		TEST(warmup_must_be_material),
		TEST(larger_kernels_are_no_start),
		TEST(one_slow_step_is_no_start),
		TEST(what_comes_back_is_no_start),
		TEST(a_level_is_kept),
		TEST(still_warming),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
