/* What speaks for the same work, and what against it under the same names: kernels that both sides run alike, and
 * families of kernels of which one side does less. Pure; part of work.h, and of nobody else. */
#ifndef GAPLINE_ANALYSE_JUDGE_WORK_ALIKE_H
#define GAPLINE_ANALYSE_JUDGE_WORK_ALIKE_H

#include "analyse/judge/work.h"
#include "analyse/judge/work_counts.h"

#include <math.h>

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
 * on the other side: all tables of embeddings at once, say. Both sides run it. */
bool work_is_gathered(const struct work_row *row, int less);

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

#endif
