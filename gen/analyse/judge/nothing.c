#include "analyse/judge/nothing.h"

#include <string.h>

static const double MUCH = 0.01; /* of a kind of rows: more than that dropped, and what is left proves nothing */

bool nothing_same_capture(const struct trace *a, const struct trace *b)
{
	size_t bytes = a->ops.n * sizeof *a->ops.start;
	return a->ops.n == b->ops.n && memcmp(a->ops.start, b->ops.start, bytes) == 0 &&
	       memcmp(a->ops.end, b->ops.end, bytes) == 0;
}

const char *nothing_to_compare(const struct run *const runs[2], const char *const *const files[2], const size_t n[2],
                               struct arena *arena)
{
	for (size_t b = 0; b < n[0]; b++)
		for (size_t f = 0; f < n[1]; f++)
			if (nothing_same_capture(runs[0][b].trace, runs[1][f].trace))
				return arena_format(
					arena,
					"%s (baseline) and %s (fixed side) hold the same capture: compared with "
					"itself, a run shows nothing.",
					files[0][b], files[1][f]);
	return NULL;
}

static const char *kind_name(enum row_kind kind, const struct trace_source *source)
{
	static const char *const name[ROW_KINDS] = {[ROWS_KERNELS] = "kernels",
	                                            [ROWS_GRAPHS] = "CUDA graph launches",
	                                            [ROWS_COPIES] = "copies",
	                                            [ROWS_MEMSETS] = "memsets",
	                                            [ROWS_CALLS] = "CUDA calls",
	                                            [ROWS_OS_CALLS] = "operating-system calls",
	                                            [ROWS_OVERHEADS] = "the profiler's overhead",
	                                            [ROWS_SLICES] = "the scheduler's events",
	                                            [ROWS_STOPWATCH] = "stopwatch runs",
	                                            [ROWS_GPU_SAMPLES] = "GPU samples",
	                                            [ROWS_METRICS] = "GPU metrics"};
	return kind == ROWS_RANGES ? ranges_label(source, source, false) : name[kind];
}

const char *nothing_but_rest(const struct run *const runs[2], const char *const *const files[2], const size_t n[2],
                             struct arena *arena)
{
	const struct trace_count *worst = NULL;
	enum row_kind kind = ROWS_KERNELS;
	const char *file = NULL;
	const struct trace_source *source = NULL;
	double most = MUCH;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n[s]; r++)
			for (enum row_kind k = 0; k < ROW_KINDS; k++) {
				const struct trace_count *count = &runs[s][r].trace->rows[k];
				double share = count->read > 0 ? (double)count->dropped / (double)count->read : 0;
				if (share <= most || k == ROWS_METRICS) /* no verdict comes from counters */
					continue;
				most = share;
				worst = count;
				kind = k;
				file = files[s][r];
				source = &runs[s][r].trace->source;
			}
	if (!worst)
		return NULL;
	return arena_format(
		arena,
		"%lld of %lld rows of %s in %s make no sense and were left out: the numbers are those of the "
		"rest, and prove nothing.",
		(long long)worst->dropped, (long long)worst->read, kind_name(kind, source), file);
}
