/* What a reader sees first: which finding comes next, and which facts could reverse the verdict. Chosen once, so that
 * the page, the terminal and whatever is written for a pull request say the same. No output leaves one of these facts
 * out; what only describes the data is among the verdict's reasons, which an output may fold away. */
#ifndef GAPLINE_ANALYSE_CARD_H
#define GAPLINE_ANALYSE_CARD_H

#include "analyse/analysis.h"

/* What could turn a result round, the gravest first. */
enum doubt {
	DOUBT_DATA, /* what was recorded proves nothing: rows were left out, or the sides were traced differently */
	DOUBT_WORK, /* the two sides did different work, or nobody knows */
	DOUBT_CONDITIONS, /* another GPU, driver, clock or way of recording */
	DOUBT_WARMING,    /* a side never reached its level */
	DOUBT_ONE_RUN,    /* what differs from run to run is not in the interval */
	DOUBT_SESSION,    /* the sides share no session: another day, host or GPU looks like an effect */
	DOUBT_ORDER,      /* several runs, not captured in turns: a drift of the machine looks like an effect */
	DOUBT_NO_ORDER,   /* several runs, and their order is not known */
	DOUBT_ASIDE,      /* steps were set aside: the speedup with them is another one */
	DOUBT_RECORDING,  /* without a profiler the speedup is another one */
	DOUBT_OPPOSITE,   /* it was measured without a profiler, and recorded it is the other way round */
	DOUBT_HELD_BACK,  /* one side's clock was held back, and the other's never */
	DOUBT_BROKEN_OFF, /* only one side's capture is incomplete */
	DOUBT_SHARED,     /* processes of others used the GPU, too */
	DOUBT_SHORT,      /* few independent steps are all that keeps a change from counting */
	DOUBT_COUNT
};

struct card {
	const struct finding *next; /* what would gain most on the fixed side; NULL: nothing that a rule knows */
	double next_speedup;        /* at most so much, by fixing that alone; of the fixed side's mean step */
	uint32_t next_phase;        /* where; 0: no phase */
	/* Where no rule names anything and the fixed side's GPU waits for a good part of the step all the same: what it
	 * waits for longest; `next_speedup` is then without any waiting. NULL: it hardly waits. */
	const struct idle_row *left;
	/* Where exposed communication changed most, and most of that was waiting for the slowest device: that finding;
	 * else NULL. */
	const struct finding *straggler;
	uint32_t longer_phase; /* where most came of the GPU work that explains a slower result; 0: in none, or of waits
	                        */
	/* An open result may be one of steps that do more on one side, which then made fewer: to be compared by item.
	 */
	bool by_item;
	enum doubt doubt[DOUBT_COUNT];
	uint32_t n_doubts;
	double steps_per_second[2], items_per_second[2]; /* by side; 0: no steps, or no items */
	double busy_share[2]; /* of the window in which the GPU worked, 0 to 1, by side … */
	double comm_share[2]; /* … and of that, in which it only communicated, or waited in a kernel that does */
};

struct card card_make(const struct analysis *analysis);

/* What it is, where the GPU's own work changed: the kernel with the largest change in that direction, if it is half of
 * all and more. Where both profiles say whose kernels are, no kernel is taken for the other name of another: it is then
 * the outermost PyTorch operator, or else the innermost module, that has so much of it on both sides. */
struct card_work {
	uint32_t kernel;          /* 0: none stands out, or something else changed */
	uint32_t owner;           /* of no kernel: the operator, or … */
	bool module;              /* … the module; 0: none */
	double time[2], count[2]; /* of the owner, by side, a step (or an item) and GPU: ns; kernels (of a module all
	                           * GPU operations) */
};

struct card_work card_work(const struct analysis *analysis, struct arena *arena);

/* Kernels before and after: those that both sides have by their names, the others by the outermost operator that
 * launches them, where both sides have that, or by the family that their names tell; times and launches of a step, by
 * side, summed over GPUs; of `kernels` names, 1 where it is the kernel's own. */
struct card_slope {
	const char *name;
	double time[2], count[2];
	uint32_t kernels;
};

/* At most `most` of them, the longest first. */
const struct card_slope *card_slopes(const struct analysis *analysis, uint32_t most, struct arena *arena, uint32_t *n);

/* A kernel that both sides have, of runs without steps: its time and launches in a run, by side. */
struct card_once {
	uint32_t name;
	double time[2], count[2];
};

/* Those kernels, the longest first; `n` is 0 with steps, and where there is nothing to compare. */
const struct card_once *card_once(const struct analysis *analysis, struct arena *arena, uint32_t *n);

#endif
