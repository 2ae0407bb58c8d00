/* The functions behind stats_reports, by file; inside gen/stats only. Each sets the columns of the sheet that it gets
 * (whose arena, name and title are set), adds its rows, sorts and cuts them. */
#ifndef GAPLINE_STATS_REPORTS_H
#define GAPLINE_STATS_REPORTS_H

#include "stats/stats.h"

#define STATS_COLUMNS(sheet, list) ((sheet)->columns = (list), (sheet)->n_columns = sizeof(list) / sizeof *(list))

/* ---- sums.c: rows by name ---- */
void stats_kernel_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_api_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_memory_time_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_memory_size_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_os_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_range_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);

/* ---- launches.c ---- */
void stats_launch_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);

/* ---- projection.c ---- */
void stats_projection_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out);

/* ---- devices.c: how busy GPUs were ---- */
void stats_gaps(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_utilization(const struct trace *trace, const struct stats_request *request, struct sheet *out);

/* ---- calls.c: calls that wait, and what they did ---- */
void stats_syncs(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_async_copies(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_blocking_copies(const struct trace *trace, const struct stats_request *request, struct sheet *out);
void stats_blocking_memsets(const struct trace *trace, const struct stats_request *request, struct sheet *out);

/* ---- shared (stats.c) ---- */

/* By name id: the name of a CUDA call without the version that CUPTI appends, when that has four digits; nsys leaves
 * longer ones: cudaLaunchKernelExC_v11060. 0 where `calls` has no such name. */
uint32_t *stats_call_names(const struct trace *trace, struct arena *arena);

/* "domain:range", as nsys writes it; the default domain is empty. */
const char *stats_range_name(const struct trace *trace, uint32_t domain, uint32_t name, struct arena *arena);

const char *stats_style(uint8_t range_kind);

/* Sets the sheet's note when graph launches traced whole are left out. */
void stats_note_graphs(const struct trace *trace, const struct stats_request *request, struct sheet *out);

/* An id of a column that only some profiles have; `none`: the one that stands for none. */
static inline struct sheet_cell stats_id(const uint32_t *ids, size_t i, uint32_t none)
{
	return ids && ids[i] != none ? sheet_whole(ids[i]) : sheet_none();
}

/* The end of a range. One that was still open when the capture stopped ends, for nsys, when NVTX was last heard of. */
static inline int64_t stats_range_end(const struct trace_ranges *ranges, size_t i)
{
	return ranges->clipped[i] && ranges->last_time >= ranges->start[i] ? ranges->last_time : ranges->end[i];
}

static inline bool stats_is_kernel(uint8_t op_kind)
{
	return op_kind == OP_KERNEL || op_kind == OP_COMM;
}

/* The name of a call as the profile has it. */
static inline uint32_t stats_call_name(const struct trace_calls *calls, size_t i)
{
	return calls->full_name ? calls->full_name[i] : calls->name[i];
}

#endif
