/* Rules of `nsys analyze` about how busy GPUs were. A device is a (process, device) pair; from its first op to its last
 * it could have been busy. */
#include "base/search.h"
#include "base/sort.h"
#include "stats/reports.h"

#include <string.h>

/* ---- what keeps a device busy ---- */

/* Ops without a timestamp are none, and graph launches traced whole are none for nsys, which knows only their nodes. */
static bool counts(const struct trace_ops *ops, size_t i, const struct stats_request *request)
{
	return ops->start[i] > 0 && (ops->kind[i] != OP_GRAPH || request->graphs);
}

struct interval {
	int64_t start, end;
};

/* The times in which the profiler, by its own account, held a process up: by process, then start. */
struct overhead {
	uint32_t process;
	struct interval at;
};

struct overheads {
	struct overhead *item;
	size_t n;
};

SORT_ORDER(compare_overheads, struct overhead,
           ASCENDING(x->process, y->process) ?: ASCENDING(x->at.start, y->at.start)
                   ?: ASCENDING(x->at.end, y->at.end))

static struct overheads overheads_of(const struct trace *trace, struct arena *arena)
{
	static const char *const names[] = {"CUDA profiling data flush overhead", "CUDA profiling stop overhead",
	                                    "CUDA profiling overhead"};
	const struct trace_overheads *v = &trace->overheads;
	struct overheads list = {ARENA_NEW(arena, v->n, struct overhead), 0};
	for (size_t i = 0; i < v->n; i++) {
		bool counted = false;
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			counted = counted || strcmp(names_text(trace->names, v->name[i]), names[k]) == 0;
		if (counted)
			list.item[list.n++] =
				(struct overhead){trace->threads[v->thread[i]].process, {v->start[i], v->end[i]}};
	}
	SORT(list.item, list.n, compare_overheads);
	return list;
}

/* The first overhead of a process or a later one. */
static size_t overhead_first(const struct overheads *list, uint32_t process)
{
	size_t i = 0;
	SEARCH(i, list->n, list->item[i].process < process);
	return i;
}

/* From the first to the last of a device's ops; false when it has none. */
static bool span_of(const struct trace *trace, const struct trace_device *device, const struct stats_request *request,
                    struct interval *span)
{
	const struct trace_ops *ops = &trace->ops;
	bool any = false;
	for (size_t i = device->first_op; i < (size_t)device->first_op + device->n_ops; i++) {
		if (!counts(ops, i, request))
			continue;
		span->start = any ? span->start : ops->start[i];
		span->end = any && span->end > ops->end[i] ? span->end : ops->end[i];
		any = true;
	}
	return any;
}

/* Numbers the rows after sorting, and cuts them to as many as asked for. */
static void number_rows(struct sheet *out, const struct stats_request *request)
{
	if (request->rows >= 0 && (uint64_t)request->rows < out->n_rows)
		out->n_rows = (size_t)request->rows;
	for (size_t i = 0; i < out->n_rows; i++)
		out->cells[i * out->n_columns] = sheet_whole((int64_t)i + 1);
}

/* ---- gpu_gaps ---- */

static void add_gap(const struct trace *trace, const struct trace_device *device, int64_t start, int64_t end,
                    size_t last_op, struct sheet *out)
{
	struct sheet_cell *cell = sheet_add(out) + 1;
	SHEET_CELLS(cell, sheet_whole(end - start), sheet_whole(start),
	            sheet_whole(trace->processes[device->process].pid), sheet_whole(device->ordinal),
	            stats_id(trace->ops.context, last_op, TRACE_NONE));
}

/* One sweep over ops and overheads in order of their starts. */
static void add_gaps(const struct trace *trace, const struct trace_device *device, const struct stats_request *request,
                     const struct overheads *overheads, struct sheet *out)
{
	const struct trace_ops *ops = &trace->ops;
	struct interval span;
	if (!span_of(trace, device, request, &span))
		return;
	size_t op = device->first_op, ops_end = op + device->n_ops, last_op = op;
	size_t overhead = overhead_first(overheads, device->process);
	size_t overheads_end = overhead_first(overheads, device->process + 1);
	int64_t busy_until = span.start;
	while (op < ops_end || overhead < overheads_end) {
		const struct interval *other = overhead < overheads_end ? &overheads->item[overhead].at : NULL;
		bool is_op = op < ops_end && (!other || ops->start[op] <= other->start);
		if (is_op && !counts(ops, op, request)) {
			op++;
			continue;
		}
		int64_t start = is_op ? ops->start[op] : other->start;
		int64_t end = is_op ? ops->end[op] : other->end;
		start = start < span.end ? start : span.end;
		if (start > busy_until && start - busy_until > request->gap)
			add_gap(trace, device, busy_until, start, last_op, out);
		if (is_op)
			last_op = end > busy_until ? op : last_op;
		busy_until = end > busy_until ? end : busy_until;
		op += is_op;
		overhead += !is_op;
	}
}

void stats_gaps(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	static const struct sheet_column columns[] = {
		{"Row#", SHEET_WHOLE}, {"Duration (ns)", SHEET_WHOLE}, {"Start (ns)", SHEET_WHOLE},
		{"PID", SHEET_WHOLE},  {"Device ID", SHEET_WHOLE},     {"Context ID", SHEET_WHOLE},
	};
	STATS_COLUMNS(out, columns);
	stats_note_graphs(trace, request, out);
	ARENA_LOCAL(arena);
	struct overheads overheads = overheads_of(trace, &arena);
	for (uint32_t d = 0; d < trace->n_devices; d++)
		add_gaps(trace, &trace->devices[d], request, &overheads, out);
	sheet_sort(out, (const struct sheet_order[]){{1, true}, {2, false}}, 2);
	number_rows(out, request);
}

/* ---- gpu_time_util ---- */

/* How long each chunk of a device's span is in use: the sum over its ops, so ops side by side count twice. */
static double *chunk_uses(const struct trace *trace, const struct trace_device *device,
                          const struct stats_request *request, struct interval span, int64_t size, struct arena *arena)
{
	const struct trace_ops *ops = &trace->ops;
	double *use = ARENA_NEW(arena, (size_t)request->chunks + 1, double);
	int64_t *whole = ARENA_NEW(arena, (size_t)request->chunks + 1, int64_t); /* differences of ops all over it */
	for (size_t i = device->first_op; i < (size_t)device->first_op + device->n_ops; i++) {
		if (!counts(ops, i, request) || ops->start[i] == ops->end[i])
			continue;
		int64_t first = (ops->start[i] - span.start) / size, last = (ops->end[i] - 1 - span.start) / size;
		if (first == last) {
			use[first] += (double)(ops->end[i] - ops->start[i]);
			continue;
		}
		use[first] += (double)(span.start + (first + 1) * size - ops->start[i]);
		use[last] += (double)(ops->end[i] - (span.start + last * size));
		whole[first + 1]++;
		whole[last]--;
	}
	int64_t running = 0;
	for (int64_t c = 0; c < request->chunks; c++) {
		running += whole[c];
		use[c] += (double)running * (double)size;
	}
	return use;
}

static void add_uses(const struct trace *trace, const struct trace_device *device, const struct stats_request *request,
                     struct arena *arena, struct sheet *out)
{
	struct interval span = {0};
	if (!span_of(trace, device, request, &span) || span.end == span.start)
		return;
	int64_t length = span.end - span.start, size = (length + request->chunks - 1) / request->chunks;
	const double *use = chunk_uses(trace, device, request, span, size, arena);
	int64_t begin = -1; /* where the chunks in a row that are below the threshold begin */
	double sum = 0;
	for (int64_t c = 0, start = span.start;; c++, start += size) {
		int64_t end = start + size < span.end ? start + size : span.end;
		bool low = start < span.end && 100 * use[c] < request->threshold * (double)(end - start);
		if (low) {
			sum = begin < 0 ? use[c] : sum + use[c];
			begin = begin < 0 ? start : begin;
			continue;
		}
		if (begin >= 0) {
			int64_t until = start < span.end ? start : span.end;
			struct sheet_cell *cell = sheet_add(out) + 1;
			SHEET_CELLS(cell, sheet_number(100 * sum / (double)(until - begin)), sheet_whole(until - begin),
			            sheet_whole(begin), sheet_whole(trace->processes[device->process].pid),
			            sheet_whole(device->ordinal),
			            stats_id(trace->ops.context, device->first_op, TRACE_NONE));
		}
		begin = -1;
		if (start >= span.end)
			return;
	}
}

void stats_utilization(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	static const struct sheet_column columns[] = {
		{"Row#", SHEET_WHOLE},       {"In-Use (%)", SHEET_TENTHS}, {"Duration (ns)", SHEET_WHOLE},
		{"Start (ns)", SHEET_WHOLE}, {"PID", SHEET_WHOLE},         {"Device ID", SHEET_WHOLE},
		{"Context ID", SHEET_WHOLE},
	};
	STATS_COLUMNS(out, columns);
	stats_note_graphs(trace, request, out);
	ARENA_LOCAL(arena);
	for (uint32_t d = 0; d < trace->n_devices; d++)
		add_uses(trace, &trace->devices[d], request, &arena, out);
	sheet_sort(out, (const struct sheet_order[]){{1, false}, {2, true}, {3, false}}, 3);
	number_rows(out, request);
}
