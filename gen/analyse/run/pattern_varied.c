#include "analyse/run/pattern_varied.h"

#include "base/keymap.h"
#include "base/sort.h"

#include <float.h>
#include <string.h>

/* Cycles while they are looked at. */
struct held {
	const struct pattern_sequence *s;
	uint32_t n; /* cycles */
	size_t *cut;
	struct pattern_counts counts; /* of one */
	uint32_t *steady, *constant;  /* by token: nearly all hold it; nearly all hold that many; 0: they do not */
	uint32_t *others;             /* by cycle: ops that are not explained; … */
	uint64_t *sum;                /* … of the hashes of its tokens; … */
	int64_t *time;                /* … on the GPU */
	uint32_t ops;                 /* in a cycle, the median */
	/* of the ops and the GPU time: constant, steady or standing in for others; of the ops: constant; constant or
	 * steady; */
	double explained_ops, explained_time, constant_ops, held_ops;
	double host;    /* share of the cycles with which the host has to do */
	double kinds;   /* of which at least three hold the same, if they are about as long */
	double longest; /* share of the GPU time that the quarter of them which takes longest has */
	bool cyclic;    /* cycles of two kinds take turns, or of three */
	bool explained; /* nearly all of them are, and those of names that come and go are in some order */
};

static bool nearly_all(uint64_t n, uint32_t of, double share)
{
	return n + 1 >= of || (double)n >= share * of;
}

/* Whether a cycle holds three quarters of the tokens that nearly all of the [from, to) counted hold. */
static bool is_whole(struct held *h, uint32_t k, const uint32_t *steady, uint32_t n_steady)
{
	uint32_t has = 0;
	pattern_counts_take(&h->counts, h->s, h->cut[k], h->cut[k + 1]);
	for (uint32_t i = 0; i < n_steady; i++)
		has += h->counts.of[steady[i]] > 0;
	return has >= RULE_MOST * n_steady;
}

/* Leaves out what lies before and behind: other work that holds the token as well. */
static void trim(struct held *h, struct arena *scratch)
{
	uint32_t from = (uint32_t)(RULE_QUARTER * h->n), to = h->n - from, n_steady = 0, middle = h->n / 2;
	uint32_t *steady = ARENA_NEW(scratch, h->s->n_tokens, uint32_t);
	struct pattern_votes votes = pattern_votes_of(h->s, h->cut + from, to - from, scratch);
	for (uint32_t token = 0; token < h->s->n_tokens; token++)
		if (nearly_all(votes.there[token], to - from, RULE_EXPLAINED))
			steady[n_steady++] = token;
	for (from = middle; from && is_whole(h, from - 1, steady, n_steady); from--)
		;
	for (to = middle; to < h->n && is_whole(h, to, steady, n_steady); to++)
		;
	h->cut += from;
	h->n = to - from;
}

/* What may stand in a place, of how often `of` i ops stand there: one more than the median, if in nearly all cycles
 * there are about as many; else nothing. */
static uint8_t limit_of(const uint32_t *of, uint32_t n, uint32_t all)
{
	uint32_t median = 0, below = 0, fewer = 0;
	while (all && (below += of[median]) < RULE_HALF * all)
		median++;
	for (uint32_t i = 0; i < n && (!i || i + 1 + (uint32_t)(RULE_QUARTER * median) < median); i++)
		fewer += of[i];
	return all && nearly_all(all - fewer, all, RULE_NEARLY_ALL) ? (uint8_t)(median + (median + 1 < n)) : 0;
}

/* Places by the two steady ops before them, for what is constant may be far away: a layer's. */
struct behind {
	uint32_t *of;   /* by op, from the first cut: the pair before it */
	uint8_t *limit; /* by pair, as places have one */
};

static struct behind find_behind(const struct held *h, struct arena *scratch)
{
	size_t first = h->cut[0], n = h->cut[h->n] - first;
	uint32_t last = UINT32_MAX, pair = 0, fill = 0;
	struct behind b = {.of = ARENA_NEW(scratch, n, uint32_t)};
	struct keymap pairs;
	keymap_init(&pairs, scratch);
	for (size_t i = 0; i < n; i++) {
		uint32_t token = h->s->token[first + i];
		b.of[i] = pair;
		if (h->steady[token]) {
			pair = keymap_add(&pairs, (uint64_t)last << 32 | token);
			last = token;
		}
	}
	uint32_t(*fills)[RULE_LOOPS] =
		(uint32_t(*)[RULE_LOOPS])ARENA_NEW(scratch, ((size_t)pairs.n + 1) * RULE_LOOPS, uint32_t);
	b.limit = ARENA_NEW(scratch, pairs.n + 1, uint8_t);
	for (size_t i = 0; i < n; i++) {
		if (!h->steady[h->s->token[first + i]]) {
			fill++;
			continue;
		}
		fills[b.of[i]][fill < RULE_LOOPS ? fill : RULE_LOOPS - 1] += i > 0;
		fill = 0;
	}
	for (uint32_t k = 0; k < pairs.n; k++) {
		uint32_t all = 0;
		for (uint32_t f = 0; f < RULE_LOOPS; f++)
			all += fills[k][f];
		b.limit[k] = limit_of(fills[k], RULE_LOOPS, all);
	}
	return b;
}

/* Adds up what is explained, cycle by cycle. */
static void explain(struct held *h, const struct behind *behind, struct arena *scratch)
{
	double ops = 0, time = 0, good_ops = 0, good_time = 0, constant = 0, held = 0;
	uint32_t host = 0;
	uint32_t *length = ARENA_NEW(scratch, h->n, uint32_t);
	for (uint32_t k = 0; k < h->n; k++) {
		uint32_t near = 0;
		uint8_t flags = 0;
		pattern_counts_clear(&h->counts);
		for (size_t i = h->cut[k]; i < h->cut[k + 1]; i++) {
			uint32_t token = h->s->token[i];
			pattern_counts_add(&h->counts, token);
			/* more of what is constant is more work */
			bool good =
				h->steady[token] && (!h->constant[token] || h->counts.of[token] <= h->constant[token]);
			flags |= h->s->flags[i];
			ops++;
			h->sum[k] += pattern_hash(token);
			h->time[k] += h->s->length[i];
			constant += h->constant[token] > 0 && good;
			held += h->steady[token] > 0;
			near = h->steady[token] ? 0 : near + 1;
			if (!h->steady[token])
				good = !(h->s->flags[i] & (PATTERN_INPUT | PATTERN_UPDATE)) &&
				       near <= behind->limit[behind->of[i - h->cut[0]]];
			good_ops += good;
			good_time += good ? (double)h->s->length[i] : 0;
			h->others[k] += !good;
		}
		time += (double)h->time[k];
		length[k] = (uint32_t)(h->cut[k + 1] - h->cut[k]);
		host += (flags & PATTERN_HOST) != 0;
	}
	h->explained_ops = good_ops / ops;
	h->explained_time = time > 0 ? good_time / time : 1;
	h->constant_ops = constant / ops;
	h->held_ops = held / ops;
	h->host = host / (double)h->n;
	sort_counts(length, h->n);
	h->ops = length[h->n / 2];
}

/* Cycles that hold just what some others hold, whatever the order; whether these kinds take turns; and how much time
 * the longest have. */
static void find_kinds(struct held *h)
{
	const uint64_t *sum = h->sum;
	uint32_t alike = 0, even = 0, turns[RULE_FEW + 1] = {0}, changes = 0;
	double all = 0, longest = 0;
	for (uint32_t k = RULE_FEW; k < h->n; k++) {
		changes += sum[k] != sum[k - 1];
		for (uint32_t d = 2; d <= RULE_FEW; d++)
			turns[d] += sum[k] != sum[k - 1] && sum[k] == sum[k - d];
	}
	for (uint32_t d = 2; d <= RULE_FEW; d++)
		h->cyclic = h->cyclic || (changes > (1 - RULE_NEARLY_ALL) * h->n && turns[d] >= RULE_MOST * changes);
	sort_hashes(h->sum, h->n);
	sort_times(h->time, h->n);
	for (uint32_t i = 0, end; i < h->n; i = end) {
		for (end = i + 1; end < h->n && sum[end] == sum[i]; end++)
			;
		alike += end - i >= RULE_FEW ? end - i : 0;
	}
	for (uint32_t k = 0; k < h->n; k++) {
		size_t ops = h->cut[k + 1] - h->cut[k];
		even += (double)ops >= RULE_HALF * h->ops && RULE_HALF * (double)ops <= h->ops;
		all += (double)h->time[k];
		longest += k + RULE_QUARTER * h->n >= h->n ? (double)h->time[k] : 0;
	}
	h->kinds = (alike < even ? alike : even) / (double)h->n;
	h->longest = all > 0 ? longest / all : 0;
}

/* How much of what follows is told by the few ops before it, of which there are a few at least: layers and
 * micro-batches may be more or fewer, but what they hold comes in order. What is not steady counts as one name. Chance
 * would tell the commonest name each time. Of many cycles those in the middle tell it. */
static double order_of(const struct held *h, struct arena *scratch)
{
	const size_t depth = 2 * RULE_SPARE;
	struct keymap contexts;
	keymap_init(&contexts, scratch);
	size_t first = h->cut[0], n = h->cut[h->n] - first, right = 0, most = 0;
	size_t enough = (size_t)h->ops * RULE_WINDOW;
	enough = enough > RULE_GLANCE ? enough : RULE_GLANCE;
	if (n > enough) {
		first += (n - enough) / 2;
		n = enough;
	}
	uint32_t *context = ARENA_NEW(scratch, n, uint32_t), *name = ARENA_NEW(scratch, n + 1, uint32_t);
	uint32_t *follows = ARENA_NEW(scratch, n, uint32_t), *votes = ARENA_NEW(scratch, n, uint32_t);
	uint32_t *seen = ARENA_NEW(scratch, n, uint32_t),
		 *of = ARENA_NEW(scratch, (size_t)h->s->n_tokens + 1, uint32_t);
	for (size_t i = 0; i < n; i++) {
		uint32_t token = h->s->token[first + i];
		uint64_t before = 0;
		for (size_t k = i > depth ? i - depth : 0; k < i; k++)
			before = pattern_hash(before ^ name[k]);
		name[i] = h->steady[token] ? token + 1 : 0;
		uint32_t k = context[i] = keymap_add(&contexts, before);
		if (votes[k] == 0)
			follows[k] = name[i];
		votes[k] += follows[k] == name[i] ? 1 : -1;
		seen[k]++;
		most = ++of[name[i]] > most ? of[name[i]] : most;
	}
	for (size_t i = 0; i < n; i++)
		right += follows[context[i]] == name[i] && seen[context[i]] >= RULE_CYCLES_VARIED;
	return most < n ? ((double)right - (double)most) / (double)(n - most) : 1;
}

static bool is_explained(const struct held *h, struct arena *scratch)
{
	if ((h->constant_ops < RULE_CONSTANT && h->held_ops < RULE_HALF) || h->explained_ops < RULE_NEARLY_ALL ||
	    h->explained_time < RULE_EXPLAINED - RULE_LITTLE)
		return false;
	/* any few names at random come again and again in any cycle that is long, but in no order */
	return h->held_ops - h->constant_ops <= RULE_CONSTANT || order_of(h, scratch) >= RULE_HALF;
}

/* The last cycle ends where it has all that is constant, and most of what is steady. */
static void end_last(struct held *h, size_t last, const uint32_t *there, struct arena *scratch)
{
	uint32_t missing = 0, n_steady = 0, lacking = 0, *left = ARENA_NEW(scratch, h->s->n_tokens, uint32_t);
	uint8_t *seen = ARENA_NEW(scratch, h->s->n_tokens, uint8_t);
	for (uint32_t token = 0; token < h->s->n_tokens; token++) {
		left[token] = h->constant[token];
		missing += left[token];
		n_steady += h->steady[token];
	}
	lacking = n_steady;
	/* half as long again as the longest that a cycle was */
	size_t longest = 0, i = last;
	for (uint32_t k = 0; k < h->n; k++)
		longest = h->cut[k + 1] - h->cut[k] > longest ? h->cut[k + 1] - h->cut[k] : longest;
	longest = (size_t)(RULE_LONGER * (double)longest);
	for (; i < h->s->n && i < last + longest && (missing || lacking > RULE_QUARTER * n_steady); i++) {
		uint32_t token = h->s->token[i];
		missing -= left[token] > 0;
		left[token] -= left[token] > 0;
		lacking -= h->steady[token] && !seen[token];
		seen[token] = 1;
	}
	missing += lacking > RULE_QUARTER * n_steady;
	while (!missing && i < h->s->n && i < last + longest && there[h->s->token[i]] && !h->constant[h->s->token[i]])
		i++;
	if (!missing && h->cut[h->n] == last)
		h->cut[++h->n] = i;
}

/* The tokens that nearly all cycles hold, and as often. */
static void find_steady(struct held *h, const struct pattern_votes *votes)
{
	for (uint32_t token = 0; token < h->s->n_tokens; token++) {
		uint32_t there = votes->there[token], same = (there + votes->more[token]) / 2;
		h->steady[token] = there && nearly_all(there, h->n, RULE_EXPLAINED);
		if (h->steady[token] && nearly_all(same, h->n, RULE_EXPLAINED))
			h->constant[token] = votes->usual[token];
	}
}

/* Looks at the cycles that begin with `token`, which is there `most` times at most. False: there are fewer than
 * RULE_CYCLES_VARIED. */
static bool look_at(const struct pattern_sequence *s, uint32_t token, size_t most, struct arena *arena, struct held *h)
{
	ARENA_LOCAL(scratch);
	size_t n = 0;
	*h = (struct held){.s = s, .cut = ARENA_NEW(arena, most + 2, size_t)};
	for (size_t i = 0; i < s->n; i++) {
		if (s->token[i] != token)
			continue;
		size_t begin = pattern_launch(s, i);
		if (!n || h->cut[n - 1] != begin)
			h->cut[n++] = begin;
	}
	if (n < RULE_CYCLES_VARIED + 1)
		return false;
	h->n = (uint32_t)n - 1;
	pattern_counts_init(&h->counts, s->n_tokens, &scratch);
	h->steady = ARENA_NEW(arena, s->n_tokens, uint32_t);
	h->constant = ARENA_NEW(arena, s->n_tokens, uint32_t);
	size_t last = h->cut[h->n];
	trim(h, &scratch);
	if (h->n < RULE_CYCLES_VARIED)
		return false;
	struct pattern_votes votes = pattern_votes_of(s, h->cut, h->n, &scratch);
	find_steady(h, &votes);
	end_last(h, last, votes.there, &scratch);
	h->others = ARENA_NEW(arena, h->n, uint32_t);
	h->sum = ARENA_NEW(&scratch, h->n, uint64_t);
	h->time = ARENA_NEW(&scratch, h->n, int64_t);
	struct behind places = find_behind(h, &scratch);
	explain(h, &places, &scratch);
	find_kinds(h);
	h->explained = is_explained(h, &scratch);
	return true;
}

/* Few kinds of steps, again and again, each in the kernels that were made for it. Where few of the cycles have nearly
 * all of the time, those are what the others stand between: a solver's sums between two evaluations of its function. */
static bool are_kinds(const struct held *h)
{
	return h->longest <= RULE_MOST && h->kinds >= RULE_NEARLY_ALL && !h->cyclic && h->host >= RULE_NEARLY_ALL;
}

/* Whether the cycles, seen on a few of many in the middle, are far from being steps. */
static bool is_hopeless(const struct pattern_sequence *s, uint32_t token, size_t n)
{
	ARENA_LOCAL(scratch);
	struct held h;
	size_t ops = n > RULE_SAMPLE ? s->n * RULE_SAMPLE / n : s->n;
	ops = ops > RULE_GLANCE ? ops : RULE_GLANCE;
	if ((double)ops >= RULE_HALF * (double)s->n)
		return false;
	const struct pattern_sequence part = pattern_part(s, (s->n - ops) / 2, ops);
	return look_at(&part, token, n, &scratch, &h) && h.kinds < RULE_HALF &&
	       (h.explained_ops < RULE_HALF || h.explained_time < RULE_HALF);
}

bool pattern_varied_try(const struct pattern_sequence *s, uint32_t token, size_t n, bool alone, struct arena *arena,
                        struct pattern_found *out)
{
	struct held h;
	if (is_hopeless(s, token, n) || !look_at(s, token, n, arena, &h) || !(h.explained || (alone && are_kinds(&h))))
		return false;
	*out = (struct pattern_found){.to = h.n, .cycles = h.n, .constant = h.constant};
	out->fit = (struct pattern_fit){
		.n = h.n, .cut = h.cut, .off = h.others, .usual = h.steady, .ops = h.ops, .model = UINT32_MAX};
	out->fit.grade = ARENA_NEW(arena, h.n, uint8_t);
	out->fit.more = ARENA_NEW(arena, h.n, uint8_t);
	memset(out->fit.grade, GRADE_ALIKE, h.n);
	out->share = (struct pattern_share){.ops = h.explained ? h.explained_ops : h.kinds,
	                                    .time = h.explained ? h.explained_time : h.kinds,
	                                    .alike = h.n,
	                                    .n_ops = h.cut[h.n] - h.cut[0]};
	out->same = h.constant_ops > 0 ? h.constant_ops : DBL_MIN;
	return true;
}
