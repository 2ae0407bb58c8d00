/* Integers as bytes: seven bits a byte, low ones first, the eighth says that more follow (LEB128). Signed ones
 * alternate: 0, −1, 1, −2 … are 0, 1, 2, 3 … */
#ifndef GAPLINE_BASE_NUMBERS_H
#define GAPLINE_BASE_NUMBERS_H

#include "base/buf.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NUMBER_BYTES = 10 };

static inline uint64_t number_fold(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t number_unfold(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static inline void number_put(struct buf *to, uint64_t v)
{
	buf_room(to, NUMBER_BYTES);
	for (; v > 127; v >>= 7)
		to->data[to->n++] = (char)((v & 127) | 128);
	to->data[to->n++] = (char)v;
	to->data[to->n] = 0;
}

static inline void number_put_signed(struct buf *to, int64_t v)
{
	number_put(to, number_fold(v));
}

/* A text: its length, and its bytes. */
static inline void number_put_text(struct buf *to, const char *text)
{
	size_t n = strlen(text);
	number_put(to, n);
	buf_add(to, text, n);
}

/* Bytes that are taken one after the other. What would reach beyond their end, or is no number, is 0 and sets `bad`. */
struct taken {
	const unsigned char *at, *end;
	bool bad;
};

static inline struct taken number_open(const char *bytes, size_t n)
{
	return (struct taken){(const unsigned char *)bytes, (const unsigned char *)bytes + n, false};
}

/* The groups of seven bits of up to eight bytes, beside each other. */
static inline uint64_t number_join(uint64_t v)
{
	v = (v & 0x007f007f007f007f) | (v & 0x7f007f007f007f00) >> 1;
	v = (v & 0x00003fff00003fff) | (v & 0x3fff00003fff0000) >> 2;
	return (v & 0x0fffffff) | (v & 0x0fffffff00000000) >> 4;
}

static inline uint64_t number_take(struct taken *from)
{
	uint64_t v = 0;
	if (from->at < from->end && *from->at < 128) /* most of them */
		return *from->at++;
	if (from->end - from->at >= (ptrdiff_t)sizeof v) {
		memcpy(&v, from->at, sizeof v);
		v = le64toh(v);
		uint64_t last = ~v & 0x8080808080808080; /* eighth bits of bytes behind which nothing follows */
		if (last) {
			from->at += __builtin_ctzll(last) / 8 + 1;
			return number_join(v & (last ^ (last - 1)));
		}
		v = 0;
	}
	for (int shift = 0; shift < 64 && from->at < from->end; shift += 7) {
		unsigned char byte = *from->at++;
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
	from->bad = true;
	return 0;
}

static inline int64_t number_take_signed(struct taken *from)
{
	return number_unfold(number_take(from));
}

/* How many numbers the bytes hold. */
static inline size_t number_count(const unsigned char *at, size_t n)
{
	const uint64_t ones = 0x0101010101010101;
	size_t count = 0, i = 0;
	for (uint64_t v; n - i >= sizeof v; i += sizeof v) { /* their last bytes, eight at a time */
		memcpy(&v, at + i, sizeof v);
		count += (~v >> 7 & ones) * ones >> 56;
	}
	for (; i < n; i++)
		count += at[i] < 128;
	return count;
}

#endif
