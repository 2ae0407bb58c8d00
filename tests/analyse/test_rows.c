/* Rows of a step: what lies in the columns of the step table is what the budget has, to the nanosecond, and their
 * intervals hold the truth as often as the table of the rule says (docs/method/verdict.md, "Parts"). */
#include "charge/idle.h"
#include "charge/parts_open.h"
#include "draws.h"
#include "random_trace.h"
#include "verdict/row.h"
#include "verdict/stats.h"
#include "verdict_pair.h"

#include <stdlib.h>

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

static int64_t sum_of(const struct step_table *t, const struct step_column *column)
{
	int64_t sum = 0;
	for (uint32_t b = 0; b < t->n_pieces; b++)
		sum += column->ns[b];
	return sum;
}

static int64_t idle_of(const struct run *run, enum cause cause, uint32_t phase)
{
	int64_t ns = 0;
	for (uint32_t d = 0; d < run->charge->n_devices; d++)
		for (uint32_t k = 0; k < run->charge->devices[d].cells.n; k++) {
			const struct cell *cell = &run->charge->devices[d].cells.cell[k];
			ns += cell->key.cause == cause && cell->key.phase == phase ? cell->ns : 0;
		}
	return ns;
}

/* Every nanosecond of the window is in one column, in the block in which it lies. */
static void columns_are_the_budget(void **unused)
{
	(void)unused;
	int with_steps = 0;
	for (int k = 1; k <= draws(400); k++) {
		struct arena memory = {0};
		struct maker m;
		struct names names;
		struct run run;
		struct err err = {0};
		struct random r = {(uint64_t)k * 7919};
		struct random_shape shape = {.length = 400000,
		                             .causal = k % 2,
		                             .steps = k % 4 != 3,
		                             .processes = 1 + k % 3,
		                             .max_calls = 60};
		names_init(&names, &memory);
		maker_init(&m, &memory, &names);
		random_trace(&m, &shape, &r);
		const struct trace *trace = maker_link(&m);
		if (trace->ops.n && run_prepare(&run, trace, NULL, 1, &memory, &err) == 0) {
			parts_charge(&run, 0, parts_open(&run, 0, &memory));
			const struct step_table *t = &run.charge->table;
			int64_t parts[3] = {0};
			for (uint32_t d = 0; d < run.charge->n_devices; d++) {
				parts[0] += run.charge->devices[d].compute;
				parts[1] += run.charge->devices[d].comm;
				parts[2] += run.charge->devices[d].copy;
			}
			for (uint32_t i = 0; i < t->n; i++) {
				if (t->list[i].kind < PART_IDLE)
					parts[t->list[i].kind] -= sum_of(t, &t->list[i]);
				else
					assert_true(sum_of(t, &t->list[i]) ==
					            idle_of(&run, t->list[i].cause, t->list[i].phase));
			}
			assert_true(!parts[0] && !parts[1] && !parts[2]);
			for (uint32_t b = 0; b < t->n_pieces; b++) {
				int64_t all = 0, from = b ? t->end[b - 1] : run.window.start;
				for (uint32_t i = 0; i < t->n; i++)
					all += t->list[i].ns[b];
				assert_true(all == (t->end[b] - from) * run.charge->n_devices);
			}
			with_steps += t->n_blocks > 1;
		}
		arena_release(&memory);
	}
	assert_true(with_steps > draws(400) / 10);
}

/* A thousand steps are 500 blocks of two; what crosses an end is divided there. */
static void blocks_by_hand(void **unused)
{
	(void)unused;
	enum { N = 1001 };
	struct step_table t;
	int64_t *end = ARENA_NEW(&arena, N, int64_t);
	for (int i = 0; i < N; i++)
		end[i] = 100 + (i + 1) * 10;
	step_table_begin(&t, 100, end, N, 4, &arena);
	assert_int_equal(t.steps, 2);
	assert_int_equal(t.n_blocks, 501);
	assert_int_equal(step_table_steps(t.n_steps, t.steps, 0), 2);
	assert_int_equal(step_table_steps(t.n_steps, t.steps, 500), 1);
	uint32_t at = step_table_idle(&t, CAUSE_HOST_CODE, 3);
	assert_int_equal(step_table_idle(&t, CAUSE_HOST_CODE, 3), at);
	assert_int_not_equal(step_table_idle(&t, CAUSE_HOST_CODE, 2), at);
	step_table_add(&t, at, 115, 145, 1);
	step_table_add(&t, at, 10105, 10110, 1);
	step_table_add(&t, at, 100, 101, 1); /* of an earlier step */
	assert_int_equal(t.list[at].ns[0], 6);
	assert_int_equal(t.list[at].ns[1], 20);
	assert_int_equal(t.list[at].ns[2], 5);
	assert_int_equal(t.list[at].ns[500], 5);
	step_table_add(&t, at, 118, 122, -1);
	assert_int_equal(t.list[at].ns[0], 4);
	assert_int_equal(t.list[at].ns[1], 18);
	arena_release(&arena);
}

/* How often the interval of a row that did not change holds 0: percent, in `rounds` pairs of runs of n steps. */
struct kind {
	const char *name;
	size_t n, runs;
	double noise, phi, rare, between; /* of the mean; share of steps that are 5 times as long; between runs */
	double held;                      /* percent that it must hold */
};

static void fill_run(const struct kind *c, double *x, size_t n)
{
	double ar = normal(), run = 1 + c->between * normal();
	for (size_t i = 0; i < n; i++) {
		ar = c->phi * ar + sqrt(1 - c->phi * c->phi) * normal();
		x[i] = run * 1e6 * (1 + c->noise * ar) * (uniform() < c->rare ? 5 : 1);
	}
}

static double held_by(const struct kind *c, int rounds, bool within)
{
	int held = 0;
	double *x = malloc(c->n * 2 * c->runs * sizeof *x);
	struct row_run runs[2][4];
	for (int k = 0; k < rounds; k++) {
		double mean[2] = {0};
		for (size_t s = 0; s < 2; s++)
			for (size_t r = 0; r < c->runs; r++) {
				double *row = x + (s * c->runs + r) * c->n;
				fill_run(c, row, c->n);
				runs[s][r] = (struct row_run){row, c->n, stats_mean(row, c->n)};
				mean[s] += runs[s][r].mean / (double)c->runs;
			}
		const struct row_side side[2] = {{runs[0], c->runs, false}, {runs[1], c->runs, false}};
		struct row_interval i = row_judge(side, 0, .03);
		assert_true(i.known && i.within <= i.half);
		held += fabs(mean[1] - mean[0]) <= (within ? i.within : i.half);
	}
	free(x);
	return 100.0 * held / rounds;
}

/* The table of the rule, less three standard errors of so few rounds: 1,200 of 95 % are 1.9 points. Of several runs
 * whose means are normal Student's t holds in 95 %; the rule's table has more, for rows of all kinds. */
static void intervals_hold_the_truth(void **unused)
{
	(void)unused;
	static const struct kind within[] = {{"normal 20", 20, 1, .05, 0, 0, 0, 95},
	                                     {"normal 200", 200, 1, .05, 0, 0, 0, 96},
	                                     {"AR .9 60", 60, 1, .05, .9, 0, 0, 95},
	                                     {"rare 60", 60, 1, .05, 0, .05, 0, 98}};
	static const struct kind whole[] = {{"one run, 1 %", 200, 1, .05, 0, 0, .01, 98.4},
	                                    {"two runs, 1 %", 60, 2, .05, 0, 0, .01, 95},
	                                    {"three runs, 1 %", 60, 3, .05, 0, 0, .01, 95}};
	int rounds = draws(1200);
	double errors = 3 * 100 * sqrt(.05 * .95 / rounds);
	for (size_t i = 0; i < sizeof within / sizeof *within; i++) {
		double held = held_by(&within[i], rounds, true);
		if (held < within[i].held - errors)
			fail_msg("%s: %.1f %%, expected %.1f", within[i].name, held, within[i].held);
	}
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
		double held = held_by(&whole[i], rounds, false);
		if (held < whole[i].held - errors)
			fail_msg("%s: %.1f %%, expected %.1f", whole[i].name, held, whole[i].held);
	}
}

/* b(q) of the rule: 1.125 z(1 - .025/q) / 1.96; z of 0.975, 0.9875 and 0.9975 are 1.959964, 2.241403 and 2.807034. */
static void named_rows_are_clear(void **unused)
{
	(void)unused;
	near(row_clear(1), 1.125, 1e-6);
	near(row_clear(2), 1.125 * 2.241403 / 1.959964, 1e-5);
	near(row_clear(10), 1.125 * 2.807034 / 1.959964, 1e-5);
}

/* What never varies has no width but the clock's. */
static void rows_by_hand(void **unused)
{
	(void)unused;
	double a[] = {5, 5, 5, 5, 5, 5}, b[] = {3, 3, 3, 3, 3, 3};
	struct row_run runs[2] = {{a, 6, 5}, {b, 6, 3}}, single[2] = {{a, 1, 5}, {b, 1, 3}};
	const struct row_side side[2] = {{&runs[0], 1, false}, {&runs[1], 1, false}},
			      span[2] = {{&single[0], 1, false}, {&single[1], 1, false}};
	struct row_interval i = row_judge(side, 0, .03);
	assert_true(i.known);
	near(i.within, 0, 0);
	near(i.half, .15, 1e-12);
	near(row_judge(side, .075, .03).half, .375, 1e-12);
	near(row_judge(side, 0, .25).half, 1.25, 1e-12);
	assert_false(row_judge(span, 0, .03).known);
	/* two runs each of 5 and 6, 3 and 4: pooled variance 0.5, t of 2 degrees of freedom 4.302653 */
	struct row_run two[2][2] = {{{a, 1, 5}, {a, 1, 6}}, {{b, 1, 3}, {b, 1, 4}}};
	const struct row_side both[2] = {{two[0], 2, false}, {two[1], 2, false}};
	i = row_judge(both, 0, .03);
	assert_true(i.known);
	near(i.half, 4.302653 * sqrt(.5), 1e-5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_the_budget), cmocka_unit_test(blocks_by_hand),
	                                   cmocka_unit_test(intervals_hold_the_truth),
	                                   cmocka_unit_test(named_rows_are_clear), cmocka_unit_test(rows_by_hand)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
