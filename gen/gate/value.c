#include "gate/value.h"

#include <math.h>
#include <string.h>

static struct value value_known(double at)
{
	return (struct value){.at = at, .lo = at, .hi = at};
}

struct value value_missing(const struct fact *why)
{
	return (struct value){.at = NAN, .lo = NAN, .hi = NAN, .missing = why};
}

const struct fact *value_lacks(const struct question *q, const char *what, int side)
{
	return FACT_NEW(q->arena, gate_lacks, side, .what = what);
}

const struct phase_result *value_phase(const struct side *side, const struct names *names, const char *name)
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
	const struct phase_result *phase = value_phase(side, q->a->names, phase_of(q, s));
	struct facts *others = ARENA_NEW(q->arena, 1, struct facts);
	for (uint32_t i = 0; !phase && i < side->n_phases && others->n < NAMED; i++)
		if (side->phases[i].name)
			FACT_ADD(others, q->arena, a_phase, s, .phase = side->phases[i].name);
	if (!phase)
		return value_missing(FACT_NEW(q->arena, no_such_phase, s, .others = others->n ? others : NULL));
	switch (q->e->metric) {
	case METRIC_PHASE_GPU:
		return value_known(phase->gpu);
	case METRIC_PHASE_IDLE:
		return value_known(phase->idle);
	case METRIC_PHASE_HOST:
		return value_known(phase->host);
	default:
		return value_known(phase->cost);
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
		return value_missing(value_lacks(q, "causes", s));
	if (q->e->cause == CAUSE_HOST_BLOCKED && !side->source.has_os_calls)
		return value_missing(value_lacks(q, "os_calls", s));
	if (q->e->cause == CAUSE_GIL && !side->source.has_lock)
		return value_missing(value_lacks(q, "lock", s));
	if (is_cause_hidden(side, q->e->cause))
		return value_missing(value_lacks(q, "calls_damaged", s));
	for (uint32_t i = 0; i < side->budget.n_rows; i++) {
		const struct idle_row *row = &side->budget.rows[i];
		if ((int)row->cause == q->e->cause)
			found += row->per_step;
		else if (row->cause == CAUSE_UNATTRIBUTED)
			open += row->per_step;
	}
	if (q->e->cause == CAUSE_GIL)
		open += side->budget.unlooked;
	return (struct value){.at = found, .lo = found, .hi = found + open, .partly = open > 0};
}

/* The mean of runs that do not agree on which side of a limit they are is no answer. */
static struct value step_value(const struct question *q, int s)
{
	const struct side *side = &q->a->side[s];
	struct value value = value_known(side->headline.step);
	for (uint32_t r = 0; q->a->verdict->measured == VERDICT_RECORDED && side->n_runs > 1 && r < side->n_runs; r++) {
		const struct series *series = side->runs[r].series;
		if (!series || !(series->mean > 0))
			continue;
		value.lo = fmin(value.lo, series->mean);
		value.hi = fmax(value.hi, series->mean);
	}
	return value;
}

bool value_is_quantile(const struct gate_expression *e)
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
	return of->known ? (struct value){of->at, of->lo, of->hi, NULL, of->has_interval ? NULL : too_few(q, of, 1),
	                                  false}
	                 : value_missing(value_lacks(q, q->e->latency ? "tokens" : "steps", 1));
}

struct value value_quantile_change(const struct question *q)
{
	int k = q->e->metric - METRIC_P50;
	const struct quantile_change *of = &q->a->quantile[q->e->latency][k];
	const struct quantile *side[2] = {&q->a->side[0].latency[q->e->latency].quantile[k],
	                                  &q->a->side[1].latency[q->e->latency].quantile[k]};
	int few = side[1]->has_interval ? 0 : 1;
	if (!of->known)
		return value_missing(
			value_lacks(q, q->e->latency && !side[1]->known ? "tokens" : "steps_to_compare", 1));
	const struct fact *unsure = of->has_interval ? NULL : too_few(q, side[few], few);
	return (struct value){100 * (of->ratio - 1), 100 * (of->lo - 1), 100 * (of->hi - 1), NULL, unsure, false};
}

struct value value_energy_change(const struct question *q)
{
	const struct energy_change *of = q->a->energy;
	if (!of->known)
		return value_missing(
			FACT_NEW(q->arena, energy_unknown, of->side, .why = of->why ? of->why : "not_asked"));
	const struct fact *unsure = of->has_interval ? NULL : FACT_NEW(q->arena, energy_unsure, FACT_NO_SIDE);
	return (struct value){100 * (of->ratio - 1), 100 * (of->lo - 1), 100 * (of->hi - 1), NULL, unsure, false};
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
	               ? value_missing(value_lacks(q, "in_graphs", s))
	               : value_known(count);
}

static struct value copied(const struct question *q, int s, double bytes, double unsized)
{
	return unsized > 0 ? value_missing(value_lacks(q, "bytes", s)) : counted(q, s, bytes);
}

struct value value_of(const struct question *q, int s)
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
		return value_known(side->budget.compute);
	case METRIC_COMM:
		return value_known(side->budget.comm_exposed);
	case METRIC_COPY:
		return value_known(side->budget.copy_exposed);
	case METRIC_IDLE:
		return value_known(side->budget.idle);
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
		return value_known(side->counts.graph_launches);
	case METRIC_COLLECTIVES:
		return counted(q, s, side->counts.collectives);
	case METRIC_COPIES:
		return counted(q, s, copies_of(side));
	case METRIC_SYNCS:
		return side->source.has_calls ? with_unknown(side, side->counts.syncs, ROWS_CALLS)
		                              : value_missing(value_lacks(q, "calls", s));
	case METRIC_H2D:
		return copied(q, s, side->counts.bytes_h2d, side->counts.unsized_h2d);
	case METRIC_D2H:
		return copied(q, s, side->counts.bytes_d2h, side->counts.unsized_d2h);
	case METRIC_D2D:
		return copied(q, s, side->counts.bytes_d2d, side->counts.unsized_d2d);
	case METRIC_MEMORY:
		return side->memory.known
		               ? value_known((double)side->memory.peak)
		               : value_missing(FACT_NEW(q->arena, peak_unknown, s,
		                                        .why = side->memory.why ? side->memory.why : "nothing"));
	}
	return value_missing(value_lacks(q, "number", s));
}
