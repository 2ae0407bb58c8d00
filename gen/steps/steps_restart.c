#include "steps/steps_build.h"

#include "base/sort.h"

/* A process on a GPU, or of a rank. */
struct stay {
	uint32_t key; /* the GPU, or the number of GPUs + the rank */
	uint32_t process;
	int64_t begin, end; /* of its instances, on the host and on GPUs */
	uint32_t start;     /* which of the starts there it is, from 0 */
	uint32_t n_starts;
};

SORT_ORDER(compare_stays, struct stay,
           ASCENDING(x->key, y->key) ?: ASCENDING(x->begin, y->begin) ?: ASCENDING(x->process, y->process))

/* When the instances of each process are, and how many it has. */
static struct stay *find_processes(const struct steps_build *b, uint32_t *count)
{
	uint32_t n = b->trace->n_processes;
	struct stay *of = ARENA_NEW(&((struct steps_build *)b)->scratch, n, struct stay);
	for (uint32_t p = 0; p < n; p++)
		of[p] = (struct stay){.process = p, .begin = INT64_MAX, .end = INT64_MIN, .n_starts = 1};
	for (uint32_t i = 0; i < b->marks->n; i++) {
		const struct instance *x = steps_instance(b, i);
		struct stay *s = &of[x->process];
		bool works = b->own_end[i] != INT64_MIN;
		int64_t begin = works && b->own_start[i] < x->start ? b->own_start[i] : x->start;
		int64_t host = x->cut ? x->start : x->end; /* of a process that was killed it ends with the capture */
		int64_t end = works && b->own_end[i] > host ? b->own_end[i] : host;
		s->begin = begin < s->begin ? begin : s->begin;
		s->end = end > s->end ? end : s->end;
		count[x->process]++;
	}
	return of;
}

/* Numbers the starts at each GPU and of each rank; a process has the number that is highest. False: all have one. */
static bool number_starts(const struct steps_build *b, const uint32_t *count, struct stay *of)
{
	const struct trace *t = b->trace;
	struct stay *list =
		ARENA_NEW(&((struct steps_build *)b)->scratch, (size_t)t->n_devices + t->n_processes, struct stay);
	size_t n = 0;
	bool any = false;
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (count[t->devices[d].process] && t->devices[d].gpu != TRACE_NONE) {
			list[n] = of[t->devices[d].process];
			list[n++].key = t->devices[d].gpu;
		}
	for (uint32_t p = 0; p < t->n_processes; p++)
		if (count[p] && t->processes[p].rank >= 0) {
			list[n] = of[p];
			list[n++].key = t->n_gpus + (uint32_t)t->processes[p].rank;
		}
	SORT(list, n, compare_stays);
	for (size_t from = 0, to; from < n; from = to) {
		int64_t end = list[from].end;
		uint32_t starts = 1;
		for (to = from; to < n && list[to].key == list[from].key; to++) {
			starts += list[to].begin >= end;
			end = list[to].end > end ? list[to].end : end;
			list[to].start = starts - 1;
		}
		any = any || starts > 1;
		for (size_t i = from; i < to; i++) {
			struct stay *s = &of[list[i].process];
			s->start = list[i].start > s->start ? list[i].start : s->start;
			s->n_starts = starts > s->n_starts ? starts : s->n_starts;
		}
	}
	return any;
}

/* Which of the starts holds most instances of all ranks. */
static uint32_t choose(const struct steps_build *b, const uint32_t *count, const struct stay *of)
{
	uint32_t n = b->trace->n_processes, best = 0;
	uint64_t *sum = ARENA_NEW(&((struct steps_build *)b)->scratch, n, uint64_t);
	for (uint32_t p = 0; p < n; p++)
		if (of[p].n_starts > 1)
			sum[of[p].start] += count[p];
	for (uint32_t k = 1; k < n; k++)
		best = sum[k] && sum[k] >= sum[best] ? k : best;
	return best;
}

static void leave_lanes(struct steps_build *b)
{
	uint32_t *lane = ARENA_NEW(&b->scratch, b->n_lanes, uint32_t), n = 0; /* 1 + its number now */
	for (uint32_t i = 0; i < b->marks->n; i++)
		if (!steps_instance(b, i)->other_start)
			lane[b->lane[i]] = 1;
	for (uint32_t l = 0; l < b->n_lanes; l++)
		if (lane[l]) {
			b->communicates[n] = b->communicates[l];
			lane[l] = ++n;
		}
	for (uint32_t i = 0; i < b->marks->n; i++)
		b->lane[i] = lane[b->lane[i]] ? lane[b->lane[i]] - 1 : 0;
	b->n_lanes = n;
}

bool steps_leave_restarts(struct steps_build *b)
{
	struct steps_restart *out = &b->out->restart;
	uint32_t *count = ARENA_NEW(&b->scratch, b->trace->n_processes, uint32_t);
	struct stay *of = find_processes(b, count);
	if (!number_starts(b, count, of))
		return false;
	uint32_t best = choose(b, count, of);
	bool *left = ARENA_NEW(&b->scratch, b->trace->n_processes, bool);
	out->process = TRACE_NONE;
	for (uint32_t p = 0; p < b->trace->n_processes; p++) {
		if (!count[p] || of[p].n_starts < 2)
			continue;
		uint32_t last = of[p].n_starts - 1;
		left[p] = of[p].start != (best < last ? best : last);
		if (left[p]) {
			out->left++;
			out->steps += count[p];
		} else {
			out->process = out->n++ ? out->process : p;
			out->kept += count[p];
		}
	}
	for (uint32_t i = 0; i < b->marks->n; i++)
		steps_instance(b, i)->other_start = left[steps_instance(b, i)->process];
	leave_lanes(b);
	return true;
}
