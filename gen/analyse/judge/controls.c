#include "analyse/judge/controls.h"

#include "analyse/judge/evidence.h"
#include "analyse/side/paces.h"

#include <math.h>

/* Idle time of which the host may be the reason, ns per step; where a launch is not in the profile, it may be. */
static double waits_of(const struct side *side)
{
	double ns = 0;
	for (uint32_t i = 0; i < side->budget.n_rows; i++) {
		const struct idle_row *row = &side->budget.rows[i];
		ns += row->cause <= CAUSE_LAUNCH_LATENCY || row->cause == CAUSE_UNATTRIBUTED ? row->per_step : 0;
	}
	return ns;
}

/* "alike (0.1 %)", "12 % slower in the baseline" */
static const char *pace(struct arena *arena, double ln)
{
	double more = 100 * expm1(fabs(ln));
	return more < 1 ? arena_format(arena, "alike (%.1f %%)", more)
	                : arena_format(arena, more < 9.95 ? "%.1f %% slower %s" : "%.0f %% slower %s", more,
	                               ln > 0 ? "in the baseline" : "on the fixed side");
}

const char *controls_say(const struct controls *controls, struct arena *arena)
{
	return arena_format(arena,
	                    "What both sides share tells the machine's state: GPU %s, host %s. The interval allows "
	                    "for the host's.",
	                    pace(arena, controls->gpu), pace(arena, controls->host));
}

struct controls controls_find(const struct side side[2], double clock, double share)
{
	double shared, host = paces_ratio(&side[0].recording.paces, &side[1].recording.paces, &shared);
	struct controls out = {.gpu = clock, .host = shared >= EVIDENCE_CONTROLS ? host : 0};
	for (int s = 0; s < 2; s++) {
		double wait = waits_of(&side[s]), step = side[s].budget.period;
		out.waits[s] = step > 0 ? fmin(wait / step, 1) : 0;
	}
	out.known = share >= EVIDENCE_CONTROLS &&
	            (shared >= EVIDENCE_CONTROLS || fmax(out.waits[0], out.waits[1]) <= EVIDENCE_WAITS);
	return out;
}
