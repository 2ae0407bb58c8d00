/* Which kernels the two sides ran, by kernel_key: what only one has, what runs another number of times or another time,
 * and what one side leaves out. Pure; part of the same-work guard. */
#ifndef GAPLINE_SAME_WORK_H
#define GAPLINE_SAME_WORK_H

#include "same/renames.h"
#include "same/same_work.h"
#include "side/side.h"

#include <math.h>

/* Kernels of one kind of difference. Communication is in none: how many there are depends on how gradients are cut into
 * buckets, and waiting makes them long. */
struct work_group {
	uint32_t n;       /* keys */
	double time;      /* ns a step that they differ by */
	double largest;   /* of the one named */
	const char *name; /* the one that differs most */
	double size[2];   /* blocks of its launch, or threads of its block, the mean by side; 0: it is neither */
};

/* What may do the work of a kernel that is gone, the likelier the later: nothing; its own launches that are
 * left, each of which takes longer, or does more; a kernel beside it that takes longer; one that is new in another
 * phase; one in its place that hardly takes time; any of a step that was built anew, of one that still runs in it; or
 * one in its place that takes some. */
enum work_instead {
	WORK_NOTHING,
	WORK_LONGER,
	WORK_GATHERED,
	WORK_BESIDE,
	WORK_ELSEWHERE,
	WORK_LITTLE,
	WORK_ANEW,
	WORK_REPLACED
};

/* A kernel that one side runs less often and with fewer blocks, with nothing in its place: no kernel that this side
 * runs more often in the phases where that one is missing, in one that only this side has, or outside of all. */
struct work_left_out {
	uint32_t n;                /* keys; 0: nothing is left out */
	const char *name;          /* the one that runs longest on the other side … */
	double with, without;      /* … how often a step there, and here */
	enum work_instead instead; /* … and what may do its work here */
	double time, unclear; /* ns a step that they took there: `unclear` where something may do their work, and of
	                       * those that only set, copy or convert values */
};

/* Kernels of which one side does less in one ratio: layers that are gone, half of a batch. Two or more under the same
 * names, by their blocks, where these were recorded; or one, whose time falls with its blocks; or two or more that have
 * other names, and nearly all that have. */
struct work_fall {
	uint32_t n;    /* keys; 0: no such family */
	int less;      /* the side that does less */
	bool renamed;  /* kernels that have other names there, and run so many times as often */
	bool recut;    /* hardly less time went with the blocks: others may do as much */
	double ratio;  /* below 1: it does so much of what the other one does */
	double time;   /* ns a step that the family takes less there … */
	double grown;  /* … and that other kernels take more: they may do what is missing, … */
	bool replaced; /* … where that, what runs on the other side only and launches that went are a third of it */
	const char *name; /* of the family, the one that differs most */
};

/* A step holds several of the other side's: most kernels run so many times as often, and what went in says the same, or
 * where no input was copied nearly all of them do, and each takes as long. */
struct work_multiple {
	const char *name; /* the kernel that runs longest; NULL: it is not so */
	double runs[2];   /* how often a step, by side */
	bool fed;         /* what went in says so, too */
	bool blocks;      /* it runs as often: these are its blocks */
};

struct work_kernels {
	struct work_multiple multiple;
	struct work_multiple
		seldom;             /* what both run less often than every second step, and one side more often than
	                             * the other, the longest of it; it makes less than 1 % of the kernels' time: none */
	struct work_multiple recut; /* what both run as often in all, and not per repetition (work_find_recut) */
	struct work_group only[2];  /* by side */
	struct work_group counts;   /* on both, another number of times */
	struct work_group blocks;   /* on both, as often, with another number of blocks */
	struct work_group threads;  /* on both, as often, with as many blocks of other sizes, another time */
	struct work_group times;    /* on both, as often, with as many blocks, another time … */
	double longer;              /* … of which so much, ns a step, is more on the fixed side */
	double ratio; /* all kernels of both sides, two at least, are in `times`, and take so many times as long on the
	               * fixed side, each within 2 %; 0: it is not so */
	struct work_left_out left_out[2]; /* by the side that leaves it out */
	double placed; /* share of the time of kernels that one side alone runs, on the side where it is less: they run
	                * in a phase in which the other side has such, too, or as often as one of those; 1: there are
	                * none */
	struct work_fall fall;
	/* Evidence that the work is the same, ns a step by side: of all kernels but communication; of those that both
	 * run as often, with as many blocks, and that take, but for a factor common to all, as long. Amounts may differ
	 * by three standard errors. */
	double known[2], alike[2];
	struct work_group
		by_chance; /* of those, what is more than 5 % apart: chance may be why, and more work as well */
	struct work_group
		wandering;   /* … and what takes 5 % more or less time as steps wander: of these, nothing is known */
	double factor;       /* so many times as long on the fixed side; 1: as long, or chance may be why */
	double as_clock;     /* ln of the same, also where chance may be why, as `clock` */
	double clock;        /* ln of how many times as long the kernels that both run with as many blocks take in the
	                      * baseline, the median by time … */
	double clock_share;  /* … and what share of the kernels' time they are, on the side where it is less */
	bool clock_told;     /* it is near 0, or kernels besides the longest changed by it, too: the GPU's state */
	uint32_t by_step;    /* kernels that run as often per step on both sides, whatever a step works on … */
	double by_step_time; /* … and what they take, ns a step, on the side where it is more */
	double by_item_time; /* of those that do more where a step works on more items */
	double unnamed[2];   /* share of the side's kernels that have no name */
	double time[2];      /* of all kernels, ns a step */
};

/* How counts of the two sides are told apart. */
struct work_scale {
	bool steps;      /* counts are a step; else of a run, where nothing below 1 % matters */
	double slack;    /* instances a step that the edges of the window can make */
	double input[2]; /* bytes copied to the device a step, by side */
	double share[2]; /* of a side's counts and times, that is compared: 1, or 1 / its GPUs, of as many items */
	double as_much;  /* steps of the fixed side that work on as many items as one of the baseline; 1: not told */
	double clock;    /* conditions_clock */
	double chance;   /* work_chance(variation.seen) */
	struct variation variation;
	double alone;      /* ns a step: no kernels' times vary by more apart from the others'; work_vary_alone */
	double state;      /* ln: so many times as long takes what both run as often on the fixed side, all alike */
	double repeats[2]; /* steps of a run that were measured, by side */
	double busier[2];  /* conditions_busier */
};

/* Standard errors that chance may make of a mean that was seen `n` times: of few times an error is not known well. */
double work_chance(double n);

/* Whether a kernel's counts differ by more than edges, which cut a step through, and chance make. One that runs in
 * every step (a whole number of times on the side with more) is held to its number, others to what random occurrence
 * allows. */
bool work_differs(const struct work_scale *scale, double a, double b);

struct work_row;

/* The same of a kernel's instances, of which chance makes no less than what they vary by from step to step. */
bool work_runs_differ(const struct work_scale *scale, const struct work_row *row);

/* Both sides are built. The result's texts live in `arena`. */
void work_compare(const struct side_facts facts[2], const struct renames *renames, const struct names *names,
                  const struct work_scale *scale, struct arena *arena, struct work_kernels *out);

/* How often kernels run, by the step or by the item; for work*.c. */

/* A step that works on more items launches most kernels as often all the same. Whether it does, `all` says, and `row`
 * is that kernel, in a phase or in all: it gets the counts of as many items. */
bool work_count_by_step(const struct work_scale *scale, const struct work_row *all, struct work_row *row);

/* Whether a count a step is a whole number, one at least, but for the edges of the window. */
bool work_is_whole(const struct work_scale *scale, double count);

/* What speaks for the same work, and what against it under the same names: kernels that both sides run alike, and
 * families of kernels of which one side does less; for work*.c. */

/* A kernel in a phase, counted on both sides. */
struct work_row {
	const char *key;
	uint32_t phase; /* the baseline's name for it */
	bool comm;
	bool fill;                                          /* it sets, copies or converts values, by its name */
	double instances[2], time[2];                       /* a step, by side */
	double time2[2], blocks[2], blocks2[2], unsized[2]; /* a step; 2: how far steps are from the mean, squared */
	double threads[2]; /* of a block, added up over a step's launches; below one each: not recorded of all */
	double varies[2];  /* by how much its instances vary from step to step, standard deviation */
	bool per_item; /* a launch does more or less, as a step works on more or fewer items: its blocks and time are
	                * those of as many items */
};

/* How far two counts or times are apart, as a share of the larger one. */
static inline double work_distance(double a, double b)
{
	return fmax(a, b) > 0 ? fabs(a - b) / fmax(a, b) : 0;
}

/* What kernels in phases, n of them, vary by from step to step and do not vary by together, ns a step: what they vary
 * by one by one less what their sum does. No kernel has more of it. */
double work_vary_alone(const struct work_scale *scale, const struct work_row *row, size_t n);

/* Whether a kernel's launches have as many blocks on both sides, but for chance; true where they were not recorded.
 * Both sides run it. */
bool work_has_same_blocks(const struct work_scale *scale, const struct work_row *row);

/* Whether every block of a kernel has another number of threads than on the other side. A mean that is no whole number
 * is of launches that differ among themselves. Both sides run it. */
bool work_has_other_threads(const struct work_row *row);

/* Whether side `less` has a collective fewer for each launch of `row` that it has fewer: what prepares gradients to be
 * sent goes with the sending, and whether that was needed in every step no profile tells. `all`: the kernels of all
 * phases, n of them. */
bool work_goes_with_comm(const struct work_scale *scale, const struct work_row *all, size_t n, int less,
                         const struct work_row *row);

/* Whether a kernel that side `less` runs less often takes so much longer there that each launch may do what several do
 * on the other side: all tables of embeddings at once, say. Both sides run it. `state`: as in work_scale. */
bool work_is_gathered(const struct work_row *row, int less, double state);

/* Whether the few launches of side `less` have most of the blocks that many have on the other side, and each has more:
 * what is said, no more. */
static inline bool work_launches_hold_more(const struct work_row *r, int less)
{
	static const double most = 0.75, more = 1.1;
	return r->instances[less] > 0 && r->blocks[less] > most * r->blocks[!less] &&
	       r->blocks[less] * r->instances[!less] > more * r->blocks[!less] * r->instances[less];
}

/* Adds a kernel that differs by so much time, ns a step. `sizes`: how large its launches are, added up over a step's,
 * by side; NULL: that is not what differs. */
static inline void work_group_add(struct work_group *g, const struct work_row *r, double time, const double *sizes)
{
	g->n++;
	g->time += time;
	if (time <= g->largest && g->name)
		return;
	g->largest = time;
	g->name = *r->key ? r->key : "(no name)";
	for (int s = 0; s < 2; s++)
		g->size[s] = sizes ? sizes[s] / r->instances[s] : 0;
}

/* Fills known, alike, factor, by_chance and wandering of `out` from the kernels of all phases, n of them; `row`: in
 * phases. Blocks that were not recorded may have changed where times did. `arena`: for the time of the call. */
void work_find_alike(const struct work_scale *scale, const struct work_row *row, size_t n_rows,
                     const struct work_row *all, size_t n, struct arena *arena, struct work_kernels *out);

/* The family of kernels that differs most. `arena`: as above. */
void work_find_fall(const struct work_scale *scale, const struct work_row *all, size_t n, struct arena *arena,
                    struct work_fall *out);

/* work_kernels.placed. `row`: the kernels in phases, `all`: of all phases. `arena`: for the time of the call. */
double work_placed(const struct work_scale *scale, const struct work_row *row, size_t n_rows,
                   const struct work_row *all, size_t n, struct arena *arena);

/* Whether most of the time of the kernels of the side other than `less` is of such that run as often on neither, and
 * each side has some of its own: a step that was built anew, in which the sums and copies of the old parts need no
 * place. `all`: the kernels of all phases, n of them. */
bool work_is_built_anew(const struct work_scale *scale, const struct work_row *all, size_t n, int less);

/* Whether a step of one side holds several of the other's. */

#define WORK_SELDOM 0.5     /* times a step: what comes no more often is of a loop around it, … */
#define WORK_SAME_LOOP 0.05 /* … of which a step is the same part where counts are so near */

/* Of the kernels of all phases, n of them. The ratio is that of the kernel that runs longest; what an optimizer runs
 * once behind several micro-batches, as long on both sides, says nothing of it. */
struct work_multiple work_find_multiple(const struct work_scale *scale, const struct work_row *all, size_t n);

/* The same of steps that run as often and are larger: a third and more of the kernels' time has so many times the
 * blocks, a step is given so many times the input, and a run has so many times fewer steps. `runs` are blocks of a
 * step. */
struct work_multiple work_find_larger(const struct work_scale *scale, const struct work_row *all, size_t n);

/* struct work_kernels. `all`: as above. */
struct work_multiple work_find_seldom(const struct work_row *all, size_t n);

/* The same: what runs as often in all on both sides, which repeat so many times each (`repeats`), and not per
 * repetition, the longest of it, where that is a third and more of the kernels' time. A repetition then ends at
 * something else: steps from one neighbour list to the next, say, which one side makes half as often. */
struct work_multiple work_find_recut(const double repeats[2], const struct work_row *all, size_t n);

/* Of the time that went: what takes so much may be in its place. */
#define WORK_REPLACES (1 / 3.)

/* How much longer a kernel that runs as often takes on side `less`, beyond a clock, ns a step: with what another did
 * there no more, perhaps. 0: hardly; INFINITY: in other blocks, whatever it is. */
double work_takes_more(const struct work_scale *scale, const struct work_row *row, int less);

/* Half as many launches of twice as many blocks leave nothing out. */
bool work_has_as_many_blocks(const struct work_row *row);

/* How many times less often side `less` runs what has as many blocks on both sides in fewer launches, where that is a
 * third and more of the time of all that runs so many times less often: then it works on larger parts of the same
 * batch, and a kernel whose launches have few blocks however much they do (a loss, a sum) leaves nothing out, either.
 * 0: it does not. */
double work_find_merged(const struct work_scale *scale, const struct work_row *all, size_t n, int less);

#endif
