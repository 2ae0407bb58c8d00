#include "find/rules_parts.h"

#include "find/columns.h"
#include "find/waterfall.h"

#include <math.h>

static const double REST = 0.2;    /* of the gain: so little may be what nobody claimed, to either side */
static const double SPEAKS = 0.01; /* of the gain: less than that is not said to be where more came from … */
static const double MISSED = 0.02; /* … nor held against the prediction where a claimed part lacks no more */

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
	ARENA_LOCAL(scratch);
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
	step = fmin(step + launch, least);
	*lowest = cold ? fmin(floor, step) : 0;
	return step;
}

/* Of the busy part that the finding is of. */
static double busy_of(const struct evidence *e, enum part_kind kind)
{
	bool comm = e->rule->finding == FACT_comm_exposed || e->rule->finding == FACT_straggler;
	return kind == (comm ? PART_COMM : PART_COPY) ? e->busy : 0;
}

/* What resolved findings claim of a part of the waterfall, ns as the part. Where nobody marked phases, a part is all
 * idle time of its cause. `all`: also what the host no longer waits for, which may be gone elsewhere. */
static double claimed_of(const struct evidence *const *resolved, size_t n, const struct waterfall_part *part, bool all)
{
	double claimed = 0, others = 0;
	for (size_t k = 0; k < n; k++) {
		const struct evidence *e = resolved[k];
		claimed += busy_of(e, part->kind);
		others = fmax(others, part->kind == PART_COMM ? e->waited : 0);
		for (uint32_t i = 0; i < e->facts->n_idle && part->kind == PART_IDLE; i++) {
			const struct cell_key *key = &e->facts->idle[i].key;
			if (e->claims[i] && (all || e->rule->kind != RULE_SYNC) && key->cause == part->cause &&
			    (key->phase == part->phase || e->side->phases_by_work))
				claimed += e->facts->idle[i].per_step;
		}
	}
	return n ? fmax(claimed, others) / side_items(resolved[0]->side) : 0;
}

/* What was claimed, ns a step, and by how much it shrank. */
struct claim {
	double least, most; /* the same, but for where the rest may get faster, too */
	double shrank, slack;
	const struct waterfall_part *part;
};

/* How much of what shrank is the claim's: what shrank by more than its interval explains did so for another reason, so
 * that none makes up for another. What shrank by less is kept, the one that lacks most. */
static double judge_claim(const struct claim *claim, struct diagnosis *d, double *lacks)
{
	double lack = claim->least - claim->shrank;
	if (lack > claim->slack && lack > MISSED * d->gain && lack > *lacks) {
		*lacks = lack;
		d->has_unmet = true;
		d->unmet = *claim->part;
	}
	return claim->shrank > claim->most + claim->slack ? claim->most : claim->shrank;
}

/* Part by part; what is promised beyond them is the host's that runs ahead, which any idle time of its own may show.
 * Returns by how much shrank what was claimed, ns a step. */
static double judge_claims(const struct evidence *const *resolved, size_t n, const struct waterfall *w, double promised,
                           struct diagnosis *d)
{
	double by = 0, lacks = 0, launch = 0;
	struct claim ahead = {.least = promised, .most = promised};
	bool runs_ahead = false;
	for (size_t k = 0; k < n; k++) {
		runs_ahead |= resolved[k]->rule->kind == RULE_SYNC || resolved[k]->least > 0;
		launch = resolved[k]->rule->kind == RULE_LAUNCH ? resolved[k]->facts->work.launch_call : launch;
	}
	if (d->combined_least > 0)
		ahead.most += d->combined_ceiling - d->combined_least;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct waterfall_part *p = &w->part[i];
		const double claimed = claimed_of(resolved, n, p, false);
		const struct claim one = {claimed, claimed, -p->delta, columns_slack(p) + launch, p};
		const double met = claimed > 0 ? judge_claim(&one, d, &lacks) : 0;
		by += met;
		ahead.least -= claimed;
		ahead.most -= claimed;
		if (p->kind != PART_IDLE || !is_the_hosts(p->cause))
			continue;
		ahead.shrank -= p->delta + met;
		ahead.slack += one.slack - launch;
		if (!ahead.part || p->fixed > ahead.part->fixed)
			ahead.part = p;
	}
	if (ahead.part && (runs_ahead || ahead.least > MISSED * d->gain))
		by += judge_claim(&ahead, d, &lacks);
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
		double by = -sign * p->delta - (sign > 0 ? claimed_of(resolved, n, p, true) : 0);
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
	if (in->result != VERDICT_FASTER || d.gain <= 0)
		return d; /* no gain to explain */
	d.explained = judge_claims(resolved, n, in->waterfall, before - ceiling, &d);
	d.share = d.explained / d.gain;
	double rest = d.gain - d.explained;
	d.result = rest <= -REST * d.gain                 ? DIAGNOSIS_EXCEEDED
	           : d.has_unmet || rest >= REST * d.gain ? DIAGNOSIS_PARTLY
	                                                  : DIAGNOSIS_CONFIRMED;
	if (fabs(rest) >= REST * d.gain)
		find_rest(resolved, n, rest > 0 ? 1 : -1, in->waterfall, &d);
	return d;
}
