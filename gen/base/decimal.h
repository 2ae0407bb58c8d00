/* Numbers as the bytes that printf(3) makes of them in the C locale, without what printf costs: a page has tens of
 * thousands of coordinates, and formatting them was most of what a report of small profiles took. Where the last digit
 * is near a tie, or a number is larger or smaller than those of a page, printf is asked.
 *
 * All write to `text`, which has DECIMAL_ROOM bytes, end it with NUL and return the bytes before that. */
#ifndef GAPLINE_BASE_DECIMAL_H
#define GAPLINE_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

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
