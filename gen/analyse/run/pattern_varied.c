#include "analyse/run/pattern_varied.h"

#include "base/sort.h"

#include <string.h>

/* Again and again, but not in nearly all cycles. */
static bool is_partial(const struct pattern_places *p, double share)
{
	return share * p->n >= RULE_CYCLES && share < RULE_NEARLY_ALL;
}

/* Few kinds of steps, again and again, each in the kernels that were made for it. Where few of the cycles have nearly
 * all of the time, those are what the others stand between: a solver's sums between two evaluations of its function. */
static bool by_kind(const struct pattern_places *p)
{
	return p->longest <= RULE_MOST && p->kinds >= RULE_NEARLY_ALL && !p->cyclic &&
	       (p->input >= RULE_NEARLY_ALL || p->host >= RULE_NEARLY_ALL);
}

static bool is_explained(const struct pattern_places *p)
{
	/* any few names at random come again and again in any cycle that is long, but in no order */
	if (p->held_ops - p->constant_ops > RULE_CONSTANT && p->ordered < RULE_HALF)
		return false;
	return (p->constant_ops >= RULE_CONSTANT || p->held_ops >= RULE_HALF) && p->explained_ops >= RULE_NEARLY_ALL &&
	       p->explained_time >= RULE_EXPLAINED - RULE_LITTLE;
}

/* What cycles are: nothing, or layers, or micro-batches; that or steps of which some are logged; steps. */
enum level { LEVEL_NONE, LEVEL_OPEN, LEVEL_STEP };

/* Copies alone are no steps: each comes with the work that it is for. `alone`: nothing else repeats. */
static enum level level_of(const struct pattern_places *p, bool alone)
{
	if (p->work < RULE_NEARLY_ALL || is_partial(p, p->update))
		return LEVEL_NONE;
	/* the host has nothing to do with a layer, and asks for every token of an answer, of which the first has an
	 * input
	 */
	if (is_partial(p, p->input) && p->host < RULE_NEARLY_ALL)
		return LEVEL_NONE;
	if (!is_explained(p))
		return alone && by_kind(p) && !is_partial(p, p->input) ? LEVEL_STEP : LEVEL_NONE;
	/* what most cycles hold of its own is no end of layers */
	bool again = p->with_others >= RULE_CYCLES && p->with_others <= RULE_HALF * p->n;
	bool told = p->input >= RULE_NEARLY_ALL || p->host >= RULE_NEARLY_ALL || p->update >= RULE_NEARLY_ALL;
	return again && !told ? LEVEL_OPEN : LEVEL_STEP;
}

struct candidate {
	uint32_t token, n;
	uint8_t flags;
};

/* Those that are there most often first; of as many those first that say most. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return DESCENDING(x->n, y->n) ?: DESCENDING(x->flags, y->flags) ?: ASCENDING(x->token, y->token);
}

static struct pattern_sequence excerpt(const struct pattern_sequence *s)
{
	return s->n <= RULE_EXCERPT ? *s : pattern_part(s, (s->n - RULE_EXCERPT) / 2, RULE_EXCERPT);
}

/* Whether cycles, seen on a few of them, are far from being steps. */
static bool is_hopeless(const struct pattern_places *p)
{
	return p->kinds < RULE_HALF && (p->explained_ops < RULE_HALF || p->explained_time < RULE_HALF);
}

/* The cycles that begin with a token, which is there `n` times; of many first those of a part in the middle. */
static bool find_places(const struct pattern_sequence *s, uint32_t token, uint32_t n, struct arena *arena,
                        struct pattern_places *p)
{
	size_t ops = n > RULE_SAMPLE ? (size_t)((uint64_t)s->n * RULE_SAMPLE / n) : s->n;
	ops = ops > RULE_GLANCE ? ops : RULE_GLANCE;
	if ((double)ops < RULE_HALF * (double)s->n) {
		struct pattern_sequence part = pattern_part(s, (s->n - ops) / 2, ops);
		if (pattern_places_find(&part, token, arena, p) && is_hopeless(p))
			return true;
	}
	return pattern_places_find(s, token, arena, p);
}

/* The token at which the shortest cycles that are steps begin; UINT32_MAX: there are none. */
static uint32_t find_token(const struct pattern_sequence *s, bool alone)
{
	ARENA_LOCAL(scratch);
	struct candidate *list = ARENA_NEW(&scratch, s->n_tokens, struct candidate);
	uint32_t n = 0, kept = 0, best = UINT32_MAX, of_count = 0, count = 0, tried = 0;
	bool open = false;
	for (size_t i = 0; i < s->n; i++) {
		list[s->token[i]].token = s->token[i];
		list[s->token[i]].n++;
		if ((double)i < RULE_QUARTER * (double)s->n ||
		    (double)i > RULE_MOST * (double)s->n) /* a model's weights on their way in */
			continue;
		list[s->token[i]].flags |= s->flags[i] & (PATTERN_INPUT | PATTERN_UPDATE | PATTERN_HOST);
	}
	for (n = 0; n < s->n_tokens; n++)
		if (list[n].n > RULE_CYCLES_VARIED)
			list[kept++] = list[n];
	SORT(list, kept, compare_candidates);
	for (uint32_t i = 0; i < kept && best == UINT32_MAX && tried < RULE_CANDIDATES; i++) {
		ARENA_LOCAL(pass);
		struct pattern_places p;
		if (count - list[i].n > RULE_LITTLE * count || !count) {
			count = list[i].n;
			of_count = 0;
		}
		if (of_count++ >= RULE_FEW)
			continue;
		tried++;
		if (find_places(s, list[i].token, list[i].n, &pass, &p)) {
			enum level level = level_of(&p, alone);
			/* what may be steps of which some are logged is not passed over for the lines of the log */
			if (level == LEVEL_STEP && (!open || p.input >= RULE_NEARLY_ALL || p.update >= RULE_NEARLY_ALL))
				best = list[i].token;
			open = open || level == LEVEL_OPEN;
		}
	}
	return best;
}

bool pattern_varied_find(const struct pattern_sequence *s, bool alone, struct arena *arena, struct pattern_places *out)
{
	struct pattern_sequence part = excerpt(s);
	uint32_t token = find_token(&part, alone);
	return token != UINT32_MAX && pattern_places_find(s, token, arena, out) && level_of(out, alone) == LEVEL_STEP;
}

void pattern_varied_cycles(const struct pattern_places *p, struct arena *arena, struct pattern_found *out)
{
	*out = (struct pattern_found){.to = p->n, .cycles = p->n};
	out->fit = (struct pattern_fit){.n = p->n, .cut = p->cut, .ops = p->ops, .model = UINT32_MAX};
	out->fit.grade = ARENA_NEW(arena, p->n, uint8_t);
	out->fit.more = ARENA_NEW(arena, p->n, uint8_t);
	memset(out->fit.grade, GRADE_ALIKE, p->n);
	bool places = is_explained(p);
	out->share.ops = places ? p->explained_ops : p->kinds;
	out->share.time = places ? p->explained_time : p->kinds;
	out->share.alike = p->n;
	out->same = p->constant_ops;
	out->share.n_ops = p->cut[p->n] - p->cut[0];
}
