/* How long single steps and requests take, where the mean says too little (docs/method/verdict.md, "The slowest
 * steps"). */
#ifndef GAPLINE_RESULT_LATENCY_RESULT_H
#define GAPLINE_RESULT_LATENCY_RESULT_H

#include "result/words.h"

#include <stddef.h>

enum { QUANTILES = 4 };

/* What is timed of a step; the last two where it was asked for, by the ranges inside of it. */
enum latency_of {
	LATENCY_STEP,  /* its period, or of a request how long it took */
	LATENCY_FIRST, /* to its first token: --first */
	LATENCY_EACH,  /* each token after that: --each */
	LATENCIES
};

/* One quantile of one side; of several runs the geometric mean of theirs. */
struct quantile {
	double p;           /* 0.5, 0.9, 0.95 or 0.99 */
	bool known;         /* there are steps */
	double at;          /* ns */
	bool has_interval;  /* else there are too few steps that do not depend on each other, in a run at least */
	double lo, hi;      /* ns; both `at` without an interval */
	double independent; /* how many such steps the run with the fewest has … */
	double needed;      /* … and about how many it takes */
};

enum {
	SLOWEST_PARTS = 6,
	SLOWEST_LEAST = 5 /* fewer slow steps tell nothing */
};

/* A mean over the slowest steps beside that over steps about the median, ns, and the 95 % interval of the difference.
 */
struct slowest_time {
	double usual, slow;
	double more, half; /* slow − usual ± half */
};

/* Where the slowest steps of a side wait: of each run the slowest 1 % beside the tenth about the median. */
struct slowest {
	uint32_t n;    /* the slowest; 0: none are longer, or they are not known … */
	uint32_t few;  /* … since there are so many of them */
	uint32_t of;   /* of so many */
	bool requests; /* each from its own start to its own end, and what the GPU did meanwhile, for whichever */
	bool apart;    /* it is known for which, … */
	struct slowest_time all, work[REQUEST_WORKS]; /* … which add up to all; else 0 */
	struct slowest_part {
		enum part_kind kind;
		enum cause cause; /* of PART_IDLE … */
		uint32_t phase;   /* … in that phase: a name, 0 where nobody marked it */
		uint32_t way;     /* of PART_COPY: as in struct step_column */
		struct slowest_time time;
	} part[SLOWEST_PARTS]; /* those that make a tenth of it or more, beyond their interval, the largest first */
	uint32_t n_parts;
};

/* One of these times, of a side. */
struct latency {
	struct quantile quantile[QUANTILES]; /* by p */
	double longest;                      /* ns, of requests; else 0 */
	size_t n, of;                        /* so many of the measured steps have it, all runs together */
};

/* A quantile of the fixed side over the baseline's: 1.1 is 10 % longer. */
struct quantile_change {
	double p;
	bool known, has_interval;
	double ratio, lo, hi; /* lo = hi = ratio without an interval */
};

#endif
