/* Runs of other sessions, of a machine in two states, and not made in turns: how often the verdict of timed runs is
 * wrong, simulated with the code that decides. Each cell is held against a simulation that was made before this code,
 * with other draws and 200,000 pairs: it may be worse by three standard errors. Fixed seed, own generator: the same
 * numbers everywhere. Percent of ln throughout.
 *
 *	test_sessions [PAIRS]      pairs of a cell, 1,000 unless told */
#include "draws.h"
#include "gate/gate.h"
#include "random.h"
#include "verdict/evidence.h"
#include "verdict/proof.h"
#include "verdict/stopwatch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RUNS = 128, HOUR = 3600, DAY = 24 * HOUR };

static int pairs = 1000;
static uint64_t state;

static double uniform(void)
{
	return random_uniform(&state);
}

static double normal(void)
{
	return random_normal(&state);
}

/* A pair of sides, one time per run. */
struct made {
	struct stopwatch_run run[2][MOST_RUNS];
	size_t n[2];
};

/* Run of side s at `seconds`, on a host (0: not known), `ln` percent longer than a second. */
static void add(struct made *m, int s, int64_t seconds, uint64_t host, double ln)
{
	m->run[s][m->n[s]++] = (struct stopwatch_run){
		.step = 1e9 * exp(ln / 100), .steps = 50, .start = 1 + seconds * 1000000000, .place = {.host = host}};
}

struct tally {
	int pairs, wrong, right, covered, gates;
	struct verdict last; /* its numbers, not its facts */
};

/* `change`: percent of ln, that the fixed side is faster by. */
static void judge(const struct made *m, double change, struct tally *t)
{
	struct arena arena = {0};
	const struct stopwatch_side side[2] = {{.runs = m->run[0], .n_runs = m->n[0]},
	                                       {.runs = m->run[1], .n_runs = m->n[1]}};
	struct verdict v = verdict_stopwatch(side, NULL, &arena);
	bool direction = v.result == VERDICT_FASTER || v.result == VERDICT_SLOWER;
	t->pairs++;
	t->wrong += direction && (change > 0 ? v.result == VERDICT_SLOWER : true);
	t->right += change > 0 && v.result == VERDICT_FASTER;
	t->covered += log(v.lo) <= change / 100 && log(v.hi) >= change / 100;
	t->gates += log(gates_lo(&v)) >= change / 100;
	t->last = v;
	arena_release(&arena);
}

static int broken;

/* Three standard errors of a share, in percent; that of 0 and 100 as if one in a thousand were. */
static double luck(double percent, const struct tally *t)
{
	double p = fmin(fmax(percent / 100, .001), .999);
	return 300 * sqrt(p * (1 - p) / t->pairs);
}

static void hold(const char *what, double found, double least, double most, const struct tally *t)
{
	if (draws_apart() > 1 || (found >= least - luck(least, t) && found <= most + luck(most, t)))
		return;
	printf("^ %s: %.2f %% is not between %.1f and %.1f %%\n", what, found, least, most);
	broken++;
}

static double share(int of, const struct tally *t)
{
	return 100.0 * of / t->pairs;
}

/* Changes are those that 80 of 100 pairs find, to a tenth of a percent. That the larger of both variances serves for
 * both sides, which the other simulation had in one table only, costs up to eight of them there (72 instead of 80). */
static const double FOUND = 80, LARGER = 8, ROUNDED = .05;

/* ---- sides that share no session ---- */

/* What days, hosts and runs differ by; for three and five runs per side: pairs of like against like with a direction,
 * and the change that 80 of 100 pairs find. */
static const struct session_cell {
	double day, host, run, wrong[2], found[2];
} SESSIONS[] = {
	{0, 0, .3, {0, 0}, {7.7, 7.7}},       {0, 0, 1, {0, 0}, {8.7, 8.2}},       {0, 0, 3, {0, 0}, {13.3, 10.4}},
	{1, 0, .3, {0, 0}, {8.7, 8.7}},       {1, 0, 1, {0, 0}, {9.3, 9.0}},       {1, 0, 3, {.1, 0}, {13.6, 10.8}},
	{1, 1, .3, {0, 0}, {9.2, 9.2}},       {1, 1, 1, {0, 0}, {9.8, 9.4}},       {1, 1, 3, {.2, .2}, {13.8, 11.1}},
	{2, 0, .3, {.8, .8}, {9.9, 9.9}},     {2, 0, 1, {.7, .9}, {10.5, 10.1}},   {2, 0, 3, {.9, 1.1}, {14.3, 11.7}},
	{2, 1, .3, {1.7, 1.8}, {10.2, 10.2}}, {2, 1, 1, {1.5, 1.8}, {10.7, 10.4}}, {2, 1, 3, {1.4, 1.9}, {14.4, 11.9}},
};

static struct tally apart(const struct session_cell *c, size_t runs, double change)
{
	struct tally t = {0};
	for (int i = 0; i < draws(pairs); i++) {
		struct made m = {0};
		for (int s = 0; s < 2; s++) {
			double session = c->day * normal() + c->host * normal() - (s ? change : 0);
			for (size_t r = 0; r < runs; r++)
				add(&m, s, s * 7 * DAY + (int64_t)r * 60, 2 + 2 * (uint64_t)s,
				    session + c->run * normal());
		}
		judge(&m, change, &t);
	}
	return t;
}

static void sides_of_other_sessions(void **unused)
{
	(void)unused;
	broken = 0;
	printf("\n| day, host, run | runs per side | wrong | held | gates | found |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof SESSIONS / sizeof *SESSIONS; i++)
		for (int k = 0; k < 2; k++) {
			const struct session_cell *c = &SESSIONS[i];
			size_t runs = k ? 5 : 3;
			state = 1000 + 100 * i + (size_t)k;
			struct tally none = apart(c, runs, 0), some = apart(c, runs, c->found[k] + ROUNDED);
			printf("| %g, %g, %g | %zu | %.2f | %.1f | %.2f | %.1f of %.1f |\n", c->day, c->host, c->run,
			       runs, share(none.wrong, &none), share(none.covered, &none), share(none.gates, &none),
			       share(some.right, &some), c->found[k]);
			hold("wrong", share(none.wrong, &none), 0, c->wrong[k], &none);
			hold("held", share(none.covered, &none), 98.1, 100, &none);
			hold("gates", share(none.gates, &none), 0, c->wrong[k] / 2, &none);
			hold("found", share(some.right, &some), FOUND - LARGER, 100, &some);
		}
	assert_int_equal(broken, 0);
}

/* ---- sessions that were measured ---- */

enum stored { ANY, HOSTS, ONE_HOST, ALIKE, ALIKE_LATER, MORE_RUNS };

/* n sessions of the baseline, days apart, and one of the fixed side, the day after: three runs of 0.3 % each. */
static const struct store_cell {
	const char *name;
	enum stored how;
	double day, host, run;
	size_t n;
	double wrong, found; /* 0: not known */
} STORES[] = {
	{"sessions .3", ANY, .3, 0, .3, 4, .1, 2.8},
	{"sessions .3", ANY, .3, 0, .3, 6, .1, 2.1},
	{"sessions .3", ANY, .3, 0, .3, 10, 0, 1.9},
	{"sessions .3", ANY, .3, 0, .3, 20, 0, 1.7},
	{"sessions 1", ANY, 1, 0, .3, 4, .9, 7.2},
	{"sessions 1", ANY, 1, 0, .3, 6, .8, 5.3},
	{"sessions 1", ANY, 1, 0, .3, 10, .6, 4.5},
	{"sessions 1", ANY, 1, 0, .3, 20, .6, 4.1},
	{"sessions 2", ANY, 2, 0, .3, 4, 1.4, 13.7},
	{"sessions 2", ANY, 2, 0, .3, 6, 1.3, 10.0},
	{"sessions 2", ANY, 2, 0, .3, 10, 1.1, 8.4},
	{"sessions 2", ANY, 2, 0, .3, 20, 1.0, 7.5},
	{"n hosts", HOSTS, 1, 1, .3, 4, 1.1, 9.8},
	{"n hosts", HOSTS, 1, 1, .3, 6, 1.0, 7.3},
	{"n hosts", HOSTS, 1, 1, .3, 10, .9, 6.1},
	{"n hosts", HOSTS, 1, 1, .3, 20, .8, 5.5},
	{"one host, another new", ONE_HOST, .3, 1, .3, 4, 0, 0},
	{"one host, another new", ONE_HOST, .3, 1, .3, 20, 0, 0},
	{"one host, another new", ONE_HOST, 1, 1, .3, 10, 0, 0},
	{"neighbours alike", ALIKE, 1, 0, .3, 4, .6, 4.3},
	{"neighbours alike", ALIKE, 1, 0, .3, 6, .6, 3.6},
	{"neighbours alike", ALIKE, 1, 0, .3, 10, .7, 3.5},
	{"neighbours alike", ALIKE, 1, 0, .3, 20, .8, 3.5},
	{"neighbours alike, 30 later", ALIKE_LATER, 1, 0, .3, 4, 0, 0},
	{"neighbours alike, 30 later", ALIKE_LATER, 1, 0, .3, 6, 0, 0},
	{"neighbours alike, 30 later", ALIKE_LATER, 1, 0, .3, 10, 0, 0},
	{"as many as 12 runs in one", MORE_RUNS, 0, 0, 3, 4, .7, 0},
	{"as many as 12 runs in one", MORE_RUNS, 0, 0, 1, 4, .7, 0},
	{"as many as 12 runs in one", MORE_RUNS, 0, 0, 3, 5, .7, 0},
};

static struct tally with_store(const struct store_cell *c, double change)
{
	const double alike = .8;
	struct tally t = {0};
	for (int i = 0; i < draws(pairs); i++) {
		struct made m = {0};
		double host = c->host * normal(), day = c->day * normal();
		size_t new = c->n + (c->how == ALIKE_LATER ? 30 : 0);
		for (size_t k = 0; k <= new; k++) {
			int s = k == new;
			bool moved = c->how == HOSTS || (c->how == ONE_HOST && s);
			host = moved ? c->host * normal() : host;
			day = c->how == ALIKE || c->how == ALIKE_LATER
			              ? alike * day + sqrt(1 - alike * alike) * c->day * normal()
			              : c->day * normal();
			size_t runs = s || c->how != MORE_RUNS ? 3 : 12;
			for (size_t r = 0; r < runs && (s || k < c->n); r++)
				add(&m, s, (int64_t)(k * DAY + r * 60), 1 + (c->how == HOSTS ? k : moved),
				    host + day - (s ? change : 0) + c->run * normal());
		}
		judge(&m, change, &t);
	}
	return t;
}

static void sessions_that_were_measured(void **unused)
{
	(void)unused;
	broken = 0;
	printf("\n| sessions, run | n | wrong | held | gates | found |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof STORES / sizeof *STORES; i++) {
		const struct store_cell *c = &STORES[i];
		state = 1700 + 100 * i;
		struct tally none = with_store(c, 0), some = {0};
		hold("wrong", share(none.wrong, &none), 0, c->wrong, &none);
		if (c->how != ALIKE) { /* neighbours that are alike are not exchangeable: no
			                                          more is promised of them */
			hold("held", share(none.covered, &none), 98, 100, &none);
			hold("gates", share(none.gates, &none), 0, 1, &none);
		}
		if (c->found > 0) {
			some = with_store(c, c->found + ROUNDED);
			hold("found", share(some.right, &some), FOUND - LARGER, 100, &some);
		}
		printf("| %s, %g | %zu | %.2f | %.1f | %.2f | %.1f of %.1f |\n", c->name, c->run, c->n,
		       share(none.wrong, &none), share(none.covered, &none), share(none.gates, &none),
		       c->found > 0 ? share(some.right, &some) : 0, c->found);
		assert_true(none.last.exchange.measured.n == c->n);
		assert_true(none.last.exchange.measured.far == (c->how == ALIKE_LATER));
		assert_true(none.last.exchange.measured.unlike == (c->how == ONE_HOST));
	}
	assert_int_equal(broken, 0);
}

/* ---- two states, in turns ---- */

/* Each run is with even chances in a state that takes so much longer. By runs per side: pairs of like against like with
 * a direction, where runs differ by 0.3 and by 1 %; the change that 80 of 100 find, where they differ by 1 % and there
 * is one state (0: not known). */
static const struct state_cell {
	size_t runs;
	double apart, wrong[2], found;
} STATES[] = {
	{2, 4, {0, .1}, 0},      {2, 6, {0, .1}, 0},      {2, 8, {8.5, 2.5}, 0},   {2, 0, {0, .1}, 12.9},
	{3, 4, {3.1, 3.1}, 0},   {4, 4, {1.0, 1.8}, 0},   {5, 4, {1.8, 1.8}, 0},   {8, 4, {1.8, 1.8}, 0},
	{3, 8, {3.1, 3.2}, 0},   {4, 8, {.8, 2.3}, 0},    {5, 8, {2.2, 2.5}, 0},   {8, 8, {2.3, 2.5}, 0},
	{3, 0, {1.8, 1.8}, 4.0}, {4, 0, {1.8, 1.8}, 3.0}, {5, 0, {1.8, 1.8}, 2.6}, {8, 0, {1.8, 1.8}, 2.0},
};

/* The first pair of sides is A B, the second B A, and so on. */
static int side_in_turns(size_t i)
{
	return (int)((i / 2 + i) % 2);
}

static struct tally in_states(size_t runs, double apart, double run, double change)
{
	struct tally t = {0};
	for (int i = 0; i < draws(pairs); i++) {
		struct made m = {0};
		for (size_t r = 0; r < 2 * runs; r++) {
			int s = side_in_turns(r);
			add(&m, s, (int64_t)r * 60, 0,
			    run * normal() + (uniform() < .5 ? apart : 0) - (s ? change : 0));
		}
		judge(&m, change, &t);
	}
	return t;
}

static void machines_of_two_states(void **unused)
{
	(void)unused;
	broken = 0;
	printf("\n| states apart, run | runs per side | wrong | gates | found |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++)
		for (int k = 0; k < 2; k++) {
			const struct state_cell *c = &STATES[i];
			state = 3000 + 100 * i + (size_t)k;
			struct tally none = in_states(c->runs, c->apart, k ? 1 : .3, 0), some = {0};
			printf("| %g, %g | %zu | %.2f | %.2f |", c->apart, k ? 1 : .3, c->runs,
			       share(none.wrong, &none), share(none.gates, &none));
			hold("wrong", share(none.wrong, &none), 0, c->wrong[k], &none);
			if (k && c->found > 0) {
				some = in_states(c->runs, 0, 1, c->found + ROUNDED);
				printf(" %.1f of %.1f |", share(some.right, &some), c->found);
				hold("found", share(some.right, &some), FOUND - LARGER, 100, &some);
			}
			printf("\n");
		}
	/* what the larger of both variances costs */
	static const struct {
		size_t runs;
		double change, found;
	} COSTS[] = {{3, 5, 92}, {4, 5, 99.5}, {4, 3, 72}};
	for (size_t i = 0; i < sizeof COSTS / sizeof *COSTS; i++) {
		struct tally t = in_states(COSTS[i].runs, 0, 1, COSTS[i].change);
		printf("| 0, 1 | %zu | | | %.1f of %.1f |\n", COSTS[i].runs, share(t.right, &t), COSTS[i].change);
		hold("found", share(t.right, &t), COSTS[i].found - .5, 100, &t);
	}
	assert_int_equal(broken, 0);
}

/* ---- all of one side first ---- */

enum drift { LINEAR, JUMP, WALK };

static const struct drift_cell {
	enum drift how;
	double size, wrong[2]; /* where runs differ by 0.3 and by 1 % */
} DRIFTS[] = {
	{LINEAR, 4, {0, 0}}, {LINEAR, 8, {0, 0}}, {JUMP, 2, {0, 0}},   {JUMP, 4, {0, 0}},
	{JUMP, 6, {0, 1.2}}, {JUMP, 8, {97, 53}}, {WALK, 4, {0, 0.1}},
};

static struct tally in_blocks(const struct drift_cell *c, bool turns, double run, double change)
{
	enum { RUNS = 6 };
	struct tally t = {0};
	for (int i = 0; i < draws(pairs); i++) {
		struct made m = {0};
		double walk = 0;
		for (size_t r = 0; r < RUNS; r++) {
			int s = turns ? side_in_turns(r) : r >= RUNS / 2;
			walk += c->size * normal() / sqrt(RUNS);
			double moved = c->how == LINEAR ? c->size * (double)r / RUNS
			               : c->how == JUMP ? (r >= RUNS / 2 ? c->size : 0)
			                                : walk;
			add(&m, s, (int64_t)r * 60, 0, run * normal() + moved - (s ? change : 0));
		}
		judge(&m, change, &t);
	}
	return t;
}

static void one_side_first(void **unused)
{
	(void)unused;
	static const char *const names[] = {"linear", "jump", "walk"};
	static const struct drift_cell still = {LINEAR, 0, {0, 0}};
	static const double found[2] = {7.7, 8.7};
	broken = 0;
	printf("\n| drift, run | wrong | wrong in turns |\n|---|---|---|\n");
	for (int k = 0; k < 2; k++) {
		double run = k ? 1 : .3;
		for (size_t i = 0; i < sizeof DRIFTS / sizeof *DRIFTS; i++) {
			const struct drift_cell *c = &DRIFTS[i];
			state = 4000 + 100 * i + (size_t)k;
			struct tally t = in_blocks(c, false, run, 0), turns = in_blocks(c, true, run, 0);
			printf("| %s %g, %g | %.2f | %.2f |\n", names[c->how], c->size, run, share(t.wrong, &t),
			       share(turns.wrong, &turns));
			hold("wrong", share(t.wrong, &t), 0, c->wrong[k], &t);
			if (c->how == LINEAR)
				hold("wrong in turns", share(turns.wrong, &turns), 0, 0, &turns);
		}
		struct tally t = in_blocks(&still, false, run, found[k] + ROUNDED);
		printf("| none, %g | found %.1f of %.1f | |\n", run, share(t.right, &t), found[k]);
		hold("found", share(t.right, &t), FOUND - LARGER, 100, &t);
	}
	assert_int_equal(broken, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sides_of_other_sessions),
		cmocka_unit_test(sessions_that_were_measured),
		cmocka_unit_test(machines_of_two_states),
		cmocka_unit_test(one_side_first),
	};
	if (argc > 1)
		pairs = atoi(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
