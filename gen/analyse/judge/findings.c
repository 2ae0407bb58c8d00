#include "analyse/judge/findings.h"
#include "analyse/say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Looks at every rule on one side. */
static struct evidence *look(const struct side *side, const struct side_facts *facts, bool same_syncs,
                             struct arena *arena, const struct names *names)
{
	struct evidence *list = ARENA_NEW(arena, n_rules, struct evidence);
	bool *taken = ARENA_NEW(arena, facts->n_idle, bool);
	for (size_t r = 0; r < n_rules; r++) {
		struct evidence *e = &list[r];
		*e = (struct evidence){.rule = &rules[r], .side = side, .facts = facts, .arena = arena, .names = names};
		e->taken = taken;
		e->same_syncs = same_syncs;
		e->claims = ARENA_NEW(arena, facts->n_idle, bool);
		rules[r].find(e);
		bool shared = r + 1 < n_rules && rules[r].kind == RULE_LAUNCH && rules[r + 1].kind == RULE_LAUNCH;
		for (uint32_t i = 0; i < facts->n_idle && e->per_step > 0 && !shared; i++)
			taken[i] = taken[i] || e->claims[i];
	}
	return list;
}

/* The evidence, and what it is worth to know about the calls that are blamed when their cost is resolved. */
static const char *text_of(const struct evidence *e, const struct evidence *after)
{
	if (!after || e->calls <= 0 || after->calls < e->calls / 2)
		return e->text;
	return arena_format(e->arena, "%s The fixed side still makes such %s, %s %s; the GPU waits %s ms for them.",
	                    e->text, e->kind_of_call, say_digits(e->arena, after->calls),
	                    e->side->steps_found ? "a step" : "in the run", say_digits(e->arena, after->amount / 1e6));
}

/* `after`: the same rule on the other side, if the finding is resolved there; else NULL. */
static void add_finding(const struct evidence *e, int side, enum finding_status status, const struct evidence *after,
                        struct analysis *out)
{
	struct finding *f = &out->findings[out->n_findings++];
	*f = (struct finding){.id = e->rule->id,
	                      .title = e->rule->title,
	                      .side = side,
	                      .status = status,
	                      .phase = e->phase,
	                      .per_step = e->per_step,
	                      .has_ceiling = e->ceiling > 0,
	                      .ceiling_step = e->ceiling,
	                      .text = text_of(e, after),
	                      .advice = e->advice};
	if (f->has_ceiling)
		f->ceiling_speedup = e->side->budget.period / e->ceiling;
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	if (x->status != y->status) {
		static const int order[] = {[FINDING_RESOLVED] = 0, [FINDING_REMAINING] = 1, [FINDING_NEW] = 2};
		return order[x->status] - order[y->status];
	}
	bool bound_x = !x->has_ceiling, bound_y = !y->has_ceiling; /* "the GPU is the bottleneck" goes last */
	if (bound_x != bound_y)
		return bound_x - bound_y;
	if (x->per_step != y->per_step)
		return x->per_step > y->per_step ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* The mean step if everything that the fixed side resolved were perfectly fixed in the baseline. Without
 * synchronisations the host's work still takes its time, less what is moved to other threads; free launches still need
 * one. */
static double combine(const struct evidence *const *resolved, size_t n)
{
	const struct side_facts *facts = resolved[0]->facts;
	double step = resolved[0]->side->budget.period, host = facts->host_work, launch = 0;
	bool sync = false;
	for (uint32_t i = 0; i < facts->n_idle; i++)
		for (size_t k = 0; k < n; k++)
			if (resolved[k]->claims[i]) {
				step -= facts->idle[i].per_step;
				break;
			}
	for (size_t k = 0; k < n; k++) {
		step -= resolved[k]->busy;
		switch (resolved[k]->rule->kind) {
		case RULE_INPUT:
			host -= resolved[k]->per_step;
			break;
		case RULE_SYNC:
			sync = true;
			break;
		case RULE_LAUNCH:
			launch = facts->launch_call;
			break;
		default:
			break;
		}
	}
	return (sync ? fmax(step, host) : step) + launch;
}

static void diagnose(const struct evidence *const *resolved, size_t n, struct analysis *out)
{
	if (!n)
		return;
	out->combined_ceiling = combine(resolved, n);
	out->measured = out->side[1].budget.period;
	if (out->combined_ceiling <= 0) { /* what is claimed is all there is: no prediction */
		out->combined_ceiling = out->measured = 0;
		return;
	}
	if (out->verdict.result != VERDICT_FASTER)
		return; /* two numbers, but no gain to hold them against */
	double ratio = out->measured / out->combined_ceiling;
	out->diagnosis = ratio > 1.1 ? DIAGNOSIS_PARTLY : ratio < 0.9 ? DIAGNOSIS_EXCEEDED : DIAGNOSIS_CONFIRMED;
}

/* Resolved is what cost something before and costs less than half of it now: crossing a threshold alone is not enough.
 * What still speaks, because the step is shorter now, must be down to a tenth. That the GPU is the bottleneck is a
 * matter of shares, not of amounts. */
static bool is_resolved(const struct evidence *before, const struct evidence *after)
{
	if (before->per_step <= 0)
		return false;
	if (before->rule->kind == RULE_BOUND)
		return after->per_step <= 0;
	return after->amount < before->amount / (after->per_step > 0 ? 10 : 2);
}

/* New is what was hardly there before, not what has grown. */
static bool is_new(const struct evidence *before, const struct evidence *after)
{
	if (after->per_step <= 0 || before->per_step > 0)
		return false;
	return after->rule->kind == RULE_BOUND || before->amount < after->amount / 10;
}

/* Whether the synchronisation's finding is resolved, or new, by its cost. */
static bool cost_has_moved(const struct evidence *const seen[2])
{
	for (size_t r = 0; r < n_rules; r++)
		if (rules[r].kind == RULE_SYNC)
			return is_resolved(&seen[0][r], &seen[1][r]) || is_new(&seen[0][r], &seen[1][r]);
	return false;
}

/* The host comes back from synchronisations to an idle GPU as often on both sides: to less than half of one a step
 * and of their number, or 5 %, which is what a busy or an idle GPU at that moment makes by chance. */
static bool is_synchronised_alike(const struct side_facts facts[2])
{
	double a = facts[0].sync_gaps, b = facts[1].sync_gaps;
	return 2 * fmin(a, b) > fmax(a, b) && fabs(a - b) < fmax(0.5, 0.05 * fmax(a, b));
}

void findings_build(const struct side_facts *facts, struct arena *arena, struct analysis *out)
{
	const struct evidence *seen[2] = {0};
	const struct evidence **resolved = ARENA_NEW(arena, n_rules, const struct evidence *);
	size_t n_resolved = 0;
	for (uint32_t s = 0; s < out->n_sides; s++)
		seen[s] = look(&out->side[s], &facts[s], false, arena, out->names);
	/* a step and a whole run have no amounts in common */
	bool alike = out->n_sides == 2 && out->side[0].steps_found == out->side[1].steps_found;
	if (alike && cost_has_moved(seen) && is_synchronised_alike(facts))
		for (uint32_t s = 0; s < 2; s++)
			seen[s] = look(&out->side[s], &facts[s], true, arena, out->names);
	out->findings = ARENA_NEW(arena, n_rules * 2, struct finding);
	for (size_t r = 0; r < n_rules; r++) {
		const struct evidence *before = &seen[0][r], *after = seen[1] ? &seen[1][r] : NULL;
		bool gone = alike && is_resolved(before, after), came = alike && is_new(before, after);
		if (before->per_step > 0)
			add_finding(before, 0, gone ? FINDING_RESOLVED : FINDING_REMAINING, gone ? after : NULL, out);
		if (after && after->per_step > 0)
			add_finding(after, 1, came ? FINDING_NEW : FINDING_REMAINING, NULL, out);
		if (gone && rules[r].kind != RULE_BOUND)
			resolved[n_resolved++] = before;
	}
	if (out->n_findings)
		qsort(out->findings, out->n_findings, sizeof *out->findings, compare_findings);
	if (out->n_sides == 2)
		diagnose(resolved, n_resolved, out);
}
