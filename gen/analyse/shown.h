/* What a reader sees first: which finding comes next, and which facts could reverse the verdict. Chosen once, so that
 * the page, the terminal and whatever is written for a pull request say the same. No output leaves one of these facts
 * out; what only describes the data is among the verdict's reasons, which an output may fold away. */
#ifndef GAPLINE_ANALYSE_SHOWN_H
#define GAPLINE_ANALYSE_SHOWN_H

#include "analyse/analysis.h"
#include "result/side_result.h"

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

/* Of a side of many ranks: those that a result lists where it has no room for all, and how the others spread. */

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

/* What both sides say about the same things, joined: the rows of the report's tables, in their order, and which of them
 * matter. Decided here once, so that every output shows the same rows; an output only formats them.
 *
 *     row[0 … shown)     what is shown at first: the longest, as far as they say something about a step
 *     row[shown … kept)  what a reader can open
 *     row[kept … n)      so many that only their sum is said
 */

enum {
	TABLE_SHOWN = 30,  /* rows shown at first, with the one that sums up the others */
	TABLE_KEPT = 1000, /* rows that can be opened */
	TABLE_BRIEF = 10   /* rows, or sentences, of an output that has no room for more and opens none */
};

enum table_kind {
	TABLE_PHASES,    /* time: cost; key: name */
	TABLE_IDLE,      /* key: cause << 32 | phase */
	TABLE_KERNELS,   /* key: name; count: launches */
	TABLE_OPERATORS, /* key: name; count: GPU operations */
	TABLE_OUTERMOST, /* key: name; count: kernels */
	TABLE_MODULES,   /* key: name; time and count: with the modules in it; gpu: its own */
	TABLE_LINES,     /* likewise functions with the lines in them */
	TABLE_CALLS,     /* key: name; count: calls */
	TABLE_RANGES,    /* key: domain << 32 | name; time: of the host; gpu; count: instances */
	TABLE_COPIES,    /* key: of table_copy_key; count: copies; bytes */
	TABLE_STARTUP    /* key: enum startup_part */
};

/* By side; what a side does not have is 0. Times are ns a step. */
struct table_row {
	uint64_t key;
	double time[2], gpu[2], count[2], bytes[2];
	int64_t at[2]; /* index of the (first) row in the side's own list; −1: the side has none */
};

struct table {
	struct table_row *row;
	uint32_t n, kept, shown;
	double most;                   /* the longest time of all rows */
	struct table_row rest, beyond; /* sums of row[shown … n) and row[kept … n) */
};

/* Rows by the longer of their two times (of ranges: of the host's or the GPU's time) descending, ties as the sides
 * list them, which names decide and not their numbers. Everything comes from `arena`. */
struct table table_make(const struct analysis *analysis, enum table_kind kind, struct arena *arena);

/* The same for an output without room: `shown` is TABLE_BRIEF or all, and `rest` sums up what is left out. */
struct table table_brief(const struct analysis *analysis, enum table_kind kind, struct arena *arena);

/* Lowers `kept`, at least to `shown`: where an output has less room. */
void table_keep(struct table *table, uint32_t kept);

#endif
