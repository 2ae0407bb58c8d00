#include "oracle_walk.h"

#include <string.h>

/* Which range is the step: every range is held against every op. */

/* A push/pop range inside another of its kind is part of it. */
static bool is_nested(const struct trace_ranges *r, size_t i)
{
	for (size_t j = 0; j < r->n; j++) {
		bool same_kind = r->thread[j] == r->thread[i] && r->domain[j] == r->domain[i] &&
		                 r->name[j] == r->name[i] && r->kind[j] == RANGE_PUSH_POP &&
		                 r->kind[i] == RANGE_PUSH_POP;
		bool equal = r->start[j] == r->start[i] && r->end[j] == r->end[i];
		if (same_kind && j != i && r->start[j] <= r->start[i] && r->end[j] >= r->end[i] &&
		    r->start[i] < r->end[j] && (!equal || j < i))
			return true;
	}
	return false;
}

struct choice {
	uint32_t process, name, domain;
	struct mark *marks;
	size_t n;
	int64_t total;
	bool overlap, fits;
	double stretch, work; /* GPU time from the first to the last; without communication */
};

/* The share of the thread's instances that hold a launch of its own. */
static double launches_itself(const struct walk *w, const struct choice *c, uint32_t thread)
{
	size_t n = 0, launching = 0;
	for (size_t k = 0; k < c->n; k++) {
		if (c->marks[k].thread != thread)
			continue;
		bool found = false;
		for (size_t i = 0; i < w->trace->ops.n; i++)
			found = found ||
			        (launcher(w->trace, i) == thread && is_open(&c->marks[k], launched_at(w->trace, i)));
		n++;
		launching += found;
	}
	return n ? (double)launching / (double)n : 0;
}

/* Time of the kernels that a thread launches in its own instances, an instance. */
static double kernels_of(const struct walk *w, const struct choice *c, uint32_t thread)
{
	double time = 0;
	size_t n = 0;
	for (size_t k = 0; k < c->n; k++) {
		if (c->marks[k].thread != thread)
			continue;
		n++;
		for (size_t i = 0; i < w->trace->ops.n; i++)
			if (w->trace->ops.kind[i] != OP_COPY && w->trace->ops.kind[i] != OP_MEMSET &&
			    launcher(w->trace, i) == thread && is_open(&c->marks[k], launched_at(w->trace, i)))
				time += op_length(w->trace, i);
	}
	return n ? time / (double)n : 0;
}

int64_t oracle_marks_total(const struct mark *marks, size_t n, uint32_t thread)
{
	int64_t total = 0;
	for (size_t k = 0; k < n; k++)
		if (marks[k].thread == thread)
			total += marks[k].end - marks[k].start;
	return total;
}

static int64_t total_on(const struct choice *c, uint32_t thread)
{
	return oracle_marks_total(c->marks, c->n, thread);
}

static bool is_on(const struct choice *c, uint32_t thread)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->marks[k].thread == thread)
			return true;
	return false;
}

/* Of several threads those stay that launch in half as many of their instances as another one, and no less than a tenth
 * of the kernels that another of them does; if none does, all do. */
static void drop_watchers(const struct walk *w, struct choice *c)
{
	bool *stays = ARENA_NEW(w->arena, w->trace->n_threads, bool);
	size_t threads = 0, launching = 0, kept = 0;
	double most = 0, most_share = 0;
	for (uint32_t u = 0; u < w->trace->n_threads; u++) {
		if (is_on(c, u) && kernels_of(w, c, u) > most)
			most = kernels_of(w, c, u);
		if (is_on(c, u) && launches_itself(w, c, u) > most_share)
			most_share = launches_itself(w, c, u);
	}
	for (uint32_t u = 0; u < w->trace->n_threads; u++) {
		if (!is_on(c, u))
			continue;
		threads++;
		stays[u] = 2 * launches_itself(w, c, u) >= most_share && 10 * kernels_of(w, c, u) >= most;
		launching += stays[u];
	}
	if (threads < 2 || launching == 0)
		return;
	for (size_t k = 0; k < c->n; k++)
		if (stays[c->marks[k].thread])
			c->marks[kept++] = c->marks[k];
	c->n = kept;
}

/* Whether the name says that it is a step; the random traces have no other such names. */
static bool is_called_step(const struct walk *w, uint32_t name)
{
	return strncmp(names_text(w->trace->names, name), "step", 4) == 0;
}

/* The rules that one process can tell: five instances, or a name that says it, 80 % of them launch, whether or not it
 * ran before the capture ended, and of the GPU time launched from the first to the last 70 % was launched while one was
 * open; one in which the capture ended counts for neither, if another one is whole. */
static bool is_step(const struct walk *w, struct choice *c)
{
	const struct trace *trace = w->trace;
	bool *launched = ARENA_NEW(w->arena, c->n, bool);
	double inside = 0;
	size_t launching = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	bool whole = false;
	for (size_t k = 0; k < c->n; k++)
		whole = whole || !c->marks[k].cut;
	for (size_t k = 0; k < c->n; k++) {
		if (whole && c->marks[k].cut)
			continue;
		first = c->marks[k].start < first ? c->marks[k].start : first;
		last = c->marks[k].end > last ? c->marks[k].end : last;
	}
	for (size_t i = 0; i < trace->ops.n; i++) {
		uint32_t thread = launcher(trace, i);
		if (thread == TRACE_NONE || process_of(trace, thread) != c->process)
			continue;
		int64_t t = launched_at(trace, i);
		bool open = false;
		for (size_t k = 0; k < c->n; k++)
			if (is_open(&c->marks[k], t)) {
				launched[k] = true;
				open = open || !whole || !c->marks[k].cut;
			}
		c->stretch += t >= first && t < last ? op_length(trace, i) : 0;
		c->work += t >= first && t < last && trace->ops.kind[i] != OP_COMM ? op_length(trace, i) : 0;
		inside += open ? op_length(trace, i) : 0;
	}
	for (size_t i = 0; i < trace->calls.n; i++)
		for (size_t k = 0; k < c->n && trace->calls.class[i] == CALL_LAUNCH; k++)
			launched[k] = launched[k] || (process_of(trace, trace->calls.thread[i]) == c->process &&
			                              is_open(&c->marks[k], trace->calls.start[i]));
	for (size_t k = 0; k < c->n; k++)
		launching += launched[k];
	return c->n >= (is_called_step(w, c->name) ? 1 : 5) && 10 * launching >= 8 * c->n && c->stretch > 0 &&
	       10 * inside >= 7 * c->stretch;
}

static void choice_fill(const struct walk *w, uint32_t process, uint32_t domain, uint32_t name, struct choice *c)
{
	const struct trace_ranges *r = &w->trace->ranges;
	*c = (struct choice){.process = process, .name = name, .domain = domain};
	c->marks = ARENA_NEW(w->arena, r->n, struct mark);
	for (size_t i = 0; i < r->n; i++)
		if (process_of(w->trace, r->thread[i]) == process && r->domain[i] == domain && r->name[i] == name &&
		    !is_nested(r, i))
			c->marks[c->n++] =
				(struct mark){process, r->thread[i], r->start[i], r->end[i], r->clipped[i], SIZE_MAX};
	drop_watchers(w, c);
	for (size_t k = 0; k < c->n; k++) {
		int64_t total = total_on(c, c->marks[k].thread);
		c->total = total > c->total ? total : c->total;
		for (size_t j = 0; j < k; j++)
			c->overlap = c->overlap ||
			             (c->marks[j].thread == c->marks[k].thread && c->marks[j].start < c->marks[k].end &&
			              c->marks[k].start < c->marks[j].end);
	}
}

static bool is_better(const struct walk *w, const struct choice *a, const struct choice *b)
{
	if (b && is_called_step(w, a->name) != is_called_step(w, b->name))
		return is_called_step(w, a->name);
	if (!b || a->overlap != b->overlap)
		return !b || b->overlap;
	if (a->total != b->total)
		return a->total > b->total;
	if (a->process != b->process)
		return a->process < b->process;
	return a->name != b->name ? a->name < b->name : a->domain < b->domain;
}

/* Fills w->marks with the instances of the range that is taken. */
void oracle_range_choose(struct walk *w, uint32_t wanted)
{
	const struct trace *trace = w->trace;
	const struct trace_ranges *r = &trace->ranges;
	struct choice *list = ARENA_NEW(w->arena, r->n, struct choice);
	const struct choice *best = NULL;
	size_t n = 0;
	double whole = 0, whole_work = 0;
	for (size_t i = 0; i < trace->ops.n; i++) {
		whole += op_length(trace, i);
		whole_work += trace->ops.kind[i] != OP_COMM ? op_length(trace, i) : 0;
	}
	for (size_t i = 0; i < r->n; i++) {
		uint32_t process = process_of(trace, r->thread[i]);
		bool seen = wanted && r->name[i] != wanted;
		for (size_t k = 0; k < n && !seen; k++)
			seen = list[k].process == process && list[k].name == r->name[i] &&
			       list[k].domain == r->domain[i];
		if (seen)
			continue;
		choice_fill(w, process, r->domain[i], r->name[i], &list[n]);
		list[n].fits = wanted || is_step(w, &list[n]);
		n++;
	}
	for (size_t k = 0; k < n; k++) {
		double stretch = 0, work = 0; /* of all processes */
		for (size_t j = 0; j < n; j++)
			if (list[j].fits && list[j].name == list[k].name && list[j].domain == list[k].domain) {
				stretch += list[j].stretch;
				work += list[j].work;
			}
		bool half = 2 * stretch >= whole || (work > 0 && 2 * work >= whole_work);
		if (list[k].fits && (wanted || half) && is_better(w, &list[k], best))
			best = &list[k];
	}
	w->marks = ARENA_NEW(w->arena, r->n, struct mark);
	w->steps = best != NULL;
	for (size_t k = 0; k < n && best; k++)
		for (size_t i = 0; i < list[k].n; i++)
			if (list[k].fits && list[k].name == best->name && list[k].domain == best->domain)
				w->marks[w->n_marks++] = list[k].marks[i];
	w->name = best ? best->name : 0;
	w->domain = best ? best->domain : 0;
}
