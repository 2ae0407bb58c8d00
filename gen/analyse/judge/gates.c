#include "analyse/judge/gates.h"

#include "analyse/say.h"

#include <math.h>

const char *gate_result_name(enum gate_result result)
{
	static const char *const name[] = {[GATE_NONE] = "none",
	                                   [GATE_PASSED] = "passed",
	                                   [GATE_FAILED] = "failed",
	                                   [GATE_INCONCLUSIVE] = "inconclusive"};
	return name[result];
}

double gates_lo(const struct verdict *v)
{
	return v->lo * exp(-v->sure);
}

double gates_hi(const struct verdict *v)
{
	return v->hi * exp(v->sure);
}

/* A sentence's parts. */
struct words {
	struct arena *arena;
	const struct verdict *v;
	double asked;
};

const char *gates_apart(struct arena *arena, double value, double asked)
{
	for (int decimals = 2; decimals < 6; decimals++) {
		const char *one = arena_format(arena, "%.*f", decimals, value);
		if (fabs(value - asked) * pow(10, decimals) >= 1)
			return one;
	}
	return arena_format(arena, "%.6f", value);
}

const char *gates_times(struct arena *arena, double asked)
{
	bool two = fabs(asked * 100 - round(asked * 100)) < 1e-9 * fabs(asked * 100);
	return arena_format(arena, two ? "%.2f\xC3\x97" : "%.6g\xC3\x97", asked);
}

/* "2.38 to 2.76×": as the card says it, with more digits where it takes them to tell the ends from what was asked for,
 * and from each other. */
static const char *interval(const struct words *w, double lo, double hi)
{
	enum { MOST = 6 };
	int decimals = fabs(w->v->speedup - 1) < 0.1 ? 3 : 2;
	if (lo > 0 && lo < 1) /* three digits that count */
		decimals = (int)fmin(fmax(decimals, 2 - floor(log10(lo))), MOST);
	for (; decimals < MOST; decimals++) {
		double unit = pow(10, decimals), at = round(w->asked * unit);
		bool apart = (lo == w->asked || round(lo * unit) != at) && (hi == w->asked || round(hi * unit) != at);
		if (apart && (hi == lo || round(lo * unit) != round(hi * unit)))
			break;
	}
	return arena_format(w->arena, "%.*f to %.*f\xC3\x97%s", decimals, lo, decimals, hi,
	                    w->v->sure > 0 ? " (wider than the headline's, since looks decided when to stop)" : "");
}

const char *gates_no_verdict(const struct verdict *v, const char *asked, struct arena *arena)
{
	return arena_format(arena, "%s was asked for; open, because %s.", asked,
	                    !v->has_speedup    ? "there is nothing to compare"
	                    : !v->has_interval ? "there is too little data for an interval"
	                    : v->warming       ? "a side was still warming up when its capture ended"
	                                       : "these data prove nothing (the first reason says why)");
}

void gates_judge_speedup(const struct verdict *v, struct arena *arena, struct gate *gate)
{
	const struct words w = {arena, v, gate->asked};
	const char *asked = arena_format(arena, "A speedup of at least %s", gates_times(arena, gate->asked));
	const char *found = interval(&w, gate->lo, gate->hi);
	gate->result = GATE_INCONCLUSIVE;
	if (!v->judged) {
		gate->text = gates_no_verdict(v, asked, arena);
	} else if (gate->hi < gate->asked) {
		gate->result = GATE_FAILED;
		gate->text = arena_format(arena, "%s was asked for; failed: the whole interval, %s, lies below it.",
		                          asked, found);
	} else if (gate->lo < gate->asked && v->recorded.known && v->recorded.lo >= gate->asked) {
		gate->text =
			arena_format(arena,
		                     "%s was asked for; open: recorded it is reached, but with what recording may have "
		                     "changed the interval reaches from %s.",
		                     asked, found);
	} else if (gate->lo < gate->asked) {
		gate->text = arena_format(
			arena, "%s was asked for; open: the interval, %s, reaches from below it to above it.", asked,
			found);
	} else if (gate->asked > 1 && v->result != VERDICT_FASTER) {
		gate->text = arena_format(
			arena,
			"%s was asked for; open: the whole interval, %s, reaches it, but the result is %s, "
			"and a speedup above 1 takes `faster`.",
			asked, found, verdict_result_name(v->result));
	} else {
		gate->result = GATE_PASSED;
		gate->text = arena_format(arena, "%s was asked for; passed: the whole interval, %s, reaches it.", asked,
		                          found);
	}
}

static void judge_regression(const struct verdict *v, struct arena *arena, struct gate *gate)
{
	double bound = 1 / (1 + gate->asked / 100);
	const struct words w = {arena, v, bound};
	const char *asked = arena_format(arena, "At most %.6g %% slower, a speedup of %s\xC3\x97 or more,", gate->asked,
	                                 say_digits(arena, bound));
	double lo = gates_lo(v), hi = gates_hi(v);
	const char *found = interval(&w, lo, hi);
	bool recorded = v->recorded.known && v->recorded.has_interval && v->recorded.hi < bound;
	gate->result = GATE_INCONCLUSIVE;
	if (!v->judged) {
		gate->text = gates_no_verdict(v, asked, arena);
	} else if (hi < bound && v->surer > 0 && v->result != VERDICT_SLOWER) {
		gate->text =
			arena_format(arena,
		                     "%s was asked for; open: the whole interval, %s, lies below it, but where steps "
		                     "vary this much that is not enough to call the fixed side slower.",
		                     asked, found);
	} else if (hi < bound) {
		gate->result = GATE_FAILED;
		gate->text = arena_format(arena, "%s was asked for; failed: the whole interval, %s, lies below it.",
		                          asked, found);
	} else if (v->result == VERDICT_SLOWER && v->speedup < bound) {
		gate->text = arena_format(arena,
		                          "%s was asked for; open: the fixed side is slower, and likely by more, but "
		                          "the interval, %s, does not prove that.",
		                          asked, found);
	} else if (recorded) {
		gate->text = arena_format(arena,
		                          "%s was asked for; open: recorded it is missed, but with what recording may "
		                          "have done the interval reaches from %s.",
		                          asked, found);
	} else {
		gate->result = GATE_PASSED;
		gate->text = arena_format(
			arena,
			lo >= bound ? "%s was asked for; passed: the whole interval, %s, reaches it."
				    : "%s was asked for; passed without a proof: the interval, %s, does not "
				      "rule a larger slowdown out, but does not show it either.",
			asked, found);
	}
}

static void judge_work(struct gate *gate)
{
	static const enum gate_result result[] = {[SAME_WORK_SAME] = GATE_PASSED,
	                                          [SAME_WORK_JOB] = GATE_PASSED,
	                                          [SAME_WORK_DIFFERENT] = GATE_FAILED,
	                                          [SAME_WORK_UNKNOWN] = GATE_INCONCLUSIVE};
	static const char *const text[] = {
		[SAME_WORK_SAME] = "The same work on both sides was asked for; passed.",
		[SAME_WORK_JOB] =
			"The same work on both sides was asked for; passed: the same job, done in another way.",
		[SAME_WORK_DIFFERENT] =
			"The same work on both sides was asked for; failed: they did different work (see "
			"the differences).",
		[SAME_WORK_UNKNOWN] =
			"The same work on both sides was asked for; open: the profiles do not say enough to "
			"tell (see the differences)."};
	gate->result = result[gate->work];
	gate->text = text[gate->work];
	if (gate->conditions && gate->work != SAME_WORK_DIFFERENT) {
		gate->result = GATE_FAILED;
		gate->text = "The same work on both sides was asked for; failed: they ran under different conditions "
			     "(see the "
			     "differences).";
	}
}

static struct gate *add(struct gates *gates, enum gate_kind kind, double asked, struct arena *arena)
{
	static const char *const name[] = {"min_speedup", "max_regression", "require_comparable"};
	gates->gate = arena_grow(arena, gates->gate, gates->n, gates->n + 1, sizeof *gates->gate);
	struct gate *gate = &gates->gate[gates->n++];
	*gate = (struct gate){.kind = kind, .name = name[kind], .asked = asked};
	return gate;
}

/* One that failed decides, then one that is open. */
static void sum_up(struct gates *gates, enum gate_result r)
{
	if (gates->result != GATE_FAILED && (gates->result != GATE_INCONCLUSIVE || r == GATE_FAILED))
		gates->result = r;
}

void gates_add(struct gates *gates, const struct gate *gate, struct arena *arena)
{
	gates->gate = arena_grow(arena, gates->gate, gates->n, gates->n + 1, sizeof *gates->gate);
	gates->gate[gates->n++] = *gate;
	sum_up(gates, gate->result);
}

struct gates gates_judge(const struct verdict *v, enum same_work work, bool other_conditions,
                         const struct gates_asked *asked, struct arena *arena)
{
	struct gates gates = {0};
	if (asked->min_speedup > 0) {
		struct gate *gate = add(&gates, GATE_MIN_SPEEDUP, asked->min_speedup, arena);
		gate->unit = GATE_TIMES;
		gate->has_found = gate->has_interval = v->has_speedup;
		gate->found = v->speedup;
		gate->lo = gates_lo(v);
		gate->hi = gates_hi(v);
		gates_judge_speedup(v, arena, gate);
	}
	if (asked->max_regression >= 0) {
		struct gate *gate = add(&gates, GATE_MAX_REGRESSION, asked->max_regression, arena);
		gate->unit = GATE_CHANGE;
		gate->has_found = gate->has_interval = v->has_speedup;
		gate->found = 100 * (1 / v->speedup - 1);
		gate->lo = 100 * (1 / gates_hi(v) - 1);
		gate->hi = 100 * (1 / gates_lo(v) - 1);
		judge_regression(v, arena, gate);
	}
	if (asked->require_comparable) {
		struct gate *gate = add(&gates, GATE_REQUIRE_COMPARABLE, 0, arena);
		gate->work = work;
		gate->conditions = other_conditions;
		judge_work(gate);
		if (!v->has_speedup && gate->result == GATE_PASSED) { /* where nothing is compared, no gate passes */
			gate->result = GATE_INCONCLUSIVE;
			gate->text =
				"The same work on both sides was asked for; open, because there is nothing to compare.";
		}
	}
	for (size_t i = 0; i < gates.n; i++)
		sum_up(&gates, gates.gate[i].result);
	return gates;
}

double gates_asked_speedup(const struct gates *gates)
{
	return gates->n > 0 && gates->gate[0].kind == GATE_MIN_SPEEDUP ? gates->gate[0].asked : 0;
}
