/* How often a test draws: all of it without sanitizers. With them, under valgrind and on an emulated processor
 * (check_memory.py and check_aarch64.sh set GAPLINE_FEW_DRAWS, and nothing else does), a program takes several or fifty
 * times as long, and what they look at is seen with few draws, too. */
#ifndef GAPLINE_TESTS_DRAWS_H
#define GAPLINE_TESTS_DRAWS_H

#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { DRAWS_SANITIZED = 6 };
#else
enum { DRAWS_SANITIZED = 1 };
#endif
enum { DRAWS_FEWER = 20 };

/* Of so many draws there is one. */
static inline int draws_apart(void)
{
	return getenv("GAPLINE_FEW_DRAWS") ? DRAWS_FEWER : DRAWS_SANITIZED;
}

/* Rounds, of `n`. */
static inline int draws(int n)
{
	return draws_apart() > 1 ? n / draws_apart() + 1 : n;
}

/* Of n that are each looked at by itself, where seeing all of them shows nothing else: all with sanitizers, too, and a
 * part under valgrind and on an emulated processor. */
static inline unsigned draws_each(unsigned n)
{
	return getenv("GAPLINE_FEW_DRAWS") ? n / DRAWS_FEWER + 1 : n;
}

/* The step of a loop that goes over everything by `step`; odd times as much, so that what goes by turns goes on so. */
static inline size_t draws_step(size_t step)
{
	return step * (size_t)(draws_apart() | 1);
}

#endif
