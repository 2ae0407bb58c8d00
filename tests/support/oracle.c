#include "oracle_walk.h"

#include "steps/op_names.h"

#include <stdlib.h>
#include <string.h>

static bool op_is_of(const struct trace *trace, size_t op, uint32_t device)
{
	return trace->ops.device[op] == device;
}

static int op_class(const struct trace *trace, size_t op)
{
	switch (trace->ops.kind[op]) {
	case OP_COMM:
		return ORACLE_COMM;
	case OP_COPY:
	case OP_MEMSET:
		return ORACLE_COPY;
	default:
		return ORACLE_COMPUTE;
	}
}

/* When an op was launched: at the latest when it started, which stands in where the launch is not in the profile. */
static int64_t op_launched(const struct trace *trace, uint32_t op)
{
	uint32_t launch = trace->ops.launch[op];
	return launch == TRACE_NONE ? trace->ops.start[op] : trace->calls.start[launch];
}

/* Whether op a goes before b: earliest launch, then start, end, stream. */
static bool op_before(const struct trace *trace, uint32_t a, uint32_t b)
{
	if (b == TRACE_NONE)
		return true;
	const struct trace_ops *ops = &trace->ops;
	int64_t launch_a = op_launched(trace, a), launch_b = op_launched(trace, b);
	if (launch_a != launch_b)
		return launch_a < launch_b;
	if (ops->start[a] != ops->start[b])
		return ops->start[a] < ops->start[b];
	if (ops->end[a] != ops->end[b])
		return ops->end[a] < ops->end[b];
	if (ops->stream[a] != ops->stream[b])
		return ops->stream[a] < ops->stream[b];
	return a < b;
}

static bool is_call(const struct trace *trace, size_t i, const char *name)
{
	return !strcmp(names_text(trace->names, trace->calls.name[i]), name);
}

/* How many captures a thread began and had not ended, from call `i` until `at`: 0 where that of call `i` had ended. */
static int open_captures(const struct trace *trace, size_t i, int64_t at)
{
	int open = 0;
	for (size_t k = i; k < trace->calls.n; k++) {
		if (trace->calls.thread[k] != trace->calls.thread[i])
			continue;
		open += is_call(trace, k, "cudaStreamBeginCapture") && trace->calls.start[k] <= at;
		open -= is_call(trace, k, "cudaStreamEndCapture") && trace->calls.end[k] <= at;
		if (!open)
			return 0;
	}
	return open;
}

/* When the graph was begun that a call captured a node of: of those that were open, or else of all, the last;
 * INT64_MAX: nothing tells. */
static int64_t graph_begun(const struct trace *trace, uint32_t call)
{
	int64_t begun[2] = {INT64_MAX, INT64_MAX};
	for (size_t i = 0; i < trace->calls.n; i++) {
		bool begins = is_call(trace, i, "cudaStreamBeginCapture"),
		     creates = is_call(trace, i, "cudaGraphCreate");
		bool same = process_of(trace, trace->calls.thread[i]) == process_of(trace, trace->calls.thread[call]);
		int64_t at = trace->calls.start[call], start = trace->calls.start[i];
		bool open = creates || (begins && open_captures(trace, i, at));
		if ((begins || creates) && same && start <= at)
			for (int k = 0; k <= open; k++)
				if (begun[k] == INT64_MAX || start > begun[k])
					begun[k] = start;
	}
	return begun[1] != INT64_MAX ? begun[1] : begun[0];
}

/* The range opened first since then, of those that are open on a thread; 0: none. */
static uint32_t opened_since(const struct walk *w, uint32_t thread, int64_t begun, int64_t t)
{
	const struct trace_ranges *r = &w->trace->ranges;
	for (size_t i = 0; i < r->n; i++)
		if (r->thread[i] == thread && r->start[i] >= begun && r->start[i] <= t && t < r->end[i] &&
		    (!w->steps || (r->domain[i] == w->domain && r->name[i] != w->name)))
			return r->name[i];
	return 0;
}

static uint32_t captured_phase(const struct walk *w, uint32_t call)
{
	const struct trace *trace = w->trace;
	uint32_t thread = trace->calls.thread[call], found = 0;
	uint32_t owner = w->steps ? w->owner[process_of(trace, thread)] : TRACE_NONE;
	int64_t begun = graph_begun(trace, call), t = trace->calls.start[call];
	if (owner != TRACE_NONE)
		found = opened_since(w, owner, begun, t);
	return found ? found : opened_since(w, thread, begun, t);
}

static uint32_t op_phase(const struct walk *w, size_t op)
{
	if (w->by_work)
		return w->kind[op];
	uint32_t launch = w->trace->ops.launch[op], phase = 0;
	if (launch != TRACE_NONE)
		phase = oracle_phase_at(w, w->trace->calls.thread[launch], w->trace->calls.start[launch]);
	uint32_t creator = w->trace->ops.creator ? w->trace->ops.creator[op] : TRACE_NONE;
	return phase || creator == TRACE_NONE ? phase : captured_phase(w, creator);
}

/* Busy instants: the class that wins and the phase of its earliest-launched running op. */
static void device_busy_walk(const struct walk *w, uint32_t device, struct oracle_device *d)
{
	const struct trace *trace = w->trace;
	uint32_t *winner = oracle_rows(w);
	d->at = ARENA_NEW(w->arena, (size_t)w->horizon, struct oracle_instant);
	for (int64_t t = 0; t < w->horizon; t++)
		d->at[t].class = ORACLE_IDLE;
	for (uint32_t i = 0; i < trace->ops.n; i++) {
		if (!op_is_of(trace, i, device))
			continue;
		int class = op_class(trace, i);
		uint32_t phase = op_phase(w, i);
		for (int64_t t = trace->ops.start[i]; t < trace->ops.end[i]; t++) {
			if (class < d->at[t].class || (class == d->at[t].class && op_before(trace, i, winner[t]))) {
				d->at[t].class = (uint8_t) class;
				d->at[t].phase = phase;
				winner[t] = i;
			}
		}
	}
}

/* The op that ends the gap whose last instant is g1 − 1. */
static uint32_t gap_next(const struct trace *trace, uint32_t device, int64_t g1)
{
	uint32_t next = TRACE_NONE;
	for (uint32_t i = 0; i < trace->ops.n; i++)
		if (op_is_of(trace, i, device) && trace->ops.start[i] == g1 && trace->ops.end[i] > g1 &&
		    op_before(trace, i, next))
			next = i;
	return next;
}

static int compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* First and last busy instant + 1 of a device; false if it is never busy. */
static bool device_extent(const struct walk *w, const struct oracle_device *d, int64_t *first, int64_t *last)
{
	*first = *last = -1;
	for (int64_t t = 0; t < w->horizon; t++) {
		if (d->at[t].class == ORACLE_IDLE)
			continue;
		if (*first < 0)
			*first = t;
		*last = t + 1;
	}
	return *first >= 0;
}

/* End of the idle run that begins at t. */
static int64_t idle_end(const struct oracle_device *d, int64_t t, int64_t limit)
{
	while (t < limit && d->at[t].class == ORACLE_IDLE)
		t++;
	return t;
}

static int64_t device_limit(const struct walk *w, uint32_t device, const struct oracle_device *d)
{
	const struct trace *trace = w->trace;
	int64_t first, last;
	int64_t *delays = ARENA_NEW(w->arena, trace->ops.n + 1, int64_t);
	size_t n = 0;
	if (!device_extent(w, d, &first, &last))
		return 10000;
	for (int64_t g0 = first; g0 < last;) {
		int64_t g1 = idle_end(d, g0, last);
		if (g1 == g0) {
			g0++;
			continue;
		}
		uint32_t launch = trace->ops.launch[gap_next(trace, device, g1)];
		if (launch != TRACE_NONE && trace->calls.end[launch] >= g0 && trace->calls.end[launch] < g1)
			delays[n++] = g1 - trace->calls.end[launch];
		g0 = g1;
	}
	if (n < 20)
		return 10000;
	qsort(delays, n, sizeof *delays, compare_int64);
	int64_t median = n % 2 ? delays[n / 2] : (delays[n / 2 - 1] + delays[n / 2]) / 2;
	const int64_t most = 4 * delays[n / 10] > 100000 ? 4 * delays[n / 10] : 100000;
	return 2 * median > most ? most : 2 * median > 3000 ? 2 * median : 3000;
}

static void instant_set(struct oracle_instant *at, enum cause cause, uint32_t phase, uint32_t call)
{
	at->cause = (uint8_t)cause;
	at->phase = phase;
	at->call = call;
}

/* Charges the instant to what the launching thread was doing at `t`. */
static void instant_set_doing(const struct walk *w, struct oracle_instant *at, uint32_t thread, int64_t t)
{
	struct doing doing = oracle_doing_at(w, thread, t);
	instant_set(at, doing.cause, oracle_phase_at(w, thread, t), doing.cause == CAUSE_HOST_BLOCKED ? doing.call : 0);
}

/* Whether a queued op of the process can wait for another: its ops are on several streams or devices, or a call makes a
 * stream wait, or the op is a graph's. */
static bool can_depend(const struct trace *trace, uint32_t op)
{
	static const char *const calls[] = {"cudaStreamWaitEvent", "cuStreamWaitEvent", "cudaLaunchHostFunc"};
	uint32_t process = trace->devices[trace->ops.device[op]].process;
	for (size_t i = 0; i < trace->ops.n; i++)
		for (size_t j = 0; j < i; j++)
			if (trace->devices[trace->ops.device[i]].process == process &&
			    trace->devices[trace->ops.device[j]].process == process &&
			    !((trace->ops.flags[i] | trace->ops.flags[j]) & OPF_MANAGED) &&
			    (trace->ops.device[i] != trace->ops.device[j] ||
			     trace->ops.stream[i] != trace->ops.stream[j]))
				return true;
	for (size_t c = 0; c < trace->calls.n; c++)
		for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
			if (trace->threads[trace->calls.thread[c]].process == process &&
			    strcmp(names_text(trace->names, trace->calls.name[c]), calls[k]) == 0)
				return true;
	return trace->ops.flags[op] & OPF_GRAPH_NODE;
}

/* Whether another process ran on the op's GPU in [t0, t1). */
static bool was_shared(const struct trace *trace, uint32_t device, int64_t t0, int64_t t1)
{
	const struct trace_device *mine = &trace->devices[device];
	for (size_t i = 0; i < trace->ops.n; i++) {
		const struct trace_device *other = &trace->devices[trace->ops.device[i]];
		if (mine->gpu != TRACE_NONE && other->gpu == mine->gpu && other->process != mine->process &&
		    trace->ops.start[i] < t1 && trace->ops.end[i] > t0)
			return true;
	}
	return false;
}

/* The causes of a gap [g0, g1). */
static void gap_walk(const struct walk *w, uint32_t device, struct oracle_device *d, int64_t g0, int64_t g1)
{
	const struct trace *trace = w->trace;
	uint32_t next = gap_next(trace, device, g1), launch = trace->ops.launch[next];
	if (launch == TRACE_NONE) {
		bool managed = trace->ops.flags[next] & OPF_MANAGED;
		for (int64_t t = g0; t < g1; t++) {
			instant_set(&d->at[t], managed ? CAUSE_MANAGED_MEMORY : CAUSE_UNATTRIBUTED, 0, 0);
			d->at[t].opened = managed ? OPENED_WAITING : OPENED_DRY;
		}
		return;
	}
	uint32_t thread = trace->calls.thread[launch], phase = op_phase(w, next);
	int64_t returned = trace->calls.end[launch], r = g1 - returned;
	bool synced = w->threads[thread].sync[g0], waiting = w->threads[thread].waits[g0];
	bool shared = was_shared(trace, device, returned > g0 ? returned : g0, g1);
	enum cause waited = can_depend(trace, next) && !shared ? CAUSE_DEPENDENCY : CAUSE_LATE_START;
	for (int64_t t = g0; t < g1; t++) {
		struct oracle_instant *at = &d->at[t];
		at->opened = returned <= g0 ? OPENED_WAITING : waiting ? OPENED_SYNC : OPENED_DRY;
		if (r > 0 && r <= d->limit && synced) {
			if (t >= g1 - r)
				instant_set(at, CAUSE_LAUNCH_LATENCY, phase, 0);
			else
				instant_set_doing(w, at, thread, t);
		} else if (r > 0 && r <= d->limit) {
			instant_set_doing(w, at, thread, t - r);
		} else if (r > d->limit && t >= returned) {
			instant_set(at, g1 - g0 <= d->limit ? CAUSE_DISPATCH : waited, phase, 0);
		} else {
			instant_set_doing(w, at, thread, t);
		}
	}
}

static void device_idle_walk(const struct walk *w, uint32_t device, struct oracle_device *d, const struct oracle *o)
{
	int64_t first, last;
	if (!device_extent(w, d, &first, &last))
		first = last = o->window_start;
	if (o->window_start < first) /* leading idle is a gap from the window's start */
		gap_walk(w, device, d, o->window_start, first);
	for (int64_t g0 = first; g0 < last;) {
		int64_t g1 = idle_end(d, g0, last);
		if (g1 > g0)
			gap_walk(w, device, d, g0, g1);
		g0 = g1 > g0 ? g1 : g0 + 1;
	}
	for (int64_t t = last; t < w->horizon; t++) {
		instant_set(&d->at[t], CAUSE_UNATTRIBUTED, 0, 0);
		d->at[t].opened = OPENED_DRY;
	}
}

/* Idle instants in which another process runs on the same physical GPU. */
static void device_share_walk(const struct walk *w, uint32_t device, const struct oracle *o)
{
	const struct trace *trace = w->trace;
	const struct trace_device *mine = &trace->devices[device];
	for (uint32_t k = 0; k < trace->n_devices; k++) {
		const struct trace_device *other = &trace->devices[k];
		if (mine->gpu == TRACE_NONE || other->gpu != mine->gpu || other->process == mine->process)
			continue;
		for (int64_t t = 0; t < w->horizon; t++)
			if (o->devices[device].at[t].class == ORACLE_IDLE && o->devices[k].at[t].class != ORACLE_IDLE)
				instant_set(&o->devices[device].at[t], CAUSE_OTHER_PROCESS, 0, 0);
	}
}

static void device_sum(const struct walk *w, uint32_t device, const struct oracle *o)
{
	const struct trace *trace = w->trace;
	struct oracle_device *d = &o->devices[device];
	size_t n = o->n_names;
	d->cost = ARENA_NEW(w->arena, n, int64_t);
	d->idle = ARENA_NEW(w->arena, n, int64_t);
	d->gpu = ARENA_NEW(w->arena, n, int64_t);
	d->row = ARENA_NEW(w->arena, CAUSE_COUNT * n * OPENED_COUNT, int64_t);
	d->blocked = ARENA_NEW(w->arena, n * n, int64_t);
	for (int64_t t = o->window_start; t < o->window_end; t++) {
		const struct oracle_instant *at = &d->at[t];
		d->total[at->class]++;
		d->cost[at->phase]++;
		if (at->class != ORACLE_IDLE)
			continue;
		d->idle[at->phase]++;
		++*oracle_row(o, d, at->cause, at->phase, at->opened);
		if (at->cause == CAUSE_HOST_BLOCKED)
			d->blocked[at->phase * n + at->call]++;
	}
	/* A phase's GPU time: instants in which at least one of its ops runs. */
	uint8_t *seen = oracle_bytes(w);
	for (uint32_t phase = 0; phase < n; phase++) {
		bool any = false;
		for (size_t i = 0; i < trace->ops.n; i++) {
			if (!op_is_of(trace, i, device) || op_phase(w, i) != phase)
				continue;
			any = true;
			for (int64_t t = trace->ops.start[i]; t < trace->ops.end[i]; t++)
				seen[t] = 1;
		}
		for (int64_t t = 0; any && t < w->horizon; t++) {
			d->gpu[phase] += seen[t] && t >= o->window_start && t < o->window_end;
			seen[t] = 0;
		}
	}
}

static int64_t column_last(const int64_t *end, size_t n, int64_t last)
{
	for (size_t i = 0; i < n; i++)
		if (end[i] > last)
			last = end[i];
	return last;
}

/* Nobody marked phases: no range is a step, and less than half of the GPU time was launched in one. */
static bool is_unmarked(const struct walk *w, const struct oracle *o)
{
	int64_t all = 0, in = 0;
	for (size_t i = 0; i < w->trace->ops.n; i++) {
		all += w->trace->ops.end[i] - w->trace->ops.start[i];
		in += op_phase(w, i) ? w->trace->ops.end[i] - w->trace->ops.start[i] : 0;
	}
	return !o->steps && in * 2 < all;
}

void oracle_run(const struct trace *trace, const char *step, size_t warmup, struct arena *arena, struct oracle *out)
{
	struct walk w = {.trace = trace, .arena = arena};
	memset(out, 0, sizeof *out);
	w.horizon = column_last(trace->ops.end, trace->ops.n, 1);
	w.horizon = column_last(trace->calls.end, trace->calls.n, w.horizon);
	w.horizon = column_last(trace->ranges.end, trace->ranges.n, w.horizon);
	w.horizon = column_last(trace->os_calls.end, trace->os_calls.n, w.horizon);
	w.horizon = column_last(trace->slices.end, trace->slices.n, w.horizon);
	w.horizon = column_last(trace->gil.end, trace->gil.n, w.horizon);
	w.horizon = column_last(trace->overheads.end, trace->overheads.n, w.horizon) + 1;
	out->horizon = w.horizon;
	oracle_steps_find(&w, step, out);
	w.kind = ARENA_NEW(arena, trace->ops.n, uint32_t);
	for (size_t i = 0; i < trace->ops.n; i++)
		w.kind[i] = names_add_text(trace->names, op_words_kind(trace, i, arena));
	out->n_names = trace->names->n;
	out->warmup = warmup + out->opened;
	if (out->steps && out->warmup > out->n_steps - 1) /* at least one period is kept */
		out->warmup = out->n_steps - 1;
	if (out->steps && out->n_steps >= 2) {
		out->window_start = out->step_end[out->warmup - 1];
		out->window_end = out->step_end[out->n_steps - 1];
	} else {
		bool all = true; /* unified memory that moves by itself opens and closes no run, unless there is nothing
		                    else */
		for (size_t i = 0; i < trace->ops.n; i++)
			all = all && trace->ops.flags[i] & OPF_MANAGED;
		out->window_start = INT64_MAX;
		out->window_end = INT64_MIN;
		for (size_t i = 0; i < trace->ops.n; i++) {
			if (!all && trace->ops.flags[i] & OPF_MANAGED)
				continue;
			if (trace->ops.start[i] < out->window_start)
				out->window_start = trace->ops.start[i];
			if (trace->ops.end[i] > out->window_end)
				out->window_end = trace->ops.end[i];
		}
		if (!trace->ops.n)
			out->window_start = out->window_end = 0;
	}
	oracle_host_walk(&w);
	out->by_work = is_unmarked(&w, out);
	w.by_work = out->by_work;
	out->devices = ARENA_NEW(arena, trace->n_devices, struct oracle_device);
	for (uint32_t k = 0; k < trace->n_devices; k++)
		device_busy_walk(&w, k, &out->devices[k]);
	for (uint32_t k = 0; k < trace->n_devices; k++) {
		out->devices[k].limit = device_limit(&w, k, &out->devices[k]);
		device_idle_walk(&w, k, &out->devices[k], out);
	}
	for (uint32_t k = 0; k < trace->n_devices; k++) {
		device_share_walk(&w, k, out);
		device_sum(&w, k, out);
	}
}
