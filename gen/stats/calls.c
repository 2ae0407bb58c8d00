/* Rules of `nsys analyze` that list calls which make the host wait, longest first. */
#include "base/sort.h"
#include "stats/reports.h"

#include "base/list.h"

#include <string.h>
#include <strings.h>

/* ---- what is listed: rows of a table that match, the longest of them ---- */

struct listed {
	int64_t duration, start;
	uint32_t row;
};

struct list {
	struct listed *item;
	size_t n, room;
	struct arena *arena;
};

static void list_add(struct list *list, int64_t start, int64_t end, size_t row)
{
	LIST_ADD(list->arena, list->item, list->n, list->room, (struct listed){end - start, start, (uint32_t)row});
}

SORT_ORDER(compare_listed, struct listed,
           DESCENDING(x->duration, y->duration) ?: ASCENDING(x->start, y->start) ?: ASCENDING(x->row, y->row))

/* Longest first, equal ones by their start; at most as many as asked for. */
static void list_cut(struct list *list, const struct stats_request *request)
{
	SORT(list->item, list->n, compare_listed);
	if (request->rows >= 0 && (uint64_t)request->rows < list->n)
		list->n = (size_t)request->rows;
}

/* By name id: whether the call's name is one that a rule is about. Told once a name. */
static uint8_t *match_calls(const struct trace *trace, bool (*match)(const char *name), struct arena *arena)
{
	enum { NEW, NO, YES };
	const struct trace_calls *calls = &trace->calls;
	uint8_t *matches = ARENA_NEW(arena, trace->names->n, uint8_t);
	for (size_t i = 0; i < calls->n; i++) {
		uint32_t name = stats_call_name(calls, i);
		if (matches[name] == NEW)
			matches[name] = match(names_text(trace->names, name)) ? YES : NO;
	}
	for (uint32_t name = 0; name < trace->names->n; name++)
		matches[name] = matches[name] == YES;
	return matches;
}

static bool begins(const char *name, const char *prefix)
{
	return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

/* ---- synchronisation ---- */

static bool is_sync(const char *name)
{
	return begins(name, "cudaDeviceSynchronize") || begins(name, "cudaStreamSynchronize");
}

void stats_syncs(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	static const struct sheet_column columns[] = {
		{"Duration (ns)", SHEET_WHOLE}, {"Start (ns)", SHEET_WHOLE}, {"PID", SHEET_WHOLE},
		{"TID", SHEET_WHOLE},           {"API Name", SHEET_TEXT},
	};
	STATS_COLUMNS(out, columns);
	const struct trace_calls *calls = &trace->calls;
	ARENA_LOCAL(arena);
	struct list list = {.arena = &arena};
	const uint8_t *matches = match_calls(trace, is_sync, &arena);
	for (size_t i = 0; i < calls->n; i++)
		if (matches[stats_call_name(calls, i)])
			list_add(&list, calls->start[i], calls->end[i], i);
	list_cut(&list, request);
	for (size_t i = 0; i < list.n; i++) {
		const struct listed *item = &list.item[i];
		const struct trace_thread *thread = &trace->threads[calls->thread[item->row]];
		struct sheet_cell *cell = sheet_add(out);
		SHEET_CELLS(cell, sheet_whole(item->duration), sheet_whole(item->start),
		            sheet_whole(trace->processes[thread->process].pid), sheet_whole(thread->tid),
		            sheet_text(names_text(trace->names, stats_call_name(calls, item->row))));
	}
}

/* ---- copies and memsets ---- */

static bool is_async_copy(const char *name)
{
	return begins(name, "cudaMemcpy") && strcasestr(name, "Async");
}

static bool is_blocking_copy(const char *name)
{
	return begins(name, "cudaMemcpy") && !strcasestr(name, "Async");
}

static bool is_blocking_memset(const char *name)
{
	return begins(name, "cudaMemset") && !strcasestr(name, "Async");
}

/* Which ops, launched by a call whose name matches, a rule lists. */
static bool is_pageable(const struct trace_ops *ops, size_t i)
{
	if (ops->kind[i] != OP_COPY)
		return false;
	return ops->from ? ops->from[i] == MEMORY_PAGEABLE || ops->to[i] == MEMORY_PAGEABLE
	                 : ops->flags[i] & OPF_PAGEABLE;
}

/* Copies within a device, and small ones to it, return before they are done (CUDA runtime API, "API synchronization
 * behavior"). */
static bool is_waited_for(const struct trace_ops *ops, size_t i)
{
	const int64_t small = 64 << 10;
	return ops->kind[i] == OP_COPY && ops->copy[i] != COPY_D2D &&
	       !(ops->copy[i] == COPY_H2D && ops->bytes[i] <= small);
}

/* A memset of host memory is waited for. */
static bool is_host_memset(const struct trace_ops *ops, size_t i)
{
	return ops->kind[i] == OP_MEMSET && ops->to && (ops->to[i] == MEMORY_PINNED || ops->to[i] == MEMORY_MANAGED);
}

static struct sheet_cell memory_text(const uint8_t *kinds, size_t i)
{
	static const char *const words[] = {"Pageable", "Pinned",        "Device",         "Array",
	                                    "Managed",  "Device Static", "Managed Static", "Unknown"};
	return kinds && kinds[i] <= MEMORY_UNKNOWN ? sheet_text(words[kinds[i]]) : sheet_none();
}

static void list_ops(const struct trace *trace, const struct stats_request *request, bool (*call)(const char *),
                     bool (*op)(const struct trace_ops *, size_t), struct sheet *out)
{
	const struct trace_ops *ops = &trace->ops;
	ARENA_LOCAL(arena);
	struct list list = {.arena = &arena};
	const uint8_t *matches = match_calls(trace, call, &arena);
	for (size_t i = 0; i < ops->n; i++)
		if (ops->launch[i] != TRACE_NONE && matches[stats_call_name(&trace->calls, ops->launch[i])] &&
		    op(ops, i))
			list_add(&list, ops->start[i], ops->end[i], i);
	list_cut(&list, request);
	for (size_t n = 0; n < list.n; n++) {
		uint32_t i = list.item[n].row;
		const struct trace_device *device = &trace->devices[ops->device[i]];
		struct sheet_cell *cell = sheet_add(out);
		*cell++ = sheet_whole(list.item[n].duration);
		*cell++ = sheet_whole(list.item[n].start);
		if (ops->kind[i] == OP_COPY)
			*cell++ = memory_text(ops->from, i);
		SHEET_CELLS(cell, memory_text(ops->to, i), sheet_number((double)ops->bytes[i] / 1e6),
		            sheet_whole(trace->processes[device->process].pid), sheet_whole(device->ordinal),
		            stats_id(ops->context, i, TRACE_NONE), stats_id(ops->green, i, 0),
		            sheet_whole(ops->stream[i]),
		            sheet_text(names_text(trace->names, stats_call_name(&trace->calls, ops->launch[i]))));
	}
}

#define WHERE_COLUMNS                                                                                                  \
	{"Bytes (MB)", SHEET_THOUSANDTHS}, {"PID", SHEET_WHOLE}, {"Device ID", SHEET_WHOLE},                           \
		{"Context ID", SHEET_WHOLE}, {"Green Context ID", SHEET_WHOLE}, {"Stream ID", SHEET_WHOLE},            \
	{                                                                                                              \
		"API Name", SHEET_TEXT                                                                                 \
	}

static const struct sheet_column copy_columns[] = {
	{"Duration (ns)", SHEET_WHOLE},
	{"Start (ns)", SHEET_WHOLE},
	{"Src Kind", SHEET_TEXT},
	{"Dst Kind", SHEET_TEXT},
	WHERE_COLUMNS,
};
static const struct sheet_column memset_columns[] = {
	{"Duration (ns)", SHEET_WHOLE},
	{"Start (ns)", SHEET_WHOLE},
	{"Memory Kind", SHEET_TEXT},
	WHERE_COLUMNS,
};

void stats_async_copies(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	STATS_COLUMNS(out, copy_columns);
	list_ops(trace, request, is_async_copy, is_pageable, out);
}

void stats_blocking_copies(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	STATS_COLUMNS(out, copy_columns);
	list_ops(trace, request, is_blocking_copy, is_waited_for, out);
}

void stats_blocking_memsets(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	STATS_COLUMNS(out, memset_columns);
	list_ops(trace, request, is_blocking_memset, is_host_memset, out);
}

/* cuda_kern_exec_sum: what launching a kernel took, how long it waited, how long it ran. */

#define FIVE(letter)                                                                                                   \
	{letter "Avg (ns)", SHEET_TENTHS}, {letter "Med (ns)", SHEET_TENTHS}, {letter "Min (ns)", SHEET_WHOLE},        \
		{letter "Max (ns)", SHEET_WHOLE},                                                                      \
	{                                                                                                              \
		letter "StdDev (ns)", SHEET_TENTHS                                                                     \
	}

static const struct sheet_column columns[] = {
	{"PID", SHEET_WHOLE},
	{"TID", SHEET_WHOLE},
	{"DevId", SHEET_WHOLE},
	{"Count", SHEET_WHOLE},
	{"QCount", SHEET_WHOLE},
	FIVE("T"), /* total: from the call's beginning to the end of call or kernel, whichever is last */
	FIVE("A"), /* the call */
	FIVE("Q"), /* queue: from the call's end to the kernel's start, where the kernel did not start before */
	FIVE("K"), /* the kernel */
	{"API Name", SHEET_TEXT},
	{"Kernel Name", SHEET_TEXT},
};
enum { PID, TID, DEVICE, COUNT, QUEUE_COUNT, TOTAL_MEAN, API_NAME = TOTAL_MEAN + 20, KERNEL_NAME };
enum { KEY_THREAD, KEY_DEVICE, KEY_API, KEY_KERNEL, KEY_N };

static struct sheet_cell *add_five(struct sheet_cell *cell, const struct summary *s)
{
	bool none = s->n == 0; /* nsys leaves these fields empty, but for the deviation, which it calls 0 */
	SHEET_CELLS(cell, none ? sheet_none() : sheet_number(s->mean), none ? sheet_none() : sheet_number(s->median),
	            none ? sheet_none() : sheet_whole(s->least), none ? sheet_none() : sheet_whole(s->most),
	            sheet_number(s->deviation));
	return cell + 5;
}

/* Which stretch of a launched kernel is measured. */
enum part { TOTAL, CALL, QUEUE, KERNEL, PARTS };

struct launches {
	const struct trace *trace;
	uint32_t *group; /* by op */
	int64_t *start, *end;
};

/* Fills start and end with one part of every launched kernel. Kernels that did not queue have group NO_GROUP in
 * `group`, which is otherwise a copy of l->group. */
static void measure(struct launches *l, enum part part, uint32_t *group)
{
	const struct trace_ops *ops = &l->trace->ops;
	const struct trace_calls *calls = &l->trace->calls;
	for (size_t i = 0; i < ops->n; i++) {
		group[i] = l->group[i];
		if (group[i] == TALLY_NO_GROUP)
			continue;
		int64_t begin = calls->start[ops->launch[i]], launched = calls->end[ops->launch[i]];
		switch (part) {
		case TOTAL:
			l->start[i] = begin;
			l->end[i] = ops->end[i] > launched ? ops->end[i] : launched;
			break;
		case CALL:
			l->start[i] = begin;
			l->end[i] = launched;
			break;
		case QUEUE:
			l->start[i] = launched;
			l->end[i] = ops->start[i];
			if (ops->start[i] <= launched)
				group[i] = TALLY_NO_GROUP;
			break;
		default:
			l->start[i] = ops->start[i];
			l->end[i] = ops->end[i];
		}
	}
}

void stats_launch_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	(void)request;
	STATS_COLUMNS(out, columns);
	const struct trace_ops *ops = &trace->ops;
	const struct trace_calls *calls = &trace->calls;
	ARENA_LOCAL(arena);
	struct tally tally;
	struct launches l = {trace, ARENA_NEW(&arena, ops->n, uint32_t), ARENA_NEW(&arena, ops->n, int64_t),
	                     ARENA_NEW(&arena, ops->n, int64_t)};
	uint32_t *short_name = stats_call_names(trace, &arena), *group = ARENA_NEW(&arena, ops->n, uint32_t);
	tally_init(&tally, KEY_N, &arena);
	for (size_t i = 0; i < ops->n; i++) {
		uint32_t call = ops->launch[i];
		l.group[i] = TALLY_NO_GROUP;
		if (!stats_is_kernel(ops->kind[i]) || call == TRACE_NONE)
			continue;
		const uint32_t key[KEY_N] = {calls->thread[call], trace->devices[ops->device[i]].ordinal,
		                             short_name[stats_call_name(calls, call)], ops->name[i]};
		l.group[i] = tally_group(&tally, key);
	}
	struct tally_values values[PARTS];
	for (enum part part = TOTAL; part < PARTS; part++) {
		measure(&l, part, group);
		tally_spans(&tally, group, l.start, l.end, ops->n, &values[part]);
	}
	for (uint32_t g = 0; g < tally.n; g++) {
		const uint32_t *key = tally_key(&tally, g);
		const struct trace_thread *thread = &trace->threads[key[KEY_THREAD]];
		struct sheet_cell *row = sheet_add(out), *cell = row + TOTAL_MEAN;
		struct summary s[PARTS];
		for (enum part part = TOTAL; part < PARTS; part++)
			s[part] = tally_summary(&values[part], g);
		SHEET_CELLS(row, sheet_whole(trace->processes[thread->process].pid), sheet_whole(thread->tid),
		            sheet_whole(key[KEY_DEVICE]), sheet_whole((int64_t)s[TOTAL].n),
		            sheet_whole((int64_t)s[QUEUE].n));
		for (enum part part = TOTAL; part < PARTS; part++)
			cell = add_five(cell, &s[part]);
		SHEET_CELLS(row + API_NAME, sheet_text(names_text(trace->names, key[KEY_API])),
		            sheet_text(names_text(trace->names, key[KEY_KERNEL])));
	}
	const struct sheet_order by[] = {{TOTAL_MEAN, true}, {KERNEL_NAME, false}, {API_NAME, false},
	                                 {PID, false},       {TID, false},         {DEVICE, false}};
	sheet_sort(out, by, sizeof by / sizeof *by);
}
