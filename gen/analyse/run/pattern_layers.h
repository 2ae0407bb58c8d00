/* Steps of which the cycles that were found are layers. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_LAYERS_H
#define GAPLINE_ANALYSE_RUN_PATTERN_LAYERS_H

#include "analyse/run/pattern_cuts.h"

/* Where cycles go on and on, and after every 24th, say, there is something else, the cycles are layers, or launches, of
 * a step. What that is has to say so: the input of the next step; kernels without the host having to do with them; a
 * wait; or as much as a good part of a cycle, of kernels that no cycle has (of an embedding, a head and what picks the
 * next token there is always more than of a loss that is printed now and then, and a validation is made of a step's own
 * kernels). An optimizer behind as many cycles each time, of a name that they lack, says so in any case: micro-batches.
 * So does an embedding that is looked up, whose kernel no cycle has: the head's may be one of a layer's.
 * True: `out` is those steps, in `arena`. */
bool pattern_layers_join(const struct pattern_sequence *s, const struct pattern_found *layers, struct arena *arena,
                         struct pattern_found *out);

#endif
