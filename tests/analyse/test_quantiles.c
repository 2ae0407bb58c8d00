/* Quantiles of steps: worked out by hand, and simulated. What the simulation has to reach is the published table of the
 * rule (docs/method/verdict.md, "The slowest steps"): how often the interval holds the true quantile, and how often
 * there are too few steps. */
#include "draws.h"
#include "find/quantiles.h"
#include "verdict_pair.h"

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* 100 steps of 1 … 100 µs in an order that hangs together nowhere: 11 generates the residues of 101. */
static void ranks_by_hand(void **unused)
{
	(void)unused;
	enum { N = 100 };
	int64_t period[N];
	for (int64_t i = 0, at = 1; i < N; i++, at = at * 11 % 101)
		period[i] = at * 1000;
	struct quantile q[QUANTILES];
	quantiles_of_run(period, N, q);
	near(q[0].at, 50000, 0);
	near(q[1].at, 90000, 0);
	near(q[2].at, 95000, 0);
	near(q[3].at, 99000, 0);
	/* p50, τ 1: d = 1.96 √25 = 9.8: ranks ⌊40.7⌋ = 40 and ⌊60.3⌋ + 1 = 61; τ is at least 1 */
	assert_true(q[0].has_interval);
	assert_true(q[0].lo <= 40000 && q[0].hi >= 61000);
	/* a hundred steps have one beyond their p99, where five are asked for */
	assert_false(q[3].has_interval);
	near(q[3].lo, q[3].at, 0);
	near(q[3].needed, 500, 1e-9);
	near(q[2].needed, 100, 1e-9);
	near(q[1].needed, 50, 1e-9);
	near(q[0].needed, 40, 0);
	assert_true(q[3].independent <= N);
	/* nothing varies: one number, and it is sure */
	for (int i = 0; i < N; i++)
		period[i] = 5000;
	quantiles_of_run(period, N, q);
	assert_true(q[1].has_interval && q[1].lo == 5000 && q[1].hi == 5000);
	quantiles_of_run(period, 0, q);
	assert_false(q[0].known);
}

struct sample_cell {
	int n;
	double phi;
	double coverage[QUANTILES], most[QUANTILES]; /* percent, from and to; 0: always too few */
	double few[QUANTILES];                       /* at most */
};

static void simulate(const struct sample_cell *c, int rounds)
{
	static const double z[QUANTILES] = {0, 1.2815515655446004, 1.6448536269514722, 2.3263478740408408};
	int64_t *period = ARENA_NEW(&arena, (size_t)c->n, int64_t);
	int held[QUANTILES] = {0}, with[QUANTILES] = {0};
	for (int i = 0; i < rounds; i++) {
		double ar = normal();
		for (int k = 0; k < c->n; k++) {
			period[k] = (int64_t)llround(1e8 * (1 + .05 * ar));
			ar = c->phi * ar + sqrt(1 - c->phi * c->phi) * normal();
		}
		struct quantile q[QUANTILES];
		quantiles_of_run(period, (size_t)c->n, q);
		for (int k = 0; k < QUANTILES; k++) {
			double truth = 1e8 * (1 + .05 * z[k]);
			with[k] += q[k].has_interval;
			held[k] += q[k].has_interval && q[k].lo <= truth && truth <= q[k].hi;
		}
	}
	for (int k = 0; k < QUANTILES; k++) {
		double few = 100 - 100.0 * with[k] / rounds, coverage = with[k] ? 100.0 * held[k] / with[k] : 0;
		double share = c->coverage[k] / 100;
		double slack = share > 0 && with[k] ? 300 * sqrt(share * (1 - share) / with[k]) + .5 : 0;
		double of_few = 300 * sqrt(fmax(c->few[k], 1) / 100 * (1 - fmin(c->few[k], 99) / 100) / rounds) + .5;
		if (coverage < c->coverage[k] - slack || coverage > c->most[k] + slack || few > c->few[k] + of_few)
			fail_msg("n %d, phi %g, quantile %d: holds in %.1f %%, too few in %.1f %%", c->n, c->phi, k,
			         coverage, few);
		if (few < (k == 3 && c->few[k] == 100 ? 100 : c->few[k] == 100 ? 99.5 : 0))
			fail_msg("n %d, phi %g, quantile %d: too few in %.1f %% only", c->n, c->phi, k, few);
	}
}

static void as_the_table_says(void **unused)
{
	(void)unused;
	seed = 9000;
	static const struct sample_cell cells[] = {
		{200, 0, {97, 96, 97, 0}, {97, 96, 97, 100}, {0, 0, 1, 100}},
		{200, .5, {94, 94, 94, 0}, {95, 95, 95, 100}, {4, 5, 23, 100}},
		{200, .9, {0, 0, 0, 0}, {100, 100, 100, 100}, {100, 100, 100, 100}},
		{1000, 0, {96, 96, 96, 97}, {96, 97, 97, 97}, {0, 0, 0, 0}},
		{1000, .5, {95, 95, 95, 96}, {96, 95, 95, 96}, {0, 0, 0, 4}},
	};
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		simulate(&cells[i], draws(7000)); /* so that it is told within 1.5 points */
}

static void add(struct pair *p, int side, size_t n, double step, uint64_t from)
{
	struct verdict_run *run = &p->run[side][p->side[side].n_runs];
	int64_t *period = p->period[side][p->side[side].n_runs++];
	seed = from * 2862933555777941757u + 3037000493u;
	for (size_t i = 0; i < n; i++)
		period[i] = (int64_t)llround(step * (1 + .05 * normal()));
	*run = (struct verdict_run){.period = period, .n = n};
}

/* Twice as fast is half of each quantile; another session widens, runs of other lengths add what they share. */
static void changes(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	struct quantile_change c[QUANTILES], wide[QUANTILES];
	add(p, 0, 300, 2e7, 1);
	add(p, 1, 300, 1e7, 2);
	p->v = verdict_judge(p->side, 1, &p->conditions, &arena);
	quantiles_changes(p->side, &p->v, c);
	for (int k = 0; k < 3; k++) {
		assert_true(c[k].has_interval);
		assert_true(c[k].lo < .5 && .5 < c[k].hi && c[k].hi / c[k].lo < 1.1);
	}
	assert_false(c[3].has_interval);
	near(c[3].lo, c[3].ratio, 0);
	p->v.exchange.apart = .075;
	quantiles_changes(p->side, &p->v, wide);
	near(log(wide[0].ratio / wide[0].lo), hypot(log(c[0].ratio / c[0].lo), .075), 1e-12);
	p->v.exchange.apart = 0;
	/* slow steps that come after the end of the shorter run */
	p = pair_new();
	add(p, 0, 500, 2e7, 3);
	add(p, 1, 150, 1e7, 4);
	for (size_t i = 150; i < 500; i++)
		p->period[0][0][i] *= uniform() < .3 ? 2 : 1;
	p->v = verdict_judge(p->side, 1, &p->conditions, &arena);
	quantiles_changes(p->side, &p->v, c);
	assert_true(c[1].ratio < .3 && c[1].lo < .27 && c[1].hi > .49);
}

/* Three runs that differ by 10 % while each is steady: their own spread is what is not known. */
static void runs_differ(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	struct quantile q[QUANTILES], one[QUANTILES];
	static const double step[3] = {1e7, 1.1e7, 1.2e7};
	for (int r = 0; r < 3; r++)
		add(p, 0, 200, step[r], (uint64_t)r);
	struct series series[3] = {{0}};
	quantiles_of_side(&p->side[0], series, q);
	quantiles_of_run(p->run[0][0].period, 200, one);
	assert_true(q[0].hi / q[0].lo > 1.4 && one[0].hi / one[0].lo < 1.05);
	near(log(q[0].at), log(1e7 * 1.1e7 * 1.2e7) / 3, .02);
	p->side[0].steps = false;
	quantiles_of_side(&p->side[0], series, q);
	assert_false(q[0].known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_by_hand),
		cmocka_unit_test(as_the_table_says),
		cmocka_unit_test(changes),
		cmocka_unit_test(runs_differ),
	};
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
