/* What the files of the same-work guard share: compare*.c, and nobody else. */
#ifndef GAPLINE_ANALYSE_JUDGE_COMPARE_PARTS_H
#define GAPLINE_ANALYSE_JUDGE_COMPARE_PARTS_H

#include "analyse/judge/compare.h"
#include "analyse/judge/variation.h"

#define GUARD_MATERIAL 0.01   /* of launches, bytes or GPU time */
#define GUARD_FEW_BYTES 1024  /* a step: a scalar here and there is no input and no result */
#define GUARD_NEARLY_ALL 0.98 /* of the kernels' time: so much is alike where the work is the same */

/* The guard while it looks. */
struct guard {
	struct arena *arena;
	const struct names *names;
	const struct side *side; /* both */
	const struct side *a, *b;
	struct comparison out;
	double steps;  /* of the shorter side; 0 without steps */
	double chance; /* as in struct work_scale */
	struct variation variation;
	double slack;    /* instances a step that an edge of the window can make: one and a half in the shorter side */
	double share[2]; /* 1; of jobs of unequal size 1 / their GPUs: what one GPU does is compared; of as many items
	                  */
	double as_much;  /* as in struct work_scale */
	double alike;    /* share of the kernels' time on both sides that is alike: struct work_kernels */
	double placed;   /* as in struct work_kernels */
	bool kernels_differ;
	bool others_run;  /* kernels run on one side alone, or another number of times, however little that takes */
	bool other_loops; /* what repeats on the sides, unmarked, is no unit of the same work */
	bool grows[2];    /* the side runs kernels that the other one does not */
	bool copies[2];   /* the side copies more between host and device, either way */
	bool sends[2];    /* the side runs more collectives */
	bool falls;       /* one side does less of several kernels, in one ratio */
	bool only_times_differ; /* the same kernels, as often */
	bool different;         /* the work is not the same */
	bool doubtful;          /* what was recorded does not tell whether the work is the same */
};

/* Adds a difference, or where it is not material a note; NULL adds nothing. */
void guard_find(struct guard *guard, bool material, const struct fact *fact);
#define GUARD_FIND(guard, material, ...) guard_find((guard), (material), FACT_NEW((guard)->arena, __VA_ARGS__))

/* What was recorded does not tell whether the work is the same, and why. */
void guard_doubt(struct guard *guard, const struct fact *why);
#define GUARD_DOUBT(guard, ...) guard_doubt((guard), FACT_NEW((guard)->arena, __VA_ARGS__))

/* How far apart two amounts are, as a share of the larger; 0 to 1. */
double guard_distance(double a, double b);

/* Whether a step of one side has more of something, by more than chance and the window's edges. */
bool guard_counts_differ(const struct guard *guard, double a, double b);

/* What amounts are of: a key of the words "per". */
const char *guard_per(const struct guard *guard);

/* Compares the kernels of both sides: fills alike, falls, others_run, kernels_differ and only_times_differ. */
void guard_kernels(struct guard *guard, const struct side_facts facts[2]);

/* Whether copies within a device that the side does not make may be nodes of its graphs: traced whole those hide them,
 * and traced by node they are kernels. */
bool guard_copies_in_graph(const struct guard *guard, int side);

/* Bytes a step by which the sides' copies of a kind may differ by chance, and by one at an edge of the window. */
double guard_bytes_slack(const struct guard *guard, enum copy_kind kind);

/* Whether steps are given so many bytes that one side's batches may be larger: a whole number of times as many, and
 * kernels run in other blocks, or most take another time. */
bool guard_other_batch(const struct guard *guard, const struct side_facts facts[2], double baseline, double fixed);

/* Adds which side makes a copy more a step between host and device, either way, however few bytes: a scalar may be
 * what the other side's kernel calculates. */
void guard_copies_more(struct guard *guard);

/* What repeats, and nobody marked, is a part of a step, or holds several, where the sides copy to the device and back
 * more on one of them, by one ratio: as many copies, where those of a side come in fewer than half of its steps, for a
 * loop around them makes them; or as many bytes, beyond what varies by chance. Says which; NULL: neither. */
const struct fact *guard_copies_of_loop(const struct guard *guard);

/* Whether nearly all that both sides do repeats, many times as often on one side, and takes about as many times longer
 * on the other: of small kernels that became one, the repetitions are no unit. Not where each is given as many bytes.
 */
const struct fact *guard_other_number(const struct guard *guard);

/* Whether the program marks no steps, what is called one comes twice as often and more on a side, and is shorter there
 * by less: all of them together say the opposite of one. Where nothing shows the same work, either may be true. NULL:
 * it is not so. */
const struct fact *guard_other_way_in_all(const struct guard *guard);

/* Whether the work of a step is launched in ranges that no step is, for too many of them launch none (frames of which
 * every tenth looks for objects, requests that a cache answers), and that come another number of times per step on the
 * two sides: then they may be the unit. */
void guard_ranges_of_steps(struct guard *guard);

/* Whether a side's graphs were traced whole: what kernels do is known outside of them alone. */
bool guard_graphs_whole(const struct guard *guard);

/* Whether the sides' steps are no unit of the same work, as `other` says (NULL: they are): then nothing tells whether
 * the work is the same. */
bool guard_is_other_unit(struct guard *guard, const struct fact *other);

/* How often the judged loop of a side, which no range is, repeats; 0: there is none. */
uint32_t guard_iterations(const struct side *side);

/* How often a loop is there is no speed, where a step is compared with a step: notes it where that differs, by more
 * than the one or two that a capture's ends take; and where the loop is a part of what each side does, how all loops
 * compare. Where repetitions are no unit, all of them together may be one. */
void guard_loops(struct guard *guard);

/* Whether steps give answers of a few bytes, of another length each time, that are longer on one side: as many tokens,
 * say, as a draft got right. Steps are no unit then. */
void guard_answers(struct guard *guard);

/* Whether what repeats is the same, whatever its kernels are: nearly all that either side does, as often on both, and
 * as many bytes go in and out each time, or nothing does, and half of the kernels' time of a side is of families that
 * the other has, too. Kernels that were fused or rewritten have other names. */
bool guard_goes_as_often(const struct guard *guard, const struct side_facts facts[2]);

#endif
