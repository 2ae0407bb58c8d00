/* When the devices of a run are idle, and why. */
#ifndef GAPLINE_CHARGE_IDLE_H
#define GAPLINE_CHARGE_IDLE_H

#include "charge/charge.h"

/* One device of a run: busy parts, phase costs, gaps. */

/* One pass over a device's ops: busy parts, phase costs, overview, gaps. Allocates everything in `out`. */
void device_sweep(struct run *run, uint32_t device, struct device_run *out);

/* What every gap of a device is charged to (docs/method/analysis.md, Causes). */

/* Finds the limit and charges every gap in the window to causes. */
void device_charge(struct run *run, struct device_run *device);

/* Calls `visit` for the pieces of a gap, in order, covering it exactly; returns what opened it. The time in which other
 * processes ran is left in them when `sharing` is NULL. */
enum opened gap_walk(struct run *run, const struct device_run *device, const struct gap *gap,
                     const struct sharing *sharing, void (*visit)(void *context, const struct doing *piece),
                     void *context);

/* Which processes have queued work that may wait for other work of theirs. */

/* Fills charge.can_depend: processes that use several streams or devices, or make a stream wait for an event, a value
 * in memory or the host. */
void depends_find(struct run *run);

/* What copies to the device bring: a step's input, or what the host made of what it read back. */

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

/* Which gaps happened once: a debugger's pause, a first launch, two slow frees. What is not repeated over the steps is
 * no property of a step: it is named by itself, and no finding's cost or ceiling holds it.
 *
 * Only gaps of a millisecond and more are looked at (LASTING_GAP). Such a gap is alike another one when its longest
 * stretch is of the same kind (the host's own time and its blocking are one kind, every other cause is one) in the same
 * phase and the other is at least half as long. It happened once when fewer than ONCE_ALIKE gaps, or
 * fewer than one in a hundred steps and than ONCE_MOST, are alike it, itself included: steps may be small parts of what
 * the program repeats, a solver's iterations. Of fewer than ONCE_STEPS steps nobody knows what recurs: there one gap
 * more of its kind, however long, is enough, and of one or two steps nothing happened once. */

enum { ONCE_ALIKE = 3, ONCE_MOST = 10, ONCE_STEPS = 8 };

/* A lasting gap. */
struct once_candidate {
	size_t gap; /* index */
	int64_t length;
	enum cause cause;
	uint32_t phase;
};

/* Moves those that happened once to the front, in order of their index; returns how many they are. `n_steps`: 0 where
 * there are no steps. */
size_t once_select(struct once_candidate *list, size_t n, uint32_t n_steps);

#endif
