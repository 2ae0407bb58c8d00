/* Numbers as sentences of findings and differences say them. All texts are arena texts. */
#ifndef GAPLINE_ANALYSE_SAY_H
#define GAPLINE_ANALYSE_SAY_H

#include "base/arena.h"

/* Three digits, never an exponent; "<0.001" for what is smaller. */
const char *say_digits(struct arena *arena, double value);

/* A count: whole, or a mean with two decimals. */
const char *say_count(struct arena *arena, double count);

/* "4 bytes", "12.5 kB", "6.29 MB". */
const char *say_bytes(struct arena *arena, double bytes);

/* A name of at most about fifty characters: a longer one is cut, with "…". */
const char *say_short(struct arena *arena, const char *name);

#endif
