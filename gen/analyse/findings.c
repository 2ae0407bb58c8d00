#include "analyse/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void look(struct evidence *e, const struct rule *rule, const struct side *side, const struct side_facts *facts,
                 struct arena *arena, const struct names *names)
{
	*e = (struct evidence){.rule = rule, .side = side, .facts = facts, .arena = arena, .names = names};
	rule->find(e);
}

static void add_finding(const struct evidence *e, int side, enum finding_status status, struct analysis *out)
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
	                      .text = e->text,
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

/* The mean step if everything that the fixed side resolved were perfectly fixed in the baseline. Idle time that several
 * findings claim is taken away once. Without synchronisations the host's work still takes its time, less what is moved
 * to other threads; free launches still need one. */
static double combine(const struct evidence *resolved, size_t n)
{
	const struct side *side = resolved[0].side;
	const struct side_facts *facts = resolved[0].facts;
	double step = side->budget.period, host = facts->host_work, launch = 0;
	bool sync = false;
	for (uint32_t i = 0; i < facts->n_idle; i++)
		for (size_t k = 0; k < n; k++)
			if (resolved[k].rule->claims && resolved[k].rule->claims(&resolved[k], &facts->idle[i].key)) {
				step -= facts->idle[i].per_step;
				break;
			}
	for (size_t k = 0; k < n; k++) {
		if (resolved[k].rule->busy)
			step -= resolved[k].rule->busy(&resolved[k]);
		if (rule_is_launch(resolved[k].rule))
			launch = facts->launch_call;
		if (rule_is_input(resolved[k].rule))
			host -= resolved[k].per_step;
		sync = sync || rule_is_sync(resolved[k].rule);
	}
	return (sync ? fmax(step, host) : step) + launch;
}

static void diagnose(const struct evidence *resolved, size_t n, struct analysis *out)
{
	if (!n)
		return;
	out->combined_ceiling = combine(resolved, n);
	out->measured = out->side[1].budget.period;
	double ratio = out->measured / out->combined_ceiling;
	out->diagnosis = ratio > 1.1 ? DIAGNOSIS_PARTLY : ratio < 0.9 ? DIAGNOSIS_EXCEEDED : DIAGNOSIS_CONFIRMED;
}

void findings_build(const struct side_facts *facts, struct arena *arena, struct analysis *out)
{
	struct evidence *resolved = ARENA_NEW(arena, n_rules, struct evidence);
	size_t n_resolved = 0;
	out->findings = ARENA_NEW(arena, n_rules * 2, struct finding);
	for (size_t r = 0; r < n_rules; r++) {
		struct evidence baseline, fixed = {0};
		look(&baseline, &rules[r], &out->side[0], &facts[0], arena, out->names);
		if (out->n_sides == 2)
			look(&fixed, &rules[r], &out->side[1], &facts[1], arena, out->names);
		if (baseline.per_step > 0 && fixed.per_step <= 0 && out->n_sides == 2) {
			add_finding(&baseline, 0, FINDING_RESOLVED, out);
			if (baseline.ceiling > 0)
				resolved[n_resolved++] = baseline;
		} else if (baseline.per_step > 0) {
			add_finding(&baseline, 0, FINDING_REMAINING, out);
		}
		if (fixed.per_step > 0)
			add_finding(&fixed, 1, baseline.per_step > 0 ? FINDING_REMAINING : FINDING_NEW, out);
	}
	if (out->n_findings)
		qsort(out->findings, out->n_findings, sizeof *out->findings, compare_findings);
	if (out->n_sides == 2)
		diagnose(resolved, n_resolved, out);
}
