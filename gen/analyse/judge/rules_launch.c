/* Rules on launches: the GPU waits for the host to launch, kernel by kernel. */
#include "analyse/judge/rules_parts.h"

#include <math.h>

static bool fits_launch(const struct cell_key *idle)
{
	bool host = idle->cause == CAUSE_LAUNCH_API || idle->cause == CAUSE_OTHER_API ||
	            idle->cause == CAUSE_HOST_CODE || idle->cause == CAUSE_GIL || idle->cause == CAUSE_HANDOVER;
	return !idle->blocked && !idle->lasting && host;
}

static void claim_launches(struct evidence *e, bool many)
{
	const struct side_facts *f = e->facts;
	rule_blame(e, f->work.launch_calls, "launches");
	rule_note(e, "launches", FINDING_COUNT, f->work.launch_calls);
	rule_note(e, "launch_call", FINDING_TIME, f->work.launch_call);
	e->host = fmax(rule_claim(e, fits_launch), (f->work.launch_calls - 1) * f->work.launch_call);
	if (!rule_costs(e, 0, MANY))
		return;
	if (many)
		e->ceiling = fmin(rule_period(e), fmax(e->side->busy, rule_period(e) - e->idle) + f->work.launch_call);
	else
		rule_keep_silent(e);
}

void find_launches(struct evidence *e)
{
	claim_launches(e, e->facts->work.launch_calls >= MANY_LAUNCHES);
	rule_note(e, "kernel", FINDING_TIME, e->facts->work.kernel_median);
}

const char *tell_launches(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "%.0f launches %s of kernels that run %s µs (median), while a launch call takes %s µs: the "
	                    "GPU waits %s ms (%.0f %%) for the host to launch.",
	                    rule_value(e, "launches"), rule_a_step(e), rule_digits(e, rule_value(e, "kernel") / 1e3),
	                    rule_digits(e, rule_value(e, "launch_call") / 1e3), rule_ms(e, "cost"),
	                    rule_share(e, "cost"));
}

const char *advise_launches(const struct evidence *e)
{
	(void)e;
	return "Launch less: a CUDA graph, fused kernels, larger batches, torch.compile.";
}

void find_graph(struct evidence *e)
{
	claim_launches(e, e->facts->work.launch_calls >= MANY_LAUNCHES && e->facts->work.steady_launches >= 0.9);
	rule_note(e, "steady_steps", FINDING_SHARE, e->facts->work.steady_launches);
}

const char *tell_graph(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "%.0f %% of the steps launch the same number of kernels, with %.0f launch calls: what is "
	                    "launched one by one can be one graph launch.",
	                    100 * rule_value(e, "steady_steps"), rule_value(e, "launches"));
}

const char *advise_graph(const struct evidence *e)
{
	(void)e;
	return "Capture the step in a CUDA graph (cudaStreamBeginCapture, torch.cuda.CUDAGraph).";
}
