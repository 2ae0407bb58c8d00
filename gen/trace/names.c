#include "trace/names.h"

#include "base/list.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { RAW_WHOLE = 2 * NAME_MAX_BYTES }; /* raw texts up to here are cleaned as a whole before they are shortened */

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* Control characters, bidirectional controls and noncharacters: what may reorder or corrupt a terminal, an XML tree or
 * a reader's understanding. */
static int harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
	       (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || (c >= 0xFDD0 && c <= 0xFDEF) ||
	       (c & 0xFFFE) == 0xFFFE;
}

/* Characters that show as nothing at all: two names that differ in them look the same, and text can hide in them. By
 * Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt) without those above; and the two that end
 * lines. */
static bool invisible(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0xAD, 0xAD},     {0x34F, 0x34F},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
	              {0x180B, 0x180F}, {0x200B, 0x200D},   {0x2028, 0x2029},   {0x2060, 0x206F},
	              {0x3164, 0x3164}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
	              {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
	size_t i = 0;
	while (i < sizeof ranges / sizeof *ranges && c > ranges[i].last)
		i++;
	return i < sizeof ranges / sizeof *ranges && c >= ranges[i].first;
}

/* Writes the harmless form of `n` raw bytes to `out` (room for 3 n) and returns its length. */
static size_t clean(const char *bytes, size_t n, char *out)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t used = 0;
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t skip, length = utf8_next(s + i, n - i, &code, &skip);
		if (!length || harmful(code)) {
			memcpy(out + used, REPLACEMENT, 3);
			used += 3;
			i += length ? length : skip;
		} else if (invisible(code)) {
			char shown[12];
			int shown_n = snprintf(shown, sizeof shown, code < 0x10000 ? "\\u%04X" : "\\U%08X", code);
			memcpy(out + used, shown, (size_t)shown_n);
			used += (size_t)shown_n;
			i += length;
		} else {
			memcpy(out + used, s + i, length);
			used += length;
			i += length;
		}
	}
	return used;
}

static int continuation(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* Joins the head of one clean text and the tail of another with an ellipsis, NAME_MAX_BYTES at most, cutting only
 * between characters. Both are longer than their share. */
static size_t shorten(const char *head, size_t head_n, const char *tail, size_t tail_n, char *out)
{
	size_t share = (NAME_MAX_BYTES - 3) / 2;
	size_t first = head_n < share ? head_n : share, from = tail_n < share ? 0 : tail_n - share;
	while (first && first < head_n && continuation(head[first]))
		first--;
	while (from < tail_n && continuation(tail[from]))
		from++;
	memcpy(out, head, first);
	memcpy(out + first, NAME_ELLIPSIS, 3);
	memcpy(out + first + 3, tail + from, tail_n - from);
	return first + 3 + tail_n - from;
}

void names_init(struct names *names, struct arena *arena)
{
	enum { FEW = 64 }; /* a digest's; of ten thousand files each has a table */
	*names = (struct names){.arena = arena, .room = FEW};
	names->text = ARENA_NEW(arena, names->room, const char *);
	names->text[0] = "";
	names->n = 1;
	keymap_init(&names->known, arena);
}

/* The id of a text that is harmless already; it is copied when it is new, or kept as it is. */
static uint32_t intern_text(struct names *names, const char *text, size_t n, bool copy)
{
	if (n == 0)
		return 0;
	for (uint64_t key = keymap_text(text, n);; key++) {
		uint32_t id = keymap_add(&names->known, key) + 1;
		if (id == names->n)
			break;
		if (strncmp(names->text[id], text, n) == 0 && names->text[id][n] == 0)
			return id;
	}
	LIST_GROW(names->arena, names->text, names->n, names->room);
	uint32_t id = names->n++;
	names->text[id] = copy ? arena_copy(names->arena, text, n) : text;
	return id;
}

/* Where a text that is not harmless is made so. */
struct room {
	char first[3 * RAW_WHOLE], second[3 * NAME_MAX_BYTES], text[NAME_MAX_BYTES];
};

/* The bytes as they are where they are harmless and short, else what becomes of them in `room`; `n` is its length. */
static const char *harmless(const char *bytes, size_t *n, struct room *room)
{
	size_t plain = 0;
	if (*n <= NAME_MAX_BYTES)
		while (plain < *n && bytes[plain] >= 0x20 && bytes[plain] < 0x7F)
			plain++;
	if (plain == *n)
		return bytes;

	if (*n <= RAW_WHOLE) {
		size_t length = clean(bytes, *n, room->first);
		*n = length;
		if (length <= NAME_MAX_BYTES)
			return room->first;
		*n = shorten(room->first, length, room->first, length, room->text);
		return room->text;
	}
	/* Cleaning shrinks a text to 3/4 at most, so one of this length is too long in any case, and its two ends are
	 * enough to fill both halves. */
	size_t from = *n - NAME_MAX_BYTES;
	for (int i = 0; i < 3 && continuation(bytes[from]); i++)
		from++;
	size_t head_n = clean(bytes, NAME_MAX_BYTES, room->first),
	       tail_n = clean(bytes + from, *n - from, room->second);
	*n = shorten(room->first, head_n, room->second, tail_n, room->text);
	return room->text;
}

uint32_t names_add(struct names *names, const char *bytes, size_t n)
{
	struct room room;
	const char *text = harmless(bytes, &n, &room);
	return intern_text(names, text, n, true);
}

uint32_t names_add_text(struct names *names, const char *text)
{
	return text ? names_add(names, text, strlen(text)) : 0;
}

const char *names_file(struct names *names, const char *path)
{
	struct room room;
	const char *slash = strrchr(path, '/'), *last = slash && slash[1] ? slash + 1 : path;
	size_t n = strlen(last);
	const char *text = harmless(last, &n, &room);
	return arena_copy(names->arena, text, n);
}

uint32_t *names_merge(struct names *names, const struct names *from, bool copy, struct arena *arena)
{
	uint32_t *ids = ARENA_NEW(arena, from->n, uint32_t);
	for (uint32_t id = 1; id < from->n; id++)
		ids[id] = intern_text(names, from->text[id], strlen(from->text[id]), copy);
	return ids;
}
