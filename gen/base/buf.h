/* A growing string of bytes. Zero-initialise; buf_release when done. `data` is NUL-terminated (the NUL not counted), or
 * NULL while empty. Out of memory ends the process, as in base/arena.h. */
#ifndef GAPLINE_BASE_BUF_H
#define GAPLINE_BASE_BUF_H

#include <stddef.h>

struct buf {
	char *data;
	size_t n, room;
};

/* Makes room for `n` bytes more and the 0 behind them. */
void buf_grow(struct buf *b, size_t n);
static inline void buf_room(struct buf *b, size_t n)
{
	if (n >= b->room - b->n)
		buf_grow(b, n);
}
void buf_add(struct buf *b, const char *bytes, size_t n);
void buf_text(struct buf *b, const char *text);
void buf_format(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a text as one word of a shell's command line. */
void buf_quoted(struct buf *b, const char *text);
/* Adds a path and an ending as one word of a shell's command line that no command takes for an option. */
void buf_word(struct buf *b, const char *path, const char *ending);
void buf_release(struct buf *b);

/* Declares an empty one that is released where its scope is left, whichever way. */
#define BUF_LOCAL(name) struct buf name __attribute__((cleanup(buf_release))) = {0}

/* Bytes as text: base64, with `=` at the end. */

void base64_add(struct buf *to, const unsigned char *bytes, size_t n);

/* Appends what `n` characters stand for; -1: they are none that base64_add makes. */
int base64_take(struct buf *to, const char *text, size_t n);

#endif
