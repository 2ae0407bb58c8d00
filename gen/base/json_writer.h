/* Writes one JSON document: commas, line breaks, escapes and nesting are its own. A member is written with its key, an
 * element of an array with key NULL:
 *
 *     struct json json;
 *     json_init(&json, out);
 *     json_object(&json, NULL);
 *     json_number(&json, "speedup", 2.29);
 *     json_end_object(&json);
 *     return json_finish(&json, err);
 *
 * The first failure (a text that is not UTF-8, wrong nesting) is kept and reported by json_finish. */
#ifndef GAPLINE_BASE_JSON_WRITER_H
#define GAPLINE_BASE_JSON_WRITER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct buf *out;
	const char *wrong; /* the first failure; NULL: none */
	uint64_t objects;  /* a bit for each that is open: it is an object */
	int depth;         /* objects and arrays that are open */
	bool any;          /* a value stands in the innermost of them, or is the document */
	bool compact;
};

/* Starts a document that is appended to `out`, which must outlive it. */
void json_init(struct json *json, struct buf *out);

/* Without line breaks and indents; before anything is written. */
void json_compact(struct json *json);

/* Ends the document. 0, or -1 with `err`; then `out` holds a broken document. */
int json_finish(struct json *json, struct err *err);

void json_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_array(struct json *json, const char *key);
void json_end_array(struct json *json);

/* An object where `known`, for the caller to fill and end; else null. Returns `known`. */
bool json_maybe(struct json *json, const char *key, bool known);

/* An array of `n` objects, of which the body writes the members:
 *
 *	for (size_t i = json_list(json, "runs"); json_item(json, i, n); i++)
 *		json_number(json, "ms", run[i].ms); */
int json_list(struct json *json, const char *key);
bool json_item(struct json *json, size_t i, size_t n);

/* An array of other elements, of which the body writes one, or none:
 *
 *	for (size_t i = json_list(json, "runs"); json_more(json, i < n); i++)
 *		json_number(json, NULL, run[i]); */
bool json_more(struct json *json, bool more);

void json_text(struct json *json, const char *key, const char *text); /* NULL: null */
void json_bool(struct json *json, const char *key, bool value);
void json_integer(struct json *json, const char *key, int64_t value);
void json_null(struct json *json, const char *key);
void json_known(struct json *json, const char *key, bool known, int64_t value); /* null where it is not */

/* The shortest decimal that reads back as the same double; not a number or infinite: null. */
void json_number(struct json *json, const char *key, double value);

/* The two numbers as an array; null where they are not known. */
void json_range(struct json *json, const char *key, bool known, double low, double high);

/* Nanoseconds as milliseconds. */
void json_ms(struct json *json, const char *key, double ns);

/* Nanoseconds as microseconds, exactly: 1234.567. */
void json_us(struct json *json, const char *key, int64_t ns);

#endif
