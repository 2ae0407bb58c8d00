#include "analyse/run/pattern_varied.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
	EXCERPT = 1 << 18,    /* ops from the middle of a longer sequence, on which candidates are tried */
	GLANCE = 256,         /* cycles of it on which those that are hopeless are seen to be that, */
	GLANCE_OPS = 1 << 15, /* of so many ops at least */
	CANDIDATES = 64,
	OF_A_COUNT = 4, /* tokens that are there about as often, of which the first that tells is enough */
	STRUCTURE = 6,  /* ops between layers that are no line of a log */
	SOME_OTHERS = 3
};

#define LEAST_OPS 0.9    /* explained */
#define LEAST_TIME 0.93  /* explained */
#define LEAST_WHOLE 0.85 /* of both, where every cycle holds all that a step may have */
#define MOST_HELD 0.8    /* by nearly all cycles */
#define NEARLY_ALL 0.9   /* cycles */
#define MORE_OR_LESS 0.3 /* held by nearly all, some more often: by chance in any cycle that is long */
#define ORDERED 0.5      /* but then in no order */

/* What cycles are. */
enum level {
	LEVEL_NONE,  /* nothing */
	LEVEL_INNER, /* part of something that repeats as well: layers, micro-batches */
	LEVEL_OPEN,  /* that, or steps of which some are logged */
	LEVEL_STEP
};

/* What there is in the sequence that a step may have; and whether nothing else repeats. */
struct marks {
	size_t input, update, read;
	bool alone;
};

/* Whether nearly every cycle holds all that a step may have, and computes: what is longer is several steps. */
static bool is_complete(const struct pattern_places *p, const struct marks *marks)
{
	bool any = marks->input >= PATTERN_PLACES_CYCLES || marks->update >= PATTERN_PLACES_CYCLES ||
	           marks->read >= PATTERN_PLACES_CYCLES;
	return any && !p->cyclic && p->work >= NEARLY_ALL &&
	       (marks->input < PATTERN_PLACES_CYCLES || p->input >= NEARLY_ALL) &&
	       (marks->update < PATTERN_PLACES_CYCLES || p->update >= NEARLY_ALL) &&
	       (marks->read < PATTERN_PLACES_CYCLES || p->read >= NEARLY_ALL);
}

/* Again and again, but not in nearly all cycles. */
static bool is_partial(const struct pattern_places *p, double share)
{
	return share * p->n >= PATTERN_CYCLES && share < NEARLY_ALL;
}

/* Few kinds of steps, again and again, each in the kernels that were made for it. */
static bool by_kind(const struct pattern_places *p)
{
	return p->kinds >= NEARLY_ALL && (p->input >= NEARLY_ALL || p->host >= NEARLY_ALL);
}

static bool is_explained(const struct pattern_places *p, bool alone, bool complete)
{
	if (p->held_ops - p->constant_ops > MORE_OR_LESS && p->ordered < ORDERED)
		return false;
	/* most of a step is there each time, and what else is there is in most of them */
	if (alone && p->held_ops >= MOST_HELD && p->explained_time >= MOST_HELD && p->with_others * (uint64_t)2 > p->n)
		return true;
	return (p->constant_ops >= 0.3 || p->held_ops >= 0.5) &&
	       p->explained_ops >= (complete ? LEAST_WHOLE : LEAST_OPS) &&
	       p->explained_time >= (complete ? LEAST_WHOLE : LEAST_TIME);
}

static enum level level_of(const struct pattern_places *p, const struct marks *marks)
{
	bool alone = marks->alone, complete = is_complete(p, marks);
	/* what most cycles hold of its own is no end of layers */
	/* what is whole may hold other work of its own now and then */
	bool again = p->with_others >= PATTERN_CYCLES && p->with_others * (uint64_t)2 <= p->n,
	     structure = (p->others >= STRUCTURE && !complete) || p->others * 4 >= p->ops;
	if (p->work < NEARLY_ALL) /* copies alone are no steps: each comes with the work that it is for */
		return LEVEL_NONE;
	if (!is_explained(p, alone, complete)) {
		if (!alone || !by_kind(p))
			return LEVEL_NONE;
		return p->cyclic || is_partial(p, p->input) || is_partial(p, p->update) ? LEVEL_INNER : LEVEL_STEP;
	}
	if (is_partial(p, p->input) || is_partial(p, p->update) || p->others_mark || p->cyclic || (again && structure))
		return LEVEL_INNER;
	if (p->input >= NEARLY_ALL)
		return LEVEL_STEP;
	if (is_partial(p, p->host))
		return p->beyond >= STRUCTURE || p->beyond * 4 >= p->ops ? LEVEL_INNER : LEVEL_OPEN;
	if (p->host >= NEARLY_ALL)
		return again && p->others >= SOME_OTHERS ? LEVEL_INNER : LEVEL_STEP;
	return p->update >= NEARLY_ALL || !again ? LEVEL_STEP : LEVEL_OPEN;
}

struct candidate {
	uint32_t token, n;
	uint8_t flags;
};

/* Those that are there most often first; of as many those first that say most. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	if (x->flags != y->flags)
		return x->flags > y->flags ? -1 : 1;
	return x->token < y->token ? -1 : 1;
}

static struct pattern_sequence excerpt(const struct pattern_sequence *s)
{
	return s->n <= EXCERPT ? *s : pattern_part(s, (s->n - EXCERPT) / 2, EXCERPT);
}

/* Whether cycles, seen on a few of them, are far from being steps. */
static bool is_hopeless(const struct pattern_places *p)
{
	if (p->kinds >= NEARLY_ALL / 2)
		return false;
	return (p->held_ops - p->constant_ops > MORE_OR_LESS * 1.3 && p->ordered < ORDERED * 0.7) ||
	       p->explained_ops < 0.6 || p->explained_time < 0.6;
}

/* The cycles that begin with a token, which is there `n` times; of many first those of a part in the middle. */
static bool find_places(const struct pattern_sequence *s, uint32_t token, uint32_t n, struct arena *arena,
                        struct pattern_places *p)
{
	size_t ops = n > GLANCE ? (size_t)((uint64_t)s->n * GLANCE / n) : s->n;
	ops = ops > GLANCE_OPS ? ops : GLANCE_OPS;
	if (ops < s->n / 2) {
		struct pattern_sequence part = pattern_part(s, (s->n - ops) / 2, ops);
		if (pattern_places_find(&part, token, false, arena, p) && is_hopeless(p))
			return true;
	}
	return pattern_places_find(s, token, false, arena, p);
}

struct begin {
	uint32_t token;
	bool behind;
};

/* A cycle may begin with any token that is in each of them once, or behind it; it best begins where the program pauses,
 * or else with its input, or behind the optimizer. */
static struct begin begin_at_pause(const struct pattern_sequence *s, const struct pattern_places *p)
{
	enum { SOME = 31 };
	struct arena scratch = {0};
	struct begin best = {p->token, false};
	uint32_t stride = p->n / SOME + 1;
	float *pause = ARENA_NEW(&scratch, (size_t)s->n_tokens * SOME * 2, float);
	uint8_t *n = ARENA_NEW(&scratch, s->n_tokens, uint8_t), (*input)[2] = arena_alloc(&scratch, s->n_tokens, 2);
	uint8_t *updated = ARENA_NEW(&scratch, s->n_tokens, uint8_t);
	for (uint32_t k = 0; k < p->n; k += stride)
		for (size_t i = p->cut[k]; i < p->cut[k + 1]; i++) {
			uint32_t token = s->token[i];
			if (p->constant[token] != 1 || n[token] == SOME)
				continue;
			for (size_t behind = 0; behind < 2; behind++) {
				bool is_op = i + behind < s->n;
				pause[((size_t)token * 2 + behind) * SOME + n[token]] =
					is_op ? s->pause[i + behind] : 0;
				input[token][behind] += is_op && s->flags[i + behind] & PATTERN_INPUT;
			}
			updated[token] +=
				s->flags[i] & PATTERN_UPDATE && i + 1 < s->n && !(s->flags[i + 1] & PATTERN_UPDATE);
			n[token]++;
		}
	float longest = 0;
	for (size_t behind = 0; behind < 2; behind++)
		for (uint32_t token = 0; token < s->n_tokens; token++) {
			if (!n[token])
				continue;
			float *of = pause + ((size_t)token * 2 + behind) * SOME;
			sort_floats(of, n[token]);
			float median = of[n[token] / 2];
			if (input[token][behind] * 10 >= n[token] * 9) /* of about as long ones */
				median = median * 1.25f + 1;
			else if (behind && updated[token] * 10 >= n[token] * 9)
				median += 0.5f;
			if (median > longest * 1.01f) {
				longest = median;
				best = (struct begin){token, behind};
			}
		}
	arena_release(&scratch);
	return best;
}

/* The token at which the shortest cycles that are steps begin; UINT32_MAX: there are none. */
static uint32_t find_token(const struct pattern_sequence *s, struct marks *marks)
{
	struct arena scratch = {0};
	struct candidate *list = ARENA_NEW(&scratch, s->n_tokens, struct candidate);
	uint32_t complete_n = 0, n = 0, kept = 0, best = UINT32_MAX, of_count = 0, count = 0, tried = 0;
	bool open = false, complete = false;
	for (size_t i = 0; i < s->n; i++) {
		list[s->token[i]].token = s->token[i];
		list[s->token[i]].n++;
		if (i < s->n / 4 || i > s->n - s->n / 4) /* a model's weights on their way in */
			continue;
		marks->input += (s->flags[i] & PATTERN_INPUT) != 0;
		marks->update += (s->flags[i] & PATTERN_UPDATE) != 0;
		marks->read += (s->flags[i] & (PATTERN_HOST | PATTERN_INPUT)) == PATTERN_HOST;
		list[s->token[i]].flags |= s->flags[i] & (PATTERN_INPUT | PATTERN_UPDATE | PATTERN_HOST);
	}
	for (n = 0; n < s->n_tokens; n++)
		if (list[n].n > PATTERN_PLACES_CYCLES)
			list[kept++] = list[n];
	qsort(list, kept, sizeof *list, compare_candidates);
	for (uint32_t i = 0; i < kept && best == UINT32_MAX && tried < CANDIDATES; i++) {
		struct arena pass = {0};
		struct pattern_places p;
		if ((count - list[i].n) * (uint64_t)64 > count || !count) {
			count = list[i].n;
			of_count = 0;
		}
		if (of_count++ >= OF_A_COUNT)
			continue;
		tried++;
		if (find_places(s, list[i].token, list[i].n, &pass, &p)) {
			enum level level = level_of(&p, marks);
			/* what may be steps of which some are logged is not passed over for the lines of the log */
			if (level == LEVEL_STEP &&
			    (!complete || list[i].n * (uint64_t)20 > complete_n * (uint64_t)19) &&
			    (!open || p.input >= NEARLY_ALL || p.update >= NEARLY_ALL))
				best = list[i].token;
			open = open || level == LEVEL_OPEN;
			if (!complete && is_complete(&p, marks)) {
				complete = true;
				complete_n = list[i].n;
			}
		}
		arena_release(&pass);
	}
	arena_release(&scratch);
	return best;
}

bool pattern_varied_find(const struct pattern_sequence *s, bool alone, struct arena *arena, struct pattern_places *out)
{
	struct pattern_sequence part = excerpt(s);
	struct marks marks = {.alone = alone};
	uint32_t token = find_token(&part, &marks);
	if (token == UINT32_MAX || !pattern_places_find(s, token, false, arena, out) ||
	    level_of(out, &marks) != LEVEL_STEP)
		return false;
	struct begin begin = begin_at_pause(s, out);
	struct pattern_places better;
	if (pattern_places_find(s, begin.token, begin.behind, arena, &better) &&
	    level_of(&better, &marks) == LEVEL_STEP && better.n + 1 >= out->n)
		*out = better;
	return true;
}

void pattern_varied_cycles(const struct pattern_places *p, struct arena *arena, struct pattern_found *out)
{
	*out = (struct pattern_found){.to = p->n, .cycles = p->n};
	out->fit = (struct pattern_fit){.n = p->n, .cut = p->cut, .ops = p->ops, .model = UINT32_MAX};
	out->fit.grade = ARENA_NEW(arena, p->n, uint8_t);
	out->fit.more = ARENA_NEW(arena, p->n, uint8_t);
	memset(out->fit.grade, GRADE_ALIKE, p->n);
	bool places = is_explained(p, true, true);
	out->share.ops = places ? p->explained_ops : p->kinds;
	out->share.time = places ? p->explained_time : p->kinds;
	out->share.alike = p->n;
	out->same = p->constant_ops;
	out->share.n_ops = p->cut[p->n] - p->cut[0];
}
