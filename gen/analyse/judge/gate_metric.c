#include "analyse/judge/gate_metric.h"

#include "analyse/say.h"

#include <math.h>
#include <string.h>

/* A number of one side; an interval where only a part of it is known. */
struct value {
	double at, lo, hi;
	const char *missing; /* why there is none; else NULL */
	const char *unsure;  /* why the number that there is decides nothing; else NULL */
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

static struct value missing(const char *why)
{
	return (struct value){NAN, NAN, NAN, why, NULL};
}

/* "step", or "run" for a side without steps. */
static const char *unit_of(const struct side *side)
{
	return side->steps.found ? "step" : "run";
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
	const char *name = phase_of(q, s), *others = "";
	const struct phase_result *phase = find_phase(side, q->a->names, name);
	uint32_t n = 0;
	for (uint32_t i = 0; !phase && i < side->n_phases && n < NAMED; i++)
		if (side->phases[i].name)
			others = arena_format(q->arena, "%s%s%s", others, n++ ? ", " : "; it has ",
			                      say_short(q->arena, names_text(q->a->names, side->phases[i].name)));
	if (!phase)
		return missing(arena_format(q->arena, "the %s has no phase of this name%s",
		                            s ? "fixed side" : "baseline", others));
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
		return missing("without the CUDA calls in the profile no cause of idle time is known");
	if (q->e->cause == CAUSE_HOST_BLOCKED && !side->source.has_os_calls)
		return missing("blocking calls were not recorded (--trace cuda,nvtx,osrt)");
	if (q->e->cause == CAUSE_GIL && !side->source.has_lock)
		return missing("nobody looked who waits for Python's interpreter lock (--trace cuda,nvtx,py)");
	if (is_cause_hidden(side, q->e->cause))
		return missing(arena_format(q->arena, "calls of the %s have no name or make no sense",
		                            s ? "fixed side" : "baseline"));
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

static const char *too_few(const struct question *q, const struct quantile *of, int s)
{
	return arena_format(q->arena, "p%.0f needs about %.0f steps that do not depend on each other, and %s has %.0f",
	                    100 * of->p, of->needed, s ? "the fixed side" : "the baseline", floor(of->independent));
}

static struct value quantile_value(const struct question *q)
{
	const struct quantile *of = &q->a->side[1].quantile[q->e->metric - METRIC_P50];
	return of->known ? (struct value){of->at, of->lo, of->hi, NULL, of->has_interval ? NULL : too_few(q, of, 1)}
	                 : missing("there are no steps");
}

static struct value quantile_change(const struct question *q)
{
	int k = q->e->metric - METRIC_P50;
	const struct quantile_change *of = &q->a->quantile[k];
	int few = q->a->side[1].quantile[k].has_interval ? 0 : 1;
	if (!of->known)
		return missing("there are no steps to compare");
	const char *unsure = of->has_interval ? NULL : too_few(q, &q->a->side[few].quantile[k], few);
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
static struct value counted(const struct side *side, double count)
{
	return side->source.graphs == GRAPHS_WHOLE && side->counts.graph_launches > 0
	               ? missing("CUDA graphs were traced whole, and what is in them cannot be counted")
	               : known(count);
}

static struct value copied(const struct side *side, double bytes, double unsized)
{
	return unsized > 0 ? missing("the bytes of some copies were not recorded") : counted(side, bytes);
}

static const char *memory_missing(const struct question *q, int s)
{
	const struct side *side = &q->a->side[s];
	return arena_format(q->arena, "%s %s", s ? "on the fixed side" : "in the baseline",
	                    side->memory.why ? side->memory.why : "nothing is known");
}

static struct value value_of(const struct question *q, int s)
{
	const struct side *side = &q->a->side[s];
	switch (q->e->metric) {
	case METRIC_SPEEDUP:
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
		return counted(side, side->counts.launches);
	case METRIC_GRAPHS:
		return known(side->counts.graph_launches);
	case METRIC_COLLECTIVES:
		return counted(side, side->counts.collectives);
	case METRIC_COPIES:
		return counted(side, copies_of(side));
	case METRIC_SYNCS:
		return side->source.has_calls ? with_unknown(side, side->counts.syncs, ROWS_CALLS)
		                              : missing("CUDA calls were not recorded");
	case METRIC_H2D:
		return copied(side, side->counts.bytes_h2d, side->counts.unsized_h2d);
	case METRIC_D2H:
		return copied(side, side->counts.bytes_d2h, side->counts.unsized_d2h);
	case METRIC_D2D:
		return copied(side, side->counts.bytes_d2d, side->counts.unsized_d2d);
	case METRIC_MEMORY:
		return side->memory.known ? known((double)side->memory.peak) : missing(memory_missing(q, s));
	}
	return missing("there is no such number");
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
		return missing("the fixed side's step has no length");
	return (struct value){value->at / of, value->lo / of, value->hi / of, NULL, value->unsure};
}

/* By the interval of the speedup, as the verdict: S is the baseline's step over the fixed side's. */
static struct value step_change(const struct verdict *v)
{
	return (struct value){change(v->speedup, 1), change(gates_hi(v), 1), change(gates_lo(v), 1),
	                      v->has_speedup ? NULL : "there is nothing to compare", NULL};
}

static struct value answer(const struct question *q)
{
	const struct gate_expression *e = q->e;
	if (e->metric == METRIC_STEP && e->unit == GATE_CHANGE)
		return step_change(q->a->verdict);
	if (is_quantile(e) && e->unit == GATE_CHANGE)
		return quantile_change(q);
	struct value after = value_of(q, 1);
	if (after.missing)
		return after;
	if (e->unit != GATE_CHANGE)
		return in_unit(q, &after);
	struct value before = value_of(q, 0);
	return before.missing ? before : changed(&before, &after);
}

/* ---- in words ---- */

static const char *apart(const struct question *q, double value, double asked)
{
	bool same = fabs(value - asked) <= SAME * fmax(1, fabs(asked));
	return same ? arena_format(q->arena, "%.6g", asked) : gates_apart(q->arena, value, asked);
}

static const char *number(const struct question *q, double value)
{
	const struct gate_expression *e = q->e;
	switch (e->unit) {
	case GATE_NS:
		return arena_format(q->arena, "%s ms", apart(q, value / 1e6, e->limit / 1e6));
	case GATE_BYTES:
		return say_bytes(q->arena, value);
	case GATE_SHARE:
		return arena_format(q->arena, "%s %%", apart(q, value, e->limit));
	case GATE_CHANGE:
		return isfinite(value)
		               ? arena_format(q->arena, "%s%s %%", value > 0 ? "+" : "", apart(q, value, e->limit))
		               : "something where the baseline has nothing";
	case GATE_COUNT:
	case GATE_TIMES:
		break;
	}
	return say_count(q->arena, value);
}

static const char *found_words(const struct question *q, const struct value *value)
{
	const char *per = unit_of(&q->a->side[1]);
	if (q->e->metric == METRIC_MEMORY && q->e->unit == GATE_BYTES)
		return arena_format(q->arena, "%s at its peak", number(q, value->at));
	const char *of = q->e->unit == GATE_SHARE    ? arena_format(q->arena, " of a %s", per)
	                 : q->e->unit == GATE_CHANGE ? isfinite(value->at) ? " against the baseline" : ""
	                 : is_quantile(q->e)         ? ""
	                                             : arena_format(q->arena, " a %s", per);
	const char *all = arena_format(q->arena, "%s%s", number(q, value->at), of);
	if (value->lo == value->hi)
		return all;
	return arena_format(q->arena, "%s, in the interval from %s to %s", all, number(q, value->lo),
	                    number(q, value->hi));
}

/* Why a number that is there decides nothing. */
static const char *open_words(const struct question *q)
{
	if (q->e->metric == METRIC_CAUSE && q->e->cause == CAUSE_GIL)
		return "idle time in which nobody looked who waits for Python's interpreter lock decides";
	if (q->e->metric == METRIC_SYNCS)
		return "calls that have no name or make no sense decide";
	if (q->e->metric == METRIC_CAUSE)
		return "idle time of which the profile does not say the cause decides";
	if (q->e->metric == METRIC_STEP && q->e->unit == GATE_NS)
		return "the runs do not agree";
	return "the interval reaches from below the limit to above it";
}

static void judge(const struct question *q, struct gate *gate)
{
	const struct verdict *v = q->a->verdict;
	const char *asked = say_short(q->arena, gate->name);
	struct value value = answer(q);
	gate->result = GATE_INCONCLUSIVE;
	if (value.missing) {
		gate->text = arena_format(q->arena, "%s was asked for; open, because %s.", asked, value.missing);
		return;
	}
	gate->has_found = isfinite(value.at);
	gate->found = value.at;
	gate->has_interval = gate->has_found && isfinite(value.lo) && isfinite(value.hi) && value.lo < value.hi;
	gate->lo = value.lo;
	gate->hi = value.hi;
	const char *found = found_words(q, &value);
	const char *comma = value.lo == value.hi ? "" : ",";
	bool lo = fulfils(q->e, value.lo), hi = fulfils(q->e, value.hi);
	if (!v->judged)
		gate->text = arena_format(q->arena, "%s Found: %s.", gates_no_verdict(v, asked, q->arena), found);
	else if (value.unsure)
		gate->text = arena_format(q->arena, "%s was asked for; open: %s was found, and %s.", asked, found,
		                          value.unsure);
	else if (!lo && !hi)
		gate->result = GATE_FAILED;
	else if (lo && hi && gate->has_found)
		gate->result = GATE_PASSED;
	else
		gate->text = arena_format(q->arena, "%s was asked for; open: %s%s was found, and %s.", asked, found,
		                          comma, gate->has_found ? open_words(q) : "that is no change in percent");
	if (!gate->text)
		gate->text = arena_format(q->arena, "%s was asked for; %s: %s%s was found.", asked,
		                          gate_result_name(gate->result), found, comma);
}

struct gates gate_metric_judge(const struct gates *others, const struct gates_asked *asked,
                               const struct gate_source *source, struct arena *arena)
{
	struct gates out = *others;
	for (size_t i = 0; i < asked->n_expressions; i++) {
		const struct gate_expression *e = &asked->expressions[i];
		const struct question q = {source, e, arena};
		struct gate gate = {.kind = GATE_EXPRESSION, .name = e->text, .asked = e->limit, .unit = e->unit};
		if (e->metric == METRIC_SPEEDUP) {
			const struct verdict *v = source->verdict;
			gate.has_found = gate.has_interval = v->has_speedup;
			gate.found = v->speedup;
			gate.lo = gates_lo(v);
			gate.hi = gates_hi(v);
			gates_judge_speedup(v, arena, &gate);
		} else {
			judge(&q, &gate);
		}
		gates_add(&out, &gate, arena);
	}
	return out;
}
