/* How often a test draws. Under valgrind a program takes fifty times as long, and what it looks at, memory, is seen
 * with few draws, too: check_memory.py sets GAPLINE_FEW_DRAWS, and nothing else does. */
#ifndef GAPLINE_TESTS_DRAWS_H
#define GAPLINE_TESTS_DRAWS_H

#include <stdbool.h>
#include <stdlib.h>

enum { DRAWS_FEWER = 20 };

static inline bool draws_are_few(void)
{
	return getenv("GAPLINE_FEW_DRAWS") != NULL;
}

/* Rounds, of `n`. */
static inline int draws(int n)
{
	return draws_are_few() ? n / DRAWS_FEWER + 1 : n;
}

/* The step of a loop that goes over everything by `step`; odd times as much, so that what goes by turns goes on so. */
static inline size_t draws_step(size_t step)
{
	return draws_are_few() ? step * (DRAWS_FEWER + 1) : step;
}

#endif
