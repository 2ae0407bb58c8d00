/* cuda_kern_exec_sum: what launching a kernel took, how long it waited, how long it ran. */
#include "stats/reports.h"
#include "stats/tally.h"

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
	*cell++ = none ? sheet_none() : sheet_number(s->mean);
	*cell++ = none ? sheet_none() : sheet_number(s->median);
	*cell++ = none ? sheet_none() : sheet_whole(s->least);
	*cell++ = none ? sheet_none() : sheet_whole(s->most);
	*cell++ = sheet_number(s->deviation);
	return cell;
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
	struct arena arena = {0};
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
		row[PID] = sheet_whole(trace->processes[thread->process].pid);
		row[TID] = sheet_whole(thread->tid);
		row[DEVICE] = sheet_whole(key[KEY_DEVICE]);
		row[COUNT] = sheet_whole((int64_t)s[TOTAL].n);
		row[QUEUE_COUNT] = sheet_whole((int64_t)s[QUEUE].n);
		for (enum part part = TOTAL; part < PARTS; part++)
			cell = add_five(cell, &s[part]);
		row[API_NAME] = sheet_text(names_text(trace->names, key[KEY_API]));
		row[KERNEL_NAME] = sheet_text(names_text(trace->names, key[KEY_KERNEL]));
	}
	const struct sheet_order by[] = {{TOTAL_MEAN, true}, {KERNEL_NAME, false}, {API_NAME, false},
	                                 {PID, false},       {TID, false},         {DEVICE, false}};
	sheet_sort(out, by, sizeof by / sizeof *by);
	arena_release(&arena);
}
