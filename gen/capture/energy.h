/* What the GPUs used beside a timed run: NVML's counters of total energy, sampled by gapline every 20 ms. They move
 * about every 100 ms, so what lies between two of their values is interpolated, and less than ENERGY_LEAST_NS says
 * nothing: on an H200 windows of 1, 2 and 5 s spread by 10, 5 and 0.7 %.
 *
 * A look may take the driver 7 ms, in which a program that allocates waits for it: every 20 ms, that made one 26 %
 * slower. So looks take at most half a percent of the time, and a window has to be ten times as long as lies between
 * them. */
#ifndef GAPLINE_CAPTURE_ENERGY_H
#define GAPLINE_CAPTURE_ENERGY_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define ENERGY_LEAST_NS 5000000000

struct energy;

/* Begins to sample; before the program starts, so that other processes on a GPU are known. NULL: there is no NVML.
 * `library`: NULL for the system's. */
struct energy *energy_begin(const char *library, struct arena *arena);

/* Ends sampling: after a program of `ran` ns, once the counters had time to move for the last of it, unless that is too
 * little to say anything of. */
void energy_end(struct energy *energy, int64_t ran);

/* Of every GPU "UUID=MILLIJOULES", with blanks between, from one instant of CLOCK_MONOTONIC to another; a negative
 * number is one of trace.h's ENERGY_…, and says why it is not known. After energy_end. NULL for NULL. */
const char *energy_text(const struct energy *energy, int64_t from, int64_t to, struct arena *arena);

/* A counter's value at `time`, between the instants at which it was first seen to have moved, n >= 1 of them. */
struct energy_value {
	int64_t time;
	double mj;
};
double energy_at(const struct energy_value *list, size_t n, int64_t time);

#endif
