/* How many leading step periods of a run are warm-up (docs/method/verdict.md, "Warm-up"). */
#ifndef GAPLINE_ANALYSE_JUDGE_WARMUP_H
#define GAPLINE_ANALYSE_JUDGE_WARMUP_H

#include <stdbool.h>
#include <stddef.h>

struct warmup {
	size_t cut; /* leading periods left out */
	bool flat;  /* … many, which get no faster as they go: another state of the machine looks like that, too */
	bool level_start; /* a longer stretch at the beginning was kept: it does not decay into the rest */
	size_t level;     /* … so many periods */
	double excess;    /* … and by so much they are longer than the rest (logs) */
	bool to_the_half; /* the cut took all it may take, or the second half still falls: no steady level was reached
	                   */
};

/* Searches the natural logs `y` of `n` periods. With fewer than 6 nothing is searched for. `grid`: likewise, how large
 * the kernels of each were; NULL: alike, or not known. Steps that take longer because their kernels are larger are no
 * warm-up (inputs that are sorted by length). */
struct warmup warmup_find(const double *y, const double *grid, size_t n);

#endif
