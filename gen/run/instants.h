/* Where a timed run of the same program (capture/stopwatch.h) takes the time: at the end of which step ranges. */
#ifndef GAPLINE_RUN_INSTANTS_H
#define GAPLINE_RUN_INSTANTS_H

#include "trace/trace.h"

struct instants {
	uint32_t steps;      /* between the two; 0: the profile has no steps */
	const char *unknown; /* there are steps, but the time cannot be taken at them: why, a key of the words
	                      * `unmeasured`; else NULL */
	/* The rest when `steps` is not 0 and `unknown` is NULL. */
	const char *step, *domain; /* normalised name of the step range; of its domain, "": the default one. Where a
	                            * pattern gives the steps: the loop's title, and "" */
	uint32_t first, last;      /* which such range, or launch, of a process, counted by their ends from 1 */
	uint32_t launches;         /* launches are counted, not ranges: how many a process makes in all; else 0 */
	uint32_t processes;        /* that make steps, each with the same counts */
	int64_t lag_ns; /* how much later the GPU ended a step than the host, at most: what a wait may take */
};

/* What the steps are asked to be, as on the command line (struct analyse_options). */
struct instants_request {
	const char *step, *loop; /* or NULL */
	int warmup;              /* or -1 */
};

/* The instants of each side of a comparison: out[s] for trace[s], n of them. Their steps are chosen together, as the
 * comparison will, so that N steps of warm-up are as much of the program on either side. All traces share their names.
 *
 * Launches are the calls that launch a kernel or a graph; where a pattern gives the steps, they are all that a library
 * in the program can count without knowing what is launched.
 *
 * The two instants are the end of the last warm-up step and that of the last step, or the nearest ones between them at
 * which waiting for the devices breaks no graph capture: none is open in the process, and none of another thread, whose
 * pace relative to this one is not the same in every run, is near. Names are added to those of the traces. 0, or -1
 * with `err` as run_find_steps and steps_agree. */
int instants_find(const struct trace *const *trace, int n, const struct instants_request *how, struct arena *arena,
                  struct instants *out, struct err *err);

struct run;

/* What the steps of a run are called: `step` above. */
const char *instants_step(const struct run *run);

/* Launches a step in each process, between the ends of the last warm-up step and of the last step; 0: not known. For a
 * run whose steps a pattern gives. */
double instants_launches(const struct run *run);

#endif
