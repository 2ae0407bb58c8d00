/* Rules of `nsys analyze` that list calls which make the host wait, longest first. */
#include "base/list.h"
#include "stats/reports.h"

#include <stdlib.h>
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
	LIST_GROW(list->arena, list->item, list->n, list->room);
	list->item[list->n++] = (struct listed){end - start, start, (uint32_t)row};
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	if (x->duration != y->duration)
		return x->duration > y->duration ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Longest first, equal ones by their start; at most as many as asked for. */
static void list_cut(struct list *list, const struct stats_request *request)
{
	if (list->n)
		qsort(list->item, list->n, sizeof *list->item, compare_listed);
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
	struct arena arena = {0};
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
		*cell++ = sheet_whole(item->duration);
		*cell++ = sheet_whole(item->start);
		*cell++ = sheet_whole(trace->processes[thread->process].pid);
		*cell++ = sheet_whole(thread->tid);
		*cell = sheet_text(names_text(trace->names, stats_call_name(calls, item->row)));
	}
	arena_release(&arena);
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

/* `none`: the id that stands for none. */
static struct sheet_cell id_cell(const uint32_t *ids, size_t i, uint32_t none)
{
	return ids && ids[i] != none ? sheet_whole(ids[i]) : sheet_none();
}

static void list_ops(const struct trace *trace, const struct stats_request *request, bool (*call)(const char *),
                     bool (*op)(const struct trace_ops *, size_t), struct sheet *out)
{
	const struct trace_ops *ops = &trace->ops;
	struct arena arena = {0};
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
		*cell++ = memory_text(ops->to, i);
		*cell++ = sheet_number((double)ops->bytes[i] / 1e6);
		*cell++ = sheet_whole(trace->processes[device->process].pid);
		*cell++ = sheet_whole(device->ordinal);
		*cell++ = id_cell(ops->context, i, TRACE_NONE);
		*cell++ = id_cell(ops->green, i, 0);
		*cell++ = sheet_whole(ops->stream[i]);
		*cell = sheet_text(names_text(trace->names, stats_call_name(&trace->calls, ops->launch[i])));
	}
	arena_release(&arena);
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
