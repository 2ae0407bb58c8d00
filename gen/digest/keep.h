/* A digest that is kept in memory, packed, so that its rows can be made again whenever they are asked for.
 * Inside gen/digest only. */
#ifndef GAPLINE_DIGEST_KEEP_H
#define GAPLINE_DIGEST_KEEP_H

#include "digest/digest.h"
#include "trace/again.h"

/* digest_decode, leaving only the rows that trace/again.h says. */
int keep_decode(const char *path, const struct buf *contents, struct names *names, struct arena *arena,
                struct trace *trace, struct err *err);

#endif
