/* A sample of hardware counters as nsys exported it before 2023, a JSON object in GENERIC_EVENTS.data:
 * {"SMs Active": "40", "Tensor Active": "3"}; and which counters are known, by their names. */
#ifndef GAPLINE_READ_METRIC_SAMPLE_H
#define GAPLINE_READ_METRIC_SAMPLE_H

#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>

/* The counter that a name of `n` bytes means, as nsys's documentation lists them ("GPU Metrics"). METRIC_COUNT: another
 * one, or in a unit that is no percentage: "[Avg Warps per Cycle]". */
enum metric metric_of_name(const char *name, size_t n);

/* One known counter of a sample: what it is called, and its number as it is written. Neither ends with a NUL. */
struct metric_value {
	enum metric metric;
	const char *name, *number;
	size_t name_n, number_n;
	double value;
};

/* Calls `found` for each known counter with a number, in the order of the text. Returns whether the text is one JSON
 * value and not nested too deep; where it is not, what `found` was told counts for nothing. */
bool metric_sample_read(const char *text, size_t n, void (*found)(void *context, const struct metric_value *value),
                        void *context);

#endif
