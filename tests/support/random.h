/* Random numbers of tests: the same on every machine from the same state. */
#ifndef GAPLINE_TESTS_RANDOM_H
#define GAPLINE_TESTS_RANDOM_H

#include <math.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t random_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Between 0 and 1, neither included. */
static inline double random_uniform(uint64_t *state)
{
	return ((double)(random_bits(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Of mean 0 and variance 1. */
static inline double random_normal(uint64_t *state)
{
	return sqrt(-2 * log(random_uniform(state))) * cos(2 * 3.14159265358979323846 * random_uniform(state));
}

#endif
