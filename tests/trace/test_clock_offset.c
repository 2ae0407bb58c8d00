/* Two hosts' clocks from generated jobs, in which the true offset at every instant is known. */
#include "trace/files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 64, COLLECTIVES = 400 };

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* A job of 64 ranks on two hosts. Times are made on the first host's clock; what the second one notes is the time whose
 * offset is `offset` + `drift` × time. */
struct job {
	double offset, drift;     /* ns; ns per ns */
	double spread;            /* ns: how far apart ranks enter */
	double shortest, longest; /* ns that data moves */
	double ring;              /* ns: how far apart ranks leave */
	double wander;            /* ns: of the second clock, beside its drift */
	double bias;              /* ns by which the second host enters later */
	double set_at, set_by;    /* ns: the second clock jumps */
	struct clock_collective list[COLLECTIVES];
};

static double second(const struct job *j, double t)
{
	return (t - j->offset - j->wander * sin(t / 7e8) - (t < j->set_at ? 0 : j->set_by)) / (1 + j->drift);
}

static void run(struct job *j)
{
	double t = 5e9;
	for (int k = 0; k < COLLECTIVES; k++, t += 5e7) {
		double entered[2] = {-INFINITY, -INFINITY}, left[2] = {INFINITY, INFINITY}, last = 0;
		for (int r = 0; r < RANKS; r++) {
			int host = r / (RANKS / 2);
			double at = t + j->spread * uniform() + (host ? j->bias : 0);
			entered[host] = fmax(entered[host], at);
			last = fmax(last, at);
		}
		double moved = j->shortest + (j->longest - j->shortest) * pow(uniform(), 3);
		for (int r = 0; r < RANKS; r++) {
			int host = r / (RANKS / 2);
			left[host] = fmin(left[host], last + moved + j->ring * uniform());
		}
		j->list[k] = (struct clock_collective){.entered = {llround(entered[0]), llround(second(j, entered[1]))},
		                                       .left = {llround(left[0]), llround(second(j, left[1]))}};
	}
}

/* The largest error over the job, in ns; checks that the stated bound holds at every collective. */
static double check(const struct job *j, const struct clock_offset *o)
{
	double worst = 0;
	for (int k = 0; k < COLLECTIVES; k++) {
		double t = 5e9 + 5e7 * k, noted = second(j, t),
		       error = noted + (double)clock_offset_at(o, llround(noted)) - t;
		assert_true(fabs(error) <= o->within + 2);
		worst = fmax(worst, fabs(error));
	}
	return worst;
}

static void the_offset_lies_within_its_bounds(void **state)
{
	(void)state;
	static struct job j;
	double worst = 0, widest = 0;
	for (int round = 0; round < 60; round++) {
		struct clock_offset o;
		seed = (uint64_t)round + 1;
		j = (struct job){.offset = 3e6 * (round % 2 ? 1 : -1),
		                 .drift = 20e-6 * (round % 3 - 1),
		                 .spread = 1e6,
		                 .shortest = 12e3,
		                 .longest = 900e3,
		                 .ring = 30e3};
		run(&j);
		assert_true(clock_offset_find(j.list, COLLECTIVES, &o));
		assert_true(o.loosened == 0);
		worst = fmax(worst, check(&j, &o));
		widest = fmax(widest, o.within);
		assert_true(fabs(o.drift - j.drift) < 5e-6);
	}
	print_message("largest error %.1f us, stated %.1f us\n", worst / 1e3, widest / 1e3);
	assert_true(worst < 20e3);
}

/* Where one host is always last, only one side is bounded tightly, and that shows in the bound. */
static void one_sided_evidence_widens_the_bound(void **state)
{
	(void)state;
	static struct job j;
	struct clock_offset o;
	seed = 5;
	j = (struct job){.offset = 3e6,
	                 .drift = 20e-6,
	                 .spread = 1e5,
	                 .shortest = 12e3,
	                 .longest = 900e3,
	                 .ring = 30e3,
	                 .bias = 2e6};
	run(&j);
	assert_true(clock_offset_find(j.list, COLLECTIVES, &o));
	check(&j, &o);
	assert_true(o.within > 500e3);
}

/* A clock that wanders fits no steady drift: the bounds give way, and as much is stated. */
static void a_wandering_clock_is_said(void **state)
{
	(void)state;
	static struct job j;
	struct clock_offset o;
	seed = 9;
	j = (struct job){.offset = -3e6,
	                 .drift = 20e-6,
	                 .spread = 1e6,
	                 .shortest = 12e3,
	                 .longest = 100e3,
	                 .ring = 10e3,
	                 .wander = 100e3};
	run(&j);
	assert_true(clock_offset_find(j.list, COLLECTIVES, &o));
	assert_true(o.loosened > 0);
	check(&j, &o);
}

/* A clock that is set amid the job: where it is not refused, what is stated holds before and after. */
static void a_clock_that_is_set_is_in_the_bound(void **state)
{
	(void)state;
	static struct job j;
	static const double by[] = {20e3, 60e3, 150e3, 300e3, -300e3, 700e3, 1500e3, -5000e3};
	static const double moves[] = {20e3, 100e3, 300e3, 1e6};
	int found = 0, refused = 0, narrow = 0;
	double widest = 0;
	for (int round = 0; round < 320; round++) {
		struct clock_offset o;
		seed = (uint64_t)round + 1;
		j = (struct job){.offset = 3e6,
		                 .drift = 20e-6 * (round % 3 - 1),
		                 .spread = 1e6,
		                 .shortest = moves[round / 8 % 4],
		                 .longest = 10 * moves[round / 8 % 4],
		                 .ring = 30e3,
		                 .set_at = 5e9 + 5e7 * COLLECTIVES * uniform(),
		                 .set_by = by[round % 8]};
		run(&j);
		if (!clock_offset_find(j.list, COLLECTIVES, &o) || o.loosened > 20e3) {
			refused++;
			continue;
		}
		found++;
		for (int k = 0; k < COLLECTIVES; k++) {
			double t = 5e9 + 5e7 * k, noted = second(&j, t);
			double error = fabs(noted + (double)clock_offset_at(&o, llround(noted)) - t);
			if (error > o.within + 2) {
				narrow++;
				break;
			}
		}
		widest = fmax(widest, o.within);
	}
	print_message("%d found, %d refused, bound too narrow %d times, at most %.0f us\n", found, refused, narrow,
	              widest / 1e3);
	assert_true(found > 50);
	assert_int_equal(narrow, 0);
}

/* Few collectives are looked at in fewer pieces, and one by one. */
static void few_collectives_are_looked_at_too(void **state)
{
	(void)state;
	static struct job j;
	for (size_t n = 1; n < 40; n++) {
		struct clock_offset o;
		seed = n;
		j = (struct job){.offset = 3e6, .spread = 1e6, .shortest = 12e3, .longest = 900e3, .ring = 30e3};
		j.set_at = 5e9 + 5e7 * (double)n * uniform();
		j.set_by = 200e3;
		run(&j);
		if (!clock_offset_find(j.list, n, &o) || n < 8)
			continue;
		for (size_t k = 0; k < n; k++) {
			double t = 5e9 + 5e7 * (double)k, noted = second(&j, t);
			double error = fabs(noted + (double)clock_offset_at(&o, llround(noted)) - t);
			if (error > o.within + 2)
				print_message("%zu of %zu: error %.0f us, within %.0f us\n", k, n, error / 1e3,
				              o.within / 1e3);
			assert_true(error <= o.within + 2);
		}
	}
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	struct clock_offset o;
	/* the second host left a second before the first one entered, then a second after */
	const struct clock_collective list[] = {
		{{1000, 1000}, {2000, 2000}}, {{5000, 1000005000}, {6000, 1000006000}}, {{9000, 9000}, {10000, 10000}}};
	assert_false(clock_offset_find(list, 3, &o));
}

static void one_collective_bounds_by_its_length(void **state)
{
	(void)state;
	struct clock_offset o;
	const struct clock_collective one = {{1000, 501000}, {4000, 504000}};
	assert_true(clock_offset_find(&one, 1, &o));
	assert_true(fabs(o.offset + 500000) < 1);
	assert_true(o.within > 2999 && o.within < 3020);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_offset_lies_within_its_bounds),
		cmocka_unit_test(one_sided_evidence_widens_the_bound),
		cmocka_unit_test(a_wandering_clock_is_said),
		cmocka_unit_test(a_clock_that_is_set_is_in_the_bound),
		cmocka_unit_test(few_collectives_are_looked_at_too),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(one_collective_bounds_by_its_length),
	};
	return cmocka_run_group_tests_name("clock_offset", tests, NULL, NULL);
}
