/* Counting towards the two instants of a timed run: when the first and when the last count is reached, the devices
 * are waited for, and when that was is noted in a page that is also a file
 * (capture/stopwatch_page.h). While the first is waited for, threads that count are held: of each, one count at most
 * has no time. What is counted, the ends of ranges or launches, is the library's. */
#ifndef GAPLINE_INJECT_COUNTING_H
#define GAPLINE_INJECT_COUNTING_H

#include "capture/stopwatch_page.h"

#include <stdbool.h>
#include <stddef.h>

/* Once, before anything else: reads the environment. False: no timed run is wanted here. */
bool stopwatch_prepare(void);

/* This process's page, made at the first call; NULL: there can be none. */
struct stopwatch_page *stopwatch_mine(void);

/* By any thread, when one more of what is counted has ended; `page` as above. May take as long as the time limit.
 * `capturing`: a graph is known to be captured now. A wait would break that, so there is none: the page says why. */
void stopwatch_ended(struct stopwatch_page *page, bool capturing);

/* Whether a range's text is an instance of a normalised name (gen/steps/fold.h makes those): '#' in the name
 * stands for a number, digits or 0x and hexadecimal digits, or for a '#' with or without a number; a list ", key =
 * value, …" at the text's end does not count. */

/* `name` is UTF-8 and ends with NUL, `text` is UTF-8 of `bytes`. Uses no memory and no locale. */
bool step_match(const char *name, const char *text, size_t bytes);

#endif
