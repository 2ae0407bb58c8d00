/* What a digest calls kinds of rows, by enum row_kind, and the sections of counters, by enum metric. Inside gen/digest
 * only. */
#ifndef GAPLINE_DIGEST_WORDS_H
#define GAPLINE_DIGEST_WORDS_H

#include "trace/trace.h"

extern const char *const DIGEST_KINDS[ROW_KINDS], *const DIGEST_METRICS[METRIC_COUNT];

#endif
