/* Rules on launches: the GPU waits for the host to launch, kernel by kernel. */
#include "analyse/judge/rules_parts.h"

#include <math.h>

static const double STEADY = 0.9;      /* of the steps launch the same number of kernels */
static const double AMID = 2;          /* synchronisations a step: one may be at its end */
static const double NO_LAUNCH = 200e3; /* ns for which the GPU waits for a launch: the host does something else */

static bool fits_launch(const struct cell_key *idle)
{
	bool host = idle->cause == CAUSE_LAUNCH_API || idle->cause == CAUSE_OTHER_API ||
	            idle->cause == CAUSE_HOST_CODE || idle->cause == CAUSE_GIL || idle->cause == CAUSE_HANDOVER;
	return !idle->blocked && !idle->lasting && host;
}

void find_launches(struct evidence *e)
{
	const struct side_facts *f = e->facts;
	rule_blame(e, f->work.launch_calls, "launches");
	rule_note(e, "launches", FINDING_COUNT, f->work.launch_calls);
	rule_note(e, "launch_call", FINDING_TIME, f->work.launch_call);
	e->host = fmax(rule_claim(e, fits_launch), (f->work.launch_calls - 1) * f->work.launch_call);
	bool much = rule_costs(e, 0, MANY);
	rule_note(e, "kernel", FINDING_TIME, f->work.kernel_median);
	rule_note(e, "steady_steps", FINDING_SHARE, f->work.steady_launches);
	if (!much)
		return;
	if (f->work.launch_calls >= MANY_LAUNCHES && e->idle < NO_LAUNCH * f->work.launch_calls)
		e->ceiling = fmin(rule_period(e), fmax(e->side->busy, rule_period(e) - e->idle) + f->work.launch_call);
	else
		rule_keep_silent(e);
}

/* Whether one graph may hold the step: as many launches each time, and no wait for a result amid them. */
static bool fits_a_graph(const struct evidence *e)
{
	return rule_value(e, "steady_steps") >= STEADY && e->facts->work.blocking_syncs < AMID;
}

const struct fact *tell_launches(const struct evidence *e)
{
	return FACT_NEW(e->arena, launch_bound, e->side_no, RULE_COSTS(e), .launches = rule_value(e, "launches"),
	                .kernel = rule_value(e, "kernel"), .launch_call = rule_value(e, "launch_call"),
	                .steady = fits_a_graph(e), .steady_steps = rule_value(e, "steady_steps"));
}
