/* Rules on launches: the GPU waits for the host to launch, kernel by kernel. */
#include "analyse/judge/rules_parts.h"

#include <math.h>

static const double STEADY = 0.9; /* of the steps launch the same number of kernels */

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
	if (f->work.launch_calls >= MANY_LAUNCHES)
		e->ceiling = fmin(rule_period(e), fmax(e->side->busy, rule_period(e) - e->idle) + f->work.launch_call);
	else
		rule_keep_silent(e);
}

/* Whether the steps launch alike, so that one graph may stand for the launches. */
static bool is_steady(const struct evidence *e)
{
	return e->facts->work.steady_launches >= STEADY;
}

const char *tell_launches(const struct evidence *e)
{
	const char *text = arena_format(
		e->arena,
		"%.0f launches %s of kernels that run %s µs (median), while a launch call takes %s µs: the "
		"GPU waits %s ms (%.0f %%) for the host to launch.",
		rule_value(e, "launches"), rule_a_step(e), rule_digits(e, rule_value(e, "kernel") / 1e3),
		rule_digits(e, rule_value(e, "launch_call") / 1e3), rule_ms(e, "cost"), rule_share(e, "cost"));
	if (!is_steady(e))
		return text;
	return arena_format(e->arena,
	                    "%s %.0f %% of the steps launch the same number of kernels: one graph launch can replace "
	                    "these calls.",
	                    text, 100 * rule_value(e, "steady_steps"));
}

const char *advise_launches(const struct evidence *e)
{
	return is_steady(e)
	               ? "Capture the step in a CUDA graph (cudaStreamBeginCapture, torch.cuda.CUDAGraph), or launch "
	                 "less: fused kernels, larger batches, torch.compile."
	               : "Launch less: fused kernels, larger batches, torch.compile; a CUDA graph for the part that "
	                 "repeats.";
}
