/* Host time for a workload's own wall-clock, the reference that needs no profiler. */
#ifndef WORKLOADS_COMMON_CLOCK_H
#define WORKLOADS_COMMON_CLOCK_H

#include <time.h>

/* Milliseconds on a clock that never jumps. */
static inline double clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The median of the `n` >= 1 values, which it sorts in place. */
double clock_median(double *values, int n);

/* The standard deviation of one of the `n` values; 0 for n < 2. */
double clock_deviation(const double *values, int n);

#endif
