/* One side of the JSON result. */
#ifndef GAPLINE_RENDER_JSON_SIDE_H
#define GAPLINE_RENDER_JSON_SIDE_H

#include "analyse/analysis.h"
#include "base/json_writer.h"

/* The object of a side of the analysis, by the side's label. */
void json_side(struct json *json, const struct analysis *analysis, const struct side *side);

#endif
