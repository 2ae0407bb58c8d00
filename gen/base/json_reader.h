/* A small JSON text as values in memory, for files of gapline's own: what is nested deeper than JSON_DEEPEST, or is no
 * JSON, is refused. Everything is the arena's. Traces are read by read/kineto*, piece by piece. */
#ifndef GAPLINE_BASE_JSON_READER_H
#define GAPLINE_BASE_JSON_READER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSON_DEEPEST = 32 };

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json_value {
	enum json_kind kind;
	const char *text;               /* of a text, or a number as it is written; NUL ends it, and may stand in it */
	const char *key;                /* in an object */
	bool yes;                       /* of a JSON_BOOL */
	const struct json_value *first; /* of an array or object, in their order */
	const struct json_value *next;  /* beside it */
	struct json_value *last;
};

/* NULL: no JSON, more than one value, or nested too deep. */
const struct json_value *json_read(const char *text, size_t n, struct arena *arena);

/* The first member of an object of that name and kind; NULL: none, or `object` is NULL or no object. */
const struct json_value *json_member(const struct json_value *object, const char *key, enum json_kind kind);

/* The text of a member that is one, likewise. */
const char *json_member_text(const struct json_value *object, const char *key);

/* A whole number that fits; false else, or when `value` is NULL. */
bool json_whole(const struct json_value *value, int64_t *number);

#endif
