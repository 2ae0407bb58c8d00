#include "same/doubts.h"

#include "verdict/evidence.h"

#include <math.h>
#include <string.h>

static const double USED_LEAST = 0.01; /* of the window */
static const double USED_ALIKE = 0.1;  /* of what others use */

/* ---- holes ---- */

static const struct fact *find_holes(const struct run_table *run, struct arena *arena)
{
	const struct run_holes *h = &run->holes;
	const char *file = run->file, *why = run->source.incomplete;
	if ((double)h->lost > EVIDENCE_LOST * (double)h->launches)
		return FACT_NEW(arena, kernels_lost, FACT_NO_SIDE, .lost = (int64_t)h->lost,
		                .launches = (int64_t)h->launches, .file = file, .told = *why,
		                .why = *why ? arena_copy(arena, why, strlen(why)) : NULL);
	if (h->jumps && h->to == h->from)
		return FACT_NEW(arena, steps_lost, FACT_NO_SIDE, .file = file, .stretches = (int64_t)h->jumps);
	return h->jumps ? FACT_NEW(arena, step_numbers_jump, FACT_NO_SIDE, .file = file, .jumps = (int64_t)h->jumps,
	                           .from = h->from, .to = h->to)
	                : NULL;
}

/* ---- another process on the GPU ---- */

/* How much of the time other processes use the GPU, and how much of a step; of all runs. */
static double used_by_others(const struct side_facts *facts, double *of_step)
{
	double used = 0, time = 0, steps = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		used += (double)run->tenants;
		time += (double)(run->window_end - run->window_start);
		steps += run->n_steps;
	}
	*of_step = used / steps;
	return used / time;
}

/* The most processes with work, each GPU's counted, of a run. */
static uint32_t most_devices(const struct side_facts *facts)
{
	uint32_t most = 0;
	for (size_t r = 0; r < facts->n_runs; r++)
		most = facts->runs[r].n_devices > most ? facts->runs[r].n_devices : most;
	return most;
}

/* What does as much per step is part of the program, and what does as much all the time slows both sides alike. Where
 * both sides have as many processes, and one has steps in all of them, the other's are the program's, too. */
static const struct fact *others_differ(const struct side_facts facts[2], struct arena *arena)
{
	double step[2], used[2] = {used_by_others(&facts[0], &step[0]), used_by_others(&facts[1], &step[1])};
	const double more = fabs(used[0] - used[1]), most = fmax(used[0], used[1]);
	if (more <= fmax(USED_LEAST, USED_ALIKE * most) ||
	    fabs(step[0] - step[1]) <= USED_ALIKE * fmax(step[0], step[1]) ||
	    (more == most && most_devices(&facts[0]) == most_devices(&facts[1])))
		return NULL;
	return FACT_NEW(arena, tenant_on_one_side, used[1] > used[0], .baseline = used[0], .fixed = used[1]);
}

/* ---- steps that hold several, or nothing ---- */

static const struct run_table *several_of(const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (facts->runs[r].holes.several)
			return &facts->runs[r];
	return NULL;
}

/* A program that does so now and then does it on both sides. */
static const struct fact *several_on_one_side(const struct side_facts facts[2], struct arena *arena)
{
	const struct run_table *run[2] = {several_of(&facts[0]), several_of(&facts[1])};
	if (!run[0] == !run[1])
		return NULL;
	int s = run[1] != NULL;
	const struct run_holes *h = &run[s]->holes;
	if (!h->times)
		return FACT_NEW(arena, steps_emptied, s, .file = run[s]->file, .steps = (int64_t)h->several,
		                .step = h->step);
	return FACT_NEW(arena, step_holds_others, s, .file = run[s]->file, .steps = (int64_t)h->several,
	                .step = h->step, .times = h->times);
}

const struct fact *possible_recording(const struct side_facts *facts, int n_sides, struct arena *arena)
{
	const struct fact *why = NULL;
	for (int s = 0; s < n_sides; s++) {
		for (size_t r = 0; r < facts[s].n_runs && !why; r++)
			why = find_holes(&facts[s].runs[r], arena);
		if (!why)
			why = facts[s].ranks_apart;
	}
	if (!why && n_sides > 1)
		why = several_on_one_side(facts, arena);
	return why || n_sides < 2 ? why : others_differ(facts, arena);
}

/* ---- timed runs ---- */

const struct fact *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2],
                                      struct arena *arena)
{
	for (int s = 0; s < 2; s++) {
		double step = 0, recording = EVIDENCE_PER_NODE * side[s].recording.graph_nodes +
		                             EVIDENCE_PER_LAUNCH * side[s].counts.launches;
		double least = EVIDENCE_FASTER_ALONE * (side[s].busy - recording);
		for (size_t r = 0; r < timed[s].n_runs; r++) {
			if (!timed[s].runs[r].steps)
				return NULL;
			step += timed[s].runs[r].step / (double)timed[s].n_runs;
		}
		if (timed[s].n_runs && side[s].steps.found && step < least)
			return FACT_NEW(arena, timed_too_short, s, .step = step, .busy = side[s].busy);
	}
	return NULL;
}
