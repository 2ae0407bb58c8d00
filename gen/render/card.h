/* The page's first screen: what happened, how sure, why, whether both did the same work, and what next. */
#ifndef GAPLINE_RENDER_CARD_H
#define GAPLINE_RENDER_CARD_H

#include "analyse/analysis.h"
#include "render/page.h"

void card_fill(const struct analysis *analysis, struct page *page);

/* What the colours of glance_draw's bars mean, as rows NAME in the element NAMEs. */
void card_keys(const struct analysis *analysis, const char *name, struct page *page);

#endif
