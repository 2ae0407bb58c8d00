/* One part of a run after the other, with the whole run's window, steps and phases. */
#ifndef GAPLINE_CHARGE_PARTS_OPEN_H
#define GAPLINE_CHARGE_PARTS_OPEN_H

#include "base/numbers.h"
#include "charge/charge.h"
#include "run/parts.h"
#include "trace/comm.h"

/* Steps and phases of the run's communication kernels, one after the other, once it is charged. Zero-initialise, but
 * for the run. */
struct parts_comm {
	const struct run *run;
	uint32_t next; /* the next part */
	struct taken bytes;
	int64_t step; /* of the last one */
};
void parts_comm_next(struct parts_comm *at, const struct comm_kernel *kernel, uint32_t *step, uint32_t *phase);

/* The last piece of run_find_phases: steps and phases of what rows the run itself holds. */
void parts_prepare(struct run *run);

/* Part `i` as a run of its own: as after run_find_phases, with the whole run's window, steps and phases. It lives in
 * `arena`; threads, processes and devices are those of the part. */
struct run *parts_open(const struct run *run, uint32_t i, struct arena *arena);

/* The same once the run's devices are charged, with those of the part, their gaps among it. */
struct run *parts_open_charged(const struct run *run, uint32_t i, struct arena *arena);

/* Charges the part's devices (run_charge_devices), and appends them to those of the run, with what is asked of the
 * part's rows later. run->overview and run->table grow. In order of the parts. */
void parts_charge(struct run *run, uint32_t i, struct run *part);

/* The part that a device of the run (an index into its charged ones) is of. */
uint32_t parts_of_device(const struct run *run, uint32_t device);

#endif
