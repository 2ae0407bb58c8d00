/* A queue that the GPU works off: work that was launched before a window, behind a stall or a slow first step, say,
 * keeps the GPU busy beside a host that launches more slowly. Then steps end as fast as the GPU is, for as long as the
 * queue lasts, and no longer (docs/method/verdict.md, A queue worked off). */
#ifndef GAPLINE_CHARGE_BACKLOG_H
#define GAPLINE_CHARGE_BACKLOG_H

#include "run/run.h"

/* Notes how far the GPU is behind the host at the end of each step, run->lag, from the rows of `part`, which is the run
 * itself or a part of it (run/parts.h): all parts' rows are noted. Nothing without steps. */
void backlog_note(struct run *run, const struct run *part);

/* How much longer the run's mean step is between launches than between ends, ns: by so much a step the lag shrank over
 * the window. 0 where it did not, or by less than 3 % of the window, or suddenly (the host waited for the GPU), or
 * where launches are not known well enough, or several threads of a device have steps of their own. */
double backlog_worked_off(const struct run *run);

#endif
