/* Which processes have queued work that may wait for other work of theirs. */
#ifndef GAPLINE_ANALYSE_RUN_DEPENDS_H
#define GAPLINE_ANALYSE_RUN_DEPENDS_H

#include "analyse/run/run.h"

/* Fills run->can_depend: processes that use several streams or devices, or make a stream wait for an event, a value in
 * memory or the host. */
void depends_find(struct run *run);

#endif
