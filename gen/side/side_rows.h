/* What is asked of the rows of a side. */
#ifndef GAPLINE_SIDE_SIDE_ROWS_H
#define GAPLINE_SIDE_SIDE_ROWS_H

#include "charge/charge.h"
#include "result/side_result.h"
#include "side/recording.h"
#include "side/side_facts.h"

/* NVTX ranges of a side. */

/* The NVTX ranges of `n` runs, in `arena`, by host descending: added as in side_facts.h. */
struct ranges_builder *ranges_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena);
void ranges_add(struct ranges_builder *builder, const struct run *part);
void ranges_end_run(struct ranges_builder *builder, const struct run *run);
struct range_result *ranges_end(struct ranges_builder *builder, uint32_t *n);

/* What the phases of a side cost. */

/* The phases of all runs, of `side`. What rows say of them is added first, part by part (run/parts.h), then the idle
 * rows of the side's budget. */
struct phases {
	struct side *side;
	uint32_t *slot;
	size_t n_runs;
};
struct phases phases_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena,
                           struct side *side);
void phases_add(struct phases *phases, struct run *run, struct run *part);
void phases_end(struct phases *phases, const struct run *runs);

/* Holes in a recording: launches whose kernels were lost, numbered steps that jump, whole steps of which nothing was
 * recorded, or their marks alone, and marks that were lost, so that one step holds the kernels of several. Counted
 * while rows are gone through, part by part; judged by same/possible. */

/* From one numbered step range of a thread to the next. */
struct numbered {
	int64_t from, to;
	double time; /* ns from start to start */
};

/* What is collected of one run, in `work`. */
struct holes {
	struct arena *work;
	struct numbered *list;
	size_t n, room;
	/* By step, the sum over its kernels of a number for the name: a step that holds k times every kernel of another
	 * one has k times its sum. NULL: steps are not marked. */
	uint64_t *sum;
	uint32_t *silent; /* steps before a silent stretch that is as long as whole steps, */
	size_t n_silent, silent_room;
	uint32_t *others;     /* by step: operations that are no kernels, or, where it has none, a launch; likewise */
	uint32_t *optimizers; /* by step that gapline marked: how many optimizers' ranges begin in it; likewise */
};

/* Counts the rows of `part`. */
void holes_add(struct holes *holes, struct run *run, const struct run *part);

/* After all parts: fills the rest of run->holes. */
void holes_end(struct holes *holes, struct run *run);

/* What the GPU did while each of the slowest requests, and of those about the median, was open: its own work, others'
 * work while none of its own ran, nothing (docs/method/verdict.md, "The slowest steps"). */

/* Fills `work` of the groups of the run's step table by the rows of its only part. Nothing where steps are no requests,
 * where a thread has several open at once, so that nothing tells whose a launch is, and where a run has several parts.
 */
void request_work_add(struct run *run, const struct run *part);

/* How much device memory a side's program had allocated at most (docs/reference/gates.md). */

/* Notes what the rows of a part say of the run's steps: run.held. */
void memory_note(struct run *run, const struct run *part);

/* The largest peak over the devices of all runs; known only where it is of each of them. */
struct side_memory memory_build(const struct run *runs, size_t n);

/* What is asked of every row of a side's runs, in one going through them: this is the only time that all of them
 * are there, part by part (run/parts.h). */

struct side_rows {
	struct phases phases;        /* phases_end is still to come */
	struct recording *recording; /* recording_end likewise */
	struct launch_places places; /* of GPU work */
};

/* Charges the devices of the runs, fills their `kernels`, and of the side and the facts what rows tell. Results live in
 * `arena`, what is in between in `work`. */
struct side_rows rows_build(struct run *runs, size_t n, struct arena *work, struct arena *arena, struct side *side,
                            struct side_facts *facts);

/* When the tokens of each step of a run were there: by ranges inside of the step's own, --first NAME and --each NAME
 * (docs/method/verdict.md, "The slowest steps"). */

/* Before its parts: run->tokens has the names, and gets room for the times. Steps have no times of their own where no
 * range marks them, or several ranks make one. */
void tokens_begin(struct run *run);

/* Fills the times of the steps of a part. */
void tokens_add(struct run *run, const struct run *part);

/* Whether a run of which they were asked has some. 0, or -1 with `err`: what to try, without the file. */
int tokens_check(const struct run *run, struct err *err);

#endif
