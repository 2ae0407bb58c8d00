/* What a digest calls kinds of rows, by enum row_kind. Inside gen/digest only. */
#ifndef GAPLINE_DIGEST_WORDS_H
#define GAPLINE_DIGEST_WORDS_H

#include "trace/trace.h"

extern const char *const DIGEST_KINDS[ROW_KINDS];

#endif
