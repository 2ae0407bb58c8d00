/* Bytes as text: base64, with `=` at the end. */
#ifndef GAPLINE_BASE_BASE64_H
#define GAPLINE_BASE_BASE64_H

#include "base/buf.h"

void base64_add(struct buf *to, const unsigned char *bytes, size_t n);

/* Appends what `n` characters stand for; -1: they are none that base64_add makes. */
int base64_take(struct buf *to, const char *text, size_t n);

#endif
