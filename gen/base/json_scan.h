/* JSON (RFC 8259), piece by piece: the tokens of one document are asked for one after the other, and what is wrong with
 * it is said with the byte where it is. Memory is a window of 256 KB, or the longest token.
 *
 *     struct json_scan s;
 *     json_scan_open(&s, more, context, 256);
 *     for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;)
 *             if (token == TOKEN_KEY && !wanted(s.text, s.n))
 *                     json_scan_skip(&s);
 *     report(s.flaw);
 *     json_scan_close(&s);
 *
 * Numbers are handed out as they are written. A key that stands in an object twice is handed out twice. */
#ifndef GAPLINE_BASE_JSON_SCAN_H
#define GAPLINE_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum json_token {
	TOKEN_FAILED, /* `flaw` says why; every further one is this */
	TOKEN_END,    /* of the document; every further one is this */
	TOKEN_NULL,
	TOKEN_FALSE,
	TOKEN_TRUE,
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_KEY, /* a value comes next */
	TOKEN_OBJECT,
	TOKEN_OBJECT_END,
	TOKEN_ARRAY,
	TOKEN_ARRAY_END
};

enum json_flaw {
	JSON_SOUND,
	JSON_UNREADABLE, /* `more` failed */
	JSON_CUT_OFF,    /* all is well, but for its end */
	JSON_TOO_DEEP,
	JSON_TOO_LONG, /* a token of more than JSON_SCAN_LONGEST bytes */
	JSON_INVALID   /* not `expected`, but something else */
};

enum { JSON_SCAN_DEEPEST = 256, JSON_SCAN_LONGEST = 64 * 1024 * 1024 };

/* Reads the next bytes, n at most, into `data`: how many, 0 at the end, -1 where that fails. */
typedef ssize_t json_scan_more(void *context, void *data, size_t n);

struct json_scan {
	/* for the caller, who may write into the text: */
	char *text; /* of a number, a text or a key, without an end, until the next token is asked for */
	size_t n;
	int depth; /* objects and arrays that are open */
	enum json_flaw flaw;
	const char *expected; /* "a colon" */
	bool strict;          /* may be set at first: texts have to be UTF-8; else their bytes are passed on */
	bool lenient; /* likewise: beside JSON it takes what programs write in its place, control characters in texts,
	                 backslashes that escape nothing, and NaN and infinities, which are null */

	/* inside */
	unsigned char *window, *at, *end; /* `at`: what comes next; behind `end`: zeros */
	size_t room;
	int64_t before; /* bytes of the document that stood before the window */
	json_scan_more *more;
	void *context;
	bool ended; /* the window's end is the document's */
	uint8_t next;
	int deepest;
	bool in_object;
	uint64_t around[JSON_SCAN_DEEPEST / 64]; /* bits: whether it is an object that is around each that is open */
};

/* Of a document that `more` reads. A byte order mark before it is passed over. deepest: how many objects and arrays may
 * be open, JSON_SCAN_DEEPEST at most. */
void json_scan_open(struct json_scan *s, json_scan_more *more, void *context, int deepest);

/* Of one in memory, which is copied. */
void json_scan_open_text(struct json_scan *s, const char *text, size_t n, int deepest);

enum json_token json_scan_next(struct json_scan *s);

/* Passes over the value that comes next. */
void json_scan_skip(struct json_scan *s);

/* Bytes of the document before what comes next, or before the flaw. */
int64_t json_scan_position(const struct json_scan *s);

/* Whether bytes around the flaw are 0, as where a file was not written to its end: no JSON holds one. */
bool json_scan_met_zeros(const struct json_scan *s);

void json_scan_close(struct json_scan *s);

#endif
