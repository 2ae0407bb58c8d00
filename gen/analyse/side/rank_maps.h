/* The pictures of ranks and steps. */
#ifndef GAPLINE_ANALYSE_SIDE_RANK_MAPS_H
#define GAPLINE_ANALYSE_SIDE_RANK_MAPS_H

#include "analyse/run/waiting.h"

struct rank_maps {
	struct rank_map own;               /* of own steps */
	struct rank_map parts[RANK_PARTS]; /* of what they consist of */
};

/* Of the side's median run; `n_places` is how many devices the side has. Cells are from `arena`. */
struct rank_maps rank_maps_build(const struct run *run, const struct waiting *waiting, uint32_t n_places,
                                 struct arena *arena);

#endif
