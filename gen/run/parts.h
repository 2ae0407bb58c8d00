/* A run is gone through part by part: for its steps, then to charge its devices. A part is what has to be looked at
 * together, a file, or several that share a GPU, with the files between them. Its rows are made again whenever they are
 * asked for and forgotten after (trace/again.h). Of a run of one part they are held, and the part is the run. What
 * needs several parts at a time is made of what each says: instances of the step, ends of steps, communication
 * kernels. */
#ifndef GAPLINE_RUN_PARTS_H
#define GAPLINE_RUN_PARTS_H

#include "run/run.h"
#include "steps/marks.h"
#include "steps/op_names.h"
#include "trace/columns.h"

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

/* The part that a process is of. */
uint32_t parts_of_process(const struct run *run, uint32_t process);

#endif
