/* What the GPU did while each of the slowest requests, and of those about the median, was open: its own work, others'
 * work while none of its own ran, nothing (docs/method/verdict.md, "The slowest steps"). */
#ifndef GAPLINE_ANALYSE_SIDE_REQUEST_WORK_H
#define GAPLINE_ANALYSE_SIDE_REQUEST_WORK_H

#include "analyse/run/run.h"

/* Fills `work` of the groups of the run's step table by the rows of its only part. Nothing where steps are no requests,
 * where a thread has several open at once, so that nothing tells whose a launch is, and where a run has several parts.
 */
void request_work_add(struct run *run, const struct run *part);

#endif
