#include "same/same_work.h"

#include "base/sort.h"

#include <math.h>

/* So many numbers have to be there that are no count: of epochs, of steps, of what a schedule says. */
enum { LEAST = 10 };
static const double SAME_STRIDE = 1e-9; /* of a number: two strides that are so near are one */

struct judged {
	const struct printed *of;
	struct arena *arena;
	struct same_result out;
};

static struct same_result end(struct judged *j, enum result_state state, const struct fact *fact)
{
	j->out.state = state;
	j->out.fact = fact;
	return j->out;
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
	sort_doubles(sorted, run->n);
	sort_doubles(stride + 1, run->n - 1);
	for (size_t i = 1; i < run->n; i++) {
		different += sorted[i] != sorted[i - 1];
		alike = i > 1 && stride[i] - stride[i - 1] <= SAME_STRIDE * largest ? alike + 1 : 1;
		most = alike > most ? alike : most;
	}
	return 2 * most > run->n && run->n >= LEAST ? 1 : different;
}

/* Why that they agree would prove nothing: they are a count (`counts`), or few. That they differ proves it with one. */
static const struct fact *too_few(const struct judged *j, bool counts)
{
	const struct printed_run *first = &j->of->run[0][0];
	struct arena scratch = {0};
	size_t different = count_different(first, &scratch);
	arena_release(&scratch);
	if (different >= LEAST || counts != (different == 1 && first->n >= LEAST))
		return NULL;
	return FACT_NEW(j->arena, too_few_printed, FACT_NO_SIDE, .pattern = j->of->pattern, .file = first->file,
	                .counts = counts, .different = (int64_t)different, .least = LEAST);
}

/* What may stand in the way of holding them against each other, in any run; NULL: nothing. */
static const struct fact *obstacle(const struct judged *j)
{
	const struct printed *p = j->of;
	const struct printed_run *first = &p->run[0][0];
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < p->n[s]; r++) {
			const struct printed_run *run = &p->run[s][r];
			if (!run->n)
				return FACT_NEW(j->arena, no_number_printed, FACT_NO_SIDE, .pattern = p->pattern,
				                .file = run->file);
			if (run->n != first->n)
				return FACT_NEW(j->arena, unequal_numbers_printed, FACT_NO_SIDE, .pattern = p->pattern,
				                .numbers = (int64_t)first->n, .file = first->file,
				                .others = (int64_t)run->n, .other = run->file);
			for (size_t i = 0; i < run->n; i++)
				if (!isfinite(run->number[i]))
					return FACT_NEW(j->arena, printed_not_finite, FACT_NO_SIDE,
					                .number = (int64_t)i + 1, .pattern = p->pattern,
					                .no_number = isnan(run->number[i]), .file = run->file);
		}
	return too_few(j, true);
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

static const struct fact *pair_of(const struct judged *j, size_t i, const struct printed_run *a,
                                  const struct printed_run *b)
{
	double x = a->number[i], y = b->number[i];
	return FACT_NEW(j->arena, printed_pair, FACT_NO_SIDE, .number = (int64_t)i + 1, .pattern = j->of->pattern,
	                .near = distance(x, y) < 1e-4, .one = x, .file = a->file, .other = y, .other_file = b->file);
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
	const struct fact *why = obstacle(&j);
	if (why)
		return end(&j, RESULT_UNKNOWN, FACT_NEW(arena, result_unknown, FACT_NO_SIDE, .why = why));
	j.out.numbers = (uint32_t)p->run[0][0].n;
	if (find_first(&j, 0, 0, &i, &a, &b))
		return end(&j, RESULT_UNKNOWN,
		           FACT_NEW(arena, result_random, 0, .tolerance = p->tolerance, .pair = pair_of(&j, i, a, b)));
	if (find_first(&j, 0, 1, &i, &a, &b)) {
		j.out.first = (uint32_t)i + 1;
		j.out.value[0] = a->number[i];
		j.out.value[1] = b->number[i];
		return end(&j, RESULT_DIFFERS,
		           FACT_NEW(arena, result_differs, FACT_NO_SIDE, .tolerance = p->tolerance,
		                    .pair = pair_of(&j, i, a, b), .number = (int64_t)i + 1, .pattern = p->pattern,
		                    .near = distance(a->number[i], b->number[i]) < 1e-4, .one = a->number[i],
		                    .other = b->number[i]));
	}
	why = too_few(&j, false);
	if (why)
		return end(&j, RESULT_UNKNOWN, FACT_NEW(arena, result_unknown, FACT_NO_SIDE, .why = why));
	return end(&j, RESULT_AGREES,
	           FACT_NEW(arena, result_agrees, FACT_NO_SIDE, .numbers = j.out.numbers, .pattern = p->pattern,
	                    .tolerance = p->tolerance, .runs = (int64_t)(p->n[0] + p->n[1])));
}
