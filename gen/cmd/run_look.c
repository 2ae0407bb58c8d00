/* Looks at timed runs while they are made (verdict/stopwatch.h). */
#include "cmd/run_parts.h"
#include "say/say.h"
#include "verdict/evidence.h"
#include "verdict/proof.h"
#include "verdict/stats.h"
#include "verdict/stopwatch.h"

#include <math.h>
#include <stdio.h>

/* The runs of both sides as far as their times go. */
struct seen {
	struct stopwatch_side side[2];
	const double *x[2]; /* relative to their side's mean */
	size_t n[2];
	double change; /* ln S */
};

static struct seen see(const struct suite *suite, const double items[2], struct arena *arena)
{
	struct seen seen = {0};
	double mean[2];
	for (int s = 0; s < 2; s++) {
		struct stopwatch_run *run = ARENA_NEW(arena, suite->n_runs, struct stopwatch_run);
		double *x = ARENA_NEW(arena, suite->n_runs, double);
		size_t n = 0;
		for (size_t i = 0; i < suite->n_runs; i++) {
			const struct suite_run *r = &suite->runs[i];
			if (r->side == s && r->stopwatch && !r->timed.unused)
				run[n++] =
					(struct stopwatch_run){.step = (double)r->timed.ns / (r->steps ? r->steps : 1),
				                               .steps = r->steps,
				                               .start = r->start_utc_ns,
				                               .looked = true};
		}
		for (size_t i = 0; i < n; i++)
			x[i] = run[i].step;
		mean[s] = n ? stats_mean(x, n) : 1;
		for (size_t i = 0; i < n; i++)
			x[i] /= mean[s];
		seen.side[s] =
			(struct stopwatch_side){.runs = run, .n_runs = n, .items = n && run[0].steps ? items[s] : 0};
		seen.x[s] = x;
		seen.n[s] = n;
	}
	seen.change = log(mean[0]) - log(mean[1]) - proof_unit(seen.side[0].items, seen.side[1].items);
	return seen;
}

/* A gate whose answer another pair of runs may change: what it asks of ln S; false: it is none, or has its answer. */
static bool is_open(const struct gate *gate, enum gate_metric metric, double *bound)
{
	bool regression = gate->kind == GATE_MAX_REGRESSION,
	     change = gate->kind == GATE_EXPRESSION && metric == METRIC_STEP && gate->unit == GATE_CHANGE;
	*bound = regression || change ? -log1p(gate->asked / 100) : log(gate->asked);
	if (regression) /* passes without a proof, too */
		return gate->lo <= gate->asked && gate->hi > gate->asked;
	if (gate->kind == GATE_MIN_SPEEDUP || change || (gate->kind == GATE_EXPRESSION && metric == METRIC_SPEEDUP))
		return gate->result == GATE_INCONCLUSIVE;
	return false;
}

/* What another pair of runs is made for; NULL: nothing. */
static const struct fact *still_open(const struct analysis *a, const struct gates_asked *asked, const struct seen *seen,
                                     struct arena *arena)
{
	if (a->verdict.result == VERDICT_INCONCLUSIVE &&
	    !looks_hopeless(seen->x, seen->n, seen->change, LN_FLOOR_SEVERAL, LN_MARGIN))
		return FACT_NEW(arena, look_still, FACT_NO_SIDE, .open = "result");
	for (size_t i = 0, expression = 0; i < a->gates.n; i++) {
		const struct gate *gate = &a->gates.gate[i];
		enum gate_metric metric =
			gate->kind == GATE_EXPRESSION ? asked->expressions[expression++].metric : METRIC_SPEEDUP;
		double bound;
		if (is_open(gate, metric, &bound) && !looks_hopeless(seen->x, seen->n, seen->change - bound, 0, 0))
			return FACT_NEW(arena, look_still, FACT_NO_SIDE, .open = "gate",
			                .gate = cmd_harmless(arena, gate->name));
	}
	return NULL;
}

/* `found`: what the look came to, a key of `looked`; `still`: what it is about, or NULL. */
static void say(const struct seen *seen, const struct verdict *v, const char *found, const struct fact *still,
                bool gate, struct arena *arena)
{
	double most = fmax(stats_variance(seen->x[0], seen->n[0]), stats_variance(seen->x[1], seen->n[1]));
	fprintf(stderr, "gapline: %s\n",
	        SAY(NULL, arena, looked, .runs = (int64_t)(seen->n[0] < seen->n[1] ? seen->n[0] : seen->n[1]),
	            .speedup = v->speedup, .low = v->lo, .high = v->hi, .differ = sqrt(most), .found = found,
	            .still = still, .last = EVIDENCE_LAST_LOOK, .gate = gate));
}

/* The report as it would be now. */
static bool look_closely(struct experiment *e, const struct seen *seen, const struct verdict *quick,
                         struct arena *arena)
{
	struct compare look = {.analysis = e->compare.analysis, .quiet = true};
	struct analysis a;
	struct err err;
	names_init(&look.names, &look.arena);
	run_profiles(e, &look.arena, look.given);
	look.files_are = e->compare.files_are;
	bool known = compare_analyse(&look, &a, &err) == CMD_DONE;
	e->told = true;
	if (!known || !a.verdict.judged || a.verdict.measured != VERDICT_STOPWATCH) {
		say(seen, quick, "idle", NULL, false, arena);
		compare_release(&look);
		return true;
	}
	const struct fact *open = still_open(&a, &look.analysis.gates, seen, arena);
	bool result = a.verdict.result != VERDICT_INCONCLUSIVE;
	if (open)
		say(seen, &a.verdict, "open", open, false, arena);
	else if (result && a.gates.result != GATE_INCONCLUSIVE)
		say(seen, &a.verdict, "decided", NULL, false, arena);
	else
		say(seen, &a.verdict, "last", NULL, result, arena);
	compare_release(&look);
	return !open;
}

bool run_look(struct experiment *e)
{
	ARENA_LOCAL(arena);
	const struct seen seen = see(&e->suite, e->compare.analysis.items, &arena);
	bool enough = false;
	if (seen.n[0] >= EVIDENCE_FIRST_LOOK && seen.n[1] >= EVIDENCE_FIRST_LOOK) {
		const struct verdict quick = verdict_stopwatch(seen.side, NULL, &arena);
		/* what the times alone leave open, the report does, too; but at first it says whether they are of one
		 * unit */
		if (quick.result != VERDICT_INCONCLUSIVE || !e->told ||
		    looks_hopeless(seen.x, seen.n, seen.change, LN_FLOOR_SEVERAL, LN_MARGIN))
			enough = look_closely(e, &seen, &quick, &arena);
		else
			say(&seen, &quick, "open", FACT_NEW(&arena, look_still, FACT_NO_SIDE, .open = "result"), false,
			    &arena);
	}
	return enough;
}
