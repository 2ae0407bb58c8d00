#include "run/choose_steps.h"

#include "base/list.h"
#include "steps/marks.h"

#include <math.h>
#include <string.h>

static bool is_by_range(const struct run *run)
{
	return run->steps.found && steps_by_ranges(run->steps.origin);
}

/* A range that is a step in one run is one in all that have it, however little of their GPU time it is. */
static void share_ranges(const struct pattern_side *sides, int n_sides, const struct steps *kept, struct arena *arena)
{
	const struct steps **with = NULL;
	size_t n = 0;
	if (kept)
		LIST_PUT(arena, with, n, kept);
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			if (is_by_range(&sides[s].runs[r]))
				LIST_PUT(arena, with, n, &sides[s].runs[r].steps);
	for (int s = 0; s < n_sides && n; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			for (size_t i = 0; i < n && !is_by_range(&sides[s].runs[r]); i++)
				run_take_range(&sides[s].runs[r], with[i]);
}

/* The share of its GPU work that the range is of the run that has least of it; −1 where it is no step of one of them.
 */
static double least_coverage(const struct pattern_side *sides, int n_sides, const char *name, struct arena *arena)
{
	double least = 1;
	struct run probe;
	struct err ignored;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			if (run_choose(&probe, sides[s].runs[r].trace, name, arena, &ignored) < 0 || !probe.steps.found)
				return -1;
			least = fmin(least, probe.steps.coverage);
		}
	return least;
}

/* Adds the names of ranges that are steps in some run. False: there are loops, and these agree already. */
static bool add_names(const struct pattern_side *side, struct arena *arena, uint32_t **names, uint32_t *n)
{
	for (size_t r = 0; r < side->n; r++) {
		const struct steps *steps = &side->runs[r].steps;
		if (!steps->found)
			continue;
		if (steps->origin == STEPS_BY_PATTERN)
			return false;
		uint32_t at = 0;
		while (at < *n && (*names)[at] != steps->name)
			at++;
		if (at == *n)
			LIST_PUT(arena, *names, *n, steps->name);
	}
	return true;
}

/* Of the ranges that are steps in some run, one that all runs have: whose name says most that it is a step, then that
 * is most of their work; of equal ones the first by its text, so that sides that change places agree on the same.
 * That of a side whose rows are gone stays what it was. */
static int agree_on_name(const struct pattern_side *sides, int n_sides, const struct steps *kept, struct arena *arena,
                         struct err *err)
{
	const struct names *names = sides[0].runs[0].trace->names;
	uint32_t *tried = NULL, n_tried = 0;
	if (kept)
		LIST_PUT(arena, tried, n_tried, kept->name);
	for (int s = 0; s < n_sides; s++)
		if (!add_names(&sides[s], arena, &tried, &n_tried))
			return 0;
	if (n_tried < 2)
		return 0;
	if (kept && least_coverage(sides, n_sides, names_text(names, kept->name), arena) >= 0)
		n_tried = 1;
	else if (kept && n_tried == 2)
		return 0;
	const char *best = NULL;
	double most = -1;
	for (uint32_t i = 0; i < n_tried; i++) {
		const char *name = names_text(names, tried[i]);
		double worth = least_coverage(sides, n_sides, name, arena);
		worth += worth < 0 ? 0 : 2 * (int)marks_name_class(name, "");
		if (worth > most || (best && worth == most && strcmp(name, best) < 0)) {
			best = name;
			most = worth;
		}
	}
	for (int s = 0; s < n_sides && best; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			if (run_choose(&sides[s].runs[r], sides[s].runs[r].trace, best, sides[s].runs[r].arena, err) <
			    0)
				return -1;
	return 0;
}

int steps_agree(const struct pattern_side *sides, int n_sides, const struct steps *kept, const char *step,
                const char *loop, struct arena *arena, struct err *err)
{
	if (!step)
		share_ranges(sides, n_sides, kept, arena);
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			run_name_steps(&sides[s].runs[r]);
	if (pattern_agree(sides, n_sides, loop, err) < 0)
		return -1;
	return step ? 0 : agree_on_name(sides, n_sides, kept, arena, err);
}
