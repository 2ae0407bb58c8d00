#include "analyse/judge/diagnosis.h"

#include <math.h>

static const double NEARLY_ALL = 0.8, HARDLY_MORE = 1.25; /* of the gain, explained: between them it is confirmed, … */
static const double REST = 0.2;                           /* … if all that nobody claimed changed by less than this */
static const double SPEAKS = 0.01; /* of the gain: less than that is not said to be where more came from */

/* Idle time that the host could fill by running ahead. */
static bool is_the_hosts(enum cause cause)
{
	return cause != CAUSE_DISPATCH && cause != CAUSE_DEPENDENCY && cause != CAUSE_LATE_START &&
	       cause != CAUSE_MANAGED_MEMORY && cause != CAUSE_BUBBLE && cause != CAUSE_OTHER_PROCESS &&
	       cause != CAUSE_UNATTRIBUTED;
}

double diagnosis_floor(const struct side *side, const struct side_facts *facts, const bool *without)
{
	double floor = side->busy;
	for (uint32_t i = 0; i < facts->n_idle; i++)
		if ((!is_the_hosts(facts->idle[i].key.cause) || facts->idle[i].key.once) && !(without && without[i]))
			floor += facts->idle[i].per_step;
	return floor;
}

/* Without synchronisations the host's work still takes its time, less what the others rid it of; free launches still
 * need one. */
static double combine(const struct evidence *const *resolved, size_t n, double *lowest)
{
	const struct side_facts *facts = resolved[0]->facts;
	const struct side *side = resolved[0]->side;
	struct arena scratch = {0};
	bool *claimed = ARENA_NEW(&scratch, facts->n_idle + 1, bool), sync = false;
	double step = side->budget.period, host = facts->host_work, busy = 0, launch = 0, rid = 0, least = step;
	bool cold = false;
	for (size_t k = 0; k < n; k++) {
		const struct evidence *e = resolved[k];
		bool launches = e->rule->kind == RULE_LAUNCH;
		for (uint32_t i = 0; i < facts->n_idle; i++)
			claimed[i] |= e->claims[i];
		busy += e->busy;
		cold |= e->least > 0;
		sync |= e->rule->kind == RULE_SYNC;
		launch = launches ? facts->work.launch_call : launch;
		rid = launches ? fmax(rid, e->host) : rid; /* they share one cost */
		host -= launches ? 0 : e->host;
		least = e->ceiling > 0 ? fmin(least, e->ceiling) : least;
	}
	host = fmax(host - rid, 0);
	for (uint32_t i = 0; i < facts->n_idle; i++)
		step -= claimed[i] ? facts->idle[i].per_step : 0;
	double floor = fmax(diagnosis_floor(side, facts, claimed) - busy, 0);
	step = sync ? fmax(floor, host) : step - busy;
	arena_release(&scratch);
	step = fmin(step + launch, least);
	*lowest = cold ? fmin(floor, step) : 0;
	return step;
}

/* What resolved findings name of a part of the waterfall, ns as the part: all of copies or communication, of
 * idle time what they claim. Where nobody marked phases, a part is all idle time of its cause. */
static double named_of(const struct evidence *const *resolved, size_t n, const struct waterfall_part *part)
{
	double named = 0;
	for (size_t k = 0; k < n; k++)
		if ((part->kind == PART_COPY || part->kind == PART_COMM) && resolved[k]->busy > 0)
			return part->baseline;
	if (!n || part->kind != PART_IDLE)
		return 0;
	const struct side_facts *facts = resolved[0]->facts;
	for (uint32_t i = 0; i < facts->n_idle; i++) {
		const struct cell_key *key = &facts->idle[i].key;
		bool claimed = false;
		for (size_t k = 0; k < n; k++)
			claimed |= resolved[k]->claims[i];
		if (claimed && key->cause == part->cause &&
		    (key->phase == part->phase || resolved[0]->side->phases_by_work))
			named += facts->idle[i].per_step / side_items(resolved[0]->side);
	}
	return named;
}

/* By how much shrank what resolved findings claim, ns a step: of each part at most what they claim of it, so that none
 * makes up for another. Without a synchronisation the host runs ahead, which any idle time that is its own may show. */
static double shrunk(const struct evidence *const *resolved, size_t n, const struct waterfall *w)
{
	bool ahead = false;
	double by = 0;
	for (size_t k = 0; k < n; k++)
		ahead |= resolved[k]->rule->kind == RULE_SYNC || resolved[k]->least > 0;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct waterfall_part *p = &w->part[i];
		double named = named_of(resolved, n, p);
		if (ahead && p->kind == PART_IDLE && is_the_hosts(p->cause))
			by -= p->delta;
		else if (named > 0)
			by += fmin(-p->delta, named);
	}
	return by;
}

/* The part of the waterfall that changed most towards shorter (`sign` 1) or longer (−1) steps, but for what a resolved
 * finding names. Steps that were set aside and what recording added are none: the gain that is explained is that of the
 * budgets, which hold both. */
static void find_rest(const struct evidence *const *resolved, size_t n, double sign, const struct waterfall *w,
                      struct diagnosis *d)
{
	double most = SPEAKS * d->gain;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct waterfall_part *p = &w->part[i];
		double by = -sign * p->delta - (sign > 0 ? named_of(resolved, n, p) : 0);
		if (p->kind == PART_UNUSUAL || p->kind == PART_RECORDING || p->kind == PART_OUTSIDE || by <= most ||
		    (p->has_interval && fabs(p->delta) <= p->half))
			continue;
		most = by;
		d->has_rest = true;
		d->rest = *p;
	}
}

struct diagnosis diagnosis_judge(const struct evidence *const *resolved, size_t n, const struct findings_input *in)
{
	struct diagnosis d = {0};
	const double per[2] = {side_items(&in->side[0]), side_items(&in->side[1])};
	double before = in->side[0].budget.period / per[0], after = in->side[1].budget.period / per[1];
	double least = 0, ceiling = n ? combine(resolved, n, &least) / per[0] : 0;
	if (ceiling <= 0) /* nothing is resolved, or what is claimed is all there is: no prediction */
		return d;
	d.combined_ceiling = ceiling;
	d.combined_least = least / per[0];
	d.measured = after;
	d.gain = before - after;
	d.explained = before - ceiling;
	if (in->result != VERDICT_FASTER || d.gain <= 0)
		return d; /* no gain to explain */
	d.share = d.explained / d.gain;
	d.result = d.share < NEARLY_ALL    ? DIAGNOSIS_PARTLY
	           : d.share > HARDLY_MORE ? DIAGNOSIS_EXCEEDED
	                                   : DIAGNOSIS_CONFIRMED;
	double by = shrunk(resolved, n, in->waterfall);
	if (d.result == DIAGNOSIS_CONFIRMED && fabs(d.gain - by) >= REST * d.gain) {
		/* something else made up for what did not shrink, or took back what did */
		d.result = by < d.gain ? DIAGNOSIS_PARTLY : DIAGNOSIS_EXCEEDED;
		d.explained = by;
		d.share = by / d.gain;
	}
	if (d.result == DIAGNOSIS_PARTLY)
		find_rest(resolved, n, 1, in->waterfall, &d);
	else if (d.result == DIAGNOSIS_EXCEEDED)
		find_rest(resolved, n, -1, in->waterfall, &d);
	return d;
}
