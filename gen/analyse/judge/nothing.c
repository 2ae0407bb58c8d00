#include "analyse/judge/nothing.h"

#include "base/format.h"
#include "trace/again.h"

#include <string.h>

static const double MUCH = 0.01; /* of a kind of rows: more than that dropped, and what is left proves nothing */

static bool is_same_map(const struct time_map *a, const struct time_map *b)
{
	return a->offset == b->offset && a->at == b->at && a->drift == b->drift;
}

static size_t n_ops(const struct trace *t)
{
	size_t n = t->again ? 0 : t->ops.n;
	for (uint32_t i = 0; i < t->n_again; i++)
		n += t->again[i].ops;
	return n;
}

static bool are_same_times(const struct trace_ops *a, size_t first, const struct trace_ops *b)
{
	return memcmp(a->start + first, b->start, b->n * sizeof *b->start) == 0 &&
	       memcmp(a->end + first, b->end, b->n * sizeof *b->end) == 0;
}

/* Whether file `i` of `b` is what `a` has there, from op `first` on where its rows are held. */
static bool is_same_file(const struct trace *a, size_t first, const struct trace *b, uint32_t i)
{
	if (a->again)
		return a->n_again == b->n_again &&
		       memcmp(a->again[i].print, b->again[i].print, sizeof a->again[i].print) == 0 &&
		       is_same_map(&a->again[i].map, &b->again[i].map);
	struct arena scratch = {0};
	struct trace part;
	again_load(b, i, 1, 1u << ROWS_OF_OPS, &scratch, &part);
	bool same = are_same_times(&a->ops, first, &part.ops);
	arena_release(&scratch);
	return same;
}

bool nothing_same_capture(const struct trace *a, const struct trace *b)
{
	size_t first = 0;
	bool same = n_ops(a) == n_ops(b);
	if (a->again && !b->again)
		return nothing_same_capture(b, a);
	for (uint32_t i = 0; same && i < b->n_again; first += b->again[i++].ops)
		same = is_same_file(a, first, b, i);
	return same && (b->again || are_same_times(&a->ops, 0, &b->ops));
}

const struct fact *nothing_to_compare(const struct run *const runs[2], const char *const *const files[2],
                                      const size_t n[2], struct arena *arena)
{
	for (size_t b = 0; b < n[0]; b++)
		for (size_t f = 0; f < n[1]; f++)
			if (nothing_same_capture(runs[0][b].trace, runs[1][f].trace))
				return FACT_NEW(arena, same_capture, FACT_NO_SIDE, .baseline = files[0][b],
				                .fixed = files[1][f]);
	return NULL;
}

static const char *repeated(const struct run *run, struct arena *arena)
{
	const struct run_loop *loop = &run->loops.list[run->loop];
	return arena_format(arena, "%s (%u operations, %u times)", format_name(arena, loop->title, 48), loop->ops,
	                    loop->n);
}

const char *nothing_alike(const struct run *baseline, const struct run *fixed, size_t n_fixed, struct arena *arena)
{
	for (size_t r = 0; r < n_fixed; r++)
		if (fixed[r].stranger)
			return arena_format(arena,
			                    "The two programs repeat different things: the baseline %s, the fixed side "
			                    "%s. Name what both repeat with --loop, or mark the steps.",
			                    repeated(baseline, arena), repeated(&fixed[r], arena));
	return NULL;
}

/* A key of the words "rows". */
static const char *kind_key(enum row_kind kind, const struct trace_source *source)
{
	static const char *const name[ROW_KINDS] = {[ROWS_KERNELS] = "kernels",
	                                            [ROWS_GRAPHS] = "graphs",
	                                            [ROWS_COPIES] = "copies",
	                                            [ROWS_MEMSETS] = "memsets",
	                                            [ROWS_CALLS] = "calls",
	                                            [ROWS_RANGES] = "nvtx",
	                                            [ROWS_OS_CALLS] = "os_calls",
	                                            [ROWS_OVERHEADS] = "overheads",
	                                            [ROWS_SLICES] = "slices",
	                                            [ROWS_STOPWATCH] = "stopwatch",
	                                            [ROWS_GPU_SAMPLES] = "gpu_samples",
	                                            [ROWS_METRICS] = "metrics",
	                                            [ROWS_SAMPLES] = "samples"};
	return kind == ROWS_RANGES && source->kind == SOURCE_KINETO ? "annotations" : name[kind];
}

/* What is wrong with the rows of a kind that do not count. */
static const char *lack_key(const struct trace *const *traces, size_t n, enum row_kind kind)
{
	bool unnamed = false, senseless = false;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < traces[i]->n_dropped; k++) {
			const struct trace_dropped *row = &traces[i]->dropped[k];
			bool no_name = strcmp(row->reason, TRACE_NO_NAME) == 0;
			unnamed |= row->kind == kind && no_name;
			senseless |= row->kind == kind && !no_name;
		}
	return !unnamed ? "senseless" : senseless ? "both" : "unnamed";
}

static double dropped_share(const struct trace_count *count)
{
	return count->read > 0 ? (double)count->dropped / (double)count->read : 0;
}

/* Records that were lost, and the rows that they are held against. */
struct loss {
	int64_t records, rows;
	const char *what; /* may be missing: gpu, and of host threads ranges or os_calls */
};

static double loss_share(const struct loss *loss)
{
	return loss->records > 0 ? (double)loss->records / (double)(loss->records + loss->rows) : 0;
}

/* Of which kind a record was nobody knows, only whether a host thread made it: those are held against the rarer of what
 * threads make and verdicts come from, all others against the GPU's work, which makes most of the verdict. Where
 * threads left no such row it is not said what they made. */
static struct loss worst_loss(const struct trace *t)
{
	static const enum row_kind kinds[] = {ROWS_KERNELS, ROWS_GRAPHS, ROWS_COPIES, ROWS_MEMSETS};
	int64_t ranges = t->rows[ROWS_RANGES].read, os_calls = t->rows[ROWS_OS_CALLS].read;
	bool by_ranges = ranges > 0 && (ranges <= os_calls || os_calls == 0);
	struct loss gpu = {.records = t->source.lost, .what = "gpu"};
	struct loss threads = {.rows = by_ranges ? ranges : os_calls, .what = by_ranges ? "ranges" : "os_calls"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		gpu.rows += t->rows[kinds[i]].read;
	if (threads.rows > 0)
		threads.records = t->source.lost_events < gpu.records ? t->source.lost_events : gpu.records;
	gpu.records -= threads.records;
	return loss_share(&threads) > loss_share(&gpu) ? threads : gpu;
}

static const struct fact *lost_much(const struct run *const runs[2], const char *const *const files[2],
                                    const size_t n[2], struct arena *arena)
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n[s]; r++) {
			const struct loss loss = worst_loss(runs[s][r].trace);
			if (loss_share(&loss) > MUCH)
				return FACT_NEW(arena, records_lost, FACT_NO_SIDE, .records = loss.records,
				                .what = loss.what, .file = files[s][r], .share = loss_share(&loss));
		}
	return NULL;
}

const struct fact *nothing_left_out(const struct run *runs, size_t n, int side, struct arena *arena)
{
	struct trace_count sum[ROW_KINDS] = {0};
	int64_t lost = 0, events = 0;
	uint32_t kinds = 0;
	enum row_kind worst = ROWS_KERNELS;
	const struct trace **traces = ARENA_NEW(arena, n, const struct trace *);
	for (size_t r = 0; r < n; r++) {
		traces[r] = runs[r].trace;
		lost += runs[r].trace->source.lost;
		events += runs[r].trace->source.lost_events;
		for (enum row_kind k = 0; k < ROW_KINDS; k++) {
			sum[k].read += runs[r].trace->rows[k].read;
			sum[k].dropped += runs[r].trace->rows[k].dropped;
		}
	}
	for (enum row_kind k = 0; k < ROW_KINDS; k++) {
		kinds += sum[k].dropped > 0;
		if (dropped_share(&sum[k]) > dropped_share(&sum[worst]))
			worst = k;
	}
	if (!kinds && !lost)
		return NULL;
	return FACT_NEW(arena, rows_left_out, side, .dropped = sum[worst].dropped, .rows = sum[worst].read,
	                .kind = kind_key(worst, &runs[0].trace->source), .lack = lack_key(traces, n, worst),
	                .others = kinds > 1, .lost = lost, .by_threads = events > 0 ? events : 0,
	                .all = events >= lost);
}

const struct fact *nothing_but_rest(const struct run *const runs[2], const char *const *const files[2],
                                    const size_t n[2], struct arena *arena)
{
	const struct trace_count *worst = NULL;
	enum row_kind kind = ROWS_KERNELS;
	const char *file = NULL;
	const struct trace *trace = NULL;
	double most = MUCH;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n[s]; r++)
			for (enum row_kind k = 0; k < ROW_KINDS; k++) {
				const struct trace_count *count = &runs[s][r].trace->rows[k];
				double share = dropped_share(count);
				if (share <= most || k == ROWS_METRICS ||
				    k == ROWS_SAMPLES) /* no verdict comes from these */
					continue;
				most = share;
				worst = count;
				kind = k;
				file = files[s][r];
				trace = runs[s][r].trace;
			}
	if (!worst)
		return lost_much(runs, files, n, arena);
	return FACT_NEW(arena, rows_unusable, FACT_NO_SIDE, .dropped = worst->dropped, .rows = worst->read,
	                .kind = kind_key(kind, &trace->source), .file = file, .lack = lack_key(&trace, 1, kind));
}
