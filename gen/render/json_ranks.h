/* What several devices wait for each other, in the JSON result. */
#ifndef GAPLINE_RENDER_JSON_RANKS_H
#define GAPLINE_RENDER_JSON_RANKS_H

#include "analyse/analysis.h"
#include "base/json_writer.h"

void json_ranks(struct json *json, const struct analysis *analysis, const struct side *side);

#endif
