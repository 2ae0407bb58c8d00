/* A digest that is kept in memory, packed, so that its rows can be made again whenever they are asked for.
 * Inside gen/digest only. */
#ifndef GAPLINE_DIGEST_KEEP_H
#define GAPLINE_DIGEST_KEEP_H

#include "digest/digest.h"
#include "trace/again.h"

/* Reads a file that is packed with gzip as `gapline digest` packs, in one piece: the file into `packed`, what is in it
 * into `contents`. False, with nothing in either, when it is anything else, or is damaged: whoever reads it next says
 * so. */
bool keep_read(struct source *source, struct buf *packed, struct buf *contents);

/* The same of what is in memory already; `most`: source_most. */
bool keep_unpack(const struct buf *packed, int64_t most, struct buf *contents);

/* digest_decode, leaving only the rows that trace/again.h says; kept is what is packed quickest (`packed` may be empty:
 * it is not packed). */
int keep_decode(const char *path, const struct buf *packed, const struct buf *contents, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err);

#endif
