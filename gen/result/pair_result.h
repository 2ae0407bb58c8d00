/* What an analysis says of two sides together, a struct a stage: plain data, part of struct analysis (analysis.h says
 * what units and names mean). */
#ifndef GAPLINE_RESULT_PAIR_RESULT_H
#define GAPLINE_RESULT_PAIR_RESULT_H

#include "result/latency_result.h"
#include "result/words.h"
#include "verdict/stopwatch.h"

/* A phase that has another name on the fixed side, by its place in the step. */
struct phase_rename {
	uint32_t from, to; /* names in the baseline and in the fixed side */
};
struct renames {
	const struct phase_rename *list;
	uint32_t n;
	const uint32_t *fixed, *baseline; /* by the other side's name: what this side calls it; 0: no other name */
	uint32_t n_names;
};

/* What the fixed side calls a phase of the baseline, and the other way round; the same name where it was not renamed.
 */
static inline uint32_t renames_fixed(const struct renames *renames, uint32_t baseline)
{
	return baseline < renames->n_names && renames->fixed[baseline] ? renames->fixed[baseline] : baseline;
}
static inline uint32_t renames_baseline(const struct renames *renames, uint32_t fixed)
{
	return fixed < renames->n_names && renames->baseline[fixed] ? renames->baseline[fixed] : fixed;
}

/* Whether the numbers that both programs printed agree (same/same_result). */
struct same_result {
	enum result_state state;
	const struct fact *fact; /* NULL: nothing was asked */
	const char *pattern;     /* what was asked for, */
	double tolerance;        /* relative */
	uint32_t runs[2];        /* whose outputs were held against each other, by side */
	uint32_t numbers;        /* in each run; 0: they could not be compared */
	double largest;          /* relative difference between the sides, as far as it was looked for */
	uint32_t first;          /* RESULT_DIFFERS: the first that does, from 1, … */
	double value[2];         /* … by side */
};

/* Whether both did the same work under the same conditions (same/compare). */
struct comparison {
	const struct fact *mismatch; /* they cannot be judged against each other at all; else NULL */
	bool strangers;              /* … for they repeat different things, so that no number is one of both */
	bool other_unit; /* … for their steps hold different amounts of work: no headline has the speedup of such a step
	                  */
	enum same_work same_work;
	enum same_kernels kernels;
	struct same_result result;
	bool other_conditions;    /* another GPU, driver, clock or way of recording on one side */
	bool other_gpus;          /* of another model on one side, or in one run */
	bool other_batch;         /* one side's batches may be larger, of what its steps are given */
	bool comparable;          /* the same work or the same job, under the same conditions */
	struct facts differences; /* that are material */
	struct facts notes;       /* and that are not */
	const struct fact *loops; /* of these: how all repetitions, or all loops, compare beside the step; or NULL */
	struct renames renames;
	double clock, clock_share; /* as in same/work.h … */
	bool clock_told;           /* … likewise */
	double as_clock;           /* ln: as `clock`, where all kernels of both go by it; else 0 */
};

/* Facts about the data that could turn a result round, each one of the verdict's reasons; NULL: it is not so. */
struct turning {
	const struct fact *opposite;   /* without a profiler it is the other way round than recorded */
	const struct fact *held_back;  /* one side's clock was held back, and the other's never was */
	const struct fact *broken_off; /* only one side's capture is incomplete */
	const struct fact *shared;     /* processes of others used the GPU, too */
};

/* The way from the baseline's step to the fixed one's. Parts add up to the two headline periods exactly (to double
 * rounding); empty when nothing differs. No two parts have the same (kind, cause, phase). */
struct waterfall_part {
	enum part_kind kind;
	enum cause cause;              /* of PART_IDLE */
	uint32_t phase;                /* of PART_IDLE: a name, the baseline's if it has one; 0: between phases */
	uint32_t renamed;              /* of PART_IDLE: what the fixed side calls the phase, if otherwise; else 0 */
	double baseline, fixed, delta; /* ns a step, or an item where the sides are compared by it */
	bool has_interval;             /* … and the 95 % interval of `delta`: */
	double half;                   /* delta ± half, */
	double within;                 /* … of which so much is seen in the runs themselves (verdict/row.h) */
};

/* One of the reasons for a change of the step. */
struct reason {
	struct waterfall_part part; /* … of idle time as far as it has not come back elsewhere: */
	bool every_phase;           /* it is idle time of its cause, whatever the phase, … */
	bool every_cause;           /* … or in its phase, whatever the cause: because some of it moved */
	bool held;                  /* … less what came in its place: of the same phase, or of any with every_phase;
	                             * the side with less of it has that, too */
	bool one_way;               /* of PART_COPY: it is those that go one way, … */
	uint32_t way;               /* … enum copy_kind or WAY_MEMSET */
	double at_once[2];          /* of PART_COMPUTE: so many kernels run at once on average, by side, where that is
	                             * what changed it; else 0 */
};
enum { REASONS_MOST = 5 };
struct waterfall {
	struct waterfall_part *part;
	uint32_t n;
	/* Parts that changed in the direction of the verdict by more than chance, the largest first, until they are
	 * two thirds of its change; only with `faster` and `slower`. */
	struct reason reason[REASONS_MOST];
	uint32_t n_reasons;
	double explained; /* what these changed together, over the change of the step */
	/* By how much everything else changed, and of it the part of the budget that did so most, either way; NULL:
	 * not known, or neither is a tenth of the change. */
	double rest;
	const struct waterfall_part *largest;
};

struct finding_number {
	const char *name; /* "cost", "copies", … */
	enum finding_unit unit;
	double value[2]; /* by side; 0 on a side that is not there */
};
enum { FINDING_NUMBERS = 8 };

struct finding {
	const char *id;          /* "input_starvation", "pageable_copies", … */
	const struct fact *fact; /* the evidence of `side` */
	struct facts more;       /* what is said after it: of a pair the other side's cost, of samples a function */
	const char *title;       /* a few words: "Input starvation" */
	int side;  /* whose evidence, ceiling and advice these are: 1 where only the fixed side shows it, else 0 */
	bool both; /* both sides show it */
	enum finding_status status;
	uint32_t phase[2];  /* by side, the phase with most of it; 0: no phase */
	double per_step[2]; /* what it costs, ns a step, by side, measured in the same way */
	bool has_ceiling;
	double ceiling_step;  /* ns: the mean step if this one thing were perfectly fixed, and the rest as it is */
	double ceiling_least; /* … and what it may come down to, since the rest gets faster, too; 0: not expected */
	double ceiling_speedup;
	double floor; /* ns: no fix of it brings the step of the last side below that; 0: nothing is known */
	struct finding_number number[FINDING_NUMBERS];
	uint32_t n_numbers;
	const char *text;   /* of `fact` and `more` */
	const char *advice; /* what to do */
};

/* Times in ns a step, or an item where the sides are compared by it; arithmetic means. */
struct diagnosis {
	enum diagnosis_result result;
	double combined_ceiling; /* the step if all that is resolved were perfectly fixed; 0: nothing was resolved */
	double combined_least;   /* … and what it may come down to: ceiling_least; 0: not expected */
	double measured;         /* the fixed side's step; 0: nothing was resolved */
	double gain;             /* how much shorter the step got */
	double explained;        /* how much of the gain is what was claimed */
	double share;            /* explained / gain; 0 where nothing is judged */
	bool has_unmet, has_rest;
	struct waterfall_part unmet; /* which shrank by less than was claimed of it, the one that lacks most */
	struct waterfall_part rest;  /* of `partly` the largest other gain, of `exceeded` the largest loss */
};

struct findings {
	struct finding *list;
	uint32_t n; /* by per_step descending within status */
	struct diagnosis diagnosis;
};

#endif
