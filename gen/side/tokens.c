#include "side/side_rows.h"

#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

#include <string.h>

/* A range inside of a step, and when what was launched in it has ended. */
struct token {
	uint32_t step;
	bool first, each;
	int64_t start, end, done;
	int64_t until; /* the latest end of the step's up to this one */
};

struct tokens {
	struct run *run;
	const struct run *part;
	struct token *list; /* by step, then start */
	size_t n, room;
	bool *unclear; /* by step: a range may be of it or of another one */
	struct arena scratch;
};

void tokens_begin(struct run *run)
{
	struct run_tokens *to = &run->rows.tokens;
	if (!run->steps.found || !run->steps.request || run->steps.n_ranks > 1)
		return;
	to->first = run->asked.first_token ? ARENA_NEW(run->arena, run->steps.n, int64_t) : NULL;
	to->each = run->asked.each_token ? ARENA_NEW(run->arena, run->steps.n, int64_t) : NULL;
}

static bool is_named(const struct run *part, uint32_t range, const char *wanted)
{
	const struct trace *t = part->trace;
	uint32_t name = t->ranges.name[range];
	return wanted && (fold_means(names_text(t->names, part->fold.of[name]), wanted) ||
	                  strcmp(names_text(t->names, name), wanted) == 0);
}

/* How many instances of a thread are open at `t`; each of them is unclear if there are several. */
static size_t open_at(struct tokens *k, const struct step_thread *thread, int64_t t)
{
	uint32_t low = 0;
	size_t open[2] = {0};
	SEARCH(low, thread->n, thread->start[low] <= t);
	for (int again = 0; again < 2; again++)
		for (uint32_t i = low; i && thread->until[i - 1] > t; i--) {
			if (thread->end[i - 1] <= t)
				continue;
			open[again]++;
			if (open[0] > 1 && again && thread->step[i - 1] != TRACE_NONE)
				k->unclear[thread->step[i - 1]] = true;
		}
	return open[0];
}

/* The ranges on a thread with steps. Those inside one of the same name count with the outermost. */
static void take_ranges(struct tokens *k, const struct step_thread *thread)
{
	const struct trace *t = k->part->trace;
	const struct run_asked *asked = &k->run->asked;
	int64_t until[2] = {INT64_MIN, INT64_MIN}; /* of the last one of either name */
	for (uint32_t i = t->first_range[thread->thread]; i < t->first_range[thread->thread + 1]; i++) {
		const int64_t start = t->ranges.start[i], end = t->ranges.end[i];
		bool is[2] = {is_named(k->part, i, asked->first_token), is_named(k->part, i, asked->each_token)};
		for (int name = 0; name < 2; name++) {
			is[name] = is[name] && end > until[name];
			until[name] = is[name] ? end : until[name];
		}
		if ((!is[0] && !is[1]) || open_at(k, thread, start) != 1)
			continue;
		uint32_t step = thread->step[steps_open_at(thread, start)];
		if (step == TRACE_NONE || t->ranges.clipped[i])
			continue;
		LIST_ADD(&k->scratch, k->list, k->n, k->room,
		         (struct token){step, is[0], is[1], start, end, .done = end, .until = end});
	}
}

SORT_ORDER(by_step, struct token, ASCENDING(x->step, y->step) ?: sort_nested(x->start, x->end, y->start, y->end))

/* What was launched in a range, by whichever thread, belongs to it as it does to the step. */
static void take_ops(struct tokens *k)
{
	const struct trace *t = k->part->trace;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t step = k->part->steps.op_step[i];
		if (step == TRACE_NONE || t->ops.launch[i] == TRACE_NONE)
			continue;
		int64_t at = t->calls.start[t->ops.launch[i]];
		size_t low = 0;
		SEARCH(low, k->n, k->list[low].step < step || (k->list[low].step == step && k->list[low].start <= at));
		for (; low && k->list[low - 1].step == step && k->list[low - 1].until > at; low--) {
			struct token *of = &k->list[low - 1];
			if (at < of->end && t->ops.end[i] > of->done)
				of->done = t->ops.end[i];
		}
	}
}

/* The times of a step that began at `begin`: its ranges are [from, to). The first token is that of the first range of
 * its name; without such a name, of the first of all. */
static void time_step(const struct tokens *k, size_t from, size_t to, int64_t begin)
{
	struct run_tokens *out = &k->run->rows.tokens;
	const uint32_t step = k->list[from].step;
	size_t at = from, n = 0;
	while (at < to && (out->first ? !k->list[at].first : !k->list[at].each))
		at++;
	if (at == to || k->unclear[step])
		return;
	const int64_t first = k->list[at].done;
	int64_t last = first;
	for (size_t i = at + 1; i < to; i++) {
		if (!k->list[i].each || k->list[i].end <= k->list[at].end)
			continue;
		n++;
		last = k->list[i].done > last ? k->list[i].done : last;
	}
	if (out->first)
		out->first[step] = first - begin;
	if (out->each && n)
		out->each[step] = (last - first) / (int64_t)n;
}

void tokens_add(struct run *run, const struct run *part)
{
	if (!run->rows.tokens.first && !run->rows.tokens.each)
		return;
	struct tokens k = {.run = run, .part = part};
	k.unclear = ARENA_NEW(&k.scratch, run->steps.n, bool);
	int64_t *begin = ARENA_NEW(&k.scratch, run->steps.n, int64_t);
	for (uint32_t m = 0; m < part->steps.n_threads; m++) {
		const struct step_thread *thread = &part->steps.threads[m];
		take_ranges(&k, thread);
		for (uint32_t i = 0; i < thread->n; i++)
			if (thread->step[i] != TRACE_NONE)
				begin[thread->step[i]] = thread->start[i];
	}
	SORT(k.list, k.n, by_step);
	for (size_t i = 1; i < k.n; i++)
		if (k.list[i].step == k.list[i - 1].step && k.list[i - 1].until > k.list[i].until)
			k.list[i].until = k.list[i - 1].until;
	take_ops(&k);
	for (size_t from = 0, to; from < k.n; from = to) {
		for (to = from + 1; to < k.n && k.list[to].step == k.list[from].step;)
			to++;
		time_step(&k, from, to, begin[k.list[from].step]);
	}
	for (uint32_t i = 0; i < run->steps.n; i++)
		run->rows.tokens.unclear += k.unclear[i];
	arena_release(&k.scratch);
}

static bool has_some(const int64_t *times, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (times[i] > 0)
			return true;
	return false;
}

int tokens_check(const struct run *run, struct err *err)
{
	const struct run_tokens *of = &run->rows.tokens;
	const char *const name[2] = {run->asked.first_token, run->asked.each_token}, *const option[2] = {"--first",
	                                                                                                 "--each"};
	const int64_t *const times[2] = {of->first, of->each};
	for (int i = 0; i < 2; i++) {
		if (!name[i] || (times[i] && has_some(times[i], run->steps.n)))
			continue;
		if (!times[i])
			return err_set(err,
			               "%s: the steps are no ranges of one rank, so they have no time of their own; "
			               "name the range that is one request with --requests",
			               option[i]);
		if (of->unclear)
			return err_set(
				err,
				"%s: '%.60s' lies in several requests that are open on one thread, so whose it is "
				"is unknown; give each request a thread of its own",
				option[i], name[i]);
		return err_set(err, "%s: no request holds a range '%.60s'%s on its own thread", option[i], name[i],
		               i ? " after its first token" : "");
	}
	return 0;
}
