/* What the host was doing while the GPU waited: the report's tables of functions and their picture, and the same in
 * words and in the JSON. */
#ifndef GAPLINE_RENDER_FUNCTIONS_H
#define GAPLINE_RENDER_FUNCTIONS_H

#include "analyse/analysis.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "render/page.h"

/* How many samples there are, and what is not known of them; "" where there are none. */
const char *functions_said(const struct analysis *analysis, int side, struct arena *arena);

/* The section; it goes where neither side has samples. */
void functions_fill(const struct analysis *analysis, struct unit unit, struct page *page);

/* The key `functions`; none where neither side has samples. */
void functions_json(const struct analysis *analysis, struct json *json);

#endif
