/* Which functions a finding is about. */
#include "find/functions.h"

#include "same/renames.h"
#include "say/say.h"

#include <string.h>

static const double TRUNK = 0.9;          /* so much of all samples go through what says nothing of where they differ */
static const double SAME_STORY = 2 / 3.0; /* of the branch, down to the function that does the work */
static const double WORTH = 0.1;          /* of all samples, to be named */

/* ---- the way to the function that most of it is in ---- */

static bool is_told(const struct sampled_function *f)
{
	return f->kind == FRAME_NAMED || f->kind == FRAME_MODULE;
}

/* The heaviest part below `parent` on side `s`, TRACE_NONE: none. */
static uint32_t heaviest(const struct functions *f, uint32_t parent, int s)
{
	uint32_t best = TRACE_NONE;
	for (uint32_t i = parent + 1; i < f->n_parts; i++)
		if (f->part[i].parent == parent && (best == TRACE_NONE || f->part[i].time[s] > f->part[best].time[s]))
			best = i;
	return best;
}

static double time_of(const struct functions *f, uint32_t part, int s)
{
	return part == TRACE_NONE ? 0 : f->part[part].time[s];
}

/* From the part of a cause: `last` is the function, `first` the one below which the stacks differ that leads to it, or
 * `last`'s caller; both the same: it has none that could be named. */
static bool find_way(const struct functions *f, uint32_t cause, int s, uint32_t *first, uint32_t *last)
{
	double all = time_of(f, cause, s);
	uint32_t at = cause, next = heaviest(f, at, s);
	while (time_of(f, next, s) >= TRUNK * all && all > 0) {
		at = next;
		next = heaviest(f, at, s);
	}
	double in_children = 0;
	for (uint32_t i = at + 1; i < f->n_parts; i++)
		in_children += f->part[i].parent == at ? f->part[i].time[s] : 0;
	double own = time_of(f, at, s) - in_children;
	if (at != cause && own >= time_of(f, next, s)) { /* the trunk ends in a function that does it itself */
		*last = at;
		*first = f->part[at].parent == cause ? at : f->part[at].parent;
		return is_told(&f->part[at].function);
	}
	if (time_of(f, next, s) < WORTH * all || next == TRACE_NONE)
		return false;
	*first = *last = next;
	double branch = time_of(f, next, s);
	while (time_of(f, next = heaviest(f, *last, s), s) >= SAME_STORY * branch)
		*last = next;
	return is_told(&f->part[*last].function);
}

/* What the holder of the interpreter's lock was at: its innermost function that most of it is in. */
static bool find_holding(const struct functions *f, uint32_t cause, int s, uint32_t *last)
{
	uint32_t next = heaviest(f, cause, s);
	double all = time_of(f, cause, s);
	bool found = false;
	for (; all > 0 && time_of(f, next, s) >= SAME_STORY * all; next = heaviest(f, next, s)) {
		*last = next;
		found = is_told(&f->part[next].function);
	}
	return found;
}

static const struct fact *function_of(const struct sampled_function *f, struct arena *arena)
{
	static const char *const kind[] = {[FRAME_NAMED] = "named",
	                                   [FRAME_MODULE] = "module",
	                                   [FRAME_BROKEN] = "broken",
	                                   [FRAME_CUT] = "cut",
	                                   [FRAME_UNKNOWN] = "unknown"};
	return FACT_NEW(arena, a_function, FACT_NO_SIDE, .kind = kind[f->kind],
	                .name = f->kind == FRAME_MODULE ? f->module : f->name);
}

/* The function that is named before `last`: what the branch begins with, else who calls it. */
static const struct sampled_function *caller_of(const struct functions *f, uint32_t first, uint32_t last)
{
	const struct stack_part *part = &f->part[first];
	if (part->n_callers)
		return first == last ? &part->callers[part->n_callers - 1] : &part->callers[0];
	return first == last ? NULL : &part->function;
}

static uint32_t part_of(const struct functions *f, const struct sampled_cause *cause)
{
	uint32_t at = 0;
	while (at < f->n_parts &&
	       (f->part[at].depth || f->part[at].cause != cause->cause || f->part[at].phase != cause->phase))
		at++;
	return at;
}

/* What the holder of the lock is at. */
static const struct fact *tell_holder(const struct functions *f, const struct sampled_cause *cause, int s,
                                      struct arena *arena)
{
	uint32_t at = part_of(f, cause), last, n = cause->holders_left_out;
	if (cause->samples[s] < FUNCTIONS_LEAST || at == f->n_parts || !find_holding(f, at, s, &last))
		return NULL;
	const struct lock_holder *most = NULL;
	for (uint32_t i = 0; i < cause->n_holders; i++) {
		n += cause->holders[i].time[s] > 0;
		if (cause->holders[i].time[s] > 0 && (!most || cause->holders[i].time[s] > most->time[s]))
			most = &cause->holders[i];
	}
	bool one = most && most->time[s] >= SAME_STORY * cause->idle[s];
	const char *thread = !most || (n < 2 && !one) ? "unknown"
	                     : most->main             ? "main"
	                     : most->name             ? "named"
	                                              : "unknown";
	return FACT_NEW(arena, lock_held_for, s, .share = f->part[last].time[s] / cause->idle[s],
	                .function = function_of(&f->part[last].function, arena), .by = one || n < 2 ? "one" : "several",
	                .thread = thread, .name = most ? most->name : 0, .samples = cause->samples[s]);
}

/* NULL: samples do not tell. */
static const struct fact *tell(const struct functions *f, const struct sampled_cause *cause, int s, struct arena *arena)
{
	uint32_t at = part_of(f, cause), first, last;
	if (cause->cause == CAUSE_GIL)
		return tell_holder(f, cause, s, arena);
	if (cause->samples[s] < FUNCTIONS_LEAST || at == f->n_parts || !find_way(f, at, s, &first, &last))
		return NULL;
	const struct sampled_function *caller = caller_of(f, first, last);
	return FACT_NEW(arena, time_in_function, s, .cause = cause_name(cause->cause), .phase = cause->phase,
	                .share = f->part[last].time[s] / cause->idle[s],
	                .caller = caller && is_told(caller) ? function_of(caller, arena) : NULL,
	                .function = function_of(&f->part[last].function, arena), .samples = cause->samples[s]);
}

/* ---- findings ---- */

/* Those that blame what a thread does between the calls that it makes. */
static bool is_of_the_host(const char *id)
{
	static const char *const ids[] = {"input_starvation", "host_before_copy", "host_work",      "host_after_sync",
	                                  "sync_every_step",  "launch_bound",     "gil_contention", "idle_host_code"};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (strcmp(id, ids[i]) == 0)
			return true;
	return false;
}

struct findings functions_tell(const struct functions *f, const struct side *side, const struct renames *renames,
                               const struct findings *findings, const struct names *names, struct arena *arena)
{
	bool told[FUNCTIONS_CAUSES] = {false};
	struct findings out = *findings;
	out.list = ARENA_NEW(arena, findings->n, struct finding);
	for (uint32_t i = 0; i < findings->n; i++) {
		struct finding *finding = &out.list[i];
		*finding = findings->list[i];
		int s = finding->side;
		uint32_t phase = s && renames ? renames_baseline(renames, finding->phase[s]) : finding->phase[s];
		if (!is_of_the_host(finding->id) || side[s].phases_by_work)
			continue;
		for (uint32_t c = 0; c < f->n_causes; c++) { /* the longest of its phase */
			if (f->cause[c].phase != phase || f->cause[c].idle[s] <= 0 ||
			    (f->cause[c].cause == CAUSE_GIL) != (strcmp(finding->id, "gil_contention") == 0))
				continue;
			const struct fact *in = told[c] ? NULL : tell(f, &f->cause[c], s, arena);
			told[c] = true;
			if (!in)
				break;
			facts_add(&finding->more, arena, in);
			finding->text = arena_format(arena, "%s %s", finding->text, say_fact(in, names, arena));
			if (strcmp(finding->id, "host_work") ==
			    0) /* it has a name: no other tool need be asked for it */
				finding->advice = say_form(in, SAY_ADVICE, names, arena);
			break;
		}
	}
	return out;
}
