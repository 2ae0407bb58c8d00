/* Several devices beside each other, with a picture of their steps. */
#ifndef GAPLINE_RENDER_RANKS_H
#define GAPLINE_RENDER_RANKS_H

#include "analyse/analysis.h"
#include "base/format.h"
#include "render/page.h"

void tables_ranks(const struct analysis *analysis, struct unit unit, struct page *page);

#endif
