/* A digest that is being read: what its two halves share. Inside gen/digest only. */
#ifndef GAPLINE_DIGEST_DECODER_H
#define GAPLINE_DIGEST_DECODER_H

#include "base/numbers.h"
#include "digest/layout.h"
#include "trace/trace.h"

enum { SECTIONS_MAX = 256 };
static const int64_t FAR = (int64_t)1 << 60; /* ns; no time is so far from the start of a capture */

struct section {
	const char *name;
	size_t name_n;
	const unsigned char *data;
	size_t n;
};

struct decoder {
	const char *path;
	struct err *err;
	struct names *names;
	struct arena *arena; /* of what is no row … */
	struct arena *rows;  /* … and of the rows */
	struct arena scratch;
	struct trace *trace;
	struct section section[SECTIONS_MAX];
	size_t n_sections;
	bool known;          /* the same columns were decoded before: what they say is not looked at again */
	uint32_t *id, *told; /* of a name, by its number in the digest; what was told of it (classify_rows) */
	uint32_t n_names;
	int64_t *last;   /* by number of a place */
	uint16_t *place; /* by row of the table at hand, with room for so many: decode.c … */
	size_t room;
	uint16_t number[LAYOUT_PLACES]; /* … each of them that a row has, from 1 on; 0: none has it */
	uint16_t n_used;
};

/* The inside of a section; empty where there is none of this name. */
struct taken decoder_section(const struct decoder *d, const char *name);

/* -1, with the error that a section's numbers make no sense. */
int decoder_damaged(const struct decoder *d, const char *where);

/* Whether there is more to take. */
static inline bool taken_more(const struct taken *from)
{
	return !from->bad && from->at < from->end;
}

/* As many bytes as the number before them says; borrowed, not terminated. */
const char *taken_bytes(struct taken *from, size_t *n);

/* Everything that is no row (decode_things.c), or of that what rows refer to, with names that are known. 0, or -1 with
 * the error. */
int decoder_take_things(struct decoder *d);
int decoder_take_places(struct decoder *d);

#endif
