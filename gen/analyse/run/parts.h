/* A run whose rows are not held (trace/again.h): it is gone through part by part, each a run of its own for as long as
 * its rows are there. What needs several ranks at a time is made of what each says: instances of the step, ends of
 * steps, communication kernels. */
#ifndef GAPLINE_ANALYSE_RUN_PARTS_H
#define GAPLINE_ANALYSE_RUN_PARTS_H

#include "analyse/run/marks.h"
#include "analyse/run/run.h"
#include "analyse/run/work_phases.h"

struct run_parts {
	struct fold_counts names;
	struct steps_part *steps; /* by part, where a range is the step */
	struct work_kinds *kinds; /* by part, where none is */
	uint32_t *ranges;         /* names of ranges, as they are written, in the order in which they first occur … */
	uint32_t n_ranges;
	size_t n_ops; /* of all parts */
};

/* Whether a trace can be gone through part by part: what happens on each GPU is in one part. Hardware counters are not
 * looked after. */
bool parts_possible(const struct trace *trace);

/* In place of run_begin, in two pieces, the second of which adds names; of run_find_steps (false: only the whole run
 * can tell what its steps are) with run_name_steps still to come; of run_find_loops; and of run_find_phases. */
void parts_count_names(struct run *run, const struct trace *trace, struct arena *arena);
void parts_begin(struct run *run);
bool parts_find_steps(struct run *run);
void parts_find_loops(struct run *run, bool shortest, struct run_loops *out);
void parts_find_phases(struct run *run, int warmup);

/* Part `i` as a run of its own: as after run_find_phases, with the whole run's window, steps and phases. `part` and
 * everything of it live in `arena`; threads, processes and devices are those of the part. */
struct run *parts_open(const struct run *run, uint32_t i, struct arena *arena);

/* Charges the part's devices (run_charge_devices), and appends them to those of the run, with what is asked of the
 * part's rows later. run->overview grows. In order of the parts. */
void parts_charge(struct run *run, uint32_t i, struct run *part);

/* Whether there is a device for each part, or more: lanes and hosts go by them. True of a run whose rows are held. */
bool parts_have_devices(const struct run *run);

/* The part that a process, or a device of the run (an index into run.devices), is of. */
uint32_t parts_of_process(const struct run *run, uint32_t process);
uint32_t parts_of_device(const struct run *run, uint32_t device);

#endif
