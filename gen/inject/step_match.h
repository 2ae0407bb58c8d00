/* Whether a range's text is an instance of a normalised name (gen/analyse/run/fold.h makes those): '#' in the name
 * stands for a number, digits or 0x and hexadecimal digits, or for a '#' with or without a number; a list ", key =
 * value, …" at the text's end does not count. */
#ifndef GAPLINE_INJECT_STEP_MATCH_H
#define GAPLINE_INJECT_STEP_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* `name` is UTF-8 and ends with NUL, `text` is UTF-8 of `bytes`. Uses no memory and no locale. */
bool step_match(const char *name, const char *text, size_t bytes);

#endif
