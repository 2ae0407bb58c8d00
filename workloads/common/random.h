/* Seeded pseudo-random numbers, the same on every machine: splitmix64 (Steele, Lea, Flood: "Fast splittable
 * pseudorandom number generators", OOPSLA 2014). */
#ifndef WORKLOADS_COMMON_RANDOM_H
#define WORKLOADS_COMMON_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The start of a stream of numbers of its own for every (seed, stream). */
static inline uint64_t random_mix(uint64_t seed, uint64_t stream)
{
	uint64_t state = seed;

	state = random_next(&state) ^ stream * 0xd1342543de82ef95u;
	return random_next(&state);
}

/* Evenly in [0, 1). */
static inline float random_float(uint64_t *state)
{
	return (float)(random_next(state) >> 40) * 0x1p-24f;
}

#endif
