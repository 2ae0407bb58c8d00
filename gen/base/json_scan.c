/* The window holds the token that is looked at, whole. Behind its end stand zeros, which are part of no token: they end
 * every loop over its bytes, and only there is asked whether the document goes on. */
#include "base/json_scan.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 256 * 1024, WORD = 8 };

/* What may come next. */
enum next { BEGIN, VALUE, FIRST_VALUE, KEY, FIRST_KEY, COLON, COMMA, NOTHING };

/* ---- the window ---- */

static void place(struct json_scan *s, unsigned char *at, size_t n)
{
	s->at = at;
	s->end = at + n;
	memset(s->end, 0, WORD);
}

void json_scan_open(struct json_scan *s, json_scan_more *more, void *context, int deepest)
{
	*s = (struct json_scan){.more = more, .context = context, .deepest = deepest, .room = WINDOW};
	s->window = memory_take(s->room + WORD);
	place(s, s->window, 0);
}

void json_scan_open_text(struct json_scan *s, const char *text, size_t n, int deepest)
{
	*s = (struct json_scan){.deepest = deepest, .room = n, .ended = true, .strict = true};
	s->window = memory_take(n + WORD);
	memcpy(s->window, text, n);
	place(s, s->window, n);
}

void json_scan_close(struct json_scan *s)
{
	free(s->window);
	s->window = NULL;
}

int64_t json_scan_position(const struct json_scan *s)
{
	return s->before + (s->at - s->window);
}

bool json_scan_met_zeros(const struct json_scan *s)
{
	return memchr(s->window, 0, (size_t)(s->end - s->window)) != NULL;
}

/* Reads on, and keeps what begins with `at`. False: there is no more, or a flaw. */
static bool fill(struct json_scan *s)
{
	if (s->ended || s->flaw)
		return false;
	const size_t kept = (size_t)(s->end - s->at);
	s->before += s->at - s->window;
	memmove(s->window, s->at, kept);
	if (kept == s->room) {
		if (s->room >= JSON_SCAN_LONGEST) {
			s->flaw = JSON_TOO_LONG;
			return false;
		}
		s->room *= 2;
		s->window = memory_resize(s->window, s->room + WORD);
	}
	const ssize_t n = s->more(s->context, s->window + kept, s->room - kept);
	s->ended = n <= 0;
	if (n < 0)
		s->flaw = JSON_UNREADABLE;
	place(s, s->window, kept + (size_t)(n > 0 ? n : 0));
	return n > 0;
}

static enum json_token fail(struct json_scan *s, const unsigned char *where, const char *expected)
{
	s->at += where - s->at;
	if (!s->flaw)
		s->flaw = where == s->end ? JSON_CUT_OFF : JSON_INVALID;
	s->expected = expected;
	return TOKEN_FAILED;
}

/* The next byte that is no space; 0 also where there is none. */
static inline unsigned char peek(struct json_scan *s)
{
	for (;;) {
		const unsigned char c = *s->at;
		if (c > ' ')
			return c;
		if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
			s->at++;
		else if (s->at != s->end || !fill(s))
			return 0;
	}
}

/* ---- texts ---- */

/* The first quote, backslash or control character, eight bytes at a time: as Mycroft looked for a zero. Bytes above the
 * first that is found may be taken for one wrongly. */
static unsigned char *text_stop(unsigned char *p)
{
	static const uint64_t ones = UINT64_MAX / 255;
	for (;; p += WORD) {
		uint64_t bytes;
		memcpy(&bytes, p, WORD);
		bytes = le64toh(bytes);
		const uint64_t quote = bytes ^ ones * '"', slash = bytes ^ ones * '\\';
		const uint64_t found =
			((bytes - ones * ' ') & ~bytes) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
		if (found & ones * 0x80)
			return p + __builtin_ctzll(found & ones * 0x80) / 8;
	}
}

/* The number that four hexadecimal digits are; -1: they are none. */
static int hexadecimal(const unsigned char *p)
{
	int number = 0;
	for (int i = 0; i < 4; i++) {
		const int c = p[i] | 0x20, digit = p[i] >= '0' && p[i] <= '9' ? p[i] - '0'
		                                   : c >= 'a' && c <= 'f'     ? c - 'a' + 10
		                                                              : -1;
		if (digit < 0)
			return -1;
		number = number * 16 + digit;
	}
	return number;
}

/* Writes what "\u" and what follows it stand for, from *p, which is behind the u and moves behind that. Half of a pair
 * of surrogates stands for no character: utf8_put. */
static size_t put_code(unsigned char **p, char *to)
{
	int code = hexadecimal(*p);
	if (code < 0)
		return 0;
	*p += 4;
	if ((code & 0xFC00) == 0xD800 && (*p)[0] == '\\' && (*p)[1] == 'u') {
		const int low = hexadecimal(*p + 2);
		if ((low & ~0x3FF) == 0xDC00) {
			code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
			*p += 6;
		}
	}
	return utf8_put((uint32_t)code, to);
}

/* Puts what escapes stand for into their places, from the first one on: no escape is shorter than that. The text ends
 * with its quote. NULL, or the escape that there is none of. */
static unsigned char *unescape(struct json_scan *s, unsigned char *p)
{
	static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	char *to = (char *)p;
	while (*p != '"') {
		if (*p != '\\') {
			*to++ = (char)*p++;
			continue;
		}
		unsigned char *const escape = p;
		const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
		p += 2;
		if (letter) {
			*to++ = means[letter - letters];
			continue;
		}
		char code[4];
		const size_t n = escape[1] == 'u' ? put_code(&p, code) : 0;
		if (!n && !s->lenient)
			return escape;
		if (!n) {
			*to++ = '\\';
			p = escape + 1;
		}
		memcpy(to, code, n);
		to += n;
	}
	s->n = (size_t)(to - s->text);
	return NULL;
}

static const unsigned char *not_utf8(const struct json_scan *s)
{
	const unsigned char *p = (const unsigned char *)s->text, *end = p + s->n;
	while (p < end) {
		uint32_t code;
		size_t skip, n = utf8_next(p, (size_t)(end - p), &code, &skip);
		if (!n)
			return p;
		p += n;
	}
	return NULL;
}

/* A text that begins with the quote at `at`. */
static enum json_token scan_text(struct json_scan *s, enum json_token token)
{
	size_t done = 1, escape = 0; /* from the quote: what has been looked at, and where the first escape is */
	for (;;) {
		unsigned char *stop = text_stop(s->at + done);
		done = (size_t)(stop - s->at);
		if (*stop == '"')
			break;
		if (*stop == '\\' && s->end - stop > 1) {
			escape = escape ? escape : done;
			done += 2;
		} else if (*stop != '\\' && stop != s->end && s->lenient) {
			done++;
		} else if (*stop != '\\' && stop != s->end) {
			return fail(s, stop, "a text without control characters");
		} else if (!fill(s)) {
			return fail(s, s->end, "the end of a text");
		}
	}
	s->text = (char *)s->at + 1;
	s->n = done - 1;
	const unsigned char *flaw = escape ? unescape(s, s->at + escape) : NULL;
	if (flaw)
		return fail(s, flaw, "an escape of JSON");
	if (s->strict && (flaw = not_utf8(s)))
		return fail(s, flaw, "UTF-8");
	s->at += done + 1;
	return token;
}

/* ---- numbers and words ---- */

static unsigned char *digits_end(unsigned char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Where a number ends, or is not what it could have been; `begin` is where its last digits had to begin. */
static unsigned char *number_end(unsigned char *p, unsigned char **begin)
{
	*begin = p += *p == '-';
	p = *p == '0' ? p + 1 : digits_end(p);
	if (p != *begin && *p == '.') {
		*begin = ++p;
		p = digits_end(p);
	}
	if (p != *begin && (*p == 'e' || *p == 'E')) {
		p++;
		*begin = p += *p == '+' || *p == '-';
		p = digits_end(p);
	}
	return p;
}

static enum json_token scan_number(struct json_scan *s)
{
	const unsigned char *end;
	unsigned char *digits;
	bool whole;
	do {
		end = number_end(s->at, &digits);
		whole = end != digits;
		s->n = (size_t)(end - s->at);
	} while (end == s->end && fill(s));
	if (!whole || s->flaw)
		return fail(s, s->at + s->n, "a digit");
	s->text = (char *)s->at;
	s->at += s->n;
	return TOKEN_NUMBER;
}

/* How much of a word is there. */
static size_t word_there(struct json_scan *s, const char *word)
{
	size_t i = 0;
	while (word[i])
		if (s->at[i] == (unsigned char)word[i])
			i++;
		else if (s->at + i != s->end || !fill(s))
			break;
	return i;
}

static enum json_token scan_word(struct json_scan *s, const char *word, enum json_token token)
{
	const size_t n = word_there(s, word);
	if (word[n])
		return fail(s, s->at + n, "a value");
	s->at += n;
	return token;
}

/* Whether what no number is comes next, as Python's json and C++ write it; it is passed over. */
static bool pass_no_number(struct json_scan *s)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity", "nan", "-nan", "inf", "-inf", NULL};
	for (const char *const *word = words; s->lenient && *word; word++)
		if (word_there(s, *word) == strlen(*word)) {
			s->at += strlen(*word);
			return true;
		}
	return false;
}

/* ---- the document ---- */

static inline void after_value(struct json_scan *s)
{
	s->next = s->depth ? COMMA : NOTHING;
}

static enum json_token open_one(struct json_scan *s, bool object)
{
	if (s->depth == s->deepest) {
		s->flaw = JSON_TOO_DEEP;
		return TOKEN_FAILED;
	}
	s->around[s->depth / 64] = s->around[s->depth / 64] << 1 | s->in_object;
	s->in_object = object;
	s->depth++;
	s->at++;
	s->next = object ? FIRST_KEY : FIRST_VALUE;
	return object ? TOKEN_OBJECT : TOKEN_ARRAY;
}

static enum json_token close_one(struct json_scan *s)
{
	const bool object = s->in_object;
	s->depth--;
	s->in_object = s->around[s->depth / 64] & 1;
	s->around[s->depth / 64] >>= 1;
	s->at++;
	after_value(s);
	return object ? TOKEN_OBJECT_END : TOKEN_ARRAY_END;
}

static enum json_token scan_value(struct json_scan *s, unsigned char c)
{
	if (c == '{' || c == '[')
		return open_one(s, c == '{');
	after_value(s);
	switch (c) {
	case '"':
		return scan_text(s, TOKEN_TEXT);
	case 'n':
		if (pass_no_number(s))
			return TOKEN_NULL;
		return scan_word(s, "null", TOKEN_NULL);
	case 't':
		return scan_word(s, "true", TOKEN_TRUE);
	case 'f':
		return scan_word(s, "false", TOKEN_FALSE);
	default:
		if ((c < '0' || c > '9') && pass_no_number(s))
			return TOKEN_NULL;
		if (c == '-' || (c >= '0' && c <= '9'))
			return scan_number(s);
		return fail(s, s->at, "a value");
	}
}

/* The byte that comes behind a byte order mark, if one is there, and spaces; else `c`. */
static unsigned char skip_mark(struct json_scan *s, unsigned char c)
{
	static const unsigned char mark[] = {0xEF, 0xBB, 0xBF};
	if (!s->more || c != mark[0] || json_scan_position(s) != 0)
		return c;
	while (s->end - s->at < (ptrdiff_t)sizeof mark && fill(s))
		;
	if (memcmp(s->at, mark, sizeof mark) != 0)
		return c;
	s->at += sizeof mark;
	return peek(s);
}

enum json_token json_scan_next(struct json_scan *s)
{
	if (s->flaw)
		return TOKEN_FAILED;
	unsigned char c = peek(s);
	if (s->next == COMMA) {
		if (c == (s->in_object ? '}' : ']'))
			return close_one(s);
		if (c != ',')
			return fail(s, s->at, s->in_object ? "a comma or }" : "a comma or ]");
		s->next = s->in_object ? KEY : VALUE;
		s->at++;
		c = peek(s);
	} else if (s->next == COLON) {
		if (c != ':')
			return fail(s, s->at, "a colon");
		s->next = VALUE;
		s->at++;
		c = peek(s);
	}
	switch (s->next) {
	case BEGIN:
		c = skip_mark(s, c);
		break;
	case FIRST_KEY:
	case KEY:
		if (c == '}' && s->next == FIRST_KEY)
			return close_one(s);
		s->next = COLON;
		return c == '"' ? scan_text(s, TOKEN_KEY) : fail(s, s->at, "a name in quotes");
	case FIRST_VALUE:
		if (c == ']')
			return close_one(s);
		break;
	case NOTHING:
		return c || s->at != s->end || s->flaw ? fail(s, s->at, "nothing more") : TOKEN_END;
	default:
		break;
	}
	return scan_value(s, c);
}

void json_scan_skip(struct json_scan *s)
{
	const int depth = s->depth;
	while (json_scan_next(s) > TOKEN_END && s->depth > depth)
		;
}
