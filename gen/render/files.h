/* Which file is what: of which run, which rank, and what says so. */
#ifndef GAPLINE_RENDER_FILES_H
#define GAPLINE_RENDER_FILES_H

#include "analyse/analysis.h"
#include "render/page.h"

/* A fold of the page, where a side has several files. */
void files_fill(const struct analysis *analysis, struct page *page);

#endif
