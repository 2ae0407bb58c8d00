/* Of a side of many ranks: those that a result lists where it has no room for all, and how the others spread. */
#ifndef GAPLINE_ANALYSE_FOLDED_H
#define GAPLINE_ANALYSE_FOLDED_H

#include "analyse/side_result.h"

enum {
	FOLDED_FROM = 17,  /* devices: of fewer all are listed */
	FOLDED_SHOWN = 10, /* that are listed otherwise; of files at most as many more whose rank is not known */
	FOLDED_QUANTILES = 5
};

/* What ranks are compared by, ns a step: a part of the budget, else what rank_result has. */
enum folded_part {
	FOLDED_COMPUTE,
	FOLDED_COMM,
	FOLDED_COPIES,
	FOLDED_IDLE,
	FOLDED_OWN,
	FOLDED_WAITED_FOR,
	FOLDED_PARTS
};

struct folded {
	uint32_t n;                    /* that are listed; 0: nothing is folded, all are */
	uint32_t device[FOLDED_SHOWN]; /* the most unusual first: by the part that is furthest from its median, in time;
	                                * the straggler is among them */
	const struct fact *reason[FOLDED_SHOWN];   /* that part: rank_stands_out */
	double p[FOLDED_QUANTILES];                /* 0 … 1, … */
	double at[FOLDED_QUANTILES][FOLDED_PARTS]; /* … the nearest rank's number; NAN where none is known */
	bool *file;                                /* by file of the side: it is listed */
};

const char *folded_part_name(enum folded_part part); /* "compute" */

/* `side_of` is the side's number, or FACT_NO_SIDE. From `arena`. */
struct folded folded_make(const struct side *side, int side_of, struct arena *arena);

/* Whether a device is listed. */
bool folded_lists(const struct folded *folded, uint32_t device);

#endif
