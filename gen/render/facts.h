/* Facts in the JSON: {id, severity, side, params, text} (docs/reference/gapline.schema.json). Times are in ms, as
 * everywhere. */
#ifndef GAPLINE_RENDER_FACTS_H
#define GAPLINE_RENDER_FACTS_H

#include "base/json_writer.h"
#include "fact/fact.h"
#include "trace/names.h"

/* One of them; NULL: null. */
void facts_json_one(struct json *json, const char *key, const struct fact *fact, const struct names *names);

/* Its parameters alone: what stands in it under "params". */
void facts_json_params(struct json *json, const char *key, const struct fact *fact, const struct names *names);

/* Its sentence alone. */
void facts_json_text(struct json *json, const char *key, const struct fact *fact, const struct names *names);

/* An array of them. */
void facts_json(struct json *json, const char *key, const struct facts *facts, const struct names *names);

#endif
