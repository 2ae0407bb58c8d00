/* The sentences beside a verdict. They are for a busy, sceptical reader: what was shown, what was not, what it would
 * take, and what this data cannot show. Numbers have few digits, so that they mean the same everywhere. */
#include "analyse/judge/verdict_parts.h"
#include "analyse/say.h"

#include <math.h>

static const char *const SIDE[2] = {"the baseline", "the fixed side"};

struct list {
	struct arena *arena;
	struct verdict *verdict;
};

/* Room for every sentence that can come together. */
enum { MAX_REASONS = 16 };

static void say(struct list *list, const char *sentence)
{
	if (list->verdict->n_reasons < MAX_REASONS)
		list->verdict->reasons[list->verdict->n_reasons++] = sentence;
}

#define SAY(list, ...) say(list, arena_format((list)->arena, __VA_ARGS__))

/* A difference of logs as a percentage: two digits, and no more than are honest. */
static const char *percent(struct arena *arena, double ln)
{
	double p = 100 * expm1(ln);
	return arena_format(arena, p < 10 ? "%.1f %%" : "%.0f %%", p);
}

/* How to have more runs, whichever way these were captured and given. */
#define MORE_RUNS "(gapline run --repeat, or several --baseline/--fixed)"

static const char *floor_text(const struct evidence *e)
{
	return e->floor > LN_FLOOR_ONE ? "10 %" : "3 %";
}

static void say_steps_needed(struct list *list, const struct evidence *e, int64_t steps)
{
	SAY(list, "At least about %lld steps %s would be needed (measured: %zu and %zu).", (long long)steps,
	    e->runs[0] > 1 || e->runs[1] > 1 ? "a run" : "a side", e->m[0], e->m[1]);
}

static void say_runs_needed(struct list *list, const struct evidence *e, int64_t runs)
{
	SAY(list, "At least about %lld runs a side would be needed (there are %zu and %zu).", (long long)runs,
	    e->runs[0], e->runs[1]);
}

static void say_plan(struct list *list, const struct evidence *e)
{
	const struct verdict *v = list->verdict;
	if (v->more_steps > 0)
		say_steps_needed(list, e, v->more_steps);
	else if (verdict_wants_steps(e, v))
		SAY(list,
		    "More steps would not settle it, as one run a side must show more than 3 %%: at least about %lld "
		    "runs of each side would be needed " MORE_RUNS ".",
		    (long long)v->more_runs);
	else if (v->more_runs > 0)
		say_runs_needed(list, e, v->more_runs);
	else
		say(list,
		    "No number of further runs worth making would settle it: the runs of a side differ too much.");
}

static void say_too_little(struct list *list, const struct evidence *e)
{
	if (e->stepped[0] != e->stepped[1]) {
		SAY(list,
		    "Steps were found in %s only, so there is nothing to compare: name with --step the range "
		    "that is one step on both sides.",
		    SIDE[e->stepped[1]]);
	} else if (e->empty) {
		int i = e->m[0] == 0 ? 0 : 1;
		SAY(list, "In %s there is nothing to measure: capture at least about %d steps a side.", SIDE[i],
		    SHORT_STEPS);
	} else if (e->steps) {
		SAY(list,
		    "Too few steps to say how sure the speedup is (measured: %zu in %s, %zu in %s): capture at "
		    "least about %d steps a side.",
		    e->m[0], SIDE[0], e->m[1], SIDE[1], SHORT_STEPS);
	} else {
		SAY(list,
		    "Without steps a whole run is one measurement, and there are %zu of %s and %zu of %s: capture "
		    "at least %d runs of each side " MORE_RUNS ", or name the range that is one step with --step.",
		    e->runs[0], SIDE[0], e->runs[1], SIDE[1], SPAN_RUNS);
	}
}

static const char *who_must(const struct verdict *v)
{
	return v->short_capture ? "a short capture"
	       : v->one_run     ? "one run a side"
	                        : "runs with few steps after warm-up";
}

static void say_result(struct list *list, const struct evidence *e, const struct verdict_options *options)
{
	const struct verdict *v = list->verdict;
	const char *where = v->speedup > 1 ? "above" : "below";
	if (v->result == VERDICT_UNCHANGED) {
		say(list,
		    v->lo > 1 || v->hi < 1
		            ? "The whole 95 % interval of the speedup lies within 2 % of 1: there is a difference, but "
		              "one that counts as none."
		            : "The whole 95 % interval of the speedup lies within 2 % of 1: if there is a difference, "
		              "it is smaller than that.");
	} else if (v->result != VERDICT_INCONCLUSIVE && e->floor > 0) {
		SAY(list, "The whole 95 %% interval of the speedup lies beyond the %s that %s must show.",
		    floor_text(e), who_must(v));
	} else if (v->result != VERDICT_INCONCLUSIVE) {
		SAY(list, "The whole 95 %% interval of the speedup lies %s 1, with the spread between runs in it.",
		    where);
	} else if (!e->judged) {
		say_too_little(list, e);
	} else if (e->recorded != VERDICT_INCONCLUSIVE && options->unprofiled) {
		SAY(list,
		    "Recorded, the fixed side is %s; the unprofiled runs do not show the same: the interval that holds "
		    "both "
		    "reaches from %s to %s. More runs of each side make it narrower, unless recording is what makes "
		    "the two "
		    "differ.",
		    verdict_result_name(e->recorded), say_digits(list->arena, v->outer_lo),
		    say_digits(list->arena, v->outer_hi));
	} else if (e->recorded != VERDICT_INCONCLUSIVE) {
		SAY(list,
		    "Recorded, the fixed side is %s, but recording may have changed that: with what that may have "
		    "taken the "
		    "interval reaches from %s to %s, and no number of steps or runs makes it narrower (gapline run "
		    "also "
		    "measures without a profiler).",
		    verdict_result_name(e->recorded), say_digits(list->arena, v->outer_lo),
		    say_digits(list->arena, v->outer_hi));
	} else {
		if (v->lo <= 1 && v->hi >= 1)
			say(list, "The 95 % interval of the speedup holds 1 but reaches more than 2 % away from it: "
			          "neither a change nor its absence is shown.");
		else
			SAY(list,
			    "The 95 %% interval of the speedup lies %s 1, but not wholly beyond the %s "
			    "that %s must show.",
			    where, floor_text(e), who_must(v));
		say_plan(list, e);
	}
}

/* An open gate says what would settle it, whatever the verdict itself needs. */
static void say_open_target(struct list *list, const struct evidence *e, double target)
{
	const struct verdict *v = list->verdict;
	double distance = fabs(v->location[0] - v->location[1] - log(target));
	bool steps = verdict_wants_steps(e, v);
	int64_t more = steps ? verdict_steps_needed(e, distance) : verdict_runs_needed(e, distance);
	const char *open = "is open: the interval reaches from below it to above it";
	if (more > 0)
		SAY(list,
		    "Whether the speedup of %.4gx that was asked for is reached %s; at least about %lld %s a "
		    "side would be needed to tell.",
		    target, open, (long long)more, steps ? "steps" : "runs");
	else
		SAY(list,
		    "Whether the speedup of %.4gx that was asked for is reached %s, and what was measured is too "
		    "close to it for more of the same to tell.",
		    target, open);
}

static void say_gates(struct list *list, const struct evidence *e, const struct verdict_options *options)
{
	const struct verdict *v = list->verdict;
	double target = options->min_speedup, allowed = options->max_regression, bound = 1 / (1 + allowed / 100);
	if (v->gate != GATE_NONE && !e->judged) {
		say(list, "The gate stays open, because these data give no verdict.");
		return;
	}
	if (target > 0 && v->outer_lo >= target)
		SAY(list, "The speedup of %.4gx that was asked for is reached by the whole interval.", target);
	else if (target > 0 && v->outer_hi < target)
		SAY(list, "The speedup of %.4gx that was asked for is missed: the whole interval lies below it.",
		    target);
	else if (target > 0 && (v->lo >= target || v->hi < target))
		SAY(list,
		    "Whether the speedup of %.4gx that was asked for is reached is open: recorded, it is %s, but with "
		    "what recording may have taken the interval reaches from %s to %s.",
		    target, v->lo >= target ? "reached" : "missed", say_digits(list->arena, v->outer_lo),
		    say_digits(list->arena, v->outer_hi));
	else if (target > 0)
		say_open_target(list, e, target);
	if (allowed >= 0 && v->outer_hi < bound)
		SAY(list, "The fixed side is slower by more than the %s %% allowed: the whole interval shows it.",
		    say_digits(list->arena, allowed));
	else if (allowed >= 0 && v->hi < bound)
		SAY(list,
		    "Whether the fixed side is slower by more than the %s %% allowed is open: recorded, it is, but "
		    "with what recording may have taken the interval reaches from %s to %s.",
		    say_digits(list->arena, allowed), say_digits(list->arena, v->outer_lo),
		    say_digits(list->arena, v->outer_hi));
	else if (allowed >= 0 && v->outer_lo >= bound)
		SAY(list, "A slowdown by more than the %s %% allowed is ruled out by the whole interval.",
		    say_digits(list->arena, allowed));
	else if (allowed >= 0 && options->unprofiled && options->known[1] < log(bound))
		SAY(list,
		    "Whether the fixed side is slower by more than the %s %% allowed is open: without a profiler it "
		    "is, "
		    "recorded that is not shown: the interval that holds both reaches from %s to %s.",
		    say_digits(list->arena, allowed), say_digits(list->arena, v->outer_lo),
		    say_digits(list->arena, v->outer_hi));
	else if (allowed >= 0)
		SAY(list, "A slowdown by more than the %s %% allowed is not shown, but not ruled out either.",
		    say_digits(list->arena, allowed));
}

/* What the numbers cannot show, or show only with a correction. */
static void say_limits(struct list *list, const struct evidence *e, int warmup)
{
	const struct verdict *v = list->verdict;
	if (!e->steps)
		say(list, "The time of a run is its whole span, start-up included.");
	if (e->runs[0] == 1 && e->runs[1] == 1 && e->steps)
		say(list, "One run a side: a clock or thermal state that differs between the two captures cannot be "
		          "seen; more runs of each side " MORE_RUNS " measure it.");
	else if (v->one_run && e->steps)
		SAY(list,
		    "Only one run of %s: how much its runs differ is taken from the other side; repeat it with "
		    "%s to measure it.",
		    SIDE[e->runs[0] > 1], e->runs[0] > 1 ? "--fixed" : "--baseline");
	if (v->short_capture && v->has_interval)
		SAY(list,
		    "A short capture: of %zu and %zu measured steps, about %.0f and %.0f count as independent, "
		    "so the interval is twice as wide as its formula gives.",
		    e->m[0], e->m[1], (double)e->m[0] / e->tau[0], (double)e->m[1] / e->tau[1]);
	for (int i = 0; i < 2 && v->has_interval; i++)
		if (e->drifting[i] > 0)
			SAY(list,
			    "The step time of %s drifts (the two halves of a run differ by %s), which widens the "
			    "interval; a later start of the measurement (--warmup) or a longer capture may settle it.",
			    SIDE[i], percent(list->arena, e->drift[i] * (double)e->runs[i] / (double)e->drifting[i]));
	if (v->has_interval && fabs(e->tails) > LN_MARGIN)
		SAY(list,
		    "Unusually long steps weigh on one side: by the mean of all measured steps the ratio would "
		    "be %s, not %s.",
		    say_digits(list->arena, v->speedup * exp(e->tails)), say_digits(list->arena, v->speedup));
	for (int i = 0; i < 2 && e->steps; i++)
		if (e->cut[i] > 0)
			SAY(list, "The first %zu steps of %s%s are left out as warm-up%s.", e->cut[i] + 1,
			    e->runs[i] > 1 ? "a typical run of " : "", SIDE[i],
			    warmup < 0 ? " (found in the data; --warmup overrides it)" : ", as --warmup asks");
}

void verdict_explain(const struct evidence *e, const struct verdict_options *options, struct arena *arena,
                     struct verdict *v)
{
	struct list list = {arena, v};
	v->reasons = ARENA_NEW(arena, MAX_REASONS, const char *);
	if (options->descriptive) {
		const char *reason = options->descriptive_reason;
		say(&list, reason ? reason : "The two sides cannot be compared.");
		say(&list, "A verdict takes two profiles that were captured in the same way.");
	} else {
		say_result(&list, e, options);
	}
	say_gates(&list, e, options);
	say_limits(&list, e, options->warmup);
}
