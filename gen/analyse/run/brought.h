/* What copies to the device bring: a step's input, or what the host made of what it read back. */
#ifndef GAPLINE_ANALYSE_RUN_BROUGHT_H
#define GAPLINE_ANALYSE_RUN_BROUGHT_H

#include "analyse/run/run.h"

/* What was read back before is most of what comes where it is so many times the least that counts as input. */
enum { BROUGHT_BACK_PARTS = 5 };

/* Copies to the device that are so large carry input; a flag or a learning rate does not. */
int64_t brought_least(const struct run *run, const struct device_run *device);

/* What the copies to the device that follow each other from `op` on bring together, until it is `least`; 0: it never
 * is. */
int64_t brought_bytes(const struct run *run, const struct device_run *device, uint32_t op, int64_t least);

/* By op of the device: the bytes that were read back before it in its step; NULL: no step is known, or no copy. Where
 * the program marks none, a step may well end with what is read back, or with the optimizer's: what the host makes of
 * it goes up in the next one. Where it does, that is so only of what ended its work, and for what comes before any
 * kernel. */
int64_t *brought_back(const struct run *run, const struct device_run *device, struct arena *arena);

/* Whether kernels of another stream begin while a copy runs: they do not need what it brings. */
bool brought_ahead(const struct run *run, const struct device_run *device, uint32_t copy);

#endif
