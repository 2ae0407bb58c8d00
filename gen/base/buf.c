#include "base/buf.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void buf_grow(struct buf *b, size_t more)
{
	size_t room = b->room ? b->room : 256;
	while (room - b->n <= more) {
		if (room > SIZE_MAX / 4)
			memory_exhausted();
		room *= 2;
	}
	b->data = memory_resize(b->data, room);
	b->room = room;
}

void buf_add(struct buf *b, const char *bytes, size_t n)
{
	buf_room(b, n);
	if (n)
		memcpy(b->data + b->n, bytes, n);
	b->n += n;
	b->data[b->n] = 0;
}

void buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_format(struct buf *b, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	buf_room(b, 0);
	size_t n = memory_print(b->data + b->n, b->room - b->n, format, args);
	va_end(args);
	if (n >= b->room - b->n) {
		buf_room(b, n);
		memory_print(b->data + b->n, n + 1, format, again);
	}
	b->n += n;
	va_end(again);
}

/* What stands between quotes means itself, but for the quote. */
static void add_inside(struct buf *b, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			buf_text(b, "'\\''");
		else
			buf_add(b, text, 1);
}

void buf_quoted(struct buf *b, const char *text)
{
	buf_text(b, "'");
	add_inside(b, text);
	buf_text(b, "'");
}

void buf_word(struct buf *b, const char *path, const char *ending)
{
	buf_text(b, path[0] == '-' ? "'./" : "'");
	add_inside(b, path);
	buf_text(b, ending);
	buf_text(b, "'");
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
