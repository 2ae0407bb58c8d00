#include "read/printed.h"

#include "base/file.h"
#include "base/list.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* regexec(3). Where there is no memory glibc's says that nothing matches (posix/regexec.c), and its re_search tells. */
static bool matches(const regex_t *pattern, const char *text, size_t n, regmatch_t *at, int flags)
{
	if (regexec(pattern, text, n, at, flags) == 0)
		return true;
	struct re_pattern_buffer again = *pattern;
	const regoff_t length = (regoff_t)strlen(text);
	again.not_bol = flags & REG_NOTBOL ? 1 : 0;
	if (re_search(&again, text, length, 0, length, NULL) != -1)
		memory_exhausted();
	return false;
}

int printed_pattern(const char *pattern, regex_t *out, struct err *err)
{
	char why[200];
	int rc = regcomp(out, pattern, REG_EXTENDED);
	if (rc == REG_ESPACE)
		memory_exhausted();
	if (rc) {
		regerror(rc, out, why, sizeof why);
		return err_set(err, "--compare-output: '%s' is no regular expression (POSIX extended): %s", pattern,
		               why);
	}
	if (!matches(out, "", 0, NULL, 0))
		return 0;
	regfree(out);
	return err_set(err, "--compare-output: '%s' matches an empty line, so it tells no number from another",
	               pattern);
}

static bool in_word(int c)
{
	return isalnum(c) || c == '_' || c == '.';
}

enum { SPELT = 64 }; /* characters of a number in another spelling */

/* Copies digits to `to`; returns where they end. */
static const char *take_digits(const char *at, const char *limit, char *to, size_t *n)
{
	while (at < limit && isdigit((unsigned char)*at) && *n < SPELT - 8)
		to[(*n)++] = *at++;
	return at;
}

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

static const char *take_fraction(const char *mark, const char *limit, char *to, size_t *n)
{
	to[(*n)++] = '.';
	return take_digits(mark + 1, limit, to, n);
}

/* How a number goes on behind `before` digits: 1,234,567.8 and 1'234'567.8, or 12,5. Returns where that ends. */
static const char *take_marked(const char *at, size_t before, const char *limit, char *to, size_t *n)
{
	const char mark = *at;
	if (mark != ',' && mark != '\'')
		return at;
	size_t behind = digits_at(at + 1);
	if (before > 3 || behind != 3)
		return mark == ',' && behind && at[1 + behind] != ',' ? take_fraction(at, limit, to, n) : at;
	while (*at == mark && digits_at(at + 1) == 3 && at < limit)
		at = take_digits(at + 1, limit, to, n);
	return *at == '.' ? take_fraction(at, limit, to, n) : at;
}

/* The number whose digits end at `end` for strtod, where it goes on as others write it: with marks between digits, or
 * Fortran's 1.5D+03. Up to `limit`. */
static const char *number_goes_on(const char *text, const char *end, const char *limit, double *out)
{
	char spelt[SPELT];
	size_t n = (size_t)(end - text);
	const char *at = end, *digits = text + (*text == '+' || *text == '-');
	if (n > SPELT / 2 || end >= limit)
		return end;
	memcpy(spelt, text, n);
	if (digits_at(digits) == (size_t)(end - digits))
		at = take_marked(at, (size_t)(end - digits), limit, spelt, &n);
	if ((*at == 'D' || *at == 'd') && (at[1] == '+' || at[1] == '-') && digits_at(at + 2) && at < limit) {
		spelt[n++] = 'e';
		spelt[n++] = at[1];
		at = take_digits(at + 2, limit, spelt, &n);
	}
	spelt[n] = 0;
	if (at != end)
		*out = strtod(spelt, NULL);
	return at;
}

/* A number in decimals, "nan" or "inf", and nothing that only begins so: "info", "0x1f", "12ab" are none. Its end, or
 * NULL. */
static const char *number_at(const char *text, const char *limit, double *out)
{
	const char *digits = text + (*text == '+' || *text == '-');
	bool hexadecimal = *digits == '0' && (digits[1] == 'x' || digits[1] == 'X');
	bool named = !strncasecmp(digits, "nan", 3) || !strncasecmp(digits, "inf", 3);
	char *end = NULL;
	if (hexadecimal || !(named || isdigit((unsigned char)*digits) || *digits == '.'))
		return NULL;
	*out = strtod(text, &end);
	if (end == text)
		return NULL;
	const char *last = number_goes_on(text, end, limit, out);
	return isalpha((unsigned char)*last) || *last == '_' ? NULL : last;
}

/* The first one from `text` to `end`, which does not begin inside a word. */
static bool first_number(const char *text, const char *end, double *out)
{
	for (char before = ' '; text < end; before = *text++)
		if (!in_word((unsigned char)before) && number_at(text, end, out))
			return true;
	return false;
}

struct found {
	double *number;
	size_t n, room;
	struct arena *arena;
};

/* Where the value of a key ends at the latest, "loss=": what stands behind the next key is that one's. */
static const char *value_end(const char *key, const char *value, const char *end)
{
	const char last = value > key ? value[-1] : 0;
	size_t n = last == '=' || last == ':' ? strcspn(value, "=:") : (size_t)(end - value);
	return value + n;
}

static void search_line(const char *line, const regex_t *pattern, struct found *found)
{
	const char *end = line + strlen(line);
	regmatch_t at[2];
	for (const char *from = line; from < end && matches(pattern, from, 2, at, from == line ? 0 : REG_NOTBOL);) {
		const char *behind = from + at[0].rm_eo;
		bool group = pattern->re_nsub > 0, seen = at[1].rm_so >= 0;
		double number;
		if (group ? seen && first_number(from + at[1].rm_so, from + at[1].rm_eo, &number)
		          : first_number(behind, value_end(from, behind, end), &number)) {
			LIST_ADD(found->arena, found->number, found->n, found->room, number);
		}
		from = behind > from ? behind : from + 1;
	}
}

/* The end of a terminal's sequence for colours and the like that begins there, or `text`. */
static const char *skip_colour(const char *text, const char *end)
{
	const char *at = text;
	if (end - at < 3 || at[0] != '\033' || at[1] != '[')
		return text;
	for (at += 2; at < end && *at >= 0x20 && *at < 0x40;)
		at++;
	return at < end && *at >= 0x40 ? at + 1 : text;
}

/* Lines end where a terminal begins anew, too: progress bars. Bytes 0 would end a line for regexec. Colours are left
 * out: they stand between a name and its number. Returns the new length. */
static size_t make_plain(char *text, size_t n)
{
	size_t kept = 0;
	for (const char *at = text, *end = text + n; at < end;) {
		const char *behind = skip_colour(at, end);
		if (behind > at) {
			if (kept && behind < end && in_word((unsigned char)text[kept - 1]) &&
			    in_word((unsigned char)*behind))
				text[kept++] = ' ';
			at = behind;
			continue;
		}
		text[kept++] = *at ? *at == '\r' ? '\n' : *at : ' ';
		at++;
	}
	return kept;
}

static void search(char *text, size_t n, const regex_t *pattern, struct found *found)
{
	n = make_plain(text, n);
	text[n] = 0;
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		search_line(line, pattern, found);
	}
}

int printed_read(const char *path, const regex_t *pattern, struct arena *arena, struct printed_run *run,
                 struct err *err)
{
	int64_t size;
	int fd = file_open(path, &size, err);
	if (fd < 0)
		return -1;
	char *text = memory_take((size_t)size + 1);
	ssize_t n = file_read(fd, text, (size_t)size);
	int why = errno;
	struct found found = {.arena = arena};
	close(fd);
	if (n >= 0)
		search(text, (size_t)n, pattern, &found);
	free(text);
	run->number = found.number;
	run->n = found.n;
	return n < 0 ? err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", path, err_reason(why)) : 0;
}
