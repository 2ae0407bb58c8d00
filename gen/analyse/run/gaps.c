/* Why a device was idle: every gap is charged to causes, exactly (docs/analysis.md, Causes). */
#include "analyse/run/run.h"
#include "analyse/side/middle.h"
#include "base/list.h"

enum {
	MIN_LIMIT = 3000,      /* ns */
	UNKNOWN_LIMIT = 10000, /* ns, when too few launches tell */
	MIN_SAMPLES = 20
};

/* ---- one gap ---- */

struct gap_walk {
	const struct sharing *sharing; /* NULL: nothing is taken out */
	uint32_t process;
	int64_t shift; /* what the thread did at t explains the gap at t + shift */
	void (*visit)(void *context, const struct doing *piece);
	void *context;
};

/* Hands a piece on, less the instants in which another process ran on the same GPU. */
static void emit(struct gap_walk *w, struct doing piece)
{
	if (piece.start >= piece.end)
		return;
	struct doing part = piece;
	int64_t start, end;
	while (w->sharing && part.start < piece.end && sharing_next(w->sharing, w->process, part.start, &start, &end) &&
	       start < piece.end) {
		part.end = start;
		if (part.start < part.end)
			w->visit(w->context, &part);
		struct doing other = {.start = start > part.start ? start : part.start,
		                      .end = end < piece.end ? end : piece.end,
		                      .cause = CAUSE_OTHER_PROCESS};
		w->visit(w->context, &other);
		part.start = other.end;
	}
	part.end = piece.end;
	if (part.start < part.end)
		w->visit(w->context, &part);
}

static void emit_shifted(void *context, const struct doing *stretch)
{
	struct gap_walk *w = context;
	struct doing piece = *stretch;
	piece.start += w->shift;
	piece.end += w->shift;
	emit(w, piece);
}

enum opened gap_walk(struct run *run, const struct device_run *device, const struct gap *gap,
                     const struct sharing *sharing, void (*visit)(void *context, const struct doing *piece),
                     void *context)
{
	const struct trace *t = run->trace;
	struct gap_walk w = {sharing, t->devices[device->device].process, 0, visit, context};
	int64_t g0 = gap->start, g1 = gap->end;
	struct doing rest = {.start = g0, .end = g1, .cause = CAUSE_UNATTRIBUTED};
	if (gap->next == TRACE_NONE || t->ops.launch[gap->next] == TRACE_NONE) {
		bool managed = gap->next != TRACE_NONE && (t->ops.flags[gap->next] & OPF_MANAGED);
		if (managed)
			rest.cause = CAUSE_MANAGED_MEMORY;
		emit(&w, rest);
		return managed ? OPENED_WAITING : OPENED_DRY;
	}
	uint32_t launch = t->ops.launch[gap->next], thread = t->calls.thread[launch];
	int64_t l1 = t->calls.end[launch], r = g1 - l1;
	enum wait wait = activity_wait_at(&run->activity, thread, g0);
	enum opened opened = l1 <= g0 ? OPENED_WAITING : wait ? OPENED_SYNC : OPENED_DRY;
	rest.phase = run->phases[run->op_phase[gap->next]];

	if (r <= 0) { /* started before its call returned */
		activity_walk(&run->activity, thread, g0, g1, emit_shifted, &w);
	} else if (r <= device->limit && wait == WAIT_SYNC) { /* came late, after a synchronisation */
		int64_t until = l1 > g0 ? l1 : g0;
		activity_walk(&run->activity, thread, g0, until, emit_shifted, &w);
		rest.start = until;
		rest.cause = CAUSE_LAUNCH_LATENCY;
		emit(&w, rest);
	} else if (r <= device->limit) { /* came late: the host was busy elsewhere, r earlier */
		w.shift = r;
		activity_walk(&run->activity, thread, g0 - r, g1 - r, emit_shifted, &w);
	} else { /* had been waiting */
		int64_t until = l1 > g0 ? l1 : g0;
		activity_walk(&run->activity, thread, g0, until, emit_shifted, &w);
		rest.start = until;
		rest.cause = g1 - g0 <= device->limit ? CAUSE_DISPATCH : CAUSE_DEPENDENCY;
		emit(&w, rest);
	}
	return opened;
}

/* ---- all gaps of a device ---- */

struct latencies {
	const struct run *run;
	const struct device_run *device;
};

/* Of the launch of gap i's next op, when its call returned inside the gap. */
static bool gap_latency(const void *context, size_t i, int64_t *latency)
{
	const struct latencies *l = context;
	const struct trace *t = l->run->trace;
	struct gap gap = run_gap(l->run, l->device, i);
	if (gap.edge || t->ops.launch[gap.next] == TRACE_NONE)
		return false;
	int64_t returned = t->calls.end[t->ops.launch[gap.next]];
	*latency = gap.end - returned;
	return returned >= gap.start && returned < gap.end;
}

/* max(3 µs, twice the median latency of launches whose call returned inside the gap that they ended). */
static int64_t find_limit(const struct run *run, const struct device_run *d)
{
	struct latencies latencies = {run, d};
	struct middle_values values = {gap_latency, &latencies, d->n_gaps};
	int64_t low, high;
	if (middle_of(&values, &low, &high) < MIN_SAMPLES)
		return UNKNOWN_LIMIT;
	int64_t median = (low + high) / 2;
	return 2 * median > MIN_LIMIT ? 2 * median : MIN_LIMIT;
}

struct pieces {
	const struct run *run;
	struct doing *piece;
	size_t n, room;
	struct arena scratch;
};

static void collect(void *context, const struct doing *piece)
{
	struct pieces *p = context;
	LIST_GROW(&p->scratch, p->piece, p->n, p->room);
	p->piece[p->n++] = *piece;
}

/* Whether the launching thread waited in any part of the gap that no other process filled. */
static bool is_blocked(const struct pieces *pieces, const struct sharing *sharing, uint32_t process)
{
	for (size_t k = 0; k < pieces->n; k++) {
		const struct doing *p = &pieces->piece[k];
		if (p->waits && (!sharing || sharing_time(sharing, process, p->start, p->end) < p->end - p->start))
			return true;
	}
	return false;
}

static void add_cell(struct device_run *d, const struct cell_key *key, int64_t ns)
{
	if (!ns)
		return;
	cells_add(&d->cells, key, ns);
	d->cost[key->phase] += ns;
}

void device_charge(struct run *run, struct device_run *d)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct sharing *sharing = run_sharing(run, d);
	uint32_t process = run->trace->devices[d->device].process;
	struct pieces pieces = {.run = run};
	d->limit = find_limit(run, d);
	for (size_t i = 0; i < d->n_gaps; i++) {
		struct gap gap = run_gap(run, d, i);
		if (gap.end <= run->window_start || gap.start >= run->window_end)
			continue;
		pieces.n = 0;
		struct cell_key key = {.opened = gap_walk(run, d, &gap, NULL, collect, &pieces)};
		d->sync_gaps += key.opened == OPENED_SYNC;
		key.blocked = key.opened == OPENED_SYNC || is_blocked(&pieces, sharing, process);
		key.input = gap.next != TRACE_NONE && ops->kind[gap.next] == OP_COPY && ops->copy[gap.next] == COPY_H2D;
		key.pageable = gap.next != TRACE_NONE && (ops->flags[gap.next] & OPF_PAGEABLE);
		key.lasting = gap.end - gap.start > LASTING_GAP;
		struct cell_key others = key; /* time of other processes belongs to no phase */
		others.cause = CAUSE_OTHER_PROCESS;
		int64_t of_others = 0;
		for (size_t k = 0; k < pieces.n; k++) {
			const struct doing *p = &pieces.piece[k];
			int64_t start = p->start > run->window_start ? p->start : run->window_start;
			int64_t end = p->end < run->window_end ? p->end : run->window_end;
			if (end <= start)
				continue;
			int64_t shared = sharing ? sharing_time(sharing, process, start, end) : 0;
			of_others += shared;
			key.cause = p->cause;
			key.phase = run_phase(run, p->phase);
			key.call = p->call;
			key.mutex = p->mutex;
			add_cell(d, &key, end - start - shared);
		}
		add_cell(d, &others, of_others);
	}
	arena_release(&pieces.scratch);
}
