/* The page's first screen: what happened, on which runs it rests, why, and what next; of one profile how long a step
 * takes, and what would pay. */
#ifndef GAPLINE_RENDER_CARD_H
#define GAPLINE_RENDER_CARD_H

#include "analyse/analysis.h"
#include "render/page.h"

void card_fill(const struct analysis *analysis, struct page *page);

#endif
