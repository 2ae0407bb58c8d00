/* Lists that a profile can make as long as it likes are cut to what a reader can use: the rest is one row, so that sums
 * stay what they are, and a note says so. */
#ifndef GAPLINE_FIND_BOUND_H
#define GAPLINE_FIND_BOUND_H

#include "result/pair_result.h"
#include "result/side_result.h"

enum { BOUND_ROWS = 1000 }; /* phases and kernels of a side, parts of the waterfall */

/* When everything is computed: phases, their idle rows, and kernels of a side; parts of the waterfall. What is given
 * stays as it is; lists that are cut are in `arena`. */
struct side bound_side(const struct side *side, struct names *names, struct arena *arena);
struct waterfall bound_waterfall(const struct waterfall *waterfall, struct arena *arena);

#endif
