#include "analyse/judge/diagnosis.h"

#include <math.h>

static const double NEARLY_ALL = 0.8, HARDLY_MORE = 1.25; /* of the gain, explained: between them it is confirmed */

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

/* The part of the waterfall that changed most towards shorter (`sign` 1) or longer (−1) steps, but for idle time that a
 * resolved finding names. */
static void find_rest(const struct evidence *const *resolved, size_t n, double sign, const struct waterfall *w,
                      struct diagnosis *d)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct waterfall_part *p = &w->part[i];
		bool named = false;
		for (size_t k = 0; k < n && sign > 0; k++) {
			const struct evidence *e = resolved[k];
			for (uint32_t c = 0; c < e->facts->n_idle && p->kind == PART_IDLE; c++)
				named |= e->claims[c] && e->facts->idle[c].key.cause == p->cause &&
				         e->facts->idle[c].key.phase == p->phase;
			named |= e->busy > 0 && (p->kind == PART_COPY || p->kind == PART_COMM);
		}
		if (named || -sign * p->delta <= (d->has_rest ? -sign * d->rest.delta : 0))
			continue;
		d->has_rest = true;
		d->rest = *p;
	}
}

struct diagnosis diagnosis_judge(const struct evidence *const *resolved, size_t n, const struct findings_input *in)
{
	struct diagnosis d = {0};
	double before = in->side[0].budget.period, after = in->side[1].budget.period;
	double least = 0, ceiling = n ? combine(resolved, n, &least) : 0;
	if (ceiling <= 0) /* nothing is resolved, or what is claimed is all there is: no prediction */
		return d;
	d.combined_ceiling = ceiling;
	d.combined_least = least;
	d.measured = after;
	d.gain = before - after;
	d.explained = before - ceiling;
	if (in->result != VERDICT_FASTER || d.gain <= 0)
		return d; /* no gain to explain */
	d.share = d.explained / d.gain;
	d.result = d.share < NEARLY_ALL    ? DIAGNOSIS_PARTLY
	           : d.share > HARDLY_MORE ? DIAGNOSIS_EXCEEDED
	                                   : DIAGNOSIS_CONFIRMED;
	if (d.result == DIAGNOSIS_PARTLY)
		find_rest(resolved, n, 1, in->waterfall, &d);
	else if (d.result == DIAGNOSIS_EXCEEDED)
		find_rest(resolved, n, -1, in->waterfall, &d);
	return d;
}
