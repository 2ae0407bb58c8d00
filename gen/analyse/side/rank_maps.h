/* The pictures of ranks and steps. */
#ifndef GAPLINE_ANALYSE_SIDE_RANK_MAPS_H
#define GAPLINE_ANALYSE_SIDE_RANK_MAPS_H

#include "analyse/run/waiting.h"

/* Fills out->map and out->parts from the side's median run; `n_places` is how many devices the side has. Cells are from
 * `arena`. */
void rank_maps_build(const struct run *run, const struct waiting *waiting, uint32_t n_places, struct arena *arena,
                     struct ranks_result *out);

#endif
