/* Hardware counters of the GPUs, in words, as a table and for machines. Profiles without them have nothing to say. */
#ifndef GAPLINE_RENDER_HARDWARE_H
#define GAPLINE_RENDER_HARDWARE_H

#include "analyse/analysis.h"
#include "base/json_writer.h"
#include "render/page.h"

/* The section of the page. */
void hardware_fill(const struct analysis *analysis, struct page *page);

/* "While it is busy, its SMs are active 88.3 % of the time, …": a sentence; "" without samples. */
const char *hardware_words(const struct metrics *metrics, struct arena *arena);

/* "33 % of the time not sampled", of the share that is `known` (0 to 1), `of` being " of the time" or ""; NULL: less
 * than half a percent is missing. */
const char *hardware_missing(double known, struct arena *arena);

/* The member "metrics" of a device; nothing without samples. */
void hardware_json(const struct analysis *analysis, const struct metrics *metrics, struct json *json);

#endif
