/* How fast the GPUs ran, in words and as a table. Profiles without samples have nothing to say. */
#ifndef GAPLINE_RENDER_CLOCKS_H
#define GAPLINE_RENDER_CLOCKS_H

#include "analyse/analysis.h"
#include "render/page.h"

/* "SM 1755 (1710 to 1980) MHz, …, 64 °C (40 samples under load); held back by: power cap in 60.0 %"; "" when nothing is
 * known. */
const char *clocks_words(const struct clocks *clocks, struct arena *arena);

/* The table of the report's environment section. */
void clocks_fill(const struct analysis *analysis, struct page *page);

#endif
