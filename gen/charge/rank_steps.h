/* The steps of one rank: from the end of its own GPU work of one step to that of the next (docs/method/analysis.md,
 * Ranks). */
#ifndef GAPLINE_CHARGE_RANK_STEPS_H
#define GAPLINE_CHARGE_RANK_STEPS_H

#include "charge/charge.h"

/* Whether device `d` (an index into charge.devices) has steps of its own: its process has instances of the step. Where
 * it communicates and has none, nobody marked the steps of this rank. */
bool rank_steps_marked(const struct run *run, uint32_t d);

/* Keeps in `out`, a device of `run`, when each step of device `d` of `part`, an index into its devices, ended, and what
 * it did in each measured one: what the two below say. The run has steps. */
void rank_steps_keep(const struct run *run, const struct run *part, uint32_t d, struct device_run *out);

/* What was kept of it: `end` has room for run.steps.n. `part`, of all but waiting, for run.n_steps each, idle time
 * unwritten; NULL: not wanted. */
void rank_steps_kept(const struct run *run, const struct device_run *device, int64_t *end, double *const *part);

/* What the device did in each measured step, by `end`: ns that it computed, communicated, copied and was idle, each
 * instant in the first of these that fits, as in the budget. They add up to the step. `part[p]` has room for
 * run.n_steps, or is NULL: not wanted; communication, waiting included, is RANK_MOVING, and RANK_WAITING stays as it
 * is. */
void rank_steps_divide(const struct run *run, uint32_t d, const int64_t *end, double *const part[RANK_PARTS]);

#endif
