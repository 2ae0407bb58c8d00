/* Numbers and units as ncu prints them, in whatever locale. */
#include "read/ncu.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ROOM = 64 };

/* Bytes of what may stand between digits, if a text begins with it: a space, of the no-break kinds too, or an
 * apostrophe. */
static size_t between_digits(const char *text)
{
	static const char *const signs[] = {" ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89", "\xE2\x80\x99"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (!strncmp(text, signs[i], strlen(signs[i])))
			return strlen(signs[i]);
	return 0;
}

/* Without what stands between digits. False: nothing that could be a number. */
static bool strip(const char *text, char *to)
{
	size_t n = 0;
	bool digit = false;
	for (size_t skip; *text; text += skip ? skip : 1) {
		skip = between_digits(text);
		if (skip)
			continue;
		bool sign = strchr("-+", *text) && (n == 0 || strchr("eE", to[n - 1]));
		if ((!strchr("0123456789.,eE", *text) && !sign) || n + 1 >= ROOM)
			return false;
		digit = digit || isdigit((unsigned char)*text);
		to[n++] = *text;
	}
	to[n] = 0;
	return digit;
}

static size_t count(const char *text, char c)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == c;
	return n;
}

void ncu_style_note(struct ncu_style *style, const char *text)
{
	char number[ROOM];
	if (!strip(text, number))
		return;
	size_t points = count(number, '.'), commas = count(number, ',');
	const char *point = strrchr(number, '.'), *comma = strrchr(number, ',');
	if (points && commas) {
		style->point += point > comma;
		style->comma += comma > point;
	} else if (points > 1) {
		style->comma++;
	} else if (commas > 1) {
		style->point++;
	} else if (points || commas) {
		const char *at = points ? point : comma;
		size_t behind = strcspn(at + 1, "eE");
		/* "1,234" may be either; "0.27", "3.1908" and "0,123" cannot */
		if (behind != 3 || at - number > 3 || number[0] == '0') {
			style->point += points;
			style->comma += commas;
		}
	}
}

double ncu_value(const struct ncu_style *style, const char *text)
{
	char number[ROOM], plain[ROOM], *end;
	if (!strip(text, number))
		return NAN;
	char decimal = style->comma > style->point ? ',' : '.';
	size_t n = 0;
	for (const char *c = number; *c; c++) {
		if (*c == decimal)
			plain[n++] = '.';
		else if (*c != '.' && *c != ',')
			plain[n++] = *c;
	}
	plain[n] = 0;
	double value = strtod(plain, &end);
	return end == plain || *end || !isfinite(value) ? NAN : value;
}

static double prefix(const char *unit, const char *of)
{
	static const struct {
		char letter;
		double times;
	} prefixes[] = {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'t', 1e12}, {'p', 1e15}};
	if (strcasecmp(unit, of) == 0)
		return 1;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if ((unit[0] | 0x20) == prefixes[i].letter && strcasecmp(unit + 1, of) == 0)
			return prefixes[i].times;
	return NAN;
}

/* In ns. */
static double time_unit(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} times[] = {{"ns", 1},        {"nsecond", 1}, {"us", 1e3},     {"usecond", 1e3},  {"ms", 1e6},
	             {"msecond", 1e6}, {"s", 1e9},     {"second", 1e9}, {"\xC2\xB5s", 1e3}};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (strcasecmp(unit, times[i].name) == 0)
			return times[i].ns;
	return NAN;
}

double ncu_unit(const char *unit, enum ncu_kind kind)
{
	char above[ROOM];
	const char *slash = strchr(unit, '/');
	size_t n = slash ? (size_t)(slash - unit) : strlen(unit);
	if (n >= sizeof above)
		return NAN;
	memcpy(above, unit, n);
	above[n] = 0;
	switch (kind) {
	case NCU_PLAIN:
		if (strcmp(unit, "%") == 0)
			return NAN;
		return isnan(prefix(above, "inst")) ? 1 : prefix(above, "inst");
	case NCU_PERCENT:
		return strcmp(unit, "%") == 0 ? 1 : NAN;
	case NCU_TIME:
		return slash ? NAN : time_unit(unit);
	case NCU_RATE:
		return slash ? prefix(above, "byte") * 1e9 / time_unit(slash + 1) : prefix(unit, "byte/s");
	case NCU_FREQUENCY:
		return slash ? prefix(above, "cycle") * 1e9 / time_unit(slash + 1) : prefix(unit, "hz");
	case NCU_BYTES:
		return prefix(above, "byte");
	}
	return NAN;
}
