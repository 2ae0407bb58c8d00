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

/* ---- as base64 ---- */

static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *to, const unsigned char *bytes, size_t n)
{
	buf_room(to, (n + 2) / 3 * 4);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t group = (uint32_t)bytes[i] << 16;
		group |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= i + 2 < n ? bytes[i + 2] : 0;
		char *four = to->data + to->n;
		four[0] = letter[group >> 18];
		four[1] = letter[group >> 12 & 63];
		four[2] = i + 1 < n ? letter[group >> 6 & 63] : '=';
		four[3] = i + 2 < n ? letter[group & 63] : '=';
		to->n += 4;
	}
	to->data[to->n] = 0;
}

int base64_take(struct buf *to, const char *text, size_t n)
{
	size_t pad = n && text[n - 1] == '=' ? 1 + (n > 1 && text[n - 2] == '=') : 0;
	for (size_t i = 0; i < n; i += 4) {
		uint32_t group = 0;
		for (size_t k = i; k < i + 4; k++) {
			const char *at = k < n - pad && text[k] ? strchr(letter, text[k]) : NULL;
			if (!at && (k < n - pad || k >= n))
				return -1;
			group = group << 6 | (at ? (uint32_t)(at - letter) : 0);
		}
		const char three[] = {(char)(group >> 16), (char)(group >> 8), (char)group};
		buf_add(to, three, i + 4 < n ? 3 : 3 - pad);
	}
	return 0;
}
