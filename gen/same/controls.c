#include "same/controls.h"

#include "side/recording.h"
#include "verdict/evidence.h"

#include <math.h>

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

/* What the side copies from or to pageable memory as often as `c`, and as many bytes; NULL: nothing. */
static const struct copy_result *same_copies(const struct side *side, const struct copy_result *c)
{
	for (uint32_t i = 0; i < side->n_copies; i++) {
		const struct copy_result *d = &side->copies[i];
		if (d->pageable && !d->memset && d->kind == c->kind && d->name == c->name)
			return fabs(c->bytes - d->bytes) <= AS_MANY * fmax(c->bytes, d->bytes) &&
			                       fabs(c->instances - d->instances) <=
			                               AS_MANY * fmax(c->instances, d->instances)
			               ? d
			               : NULL;
	}
	return NULL;
}

/* How much of a side's step copies of pageable memory take longer, of as many bytes as on the other side: the host
 * makes them, and one program's runs differ in it by more than in anything else. */
static double longer_in_copies(const struct side side[2], int s)
{
	double longer = 0;
	for (uint32_t i = 0; i < side[s].n_copies; i++) {
		const struct copy_result *here = &side[s].copies[i], *there = NULL;
		if (here->pageable && !here->memset)
			there = same_copies(&side[!s], here);
		longer += there ? fmax(0, here->per_step - there->per_step) : 0;
	}
	longer = fmin(longer, fmax(0, side[s].budget.copy_exposed - side[!s].budget.copy_exposed));
	const double here = calls_of(&side[s], CAUSE_COPY_API), there = calls_of(&side[!s], CAUSE_COPY_API);
	if (longer > 0 && fabs(here - there) <= AS_MANY * fmax(here, there))
		longer += fmax(0, idle_of(&side[s], CAUSE_COPY_API) - idle_of(&side[!s], CAUSE_COPY_API));
	return side[s].budget.period > 0 ? longer / side[s].budget.period : 0;
}

/* The share of a side's step that the GPU waits for the host beyond the time from launches to their threads' next
 * calls: for code of whose pace launches tell nothing. */
static double waits_alone(const struct side *side)
{
	const struct launch_paces *paces = &side->recording.paces;
	double ns = 0;
	for (size_t i = 0; i < paces->n; i++)
		ns += (double)paces->list[i].n * paces->list[i].mean;
	ns = paces->all ? ns / (double)paces->all * side->counts.launches : 0;
	return side->budget.period > 0 ? fmin(fmax(0, waits_of(side) - ns) / side->budget.period, 1) : 0;
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
		out.alone[s] = waits_alone(&side[s]);
		out.arrival[s] = side[s].recording.arrival;
		out.late[s] = late_of(side, s);
		out.calls[s] = longer_in_calls(side, s);
		out.copies[s] = longer_in_copies(side, s);
	}
	out.known = kernels->clock_share >= EVIDENCE_CONTROLS &&
	            (host_seen || fmax(out.waits[0], out.waits[1]) <= EVIDENCE_WAITS);
	return out;
}
