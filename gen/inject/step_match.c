#include "counting.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The end of `text` without a trailing list ", key = value, …". */
static const char *end_without_list(const char *text, const char *end)
{
	for (const char *comma = text; comma < end && (comma = memchr(comma, ',', (size_t)(end - comma))); comma++) {
		const char *c = comma + 1;
		while (c < end && *c == ' ')
			c++;
		const char *word = c;
		while (c < end && is_word(*c))
			c++;
		if (c > word && end - c >= 3 && !memcmp(c, " = ", 3))
			return comma;
	}
	return end;
}

/* The end of the number that begins at `at`; `at` itself where there is none. */
static const char *end_of_number(const char *at, const char *end)
{
	if (at < end && *at == '0' && end - at > 2 && at[1] == 'x' && is_hex(at[2]))
		for (at += 3; at < end && is_hex(*at);)
			at++;
	else
		while (at < end && is_digit(*at))
			at++;
	return at;
}

static bool match(const char *name, const char *at, const char *end)
{
	for (; *name; name++) {
		if (*name != '#') {
			if (at == end || *at++ != *name)
				return false;
			continue;
		}
		bool marked = at < end && *at == '#';
		const char *after = end_of_number(at + marked, end);
		if (!marked && after == at)
			return false;
		/* "a#1" of the name may be the text's own: then its number is not one that counts. */
		if (marked && after > at + 1 && match(name + 1, at + 1, end))
			return true;
		at = after;
	}
	return at == end;
}

bool step_match(const char *name, const char *text, size_t bytes)
{
	return match(name, text, end_without_list(text, text + bytes));
}
