/* A timed run: the program runs without a profiler, and what is noted is when its devices had done the work of two
 * steps, or, for a program without steps, when it began and ended. A small library is loaded into the program for that
 * (gen/inject/stopwatch.c), and nothing of CUPTI. */
#ifndef GAPLINE_CAPTURE_STOPWATCH_H
#define GAPLINE_CAPTURE_STOPWATCH_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the time is taken; from a recorded run (run/instants.h). */
struct stopwatch_plan {
	const char *step, *domain; /* the step range's normalised name and its domain's; or the loop's title, and "" */
	uint32_t first, last;      /* which of them, or of launches, counted by their ends in a process */
	uint32_t launches;  /* no range marks the steps, so launches are counted: how many a process makes; or 0 */
	uint32_t steps;     /* between the two; 0: there are none, the process's time is taken */
	uint32_t processes; /* that make steps */
	int64_t limit_ms;   /* for each of the two waits */
};

struct stopwatch_result {
	bool uncountable;   /* unused, because it made another number of launches than the recorded run */
	int64_t ns;         /* between the two instants, or of the whole process; 0 when unused */
	int64_t from;       /* the first of them, CLOCK_MONOTONIC */
	const char *energy; /* of each GPU in that time (energy_text); NULL: not known */
	const char *unused; /* why the run cannot be used, a clause, with its numbers; else NULL */
};

/* From the pages (capture/stopwatch_page.h) that a run left in `folder`. With several processes the time goes from the
 * last of their first instants to the last of the others. -1 with `err`: the folder cannot be read. */
int stopwatch_read(const char *folder, const struct stopwatch_plan *plan, struct arena *arena,
                   struct stopwatch_result *out, struct err *err);

/* Timed runs as a collector, which records nothing. */

/* Whether timed runs of programs with steps can be made here: the library that counts ranges, or launches, is
 * there, and no other tool in its place. -1 with `err`. */
int stopwatch_check(bool launches, struct arena *arena, struct err *err);

#endif
