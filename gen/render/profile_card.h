/* The first section of the page of one profile: how long a step takes, how much of it the GPU waits, and what would
 * pay. */
#ifndef GAPLINE_RENDER_PROFILE_CARD_H
#define GAPLINE_RENDER_PROFILE_CARD_H

#include "analyse/analysis.h"
#include "render/page.h"

/* `analysis` has one side. */
void profile_card_fill(const struct analysis *analysis, struct page *page);

#endif
