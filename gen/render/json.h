/* The parts of the JSON result. */
#ifndef GAPLINE_RENDER_JSON_H
#define GAPLINE_RENDER_JSON_H

#include "analyse/analysis.h"
#include "analyse/shown.h"
#include "base/json_writer.h"
#include "fact/fact.h"
#include "trace/names.h"

/* The object of a side of the analysis, by the side's label. */
void json_side(struct json *json, const struct analysis *analysis, const struct side *side);

/* Goes through the sides, each an object of its own in the one that is open:
 *
 *	for (uint32_t s = 0; json_of_side(json, analysis, s); s++) */
bool json_of_side(struct json *json, const struct analysis *analysis, uint32_t s);

/* What several devices wait for each other. */
void json_ranks(struct json *json, const struct analysis *analysis, const struct side *side,
                const struct folded *folded);

/* How the ranks spread of which only some are listed; null where all are. */
void json_folded(struct json *json, const struct analysis *analysis, const struct side *side,
                 const struct folded *folded);

/* The members of a budget, in an object that is open. */
void json_budget(struct json *json, const struct analysis *analysis, const struct budget *budget);

/* The devices of a side. */
void json_devices(struct json *json, const struct analysis *analysis, const struct side *side,
                  const struct folded *folded);

/* Facts in the JSON: {id, severity, side, params, text} (docs/reference/gapline.schema.json). Times are in ms, as
 * everywhere. */

/* One of them; NULL: null. */
void facts_json_one(struct json *json, const char *key, const struct fact *fact, const struct names *names);

/* Its parameters alone: what stands in it under "params". */
void facts_json_params(struct json *json, const char *key, const struct fact *fact, const struct names *names);

/* Its sentence alone. */
void facts_json_text(struct json *json, const char *key, const struct fact *fact, const struct names *names);

/* An array of them. */
void facts_json(struct json *json, const char *key, const struct facts *facts, const struct names *names);

#endif
