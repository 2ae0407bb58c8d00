/* Of the operating-system calls that a capture holds most were made before the program used the GPU: it reads its
 * modules and its data then. No gap lies there, and what a report says of that time is how long each cause lasted. So
 * calls may be put together there, as long as those sums stay. */
#include "read/digest.h"

#include "base/search.h"
#include "base/sort.h"
#include "read/digest_inside.h"
#include "trace/columns.h"

#include <string.h>

/* ns before the first sign of the GPU: charging a gap looks back by a launch's latency. */
static const int64_t SAFELY = 1000000;

struct reducer {
	struct trace *trace;
	struct arena scratch;
	bool *speaks;    /* by thread: it launches GPU work, or carries a range */
	int64_t *begins; /* by process: nothing of a gap is looked for before */
	int64_t *waits;  /* when a thread of the process at hand begins or ends to wait for another one, sorted */
	size_t n_waits;
	int64_t *calls; /* by process: its first CUDA call */
	int64_t *cuts;  /* when something else begins or ends on the thread at hand, sorted */
	size_t n_cuts;
};

static void find_speaking(struct reducer *r)
{
	const struct trace *t = r->trace;
	r->speaks = ARENA_NEW(&r->scratch, t->n_threads, bool);
	r->begins = ARENA_NEW(&r->scratch, t->n_processes, int64_t);
	for (uint32_t i = 0; i < t->n_processes; i++)
		r->begins[i] = INT64_MAX;
	r->calls = ARENA_NEW(&r->scratch, t->n_processes, int64_t);
	for (uint32_t i = 0; i < t->n_processes; i++)
		r->calls[i] = INT64_MAX;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		r->speaks[i] = t->first_range[i] < t->first_range[i + 1];
		uint32_t call = t->first_call[i];
		int64_t *first = &r->calls[t->threads[i].process];
		if (call < t->first_call[i + 1] && t->calls.start[call] < *first)
			*first = t->calls.start[call];
	}
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t call = t->ops.launch[i];
		int64_t *begins = &r->begins[t->devices[t->ops.device[i]].process], first = t->ops.start[i];
		if (call != TRACE_NONE) {
			r->speaks[t->calls.thread[call]] = true;
			first = t->calls.start[call] < first ? t->calls.start[call] : first;
		}
		*begins = first < *begins ? first : *begins;
	}
	for (uint32_t i = 0; i < t->n_processes; i++)
		r->begins[i] = r->begins[i] == INT64_MAX ? INT64_MIN : r->begins[i] - SAFELY;
}

/* ---- calls that nothing is charged to ---- */

/* Marks the operating-system calls of a thread that are needed. */
static void mark_os_calls(const struct reducer *r, uint32_t thread, bool *keep)
{
	const struct trace *t = r->trace;
	const struct trace_os_calls *os = &t->os_calls;
	uint32_t call = t->first_call[thread], end = t->first_call[thread + 1];
	int64_t until = INT64_MIN; /* how far one of the CUDA calls reaches that began so far */
	for (uint32_t i = t->first_os_call[thread]; i < t->first_os_call[thread + 1]; i++) {
		for (; call < end && t->calls.start[call] <= os->start[i]; call++)
			until = t->calls.end[call] > until ? t->calls.end[call] : until;
		keep[i] = i == t->first_os_call[thread] || (r->speaks[thread] && os->end[i] > until);
	}
}

/* ---- calls that can be put together ---- */

static void add_times(int64_t *list, size_t *n, const int64_t *start, const int64_t *end, uint32_t from, uint32_t to,
                      int64_t before)
{
	for (uint32_t i = from; i < to && start[i] < before; i++) {
		list[(*n)++] = start[i];
		list[(*n)++] = end[i];
	}
}

/* Of threads that speak: what a thread is asked that waits is what another one of those does meanwhile. */
static void find_waits(struct reducer *r, uint32_t process)
{
	const struct trace_os_calls *os = &r->trace->os_calls;
	r->n_waits = 0;
	for (uint32_t i = 0; i < r->trace->n_threads; i++) {
		if (!r->speaks[i] || r->trace->threads[i].process != process)
			continue;
		for (uint32_t k = r->trace->first_os_call[i]; k < r->trace->first_os_call[i + 1]; k++)
			if (os->class[k] == OS_WAIT && os->start[k] < r->begins[process])
				add_times(r->waits, &r->n_waits, os->start, os->end, k, k + 1, INT64_MAX);
	}
	sort_times(r->waits, r->n_waits);
}

static void find_cuts(struct reducer *r, uint32_t thread, int64_t before)
{
	const struct trace *t = r->trace;
	r->n_cuts = 0;
	add_times(r->cuts, &r->n_cuts, t->calls.start, t->calls.end, t->first_call[thread], t->first_call[thread + 1],
	          before);
	add_times(r->cuts, &r->n_cuts, t->ranges.start, t->ranges.end, t->first_range[thread],
	          t->first_range[thread + 1], before);
	add_times(r->cuts, &r->n_cuts, t->overheads.start, t->overheads.end, t->first_overhead[thread],
	          t->first_overhead[thread + 1], before);
	add_times(r->cuts, &r->n_cuts, t->slices.start, t->slices.end, t->first_slice[thread],
	          t->first_slice[thread + 1], before);
	add_times(r->cuts, &r->n_cuts, t->gil.start, t->gil.end, t->first_gil[thread], t->first_gil[thread + 1],
	          before);
	add_times(r->cuts, &r->n_cuts, t->unlooked.start, t->unlooked.end, t->first_unlooked[thread],
	          t->first_unlooked[thread + 1], before);
	r->cuts[r->n_cuts++] = r->calls[t->threads[thread].process];
	sort_times(r->cuts, r->n_cuts);
}

/* Whether any of the times lies between the two. */
static bool any_between(const int64_t *list, size_t n, int64_t after, int64_t before)
{
	size_t i = 0;
	SEARCH(i, n, list[i] <= after);
	return i < n && list[i] < before;
}

/* The next call of a thread that is needed, after `i`. */
static uint32_t next_kept(const bool *keep, uint32_t i, uint32_t end)
{
	do
		i++;
	while (i < end && !keep[i]);
	return i;
}

/* Calls of a thread between which nothing else begins or ends become one, which begins with the first and is as long as
 * they are: in whatever lies around them, the time inside calls and the time outside of them stay. Those that overlap
 * stay as they are. */
static void put_together(struct reducer *r, uint32_t thread, bool *keep)
{
	struct trace_os_calls *os = &r->trace->os_calls;
	int64_t before = r->begins[r->trace->threads[thread].process], reach = INT64_MIN;
	uint32_t end = r->trace->first_os_call[thread + 1], head = end;
	find_cuts(r, thread, before);
	for (uint32_t i = r->trace->first_os_call[thread], next; i < end && os->end[i] <= before; i = next) {
		int64_t start = os->start[i], until = os->end[i];
		next = next_kept(keep, i, end);
		bool alone = start >= reach && (next == end || os->start[next] >= until);
		if (!alone) {
			head = end;
		} else if (head == end || any_between(r->cuts, r->n_cuts, os->start[head], until) ||
		           any_between(r->waits, r->n_waits, os->start[head], until)) {
			head = i;
		} else {
			os->end[head] += until - start;
			keep[i] = false;
		}
		reach = until > reach ? until : reach;
	}
}

/* Leaves the rows that are marked. */
static size_t keep_rows(struct trace *t, enum columns_of rows, const bool *keep)
{
	const struct columns *all = &COLUMNS[rows];
	size_t n = *columns_rows(t, rows), kept = 0;
	for (size_t c = 0; c < all->n; c++) {
		void *values = columns_get(t, rows, &all->column[c]);
		kept = 0;
		for (size_t i = 0; i < n; i++) {
			if (keep[i] && values)
				layout_set(values, all->column[c].size, kept,
				           layout_get(values, all->column[c].size, i));
			kept += keep[i];
		}
	}
	*columns_rows(t, rows) = kept;
	return n - kept;
}

/* digest_reduce but for samples, and what is asked of rows because of them. */
static size_t reduce_rows(struct trace *t, struct arena *arena)
{
	struct reducer r = {.trace = t};
	find_speaking(&r);
	bool *os_calls = ARENA_NEW(&r.scratch, t->os_calls.n, bool), *slices = ARENA_NEW(&r.scratch, t->slices.n, bool);
	r.waits = ARENA_NEW(&r.scratch, 2 * t->os_calls.n, int64_t);
	r.cuts = ARENA_NEW(&r.scratch,
	                   2 * (t->calls.n + t->ranges.n + t->overheads.n + t->slices.n + t->gil.n + t->unlooked.n) + 1,
	                   int64_t);
	for (uint32_t i = 0; i < t->n_threads; i++)
		mark_os_calls(&r, i, os_calls);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		find_waits(&r, p);
		for (uint32_t i = 0; i < t->n_threads; i++)
			if (r.speaks[i] && t->threads[i].process == p)
				put_together(&r, i, os_calls);
	}
	for (size_t i = 0; i < t->slices.n; i++) {
		uint32_t thread = t->slices.thread[i]; /* what one sample stands for is told by the sampled threads' */
		slices[i] = r.speaks[thread] || t->first_sample[thread] < t->first_sample[thread + 1];
	}
	size_t gone = keep_rows(t, ROWS_OF_OS_CALLS, os_calls) + keep_rows(t, ROWS_OF_SLICES, slices);
	trace_link(t, arena);
	arena_release(&r.scratch);
	return gone;
}

size_t digest_reduce(struct trace *t, struct arena *arena)
{
	size_t gone = t->samples.n; /* stacks are for the machine on which they were recorded */
	t->samples = (struct trace_samples){0};
	t->stacks = (struct trace_stacks){0};
	for (size_t i = 0; i < t->gil.n; i++)
		t->gil.stack[i] = 0;
	trace_link(t, arena);
	return gone + reduce_rows(t, arena);
}

static size_t rows_of(const struct trace *t)
{
	size_t n = 0;
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		n += *columns_rows((struct trace *)t, rows);
	return n;
}

/* What was made is read again before anybody relies on it. */
static int check(const char *name, const struct digest_made *made, struct err *err)
{
	ARENA_LOCAL(arena);
	struct names names;
	struct trace again;
	names_init(&names, &arena);
	const unsigned char *bytes = (const unsigned char *)made->bytes.data;
	int result = digest_decode(name, bytes, made->bytes.n, &names, &arena, &again, err);
	if (result == 0 && rows_of(&again) != made->rows)
		result = err_set(err, "%s: the digest of this profile would not hold all of it", name);
	return result;
}

/* What shrinks by more, and is larger, would not be believed when it is read (source_most): it stays unpacked. Programs
 * that do the very same thing a million times are like that, and no others. */
static int pack(struct digest_made *made, struct err *err)
{
	enum { SHRINKS = 100, PLAIN = 32 << 20 };
	if (file_pack(made->bytes.data, made->bytes.n, &made->packed, err))
		return -1;
	if (made->packed.n * SHRINKS < made->bytes.n && made->bytes.n > PLAIN)
		file_release(&made->packed);
	return 0;
}

int digest_make(const char *name, struct trace *trace, struct arena *arena, struct digest_made *made, struct err *err)
{
	*made = (struct digest_made){.left_out = digest_reduce(trace, arena)};
	made->rows = rows_of(trace);
	digest_encode(trace, &made->bytes);
	if (check(name, made, err) || pack(made, err))
		return -1;
	made->data = made->packed.n ? made->packed.data : (const unsigned char *)made->bytes.data;
	made->n = made->packed.n ? made->packed.n : made->bytes.n;
	return 0;
}

static uint32_t name_in(const struct trace *from, uint32_t name, const struct trace *to)
{
	return name ? names_add_text(to->names, names_text(from->names, name)) : 0;
}

/* Rows of a kind that is not in digests, and whose threads and frames are those of `from`. */
static void hold_rows(const struct trace *from, enum columns_of rows, struct arena *arena, struct trace *out)
{
	*columns_rows(out, rows) = 0;
	for (size_t c = 0; c < COLUMNS[rows].n; c++)
		columns_set(out, rows, &COLUMNS[rows].column[c], NULL);
	columns_append(out, from, rows, 0, arena);
}

/* What samples say, and who held Python's lock while others waited, with its stack. */
static void hold_samples(const struct trace *whole, struct arena *arena, struct trace *out)
{
	const struct trace_stacks *from = &whole->stacks;
	struct trace_stacks *to = &out->stacks;
	if (!from->n_frames)
		return;
	*to = *from;
	to->functions = ARENA_NEW(arena, from->n_functions, struct trace_function);
	for (uint32_t i = 0; i < from->n_functions; i++)
		to->functions[i] = (struct trace_function){.name = name_in(whole, from->functions[i].name, out),
		                                           .module = name_in(whole, from->functions[i].module, out),
		                                           .at = name_in(whole, from->functions[i].at, out),
		                                           .kind = from->functions[i].kind};
	to->frames = ARENA_NEW(arena, from->n_frames, struct trace_frame);
	memcpy(to->frames, from->frames, from->n_frames * sizeof *from->frames);
	hold_rows(whole, ROWS_OF_SAMPLES, arena, out);
	hold_rows(whole, ROWS_OF_GIL, arena, out);
	trace_order(out, arena);
}

bool digest_hold(struct trace *whole, struct arena *of_whole, struct names *names, struct arena *arena,
                 struct trace *out)
{
	BUF_LOCAL(bytes);
	struct err ignored;
	if (whole->n_metrics)
		return false;
	reduce_rows(whole, of_whole);
	digest_encode(whole, &bytes);
	bool good = keep_decode("", &bytes, names, arena, out, &ignored) == 0 && out->again->ops == whole->ops.n;
	if (good)
		hold_samples(whole, arena, out);
	return good;
}

void digest_release(struct digest_made *made)
{
	buf_release(&made->bytes);
	file_release(&made->packed);
	*made = (struct digest_made){0};
}
