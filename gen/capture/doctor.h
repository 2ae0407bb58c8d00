/* What this machine can capture, and what is missing: every part that a capture needs is looked at as the capture would
 * look for it. Nothing is changed, and nothing runs on a GPU. */
#ifndef GAPLINE_CAPTURE_DOCTOR_H
#define GAPLINE_CAPTURE_DOCTOR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum doctor_level {
	DOCTOR_OK,
	DOCTOR_NOTE, /* captures work without it, and lack something */
	DOCTOR_FIX
};

struct doctor_line {
	enum doctor_level level;
	const char *what;   /* "driver", "GPU 0", … */
	const char *text;   /* what is there, or what is wrong */
	const char *advice; /* what to do; "" for nothing */
};

struct doctor {
	struct arena *arena;
	struct doctor_line *lines;
	size_t n;
	bool can_cupti, can_nsys; /* which collectors can capture here */

	/* between the parts */
	const char *container; /* its kind, "" for none */
	int cuda;              /* the driver's CUDA version, 13000; 0: no driver that works */
};

/* What to look at instead of the system's; NULL: the system's. For tests. */
struct doctor_places {
	const char *root; /* in front of /proc, /dev, /run and /.dockerenv */
	const char *cuda; /* libcuda.so.1 */
	const char *nvml; /* libnvidia-ml.so.1 */
};

void doctor_examine(const struct doctor_places *places, struct arena *arena, struct doctor *out);

#endif
