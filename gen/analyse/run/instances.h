/* Instances of a part with what their ops say, packed: of ten thousand parts they wait until all have said theirs. */
#ifndef GAPLINE_ANALYSE_RUN_INSTANCES_H
#define GAPLINE_ANALYSE_RUN_INSTANCES_H

#include "analyse/run/steps_lanes.h"

/* Those of `build`, by place; n_lanes and what is of the part as a whole are the caller's. `out->bytes` live in
 * `arena`. */
void instances_pack(const struct steps_build *build, struct arena *arena, struct steps_part *out);

/* They become those from `at` on of `to`, whose columns have room for them: instances, lanes, what their ops say.
 * Processes and threads are the run's; lanes are counted from `first_lane` on. */
void instances_unpack(const struct steps_part *part, uint32_t at, uint32_t first_lane, struct steps_build *to);

#endif
