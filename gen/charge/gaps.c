#include "charge/idle.h"

#include "base/list.h"
#include "base/sort.h"
#include "trace/classify.h"

enum {
	MIN_LIMIT = 3000,      /* ns */
	MOST_LIMIT = 100000,   /* ns: hardly a launch takes so long to arrive, … */
	MOST_TIMES = 4,        /* … nor so many times as long as the quickest tenth, where that is longer */
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
static void emit(struct gap_walk *w, const struct doing *piece)
{
	if (!w->sharing && piece->start < piece->end)
		w->visit(w->context, piece);
	if (!w->sharing || piece->start >= piece->end)
		return;
	struct doing part = *piece;
	int64_t start, end;
	while (part.start < piece->end && sharing_next(w->sharing, w->process, part.start, &start, &end) &&
	       start < piece->end) {
		part.end = start;
		if (part.start < part.end)
			w->visit(w->context, &part);
		struct doing other = {.start = start > part.start ? start : part.start,
		                      .end = end < piece->end ? end : piece->end,
		                      .cause = CAUSE_OTHER_PROCESS,
		                      .thread = TRACE_NONE};
		w->visit(w->context, &other);
		part.start = other.end;
	}
	part.end = piece->end;
	if (part.start < part.end)
		w->visit(w->context, &part);
}

static void emit_shifted(void *context, const struct doing *stretch)
{
	struct gap_walk *w = context;
	if (!w->shift) {
		emit(w, stretch);
		return;
	}
	struct doing piece = *stretch;
	piece.start += w->shift;
	piece.end += w->shift;
	piece.earlier = w->shift;
	emit(w, &piece);
}

/* Whether a queued op may have waited for something: another stream or device of its process, an event or the like, or
 * the node before it in a graph. */
static bool can_depend(const struct run *run, const struct device_run *device, uint32_t op)
{
	return run->charge->can_depend[run->trace->devices[device->device].process] ||
	       (run->trace->ops.flags[op] & OPF_GRAPH_NODE);
}

enum opened gap_walk(struct run *run, const struct device_run *device, const struct gap *gap,
                     const struct sharing *sharing, void (*visit)(void *context, const struct doing *piece),
                     void *context)
{
	const struct trace *t = run->trace;
	struct gap_walk w = {sharing, t->devices[device->device].process, 0, visit, context};
	int64_t g0 = gap->start, g1 = gap->end;
	struct doing rest = {.start = g0, .end = g1, .cause = CAUSE_UNATTRIBUTED, .thread = TRACE_NONE};
	if (gap->next == TRACE_NONE || t->ops.launch[gap->next] == TRACE_NONE) {
		bool managed = gap->next != TRACE_NONE && (t->ops.flags[gap->next] & OPF_MANAGED);
		if (managed)
			rest.cause = CAUSE_MANAGED_MEMORY;
		emit(&w, &rest);
		return managed ? OPENED_WAITING : OPENED_DRY;
	}
	uint32_t launch = t->ops.launch[gap->next], thread = t->calls.thread[launch];
	int64_t l1 = t->calls.end[launch], r = g1 - l1;
	enum wait wait = activity_wait_at(&run->charge->activity, thread, g0);
	enum opened opened = l1 <= g0 ? OPENED_WAITING : wait ? OPENED_SYNC : OPENED_DRY;
	rest.phase = run->phases.names[run->phases.of_op[gap->next]];

	if (r <= 0) { /* started before its call returned */
		activity_walk(&run->charge->activity, thread, g0, g1, emit_shifted, &w);
	} else if (r <= device->limit && wait == WAIT_SYNC) { /* came late, after a synchronisation */
		int64_t until = l1 > g0 ? l1 : g0;
		activity_walk(&run->charge->activity, thread, g0, until, emit_shifted, &w);
		rest.start = until;
		rest.cause = CAUSE_LAUNCH_LATENCY;
		emit(&w, &rest);
	} else if (r <= device->limit) { /* came late: the host was busy elsewhere, r earlier */
		w.shift = r;
		activity_walk(&run->charge->activity, thread, g0 - r, g1 - r, emit_shifted, &w);
	} else { /* had been waiting */
		int64_t until = l1 > g0 ? l1 : g0;
		activity_walk(&run->charge->activity, thread, g0, until, emit_shifted, &w);
		/* where another process had the GPU meanwhile, its time slices may be all that the op waited for */
		const struct sharing *shared = run_sharing(run, device);
		bool sliced = shared && sharing_time(shared, w.process, until, g1) > 0;
		rest.start = until;
		rest.cause = g1 - g0 <= device->limit                        ? CAUSE_DISPATCH
		             : can_depend(run, device, gap->next) && !sliced ? CAUSE_DEPENDENCY
		                                                             : CAUSE_LATE_START;
		emit(&w, &rest);
	}
	return opened;
}

/* ---- all gaps of a device ---- */

/* Of the launch of gap i's next op, when its call returned inside the gap; 0: it did not. */
static int64_t gap_latency(const struct trace *t, const struct gap_ops *gap)
{
	if (gap->before == TRACE_NONE || gap->next == TRACE_NONE || t->ops.launch[gap->next] == TRACE_NONE)
		return 0;
	int64_t returned = t->calls.end[t->ops.launch[gap->next]];
	return returned >= t->ops.end[gap->before] ? t->ops.start[gap->next] - returned : 0;
}

/* Twice the median latency of launches whose call returned inside the gap that they ended; at least 3 µs. Where
 * most of them wait for another GPU, or for another process, the median is of that: at most 100 µs, or four times what
 * the quickest tenth takes. */
static int64_t find_limit(const struct run *run, const struct device_run *d)
{
	struct arena scratch = {0};
	double *latencies = ARENA_TAKE(&scratch, d->n_gaps, double);
	size_t n = 0;
	for (size_t i = 0; i < d->n_gaps; i++) {
		int64_t latency = gap_latency(run->trace, &d->gaps[i]);
		if (latency > 0)
			latencies[n++] = (double)latency;
	}
	const int64_t median = (int64_t)sort_median(latencies, n);
	const int64_t quick = n ? MOST_TIMES * (int64_t)sort_select(latencies, n, n / 10) : 0;
	const int64_t most = quick > MOST_LIMIT ? quick : MOST_LIMIT;
	arena_release(&scratch);
	if (n < MIN_SAMPLES)
		return UNKNOWN_LIMIT;
	return 2 * median > most ? most : 2 * median > MIN_LIMIT ? 2 * median : MIN_LIMIT;
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
	LIST_ADD(&p->scratch, p->piece, p->n, p->room, *piece);
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

/* How long the thread that ends the gap had been inside an allocation or free when the GPU ran out of work, 0 if it was
 * not: for so long that call waited for the GPU, and without it the host would have been as much ahead. */
static int64_t waited_in_alloc(const struct run *run, const struct gap *gap, const struct pieces *pieces)
{
	const struct trace *t = run->trace;
	if (!pieces->n || pieces->piece[0].cause != CAUSE_ALLOC || gap->next == TRACE_NONE ||
	    t->ops.launch[gap->next] == TRACE_NONE)
		return 0;
	uint32_t thread = t->calls.thread[t->ops.launch[gap->next]], first = t->first_call[thread];
	uint32_t i = t->ops.launch[gap->next];
	while (i > first && t->calls.start[i] > gap->start)
		i--;
	for (int back = 0; back < 4 && i >= first && i != TRACE_NONE; back++, i--) /* calls nest */
		if (t->calls.class[i] == CALL_ALLOC && t->calls.end[i] > gap->start)
			return gap->start - t->calls.start[i];
	return 0;
}

static bool is_hosts(enum cause cause)
{
	return cause == CAUSE_HOST_CODE || cause == CAUSE_HOST_BLOCKED || cause == CAUSE_GIL ||
	       cause == CAUSE_LAUNCH_API || cause == CAUSE_COPY_API || cause == CAUSE_OTHER_API ||
	       cause == CAUSE_LAUNCH_LATENCY;
}

struct charging {
	struct run *run;
	struct device_run *d;
	struct step_table *table;
	struct places *places;
	const struct sharing *sharing;
	uint32_t process;
	int64_t least_input;
	const int64_t *read_back;
	struct pieces pieces; /* of the gap in turn */
	struct once_candidate *lasting;
	size_t n_lasting, lasting_room;
};

/* A stretch of a gap, and what a thread did in it; NULL: nobody looks where one was. */
struct charged {
	int64_t start, end;
	const struct doing *by;
};

static void add_cell(struct charging *c, const struct cell_key *key, int64_t ns, const struct charged *in)
{
	if (!ns)
		return;
	const uint32_t cell = cells_add(&c->d->cells, key, ns);
	c->d->cost[key->phase] += ns;
	if (in->by && c->places)
		places_add(c->places, &c->d->places, cell, in->by->thread, in->start - in->by->earlier,
		           in->end - in->by->earlier, ns < 0 ? -1 : 1);
}

/* Time of other processes belongs to no phase. */
static void add_others(struct charging *c, const struct cell_key *key, int64_t ns)
{
	const struct cell_key others = {.cause = CAUSE_OTHER_PROCESS,
	                                .opened = key->opened,
	                                .blocked = key->blocked,
	                                .pageable = key->pageable,
	                                .lasting = key->lasting,
	                                .once = key->once};
	add_cell(c, &others, ns, &(struct charged){0});
}

/* A stretch, less what other processes ran in it; where they run, nobody looks where threads are. Idle time that an
 * allocation's waiting caused is cut off. */
static void add_stretch(struct charging *c, struct cell_key *key, struct charged *in, int64_t *waited, int sign)
{
	int64_t shared = c->sharing ? sharing_time(c->sharing, c->process, in->start, in->end) : 0;
	int64_t ns = in->end - in->start - shared;
	in->by = shared ? NULL : in->by;
	if (*waited && is_hosts(key->cause)) {
		const int64_t hidden = *waited < ns ? *waited : ns;
		*waited -= hidden;
		ns -= hidden;
		key->alloc = true;
		add_cell(c, key, sign * hidden, &(struct charged){in->start, in->start + hidden, in->by});
		key->alloc = false;
		in->start += hidden;
	}
	add_cell(c, key, sign * ns, in);
	if (shared)
		add_others(c, key, sign * shared);
}

static enum opened collect_gap(struct charging *c, const struct gap *gap)
{
	c->pieces.n = 0;
	return gap_walk(c->run, c->d, gap, NULL, collect, &c->pieces);
}

/* Of a piece's time from `start` to `end`, in which a thread may have waited for Python's lock, how much nobody looked.
 */
static int64_t unlooked_time(const struct trace *t, const struct doing *p, int64_t start, int64_t end)
{
	const struct trace_unlooked *u = &t->unlooked;
	if (!u->n || p->thread == TRACE_NONE)
		return 0;
	bool may = p->cause == CAUSE_HOST_CODE || p->cause == CAUSE_OFF_CPU || p->cause == CAUSE_HANDOVER ||
	           (p->cause == CAUSE_HOST_BLOCKED && (p->waits || p->of_call == OS_MUTEX));
	int64_t time = 0;
	if (!may)
		return 0;
	start -= p->earlier;
	end -= p->earlier;
	uint32_t i = t->first_unlooked[p->thread], last = t->first_unlooked[p->thread + 1];
	SEARCH(i, last, u->end[i] <= start);
	for (; i < last && u->start[i] < end; i++)
		time += (u->end[i] < end ? u->end[i] : end) - (u->start[i] > start ? u->start[i] : start);
	return time;
}

/* Whether the gap ended with a copy to the device; `back`: of what was read back before, which is no input; `ahead`:
 * of a later step's input, after some read-back. */
static bool has_brought(const struct charging *c, const struct gap *gap, bool *back, bool *ahead)
{
	const bool copied = gap->next != TRACE_NONE && c->run->trace->ops.kind[gap->next] == OP_COPY;
	int64_t bytes = copied ? brought_bytes(c->run, c->d, gap->next, c->least_input) : 0;
	uint32_t first = c->run->trace->devices[c->d->device].first_op;
	int64_t read = bytes && c->read_back ? c->read_back[gap->next - first] : 0;
	*back = read >= bytes && read >= BROUGHT_BACK_PARTS * c->least_input;
	*ahead = read > 0 && brought_ahead(c->run, c->d, gap->next);
	return bytes;
}

/* What the cells got since the last block's end, into the step table's block in turn. */
static void note_block(struct charging *c)
{
	struct step_table *table = c->table;
	for (uint32_t i = 0; i < c->d->cells.n; i++) {
		struct cell *cell = &c->d->cells.cell[i];
		if (cell->ns != cell->noted)
			step_table_put(table, step_table_idle(table, cell->key.cause, cell->key.phase),
			               cell->ns - cell->noted);
		cell->noted = cell->ns;
	}
}

/* Adds the pieces that were collected, or with sign −1 takes them back. */
static void add_gap(struct charging *c, const struct gap *gap, enum opened opened, bool once, int sign)
{
	const struct run *run = c->run;
	const struct trace_ops *ops = &run->trace->ops;
	int64_t waited = waited_in_alloc(run, gap, &c->pieces);
	bool back, ahead, brought = has_brought(c, gap, &back, &ahead), input = brought && !back;
	struct cell_key key = {.opened = opened,
	                       .once = once,
	                       .blocked = opened == OPENED_SYNC || is_blocked(&c->pieces, c->sharing, c->process),
	                       .pageable = gap->next != TRACE_NONE && (ops->flags[gap->next] & OPF_PAGEABLE),
	                       .lasting = gap->end - gap->start > LASTING_GAP};
	struct step_table *table = c->table;
	bool first = sign > 0 && !once; /* steps do not tell what happens once apart */
	for (size_t k = 0; k < c->pieces.n; k++) {
		const struct doing *p = &c->pieces.piece[k];
		int64_t start = p->start > run->window.start ? p->start : run->window.start;
		int64_t end = p->end < run->window.end ? p->end : run->window.end;
		if (end <= start)
			continue;
		key.cause = p->cause;
		key.phase = run_phase(run, p->phase);
		key.call = p->call;
		key.mutex = p->of_call == OS_MUTEX;
		const bool gives = p->of_call == OS_OUTPUT; /* writes what was read back, and prepares nothing */
		/* what a peer sends is none either; who prepares a later step's may wait for a producer */
		key.input = input && !gives && p->of_call != OS_PEER && (!ahead || p->cause == CAUSE_HOST_BLOCKED);
		key.returned = brought && !gives && !key.input;
		c->d->unlooked += sign * unlooked_time(run->trace, p, start, end);
		for (; first && step_table_passes(table, end); step_table_next(table)) {
			if (start < table->until) {
				add_stretch(c, &key, &(struct charged){start, table->until, p}, &waited, sign);
				start = table->until;
			}
			note_block(c);
		}
		add_stretch(c, &key, &(struct charged){start, end, p}, &waited, sign);
	}
}

/* What most of the gap was: the longest of its stretches of one cause and phase. */
static void add_lasting(struct charging *c, size_t i, const struct gap *gap)
{
	struct once_candidate candidate = {.gap = i};
	int64_t start = gap->start > c->run->window.start ? gap->start : c->run->window.start;
	int64_t end = gap->end < c->run->window.end ? gap->end : c->run->window.end, longest = 0;
	for (size_t k = 0; k < c->pieces.n; k++) {
		const struct doing *p = &c->pieces.piece[k];
		if (p->end - p->start <= longest)
			continue;
		longest = p->end - p->start;
		candidate.cause = p->cause;
		candidate.phase = c->run->phases.by_work ? 0 : run_phase(c->run, p->phase);
	}
	candidate.length = end - start;
	LIST_ADD(&c->pieces.scratch, c->lasting, c->n_lasting, c->lasting_room, candidate);
}

static uint32_t name_of(const struct run *run, uint32_t op)
{
	return op == TRACE_NONE ? TRACE_NONE : run->trace->ops.name[op];
}

/* Gaps that happened once are charged to cells of their own. */
static void set_apart(struct charging *c)
{
	struct run *run = c->run;
	struct device_run *d = c->d;
	size_t n = once_select(c->lasting, c->n_lasting, run->steps.found ? run->window.n_steps : 0);
	d->once = ARENA_NEW(run->arena, n, struct once_gap);
	for (size_t i = 0; i < n; i++) {
		const struct once_candidate *o = &c->lasting[i];
		struct gap gap = run_gap(run, d, o->gap);
		enum opened opened = collect_gap(c, &gap);
		add_gap(c, &gap, opened, false, -1);
		add_gap(c, &gap, opened, true, 1);
		d->once[d->n_once++] =
			(struct once_gap){.start = gap.start > run->window.start ? gap.start : run->window.start,
		                          .end = gap.end < run->window.end ? gap.end : run->window.end,
		                          .cause = o->cause,
		                          .phase = o->phase,
		                          .before = name_of(run, d->gaps[o->gap].before),
		                          .next = name_of(run, gap.next)};
	}
}

void device_charge(struct run *run, struct device_run *d)
{
	struct charging c = {.run = run,
	                     .d = d,
	                     .table = &run->charge->table,
	                     .places = run->charge->places,
	                     .sharing = run_sharing(run, d),
	                     .pieces = {.run = run}};
	ARENA_LOCAL(back);
	c.process = run->trace->devices[d->device].process;
	c.least_input = brought_least(run, d);
	c.read_back = brought_back(run, d, &back);
	d->limit = find_limit(run, d);
	place_sums_init(&d->places, run->arena);
	step_table_rewind(&run->charge->table);
	for (size_t i = 0; i < d->n_gaps; i++) {
		struct gap gap = run_gap(run, d, i);
		if (gap.end <= run->window.start || gap.start >= run->window.end || run_pauses(run, gap.start))
			continue;
		enum opened opened = collect_gap(&c, &gap);
		d->sync_gaps += opened == OPENED_SYNC;
		add_gap(&c, &gap, opened, false, 1);
		if (gap.end - gap.start > LASTING_GAP)
			add_lasting(&c, i, &gap);
	}
	note_block(&c);
	set_apart(&c);
	arena_release(&c.pieces.scratch);
}
