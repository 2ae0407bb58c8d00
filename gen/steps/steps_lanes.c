#include "steps/steps_build.h"

enum { USES_DEVICE = 10 /* a thread uses a device that one in so many of its GPU nanoseconds are on */ };

/* ---- which instance an op belongs to ---- */

static uint32_t place_open(const struct steps_build *b, uint32_t i, int64_t t)
{
	uint32_t k = steps_open_at(&b->out->threads[i], t);
	return k == TRACE_NONE ? TRACE_NONE : b->first[i] + k;
}

/* Whether instance k is open at `t` and no later one has begun: what steps_open_at finds. */
static bool is_open_at(const struct step_thread *s, uint32_t k, int64_t t)
{
	return k < s->n && s->start[k] <= t && t < s->end[k] && (k + 1 == s->n || t < s->start[k + 1]);
}

/* Ops that a thread with instances launched: the instance that is open on it. Returns whether other threads launched
 * any. */
static bool place_own_ops(struct steps_build *b)
{
	const struct trace *t = b->trace;
	bool others = false;
	uint32_t k = 0; /* of the op before: ops of one instance follow each other */
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i];
		b->at[i] = TRACE_NONE;
		if (launch == TRACE_NONE)
			continue;
		uint32_t thread = b->out->thread_at[t->calls.thread[launch]];
		if (!thread) {
			others = true;
			continue;
		}
		const struct step_thread *s = &b->out->threads[thread - 1];
		if (!is_open_at(s, k, t->calls.start[launch]))
			k = steps_open_at(s, t->calls.start[launch]);
		if (k != TRACE_NONE)
			b->at[i] = b->first[thread - 1] + k;
	}
	return others;
}

/* Ops that another thread of the process launched: of the instances that are open on threads that use the op's device,
 * the one that began last. */
static void place_helpers_ops(struct steps_build *b, const uint32_t *lane_of_thread, const uint32_t *lane_of_device,
                              const uint32_t *first_of, const uint32_t *n_of)
{
	const struct trace *t = b->trace;
	const struct steps *s = b->out;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i], process = op_process(t, i);
		if (launch == TRACE_NONE || s->thread_at[t->calls.thread[launch]] || !n_of[process])
			continue;
		uint32_t lane = lane_of_device[t->ops.device[i]];
		int64_t latest = INT64_MIN;
		for (uint32_t k = first_of[process]; k < first_of[process] + n_of[process]; k++) {
			if (lane != TRACE_NONE && lane_of_thread[k] != lane)
				continue;
			uint32_t place = place_open(b, k, t->calls.start[launch]);
			int64_t start = place == TRACE_NONE ? INT64_MIN : s->threads[k].start[place - b->first[k]];
			if (start > latest) {
				b->at[i] = place;
				latest = start;
			}
		}
	}
}

/* ---- lanes ---- */

/* Threads of one process are of one lane when they use the same device: the only one, also where another thread
 * launches for them; else one on which a tenth of what they launched themselves, in their instances, ran. */
static void join_threads(const struct steps_build *b, uint32_t first, uint32_t n, const double *time, uint32_t *lane)
{
	uint32_t n_devices = b->trace->n_devices;
	uint32_t *user =
		ARENA_NEW(&((struct steps_build *)b)->scratch, n_devices, uint32_t); /* 1 + a thread that uses it */
	for (uint32_t k = first; k < first + n; k++) {
		const double *mine = time + (size_t)(k - first) * n_devices;
		double all = 0;
		lane[k] = k;
		for (uint32_t d = 0; d < n_devices; d++)
			all += mine[d];
		for (uint32_t d = 0; d < n_devices; d++) {
			if (mine[d] <= 0 || USES_DEVICE * mine[d] < all)
				continue;
			if (!user[d]) {
				user[d] = k + 1;
				continue;
			}
			uint32_t from = lane[k], to = lane[user[d] - 1];
			for (uint32_t j = first; j <= k; j++)
				if (lane[j] == from)
					lane[j] = to;
		}
	}
}

void steps_find_lanes(struct steps_build *b)
{
	const struct trace *t = b->trace;
	const struct steps *s = b->out;
	uint32_t *lane = ARENA_NEW(&b->scratch, s->n_threads, uint32_t);
	uint32_t *of_device = ARENA_NEW(&b->scratch, t->n_devices, uint32_t);
	uint32_t *first = ARENA_NEW(&b->scratch, t->n_processes, uint32_t);
	uint32_t *n = ARENA_NEW(&b->scratch, t->n_processes, uint32_t);
	bool helped = place_own_ops(b);
	for (uint32_t d = 0; d < t->n_devices; d++)
		of_device[d] = TRACE_NONE;
	for (uint32_t k = s->n_threads; k-- > 0;) {
		lane[k] = k;
		first[s->threads[k].process] = k;
		n[s->threads[k].process]++;
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		if (n[p] < 2)
			continue;
		uint32_t devices = 0;
		for (uint32_t d = 0; d < t->n_devices; d++)
			devices += t->devices[d].process == p;
		for (uint32_t k = first[p]; k < first[p] + n[p] && devices == 1; k++)
			lane[k] = first[p];
		if (devices == 1)
			continue;
		double *time = ARENA_NEW(&b->scratch, (size_t)n[p] * t->n_devices, double);
		for (size_t i = 0; i < t->ops.n; i++) {
			if (b->at[i] == TRACE_NONE || op_process(t, i) != p)
				continue;
			uint32_t k = s->thread_at[t->calls.thread[t->ops.launch[i]]] - 1;
			time[(size_t)(k - first[p]) * t->n_devices + t->ops.device[i]] +=
				(double)(t->ops.end[i] - t->ops.start[i]);
		}
		join_threads(b, first[p], n[p], time, lane);
		for (uint32_t k = first[p]; k < first[p] + n[p]; k++)
			for (uint32_t d = 0; d < t->n_devices; d++)
				if (time[(size_t)(k - first[p]) * t->n_devices + d] > 0 && of_device[d] == TRACE_NONE)
					of_device[d] = lane[k];
	}
	if (helped)
		place_helpers_ops(b, lane, of_device, first, n);
	uint32_t *number = ARENA_NEW(&b->scratch, (size_t)s->n_threads + 1, uint32_t);
	for (uint32_t k = 0; k < s->n_threads; k++) {
		if (!number[lane[k]])
			number[lane[k]] = ++b->n_lanes;
		for (uint32_t p = b->first[k]; p < b->first[k + 1]; p++)
			b->lane[p] = number[lane[k]] - 1;
	}
}
