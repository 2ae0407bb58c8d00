/* Rows that are made again whenever they are asked for, instead of being held: a run of a thousand ranks has more of
 * them than memory. Its trace says what there is, processes, threads, devices; the rows come rank by rank. */
#ifndef GAPLINE_TRACE_AGAIN_H
#define GAPLINE_TRACE_AGAIN_H

#include "trace/columns.h"
#include "trace/comm.h"

/* How often a thread has ranges of a name. */
struct again_ranges {
	uint32_t thread, name;
	int64_t n;
};

/* One part of a run, a file: how its rows are made again, and what is known of them meanwhile. */
struct trace_again {
	/* Fills `out` with the part as a trace of its own, times as they were in the file, not linked: names are those
	 * of `names`, in which nothing is added; what is neither row, process, thread, device nor GPU is left out.
	 * `rows`: of which kinds, 1 << enum columns_of each; without calls, ops have no launch. Never fails: the same
	 * bytes were read before. May be called by several threads at a time. */
	void (*load)(const struct trace_again *part, unsigned rows, struct names *names, struct arena *arena,
	             struct trace *out);
	const void *kept; /* `load`'s own, n_kept bytes that can be copied */
	size_t n_kept;
	uint32_t *ids, *told; /* names by their number in `kept`, n_ids of them, and what was told of all of them that
	                       * rows have (classify_rows): nothing is added */
	uint32_t n_ids;
	struct time_map map; /* from the file's times to the run's */
	/* Where the part's begin in the run's lists; trace_merge fills them. */
	uint32_t first_process, first_thread, first_device;
	/* Of its rows: */
	struct comm_kernels comm;
	size_t ops;
	struct again_ranges *ranges; /* in the order in which they first occur */
	uint32_t n_ranges;
	bool owned;        /* its calls say in which operator, module or line they are */
	uint64_t print[2]; /* of its ops' times, as they are in the file; two captures have it in common by chance alone
	                    */
};

/* Those of a linked trace. */
struct again_ranges *again_count_ranges(const struct trace *trace, struct arena *arena, uint32_t *n);

enum { AGAIN_ALL = (1u << COLUMNS_OF) - 1 };

/* Kinds of rows that are held: what is said of them is not in what is kept. */
static inline bool again_is_held(enum columns_of rows)
{
	return rows == ROWS_OF_SAMPLES || rows == ROWS_OF_GIL;
}

/* Leaves of a linked trace the rows that trace.h says are held, in `arena`, and notes in `part` what is known of the
 * others. `arena` holds everything of the trace that is no row. */
void again_leave(struct trace *trace, struct trace_again *part, struct arena *arena);

/* Files [first, first + n) of the run as a trace of their own, linked, with times on the run's clock and what the run
 * says of its source: as trace_merge would have made it of them. `rows` as in `load`. GPUs are numbered as in the run
 * where there are several files. `out` may be `trace`. */
void again_load(const struct trace *trace, uint32_t first, uint32_t n, unsigned rows, struct arena *arena,
                struct trace *out);

#endif
