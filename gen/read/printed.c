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

int printed_pattern(const char *pattern, regex_t *out, struct err *err)
{
	char why[200];
	int rc = regcomp(out, pattern, REG_EXTENDED);
	if (rc) {
		regerror(rc, out, why, sizeof why);
		return err_set(err, "--compare-output: '%s' is no regular expression (POSIX extended): %s", pattern,
		               why);
	}
	if (regexec(out, "", 0, NULL, 0) != 0)
		return 0;
	regfree(out);
	return err_set(err, "--compare-output: '%s' matches an empty line, so it tells no number from another",
	               pattern);
}

static bool in_word(int c)
{
	return isalnum(c) || c == '_' || c == '.';
}

/* A number in decimals, "nan" or "inf", and nothing that only begins so: "info", "0x1f", "12ab" are none. Its end, or
 * NULL. */
static const char *number_at(const char *text, double *out)
{
	const char *digits = text + (*text == '+' || *text == '-');
	bool hexadecimal = *digits == '0' && (digits[1] == 'x' || digits[1] == 'X');
	bool named = !strncasecmp(digits, "nan", 3) || !strncasecmp(digits, "inf", 3);
	char *end = NULL;
	if (hexadecimal || !(named || isdigit((unsigned char)*digits) || *digits == '.'))
		return NULL;
	*out = strtod(text, &end);
	return end == text || isalpha((unsigned char)*end) || *end == '_' ? NULL : end;
}

/* The first one from `text` to `end`, which does not begin inside a word; `before`: the character in front of it. */
static bool first_number(const char *text, const char *end, char before, double *out)
{
	for (; text < end; before = *text++)
		if (!in_word((unsigned char)before) && number_at(text, out))
			return true;
	return false;
}

struct found {
	double *number;
	size_t n, room;
	struct arena *arena;
};

static void search_line(const char *line, const regex_t *pattern, struct found *found)
{
	const char *end = line + strlen(line);
	regmatch_t at[2];
	for (const char *from = line; from < end && !regexec(pattern, from, 2, at, from == line ? 0 : REG_NOTBOL);) {
		const char *behind = from + at[0].rm_eo;
		bool group = pattern->re_nsub > 0, seen = at[1].rm_so >= 0;
		double number;
		if (group ? seen && first_number(from + at[1].rm_so, from + at[1].rm_eo, ' ', &number)
		          : first_number(behind, end, ' ', &number)) {
			LIST_GROW(found->arena, found->number, found->n, found->room);
			found->number[found->n++] = number;
		}
		from = behind > from ? behind : from + 1;
	}
}

/* Lines end where a terminal begins anew, too: progress bars. Bytes 0 would end a line for regexec. */
static void search(char *text, size_t n, const regex_t *pattern, struct found *found)
{
	for (size_t i = 0; i < n; i++)
		text[i] = text[i] ? text[i] == '\r' ? '\n' : text[i] : ' ';
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
	return n < 0 ? err_set(err, "%s: cannot be read: %s", path, err_reason(why)) : 0;
}
