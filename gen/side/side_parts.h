/* What side.c puts a side together of, beside what is asked of its rows. */
#ifndef GAPLINE_SIDE_SIDE_PARTS_H
#define GAPLINE_SIDE_SIDE_PARTS_H

#include "charge/charge.h"
#include "charge/comm.h"
#include "result/side_result.h"
#include "side/side_facts.h"
#include "trace/trace.h"

/* How long the steps of a side are. */

/* The side's runs, without `series`, which is in the middle, and its steps. `files` are the inputs' names, by run. */
void periods_build(const struct run *runs, size_t n, const char *const *files, struct arena *arena, struct side *side);

/* What repeats in a side: its loops. */

/* The loops of the median run, by share, of a side whose steps are told; none where a range is the step. */
void loops_build(const struct run *run, struct arena *arena, struct side *side);

/* Representative steps of a run. */

/* A few representative steps of a run, to the nanosecond; of many devices those of the slowest, the median and the
 * fastest of its ranks first. */
struct timeline timeline_build(struct run *run, const struct ranks_result *ranks, struct arena *arena);

/* What a side's program did before its first step. */

/* The start-up of `n` runs (run.startup), by what the thread of their first steps did meanwhile. */
struct startup startup_build(struct run *runs, size_t n);

/* A run event by event. */

/* All in `arena` but the trace. `run` needs its places (places_find). */
const struct events *events_build(struct run *run, struct arena *arena);

/* What the ranks of a side wait for each other, for whom, and why that one is late. */

/* What the side's ranks wait for each other, and for whom; `waiting`: of each run; its devices are there. */
struct ranks_result ranks_build(const struct run *runs, const struct waiting *waiting, const struct side *side,
                                const struct comm_facts *comm, struct arena *arena);

/* The pictures of ranks and steps. */

struct rank_maps {
	struct rank_map own;               /* of own steps */
	struct rank_map parts[RANK_PARTS]; /* of what they consist of */
};

/* Of the side's median run; `n_places` is how many devices the side has. Cells are from `arena`. */
struct rank_maps rank_maps_build(const struct run *run, const struct waiting *waiting, uint32_t n_places,
                                 struct arena *arena);

/* How fast the GPUs ran: samples of clocks, power and temperature, and what held the clocks back. */

/* The clocks of a device of the side. */
struct clocks clocks_of_device(const struct run *runs, size_t n, uint32_t d);

/* A sentence when of one of `n` devices samples lie beside the measured time only, else NULL. */
const struct fact *clocks_note(const struct device_result *devices, uint32_t n, struct arena *arena);

/* The hardware counters of a side's GPUs (docs/method/analysis.md, Hardware counters). */

/* The counters of a device of the side over all of its runs, whose `device_at` are filled; phases come from `arena`.
 * Without samples in the measured windows `samples` is 0. */
struct metrics metrics_of_device(const struct run *runs, size_t n, uint32_t device, struct arena *arena);

/* Their lanes between two times of one run, of its device `device`, into `out`. */
void metrics_lanes(const struct run *run, int64_t start, int64_t end, uint32_t device, struct arena *arena,
                   struct device_lanes *out);

/* What a GPU can do at most, by its data sheet: no profile says it, and clocks alone do not tell it. */

/* Floating-point operations (of FLOP_INT8 integer ones) per ns of the tensor cores, of dense matrices and summed up in
 * 32 bits, at the boost clock. `model`: the GPU's name as CUDA has it. 0: not known, also of single and double
 * precision, which run on tensor cores or beside them. */
double peak_flops(const char *model, enum flop_format format);

/* Bytes per ns of device memory; 0: not known. */
double peak_bytes(const char *model);

/* What a reader should know about the data of a side before believing its numbers. */

/* What other stages have to say; NULL where there is nothing. */
struct quality_notes {
	int64_t left_out;             /* struct timeline has the meaning */
	const struct fact *clocks;    /* clocks_note */
	const struct fact *recording; /* recording_note */
	const struct fact *ranges;    /* recording_ranges_note */
	const char *files;            /* struct side_files has it */
};

/* Dropped rows, diagnostics, missing launches and notes of all runs of a side. `files` are the inputs' names, by run.
 */
struct quality quality_build(const struct run *runs, size_t n, const char *const *files,
                             const struct quality_notes *more, struct arena *arena);

/* Adds a note unless it is there already. */
void quality_find(struct quality *quality, struct arena *arena, const struct fact *fact);

/* The same of a new one, as FACT_NEW. */
#define QUALITY_FIND(quality, arena, ...) quality_find((quality), (arena), FACT_NEW((arena), __VA_ARGS__))

/* Of the runs of one side, whose rows are there: the fact that a thread of one was in two calls at once, or that two of
 * them are ranks of one run; else NULL. */
const struct fact *contradictions_find(const struct run *runs, const char *const *files, size_t n, struct arena *arena);

#endif
