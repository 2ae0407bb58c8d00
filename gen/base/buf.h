/* A growing string of bytes. Zero-initialise; buf_release when done. `data` is NUL-terminated (the NUL not counted), or
 * NULL while empty. Out of memory ends the process, as in base/arena.h. */
#ifndef GAPLINE_BASE_BUF_H
#define GAPLINE_BASE_BUF_H

#include <stddef.h>

struct buf {
	char *data;
	size_t n, room;
};

void buf_add(struct buf *b, const char *bytes, size_t n);
void buf_text(struct buf *b, const char *text);
void buf_format(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_release(struct buf *b);

#endif
