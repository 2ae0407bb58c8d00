/* A pair: one program in variants that do the same work, the first with a fault and the others without it. What all
 * pairs share is here (options, the GPU, the simulation that keeps it busy, the loop over the steps, timing, the
 * result), so that a pair's own files show only the fault and its fix.
 *
 * A step simulates (reaction.h) and ends when the host has read a number from the GPU, as solvers that watch their
 * convergence do. So the host never runs ahead, unless a variant wants it to, and what the host does between two steps
 * is time in which the GPU waits. */
#ifndef WORKLOADS_COMMON_PAIR_H
#define WORKLOADS_COMMON_PAIR_H

#include "options.h"
#include "ranks.h"
#include "reaction.h"

#include <cuda_runtime_api.h>

enum { PAIR_VARIANTS = 3 };

/* One execution of a variant. */
struct run {
	const struct pair *pair;
	const struct options *options;
	struct ranks ranks;  /* of the pairs with several GPUs; else rank 0 of 1 */
	int work;            /* size of the fault in the pair's unit */
	int sweeps;          /* of the simulation in a step */
	cudaStream_t stream; /* on which a step's work is queued */
	struct reaction reaction;
	float *residual;  /* by step, pinned: what the host reads at the step's end */
	double *done_ms;  /* by step: clock_ms when the host had read it */
	double *fault_ms; /* by step: what the step thread, or the GPU, spent in the fault */
	uint64_t hash;    /* of results beside the simulation's; the pair adds to it */
};

struct pair {
	const char *name;
	struct options_text text;
	struct options defaults;
	int gpus;     /* processes, one a GPU; 0 counts as 1 */
	bool outlast; /* the simulation must last longer than the fault, which the fix hides behind it */
	/* The work that --fault-ms asks for on this machine. Not called when --fault-work says it, and may leave
	 * nothing behind. NULL: the pair has no fault. */
	int (*calibrate)(struct run *run);
	void (*prepare)(
		struct run *run); /* with run->work set: allocates and starts what the variant needs; may be NULL */
	void (*step[PAIR_VARIANTS])(struct run *run, int i); /* by variant; ends with run_read or run_seen */
	void (*finish)(struct run *run); /* after the last step: waits, checks, releases; may be NULL */
};

/* Does everything; returns the exit status. */
int pair_main(const struct pair *pair, int argc, char **argv);

/* The program is `pair`. */
#define PAIR_MAIN(pair)                                                                                                \
	int main(int argc, char **argv)                                                                                \
	{                                                                                                              \
		return pair_main(&(pair), argc, argv);                                                                 \
	}

/* ---- parts of a step ---- */

/* Phase `simulate`: queues the step's sweeps. */
void run_simulate(struct run *run);

/* Phase `residual`: reads it, which waits for all that is queued, and ends step i. */
void run_read(struct run *run, int i);

/* The two halves of that, for variants that read later: queues reading the residual; says that the host has it. */
void run_queue_read(struct run *run, int i);
void run_seen(struct run *run, int i);

/* Around the fault in step i; several stretches add up. */
void run_fault_begin(struct run *run, int i);
void run_fault_end(struct run *run, int i);

/* Ends the program with EXIT_WRONG_RESULT: what was computed is not right. */
_Noreturn void run_wrong(const struct run *run, const char *what);

/* ---- GPU time between two points of a stream ---- */

struct stopwatch {
	cudaEvent_t start, stop;
};
void stopwatch_init(struct stopwatch *w);
void stopwatch_release(struct stopwatch *w);
double stopwatch_ms(const struct stopwatch *w); /* between the events, once both have been reached; waits for them */

#endif
