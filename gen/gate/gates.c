#include "gate/gate.h"

#include "base/format.h"
#include "base/list.h"
#include "result/pair_result.h"

#include <math.h>

WORD_OF(gate_result_name, gate_result, [GATE_NONE] = "none", [GATE_PASSED] = "passed", [GATE_FAILED] = "failed",
        [GATE_INCONCLUSIVE] = "inconclusive")

double gates_lo(const struct verdict *v)
{
	return v->lo * exp(-v->sure);
}

double gates_hi(const struct verdict *v)
{
	return v->hi * exp(v->sure);
}

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

/* As the card says it, with more digits where it takes them to tell the ends from what was asked for, and from each
 * other. */
static const struct fact *interval(const struct verdict *v, double asked, double lo, double hi, struct arena *arena)
{
	enum { MOST = 6 };
	int decimals = fabs(v->speedup - 1) < 0.1 ? 3 : 2;
	if (lo > 0 && lo < 1) /* three digits that count */
		decimals = (int)fmin(fmax(decimals, 2 - floor(log10(lo))), MOST);
	for (; decimals < MOST; decimals++) {
		double unit = pow(10, decimals), at = round(asked * unit);
		bool apart = (lo == asked || round(lo * unit) != at) && (hi == asked || round(hi * unit) != at);
		if (apart && (hi == lo || round(lo * unit) != round(hi * unit)))
			break;
	}
	return FACT_NEW(arena, gate_interval, FACT_NO_SIDE, .low = arena_format(arena, "%.*f", decimals, lo),
	                .high = arena_format(arena, "%.*f", decimals, hi), .looks = v->sure > 0);
}

const struct fact *gates_no_verdict(const struct verdict *v, const struct fact *asked, const struct fact *found,
                                    struct arena *arena)
{
	const char *why = !v->has_speedup    ? "nothing"
	                  : !v->has_interval ? "interval"
	                  : v->warming       ? "warming"
	                                     : "doubt";
	return FACT_NEW(arena, gate_unjudged, FACT_NO_SIDE, .asked = asked, .why = why, .found = found);
}

/* Where the interval lies, in a word of speedup_gate; without a verdict that is not asked. */
static void judge_interval(const struct verdict *v, const struct fact *asked, double limit, const char *at,
                           enum gate_result result, struct arena *arena, struct gate *gate)
{
	gate->result = v->judged ? result : GATE_INCONCLUSIVE;
	gate->fact = v->judged ? FACT_NEW(arena, speedup_gate, FACT_NO_SIDE, .asked = asked, .speedup = v->speedup,
	                                  .at = at, .interval = interval(v, limit, gates_lo(v), gates_hi(v), arena),
	                                  .result = verdict_result_name(v->result))
	                       : gates_no_verdict(v, asked, NULL, arena);
}

void gates_judge_speedup(const struct verdict *v, struct arena *arena, struct gate *gate)
{
	double lo = gates_lo(v), hi = gates_hi(v), limit = gate->asked;
	gate->has_found = gate->has_interval = v->has_speedup;
	gate->found = v->speedup;
	gate->lo = lo;
	gate->hi = hi;
	const struct fact *asked =
		FACT_NEW(arena, asked_speedup, FACT_NO_SIDE, .times = gates_times(arena, gate->asked));
	if (hi < limit)
		judge_interval(v, asked, limit, "below", GATE_FAILED, arena, gate);
	else if (lo < limit)
		judge_interval(v, asked, limit,
		               v->recorded.known && v->recorded.lo >= limit ? "reached_recorded" : "across",
		               GATE_INCONCLUSIVE, arena, gate);
	else if (limit > 1 && v->result != VERDICT_FASTER)
		judge_interval(v, asked, limit, "not_faster", GATE_INCONCLUSIVE, arena, gate);
	else
		judge_interval(v, asked, limit, "reached", GATE_PASSED, arena, gate);
}

static void judge_regression(const struct verdict *v, struct arena *arena, struct gate *gate)
{
	double bound = 1 / (1 + gate->asked / 100), lo = gates_lo(v), hi = gates_hi(v);
	gate->has_found = gate->has_interval = v->has_speedup;
	gate->found = 100 * (1 / v->speedup - 1);
	gate->lo = 100 * (1 / hi - 1);
	gate->hi = 100 * (1 / lo - 1);
	const struct fact *asked =
		FACT_NEW(arena, asked_regression, FACT_NO_SIDE, .slower = gate->asked / 100, .times = bound);
	bool recorded = v->recorded.known && v->recorded.has_interval && v->recorded.hi < bound;
	if (hi < bound && v->surer > 0 && v->result != VERDICT_SLOWER)
		judge_interval(v, asked, bound, "varied", GATE_INCONCLUSIVE, arena, gate);
	else if (hi < bound)
		judge_interval(v, asked, bound, "below", GATE_FAILED, arena, gate);
	else if (v->result == VERDICT_SLOWER && v->speedup < bound)
		judge_interval(v, asked, bound, "likely_below", GATE_INCONCLUSIVE, arena, gate);
	else if (recorded)
		judge_interval(v, asked, bound, "missed_recorded", GATE_INCONCLUSIVE, arena, gate);
	else
		judge_interval(v, asked, bound, lo >= bound ? "reached" : "not_ruled_out", GATE_PASSED, arena, gate);
}

static void judge_work(const struct verdict *v, const struct comparison *c, struct arena *arena, struct gate *gate)
{
	static const enum gate_result result[] = {[SAME_WORK_SAME] = GATE_PASSED,
	                                          [SAME_WORK_JOB] = GATE_PASSED,
	                                          [SAME_WORK_DIFFERENT] = GATE_FAILED,
	                                          [SAME_WORK_UNKNOWN] = GATE_INCONCLUSIVE};
	const char *found = same_work_name(c->same_work);
	gate->work = c->same_work;
	gate->conditions = c->other_conditions;
	gate->result = result[gate->work];
	if (gate->conditions && gate->work != SAME_WORK_DIFFERENT) {
		gate->result = GATE_FAILED;
		found = "conditions";
	}
	if (!v->has_speedup && gate->result == GATE_PASSED) { /* where nothing is compared, no gate passes */
		gate->result = GATE_INCONCLUSIVE;
		found = "nothing";
	}
	gate->fact = FACT_NEW(arena, work_gate, FACT_NO_SIDE, .found = found, .kernels = same_kernels_name(c->kernels));
}

void gates_add(struct gates *gates, const struct gate *gate, struct arena *arena)
{
	LIST_PUT(arena, gates->gate, gates->n, *gate);
	/* one that failed decides, then one that is open */
	if (gates->result != GATE_FAILED && (gates->result != GATE_INCONCLUSIVE || gate->result == GATE_FAILED))
		gates->result = gate->result;
}

struct gates gates_judge(const struct verdict *v, const struct comparison *comparison, const struct gates_asked *asked,
                         struct arena *arena)
{
	struct gates gates = {0};
	if (asked->min_speedup > 0) {
		struct gate gate = {.kind = GATE_MIN_SPEEDUP,
		                    .name = "min_speedup",
		                    .asked = asked->min_speedup,
		                    .unit = GATE_TIMES};
		gates_judge_speedup(v, arena, &gate);
		gates_add(&gates, &gate, arena);
	}
	if (asked->max_regression >= 0) {
		struct gate gate = {.kind = GATE_MAX_REGRESSION,
		                    .name = "max_regression",
		                    .asked = asked->max_regression,
		                    .unit = GATE_CHANGE};
		judge_regression(v, arena, &gate);
		gates_add(&gates, &gate, arena);
	}
	if (asked->require_comparable) {
		struct gate gate = {.kind = GATE_REQUIRE_COMPARABLE, .name = "require_comparable"};
		judge_work(v, comparison, arena, &gate);
		gates_add(&gates, &gate, arena);
	}
	return gates;
}

double gates_asked_speedup(const struct gates *gates)
{
	return gates->n > 0 && gates->gate[0].kind == GATE_MIN_SPEEDUP ? gates->gate[0].asked : 0;
}
