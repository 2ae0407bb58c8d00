#include "run/instants.h"

#include "base/list.h"
#include "base/words.h"
#include "run/choose_steps.h"
#include "run/run.h"

/* How near a capture of another thread may come: so many steps, and at least this. */
enum { NEAR_STEPS = 3 };
static const int64_t NEAR_NS = 50000000;

/* ---- captures ---- */

/* A graph capture, from the call that began it to the end of the call that ended it. */
struct capture {
	int64_t start, end;
	uint32_t process, thread;
};
struct captures {
	struct capture *item;
	size_t n;
};

/* Calls of a thread are in order. A capture that ends on another thread, or not at all, is taken to last to the end. */
static struct captures find_captures(const struct trace *t, struct arena *arena)
{
	struct captures all = {0};
	bool open = false;
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t thread = t->calls.thread[i];
		open = open && all.item[all.n - 1].thread == thread;
		const char *name = names_text(t->names, t->calls.name[i]);
		if (words_begin("cudaStreamBeginCapture cuStreamBeginCapture", name)) {
			LIST_PUT(arena, all.item, all.n,
			         (struct capture){t->calls.start[i], INT64_MAX, t->threads[thread].process, thread});
			open = true;
		} else if (open && words_begin("cudaStreamEndCapture cuStreamEndCapture", name)) {
			all.item[all.n - 1].end = t->calls.end[i];
			open = false;
		}
	}
	return all;
}

static bool breaks_capture(const struct captures *all, uint32_t process, uint32_t thread, int64_t at, int64_t near)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct capture *c = &all->item[i];
		int64_t room = c->thread == thread ? 0 : near;
		if (c->process == process && c->start <= at + room && (c->end == INT64_MAX || c->end > at - room))
			return true;
	}
	return false;
}

/* ---- the ends of steps on the host ---- */

/* When a process has ended its part of a step, and on which thread; `n` 0: it has none. */
struct host_end {
	int64_t at;
	uint32_t thread, n; /* instances of the step in this process: ranks */
};
struct host {
	uint32_t process;
	struct host_end *of_step;
};
struct hosts {
	struct host *item;
	uint32_t n;
};

static struct hosts find_hosts(const struct steps *s, struct arena *arena)
{
	struct hosts hosts = {ARENA_NEW(arena, s->n_threads, struct host), 0};
	for (uint32_t i = 0; i < s->n_threads; i++) { /* by process */
		const struct step_thread *t = &s->threads[i];
		if (!hosts.n || hosts.item[hosts.n - 1].process != t->process)
			hosts.item[hosts.n++] = (struct host){t->process, ARENA_NEW(arena, s->n, struct host_end)};
		for (uint32_t k = 0; k < t->n; k++) {
			if (t->step[k] == TRACE_NONE)
				continue;
			struct host_end *e = &hosts.item[hosts.n - 1].of_step[t->step[k]];
			if (!e->n++ || t->end[k] > e->at) {
				e->at = t->end[k];
				e->thread = t->thread;
			}
		}
	}
	return hosts;
}

static bool is_safe(const struct hosts *hosts, const struct captures *captures, uint32_t step, int64_t near)
{
	for (uint32_t p = 0; p < hosts->n; p++) {
		const struct host_end *e = &hosts->item[p].of_step[step];
		if (breaks_capture(captures, hosts->item[p].process, e->thread, e->at, near))
			return false;
	}
	return true;
}

static int64_t greatest_lag(const struct steps *s, const struct hosts *hosts)
{
	int64_t lag = 0;
	for (uint32_t p = 0; p < hosts->n; p++)
		for (uint32_t step = 0; step < s->n; step++) {
			const struct host_end *e = &hosts->item[p].of_step[step];
			if (e->n && s->end[step] - e->at > lag)
				lag = s->end[step] - e->at;
		}
	return lag;
}

/* ---- counts ---- */

/* How many of the step's ranges of a process have ended by `at`. */
static uint32_t ended_by(const struct run *run, uint32_t process, int64_t at)
{
	const struct trace_ranges *r = &run->trace->ranges;
	uint32_t n = 0;
	for (size_t i = 0; i < r->n; i++)
		n += run->fold.of[r->name[i]] == run->steps.name && r->domain[i] == run->steps.domain &&
		     run->trace->threads[r->thread[i]].process == process && !r->clipped[i] && r->end[i] <= at;
	return n;
}

/* A call that launches a kernel or a graph: one call of the driver, which the library counts. */
static bool is_launch(const struct trace *t, size_t i)
{
	return words_begin("cudaLaunchKernel cuLaunchKernel cudaLaunchCooperativeKernel cuLaunchCooperativeKernel "
	                   "cudaGraphLaunch cuGraphLaunch",
	                   names_text(t->names, t->calls.name[i]));
}

/* How many launches of a process have ended by `at`. The driver's call inside the runtime's is the same one. */
static uint32_t launched_by(const struct trace *t, uint32_t process, int64_t at)
{
	uint32_t n = 0, thread = TRACE_NONE;
	int64_t until = INT64_MIN;
	for (size_t i = 0; i < t->calls.n; i++) {
		if (t->calls.end[i] > at || t->threads[t->calls.thread[i]].process != process)
			continue;
		if (t->calls.thread[i] != thread)
			until = INT64_MIN;
		thread = t->calls.thread[i];
		if (t->calls.start[i] < until || !is_launch(t, i))
			continue;
		until = t->calls.end[i];
		n++;
	}
	return n;
}

/* What is counted. */
static uint32_t counted_by(const struct run *run, uint32_t process, int64_t at)
{
	return run->steps.origin == STEPS_BY_PATTERN ? launched_by(run->trace, process, at)
	                                             : ended_by(run, process, at);
}

/* Instances of steps that a process ends after `from` and by `to`. */
static uint32_t steps_between(const struct steps *s, uint32_t process, int64_t from, int64_t to)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_threads; i++)
		for (uint32_t k = 0; k < s->threads[i].n && s->threads[i].process == process; k++)
			n += s->threads[i].step[k] != TRACE_NONE && s->threads[i].end[k] > from &&
			     s->threads[i].end[k] <= to;
	return n;
}

static const char *count(const struct run *run, const struct hosts *hosts, uint32_t first, uint32_t last,
                         struct instants *out)
{
	for (uint32_t p = 0; p < hosts->n; p++) {
		const struct host *h = &hosts->item[p];
		const struct host_end *from = &h->of_step[first], *to = &h->of_step[last];
		if (!from->n || from->n != to->n)
			return "turns";
		uint32_t counts[2] = {counted_by(run, h->process, from->at), counted_by(run, h->process, to->at)};
		uint32_t steps = steps_between(&run->steps, h->process, from->at, to->at);
		uint32_t launches =
			run->steps.origin == STEPS_BY_PATTERN ? launched_by(run->trace, h->process, INT64_MAX) : 0;
		if (steps % from->n || !counts[0] || counts[0] >= counts[1])
			return "threads";
		if (p && (out->first != counts[0] || out->last != counts[1] || out->steps != steps / from->n ||
		          out->launches != launches))
			return "processes";
		out->launches = launches;
		out->first = counts[0];
		out->last = counts[1];
		out->steps = steps / from->n;
	}
	return NULL;
}

static bool lost_some(const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_dropped; i++)
		if (t->dropped[i].kind == ROWS_RANGES || t->dropped[i].kind == ROWS_CALLS)
			return true;
	return t->source.lost > 0;
}

/* The longest stretch of measured steps between two pauses, from the end of its first one to that of its last: a timed
 * run takes the time twice. */
static void find_longest(const struct run *run, uint32_t *first, uint32_t *last)
{
	const struct steps *s = &run->steps;
	uint32_t from = run->window.warmup ? run->window.warmup - 1 : 0;
	*first = *last = from;
	for (uint32_t k = from; k < s->n; k++) {
		if (k - from > *last - *first) {
			*first = from;
			*last = k;
		}
		from = run_pauses(run, s->end[k]) ? k + 1 : from;
	}
}

static const char *place(const struct run *run, const struct hosts *hosts, struct arena *arena, struct instants *out)
{
	const struct steps *s = &run->steps;
	struct captures captures = find_captures(run->trace, arena);
	uint32_t first, last;
	find_longest(run, &first, &last);
	if (lost_some(run->trace))
		return "lost";
	int64_t near = last > first ? NEAR_STEPS * ((s->end[last] - s->end[first]) / (last - first)) : 0;
	near = near > NEAR_NS ? near : NEAR_NS;
	while (first < last && !is_safe(hosts, &captures, first, near))
		first++;
	while (first < last && !is_safe(hosts, &captures, last, near))
		last--;
	if (first < last)
		return count(run, hosts, first, last, out);
	return captures.n ? "captures" : "few";
}

const char *instants_step(const struct run *run)
{
	return run->steps.origin == STEPS_BY_PATTERN ? run->loops.list[run->agreed.loop].title
	                                             : names_text(run->trace->names, run->steps.name);
}

double instants_launches(const struct run *run)
{
	const struct steps *s = &run->steps;
	ARENA_LOCAL(scratch);
	struct instants at = {0};
	struct hosts hosts = find_hosts(s, &scratch);
	uint32_t first, last;
	find_longest(run, &first, &last);
	const char *unknown = first < last ? count(run, &hosts, first, last, &at) : "few";
	return unknown ? 0 : (double)(at.last - at.first) / at.steps;
}

static void find_instants(const struct run *run, struct arena *arena, struct instants *out)
{
	if (!run->steps.found)
		return;
	struct hosts hosts = find_hosts(&run->steps, arena);
	out->steps = 1;
	out->step = instants_step(run);
	out->domain = run->steps.origin == STEPS_BY_PATTERN ? "" : names_text(run->trace->names, run->steps.domain);
	out->processes = hosts.n;
	out->lag_ns = greatest_lag(&run->steps, &hosts);
	out->unknown = place(run, &hosts, arena, out);
}

int instants_find(const struct trace *const *trace, int n, const struct instants_request *how, struct arena *arena,
                  struct instants *out, struct err *err)
{
	struct run *runs = ARENA_NEW(arena, (size_t)n, struct run);
	struct pattern_side *sides = ARENA_NEW(arena, (size_t)n, struct pattern_side);
	for (int s = 0; s < n; s++) {
		sides[s] = (struct pattern_side){&runs[s], 1};
		run_open(&runs[s], trace[s], arena);
		run_begin(&runs[s]);
		runs[s].asked.by_loop = how->loop != NULL;
		if (run_find_steps(&runs[s], how->step, err) < 0)
			return -1;
	}
	if (steps_agree(sides, n, NULL, how->step, how->loop, arena, err) < 0)
		return -1;
	for (int s = 0; s < n; s++) {
		runs[s].window = window_find(&runs[s], how->warmup);
		out[s] = (struct instants){0};
		find_instants(&runs[s], arena, &out[s]);
	}
	return 0;
}
