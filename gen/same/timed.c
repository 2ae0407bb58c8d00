#include "same/doubts.h"

#include "verdict/proof.h"

#include <math.h>

const struct fact *timed_opposite(const struct side side[2], const struct verdict *v, struct arena *arena)
{
	if (v->measured != VERDICT_STOPWATCH || !v->recorded.known || !side[0].steps.found || !side[1].steps.found)
		return NULL;
	const double alone = log(v->speedup), recorded = log(v->recorded.speedup);
	if (alone * recorded >= 0 || fabs(alone) <= LN_MARGIN || fabs(recorded) <= LN_MARGIN)
		return NULL;
	return FACT_NEW(arena, recorded_opposite, FACT_NO_SIDE, .recorded = v->recorded.speedup);
}

/* Programs as a whole, where their steps could not be timed. */
static void say_wholes(const struct side side[2], const struct stopwatch_side timed[2], struct facts *out,
                       struct arena *arena)
{
	const struct stopwatch_side wholes[2] = {{.runs = timed[0].whole, .n_runs = timed[0].n_whole},
	                                         {.runs = timed[1].whole, .n_runs = timed[1].n_whole}};
	if (wholes[0].n_runs < STOPWATCH_LEAST_RUNS || wholes[1].n_runs < STOPWATCH_LEAST_RUNS)
		return;
	const struct verdict v = verdict_stopwatch(wholes, NULL, arena);
	FACT_ADD(out, arena, whole_programs, FACT_NO_SIDE, .baseline = v.step[0], .fixed = v.step[1],
	         .baseline_runs = (int64_t)wholes[0].n_runs, .fixed_runs = (int64_t)wholes[1].n_runs,
	         .speedup = v.speedup, .low = v.lo, .high = v.hi, .baseline_startup = side[0].startup.ns,
	         .fixed_startup = side[1].startup.ns);
}

struct facts timed_reasons(const struct side side[2], const struct stopwatch_side timed[2], const struct verdict *v,
                           struct arena *arena)
{
	struct facts out = {0};
	const struct side *b = &side[0], *f = &side[1];
	for (int s = 0; s < 2; s++) {
		const struct headline *h = &side[s].headline;
		if (h->n_unused)
			FACT_ADD(&out, arena, timed_runs_unused, s, .unused = h->n_unused,
			         .of = h->n_unused + h->n_stopwatch, .why = h->unused);
	}
	say_wholes(side, timed, &out, arena);
	facts_add(&out, arena, timed_opposite(side, v, arena));
	if (v->measured == VERDICT_STOPWATCH ||
	    !(b->headline.n_stopwatch + b->headline.n_unused + f->headline.n_stopwatch + f->headline.n_unused))
		return out;
	if (b->headline.n_stopwatch < STOPWATCH_LEAST_RUNS || f->headline.n_stopwatch < STOPWATCH_LEAST_RUNS)
		FACT_ADD(&out, arena, recorded_runs_decide, FACT_NO_SIDE, .least = STOPWATCH_LEAST_RUNS,
		         .baseline = b->headline.n_stopwatch, .fixed = f->headline.n_stopwatch);
	return out;
}
