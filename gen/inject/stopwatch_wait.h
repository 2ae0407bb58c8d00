/* Waiting until the devices of this process have done what was submitted to them, with a time limit. */
#ifndef GAPLINE_INJECT_STOPWATCH_WAIT_H
#define GAPLINE_INJECT_STOPWATCH_WAIT_H

#include "capture/stopwatch_page.h"

#include <stdint.h>

/* By any thread of the program, at the end of a step range; `which` is 0 for the first instant, 1 for the last, each at
 * most once in a process. Fills page->asked, idle and contexts at `which`, or page->problem; never takes much longer
 * than `limit_ns`, whatever the driver does: its functions are called by a thread that is made for it. All contexts are
 * waited for that are the primary one of a device and in use, and the calling thread's own; none is made. */
void stopwatch_wait(struct stopwatch_page *page, int which, int64_t limit_ns);

int64_t stopwatch_now(void); /* CLOCK_MONOTONIC */

#endif
