/* The page's section of step times: the picture, the table, and the runs. */
#ifndef GAPLINE_RENDER_STEP_TIMES_H
#define GAPLINE_RENDER_STEP_TIMES_H

#include "analyse/analysis.h"
#include "base/format.h"
#include "render/page.h"

/* Times are shown in `unit`. */
void step_times_fill(const struct analysis *a, struct unit unit, struct page *page);

/* A side has more than one recorded run. */
bool step_times_several(const struct analysis *a);

#endif
