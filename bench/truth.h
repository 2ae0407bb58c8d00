/* What is true of a generated job, added up in integer nanoseconds while the job is made up, and written beside the
 * profile. Nothing here or in job.c uses gapline's code: the definitions are those of docs/method/analysis.md, applied
 * to a program of which everything is known. */
#ifndef GAPLINE_BENCH_TRUTH_H
#define GAPLINE_BENCH_TRUTH_H

#include <stdint.h>
#include <stdio.h>

enum phase { PHASE_NONE, PHASE_DATA, PHASE_H2D, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASES };

/* Why the GPU was idle; the words are those of the JSON (truth.c). */
enum why {
	WHY_HOST_CODE,
	WHY_HOST_BLOCKED,
	WHY_SYNC_RETURN,
	WHY_COPY_API,
	WHY_LAUNCH_API,
	WHY_ALLOC,
	WHY_LAUNCH_LATENCY,
	WHY_DISPATCH,
	WHY_DEPENDENCY,
	WHY_UNATTRIBUTED,
	WHYS
};

enum opening { OPENING_SYNC, OPENING_DRY, OPENING_WAITING, OPENINGS };

enum work { WORK_COMPUTE, WORK_COMM, WORK_COPY, WORKS };

enum { KERNEL_NAMES = 24, CALL_NAMES = 7 };

struct tally {
	int64_t n, ns, bytes;
};

/* Of one device, in the window. */
struct device_truth {
	int64_t busy[WORKS], idle;
	int64_t row[WHYS][PHASES][OPENINGS];
	int64_t cost[PHASES], gpu[PHASES];
};

struct truth {
	int steps, warmup, ranks;
	int64_t window_start, window_end;
	int64_t *step_end; /* by step */
	struct device_truth *device;
	struct tally kernel[KERNEL_NAMES], call[CALL_NAMES]; /* in the measured steps, all ranks together */
	struct tally h2d, d2h, set;
	int64_t ranges;                                    /* NVTX ranges in the measured steps */
	int64_t gpu_ops, cuda_calls, all_ranges, os_calls; /* in the whole profile */
};

extern const char *const kernel_names[KERNEL_NAMES]; /* the last COMM_NAMES of them communicate */
extern const char *const call_names[CALL_NAMES];
enum { COMM_NAMES = 2 };

/* JSON. */
void truth_write(const struct truth *t, FILE *out);

#endif
