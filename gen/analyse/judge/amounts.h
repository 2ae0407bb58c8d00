/* How much the steps of both sides did, and of how many GPUs that is: a job of eight GPUs does not leave out what one
 * of four does, nor does one of which not all files are there. Part of the same-work guard (compare.h). */
#ifndef GAPLINE_ANALYSE_JUDGE_AMOUNTS_H
#define GAPLINE_ANALYSE_JUDGE_AMOUNTS_H

#include "analyse/side/side.h"

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

#endif
