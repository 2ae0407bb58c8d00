#include "gate/gate.h"

#include "result/say.h"

#include <math.h>
#include <string.h>

/* A number of one side; an interval where only a part of it is known. */
struct value {
	double at, lo, hi;
	const struct fact *missing; /* why there is none; else NULL */
	const struct fact *unsure;  /* why the number that there is decides nothing; else NULL */
};

struct question {
	const struct gate_source *a;
	const struct gate_expression *e;
	struct arena *arena;
};

static struct value known(double at)
{
	return (struct value){.at = at, .lo = at, .hi = at};
}

static struct value missing(const struct fact *why)
{
	return (struct value){NAN, NAN, NAN, why, NULL};
}

static const struct fact *unknown(const struct question *q, const char *what, int side)
{
	return FACT_NEW(q->arena, gate_lacks, side, .what = what);
}

static const struct phase_result *find_phase(const struct side *side, const struct names *names, const char *name)
{
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name && strcmp(names_text(names, side->phases[i].name), name) == 0)
			return &side->phases[i];
	return NULL;
}

/* In the baseline, a phase that has got another name is the one that it was. */
static const char *phase_of(const struct question *q, int s)
{
	const struct gate_source *a = q->a;
	for (uint32_t i = 0; s == 0 && i < a->renames->n; i++)
		if (strcmp(names_text(a->names, a->renames->list[i].to), q->e->phase) == 0)
			return names_text(a->names, a->renames->list[i].from);
	return q->e->phase;
}

static struct value phase_value(const struct question *q, int s)
{
	enum { NAMED = 5 };
	const struct side *side = &q->a->side[s];
	const struct phase_result *phase = find_phase(side, q->a->names, phase_of(q, s));
	struct facts *others = ARENA_NEW(q->arena, 1, struct facts);
	for (uint32_t i = 0; !phase && i < side->n_phases && others->n < NAMED; i++)
		if (side->phases[i].name)
			FACT_ADD(others, q->arena, a_phase, s, .phase = side->phases[i].name);
	if (!phase)
		return missing(FACT_NEW(q->arena, no_such_phase, s, .others = others->n ? others : NULL));
	switch (q->e->metric) {
	case METRIC_PHASE_GPU:
		return known(phase->gpu);
	case METRIC_PHASE_IDLE:
		return known(phase->idle);
	case METRIC_PHASE_HOST:
		return known(phase->host);
	default:
		return known(phase->cost);
	}
}

/* Rows of a kind that are damaged or have no name, of all runs. */
static double unknown_rows(const struct side *side, enum row_kind kind)
{
	double rows = 0;
	for (uint32_t i = 0; i < side->quality.n_dropped; i++)
		rows += side->quality.dropped[i].kind == kind ? (double)side->quality.dropped[i].rows : 0;
	return rows;
}

/* A count that each of these may add to, as if all of them were in the measured steps of the shortest run. */
static struct value with_unknown(const struct side *side, double count, enum row_kind kind)
{
	double steps = INFINITY;
	for (uint32_t r = 0; r < side->n_runs; r++)
		steps = fmin(steps, side->steps.found && side->runs[r].series ? (double)side->runs[r].series->m : 1);
	return (struct value){
		.at = count, .lo = count, .hi = count + unknown_rows(side, kind) / side->n_runs / fmax(steps, 1)};
}

/* What a thread did is told by the names of its calls. */
static bool is_cause_hidden(const struct side *side, int cause)
{
	bool system = cause == CAUSE_HOST_BLOCKED || cause == CAUSE_HANDOVER || cause == CAUSE_HOST_CODE;
	return unknown_rows(side, ROWS_CALLS) > 0 || (system && unknown_rows(side, ROWS_OS_CALLS) > 0);
}

/* Time that the profile charges to no cause may be of this one. */
static struct value cause_value(const struct question *q, int s)
{
	const struct side *side = &q->a->side[s];
	double found = 0, open = 0;
	if (!side->source.has_calls)
		return missing(unknown(q, "causes", s));
	if (q->e->cause == CAUSE_HOST_BLOCKED && !side->source.has_os_calls)
		return missing(unknown(q, "os_calls", s));
	if (q->e->cause == CAUSE_GIL && !side->source.has_lock)
		return missing(unknown(q, "lock", s));
	if (is_cause_hidden(side, q->e->cause))
		return missing(unknown(q, "calls_damaged", s));
	for (uint32_t i = 0; i < side->budget.n_rows; i++) {
		const struct idle_row *row = &side->budget.rows[i];
		if ((int)row->cause == q->e->cause)
			found += row->per_step;
		else if (row->cause == CAUSE_UNATTRIBUTED)
			open += row->per_step;
	}
	if (q->e->cause == CAUSE_GIL)
		open += side->budget.unlooked;
	return (struct value){.at = found, .lo = found, .hi = found + open};
}

/* The mean of runs that do not agree on which side of a limit they are is no answer. */
static struct value step_value(const struct question *q, int s)
{
	const struct side *side = &q->a->side[s];
	struct value value = known(side->headline.step);
	for (uint32_t r = 0; q->a->verdict->measured == VERDICT_RECORDED && side->n_runs > 1 && r < side->n_runs; r++) {
		const struct series *series = side->runs[r].series;
		if (!series || !(series->mean > 0))
			continue;
		value.lo = fmin(value.lo, series->mean);
		value.hi = fmax(value.hi, series->mean);
	}
	return value;
}

static bool is_quantile(const struct gate_expression *e)
{
	return e->metric >= METRIC_P50 && e->metric <= METRIC_P99;
}

static const struct fact *too_few(const struct question *q, const struct quantile *of, int s)
{
	static const char *const time[] = {"step", "first", "each"};
	return FACT_NEW(q->arena, quantile_unsure, s, .quantile = (int64_t)round(100 * of->p),
	                .time = time[q->e->latency], .needed = of->needed,
	                .of = q->a->side[s].latency[LATENCY_STEP].longest > 0 ? "requests" : "steps",
	                .independent = floor(of->independent));
}

static struct value quantile_value(const struct question *q)
{
	const struct quantile *of = &q->a->side[1].latency[q->e->latency].quantile[q->e->metric - METRIC_P50];
	return of->known ? (struct value){of->at, of->lo, of->hi, NULL, of->has_interval ? NULL : too_few(q, of, 1)}
	                 : missing(unknown(q, q->e->latency ? "tokens" : "steps", 1));
}

static struct value quantile_change(const struct question *q)
{
	int k = q->e->metric - METRIC_P50;
	const struct quantile_change *of = &q->a->quantile[q->e->latency][k];
	const struct quantile *side[2] = {&q->a->side[0].latency[q->e->latency].quantile[k],
	                                  &q->a->side[1].latency[q->e->latency].quantile[k]};
	int few = side[1]->has_interval ? 0 : 1;
	if (!of->known)
		return missing(unknown(q, q->e->latency && !side[1]->known ? "tokens" : "steps_to_compare", 1));
	const struct fact *unsure = of->has_interval ? NULL : too_few(q, side[few], few);
	return (struct value){100 * (of->ratio - 1), 100 * (of->lo - 1), 100 * (of->hi - 1), NULL, unsure};
}

static struct value energy_change(const struct question *q)
{
	const struct energy_change *of = q->a->energy;
	if (!of->known)
		return missing(FACT_NEW(q->arena, energy_unknown, of->side, .why = of->why ? of->why : "not_asked"));
	const struct fact *unsure = of->has_interval ? NULL : FACT_NEW(q->arena, energy_unsure, FACT_NO_SIDE);
	return (struct value){100 * (of->ratio - 1), 100 * (of->lo - 1), 100 * (of->hi - 1), NULL, unsure};
}

static double copies_of(const struct side *side)
{
	double copies = 0;
	for (uint32_t i = 0; i < side->n_copies; i++)
		copies += side->copies[i].memset ? 0 : side->copies[i].instances;
	return copies;
}

/* What stays hidden in a graph that was traced as a whole. */
static struct value counted(const struct question *q, int s, double count)
{
	const struct side *side = &q->a->side[s];
	return side->source.graphs == GRAPHS_WHOLE && side->counts.graph_launches > 0
	               ? missing(unknown(q, "in_graphs", s))
	               : known(count);
}

static struct value copied(const struct question *q, int s, double bytes, double unsized)
{
	return unsized > 0 ? missing(unknown(q, "bytes", s)) : counted(q, s, bytes);
}

static struct value value_of(const struct question *q, int s)
{
	const struct side *side = &q->a->side[s];
	switch (q->e->metric) {
	case METRIC_SPEEDUP:
	case METRIC_ENERGY: /* only its change is asked */
		break;
	case METRIC_STEP:
		return step_value(q, s);
	case METRIC_P50:
	case METRIC_P90:
	case METRIC_P95:
	case METRIC_P99:
		return quantile_value(q);
	case METRIC_COMPUTE:
		return known(side->budget.compute);
	case METRIC_COMM:
		return known(side->budget.comm_exposed);
	case METRIC_COPY:
		return known(side->budget.copy_exposed);
	case METRIC_IDLE:
		return known(side->budget.idle);
	case METRIC_CAUSE:
		return cause_value(q, s);
	case METRIC_PHASE_COST:
	case METRIC_PHASE_GPU:
	case METRIC_PHASE_IDLE:
	case METRIC_PHASE_HOST:
		return phase_value(q, s);
	case METRIC_KERNELS:
		return counted(q, s, side->counts.launches);
	case METRIC_GRAPHS:
		return known(side->counts.graph_launches);
	case METRIC_COLLECTIVES:
		return counted(q, s, side->counts.collectives);
	case METRIC_COPIES:
		return counted(q, s, copies_of(side));
	case METRIC_SYNCS:
		return side->source.has_calls ? with_unknown(side, side->counts.syncs, ROWS_CALLS)
		                              : missing(unknown(q, "calls", s));
	case METRIC_H2D:
		return copied(q, s, side->counts.bytes_h2d, side->counts.unsized_h2d);
	case METRIC_D2H:
		return copied(q, s, side->counts.bytes_d2h, side->counts.unsized_d2h);
	case METRIC_D2D:
		return copied(q, s, side->counts.bytes_d2d, side->counts.unsized_d2d);
	case METRIC_MEMORY:
		return side->memory.known ? known((double)side->memory.peak)
		                          : missing(FACT_NEW(q->arena, peak_unknown, s,
		                                             .why = side->memory.why ? side->memory.why : "nothing"));
	}
	return missing(unknown(q, "number", s));
}

/* ---- against a limit ---- */

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

static double change(double before, double after)
{
	if (fabs(after - before) <= SAME * fmax(fabs(before), fabs(after)))
		return 0;
	return 100 * (after / before - 1);
}

/* In percent of the baseline; from nothing to something there is none, which is more than any limit. */
static struct value changed(const struct value *before, const struct value *after)
{
	return (struct value){change(before->at, after->at), change(before->hi, after->lo),
	                      change(before->lo, after->hi), NULL, NULL};
}

static struct value in_unit(const struct question *q, const struct value *value)
{
	double of = q->e->unit == GATE_SHARE ? q->a->side[1].budget.period / 100 : 1;
	if (!(of > 0))
		return missing(unknown(q, "length", 1));
	return (struct value){value->at / of, value->lo / of, value->hi / of, NULL, value->unsure};
}

/* By the interval of the speedup, as the verdict: S is the baseline's step over the fixed side's. */
static struct value step_change(const struct question *q)
{
	const struct verdict *v = q->a->verdict;
	return (struct value){change(v->speedup, 1), change(gates_hi(v), 1), change(gates_lo(v), 1),
	                      v->has_speedup ? NULL : unknown(q, "pair", 1), NULL};
}

static struct value answer(const struct question *q)
{
	const struct gate_expression *e = q->e;
	if (e->metric == METRIC_STEP && e->unit == GATE_CHANGE)
		return step_change(q);
	if (is_quantile(e) && e->unit == GATE_CHANGE)
		return quantile_change(q);
	if (e->metric == METRIC_ENERGY)
		return energy_change(q);
	struct value after = value_of(q, 1);
	if (after.missing)
		return after;
	if (e->unit != GATE_CHANGE)
		return in_unit(q, &after);
	struct value before = value_of(q, 0);
	if (e->metric == METRIC_MEMORY && q->a->side[0].memory.allocator != q->a->side[1].memory.allocator &&
	    !before.missing)
		return missing(FACT_NEW(q->arena, peak_unknown, FACT_NO_SIDE, .why = "unlike"));
	return before.missing ? before : changed(&before, &after);
}

/* ---- as facts ---- */

static const char *apart(const struct question *q, double value, double asked)
{
	bool same = fabs(value - asked) <= SAME * fmax(1, fabs(asked));
	return same ? arena_format(q->arena, "%.6g", asked) : gates_apart(q->arena, value, asked);
}

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
	                 : is_quantile(q->e)         ? "none"
	                 : step                      ? "step"
	                                             : "run";
	bool range = value->lo != value->hi && !peak;
	return FACT_NEW(q->arena, gate_found, FACT_NO_SIDE, .at = number(q, value->at), .of = of,
	                .lo = range ? number(q, value->lo) : NULL, .hi = range ? number(q, value->hi) : NULL);
}

/* Why a number that is there decides nothing. */
static const char *open_because(const struct question *q)
{
	if (q->e->metric == METRIC_CAUSE && q->e->cause == CAUSE_GIL)
		return "lock";
	if (q->e->metric == METRIC_SYNCS)
		return "calls";
	if (q->e->metric == METRIC_CAUSE)
		return "causes";
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
	                             : gate->has_found       ? open_because(q)
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
