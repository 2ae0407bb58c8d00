#include "oracle_walk.h"

/* Every question is answered by looking at everything: rows against rows, ops against instances. */

bool oracle_has_marks(const struct walk *w, uint32_t thread)
{
	for (size_t k = 0; k < w->n_marks; k++)
		if (w->marks[k].thread == thread)
			return true;
	return false;
}

/* ---- which instance an op belongs to ---- */

/* Of the instances on a thread that are open at t the one that began last; n_marks: none. */
static size_t mark_open(const struct walk *w, uint32_t thread, int64_t t)
{
	size_t best = w->n_marks;
	for (size_t k = 0; k < w->n_marks; k++)
		if (w->marks[k].thread == thread && is_open(&w->marks[k], t) &&
		    (best == w->n_marks || w->marks[k].start > w->marks[best].start ||
		     (w->marks[k].start == w->marks[best].start && w->marks[k].end <= w->marks[best].end)))
			best = k;
	return best;
}

/* GPU time that the thread launched in its own instances, on one device. */
static double time_on(const struct walk *w, uint32_t thread, uint32_t device)
{
	double time = 0;
	for (size_t i = 0; i < w->trace->ops.n; i++)
		if (launcher(w->trace, i) == thread && w->trace->ops.device[i] == device &&
		    mark_open(w, thread, launched_at(w->trace, i)) < w->n_marks)
			time += op_length(w->trace, i);
	return time;
}

/* A device is a thread's when a tenth of that time is on it, or where its process has no other. */
static bool uses(const struct walk *w, uint32_t thread, uint32_t device)
{
	double all = 0, here = time_on(w, thread, device);
	uint32_t process = process_of(w->trace, thread), devices = 0;
	for (uint32_t d = 0; d < w->trace->n_devices; d++) {
		all += time_on(w, thread, d);
		devices += w->trace->devices[d].process == process;
	}
	return devices == 1 ? w->trace->devices[device].process == process : here > 0 && 10 * here >= all;
}

/* Threads with instances that share a device are of one lane: by thread, the smallest number of its lane's threads. */
static uint32_t *lanes_of(const struct walk *w)
{
	uint32_t n = w->trace->n_threads, *lane = ARENA_NEW(w->arena, n, uint32_t);
	bool *use = ARENA_NEW(w->arena, (size_t)n * w->trace->n_devices, bool);
	for (uint32_t u = 0; u < n; u++) {
		lane[u] = u;
		for (uint32_t d = 0; d < w->trace->n_devices && oracle_has_marks(w, u); d++)
			use[u * w->trace->n_devices + d] = uses(w, u, d);
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = 0; v < n; v++)
				for (uint32_t d = 0; d < w->trace->n_devices; d++)
					if (use[u * w->trace->n_devices + d] && use[v * w->trace->n_devices + d] &&
					    lane[u] < lane[v]) {
						lane[v] = lane[u];
						changed = true;
					}
	}
	return lane;
}

/* How many threads of the process have instances. */
static size_t threads_with_marks(const struct walk *w, uint32_t process)
{
	size_t n = 0;
	for (uint32_t u = 0; u < w->trace->n_threads; u++)
		n += process_of(w->trace, u) == process && oracle_has_marks(w, u);
	return n;
}

/* The instance of an op, or n_marks. What a thread without instances launches belongs to those of the threads that use
 * the op's device, or to any where none does. */
static size_t mark_of(const struct walk *w, const uint32_t *lane, size_t op)
{
	const struct trace *trace = w->trace;
	uint32_t thread = launcher(trace, op), used = TRACE_NONE;
	if (thread == TRACE_NONE)
		return w->n_marks;
	int64_t t = launched_at(trace, op);
	if (oracle_has_marks(w, thread))
		return mark_open(w, thread, t);
	uint32_t process = process_of(trace, thread);
	bool several = threads_with_marks(w, process) > 1;
	for (uint32_t u = 0; u < trace->n_threads && several && used == TRACE_NONE; u++)
		if (process_of(trace, u) == process && oracle_has_marks(w, u) &&
		    time_on(w, u, trace->ops.device[op]) > 0)
			used = lane[u];
	size_t best = w->n_marks;
	for (uint32_t u = 0; u < trace->n_threads; u++) {
		if (process_of(trace, u) != process || !oracle_has_marks(w, u) ||
		    (used != TRACE_NONE && lane[u] != used))
			continue;
		size_t k = mark_open(w, u, t);
		if (k < w->n_marks && (best == w->n_marks || w->marks[k].start > w->marks[best].start))
			best = k;
	}
	return best;
}

/* ---- which instance is which step ---- */

static bool is_before(const struct mark *a, const struct mark *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->thread != b->thread)
		return a->thread < b->thread;
	return a->end > b->end;
}

/* Place of an instance among those on its thread, and their number. */
static size_t place_on_thread(const struct walk *w, const struct mark *m, size_t *n)
{
	size_t place = 0;
	*n = 0;
	for (size_t k = 0; k < w->n_marks; k++)
		if (w->marks[k].thread == m->thread) {
			++*n;
			place += is_before(&w->marks[k], m);
		}
	return place;
}

/* Whether something launched in [from, to), by the thread, or by the process where it is the only one with instances,
 * has no op. */
static bool misses_op(const struct walk *w, const struct mark *m, int64_t from, int64_t to)
{
	const struct trace *trace = w->trace;
	bool alone = threads_with_marks(w, m->process) == 1;
	for (size_t c = 0; c < trace->calls.n; c++) {
		uint32_t thread = trace->calls.thread[c];
		bool ours = thread == m->thread || (alone && process_of(trace, thread) == m->process);
		if (!ours || trace->calls.class[c] != CALL_LAUNCH || trace->calls.start[c] < from ||
		    trace->calls.start[c] >= to)
			continue;
		bool found = false;
		for (size_t i = 0; i < trace->ops.n; i++)
			found = found || trace->ops.launch[i] == c;
		if (!found)
			return true;
	}
	return false;
}

/* What the end of the capture cuts: the last instances of a thread, while they were open when it stopped, or hold
 * launches that never ran although the thread's first half has none of them. */
static void cut_find(struct walk *w)
{
	for (uint32_t u = 0; u < w->trace->n_threads; u++) {
		struct mark **on = ARENA_NEW(w->arena, w->n_marks, struct mark *);
		size_t n = 0;
		for (size_t k = 0; k < w->n_marks; k++)
			if (w->marks[k].thread == u)
				on[place_on_thread(w, &w->marks[k], &n)] = &w->marks[k];
		if (n == 0)
			continue;
		bool complete = !misses_op(w, on[0], on[0]->start, on[n / 2]->start);
		for (size_t k = n; k-- > n / 2;) {
			bool open = on[k]->cut;
			on[k]->cut = open || (complete && misses_op(w, on[k], on[k]->start, on[k]->end));
			if (!on[k]->cut)
				break;
		}
	}
}

static bool lane_communicates(const struct walk *w, const uint32_t *lane, const size_t *of_op, uint32_t l)
{
	for (size_t i = 0; i < w->trace->ops.n; i++)
		if (of_op[i] < w->n_marks && lane[w->marks[of_op[i]].thread] == l && w->trace->ops.kind[i] == OP_COMM)
			return true;
	return false;
}

/* ---- ranks that were recorded from different steps on ---- */

/* Place of an instance in its lane, those that are cut left out. */
static size_t place_in_lane(const struct walk *w, const uint32_t *lane, size_t mark)
{
	size_t place = 0;
	for (size_t k = 0; k < w->n_marks; k++)
		place += !w->marks[k].cut && lane[w->marks[k].thread] == lane[w->marks[mark].thread] &&
		         is_before(&w->marks[k], &w->marks[mark]);
	return place;
}

/* When an instance's ops begin and end; false: it has none. */
static bool ops_span(const struct walk *w, const size_t *of_op, size_t mark, int64_t *start, int64_t *end)
{
	bool any = false;
	for (size_t i = 0; i < w->trace->ops.n; i++) {
		if (of_op[i] != mark)
			continue;
		*start = !any || w->trace->ops.start[i] < *start ? w->trace->ops.start[i] : *start;
		*end = !any || w->trace->ops.end[i] > *end ? w->trace->ops.end[i] : *end;
		any = true;
	}
	return any;
}

/* How many steps later lane `l` begins than lane `with`, where nine in ten of its instances, five at least, overlap the
 * one that this says most; else 0. */
static int64_t lane_shift(const struct walk *w, const uint32_t *lane, const size_t *of_op, uint32_t l, uint32_t with)
{
	int64_t *votes = ARENA_NEW(w->arena, w->n_marks, int64_t), start[2] = {0}, end[2] = {0};
	size_t all = 0;
	for (size_t k = 0; k < w->n_marks; k++) {
		int64_t longest = 0, vote = 0;
		size_t nearest = SIZE_MAX;
		if (w->marks[k].cut || lane[w->marks[k].thread] != l || !ops_span(w, of_op, k, &start[0], &end[0]))
			continue;
		for (size_t j = 0; j < w->n_marks; j++) {
			if (w->marks[j].cut || lane[w->marks[j].thread] != with ||
			    !ops_span(w, of_op, j, &start[1], &end[1]))
				continue;
			int64_t both =
				(end[0] < end[1] ? end[0] : end[1]) - (start[0] > start[1] ? start[0] : start[1]);
			size_t place = place_in_lane(w, lane, j);
			if (both > longest || (both > 0 && both == longest && place < nearest)) {
				longest = both;
				nearest = place;
				vote = (int64_t)place - (int64_t)place_in_lane(w, lane, k);
			}
		}
		if (longest > 0)
			votes[all++] = vote;
	}
	for (size_t i = 0; i < all; i++) {
		size_t agree = 0;
		for (size_t k = 0; k < all; k++)
			agree += votes[k] == votes[i];
		if (agree >= 5 && 10 * agree >= 9 * all)
			return votes[i];
	}
	return 0;
}

/* Of ranks that communicate only steps count that all of them recorded, five at least. Returns how many; 0: they are as
 * they were recorded. */
static size_t number_by_time(const struct walk *w, const uint32_t *lane, const size_t *of_op)
{
	uint32_t n_threads = w->trace->n_threads, with = TRACE_NONE;
	int64_t *at = ARENA_NEW(w->arena, n_threads, int64_t), from = INT64_MIN, to = INT64_MAX;
	size_t *n = ARENA_NEW(w->arena, n_threads, size_t);
	bool apart = false;
	for (size_t k = 0; k < w->n_marks; k++)
		n[lane[w->marks[k].thread]] += !w->marks[k].cut;
	for (uint32_t l = 0; l < n_threads; l++)
		with = n[l] && (with == TRACE_NONE || n[l] > n[with]) ? l : with;
	for (uint32_t l = 0; l < n_threads; l++) {
		bool any = false;
		for (size_t k = 0; k < w->n_marks; k++)
			any = any || lane[w->marks[k].thread] == l;
		if (!any)
			continue;
		if (!n[l])
			return 0;
		at[l] = l == with ? 0 : lane_shift(w, lane, of_op, l, with);
		apart = apart || at[l];
		from = at[l] > from ? at[l] : from;
		to = at[l] + (int64_t)n[l] < to ? at[l] + (int64_t)n[l] : to;
	}
	if (!apart || to - from < 5)
		return 0;
	for (size_t k = 0; k < w->n_marks; k++) {
		int64_t step = (int64_t)place_in_lane(w, lane, k) + at[lane[w->marks[k].thread]] - from;
		bool counts = !w->marks[k].cut && step >= 0 && step < to - from;
		w->marks[k].step = counts ? (size_t)step : SIZE_MAX;
	}
	return (size_t)(to - from);
}

/* Numbers the instances: in each lane for itself where the lanes are ranks, else all together. Returns the steps. */
static size_t steps_number(const struct walk *w, const uint32_t *lane, const size_t *of_op, bool *by_start)
{
	size_t least = SIZE_MAX, most = 0, all = 0;
	bool talk = true;
	for (uint32_t l = 0; l < w->trace->n_threads; l++) {
		size_t n = 0;
		bool any = false;
		for (size_t k = 0; k < w->n_marks; k++) {
			any = any || lane[w->marks[k].thread] == l;
			n += lane[w->marks[k].thread] == l && !w->marks[k].cut;
		}
		if (!any)
			continue;
		least = n < least ? n : least;
		most = n > most ? n : most;
		all += n;
		talk = talk && lane_communicates(w, lane, of_op, l);
	}
	bool ranks = most - least <= 2 || 20 * (most - least) <= most || talk;
	size_t by_time = talk ? number_by_time(w, lane, of_op) : 0;
	*by_start = !by_time;
	if (by_time)
		return by_time;
	for (size_t k = 0; k < w->n_marks; k++) {
		size_t place = 0;
		for (size_t j = 0; j < w->n_marks; j++)
			place += !w->marks[j].cut && (!ranks || lane[w->marks[j].thread] == lane[w->marks[k].thread]) &&
			         is_before(&w->marks[j], &w->marks[k]);
		w->marks[k].step = w->marks[k].cut || (ranks && place >= least) ? SIZE_MAX : place;
	}
	return ranks ? least : all;
}

/* ---- when a step ended ---- */

/* When an op was launched, or began where that is not known. */
static int64_t begun_at(const struct trace *trace, size_t op)
{
	return trace->ops.launch[op] == TRACE_NONE ? trace->ops.start[op] : launched_at(trace, op);
}

/* When the first step begins, on the first rank to begin: where its first range does, or where what was launched before
 * that has ended. */
static int64_t first_begin(const struct walk *w)
{
	int64_t begin = INT64_MAX;
	for (uint32_t p = 0; p < w->trace->n_processes; p++) {
		int64_t first = INT64_MAX, from;
		for (size_t k = 0; k < w->n_marks; k++)
			if (w->marks[k].process == p && w->marks[k].start < first)
				first = w->marks[k].start;
		if (first == INT64_MAX)
			continue;
		from = first;
		for (size_t i = 0; i < w->trace->ops.n; i++)
			if (w->trace->devices[w->trace->ops.device[i]].process == p && begun_at(w->trace, i) < first &&
			    w->trace->ops.end[i] > from)
				from = w->trace->ops.end[i];
		begin = from < begin ? from : begin;
	}
	return begin;
}

/* Of eight marked steps or fewer the first one counts, too: `begin` is where it begins; negative: that is not known. */
static void steps_end(const struct walk *w, const size_t *of_op, size_t n, int64_t begin, struct oracle *out)
{
	int64_t *own = ARENA_NEW(w->arena, n, int64_t), *end = ARENA_NEW(w->arena, n, int64_t);
	bool few = n <= 8;
	for (size_t k = 0; k < n; k++)
		own[k] = -1;
	for (size_t i = 0; i < w->trace->ops.n; i++) {
		size_t step = of_op[i] < w->n_marks ? w->marks[of_op[i]].step : SIZE_MAX;
		if (step != SIZE_MAX && w->trace->ops.end[i] > own[step])
			own[step] = w->trace->ops.end[i];
	}
	while (n && own[n - 1] < 0) /* trailing steps without GPU work */
		n--;
	for (size_t k = 0; k < n; k++) {
		size_t with_ops = k; /* a step without ops ends with the next that has some */
		while (own[with_ops] < 0)
			with_ops++;
		for (size_t j = 0; j <= with_ops; j++)
			end[k] = own[j] > end[k] ? own[j] : end[k];
	}
	/* Where a step's ops outlive a later step's, the last end is not the end of anything: the loop might have gone
	 * on under it. */
	bool outlived = false;
	for (size_t k = 1; k < n; k++)
		for (size_t j = 0; j < k; j++)
			outlived = outlived || (own[k] >= 0 && own[j] >= own[k]);
	size_t closed = 0;
	while (closed < n && end[closed] < end[n - 1])
		closed++;
	if (outlived && closed >= 3)
		n = closed;
	/* Those that end together divide the time since the end before; up to the first end they are one. */
	size_t together = 0, merged = 0;
	out->step_end = ARENA_NEW(w->arena, n + 1, int64_t);
	out->opened = few && n > 0 && begin >= 0 && begin < end[0];
	if (out->opened)
		out->step_end[out->n_steps++] = begin;
	for (size_t k = 0; k < n; k += together) {
		together = 1;
		while (k + together < n && end[k + together] == end[k])
			together++;
		int64_t before = k ? end[k - 1] : begin;
		if (k == 0 && !out->opened) {
			merged = together - 1;
			out->step_end[out->n_steps++] = end[0];
			continue;
		}
		for (size_t j = 1; j <= together; j++)
			out->step_end[out->n_steps++] = before + (end[k] - before) * (int64_t)j / (int64_t)together;
	}
	for (size_t k = 0; k < w->n_marks; k++) {
		size_t *step = &w->marks[k].step;
		if (*step != SIZE_MAX)
			*step = *step < merged ? 0 : *step - merged + out->opened;
		if (*step >= out->n_steps)
			*step = SIZE_MAX;
	}
}

void oracle_steps_find(struct walk *w, const char *step, struct oracle *out)
{
	const struct trace *trace = w->trace;
	oracle_range_choose(w, step ? names_add_text(trace->names, step) : 0);
	out->steps = w->steps;
	out->step_name = w->name;
	w->owner = ARENA_NEW(w->arena, trace->n_processes, uint32_t);
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		w->owner[p] = TRACE_NONE;
		for (uint32_t u = 0; u < trace->n_threads; u++)
			if (process_of(trace, u) == p && oracle_has_marks(w, u) &&
			    (w->owner[p] == TRACE_NONE ||
			     oracle_marks_total(w->marks, w->n_marks, u) >
			             oracle_marks_total(w->marks, w->n_marks, w->owner[p])))
				w->owner[p] = u;
	}
	if (!w->steps)
		return;
	uint32_t *lane = lanes_of(w);
	size_t *of_op = ARENA_NEW(w->arena, trace->ops.n, size_t);
	for (size_t i = 0; i < trace->ops.n; i++)
		of_op[i] = mark_of(w, lane, i);
	cut_find(w);
	bool by_start;
	size_t n = steps_number(w, lane, of_op, &by_start);
	steps_end(w, of_op, n, by_start ? first_begin(w) : -1, out);
}
