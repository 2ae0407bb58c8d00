/* Made pairs of runs in which each part's true change is known: how often the interval of a part holds it, by kinds of
 * parts and numbers of steps, and how wide it is. The table comes from the simulation that the rule was chosen by
 *, not from this code.
 *
 *	test_row_coverage [PARTS]	of each kind; 200, of which three standard errors are 4.6 points of 95 */
#include "base/sort.h"
#include "draws.h"
#include "verdict/row.h"
#include "verdict/stats.h"
#include "verdict_pair.h"

#include <stdlib.h>

enum { SIZES = 5, WHOLE = 200 };
static const size_t SIZE[SIZES] = {20, 60, 200, 2000, 20000};
static int parts = WHOLE;

struct kind {
	const char *name;
	double noise, phi;   /* of the mean; autocorrelation of it */
	double rare, times;  /* share of steps that are so many times as long; … */
	double only;         /* … or the share of steps that have the part at all; 1: all … */
	size_t every;        /* … or one in so many has it; 1: all */
	double between;      /* runs differ by this share */
	double holds[SIZES]; /* percent, of the rule's table */
};

static const struct kind KINDS[] = {
	{"normal", .05, 0, 0, 1, 1, 1, 0, {95, 95, 96, 96, 94}},
	{"AR .5", .05, .5, 0, 1, 1, 1, 0, {98, 95, 96, 95, 95}},
	{"AR .9", .05, .9, 0, 1, 1, 1, 0, {88, 97, 95, 94, 95}},
	{"1 in 20 is 5x", .05, 0, .05, 5, 1, 1, 0, {96, 98, 96, 95, 96}},
	{"0 in 95 %", .05, 0, 0, 1, .05, 1, 0, {84, 98, 97, 95, 96}},
	{"every 4th", .05, 0, 0, 1, 1, 4, 0, {95, 95, 94, 96, 94}},
	{"every 50th", .05, 0, 0, 1, 1, 50, 0, {64, 100, 95, 96, 91}},
	{"runs differ by .3 %", .05, 0, 0, 1, 1, 1, .003, {95, 94, 87, 52, 21}},
	{"runs differ by 1 %", .05, 0, 0, 1, 1, 1, .01, {90, 75, 51, 16, 6}},
};

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* One run: blocks of steps as the step table has them, at most 512. Returns the mean of its steps. */
static double fill(const struct kind *kind, size_t n, double *block, size_t *n_blocks)
{
	double ar = normal(), run = 1 + kind->between * normal(), sum = 0;
	size_t of = 1, phase = (size_t)(uniform() * (double)kind->every);
	while ((n + of - 1) / of > 512)
		of *= 2;
	*n_blocks = (n + of - 1) / of;
	for (size_t b = 0; b < *n_blocks; b++)
		block[b] = 0;
	for (size_t i = 0; i < n; i++) {
		ar = kind->phi * ar + sqrt(1 - kind->phi * kind->phi) * normal();
		bool there = uniform() < kind->only && i % kind->every == phase;
		double x = there ? run * 1e6 * (1 + kind->noise * ar) * (uniform() < kind->rare ? kind->times : 1) : 0;
		size_t steps = i / of + 1 == *n_blocks ? n - i / of * of : of;
		block[i / of] += x / (double)steps;
		sum += x;
	}
	return sum / (double)n;
}

/* The half-width of whoever knows how much steps vary: no interval that holds 95 % can be narrower in the long run. */
static double known_width(const struct kind *kind, size_t n)
{
	double share = kind->only / (double)kind->every, high = 1 + kind->rare * (kind->times - 1);
	double square = (1 + kind->rare * (kind->times * kind->times - 1)) * (1 + kind->noise * kind->noise);
	double of_one = square - high * high * (kind->only < 1 ? kind->only : 1);
	double variance = of_one * share * (1 + kind->phi) / (1 - kind->phi);
	return 1.959964 * 1e6 * sqrt(2 * variance / (double)n);
}

static double coverage(const struct kind *kind, size_t n, double *width)
{
	static double block[2][512];
	double *widths = malloc((size_t)parts * sizeof *widths);
	int held = 0;
	for (int k = 0; k < parts; k++) {
		struct row_run run[2];
		for (int s = 0; s < 2; s++) {
			run[s].x = block[s];
			run[s].mean = fill(kind, n, block[s], &run[s].n);
		}
		const struct row_side side[2] = {{&run[0], 1, false}, {&run[1], 1, false}};
		struct row_interval i = row_judge(side, 0, .03);
		widths[k] = i.within;
		held += fabs(run[1].mean - run[0].mean) <= i.within;
	}
	*width = sort_select(widths, (size_t)parts, (size_t)parts / 2);
	free(widths);
	return 100.0 * held / parts;
}

/* Whether so many steps show how much the part varies: 12 that do not depend on each other, 5 that are long or have it.
 * Of fewer the rule allows for what it cannot know. */
static bool shows(const struct kind *kind, size_t n)
{
	double steps = (double)n * (1 - kind->phi) / (1 + kind->phi), rare = kind->rare > 0 ? kind->rare : 1;
	return steps >= 12 && (double)n * rare * kind->only / (double)kind->every >= 3.9;
}

/* Within 2 points of the table, and two standard errors of so few parts (five where few are drawn to look at memory).
 * An interval may hold more where it is wider than it has to be, and that is bounded, too. Steps of every 50th beside
 * blocks of 64: a block has one or two. */
static void intervals_hold_as_the_table_says(void **unused)
{
	(void)unused;
	for (size_t c = 0; c < sizeof KINDS / sizeof *KINDS; c++)
		for (size_t k = 0; k < SIZES; k++) {
			const struct kind *kind = &KINDS[c];
			double width, held = coverage(kind, SIZE[k], &width), p = kind->holds[k] / 100;
			double known = known_width(kind, SIZE[k]), most = kind->every == 50 && k == 4 ? 1.7 : 1.3;
			double off = 2 + (parts < WHOLE ? 5 : 2) * 100 * sqrt(fmax(p * (1 - p), .02) / parts);
			if (held < kind->holds[k] - off || (held > kind->holds[k] + off && width < 1.2 * known))
				fail_msg("%s, %zu steps: holds %.1f %%, the table says %.0f", kind->name, SIZE[k], held,
				         kind->holds[k]);
			if (parts >= WHOLE && shows(kind, SIZE[k]) && width > most * known)
				fail_msg("%s, %zu steps: %.2f times as wide as has to be", kind->name, SIZE[k],
				         width / known);
		}
}

int main(int argc, char **argv)
{
	parts = argc > 1 ? atoi(argv[1]) : draws(parts);
	const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_hold_as_the_table_says)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
