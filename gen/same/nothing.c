#include "same/doubts.h"

#include "trace/again.h"

#include <string.h>

static const double MUCH = 0.01; /* of a kind of rows: more than that dropped, and what is left proves nothing */

enum { FEW = 16 }; /* operations: two captures may have the times of fewer in common by chance */
static const int64_t SAME_START = 1000000; /* ns: what one start can differ by, as two exports write it */

/* Whether two captures with so many operations, at the same times, began at two times, as both say. */
static bool began_apart(uint64_t ops, const struct trace_source *a, const struct trace_source *b)
{
	int64_t apart;
	if (ops >= FEW || a->started == TRACE_NO_TIME || b->started == TRACE_NO_TIME)
		return false;
	return __builtin_sub_overflow(a->started, b->started, &apart) || apart > SAME_START || apart < -SAME_START;
}

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
	ARENA_LOCAL(scratch);
	struct trace part;
	again_load(b, i, 1, 1u << ROWS_OF_OPS, &scratch, &part);
	return are_same_times(&a->ops, first, &part.ops);
}

bool nothing_same_capture(const struct trace *a, const struct trace *b)
{
	size_t first = 0;
	bool same = n_ops(a) == n_ops(b) && !began_apart(n_ops(a), &a->source, &b->source);
	if (a->again && !b->again)
		return nothing_same_capture(b, a);
	for (uint32_t i = 0; same && i < b->n_again; first += b->again[i++].ops)
		same = is_same_file(a, first, b, i);
	return same && (b->again || are_same_times(&a->ops, 0, &b->ops));
}

const struct fact *nothing_to_compare(const struct side_facts facts[2], struct arena *arena)
{
	for (size_t b = 0; b < facts[0].n_runs; b++)
		for (size_t f = 0; f < facts[1].n_runs; f++) {
			const struct run_table *x = &facts[0].runs[b], *y = &facts[1].runs[f];
			if (x->n_printed == y->n_printed && x->print == y->print &&
			    !began_apart(x->n_printed, &x->source, &y->source))
				return FACT_NEW(arena, same_capture, FACT_NO_SIDE, .baseline = x->file,
				                .fixed = y->file);
		}
	return NULL;
}

/* Two runs of a side of which one is a stranger and the other is not; NULL: there are none. */
static const struct fact *runs_of_two_programs(const struct side_facts *facts, int side, struct arena *arena)
{
	for (size_t r = 1; r < facts->n_runs; r++)
		if (facts->runs[r].stranger != facts->runs[0].stranger)
			return FACT_NEW(arena, runs_differ, side, .one = facts->runs[0].file,
			                .other = facts->runs[r].file);
	return NULL;
}

const struct fact *nothing_alike(const struct side_facts facts[2], bool as_often, struct arena *arena)
{
	for (int s = 0; s < 2; s++) {
		const struct fact *two = runs_of_two_programs(&facts[s], s, arena);
		if (two)
			return two;
	}
	const struct run_table *a = &facts[0].runs[0];
	for (size_t r = 0; r < facts[1].n_runs && !as_often; r++) {
		const struct run_table *b = &facts[1].runs[r];
		if (b->stranger)
			return FACT_NEW(arena, programs_differ, FACT_NO_SIDE, .baseline = a->loop_title,
			                .baseline_operations = a->loop_ops, .baseline_times = a->loop_times,
			                .fixed = b->loop_title, .fixed_operations = b->loop_ops,
			                .fixed_times = b->loop_times,
			                .graphs = a->source.graphs == GRAPHS_WHOLE && b->source.graphs == GRAPHS_WHOLE);
	}
	return NULL;
}

/* A key of the words "rows". */
static const char *kind_key(enum row_kind kind, const struct trace_source *source)
{
	if (kind == ROWS_RANGES)
		return source->kind == SOURCE_KINETO ? "annotations" : "nvtx";
	return row_kind_name(kind);
}

/* What is wrong with the rows of a kind that do not count. */
static const char *lack_key(const struct run_table *runs, size_t n, enum row_kind kind)
{
	bool unnamed = false, senseless = false;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < runs[i].n_dropped; k++) {
			const struct trace_dropped *row = &runs[i].dropped[k];
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
static struct loss worst_loss(const struct run_table *t)
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

static const struct fact *lost_much(const struct side_facts *facts, int n_sides, struct arena *arena)
{
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++) {
			const struct loss loss = worst_loss(&facts[s].runs[r]);
			if (loss_share(&loss) > MUCH)
				return FACT_NEW(arena, records_lost, FACT_NO_SIDE, .records = loss.records,
				                .what = loss.what, .file = facts[s].runs[r].file,
				                .share = loss_share(&loss));
		}
	return NULL;
}

const struct fact *nothing_left_out(const struct side_facts *facts, int side, struct arena *arena)
{
	struct trace_count sum[ROW_KINDS] = {0};
	int64_t lost = 0, events = 0;
	uint32_t kinds = 0;
	enum row_kind worst = ROWS_KERNELS;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		lost += run->source.lost;
		events += run->source.lost_events;
		for (enum row_kind k = 0; k < ROW_KINDS; k++) {
			sum[k].read += run->rows[k].read;
			sum[k].dropped += run->rows[k].dropped;
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
	                .kind = kind_key(worst, &facts->runs[0].source),
	                .lack = lack_key(facts->runs, facts->n_runs, worst), .others = kinds > 1, .lost = lost,
	                .by_threads = events > 0 ? events : 0, .all = events >= lost);
}

const struct fact *nothing_but_rest(const struct side_facts *facts, int n_sides, struct arena *arena)
{
	const struct run_table *run = NULL;
	enum row_kind kind = ROWS_KERNELS;
	double most = MUCH;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++)
			for (enum row_kind k = 0; k < ROW_KINDS; k++) {
				double share = dropped_share(&facts[s].runs[r].rows[k]);
				if (share <= most || k == ROWS_METRICS ||
				    k == ROWS_SAMPLES) /* no verdict comes from these */
					continue;
				most = share;
				kind = k;
				run = &facts[s].runs[r];
			}
	if (!run)
		return lost_much(facts, n_sides, arena);
	return FACT_NEW(arena, rows_unusable, FACT_NO_SIDE, .dropped = run->rows[kind].dropped,
	                .rows = run->rows[kind].read, .kind = kind_key(kind, &run->source), .file = run->file,
	                .lack = lack_key(run, 1, kind));
}
