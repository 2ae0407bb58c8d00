#include "analyse/judge/same_result.h"

#include "analyse/say.h"
#include "base/decimal.h"

#include <math.h>
#include <stdlib.h>

/* So many numbers have to be there that are no count: of epochs, of steps, of what a schedule says. */
enum { LEAST = 10 };
static const double SAME_STRIDE = 1e-9; /* of a number: two strides that are so near are one */

static const char *const SIDE[2] = {"baseline", "fixed side"};

struct judged {
	const struct printed *of;
	struct arena *arena;
	struct same_result out;
};

static struct same_result end(struct judged *j, enum result_state state, const char *text)
{
	j->out.state = state;
	j->out.text = text;
	return j->out;
}

/* Six digits, or where two numbers are so near that these are the same, all. */
static const char *number(const struct judged *j, double value, bool all)
{
	char text[DECIMAL_ROOM];
	return arena_copy(j->arena, text, all ? decimal_exact(text, value) : decimal_short(text, value, 6));
}

static int compare_numbers(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* How many of them differ from each other; a count, which goes on by one stride most of the time, has one. */
static size_t count_different(const struct printed_run *run, struct arena *scratch)
{
	double *stride = ARENA_NEW(scratch, run->n, double), *sorted = ARENA_NEW(scratch, run->n, double), largest = 0;
	size_t different = 1, alike = 1, most = 1;
	for (size_t i = 0; i < run->n; i++) {
		sorted[i] = run->number[i];
		stride[i] = i ? run->number[i] - run->number[i - 1] : 0;
		largest = fmax(largest, fabs(sorted[i]));
	}
	qsort(sorted, run->n, sizeof *sorted, compare_numbers);
	qsort(stride + 1, run->n - 1, sizeof *stride, compare_numbers);
	for (size_t i = 1; i < run->n; i++) {
		different += sorted[i] != sorted[i - 1];
		alike = i > 1 && stride[i] - stride[i - 1] <= SAME_STRIDE * largest ? alike + 1 : 1;
		most = alike > most ? alike : most;
	}
	return 2 * most > run->n ? 1 : different;
}

/* What may stand in the way of holding them against each other, in any run; NULL: nothing. */
static const char *obstacle(const struct judged *j)
{
	const struct printed *p = j->of;
	const struct printed_run *first = &p->run[0][0];
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < p->n[s]; r++) {
			const struct printed_run *run = &p->run[s][r];
			if (!run->n)
				return arena_format(j->arena, "'%s' matches no number in %s.", p->pattern, run->file);
			if (run->n != first->n)
				return arena_format(j->arena, "'%s' matches %zu numbers in %s and %zu in %s.",
				                    p->pattern, first->n, first->file, run->n, run->file);
			for (size_t i = 0; i < run->n; i++)
				if (!isfinite(run->number[i]))
					return arena_format(j->arena, "The %s number of '%s' is %s in %s.",
					                    say_ordinal(j->arena, i + 1), p->pattern,
					                    isnan(run->number[i]) ? "not a number (NaN)" : "infinite",
					                    run->file);
		}
	struct arena scratch = {0};
	size_t different = count_different(first, &scratch);
	arena_release(&scratch);
	if (different >= LEAST)
		return NULL;
	return different > 1 || first->n < LEAST
	               ? arena_format(j->arena, "'%s' matches %zu different numbers in %s; %d are needed.", p->pattern,
	                              different, first->file, LEAST)
	               : arena_format(j->arena, "The numbers of '%s' in %s only count, or stay the same.", p->pattern,
	                              first->file);
}

/* Relative: 0 of two that are equal. */
static double distance(double a, double b)
{
	return a == b ? 0 : fabs(a - b) / fmax(fabs(a), fabs(b));
}

/* The first number in which two runs, `a` of side `x` and any of side `y`, differ by more than the tolerance. */
static bool find_first(struct judged *j, int x, int y, size_t *index, const struct printed_run **a,
                       const struct printed_run **b)
{
	const struct printed *p = j->of;
	for (size_t i = 0; i < p->run[0][0].n; i++)
		for (size_t r = 0; r < p->n[x]; r++)
			for (size_t q = 0; q < p->n[y]; q++) {
				*a = &p->run[x][r];
				*b = &p->run[y][q];
				double far = distance((*a)->number[i], (*b)->number[i]);
				j->out.largest = fmax(j->out.largest, x != y ? far : 0);
				if (far > p->tolerance) {
					*index = i;
					return true;
				}
			}
	return false;
}

/* "The 3rd number of 'loss' is 2.31 in a.log and 2.44 in b.log" */
static const char *say_pair(const struct judged *j, size_t i, const struct printed_run *a, const struct printed_run *b)
{
	double x = a->number[i], y = b->number[i];
	bool all = distance(x, y) < 1e-4;
	return arena_format(j->arena, "the %s number of '%s' is %s in %s and %s in %s", say_ordinal(j->arena, i + 1),
	                    j->of->pattern, number(j, x, all), a->file, number(j, y, all), b->file);
}

struct same_result same_result_judge(const struct printed *p, struct arena *arena)
{
	struct judged j = {.of = p, .arena = arena};
	const struct printed_run *a, *b;
	size_t i;
	if (!p || !p->pattern)
		return j.out;
	j.out.pattern = p->pattern;
	j.out.tolerance = p->tolerance;
	for (int s = 0; s < 2; s++)
		j.out.runs[s] = (uint32_t)p->n[s];
	const char *why = obstacle(&j), *within = number(&j, 100 * p->tolerance, false);
	if (why)
		return end(&j, RESULT_UNKNOWN, arena_format(arena, "Same result: unknown. %s", why));
	j.out.numbers = (uint32_t)p->run[0][0].n;
	if (find_first(&j, 0, 0, &i, &a, &b))
		return end(&j, RESULT_UNKNOWN,
		           arena_format(arena,
		                        "Same result: unknown. Runs of the %s differ by more than %s %%: %s. Fix what "
		                        "is random, or allow more with --tolerance.",
		                        SIDE[0], within, say_pair(&j, i, a, b)));
	if (find_first(&j, 0, 1, &i, &a, &b)) {
		j.out.first = (uint32_t)i + 1;
		j.out.value[0] = a->number[i];
		j.out.value[1] = b->number[i];
		return end(&j, RESULT_DIFFERS,
		           arena_format(arena, "Another result, beyond %s %%: %s.", within, say_pair(&j, i, a, b)));
	}
	return end(&j, RESULT_AGREES,
	           arena_format(arena, "Same result: %u numbers of '%s' agree within %s %% in all %zu runs.",
	                        j.out.numbers, p->pattern, within, p->n[0] + p->n[1]));
}
