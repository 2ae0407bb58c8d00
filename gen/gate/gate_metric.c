#include "find/columns.h"
#include "gate/value.h"
#include "result/say.h"

#include <math.h>

/* Equal to a billionth is equal: a count over other numbers of steps differs in its last digits. */
static const double SAME = 1e-9;

static bool fulfils(const struct gate_expression *e, double value)
{
	if (isinf(value))
		return e->compare == GATE_MORE || e->compare == GATE_AT_LEAST;
	double near = SAME * fmax(1, fmax(fabs(value), fabs(e->limit)));
	switch (e->compare) {
	case GATE_LESS:
		return value < e->limit - near;
	case GATE_AT_MOST:
		return value <= e->limit + near;
	case GATE_MORE:
		return value > e->limit + near;
	case GATE_AT_LEAST:
		return value >= e->limit - near;
	}
	return false;
}

/* What of the budget is asked, as its columns have it. False: it is no part of the budget. */
static bool find_part(const struct question *q, struct reason *out)
{
	const struct side *side = q->a->side;
	*out = (struct reason){.part.kind = PART_IDLE, .every_phase = true, .every_cause = true};
	switch (q->e->metric) {
	case METRIC_COMPUTE:
		out->part.kind = PART_COMPUTE;
		return true;
	case METRIC_COMM:
		out->part.kind = PART_COMM;
		return true;
	case METRIC_COPY:
		out->part.kind = PART_COPY;
		return true;
	case METRIC_IDLE:
		return true;
	case METRIC_CAUSE:
		out->every_cause = false;
		out->part.cause = (enum cause)q->e->cause;
		return true;
	case METRIC_PHASE_IDLE: {
		const struct phase_result *phase = value_phase(&side[1], q->a->names, q->e->phase);
		out->every_phase = false;
		out->part.phase = phase ? renames_baseline(q->a->renames, phase->name) : 0;
		return phase && !side[0].phases_by_work && !side[1].phases_by_work;
	}
	default:
		return false;
	}
}

/* The fixed side's number varies from step to step, and from run to run. */
static void widen(const struct question *q, struct value *after)
{
	struct reason part;
	if (!q->a->columns || !find_part(q, &part))
		return;
	part.part.fixed = after->at;
	const double half = columns_half(q->a->columns, 1, &part);
	if (half > 0) {
		after->lo = fmax(0, after->lo - half);
		after->hi += half;
	}
}

/* The same of a change in percent. */
static void widen_change(const struct question *q, const struct value *before, const struct value *after,
                         struct value *change)
{
	struct reason part;
	if (!q->a->columns || !find_part(q, &part) || !(before->at > 0))
		return;
	part.part.baseline = before->at;
	part.part.fixed = after->at;
	columns_interval(q->a->columns, &part);
	const double half = 100 * part.part.half / before->at;
	if (part.part.has_interval && half > 0) {
		change->lo -= half;
		change->hi += half;
	}
}

static double change(double before, double after)
{
	if (fabs(after - before) <= SAME * fmax(fabs(before), fabs(after)))
		return 0;
	return 100 * (after / before - 1);
}

/* In percent of the baseline; from nothing to something there is none, which is more than any limit. */
static struct value changed(const struct value *before, const struct value *after)
{
	return (struct value){change(before->at, after->at),
	                      change(before->hi, after->lo),
	                      change(before->lo, after->hi),
	                      NULL,
	                      NULL,
	                      before->partly || after->partly};
}

static struct value in_unit(const struct question *q, const struct value *value)
{
	double of = q->e->unit == GATE_SHARE ? q->a->side[1].budget.period / 100 : 1;
	if (!(of > 0))
		return value_missing(value_lacks(q, "length", 1));
	return (struct value){value->at / of, value->lo / of, value->hi / of, NULL, value->unsure, value->partly};
}

/* By the interval of the speedup, as the verdict: S is the baseline's step over the fixed side's. */
static struct value step_change(const struct question *q)
{
	const struct verdict *v = q->a->verdict;
	return (struct value){change(v->speedup, 1),
	                      change(gates_hi(v), 1),
	                      change(gates_lo(v), 1),
	                      v->has_speedup ? NULL : value_lacks(q, "pair", 1),
	                      NULL,
	                      false};
}

static struct value answer(const struct question *q)
{
	const struct gate_expression *e = q->e;
	if (e->metric == METRIC_STEP && e->unit == GATE_CHANGE)
		return step_change(q);
	if (value_is_quantile(e) && e->unit == GATE_CHANGE)
		return value_quantile_change(q);
	if (e->metric == METRIC_ENERGY)
		return value_energy_change(q);
	struct value after = value_of(q, 1);
	if (after.missing)
		return after;
	if (e->unit != GATE_CHANGE) {
		widen(q, &after);
		return in_unit(q, &after);
	}
	struct value before = value_of(q, 0);
	if (e->metric == METRIC_MEMORY && q->a->side[0].memory.allocator != q->a->side[1].memory.allocator &&
	    !before.missing)
		return value_missing(FACT_NEW(q->arena, peak_unknown, FACT_NO_SIDE, .why = "unlike"));
	if (before.missing)
		return before;
	struct value change = changed(&before, &after);
	widen_change(q, &before, &after, &change);
	return change;
}

/* ---- as facts ---- */

static const char *apart(const struct question *q, double value, double asked)
{
	bool same = fabs(value - asked) <= SAME * fmax(1, fabs(asked));
	return same ? arena_format(q->arena, "%.6g", asked) : gates_apart(q->arena, value, asked);
}

static const double SHOWN = 0.005; /* of a number: an interval that is narrower is not said */

/* In the unit of what was asked, with as many digits as tell it from that. */
static const struct fact *number(const struct question *q, double value)
{
	const struct gate_expression *e = q->e;
	const char *text = "";
	switch (e->unit) {
	case GATE_NS:
		text = arena_format(q->arena, "%s ms", apart(q, value / 1e6, e->limit / 1e6));
		break;
	case GATE_BYTES:
		text = say_bytes(q->arena, value);
		break;
	case GATE_SHARE:
		text = arena_format(q->arena, "%s %%", apart(q, value, e->limit));
		break;
	case GATE_CHANGE:
		if (isfinite(value))
			text = arena_format(q->arena, "%s%s %%",
			                    value > 0   ? "+"
			                    : value < 0 ? "\xE2\x88\x92"
			                                : "",
			                    apart(q, fabs(value), fabs(e->limit)));
		break;
	case GATE_COUNT:
	case GATE_TIMES:
		text = say_count(q->arena, value);
		break;
	}
	return FACT_NEW(q->arena, gate_number, FACT_NO_SIDE, .finite = isfinite(value), .number = text);
}

static const struct fact *found(const struct question *q, const struct value *value)
{
	bool step = q->a->side[1].steps.found, peak = q->e->metric == METRIC_MEMORY && q->e->unit == GATE_BYTES;
	const char *of = peak                        ? "peak"
	                 : q->e->unit == GATE_SHARE  ? step ? "share_of_step" : "share_of_run"
	                 : q->e->unit == GATE_CHANGE ? isfinite(value->at) ? "change" : "none"
	                 : value_is_quantile(q->e)   ? "none"
	                 : step                      ? "step"
	                                             : "run";
	bool wide =
		value->hi - value->lo > SHOWN * fabs(value->at) || fulfils(q->e, value->lo) != fulfils(q->e, value->hi);
	bool range = value->lo != value->hi && wide && !peak;
	return FACT_NEW(q->arena, gate_found, FACT_NO_SIDE, .at = number(q, value->at), .of = of,
	                .lo = range ? number(q, value->lo) : NULL, .hi = range ? number(q, value->hi) : NULL);
}

/* Why a number that is there decides nothing. */
static const char *open_because(const struct question *q, const struct value *value)
{
	if (q->e->metric == METRIC_CAUSE && value->partly)
		return q->e->cause == CAUSE_GIL ? "lock" : "causes";
	if (q->e->metric == METRIC_SYNCS)
		return "calls";
	return q->e->metric == METRIC_STEP && q->e->unit == GATE_NS ? "runs" : "across";
}

static void judge(const struct question *q, struct gate *gate)
{
	const struct verdict *v = q->a->verdict;
	const struct fact *asked = FACT_NEW(q->arena, asked_gate, FACT_NO_SIDE, .gate = gate->name);
	struct value value = answer(q);
	gate->result = GATE_INCONCLUSIVE;
	if (value.missing) {
		gate->fact =
			FACT_NEW(q->arena, gate_without_number, FACT_NO_SIDE, .asked = asked, .why = value.missing);
		return;
	}
	gate->has_found = isfinite(value.at);
	gate->found = value.at;
	gate->has_interval = gate->has_found && isfinite(value.lo) && isfinite(value.hi) && value.lo < value.hi;
	gate->lo = value.lo;
	gate->hi = value.hi;
	const struct fact *is = found(q, &value);
	bool lo = fulfils(q->e, value.lo), hi = fulfils(q->e, value.hi);
	bool decides = !value.unsure && lo == hi && (!lo || gate->has_found);
	if (!v->judged) {
		gate->fact = gates_no_verdict(v, asked, is, q->arena);
		return;
	}
	if (decides)
		gate->result = lo ? GATE_PASSED : GATE_FAILED;
	gate->fact = FACT_NEW(q->arena, gate_judged, FACT_NO_SIDE, .asked = asked,
	                      .result = gate_result_name(gate->result), .found = is,
	                      .why = decides || value.unsure ? "none"
	                             : gate->has_found       ? open_because(q, &value)
	                                                     : "no_percent",
	                      .unsure = value.unsure);
}

struct gates gate_metric_judge(const struct gates *others, const struct gates_asked *asked,
                               const struct gate_source *source, struct arena *arena)
{
	struct gates out = *others;
	for (size_t i = 0; i < asked->n_expressions; i++) {
		const struct gate_expression *e = &asked->expressions[i];
		const struct question q = {source, e, arena};
		struct gate gate = {.kind = GATE_EXPRESSION, .name = e->text, .asked = e->limit, .unit = e->unit};
		if (e->metric == METRIC_SPEEDUP)
			gates_judge_speedup(source->verdict, arena, &gate);
		else
			judge(&q, &gate);
		gates_add(&out, &gate, arena);
	}
	return out;
}
