/* The last word on idle time: a cause that takes a large part of a step has a finding, whichever it is. These rules
 * stand behind those that know more, and speak where most of a cause is left to them. */
#include "find/rules_parts.h"

#include <string.h>

static const double LARGE = 0.3;     /* of a step: from here on a cause has a finding … */
static const double UNCLAIMED = 0.5; /* … of its own, where so much of it is no other finding's */
static const double EACH_STEP = 0.9; /* graphs that are made a step */

/* What making graphs takes that were not kept, ns a step: where nobody made one each step, nothing. */
static double instantiating(const struct evidence *e)
{
	double calls = 0, time = 0;
	for (uint32_t i = 0; i < e->side->n_api; i++) {
		const char *name = names_text(e->names, e->side->api[i].name);
		if (!strstr(name, "GraphInstantiate"))
			continue;
		calls += e->side->api[i].calls;
		time += e->side->api[i].per_step;
	}
	return e->side->steps.found && calls >= EACH_STEP ? time : 0;
}

void find_idle(struct evidence *e)
{
	const enum cause cause = e->rule->cause;
	double all = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++)
		all += e->facts->idle[i].key.cause == cause ? e->facts->idle[i].per_step : 0;
	rule_claim(e, NULL);
	rule_note(e, "cause", FINDING_TIME, all);
	if (cause == CAUSE_LAUNCH_API || cause == CAUSE_OTHER_API)
		rule_note(e, "instantiate", FINDING_TIME, instantiating(e));
	if (!rule_costs(e, 0, SMALL))
		return;
	if (all < LARGE * rule_period(e) || e->amount < UNCLAIMED * all)
		rule_keep_silent(e);
	else if (e->rule->given)
		e->ceiling = 0;
}

/* ---- what happened once: named by itself, in no ceiling ---- */

/* The run with the longest gap that happened once; NULL: there is none. `n`: how many there are. */
static const struct run_table *longest_of(const struct side_facts *facts, uint32_t *n)
{
	const struct run_table *longest = NULL;
	*n = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		*n += run->n_once;
		if (run->n_once &&
		    (!longest || run->once.end - run->once.start > longest->once.end - longest->once.start))
			longest = run;
	}
	return longest;
}

void find_once(struct evidence *e)
{
	uint32_t n = 0;
	const struct run_table *run = longest_of(e->facts, &n);
	rule_claim(e, NULL);
	rule_note(e, "gaps", FINDING_COUNT, n);
	rule_note(e, "longest", FINDING_TIME, run ? (double)(run->once.end - run->once.start) : 0);
	rule_note(e, "after", FINDING_TIME, run ? (double)(run->once.start - run->first_op) : 0);
	rule_costs(e, 0, SMALL);
	e->ceiling = 0;
}

const struct fact *tell_once(const struct evidence *e)
{
	uint32_t n = 0;
	const struct run_table *run = longest_of(e->facts, &n);
	if (!run)
		return NULL;
	const struct once_gap *gap = &run->once;
	bool at_begin = gap->before == TRACE_NONE, at_end = gap->next == TRACE_NONE;
	return FACT_NEW(e->arena, one_off_gaps, e->side_no, .after = rule_value(e, "after"),
	                .longest = rule_value(e, "longest"), .cause = cause_name(gap->cause), .phase = gap->phase,
	                .at_begin = at_begin, .before = at_begin ? 0 : gap->before, .at_end = at_end,
	                .next = at_end ? 0 : gap->next, .more = n - 1, .unit = rule_unit(e));
}
