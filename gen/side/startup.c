#include "side/side_parts.h"

#include "base/list.h"
#include "base/spans.h"
#include "charge/parts_open.h"
#include "steps/trials.h"

#include <math.h>
#include <string.h>

/* One run's start-up while it is gone through. */
struct begin {
	const struct run *run;
	int64_t first_call, context; /* of the process: its first CUDA call; when it has its context */
	struct spans first_launches, searches;
	double part[STARTUP_PARTS], longest;
	int64_t from, until; /* of the stretch without calls that is gone through */
};

/* ---- when what was ---- */

/* The launches of the process that are the first of their kernel, and where kernels were tried out. */
static void find_launches(struct begin *b, uint32_t process, struct arena *arena)
{
	const struct run *run = b->run;
	const struct trace *t = run->trace;
	ARENA_LOCAL(scratch);
	enum { UNSEEN, SEEN, OF_SEARCH };
	uint8_t *kind = ARENA_NEW(&scratch, t->names->n, uint8_t);
	uint32_t *first = ARENA_NEW(&scratch, t->names->n, uint32_t), *name = NULL;
	size_t names = 0, room = 0, searches = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i], op = t->ops.name[i];
		if (launch == TRACE_NONE || t->calls.start[launch] >= run->charge->startup_end ||
		    op_process(t, i) != process ||
		    (t->ops.kind[i] != OP_KERNEL && t->ops.kind[i] != OP_COMM && t->ops.kind[i] != OP_GRAPH))
			continue;
		if (kind[op] == UNSEEN) {
			kind[op] = pattern_run_searches(t, op) ? OF_SEARCH : SEEN;
			first[op] = launch;
			LIST_ADD(&scratch, name, names, room, op);
		} else if (t->calls.start[launch] < t->calls.start[first[op]]) {
			first[op] = launch;
		}
		searches += kind[op] == OF_SEARCH;
	}
	b->first_launches.at = arena_alloc(arena, names + 1, sizeof *b->first_launches.at);
	for (size_t i = 0; i < names; i++) {
		b->first_launches.at[i][0] = t->calls.start[first[name[i]]];
		b->first_launches.at[i][1] = t->calls.end[first[name[i]]];
	}
	b->first_launches.n = names;
	spans_join(&b->first_launches, 0);
	b->searches.at = arena_alloc(arena, searches + 1, sizeof *b->searches.at);
	for (size_t i = 0; i < t->ops.n && b->searches.n < searches; i++) {
		uint32_t launch = t->ops.launch[i];
		if (kind[t->ops.name[i]] != OF_SEARCH || launch == TRACE_NONE ||
		    t->calls.start[launch] >= run->charge->startup_end || op_process(t, i) != process)
			continue;
		b->searches.at[b->searches.n][0] = t->calls.start[launch];
		b->searches.at[b->searches.n++][1] = t->ops.end[i];
	}
	spans_join(&b->searches, TRIALS_PAUSE);
}

/* Adds where a thread of the process took the time of kernels before the first step (steps/trials.h); a program
 * that asks in its steps, too, times those. */
static void find_timed(struct begin *b, uint32_t process, struct arena *arena)
{
	const struct run *run = b->run;
	ARENA_LOCAL(scratch);
	struct trials timed;
	trials_find(run->trace, process, run->charge->startup_end, &scratch, &timed);
	bool own = run->steps.found && timed.later * (uint64_t)2 >= run->steps.n;
	if (timed.spans.n && !own) {
		size_t all = b->searches.n + timed.spans.n;
		int64_t(*at)[2] = arena_alloc(arena, all, sizeof *at);
		memcpy(at, b->searches.at, b->searches.n * sizeof *at);
		memcpy(at + b->searches.n, timed.spans.at, timed.spans.n * sizeof *at);
		b->searches = (struct spans){at, all};
		spans_join(&b->searches, TRIALS_PAUSE);
	}
}

/* The context is made by the first call that needs one, if nothing made it before: everything up to then is set-up. */
static void find_setup(struct begin *b, uint32_t process)
{
	const struct trace *t = b->run->trace;
	int64_t first = INT64_MAX, needs = INT64_MAX, context = INT64_MAX;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		uint32_t i = t->first_call[thread], end = t->first_call[thread + 1];
		if (t->threads[thread].process != process || i == end)
			continue;
		first = t->calls.start[i] < first ? t->calls.start[i] : first;
		while (i < end && t->calls.class[i] == CALL_OTHER)
			i++;
		if (i < end && t->calls.start[i] < needs) {
			needs = t->calls.start[i];
			context = t->calls.end[i];
		}
	}
	b->first_call = first;
	b->context = context;
}

/* ---- by part ---- */

static enum startup_part part_of(enum cause cause)
{
	switch (cause) {
	case CAUSE_HOST_BLOCKED:
		return STARTUP_HOST_BLOCKED;
	case CAUSE_GIL:
		return STARTUP_GIL;
	case CAUSE_OFF_CPU:
		return STARTUP_OFF_CPU;
	case CAUSE_HANDOVER:
		return STARTUP_HANDOVER;
	case CAUSE_SYNC_RETURN:
		return STARTUP_SYNC;
	case CAUSE_COPY_API:
		return STARTUP_COPY_API;
	case CAUSE_LAUNCH_API:
		return STARTUP_LAUNCH_API;
	case CAUSE_ALLOC:
		return STARTUP_ALLOC;
	case CAUSE_MODULE_LOAD:
		return STARTUP_MODULE_LOAD;
	case CAUSE_OTHER_API:
		return STARTUP_CUDA_SETUP;
	case CAUSE_PROFILER:
		return STARTUP_PROFILER;
	default: /* of the GPU's waits, no thread does any */
		return STARTUP_HOST_CODE;
	}
}

static bool is_call(enum startup_part part)
{
	return part == STARTUP_SYNC || part == STARTUP_COPY_API || part == STARTUP_LAUNCH_API ||
	       part == STARTUP_ALLOC || part == STARTUP_CUDA_SETUP;
}

/* What an instant counts as, and until when that holds at most. */
static enum startup_part part_at(const struct begin *b, enum cause cause, int64_t t, int64_t *until)
{
	enum startup_part part = part_of(cause);
	if (part == STARTUP_PROFILER || part == STARTUP_MODULE_LOAD)
		return part;
	if (t < b->first_call) {
		*until = b->first_call < *until ? b->first_call : *until;
		return STARTUP_BEFORE_CUDA;
	}
	if (spans_hold(&b->searches, t, until))
		return STARTUP_SEARCH;
	if (is_call(part) && t < b->context) {
		*until = b->context < *until ? b->context : *until;
		return STARTUP_CUDA_SETUP;
	}
	if (part == STARTUP_LAUNCH_API && spans_hold(&b->first_launches, t, until))
		return STARTUP_FIRST_LAUNCHES;
	return part;
}

static void add_stretch(void *context, const struct doing *stretch)
{
	struct begin *b = context;
	for (int64_t t = stretch->start, until; t < stretch->end; t = until) {
		until = stretch->end;
		enum startup_part part = part_at(b, stretch->cause, t, &until);
		b->part[part] += (double)(until - t);
	}
	if (!cause_is_host(stretch->cause) && stretch->cause != CAUSE_OFF_CPU)
		return;
	if (stretch->start != b->until)
		b->from = stretch->start;
	b->until = stretch->end;
	b->longest = fmax(b->longest, (double)(b->until - b->from));
}

/* The thread whose steps begin first; NULL: there are none. */
static const struct step_thread *first_steps(const struct run *run)
{
	const struct step_thread *first = NULL;
	for (uint32_t i = 0; i < run->steps.n_threads; i++)
		if (!first || run->steps.threads[i].start[0] < first->start[0])
			first = &run->steps.threads[i];
	return first;
}

/* That thread; where no range says which one that is, the one that launches the first op of its
 * process (PyTorch's backward is launched by a thread that had nothing to do before it); TRACE_NONE: not known. */
static uint32_t first_thread(const struct run *run)
{
	const struct trace *t = run->trace;
	const struct step_thread *first = first_steps(run);
	if (first && steps_by_ranges(run->steps.origin))
		return first->thread;
	size_t op = t->ops.n;
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE &&
		    (!first || op_process(t, i) == t->threads[first->thread].process) &&
		    (op == t->ops.n || t->ops.start[i] < t->ops.start[op]))
			op = i;
	return op < t->ops.n ? t->calls.thread[t->ops.launch[op]] : first ? first->thread : TRACE_NONE;
}

/* False where the profile does not say what the program did. */
static bool go_through(struct run *run, struct begin *b, struct arena *arena)
{
	const struct step_thread *first = first_steps(run);
	uint32_t process_of = first ? first->process : run->extent.launcher;
	if (process_of == TRACE_NONE || run->trace->source.kind == SOURCE_KINETO) /* it begins within the program */
		return false;
	run = parts_open(run, parts_of_process(run, process_of), arena);
	*b = (struct begin){.run = run, .from = INT64_MIN, .until = INT64_MIN};
	uint32_t thread = first_thread(run);
	if (run->charge->startup <= 0 || thread == TRACE_NONE || !run->trace->calls.n)
		return false;
	uint32_t process = run->trace->threads[thread].process;
	find_setup(b, process);
	find_launches(b, process, arena);
	find_timed(b, process, arena);
	activity_walk(&run->charge->activity, thread, run->charge->startup_end - run->charge->startup,
	              run->charge->startup_end, add_stretch, b);
	return true;
}

struct startup startup_build(struct run *runs, size_t n)
{
	struct startup out = {.whole = true};
	struct arena scratch = {0};
	double part[STARTUP_PARTS] = {0};
	size_t known = 0;
	for (size_t r = 0; r < n; r++) {
		struct begin begin;
		if (!go_through(&runs[r], &begin, &scratch))
			continue;
		double ns = (double)runs[r].charge->startup;
		out.least = known && out.least < ns ? out.least : ns;
		out.most = fmax(out.most, ns);
		out.ns += ns;
		out.pause += begin.longest;
		out.whole = out.whole && runs[r].trace->source.began != TRACE_NO_TIME;
		for (int p = 0; p < STARTUP_PARTS; p++)
			part[p] += begin.part[p];
		known++;
	}
	arena_release(&scratch);
	if (!known)
		return (struct startup){0};
	out.ns /= (double)known;
	out.pause /= (double)known;
	for (int p = 0; p < STARTUP_PARTS; p++)
		if (part[p] > 0)
			out.row[out.n_rows++] = (struct startup_row){(enum startup_part)p, part[p] / (double)known};
	return out;
}
