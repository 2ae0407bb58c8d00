#include "find/findings.h"
#include "base/sort.h"

#include "base/keymap.h"
#include "find/rules_parts.h"
#include "same/doubts.h"
#include "same/renames.h"
#include "same/same_work.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

static const double GONE = 0.2; /* of the cost: so little is left of what is resolved, or was there of what is new … */
static const double LESS = 0.8;  /* … and of what is reduced */
static const double SAID = 0.05; /* of it: so much that other rules or none claim there is said */

/* Looks at every rule on one side. Those that `claim` keep their idle time even where it is too little to speak of;
 * NULL: only what speaks keeps it. */
static struct evidence *look(const struct findings_input *in, uint32_t s, bool same_syncs, const bool *claim,
                             struct arena *arena)
{
	const struct side_facts *facts = &in->facts[s];
	struct evidence *list = ARENA_NEW(arena, n_rules, struct evidence);
	const struct rule **takers = ARENA_NEW(arena, facts->n_idle + 1, const struct rule *);
	for (size_t r = 0; r < n_rules; r++) {
		struct evidence *e = &list[r];
		*e = (struct evidence){.rule = &rules[r], .side = &in->side[s], .facts = facts, .arena = arena};
		e->names = in->names;
		e->side_no = (int)s;
		e->takers = takers;
		e->same_syncs = same_syncs;
		e->claims = ARENA_NEW(arena, facts->n_idle + 1, bool);
		rules[r].find(e);
		for (uint32_t i = 0; i < facts->n_idle && (e->per_step > 0 || (claim && claim[r])); i++)
			if (e->claims[i] && !takers[i])
				takers[i] = &rules[r];
	}
	return list;
}

/* ---- the same cost on the other side ---- */

/* What a finding's cost is on both sides, ns of as much as a step of the baseline does. */
struct cost {
	double amount[2]; /* by the rule */
	double moved[2];  /* what it claims on the other side, and not any more on this one */
	double carried;   /* of a rule that speaks on one side: what is another one's cost on the other side */
};

struct pair {
	const struct evidence *seen[2];
	const struct renames *renames;
	double as_much[2];       /* steps of a side that do as much as one of the baseline */
	double recorded_more[2]; /* ns of as much: recording_more */
	bool missing;            /* one job on both sides, and files of some ranks are not there */
	bool doubt;              /* numbers of the pair prove nothing */
	bool unrecorded;         /* one side's calls were not recorded, or not what threads wait in */
	struct cost *cost;       /* by rule */
	struct arena *arena;
	uint32_t *key[2]; /* by fact of idle time: a number for its cause, phase and lock, the same on both sides */
	uint32_t n_keys;
	double *all[2];    /* by key: idle time, ns of as much */
	double idle[2][2]; /* all of it, by whether the launch of the op that ended it was recorded: else anything may
	                    * be its cause */
};

/* Idle time of side `s` by key, ns of as much: what `claims` has, or all of it but what comes only once, which no step
 * has. */
static double *sum_keys(const struct pair *p, int s, const bool *claims, double *sum)
{
	const struct side_facts *facts = p->seen[s]->facts;
	memset(sum, 0, p->n_keys * sizeof *sum);
	for (uint32_t i = 0; i < facts->n_idle; i++)
		sum[p->key[s][i]] +=
			(claims ? claims[i] : !facts->idle[i].key.once) ? p->as_much[s] * facts->idle[i].per_step : 0;
	return sum;
}

/* What one side alone recorded tells causes of the host apart there, and calls tell every cause and phase. */
static void find_keys(struct pair *p)
{
	const struct trace_source *a = &p->seen[0]->side->source, *b = &p->seen[1]->side->source;
	const bool calls = a->has_calls == b->has_calls, of_host = conditions_host_alike(a, b);
	struct keymap keys;
	keymap_init(&keys, p->arena);
	p->unrecorded = !calls || !of_host;
	for (int s = 0; s < 2; s++) {
		const struct side_facts *facts = p->seen[s]->facts;
		p->key[s] = ARENA_NEW(p->arena, (size_t)facts->n_idle + 1, uint32_t);
		for (uint32_t i = 0; i < facts->n_idle; i++) {
			const struct cell_key *key = &facts->idle[i].key;
			const uint64_t phase = s ? renames_baseline(p->renames, key->phase) : key->phase;
			const uint64_t cause = !of_host && cause_is_host(key->cause)
			                               ? CAUSE_HOST_CODE << 1
			                               : (uint64_t)key->cause << 1 | key->mutex;
			p->key[s][i] = keymap_add(&keys, calls ? phase << 32 | cause : 0);
			p->idle[s][key->cause != CAUSE_UNATTRIBUTED] +=
				key->once ? 0 : p->as_much[s] * facts->idle[i].per_step;
		}
	}
	p->n_keys = keys.n;
	for (int s = 0; s < 2; s++)
		p->all[s] = sum_keys(p, s, NULL, ARENA_NEW(p->arena, (size_t)keys.n + 1, double));
}

/* Idle time of a key that a rule does not claim any more on the other side. */
struct moved {
	uint32_t key;
	double moved, rest; /* `rest`: all that the rule does not claim there, ns a step */
};

/* What rule r claims on side `s` and not on the other one; returns how much is in `list`. `sum`: two arrays by key. */
static uint32_t list_moved(const struct pair *p, size_t r, int s, double *const sum[2], struct moved *list)
{
	const struct evidence *here = &p->seen[s][r], *there = &p->seen[1 - s][r];
	const double *mine = sum_keys(p, s, here->claims, sum[0]), *all = p->all[s];
	double *mine_there = sum_keys(p, 1 - s, there->claims, sum[1]);
	uint32_t n = 0;
	for (uint32_t i = 0; i < here->facts->n_idle; i++) {
		uint32_t k = p->key[s][i];
		if (!here->claims[i] || isnan(mine_there[k]))
			continue;
		double rest = p->all[1 - s][k] - mine_there[k];
		double moved = fmin(mine[k] - fmin(mine[k], mine_there[k]), rest - (all[k] - mine[k]));
		mine_there[k] = NAN; /* each key once */
		if (moved > 0)
			list[n++] = (struct moved){k, moved, rest};
	}
	return n;
}

/* Rule r claims idle time on side `s`; how much of it is still there on the other side, by cause and phase, and claimed
 * by other rules or by none: beyond what was there and not claimed before. `carried`: whoever claims it there carries
 * it. */
static void find_moved(struct pair *p, size_t r, int s, bool carried)
{
	ARENA_LOCAL(scratch);
	double *sum[2];
	for (int i = 0; i < 2; i++)
		sum[i] = ARENA_NEW(&scratch, (size_t)p->n_keys + 1, double);
	struct moved *list = ARENA_NEW(&scratch, (size_t)p->n_keys + 1, struct moved);
	uint32_t n = list_moved(p, r, s, sum, list);
	for (uint32_t i = 0; i < n; i++)
		p->cost[r].moved[1 - s] += list[i].moved;
	for (size_t q = 0; n && carried && q < n_rules; q++) {
		const struct evidence *other = &p->seen[1 - s][q];
		if (q == r || other->per_step <= 0 || p->seen[s][q].per_step > 0 || rules[q].kind == RULE_ONCE)
			continue;
		const double *of_other = sum_keys(p, 1 - s, other->claims, sum[0]);
		for (uint32_t i = 0; i < n; i++)
			p->cost[q].carried += list[i].moved * of_other[list[i].key] / list[i].rest;
	}
}

/* Whether the rule speaks on the side, of a cost that no finding of the other side has already. */
static bool speaks(const struct pair *p, size_t r, int s)
{
	const struct evidence *e = &p->seen[s][r];
	return e->per_step > 0 && p->cost[r].carried <= (1 - GONE) * p->as_much[s] * e->amount;
}

/* Copies that run alone on side `s`, too, but are another rule's there, which speaks on one side: from pageable memory,
 * or migrations. */
static double copies_of_others(const struct pair *p, size_t r, int s)
{
	const struct side_facts *facts = p->seen[s][r].facts;
	bool here =
		rules[r].finding == FACT_serial_copies && p->seen[s][r].per_step <= 0 && p->seen[1 - s][r].per_step > 0;
	return here ? p->as_much[s] * (facts->copy_pageable + facts->copy_managed) : 0;
}

static void find_costs(struct pair *p)
{
	for (size_t r = 0; r < n_rules; r++)
		for (int s = 0; s < 2; s++)
			p->cost[r].amount[s] = p->as_much[s] * p->seen[s][r].amount;
	for (size_t r = 0; r < n_rules; r++)
		find_moved(p, r, 0, p->seen[0][r].per_step > 0);
	for (size_t r = 0; r < n_rules; r++)
		for (int s = 0; s < 2; s++)
			p->cost[r].moved[s] += copies_of_others(p, r, s);
	for (size_t r = 0; r < n_rules; r++)
		find_moved(p, r, 1, p->seen[0][r].per_step <= 0 && speaks(p, r, 1));
}

/* Whether one side cannot be held against the other: who is missing may be who was waited for. */
static bool is_unknown(const struct pair *p, const struct rule *rule)
{
	return p->missing && rule->kind == RULE_RANKS;
}

/* Whether no more than `share` of what the rule claims on side `s` is left on the other one. `alike`: as if recording
 * had taken as much on both sides: where it took more on one, as much of that side's host time may be the profiler's,
 * and would be on the other side, too. */
static bool is_left(const struct pair *p, size_t r, int s, double share, bool alike)
{
	const struct cost *cost = &p->cost[r];
	double claimed = cost->amount[s] + (p->seen[s][r].per_step > 0 ? 0 : cost->moved[s]),
	       left = cost->amount[!s] + cost->moved[!s];
	double host = claimed - p->as_much[s] * p->seen[s][r].busy;
	/* calls that are not made cost no recording */
	const bool none = p->seen[s][r].calls > 0 && !(p->seen[!s][r].calls > 0);
	if (alike && !none && !p->seen[s][r].pauses)
		left += fmax(0, fmin(claimed - left, fmin(host, p->recorded_more[s])));
	return left <= share * claimed;
}

static enum finding_status status_if(const struct pair *p, size_t r, bool alike)
{
	const struct rule *rule = &rules[r];
	/* nothing that is there to be fixed, or nobody knows */
	if (rule->kind == RULE_BOUND || rule->kind == RULE_ONCE || is_unknown(p, rule) || p->doubt)
		return FINDING_SEEN;
	return is_left(p, r, 0, GONE, alike)   ? FINDING_RESOLVED
	       : is_left(p, r, 1, GONE, alike) ? FINDING_NEW
	       : is_left(p, r, 0, LESS, alike) ? FINDING_REDUCED
	                                       : FINDING_REMAINING;
}

/* Whether most of the idle time that the rule claims on one side may be there on the other one, where one of them does
 * not say why it waits. */
static bool is_untold(const struct pair *p, size_t r)
{
	const struct cost *cost = &p->cost[r];
	const int s = cost->amount[1] > cost->amount[0];
	const bool told = rules[r].finding == FACT_idle_unattributed;
	const double untold = rules[r].gpu == PLACE_IDLE ? fmax(0, p->idle[!s][told] - p->idle[s][told]) : 0;
	return untold > 0 && cost->amount[!s] + cost->moved[!s] + untold > LESS * cost->amount[s];
}

/* What fell or rose by most of itself, and may have because recording took more on one side, or since one side does not
 * say what launched its work, was not measured in the same way on both. */
static enum finding_status status_of(const struct pair *p, size_t r)
{
	const enum finding_status recorded = status_if(p, r, false), alike = status_if(p, r, true);
	const bool is_gone = recorded == FINDING_RESOLVED || recorded == FINDING_NEW;
	const bool is_as_it_was = alike == FINDING_REMAINING && !is_left(p, r, 1, LESS, true);
	return is_gone && (is_as_it_was || is_untold(p, r)) ? FINDING_SEEN : alike;
}

/* ---- what is said ---- */

/* What became of a cost on the other side. `e`: the finding's evidence, `other`: the same rule there. */
static void add_other(struct facts *said, const struct evidence *e, const struct evidence *other,
                      const struct finding *f, const struct cost *cost)
{
	struct arena *arena = e->arena;
	int s = !f->side;
	double share = other->side->budget.period > 0 ? f->per_step[s] / other->side->budget.period : 0;
	if (e->rule->kind == RULE_BOUND || e->rule->kind == RULE_ONCE) {
		if (f->both)
			FACT_ADD(said, arena, evidence_there, 1, .evidence = rule_fact(other));
		return;
	}
	const double moved = cost->moved[s] > 0 ? cost->moved[s] / (cost->moved[s] + cost->amount[s]) : 0;
	FACT_ADD(said, arena, cost_there, s, .any = f->per_step[s] > 0, .cost = f->per_step[s], .unit = rule_unit(e),
	         .share = share >= 0.0005 ? share : NAN, .phase = f->phase[s] != f->phase[!s] ? f->phase[s] : 0,
	         .moved = e->rule->gpu == PLACE_IDLE && moved >= SAID ? moved * f->per_step[s] : NAN);
	if (f->status == FINDING_RESOLVED && e->calls > 0 && other->calls >= e->calls / 2)
		FACT_ADD(said, arena, calls_still_made, s, .calls = e->kind_of_call, .n = other->calls,
		         .unit = rule_unit(e));
}

/* How sure the comparison with the other side is. No more of a cost is the profiler's than all of it. */
static void add_doubts(struct finding *f, const struct pair *p, size_t r, const struct evidence *e)
{
	struct facts *said = &f->more;
	const int s = p->recorded_more[1] > 0;
	if (status_if(p, r, false) != status_if(p, r, true))
		FACT_ADD(said, e->arena, may_be_recording, s, .most = fmin(p->recorded_more[s], f->per_step[s]),
		         .unit = rule_unit(e));
	if (is_unknown(p, e->rule))
		FACT_ADD(said, e->arena, ranks_missing_there, 1);
	const bool untold = f->status != status_if(p, r, true) && is_untold(p, r);
	if ((p->unrecorded && p->cost[r].moved[!f->side] > 0) || untold)
		FACT_ADD(said, e->arena, calls_not_recorded, !f->side);
}

/* What the rule itself says. */
static struct finding finding_of(const struct evidence *e, const struct fact *fact)
{
	/* what the host still has to do may be more than the step: then waiting less makes nothing faster */
	const bool faster = e->ceiling > 0 && e->ceiling < e->side->budget.period;
	struct finding f = {.id = fact_info[fact->id].id,
	                    .fact = fact,
	                    .title = say_form(fact, SAY_TITLE, e->names, e->arena),
	                    .status = FINDING_SEEN,
	                    .has_ceiling = faster,
	                    .ceiling_step = faster ? e->ceiling : 0,
	                    .ceiling_least = faster ? e->least : 0,
	                    .ceiling_speedup = faster ? e->side->budget.period / e->ceiling : 0,
	                    .advice = say_form(fact, SAY_ADVICE, e->names, e->arena),
	                    .n_numbers = e->n_numbers};
	memcpy(f.number, e->number, sizeof f.number);
	return f;
}

static void add_finding(const struct pair *p, size_t r, struct findings *out)
{
	const struct evidence *before = &p->seen[0][r], *after = p->seen[1] ? &p->seen[1][r] : NULL;
	bool said[2] = {speaks(p, r, 0), after && speaks(p, r, 1)};
	if (!said[0] && !said[1])
		return;
	const struct evidence *e = said[0] || !after ? before : after;
	const struct fact *fact = rule_fact(e);
	if (!fact)
		return;
	struct finding *f = &out->list[out->n++];
	*f = finding_of(e, fact);
	f->side = !said[0];
	f->both = said[0] && said[1];
	f->floor = after ? after->floor : before->floor;
	for (int s = 0; s < 2 && p->seen[s]; s++) {
		const struct evidence *of = &p->seen[s][r];
		f->phase[s] = of->phase;
		double moved = s == f->side ? 0 : p->cost[r].moved[s]; /* the sentence says what the rule claims */
		f->per_step[s] = (p->cost[r].amount[s] + moved) / p->as_much[s];
		for (uint32_t i = 0; i < f->n_numbers; i++)
			f->number[i].value[s] = of->number[i].value[0];
	}
	if (e->waited > 0)
		FACT_ADD(&f->more, e->arena, others_wait, e->side_no, .waited = e->waited, .unit = rule_unit(e));
	rule_tell_places(e, &f->more);
	if (after) {
		f->status = status_of(p, r);
		if (!p->doubt || f->per_step[!f->side] > 0)
			add_other(&f->more, e, said[0] ? after : before, f, &p->cost[r]);
		add_doubts(f, p, r, e);
	}
	f->text = say_fact(fact, e->names, e->arena);
	for (uint32_t i = 0; i < f->more.n; i++)
		f->text = arena_format(e->arena, "%s %s", f->text, say_fact(f->more.list[i], e->names, e->arena));
}

SORT_ORDER(compare_findings, struct finding,
           y->has_ceiling - x->has_ceiling /* "the GPU is the bottleneck" goes last */
           ?: ASCENDING(x->status, y->status) ?: DESCENDING(x->per_step[x->side], y->per_step[y->side])
           ?: strcmp(x->id, y->id))

/* ---- all of them ---- */

/* What was said as if of a baseline is of the fixed side. */
static void finding_turn(struct finding *f)
{
	f->side = 1;
	f->phase[1] = f->phase[0];
	f->per_step[1] = f->per_step[0];
	f->phase[0] = 0;
	f->per_step[0] = 0;
	for (uint32_t i = 0; i < f->n_numbers; i++) {
		f->number[i].value[1] = f->number[i].value[0];
		f->number[i].value[0] = 0;
	}
}

/* The host comes back from synchronisations to an idle GPU as often on both sides: to less than half of one a step
 * and of their number, or 5 %, which is what a busy or an idle GPU at that moment makes by chance. */
static bool is_synchronised_alike(const struct side_facts facts[2])
{
	double a = facts[0].sync_gaps, b = facts[1].sync_gaps;
	return 2 * fmin(a, b) > fmax(a, b) && fabs(a - b) < fmax(0.5, 0.05 * fmax(a, b));
}

/* The host's time after synchronisations, whichever rule claims it. */
static double time_after_syncs(const struct side_facts *facts)
{
	double time = 0;
	for (uint32_t i = 0; i < facts->n_idle; i++) {
		const struct cell_key *key = &facts->idle[i].key;
		if (key->opened == OPENED_SYNC && cause_is_host(key->cause) && !key->once)
			time += facts->idle[i].per_step;
	}
	return time;
}

/* Whether a synchronisation is blamed on either side, and its cost is another one on the other. */
static bool has_cost_changed(const struct evidence *const seen[2], const struct side_facts facts[2])
{
	double b = time_after_syncs(&facts[0]), f = time_after_syncs(&facts[1]);
	for (size_t r = 0; r < n_rules; r++)
		if (rules[r].kind == RULE_SYNC && (seen[0][r].per_step > 0 || seen[1][r].per_step > 0))
			return fmin(b, f) <= LESS * fmax(b, f);
	return false;
}

static void look_again(struct pair *p, const struct findings_input *in, struct arena *arena)
{
	bool *claim = ARENA_NEW(arena, n_rules, bool);
	bool after_sync = has_cost_changed(p->seen, in->facts) && is_synchronised_alike(in->facts);
	if (after_sync)
		for (uint32_t s = 0; s < 2; s++)
			p->seen[s] = look(in, s, true, NULL, arena);
	for (size_t r = 0; r < n_rules; r++)
		claim[r] = p->seen[0][r].per_step > 0 || p->seen[1][r].per_step > 0;
	for (uint32_t s = 0; s < 2; s++)
		p->seen[s] = look(in, s, after_sync, claim, arena);
}

static void find_in_pair(struct pair *p, const struct findings_input *in, struct arena *arena, struct findings *out)
{
	p->missing = amounts_sizes(in->side, in->facts, arena).missing;
	p->doubt = in->doubt;
	p->as_much[1] = side_items(&in->side[0]) / side_items(&in->side[1]);
	for (int s = 0; s < 2; s++)
		p->recorded_more[s] = p->as_much[s] * in->recorded_more[s];
	for (uint32_t s = 0; s < 2; s++)
		p->seen[s] = look(in, s, false, NULL, arena);
	look_again(p, in, arena);
	find_keys(p);
	find_costs(p);
	const struct evidence **resolved = ARENA_NEW(arena, n_rules, const struct evidence *);
	size_t n = 0;
	for (size_t r = 0; r < n_rules; r++) {
		add_finding(p, r, out);
		if (speaks(p, r, 0) && p->seen[0][r].ceiling > 0 && status_of(p, r) == FINDING_RESOLVED)
			resolved[n++] = &p->seen[0][r];
	}
	out->diagnosis = diagnosis_judge(resolved, n, in);
}

/* Each by itself. */
static void find_in_sides(struct pair *p, const struct findings_input *in, struct arena *arena, struct findings *out)
{
	for (uint32_t s = 0; s < in->n_sides; s++) {
		uint32_t first = out->n;
		p->seen[0] = look(in, s, false, NULL, arena);
		for (size_t r = 0; r < n_rules; r++) {
			p->cost[r] = (struct cost){.amount = {p->seen[0][r].amount, 0}};
			add_finding(p, r, out);
		}
		for (uint32_t i = first; s && i < out->n; i++)
			finding_turn(&out->list[i]);
	}
}

struct findings findings_build(const struct findings_input *in, struct arena *arena)
{
	struct findings out = {.list = ARENA_NEW(arena, n_rules * 2, struct finding)};
	struct pair p = {.renames = in->renames,
	                 .arena = arena,
	                 .cost = ARENA_NEW(arena, n_rules, struct cost),
	                 .as_much = {1, 1}};
	/* a step and a whole run have no amounts in common: such a pair is two profiles */
	if (in->n_sides == 2 && in->side[0].steps.found == in->side[1].steps.found)
		find_in_pair(&p, in, arena, &out);
	else
		find_in_sides(&p, in, arena, &out);
	SORT(out.list, out.n, compare_findings);
	return out;
}
