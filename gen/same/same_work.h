/* The same-work guard: whether two sides did the same, and under the same conditions (docs/method/analysis.md, Same
 * work). */
#ifndef GAPLINE_SAME_SAME_WORK_H
#define GAPLINE_SAME_SAME_WORK_H

#include "result/pair_result.h"
#include "side/side.h"
#include "trace/printed.h"

/* Compares two built sides. `rest`: rows that make no sense were left out, or a recording cannot be true, so what one
 * side has and the other has not may be missing in the profile only: the work is not compared; nor is it of two ranks
 * of one run (`ranks`). `printed`: what the programs printed, or NULL. Sentences live in `arena`. */
struct comparison compare_work(const struct side side[2], const struct side_facts facts[2], bool rest, bool ranks,
                               const struct printed *printed, const struct names *names, struct arena *arena);

/* Whether both programs computed the same: numbers that they printed, in order, in all runs. Evidence of the same-work
 * guard that no profile holds, and the strongest there is. */

/* `printed`: NULL, or without a pattern: nothing was asked. Texts live in `arena`. */
struct same_result same_result_judge(const struct printed *printed, struct arena *arena);

/* How much the steps of both sides did, and of how many GPUs that is: a job of eight GPUs does not leave out what one
 * of four does, nor does one of which not all files are there. Part of the same-work guard. */

/* What a step did, of all GPUs or of one. */
struct amounts {
	double h2d, d2h, d2d; /* bytes copied … */
	double between;       /* … of d2d between GPUs */
	double d2h_time;      /* ns */
	double launches, graphs, ranges;
	double kernels;                      /* that ran, those of graphs among them */
	double collectives, collective_time; /* how many, and how long they run, ns */
	/* Copies that stay on devices, and memsets: how many, and how long they run, ns */
	double moves, move_time, sets, set_time;
	/* Floating-point operations of PyTorch's operators, by their shapes, and the share of the GPU's time that
	 * those take of which they are known */
	double flops, flops_share;
};

/* `share`: of the side's sums, 1 or 1 / its GPUs. */
struct amounts amounts_of(const struct side *side, double share);

/* That operators of a third of the GPU's time calculate as much on both sides, within 1 %; NULL: that is not so, or not
 * known. `unit`: of the amounts, one of the words "per". */
const struct fact *amounts_calculated(const struct amounts *a, const struct amounts *b, const char *unit,
                                      struct arena *arena);

/* Jobs that are of unequal size. */
struct job_sizes {
	double share[2];         /* what one GPU does is compared where each is a rank: 1 / GPUs of the side; else 1 */
	bool differ;             /* the jobs are not of one size … */
	bool missing;            /* … or are, and files of some ranks are not there */
	const struct fact *fact; /* NULL: as many GPUs worked on both sides */
};

struct job_sizes amounts_sizes(const struct side side[2], const struct side_facts facts[2], struct arena *arena);

/* Where processes that share a GPU are more on one side than on the other, and nothing says that they are
 * ranks of one job: each may have a program of its own (a server's workers, a search for parameters), and then a step
 * that ends when all of them have made theirs is no pace of any. NULL: that is not so. */
const struct fact *amounts_sharing(const struct side side[2], const struct side_facts facts[2], struct arena *arena);

/* CUDA graphs were traced whole on one side and node by node on the other: one graph is one operation there and its
 * kernels here, and neither can be counted. */
bool amounts_hidden(const struct side *a, const struct side *b);

/* How much what steps have to do varies, and whether it varies alike on both sides. */

struct variation {
	double seen;   /* so many steps of the shorter side tell independently of each other what a step has to do */
	double varies; /* standard error, as a share, of what the kernels of a step take together, of both sides */
	/* Where steps do more and less alike on both sides (their data grow, say), chance has less to do with what
	 * they differ by than with what they vary by. */
	bool alike;
	double together; /* standard deviation of a step's kernels' time, as a share of it, … */
	double apart;    /* … and standard error of what of it is not alike, … */
	double dof;      /* … with so many degrees of freedom */
	bool wanders; /* they do not, vary much, and few are independent: chance may have made any amount that varies */
	/* Kernels of one side's steps take another time from a step on, and never again what they took before: that is
	 * a change and no chance, so it is left out above. */
	int turns;         /* that side; FACT_NO_SIDE: neither does, or both */
	uint32_t turn[2];  /* its steps before and after */
	double turn_ns[2]; /* what kernels take in one of them, of a device */
};

/* `steps`: of the shorter side. */
struct variation variation_of(const struct side_facts facts[2], double steps);

/* The share of what a side's steps vary by in time that is kernels' own: the slope of their time over the step's, block
 * by block, the mean of its runs. 0: the steps are too few, or do not vary. */
double variation_of_kernels(const struct side_facts *facts);

/* What the files of the same-work guard share: compare*.c, and nobody else. */

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
	bool only_times_differ; /* the same kernels, as often … */
	int shorter;            /* … and the side on which they take less time */
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

/* Whether the program marks no steps, and what is called one comes twice as often and more on a side, and is shorter
 * there: of small kernels that became one, the repetitions are no unit, and all of them together may say the opposite
 * of one. Where nothing shows the same work, either may be true. NULL: it is not so. */
const struct fact *guard_other_number(const struct guard *guard);

/* Whether the work of a step is launched in ranges that no step is, for too many of them launch none (frames of which
 * every tenth looks for objects, requests that a cache answers), and that come another number of times per step on the
 * two sides: then they may be the unit. Where a side marks none, its steps may be as many: if so both sides have about
 * as many in all, and all of them say the opposite of a step. */
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
