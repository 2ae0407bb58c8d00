/* Texts that are kept, without what they tell about a machine and its people. A host name, a user name, a home folder
 * or any other word to hide becomes "[host A]", "[user A]", "[word A]", the folder of a file's path (scrub_path.c)
 * "[path A]", a token, a password or what stands before the '@' of an address (scrub_token.c) "[secret A]"; equal parts
 * get equal letters and different ones different letters, so that names that differ go on differing. */
#ifndef GAPLINE_READ_SCRUB_TEXT_H
#define GAPLINE_READ_SCRUB_TEXT_H

#include "base/arena.h"
#include "read/scrub_find.h"
#include "trace/names.h"

#include <stdbool.h>

struct scrub_secret {
	enum scrub_kind kind;
	const char *text;
	size_t n;
};

struct scrub_text {
	struct arena *arena;
	struct scrub_secret *secrets;
	size_t n_secrets, room;
	struct names found[SCRUB_KINDS]; /* what was masked, by letter: id 1 is A */
	struct names changed;            /* the texts, as they were, that were changed */
	struct names uuids;
	struct scrub_roots roots;
};

void scrub_text_init(struct scrub_text *text, struct arena *arena);

/* A word to hide; a host or a user unless it is too short or too common to mean anybody ("root", "cuda"). Of a host its
 * first label is one too. */
void scrub_text_hide(struct scrub_text *text, enum scrub_kind kind, const char *word, size_t n);

/* What a row (name, value) of the metadata tells: who and where, and the same in environment variables ("HOME=…") in
 * the value. A value of a row of an unrelated name is looked through for those only. */
void scrub_text_learn(struct scrub_text *text, const char *name, const char *value, size_t n);

/* The user whose home a path of the metadata lies in (/home/USER/…, /Users/USER/…), and where such paths begin. */
void scrub_text_learn_path(struct scrub_text *text, const char *path, size_t n);

/* The text without them; `*n` is its length before and after. The same pointer when nothing was found. */
const char *scrub_text_mask(struct scrub_text *text, const char *bytes, size_t *n);

/* The text masked up to `from`, and all that follows as one secret. */
const char *scrub_text_secret(struct scrub_text *text, const char *bytes, size_t from, size_t *n);

/* The last part of a program's path, without a command line behind it, masked. */
const char *scrub_text_program(struct scrub_text *text, const char *bytes, size_t *n);

/* The same of the file that code is of, which has no arguments behind it: "/opt/lib/libc.so.6" becomes "libc.so.6". */
const char *scrub_text_module(struct scrub_text *text, const char *bytes, size_t *n);

/* A message in which every word with a slash in it is cut to its last part, then masked: as the reader shows messages
 * (nsys_read_diagnostics). */
const char *scrub_text_message(struct scrub_text *text, const char *bytes, size_t *n);

/* A UUID of the same shape that says only which of the profile's GPUs it is. */
const char *scrub_text_uuid(struct scrub_text *text, const char *bytes, size_t *n);

/* How many different texts were changed so that it can be seen in a result. */
static inline size_t scrub_text_changed(const struct scrub_text *text)
{
	return text->changed.n - 1;
}

#endif
