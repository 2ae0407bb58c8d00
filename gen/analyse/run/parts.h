/* A run is gone through part by part: for its steps, then to charge its devices. A part is what has to be looked at
 * together, a file, or several that share a GPU, with the files between them. Its rows are made again whenever they are
 * asked for and forgotten after (trace/again.h). Of a run of one part they are held, and the part is the run. What
 * needs several parts at a time is made of what each says: instances of the step, ends of steps, communication
 * kernels. */
#ifndef GAPLINE_ANALYSE_RUN_PARTS_H
#define GAPLINE_ANALYSE_RUN_PARTS_H

#include "analyse/run/marks.h"
#include "analyse/run/run.h"
#include "analyse/run/work_phases.h"
#include "base/numbers.h"
#include "trace/columns.h"
#include "trace/comm.h"

struct run_part {
	uint32_t first, n;                                  /* files, of trace.again */
	uint32_t first_process, first_thread, first_device; /* of the run, that are the part's first ones */
	/* Of its communication kernels, in their order, the step and the phase that each is of, packed; filled when it
	 * is charged, if its rows are not held. */
	const char *comm;
	size_t comm_bytes;
};

struct run_parts {
	struct run_part *list;
	uint32_t n;
	bool held; /* there is one, and its rows are run->trace's */
	struct fold_counts names;
	struct work_kinds *kinds; /* by part; those that were asked for */
};

/* Finds the parts of a run of this trace: the first piece of run_open. */
void parts_begin(struct run *run, const struct trace *trace, struct arena *arena);

/* The rows of a part, of kinds 1 << enum columns_of, in `arena`. */
const struct trace *parts_rows(const struct run *run, uint32_t i, unsigned rows, struct arena *arena);

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

/* The part that a process, or a device of the run (an index into run.devices), is of. */
uint32_t parts_of_process(const struct run *run, uint32_t process);
uint32_t parts_of_device(const struct run *run, uint32_t device);

#endif
