/* --fault-ms must mean that much on any machine, while a fault consists of whole pieces of work: how many, is found by
 * timing. */
#ifndef WORKLOADS_COMMON_CALIBRATE_H
#define WORKLOADS_COMMON_CALIBRATE_H

#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The pieces of work, `high` at most, that take `target_ms` by `ms(context, work)`, which does `work` >= 1 pieces and
 * returns what they took. Begins with `trial` pieces, then follows the line through its last two measurements, so that
 * a cost which does not depend on the number is taken into account. 0 for a target of 0; else at least 1. */
int calibrate(double target_ms, int trial, int high, double (*ms)(void *context, int work), void *context);

/* The same for a fault that takes all ranks: each calls it, and `ms`, which is called with the same work in all of them
 * at the same time; what it returns in rank 0 counts. */
int calibrate_together(const struct ranks *ranks, double target_ms, int trial, int high,
                       double (*ms)(void *context, int work), void *context);

#ifdef __cplusplus
}
#endif

#endif
