/* Numbers and names as sentences say them. All texts are arena texts. */
#ifndef GAPLINE_SAY_NUMBER_H
#define GAPLINE_SAY_NUMBER_H

#include "base/arena.h"

/* Three digits, never an exponent; "<0.001" for what is smaller. */
const char *say_digits(struct arena *arena, double value);

/* A share as a percentage: two digits, and no more than are honest. */
const char *say_percent(struct arena *arena, double share);

/* Two numbers with the same digits, and enough of them to tell them apart. */
void say_interval(struct arena *arena, double low, double high, const char *text[2]);

/* "1st", "12th", "21st". */
const char *say_ordinal(struct arena *arena, size_t n);

/* A count: whole, or a mean with two decimals. */
const char *say_count(struct arena *arena, double count);

/* "not at all", "once", "twice", "3 times", "2.50 times". */
const char *say_times(struct arena *arena, double count);

/* "4 bytes", "12.5 kB", "6.29 MB". */
const char *say_bytes(struct arena *arena, double bytes);

/* A name of at most about fifty characters: a longer one is cut, with "…". */
const char *say_short(struct arena *arena, const char *name);

#endif
