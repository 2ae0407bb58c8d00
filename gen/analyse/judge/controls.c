#include "analyse/judge/controls.h"

#include "analyse/judge/evidence.h"
#include "analyse/side/recording.h"

#include <math.h>

static const double LATE = 0.01;    /* of a step, to be said */
static const double AS_MANY = 0.05; /* of the calls: by no more they differ */

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

static const char *slower(double ln)
{
	return expm1(fabs(ln)) < 0.01 ? "none" : ln > 0 ? "baseline" : "fixed";
}

/* How much of a side's step launches took to reach an idle GPU, beyond what they take on the other side. */
static double late_of(const struct side side[2], int s)
{
	const struct recording_cost *here = &side[s].recording, *there = &side[1 - s].recording;
	const double more = here->arrival - fmax(there->arrival, EVIDENCE_ARRIVAL), step = side[s].budget.period;
	return step > 0 ? fmin(fmax(0, here->arrivals * more) / step, 1) : 0;
}

static double idle_of(const struct side *side, enum cause cause)
{
	double ns = 0;
	for (uint32_t i = 0; i < side->budget.n_rows; i++)
		ns += side->budget.rows[i].cause == cause ? side->budget.rows[i].per_step : 0;
	return ns;
}

static double calls_of(const struct side *side, enum cause cause)
{
	double calls = 0;
	for (uint32_t i = 0; i < side->n_api; i++)
		calls += cause_of_call[side->api[i].class] == cause ? side->api[i].calls : 0;
	return calls;
}

/* How much of a side's step the GPU waits longer inside as many calls of the driver as the other side makes. */
static double longer_in_calls(const struct side side[2], int s)
{
	static const enum cause of_driver[] = {CAUSE_ALLOC, CAUSE_SYNC_RETURN, CAUSE_OTHER_API};
	double longer = 0;
	for (size_t i = 0; i < sizeof of_driver / sizeof *of_driver; i++) {
		const double here = calls_of(&side[s], of_driver[i]), there = calls_of(&side[!s], of_driver[i]);
		if (fabs(here - there) <= AS_MANY * fmax(here, there))
			longer += fmax(0, idle_of(&side[s], of_driver[i]) - idle_of(&side[!s], of_driver[i]));
	}
	return side[s].budget.period > 0 ? longer / side[s].budget.period : 0;
}

const struct fact *controls_say(const struct controls *c, struct arena *arena)
{
	const int longer = c->calls[1] > c->calls[0];
	return FACT_NEW(arena, machine_state, FACT_NO_SIDE, .gpu = expm1(fabs(c->gpu)),
	                .slower_gpu = c->gpu_told ? slower(c->gpu) : "unknown", .host = expm1(fabs(c->host)),
	                .slower_host = c->host_seen ? slower(c->host) : "unknown",
	                .allows = c->clock != 0 ? "both" : "host",
	                .busy = c->late[0] > LATE   ? "baseline"
	                        : c->late[1] > LATE ? "fixed"
	                                            : "none",
	                .baseline = c->arrival[0], .fixed = c->arrival[1],
	                .calls = c->calls[longer] <= LATE ? "none"
	                         : longer                 ? "fixed"
	                                                  : "baseline",
	                .in_calls = c->calls[longer]);
}

struct controls controls_find(const struct side side[2], const struct comparison *kernels)
{
	double shared, host = paces_ratio(&side[0].recording.paces, &side[1].recording.paces, &shared);
	bool host_seen = shared >= EVIDENCE_CONTROLS;
	struct controls out = {.gpu = kernels->clock,
	                       .gpu_told = kernels->clock_told,
	                       .clock = kernels->as_clock,
	                       .host = host_seen ? host : 0,
	                       .host_seen = host_seen,
	                       .host_slower = host_seen && recording_leaves_host(side)};
	for (int s = 0; s < 2; s++) {
		double wait = waits_of(&side[s]), step = side[s].budget.period;
		out.waits[s] = step > 0 ? fmin(wait / step, 1) : 0;
		out.arrival[s] = side[s].recording.arrival;
		out.late[s] = late_of(side, s);
		out.calls[s] = longer_in_calls(side, s);
	}
	out.known = kernels->clock_share >= EVIDENCE_CONTROLS &&
	            (host_seen || fmax(out.waits[0], out.waits[1]) <= EVIDENCE_WAITS);
	return out;
}
