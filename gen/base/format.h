/* Numbers and names as a reader sees them: the one place that rounds. All results are arena texts. */
#ifndef GAPLINE_BASE_FORMAT_H
#define GAPLINE_BASE_FORMAT_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* A unit of time with a number of decimals, so that the numbers of a table stand in line and can be added up. */
struct unit {
	double ns;        /* of one */
	const char *name; /* "s", "ms", "µs" */
	int decimals;
};

/* The unit in which `ns` has about four significant digits. Milliseconds from 0.1 ms to 10 s. */
struct unit format_unit(double ns);

/* "55.64"; "0" for none at all, "<0.01" for what rounds to nothing, "−" (U+2212) before negative numbers. */
const char *format_number(struct arena *arena, struct unit unit, double ns);

/* The same with its sign: "+0.12", "−31.04", "0" for no change, "~0" for what rounds to nothing. */
const char *format_change(struct arena *arena, struct unit unit, double ns);

/* "55.64 ms": a time by itself, in the unit that fits it. */
const char *format_time(struct arena *arena, double ns);

/* "30.2 ms": the same with a digit less, where room is short. */
const char *format_short_time(struct arena *arena, double ns);

/* "2.30×", "1.013×", "0.0123×": digits enough to tell it from 1, and three of them below 1. `like`: the number whose
 * number of decimals to use. */
const char *format_times(struct arena *arena, double ratio, double like);

const char *format_share(struct arena *arena, double share);        /* 0.572 -> "57.2 %" */
const char *format_count(struct arena *arena, double count);        /* "302", "0.25", "1.2 million" is not: "1200000" */
const char *format_count_change(struct arena *arena, double count); /* "+42", "−0.25", "0" */
const char *format_bytes(struct arena *arena, double bytes);        /* 19267584 -> "19.3 MB" (decimal units) */

/* A name in at most `most` characters (at least 8): a long C++ name loses the middle of its template arguments first,
 * then its parameters, then its own middle. U+2026 stands for what is left out. Never splits a character. */
const char *format_name(struct arena *arena, const char *name, unsigned most);

/* A kernel's name likewise, without what a reader does not look for: "void " and its parameters. */
const char *format_kernel(struct arena *arena, const char *name, unsigned most);

/* Makes names that look alike once shortened look different again, by showing the place where they differ: shown[i] is
 * what was made of name[i], at most `most` (at least 24) characters of it, and is replaced where two different names
 * have one. Names that differ by nothing but what format_kernel leaves out differ by that. */
void format_apart(struct arena *arena, const char *const *name, const char **shown, size_t n, unsigned most);

/* Defines a function that gives a word for each value of an enum: WORD_OF(colour_name, colour, [RED] = "red", …). */
#define WORD_OF(function, type, ...)                                                                                   \
	const char *function(enum type value)                                                                          \
	{                                                                                                              \
		static const char *const words[] = {__VA_ARGS__};                                                      \
		return words[value];                                                                                   \
	}

/* The number of characters (code points) of a text. */
unsigned format_length(const char *text);

/* Numbers as the bytes that printf(3) makes of them in the C locale, without what printf costs: a page has tens of
 * thousands of coordinates, and formatting them was most of what a report of small profiles took. Where the last digit
 * is near a tie, or a number is larger or smaller than those of a page, printf is asked.
 *
 * All write to `text`, which has DECIMAL_ROOM bytes, end it with NUL and return the bytes before that. */

enum { DECIMAL_ROOM = 32 };

/* "%lld" */
size_t decimal_integer(char *text, int64_t value);

/* "%.*f" without zeros at its end, nor a point, nor a sign before zero; `decimals`: at most 9. Not finite, or 1e15 and
 * beyond: "%.17g". */
size_t decimal_fixed(char *text, double value, int decimals);

/* "%.*g"; `digits`: 1 to 9. */
size_t decimal_short(char *text, double value, int digits);

/* "%.*g" with the fewest digits from 15 on that read back as `value`, which is finite. */
size_t decimal_exact(char *text, double value);

#endif
