#include "run/run.h"

#include "verdict/series.h"

/* Without steps: from the first to the last kernel or explicit copy. Unified memory that the host reads back after the
 * last kernel is none of it. */
static void find_span(const struct extent *extent, struct window *out)
{
	bool some = extent->last_explicit >= extent->first_explicit;
	out->start = some ? extent->first_explicit : extent->first_op;
	out->end = some ? extent->last_explicit : extent->last_op;
}

/* The grids beside the periods, if they are known and differ. */
static const int64_t *grids_of(const struct steps *s)
{
	bool differ = false;
	for (uint32_t k = 1; k < s->n; k++) {
		if (!s->grid[k])
			return NULL;
		differ = differ || s->grid[k] != s->grid[1];
	}
	return differ ? s->grid + 1 : NULL;
}

/* Every step period, without the pauses between stretches. */
static const int64_t *periods_of(const struct steps *s, struct arena *arena)
{
	int64_t *period = ARENA_NEW(arena, s->n, int64_t);
	for (uint32_t k = 1, pause = 0; k < s->n; k++) {
		period[k - 1] = s->end[k] - s->end[k - 1];
		if (pause < s->pauses.n && s->pauses.at[pause][0] == s->end[k - 1]) {
			period[k - 1] -= s->pauses.at[pause][1] - s->pauses.at[pause][0];
			pause++;
		}
	}
	return period;
}

static void measure_steps(const struct run *run, int warmup, struct window *out)
{
	const struct steps *s = &run->steps;
	out->period = periods_of(s, run->arena);
	out->n_periods = s->n - 1;
	out->grid = grids_of(s);
	const struct verdict_run all = {.period = out->period,
	                                .n = out->n_periods,
	                                .grid = out->grid,
	                                .opened = s->opened,
	                                .shrinks = run->agreed.shrinks};
	struct series series;
	series_cut(&all, warmup, &series);
	out->warmup = (uint32_t)series.cut + 1;
	out->n_steps = s->n - out->warmup;
	out->start = s->end[out->warmup - 1];
	out->end = s->end[s->n - 1];
	for (uint32_t k = out->warmup - 1; k < out->n_periods; k++)
		out->ns += out->period[k];
}

bool run_pauses_at(const struct run *run, int64_t t)
{
	int64_t until = INT64_MAX;
	return spans_hold(&run->steps.pauses, t, &until);
}

bool run_next_measured(const struct run *run, int64_t *at, int64_t end, int64_t *from)
{
	*at = *at < run->window.start ? run->window.start : *at;
	end = end < run->window.end ? end : run->window.end;
	while (*at < end) {
		int64_t until = end;
		bool pauses = run->steps.pauses.n && spans_hold(&run->steps.pauses, *at, &until);
		*from = *at;
		*at = until;
		if (!pauses)
			return true;
	}
	return false;
}

int64_t run_paused_in(const struct run *run, int64_t start, int64_t end)
{
	int64_t ns = end - start;
	for (int64_t at = start; run_next_measured(run, &at, end, &start);)
		ns -= at - start;
	return ns;
}

/* Adds when a thread with instances was in the measured ones to what is known of its process; at a step that begins a
 * stretch another part begins. */
static void add_host_parts(const struct steps *s, uint32_t warmup, const struct step_thread *t, struct spans *host)
{
	bool next = false, first = true;
	for (uint32_t k = 0; k < t->n; k++) {
		if (t->step[k] == TRACE_NONE || t->step[k] < warmup) {
			next = s->pauses.n > 0;
			continue;
		}
		if (next || (first && !host->n)) {
			host->at[host->n][0] = INT64_MAX;
			host->at[host->n++][1] = INT64_MIN;
		}
		next = first = false;
		int64_t *part = host->at[host->n - 1];
		part[0] = t->start[k] < part[0] ? t->start[k] : part[0];
		part[1] = t->end[k] > part[1] ? t->end[k] : part[1];
	}
}

/* When the threads with instances were in the measured ones; a process without instances has the first one's window
 * that has some. */
static struct spans *find_host(const struct run *run, uint32_t warmup)
{
	const struct steps *s = &run->steps;
	uint32_t n = run->trace->n_processes, like = TRACE_NONE;
	struct spans *host = ARENA_NEW(run->arena, n, struct spans);
	for (uint32_t p = 0; p < n; p++)
		host[p].at = arena_alloc(run->arena, s->pauses.n + 2, sizeof *host[p].at);
	for (uint32_t i = 0; s->found && i < s->n_threads; i++) {
		add_host_parts(s, warmup, &s->threads[i], &host[s->threads[i].process]);
		like = like == TRACE_NONE && host[s->threads[i].process].n ? s->threads[i].process : like;
	}
	for (uint32_t p = 0; p < n; p++) {
		if (host[p].n)
			continue;
		if (like != TRACE_NONE) {
			host[p] = host[like];
			continue;
		}
		host[p].at[0][0] = s->span_named ? s->span_start : s->found ? INT64_MAX : INT64_MIN;
		host[p].at[0][1] = s->span_named ? s->span_end : s->found ? INT64_MIN : INT64_MAX;
		host[p].n = 1;
	}
	return host;
}

struct window window_find(const struct run *run, int warmup)
{
	const struct steps *s = &run->steps;
	struct window out = {.n_steps = 1};
	if (s->found) {
		measure_steps(run, warmup, &out);
	} else {
		find_span(&run->extent, &out);
		out.start = s->span_named ? s->span_start : out.start;
		out.end = s->span_named ? s->span_end : out.end;
		out.ns = out.end - out.start;
	}
	out.host = find_host(run, out.warmup);
	return out;
}

bool run_measures_op_of_no_step(const struct run *run, size_t i)
{
	const struct trace *t = run->trace;
	bool by_start = (!run->steps.found && !run->steps.span_named) || t->ops.launch[i] == TRACE_NONE;
	if (by_start)
		return t->ops.start[i] >= run->window.start && t->ops.start[i] < run->window.end &&
		       !run_pauses(run, t->ops.start[i]);
	struct host_window host = run_host(run, op_process(t, i));
	return host_window_has(&host, t->calls.start[t->ops.launch[i]]);
}
