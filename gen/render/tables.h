/* The report's tables: both sides joined, baseline, fixed and change. Long tables have the exact sum of what they do
 * not show at first, and then those rows, which a reader opens. */
#ifndef GAPLINE_RENDER_TABLES_H
#define GAPLINE_RENDER_TABLES_H

#include "analyse/analysis.h"
#include "base/format.h"
#include "render/page.h"

/* First: how much room there is for rows that are not shown at first. The tables after it share it, in their order. */
void tables_begin(const struct analysis *analysis, struct page *page);

void tables_budget(const struct analysis *analysis, struct unit unit, struct page *page);
void tables_phases(const struct analysis *analysis, struct unit unit, struct page *page);
void tables_idle(const struct analysis *analysis, struct unit unit, struct page *page);
void tables_work(const struct analysis *analysis, struct unit unit, struct page *page); /* kernels, API, copies */

/* A cell of a table that sorts: what it says, and the number that it is sorted by, of any unit that its column shares.
 */
void tables_number(struct scope *scope, const char *name, const char *text, double number);

/* A change's cell: text, and a class for its direction. */
void tables_change(struct scope *scope, const char *name, const char *text, double change);

#endif
