/* The last word on idle time: a cause that takes a large part of a step has a finding, whichever it is. These rules
 * stand behind those that know more, and speak where most of a cause is left to them. */
#include "analyse/judge/rules_parts.h"

#include <string.h>

static const double LARGE = 0.3;     /* of a step: from here on a cause has a finding … */
static const double UNCLAIMED = 0.5; /* … of its own, where so much of it is no other finding's */

/* What the GPU waits for, as the end of "The GPU waits 3 ms per step …", and what to do about it. `given`: nothing in
 * the program takes it away, so it promises nothing. */
static const struct {
	const char *id, *tell, *advice;
	bool given;
} causes[CAUSE_COUNT] = {
	[CAUSE_HOST_CODE] = {"idle_host_code", "for the launching thread, which is in its own code or asleep",
                             "Find this code with --trace py or --trace native, and move it off the launching thread."},
	[CAUSE_HOST_BLOCKED] = {"idle_host_blocked",
                                "for the launching thread, which is in a call of the operating system",
                                "Make this call on another thread, or while the GPU is busy."},
	[CAUSE_OFF_CPU] = {"idle_off_cpu", "for the launching thread, which is on no processor and in no recorded call",
                           "Record the calls of the operating system (--trace cuda,nvtx,osrt) to see what it waits "
                           "for; give it a free processor."},
	[CAUSE_HANDOVER] = {"idle_handover", "for a launching thread that waits for another one",
                            "Launch from one thread, or give each thread its own work."},
	[CAUSE_SYNC_RETURN] = {"idle_sync_return", "for a synchronising call or a read-back to return",
                               "Wait less often, or read back into pinned memory."},
	[CAUSE_COPY_API] = {"idle_copy_api", "for copy and memset calls to return",
                            "Make fewer and larger copies, from pinned memory, with the asynchronous calls."},
	[CAUSE_LAUNCH_API] = {"idle_launch_api", "for launch calls to return",
                              "Launch once before the loop, so that code is loaded; then launch less: a CUDA graph, "
                              "fused kernels."},
	[CAUSE_OTHER_API] = {"idle_other_api", "for other CUDA calls to return",
                             "Make these calls before the loop; the table of API calls names them."},
	[CAUSE_PROFILER] = {"idle_profiler", "for the profiler, which holds the launching thread",
                            "Record less, or judge by timed runs (gapline run).", true},
	[CAUSE_LAUNCH_LATENCY] = {"idle_launch_latency", "for launches on their way after a synchronisation",
                                  "Wait for the GPU less often, so that launches are queued before they are due."},
	[CAUSE_DISPATCH] = {"idle_dispatch", "in its own short gaps between queued operations",
                            "Use fewer and longer kernels: fuse them; a CUDA graph shortens these gaps.", true},
	[CAUSE_DEPENDENCY] =
		{"idle_dependency",
                 "with queued work that waits for an event, another stream, another GPU or a host function",
                 "Follow the stream that waits, in the timeline: shorten what it waits for, or queue "
                 "work that does not depend on it.",
                 true},
	[CAUSE_LATE_START] = {"idle_late_start", "for queued work that nothing known holds up",
                              "Look at clocks and power states, other contexts and oversubscribed memory.", true},
	[CAUSE_OTHER_PROCESS] = {"idle_other_process", "for another process that uses the same GPU",
                                 "Measure on a GPU of your own.", true},
	[CAUSE_UNATTRIBUTED] = {"idle_unattributed", "for what this profile does not name",
                                "Record CUDA calls too (--trace cuda), and the process that launches.", true},
};

/* The cause that the finding is of. */
static enum cause cause_of(const struct evidence *e)
{
	enum cause cause = 0;
	while (cause < CAUSE_COUNT - 1 && !(causes[cause].id && strcmp(causes[cause].id, e->rule->id) == 0))
		cause++;
	return cause;
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
	if (!rule_costs(e, 0, SMALL))
		return;
	if (all < LARGE * rule_period(e) || e->amount < UNCLAIMED * all)
		rule_keep_silent(e);
	else if (causes[cause].given)
		e->ceiling = 0;
}

const char *tell_idle(const struct evidence *e)
{
	const char *call = e->kind_of_call ? arena_format(e->arena, " (mostly %s)", e->kind_of_call) : "";
	return arena_format(e->arena, "The GPU waits %s ms %s (%.0f %%)%s %s%s.", rule_ms(e, "cost"),
	                    e->side->steps.found ? "per step" : "in the run", rule_share(e, "cost"), rule_in_phase(e),
	                    causes[cause_of(e)].tell, call);
}

const char *advise_idle(const struct evidence *e)
{
	return causes[cause_of(e)].advice;
}
