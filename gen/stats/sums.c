/* Reports that group rows by name and summarise durations or sizes. */
#include "stats/reports.h"

#define SPAN_COLUMNS(count)                                                                                            \
	{"Time (%)", SHEET_TENTHS}, {"Total Time (ns)", SHEET_WHOLE}, {count, SHEET_WHOLE},                            \
		{"Avg (ns)", SHEET_TENTHS}, {"Med (ns)", SHEET_TENTHS}, {"Min (ns)", SHEET_WHOLE},                     \
		{"Max (ns)", SHEET_WHOLE},                                                                             \
	{                                                                                                              \
		"StdDev (ns)", SHEET_TENTHS                                                                            \
	}
enum { TOTAL = 1, SPAN_CELLS = 8 };

static const struct sheet_column kernel_columns[] = {SPAN_COLUMNS("Instances"), {"Name", SHEET_TEXT}};
static const struct sheet_column call_columns[] = {SPAN_COLUMNS("Num Calls"), {"Name", SHEET_TEXT}};
static const struct sheet_column memory_columns[] = {SPAN_COLUMNS("Count"), {"Operation", SHEET_TEXT}};
static const struct sheet_column range_columns[] = {SPAN_COLUMNS("Instances"), {"Range", SHEET_TEXT}};
static const struct sheet_column style_columns[] = {
	SPAN_COLUMNS("Instances"), {"Style", SHEET_TEXT}, {"Range", SHEET_TEXT}};

/* The first cells of a row. `all`: the sum of the totals of all rows. */
static void add_spans(struct sheet_cell *cell, const struct summary *s, double all)
{
	SHEET_CELLS(cell, sheet_number(all > 0 ? 100 * (double)s->total / all : 0), sheet_whole(s->total),
	            sheet_whole((int64_t)s->n), sheet_number(s->mean), sheet_number(s->median), sheet_whole(s->least),
	            sheet_whole(s->most), sheet_number(s->deviation));
}

/* One row a group; longest total first, equal ones by their texts. */
static void add_groups(struct sheet *out, const struct tally *tally, const struct tally_values *values,
                       void (*name)(const struct trace *, const uint32_t *key, struct sheet_cell *, struct arena *),
                       const struct trace *trace)
{
	double all = 0;
	struct summary *s = ARENA_NEW(tally->arena, tally->n, struct summary);
	for (uint32_t g = 0; g < tally->n; g++) {
		s[g] = tally_summary(values, g);
		all += (double)s[g].total;
	}
	for (uint32_t g = 0; g < tally->n; g++) {
		struct sheet_cell *cell = sheet_add(out);
		add_spans(cell, &s[g], all);
		name(trace, tally_key(tally, g), cell + SPAN_CELLS, out->arena);
	}
	sheet_sort(out, (const struct sheet_order[]){{TOTAL, true}, {out->n_columns - 1, false}, {SPAN_CELLS, false}},
	           3);
}

static void plain_name(const struct trace *trace, const uint32_t *key, struct sheet_cell *cell, struct arena *arena)
{
	(void)arena;
	*cell = sheet_text(names_text(trace->names, key[0]));
}

static void range_name(const struct trace *trace, const uint32_t *key, struct sheet_cell *cell, struct arena *arena)
{
	*cell = sheet_text(stats_range_name(trace, key[0], key[1], arena));
}

static void styled_name(const struct trace *trace, const uint32_t *key, struct sheet_cell *cell, struct arena *arena)
{
	*cell++ = sheet_text(stats_style((uint8_t)key[2]));
	*cell = sheet_text(stats_range_name(trace, key[0], key[1], arena));
}

/* Rows by name[i], TALLY_NO_GROUP for one that does not count. */
static void tally_names(const uint32_t *name, const int64_t *start, const int64_t *end, size_t n, struct arena *arena,
                        struct tally *tally, struct tally_values *values)
{
	uint32_t *group = ARENA_NEW(arena, n, uint32_t);
	tally_init(tally, 1, arena);
	for (size_t i = 0; i < n; i++)
		group[i] = name[i] == TALLY_NO_GROUP ? TALLY_NO_GROUP : tally_group(tally, &name[i]);
	tally_spans(tally, group, start, end, n, values);
}

static void sum_names(const struct trace *trace, const uint32_t *name, const int64_t *start, const int64_t *end,
                      size_t n, struct sheet *out)
{
	ARENA_LOCAL(arena);
	struct tally tally;
	struct tally_values values;
	tally_names(name, start, end, n, &arena, &tally, &values);
	add_groups(out, &tally, &values, plain_name, trace);
}

/* The `names` of the ops whose kind counts. */
static const uint32_t *names_of_ops(const struct trace_ops *ops, const uint32_t *names, bool (*counts)(uint8_t kind),
                                    struct arena *arena)
{
	uint32_t *name = ARENA_NEW(arena, ops->n, uint32_t);
	for (size_t i = 0; i < ops->n; i++)
		name[i] = counts(ops->kind[i]) ? names[i] : TALLY_NO_GROUP;
	return name;
}

/* ---- kernels ---- */

/* The names of kernels that were asked for, as far as they were read. */
static const uint32_t *kernel_names(const struct trace_ops *ops, enum stats_names names)
{
	const uint32_t *column = names == STATS_BASE_NAMES      ? ops->base_name
	                         : names == STATS_MANGLED_NAMES ? ops->mangled_name
	                                                        : ops->name;
	return column ? column : ops->name;
}

void stats_kernel_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	STATS_COLUMNS(out, kernel_columns);
	const struct trace_ops *ops = &trace->ops;
	ARENA_LOCAL(arena);
	const uint32_t *name = names_of_ops(ops, kernel_names(ops, request->names), stats_is_kernel, &arena);
	sum_names(trace, name, ops->start, ops->end, ops->n, out);
}

/* ---- copies and memsets ---- */

static bool is_memory(uint8_t kind)
{
	return kind == OP_COPY || kind == OP_MEMSET;
}

void stats_memory_time_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	(void)request;
	STATS_COLUMNS(out, memory_columns);
	const struct trace_ops *ops = &trace->ops;
	ARENA_LOCAL(arena);
	sum_names(trace, names_of_ops(ops, ops->name, is_memory, &arena), ops->start, ops->end, ops->n, out);
}

void stats_memory_size_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	static const struct sheet_column columns[] = {
		{"Total (MB)", SHEET_THOUSANDTHS},  {"Count", SHEET_WHOLE},          {"Avg (MB)", SHEET_THOUSANDTHS},
		{"Med (MB)", SHEET_THOUSANDTHS},    {"Min (MB)", SHEET_THOUSANDTHS}, {"Max (MB)", SHEET_THOUSANDTHS},
		{"StdDev (MB)", SHEET_THOUSANDTHS}, {"Operation", SHEET_TEXT},
	};
	(void)request;
	STATS_COLUMNS(out, columns);
	ARENA_LOCAL(arena);
	struct tally tally;
	struct tally_values values;
	const struct trace_ops *ops = &trace->ops;
	tally_names(names_of_ops(ops, ops->name, is_memory, &arena), NULL, ops->bytes, ops->n, &arena, &tally, &values);
	for (uint32_t g = 0; g < tally.n; g++) {
		struct summary s = tally_summary(&values, g);
		struct sheet_cell *cell = sheet_add(out);
		SHEET_CELLS(cell, sheet_number((double)s.total / 1e6), sheet_whole((int64_t)s.n),
		            sheet_number(s.mean / 1e6), sheet_number(s.median / 1e6),
		            sheet_number((double)s.least / 1e6), sheet_number((double)s.most / 1e6),
		            sheet_number(s.deviation / 1e6));
		plain_name(trace, tally_key(&tally, g), cell + 7, out->arena);
	}
	sheet_sort(out, (const struct sheet_order[]){{0, true}, {7, false}}, 2);
}

/* ---- calls ---- */

void stats_api_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	(void)request;
	STATS_COLUMNS(out, call_columns);
	const struct trace_calls *calls = &trace->calls;
	ARENA_LOCAL(arena);
	uint32_t *short_name = stats_call_names(trace, &arena), *name = ARENA_NEW(&arena, calls->n, uint32_t);
	for (size_t i = 0; i < calls->n; i++)
		name[i] = short_name[stats_call_name(calls, i)];
	sum_names(trace, name, calls->start, calls->end, calls->n, out);
}

void stats_os_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	(void)request;
	STATS_COLUMNS(out, call_columns);
	const struct trace_os_calls *calls = &trace->os_calls;
	ARENA_LOCAL(arena);
	uint32_t *name = ARENA_NEW(&arena, calls->n, uint32_t);
	for (size_t i = 0; i < calls->n; i++)
		name[i] = calls->class[i] == OS_PEER ? TALLY_NO_GROUP : calls->name[i];
	sum_names(trace, name, calls->start, calls->end, calls->n, out);
}

/* ---- ranges ---- */

void stats_range_sum(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	const unsigned kinds = request->report->ranges;
	const struct trace_ranges *r = &trace->ranges;
	bool styled = kinds == STATS_RANGES;
	if (styled)
		STATS_COLUMNS(out, style_columns);
	else
		STATS_COLUMNS(out, range_columns);
	ARENA_LOCAL(arena);
	struct tally tally;
	struct tally_values values;
	uint32_t *group = ARENA_NEW(&arena, r->n, uint32_t);
	int64_t *end = ARENA_NEW(&arena, r->n, int64_t);
	tally_init(&tally, 3, &arena);
	for (size_t i = 0; i < r->n; i++) {
		const uint32_t key[] = {r->domain[i], r->name[i], r->kind[i]};
		group[i] = kinds & 1u << r->kind[i] ? tally_group(&tally, key) : TALLY_NO_GROUP;
		end[i] = stats_range_end(r, i);
	}
	tally_spans(&tally, group, r->start, end, r->n, &values);
	add_groups(out, &tally, &values, styled ? styled_name : range_name, trace);
}
