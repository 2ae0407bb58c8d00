/* The last word on idle time: a cause that takes a large part of a step has a finding, whichever it is. These rules
 * stand behind those that know more, and speak where most of a cause is left to them. */
#include "analyse/judge/rules_parts.h"

#include <string.h>

static const double LARGE = 0.3;     /* of a step: from here on a cause has a finding … */
static const double UNCLAIMED = 0.5; /* … of its own, where so much of it is no other finding's */
static const double EACH_STEP = 0.9; /* graphs that are made a step */

/* `given`: nothing in the program takes it away, so it promises nothing. */
static const struct {
	enum fact_id finding;
	bool given;
} causes[CAUSE_COUNT] = {
	[CAUSE_HOST_CODE] = {FACT_idle_host_code, false},
	[CAUSE_HOST_BLOCKED] = {FACT_idle_host_blocked, false},
	[CAUSE_OFF_CPU] = {FACT_idle_off_cpu, false},
	[CAUSE_HANDOVER] = {FACT_idle_handover, false},
	[CAUSE_SYNC_RETURN] = {FACT_idle_sync_return, false},
	[CAUSE_COPY_API] = {FACT_idle_copy_api, false},
	[CAUSE_LAUNCH_API] = {FACT_idle_launch_api, false},
	[CAUSE_OTHER_API] = {FACT_idle_other_api, false},
	[CAUSE_PROFILER] = {FACT_idle_profiler, true},
	[CAUSE_LAUNCH_LATENCY] = {FACT_idle_launch_latency, false},
	[CAUSE_DISPATCH] = {FACT_idle_dispatch, true},
	[CAUSE_DEPENDENCY] = {FACT_idle_dependency, true},
	[CAUSE_LATE_START] = {FACT_idle_late_start, true},
	[CAUSE_OTHER_PROCESS] = {FACT_idle_other_process, true},
	[CAUSE_UNATTRIBUTED] = {FACT_idle_unattributed, true},
};

/* The cause that the finding is of. */
static enum cause cause_of(const struct evidence *e)
{
	enum cause cause = 0;
	while (cause < CAUSE_COUNT - 1 && causes[cause].finding != e->rule->finding)
		cause++;
	return cause;
}

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
	enum cause cause = cause_of(e);
	double all = 0, longest = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		if (fact->key.cause != cause)
			continue;
		all += fact->per_step;
		e->claims[i] = !e->takers[i] && !fact->key.once;
		if (!e->claims[i])
			continue;
		e->idle += fact->per_step;
		if (fact->per_step > longest) {
			longest = fact->per_step;
			e->phase = fact->key.phase;
			e->kind_of_call = fact->key.call ? names_text(e->names, fact->key.call) : NULL;
		}
	}
	rule_note(e, "cause", FINDING_TIME, all);
	if (cause == CAUSE_LAUNCH_API || cause == CAUSE_OTHER_API)
		rule_note(e, "instantiate", FINDING_TIME, instantiating(e));
	if (!rule_costs(e, 0, SMALL))
		return;
	if (all < LARGE * rule_period(e) || e->amount < UNCLAIMED * all)
		rule_keep_silent(e);
	else if (causes[cause].given)
		e->ceiling = 0;
}
