/* Where a stopwatch run of the same program (capture/stopwatch.h) takes the time: at the end of which step ranges. */
#ifndef GAPLINE_ANALYSE_RUN_INSTANTS_H
#define GAPLINE_ANALYSE_RUN_INSTANTS_H

#include "trace/trace.h"

struct instants {
	uint32_t steps;      /* between the two; 0: the profile has no steps that ranges mark */
	const char *unknown; /* there are steps, but the time cannot be taken at them: why, a clause; else NULL */
	/* The rest when `steps` is not 0 and `unknown` is NULL. */
	const char *step, *domain; /* normalised name of the step range; of its domain, "": the default one */
	uint32_t first, last;      /* which such range of a process, counted by their ends from 1 */
	uint32_t processes;        /* that make steps, each with the same counts */
	int64_t lag_ns; /* how much later the GPU ended a step than the host, at most: what a wait may take */
};

/* The two instants are the end of the last warm-up step and that of the last step, or the nearest ones between them at
 * which waiting for the devices breaks no graph capture: none is open in the process, and none of another thread, whose
 * pace relative to this one is not the same in every run, is near. `step` and `warmup` as in run_prepare; names are
 * added to trace->names. 0, or -1 with `err` as run_prepare. */
int instants_find(const struct trace *trace, const char *step, int warmup, struct arena *arena, struct instants *out,
                  struct err *err);

#endif
