/* The section on what lies before the first step: a bar of each side on one scale, and its parts in a table. */
#ifndef GAPLINE_RENDER_STARTUP_H
#define GAPLINE_RENDER_STARTUP_H

#include "analyse/analysis.h"
#include "render/page.h"

/* Fills the section, or leaves it out where no profile says what the programs did then. */
void startup_fill(const struct analysis *analysis, struct page *page);

#endif
