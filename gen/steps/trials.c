#include "steps/trials.h"

#include <string.h>

enum {
	LEAST = 3, /* trials that a search takes at least */
	MOST = 256 /* launches between two events that are told apart */
};

/* What a call has to do with events, by its name. */
struct event_calls {
	bool *asks, *waits, *marks;
	bool any_asks;
};

static void look_at_names(const struct trace *t, struct arena *arena, struct event_calls *e)
{
	e->asks = ARENA_NEW(arena, t->names->n, bool);
	e->waits = ARENA_NEW(arena, t->names->n, bool);
	e->marks = ARENA_NEW(arena, t->names->n, bool);
	e->any_asks = false;
	for (size_t i = 0; i < t->names->n; i++) {
		const char *name = names_text(t->names, (uint32_t)i);
		e->asks[i] = strstr(name, "EventElapsedTime");
		e->waits[i] = strstr(name, "EventSynchronize");
		e->marks[i] = strstr(name, "EventRecord");
	}
	for (size_t i = 0; i < t->calls.n && !e->any_asks; i++)
		e->any_asks = e->asks[t->calls.name[i]];
}

static uint32_t median_of(const size_t *count)
{
	size_t all = 0, below = 0;
	for (uint32_t i = 0; i <= MOST; i++)
		all += count[i];
	for (uint32_t i = 0; all && i <= MOST; i++) {
		below += count[i];
		if (below * 2 > all)
			return i;
	}
	return 0;
}

static void find_in_thread(const struct trace *t, uint32_t thread, int64_t until, const struct event_calls *e,
                           size_t *between, struct trials *out)
{
	int64_t from = 0, last = INT64_MIN;
	size_t trials = 0, marked = 0, launched = 0, own[MOST + 1] = {0};
	for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
		uint32_t name = t->calls.name[i];
		bool mark = e->marks[name];
		bool ask = e->any_asks ? e->asks[name] : e->waits[name] && marked >= 2;
		int64_t start = t->calls.start[i];
		out->later += ask && start >= until;
		marked = ask || e->waits[name]
		                 ? 0
		                 : marked + mark; /* what paces its steps by one event each is no search */
		launched += t->calls.class[i] == CALL_LAUNCH;
		if ((!ask && !mark) || start >= until)
			continue;
		if (last == INT64_MIN || start - last > TRIALS_PAUSE) {
			from = start;
			trials = 0;
			memset(own, 0, sizeof own);
		} else if (launched) {
			(trials < LEAST ? own : between)[launched < MOST ? launched : MOST]++;
		}
		launched = 0;
		last = t->calls.end[i];
		trials += ask;
		if (trials == LEAST && ask) {
			out->spans.at[out->spans.n++][0] = from;
			for (uint32_t k = 0; k <= MOST; k++)
				between[k] += own[k];
		}
		if (trials >= LEAST)
			out->spans.at[out->spans.n - 1][1] = last; /* with what it records for the next one */
	}
}

void trials_find(const struct trace *t, uint32_t process, int64_t until, struct arena *arena, struct trials *out)
{
	ARENA_LOCAL(scratch);
	struct event_calls calls;
	size_t between[MOST + 1] = {0}, n = 0;
	*out = (struct trials){0};
	look_at_names(t, &scratch, &calls);
	for (size_t i = 0; i < t->calls.n; i++)
		n += (calls.asks[t->calls.name[i]] || calls.waits[t->calls.name[i]]) && t->calls.start[i] < until;
	out->spans.at = arena_alloc(arena, n + 1, sizeof *out->spans.at);
	for (uint32_t thread = 0; n && thread < t->n_threads; thread++)
		if (t->threads[thread].process == process)
			find_in_thread(t, thread, until, &calls, between, out);
	spans_join(&out->spans, 0);
	out->launches = median_of(between);
}
