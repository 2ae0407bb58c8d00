/* The sentences beside a verdict. They are for a busy, sceptical reader: what was shown, what was not, what it would
 * take, and what this data cannot show. Numbers have few digits, so that they mean the same everywhere. */
#include "analyse/judge/evidence.h"
#include "analyse/judge/proof.h"
#include "analyse/say.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

static const char *const SIDE[2] = {"the baseline", "the fixed side"};

struct list {
	struct arena *arena;
	struct verdict *verdict;
	size_t room;
};

static void say(struct list *list, const char *sentence)
{
	struct verdict *v = list->verdict;
	LIST_GROW(list->arena, v->reasons, v->n_reasons, list->room);
	v->reasons[v->n_reasons++] = sentence;
}

#define SAY(list, ...) say(list, arena_format((list)->arena, __VA_ARGS__))

/* A share as a percentage: two digits, and no more than are honest. */
static const char *percent(struct arena *arena, double share)
{
	double p = round(1000 * share) / 10;
	return arena_format(arena, p < 10 && p != round(p) ? "%.1f %%" : "%.0f %%", p);
}

/* "1.08x [1.07, 1.09]" */
static const char *estimate(struct arena *arena, double speedup, double lo, double hi)
{
	return arena_format(arena, "%s\xC3\x97 [%s, %s]", say_digits(arena, speedup), say_digits(arena, lo),
	                    say_digits(arena, hi));
}

/* How to have more runs, whichever way these were captured and given. */
#define MORE_RUNS "(gapline run --repeat, or several --baseline/--fixed)"

/* ---- what it would take ---- */

/* "is one run a side" */
static const char *runs_there_are(struct arena *arena, const struct proof *p)
{
	if (p->runs[0] == 1 && p->runs[1] == 1)
		return "is one run a side";
	return p->runs[0] == p->runs[1] ? arena_format(arena, "are %zu a side", p->runs[0])
	                                : arena_format(arena, "are %zu and %zu", p->runs[0], p->runs[1]);
}

static void say_plan(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (v->could)
		say(list, v->could);
	if (v->more_runs > 0 && v->apart > 0)
		SAY(list, "Measure both sides in turns (A B B A \xE2\x80\xA6)%s.",
		    v->more_runs <= EVIDENCE_WORTHWHILE
		            ? arena_format(list->arena, ", at least %lld runs of each", (long long)v->more_runs)
		            : "");
	else if (v->more_steps > 0)
		SAY(list, "At least %lld steps %s would be needed (measured: %zu and %zu).", (long long)v->more_steps,
		    p->runs[0] > 1 || p->runs[1] > 1 ? "a run" : "a side", p->m[0], p->m[1]);
	else if (v->more_runs > 0 && v->one_run)
		SAY(list, "Make at least %d runs of each side, in turns (there %s) " MORE_RUNS ".", LEAST_RUNS,
		    runs_there_are(list->arena, p));
}

/* ---- why it is open, the first that applies ---- */

static const char *times(struct list *list, size_t n)
{
	return n == 1 ? "once" : arena_format(list->arena, "%zu times", n);
}

static void say_too_little(struct list *list, const struct proof *p)
{
	if (p->empty) {
		int i = p->m[0] == 0 ? 0 : 1;
		SAY(list, "In %s there is nothing to measure: capture at least %d steps a side.", SIDE[i],
		    SERIES_SHORT);
	} else if (p->steps) {
		SAY(list,
		    "A step was measured %s in %s and %s in %s: too seldom to say how sure the speedup is. %d measured "
		    "steps a side, or %d runs, are the least.",
		    times(list, p->all[0]), SIDE[0], times(list, p->all[1]), SIDE[1], DESCRIPTIVE_STEPS,
		    DESCRIPTIVE_RUNS);
	} else {
		SAY(list,
		    "No steps were found, so a run is its span: from its first to its last kernel or copy. %d runs of "
		    "each side are the least for an interval " MORE_RUNS ". Or name the range that is one step with "
		    "--step.",
		    DESCRIPTIVE_RUNS);
	}
}

/* The longest step that was set aside, and whose. */
static int aside_side(const struct proof *p, const struct verdict *v, double *longest)
{
	int side = 0;
	*longest = 0;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			if (v->series[i][r].aside_longest > *longest) {
				*longest = v->series[i][r].aside_longest;
				side = i;
			}
	return side;
}

static bool open_without_aside(const struct proof *p, const struct verdict *v)
{
	double half = fmax(p->change - p->lo, p->hi - p->change);
	half = fmin(half, p->plain);
	return v->aside[0] + v->aside[1] > 0 &&
	       proof_decide(p->change - half, p->change + half, p->floor) != VERDICT_INCONCLUSIVE;
}

static bool say_aside(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	double longest;
	int i = aside_side(p, v, &longest);
	if (!open_without_aside(p, v))
		return false;
	SAY(list,
	    "%s of %s took %s ms, as long as %.0f others. Without %s the speedup is %s\xC3\x97, with %s %s\xC3\x97. "
	    "One capture cannot tell an accident from the program: capture again.",
	    v->aside[i] > 1 ? "Two steps" : "One step", SIDE[i], say_digits(list->arena, longest / 1e6),
	    longest / v->step[i], v->aside[i] > 1 ? "them" : "it", say_digits(list->arena, v->speedup),
	    v->aside[i] > 1 ? "them" : "it", say_digits(list->arena, v->counted));
	return true;
}

/* Most of the interval is what F made it: what is said of that (say_apart) is why it is open. */
static bool open_for_apart(const struct proof *p)
{
	return p->exchange.apart > 0 && fmax(p->change - p->lo, p->hi - p->change) <= 2 * p->exchange.apart;
}

static bool say_warming(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (!v->warming)
		return false;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			if (v->series[i][r].warming) {
				SAY(list,
				    "%s was still warming up when the capture ended (%zu steps): a level that was "
				    "never reached proves nothing. Capture longer, or give --warmup.",
				    i ? "The fixed side" : "The baseline", v->series[i][r].cut + v->series[i][r].m + 1);
				return true;
			}
	return true;
}

static const struct series *changing(const struct proof *p, const struct verdict *v, int *side)
{
	*side = p->level[1] > p->level[0];
	for (size_t r = 0; r < p->runs[*side]; r++)
		if (v->series[*side][r].level >= p->level[*side])
			return &v->series[*side][r];
	return &v->series[*side][0];
}

/* The size of the level, not of a pair's difference, and only where it is what hinders. */
static bool say_level(struct list *list, const struct proof *p)
{
	int i;
	double level = fmax(p->level[0], p->level[1]);
	if (p->paired || level <= LN_FLOOR_ONE || fabs(p->change) > level + p->plain)
		return false;
	const struct series *s = changing(p, list->verdict, &i);
	if (s->level_of_few) {
		const char *slow = s->slow.n == 0
		                           ? ""
		                           : arena_format(list->arena, " (%zu of %zu take %s times as long)", s->slow.n,
		                                          s->m, shape_slow_range(list->arena, &s->slow));
		SAY(list,
		    "From step %zu on the mean step of %s is another by %s, but the typical one is not%s: less than "
		    "that cannot be told from it with one run a side.",
		    s->cut + s->level_at + 1, SIDE[i], percent(list->arena, expm1(level)), slow);
		return true;
	}
	SAY(list,
	    "%s changes its own speed by %s at step %zu: less than that cannot be told from it with one run a side.",
	    i ? "The fixed side" : "The baseline", percent(list->arena, expm1(level)), s->cut + s->level_at + 1);
	return true;
}

static bool say_few_slow(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	for (int i = 1; i >= 0 && v->more_steps > 0 && !p->paired; i--)
		for (size_t r = 0; r < p->runs[i]; r++) {
			const struct series *s = &v->series[i][r];
			if (s->slow.n != 1 && s->slow.n != 2)
				continue;
			SAY(list, "%s of %zu of %s: no rhythm yet. About %lld steps would show it.",
			    s->slow.n == 1 ? "One slow step" : "Two slow steps", s->m, SIDE[i],
			    (long long)v->more_steps);
			return true;
		}
	return false;
}

static bool say_short_capture(struct list *list, const struct proof *p)
{
	if (!p->short_capture)
		return false;
	SAY(list,
	    "Short captures: %zu and %zu measured steps, about %.0f and %.0f of them independent. Only a change above "
	    "%s "
	    "counts.",
	    p->m[0], p->m[1], (double)p->m[0] / p->tau[0], (double)p->m[1] / p->tau[1],
	    percent(list->arena, expm1(LN_FLOOR_SHORT)));
	return true;
}

/* The interval does not hold 1, and only that it is wide is in the way. */
static bool say_surer(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (!(v->surer > 0) || proof_decide(p->lo, p->hi, v->floor) == VERDICT_INCONCLUSIVE)
		return false;
	SAY(list,
	    "The steps vary so much that one pair in twenty of captures of the same program looks like this: the "
	    "interval has to begin %s away from 1 to count.",
	    percent(list->arena, expm1(p->floor)));
	return true;
}

static bool say_one_run(struct list *list, const struct proof *p)
{
	if (!p->one_run || !(p->lo > 0 || p->hi < 0))
		return false;
	SAY(list,
	    "One run a side cannot see a clock or thermal state that differs between captures, so a difference must "
	    "exceed %.2g %%. Three runs of each side, captured in turns, would see it.",
	    100 * expm1(LN_FLOOR_ONE));
	return true;
}

static void say_queues(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	for (int i = 0; i < 2; i++)
		if (p->queue[i] > 0)
			SAY(list,
			    "%s GPU was still working off a queue: its steps ended every %s ms, but were launched "
			    "every %s ms, and in the long run the slower of the two counts. Record longer, or later: "
			    "the interval holds both.",
			    i ? "The fixed side's" : "The baseline's", say_digits(list->arena, v->step[i] / 1e6),
			    say_digits(list->arena, v->step[i] * exp(p->queue[i]) / 1e6));
}

static void say_lengths(struct list *list, const struct proof *p)
{
	if (p->common && (p->lengths_open || fabs(p->change_common - p->change) > LN_FLOOR_SEVERAL))
		SAY(list,
		    "The runs have %zu to %zu steps. Over the first %zu steps of each the speedup is %s\xC3\x97: the "
		    "interval holds both.",
		    p->common + 1, p->longest + 1, p->common + 1, say_digits(list->arena, exp(p->change_common)));
}

static void say_open(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (p->queue_opens) {
		say_queues(list, p);
		return;
	}
	if (p->lengths_open) {
		say_lengths(list, p);
		SAY(list, "Make every run at least %lld steps long.", (long long)v->more_steps);
		return;
	}
	bool said = say_aside(list, p) || open_for_apart(p) || say_warming(list, p) || say_surer(list, p) ||
	            say_level(list, p) || say_few_slow(list, p) || say_short_capture(list, p) || say_one_run(list, p);
	if (!said && v->recorded.lo <= 1 && v->recorded.hi >= 1)
		SAY(list,
		    "The 95 %% interval of the speedup holds 1 but reaches more than %g %% away from it: neither a "
		    "change nor its absence is shown.",
		    100 * VERDICT_MARGIN);
	else if (!said)
		SAY(list,
		    "The 95 %% interval of the speedup lies %s 1, but not wholly beyond the %s that these data must "
		    "show.",
		    v->recorded.lo > 1 ? "above" : "below", percent(list->arena, expm1(p->floor)));
	say_plan(list, p);
}

/* ---- the result ---- */

const char *reasons_say_apart(const struct verdict *v, struct arena *arena)
{
	if (!(v->apart > 0))
		return NULL;
	const char *why =
		v->elsewhere
			? arena_format(arena, "The fixed side was measured %s. Sessions can differ by some percent",
	                               v->elsewhere)
			: "The sides were not measured in turns. A machine can drift by some percent";
	return arena_format(arena, "%s, so only changes beyond about %.0f %% count. Measure both in turns.", why,
	                    100 * expm1(v->apart));
}

static void say_recorded_only(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	const char *lo = say_digits(list->arena, v->lo), *hi = say_digits(list->arena, v->hi);
	if (strcmp(lo, hi) == 0) {
		lo = arena_format(list->arena, "%.4f", v->lo);
		hi = arena_format(list->arena, "%.4f", v->hi);
	}
	SAY(list,
	    "Recorded, the fixed side is %s, but recording may have changed that: with what that may have taken the "
	    "interval reaches from %s to %s, and no number of steps or runs makes it narrower (gapline run also "
	    "measures without a profiler).",
	    verdict_result_name(p->counted_result), lo, hi);
}

static const char *what_there_is(const struct proof *p, const struct verdict *v)
{
	return v->surer > 0                            ? "One run a side, and steps that vary much"
	       : p->short_capture                      ? "Few independent steps"
	       : p->floor >= LN_FLOOR_SHORT            ? "Few steps after warm-up, or a mean step that changes"
	       : p->one_run && p->floor > LN_FLOOR_ONE ? "One run a side, whose mean step changes"
	       : p->one_run                            ? "One run a side"
	                                               : "Several runs a side";
}

static void say_result(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (v->result == VERDICT_UNCHANGED)
		SAY(list, "The whole 95 %% interval of the speedup lies within %g %% of 1: %s.", 100 * VERDICT_MARGIN,
		    v->lo > 1 || v->hi < 1 ? "there is a difference, but one that counts as none"
		                           : "if there is a difference, it is smaller than that");
	else if (v->result != VERDICT_INCONCLUSIVE)
		SAY(list,
		    p->floor > 0 ? "%s: only a change above %s counts. This one does."
		                 : "%s: the whole interval lies on one side of 1.",
		    what_there_is(p, v), percent(list->arena, expm1(p->floor)));
	else if (p->empty || p->few)
		say_too_little(list, p);
	else if (p->moved)
		SAY(list, "The span of %s is shorter, but what lies before it is longer: work may only have moved.",
		    SIDE[p->side_mean[1] < p->side_mean[0]]);
	else if (p->counted_result != VERDICT_INCONCLUSIVE)
		say_recorded_only(list, p);
	else
		say_open(list, p);
}

/* The second line: what a typical step says, where that is something else. */
static void say_typical(struct list *list, const struct proof *p)
{
	struct verdict *v = list->verdict;
	const struct verdict_estimate *t = &v->typical;
	v->typical_why = shape_why(p, v, list->arena);
	if (!v->typical_why)
		return;
	v->typical_line = arena_format(list->arena, "A typical step: %s. %s",
	                               estimate(list->arena, t->speedup, t->lo, t->hi), v->typical_why);
	say(list, v->typical_line);
}

/* ---- what the numbers cannot show, or show only with a correction ---- */

static void say_runs(struct list *list, const struct proof *p)
{
	if (p->runs[0] == 1 && p->runs[1] == 1)
		say(list, "One run a side: a clock or thermal state that differs between the two captures cannot be "
		          "seen; more runs of each side " MORE_RUNS " measure it.");
	else if (p->one_run)
		SAY(list,
		    "Only one run of %s: how much its runs differ is taken from the other side; repeat it with "
		    "%s to measure it.",
		    SIDE[p->runs[0] > 1], p->runs[0] > 1 ? "--fixed" : "--baseline");
	else if (!p->exchange.known)
		say(list, "The order of the runs is not known: if the sides were not captured in turns, a drift of the "
		          "machine counts as effect.");
}

static void say_steps_set_aside(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	for (int i = 0; i < 2; i++)
		if (v->aside[i] > 0)
			SAY(list,
			    "%s of %s took 10 times as long as the others or longer (%s of its time) and %s set aside: "
			    "the speedup is the one without, and the interval also holds the one with everything "
			    "counted, %s\xC3\x97.",
			    v->aside[i] > 1 ? "Two steps" : "One step", SIDE[i],
			    percent(list->arena, fmax(1 - v->step[i] / v->step_counted[i], 0)),
			    v->aside[i] > 1 ? "are" : "is", say_digits(list->arena, v->counted));
	size_t most = p->m[0] < p->m[1] ? p->m[0] : p->m[1];
	bool irregular = false;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			irregular = irregular || (v->series[i][r].slow.n > 0 && !v->series[i][r].slow.regular);
	if (irregular && !p->paired)
		SAY(list, "Slow steps rarer than about one in %zu cannot be seen in %zu steps.", most / 3, most);
}

static void say_warmup(struct list *list, const struct proof *p, int warmup)
{
	const struct verdict *v = list->verdict;
	const char *why = warmup < 0 ? " (found in the data; --warmup overrides it)" : ", as --warmup asks";
	if (p->cut[0] > 0 && p->cut[1] > 0)
		SAY(list, "Left out as warm-up%s: the first %zu steps of %s%s, %zu of %s%s.", why,
		    p->cut[0] + !p->opened[0], p->runs[0] > 1 ? "a typical run of " : "", SIDE[0],
		    p->cut[1] + !p->opened[1], p->runs[1] > 1 ? "a typical run of " : "", SIDE[1]);
	for (int i = 0; i < 2; i++)
		if (p->cut[i] > 0 && !p->cut[1 - i])
			SAY(list, "The first %zu steps of %s%s are left out as warm-up%s.", p->cut[i] + !p->opened[i],
			    p->runs[i] > 1 ? "a typical run of " : "", SIDE[i], why);
	if (v->series[0][0].shrinks && v->series[1][0].shrinks && p->m[0] == p->m[1])
		SAY(list,
		    "Each step has less to do than the one before it, and there are as many on both sides: all of them "
		    "count, from the first to the last, and how they get shorter is taken for the program's own.");
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			if (v->series[i][r].level_start) {
				SAY(list,
				    "The first %zu steps of %s take %s longer, and it is not a decay: they are kept.",
				    v->series[i][r].level_n + 1, SIDE[i],
				    percent(list->arena, expm1(v->series[i][r].level_excess)));
				break;
			}
}

static void say_limits(struct list *list, const struct proof *p, int warmup)
{
	const struct verdict *v = list->verdict;
	if (p->empty || (!p->steps && p->few))
		return;
	say_runs(list, p);
	if (!p->steps)
		return;
	if (v->has_interval && !p->queue_opens)
		say_queues(list, p);
	if (v->has_interval && !p->lengths_open)
		say_lengths(list, p);
	if (v->result == VERDICT_UNCHANGED) /* a direction has said it, and that this one counts */
		say_short_capture(list, p);
	if (v->has_interval && p->paired)
		say(list, "Both sides do the same at the same steps: they are compared step by step.");
	for (int i = 0; i < 2 && v->has_interval; i++)
		if (p->drifting[i] > 0)
			SAY(list,
			    "The step time of %s drifts (the two halves of a run differ by %s), which widens the "
			    "interval; a later start of the measurement (--warmup) or a longer capture may settle it.",
			    p->paired ? "one side against the other" : SIDE[i],
			    percent(list->arena, p->drift[i] * (double)p->runs[i] / (double)p->drifting[i]));
	if (v->has_interval)
		say_steps_set_aside(list, p);
	say_warmup(list, p, warmup);
}

void reasons_say(const struct proof *p, const struct verdict_conditions *conditions, int warmup, struct arena *arena,
                 struct verdict *v)
{
	struct list list = {arena, v, 0};
	if (conditions->nothing) {
		say(&list, conditions->nothing);
		return;
	}
	if (p->stepped[0] != p->stepped[1]) {
		SAY(&list,
		    "Steps were found in %s only, so there is nothing to compare: name with --step the range "
		    "that is one step on both sides.",
		    SIDE[p->stepped[1]]);
		return;
	}
	if (conditions->doubt)
		say(&list, conditions->doubt);
	else
		say_result(&list, p);
	const char *apart = v->has_interval ? reasons_say_apart(v, arena) : NULL;
	if (apart)
		say(&list, apart);
	say_typical(&list, p);
	say_limits(&list, p, warmup);
}
