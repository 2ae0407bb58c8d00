/* Interned texts. Every name of a pair of profiles (kernels, API calls, ranges, domains, threads, GPUs) is stored once
 * and stands as a small integer; the two sides share one table, so equal names are equal integers.
 *
 * A text from a profile is hostile. It is made harmless here, once, and everything downstream relies on it: the stored
 * text is valid UTF-8; every malformed sequence, control character (C0, DEL, C1), bidirectional control, noncharacter
 * and surrogate is replaced by U+FFFD; a character that shows as nothing is written as its escape, \u200B; a text
 * longer than NAME_MAX_BYTES is shortened in its middle with U+2026. It can therefore go into an XML tree, a JSON
 * string and a terminal without further checks of its bytes (escaping of < & " is the writers' business). */
#ifndef GAPLINE_TRACE_NAMES_H
#define GAPLINE_TRACE_NAMES_H

#include "base/keymap.h"

#include <stdbool.h>
#include <stdint.h>

enum { NAME_MAX_BYTES = 4096 };
#define NAME_ELLIPSIS "\xE2\x80\xA6" /* U+2026 */

struct names {
	struct arena *arena; /* where the texts live */
	const char **text;   /* by id; text[0] is "" */
	uint32_t n;          /* ids handed out */
	uint32_t room;
	struct keymap known;
};

/* An empty table whose texts live in `arena`. Id 0 is the empty name. */
void names_init(struct names *names, struct arena *arena);

/* The id of `bytes` (n of them, any bytes), made harmless as described above. */
uint32_t names_add(struct names *names, const char *bytes, size_t n);

/* The same for a C string; NULL gives 0. */
uint32_t names_add_text(struct names *names, const char *text);

/* The last part of a path, made harmless; all of a path that ends in a slash. It is no name: of ten thousand ranks each
 * would have a place in every list by name. Borrowed as of names_text. */
const char *names_file(struct names *names, const char *path);

/* Gives every name of `from` an id in `names`, in the order of their ids; returns the new ids by old id, from `arena`.
 * New texts are copied, or else the arena of `from` has to live on (arena_adopt). */
uint32_t *names_merge(struct names *names, const struct names *from, bool copy, struct arena *arena);

/* The text of an id, borrowed for the arena's life. */
static inline const char *names_text(const struct names *names, uint32_t id)
{
	return names->text[id];
}

#endif
