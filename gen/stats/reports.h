/* Rows in groups: which group a row belongs to, and what the values of a group come to. Memory comes from the arena
 * given; a table's work is released with it.
 *
 *	struct tally tally;
 *	tally_init(&tally, 2, arena);
 *	for each row i:
 *		group[i] = tally_group(&tally, (uint32_t[]){thread, name});
 *	struct tally_values values;
 *	tally_spans(&tally, group, start, end, n, &values);
 *	struct summary s = tally_summary(&values, g);
 */
#ifndef GAPLINE_STATS_REPORTS_H
#define GAPLINE_STATS_REPORTS_H

#include "base/keymap.h"
#include "stats/stats.h"

#include <stddef.h>
#include <stdint.h>

enum { TALLY_NO_GROUP = UINT32_MAX };

enum { TALLY_WIDEST = 4 };

struct tally {
	struct arena *arena;
	uint32_t width; /* numbers a key has */
	uint32_t *keys; /* of group g: keys[g * width] … */
	uint32_t n, room;
	struct keymap
		begun[TALLY_WIDEST]; /* by place in a key: the numbers up to there, of the last place the groups */
};

void tally_init(struct tally *tally, uint32_t width, struct arena *arena);

/* The group of a key, a new one if it has none; groups are numbered in order of appearance. */
uint32_t tally_group(struct tally *tally, const uint32_t *key);

static inline const uint32_t *tally_key(const struct tally *tally, uint32_t group)
{
	return tally->keys + (size_t)group * tally->width;
}

/* The values of all groups, those of group g at values[first[g]] … values[first[g + 1] - 1]. */
struct tally_values {
	int64_t *values;
	size_t *first;
};

/* Values end - start of n rows; those of group TALLY_NO_GROUP are left out. `start` NULL: zeros. */
void tally_spans(const struct tally *tally, const uint32_t *group, const int64_t *start, const int64_t *end, size_t n,
                 struct tally_values *out);

/* What a group's values come to. A sum beyond int64 stays at its limit. */
struct summary {
	size_t n;
	int64_t total, least, most;
	double mean;
	double median;    /* the middle value, or the mean of the two middle values */
	double deviation; /* of a sample: the sum of squares is divided by n - 1; 0 for a single value */
};

/* All zero for n = 0. */
struct summary summary_of(const int64_t *values, size_t n);

static inline struct summary tally_summary(const struct tally_values *values, uint32_t group)
{
	return summary_of(values->values + values->first[group], values->first[group + 1] - values->first[group]);
}

/* The functions behind stats_reports, by file; inside gen/stats only. Each sets the columns of the sheet that it gets
 * (whose arena, name and title are set), adds its rows, sorts and cuts them. */

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
