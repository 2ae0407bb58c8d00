/* A run event by event. */
#ifndef GAPLINE_ANALYSE_SIDE_EVENTS_H
#define GAPLINE_ANALYSE_SIDE_EVENTS_H

#include "analyse/run/run.h"

/* All in `arena` but the trace. `run` needs its places (places_find). */
const struct events *events_build(struct run *run, struct arena *arena);

#endif
