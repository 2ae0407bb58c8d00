#include "analyse/run/pattern_places.h"

#include "base/keymap.h"
#include "base/sort.h"

#include <string.h>

/* Counts of what the cycles hold, while they are gone through. */
struct held {
	const struct pattern_sequence *s;
	struct pattern_places *p;
	uint32_t *of, *seen, n_seen;            /* of the cycle that is looked at */
	uint32_t *there, *votes, *usual, *same; /* by token: cycles that hold it; …; most hold so many; of them do */
};

static void forget(struct held *h)
{
	for (uint32_t i = 0; i < h->n_seen; i++)
		h->of[h->seen[i]] = 0;
	h->n_seen = 0;
}

static void hold(struct held *h, uint32_t token)
{
	if (!h->of[token]++)
		h->seen[h->n_seen++] = token;
}

static void take(struct held *h, uint32_t k)
{
	forget(h);
	for (size_t i = h->p->cut[k]; i < h->p->cut[k + 1]; i++)
		hold(h, h->s->token[i]);
}

/* What is usual of the cycles [from, to): a majority vote for each token, then how many agree. */
static void count(struct held *h, uint32_t from, uint32_t to)
{
	size_t bytes = h->s->n_tokens * sizeof *h->there;
	memset(h->there, 0, bytes);
	memset(h->votes, 0, bytes);
	memset(h->usual, 0, bytes);
	memset(h->same, 0, bytes);
	for (uint32_t k = from; k < to; k++) {
		take(h, k);
		for (uint32_t i = 0; i < h->n_seen; i++) {
			uint32_t token = h->seen[i], n = h->of[token];
			h->there[token]++;
			if (h->votes[token] == 0)
				h->usual[token] = n;
			h->votes[token] += h->usual[token] == n ? 1 : -1;
		}
	}
	for (uint32_t k = from; k < to; k++) {
		take(h, k);
		for (uint32_t i = 0; i < h->n_seen; i++)
			h->same[h->seen[i]] += h->of[h->seen[i]] == h->usual[h->seen[i]];
	}
}

static bool nearly_all(uint64_t n, uint32_t of, double share)
{
	return n + 1 >= of || (double)n >= share * of;
}

/* Whether a cycle holds three quarters of the tokens that nearly all of the [from, to) counted hold. */
static bool is_whole(struct held *h, uint32_t k, const uint32_t *steady, uint32_t n_steady)
{
	uint32_t has = 0;
	take(h, k);
	for (uint32_t i = 0; i < n_steady; i++)
		has += h->of[steady[i]] > 0;
	return has >= RULE_MOST * n_steady;
}

/* Leaves out what lies before and behind: other work that holds the token as well. */
static void trim(struct held *h, struct arena *scratch)
{
	struct pattern_places *p = h->p;
	uint32_t from = (uint32_t)(RULE_QUARTER * p->n), to = p->n - from, n_steady = 0, middle = p->n / 2;
	uint32_t *steady = ARENA_NEW(scratch, h->s->n_tokens, uint32_t);
	count(h, from, to);
	for (uint32_t token = 0; token < h->s->n_tokens; token++)
		if (nearly_all(h->there[token], to - from, RULE_EXPLAINED))
			steady[n_steady++] = token;
	for (from = middle; from && is_whole(h, from - 1, steady, n_steady); from--)
		;
	for (to = middle; to < p->n && is_whole(h, to, steady, n_steady); to++)
		;
	p->cut += from;
	p->n = to - from;
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
	struct keymap pairs;
	uint32_t *of;   /* by op, from the first cut: the pair before it; UINT32_MAX where the op is steady itself */
	uint8_t *limit; /* by pair, as places have one */
};

static void find_behind(const struct held *h, const uint8_t *steady, struct arena *scratch, struct behind *b)
{

	const struct pattern_places *p = h->p;
	size_t first = p->cut[0], n = p->cut[p->n] - first;
	uint32_t last = UINT32_MAX, pair = 0, fill = 0;
	keymap_init(&b->pairs, scratch);
	b->of = ARENA_NEW(scratch, n, uint32_t);
	for (size_t i = 0; i < n; i++) {
		uint32_t token = h->s->token[first + i];
		b->of[i] = steady[token] ? UINT32_MAX : pair;
		if (steady[token]) {
			pair = keymap_add(&b->pairs, (uint64_t)last << 32 | token);
			last = token;
		}
	}
	uint32_t *fills = ARENA_NEW(scratch, (size_t)b->pairs.n * RULE_LOOPS + RULE_LOOPS, uint32_t);
	b->limit = ARENA_NEW(scratch, b->pairs.n + 1, uint8_t);
	last = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		uint32_t token = h->s->token[first + i];
		if (!steady[token]) {
			fill++;
			continue;
		}
		if (i)
			fills[(size_t)pair * RULE_LOOPS + (fill < RULE_LOOPS ? fill : RULE_LOOPS - 1)]++;
		pair = keymap_add(&b->pairs, (uint64_t)last << 32 | token); /* it is there */
		last = token;
		fill = 0;
	}
	for (uint32_t k = 0; k < b->pairs.n; k++) {
		uint32_t all = 0;
		for (uint32_t f = 0; f < RULE_LOOPS; f++)
			all += fills[(size_t)k * RULE_LOOPS + f];
		b->limit[k] = limit_of(fills + (size_t)k * RULE_LOOPS, RULE_LOOPS, all);
	}
}

/* Adds up what is explained, cycle by cycle. */
static void explain(struct held *h, const uint8_t *steady, const struct behind *behind, struct arena *scratch)
{
	struct pattern_places *p = h->p;
	double ops = 0, time = 0, good_ops = 0, good_time = 0, constant = 0, held = 0;
	uint32_t host = 0;
	uint32_t *length = ARENA_NEW(scratch, p->n, uint32_t);
	for (uint32_t k = 0; k < p->n; k++) {
		uint32_t near = 0;
		uint8_t flags = 0;
		forget(h);
		for (size_t i = p->cut[k]; i < p->cut[k + 1]; i++) {
			uint32_t token = h->s->token[i];
			hold(h, token);
			/* more of what is constant is more work */
			bool good = steady[token] && (!p->constant[token] || h->of[token] <= p->constant[token]);
			flags |= h->s->flags[i];
			ops++;
			time += (double)h->s->length[i];
			constant += p->constant[token] > 0 && good;
			held += steady[token] > 0;
			near = steady[token] ? 0 : near + 1;
			if (!steady[token])
				good = !(h->s->flags[i] & (PATTERN_INPUT | PATTERN_UPDATE)) &&
				       near <= behind->limit[behind->of[i - p->cut[0]]];
			good_ops += good;
			good_time += good ? (double)h->s->length[i] : 0;
			p->others[k] += !good;
		}
		length[k] = (uint32_t)(p->cut[k + 1] - p->cut[k]);
		host += (flags & PATTERN_HOST) != 0;
	}
	p->explained_ops = good_ops / ops;
	p->explained_time = time > 0 ? good_time / time : 1;
	p->constant_ops = constant / ops;
	p->held_ops = held / ops;
	p->host = host / (double)p->n;
	sort_counts(length, p->n);
	p->ops = length[p->n / 2];
}

static void find_longest(const struct held *h, struct arena *scratch)
{
	struct pattern_places *p = h->p;
	int64_t *time = ARENA_NEW(scratch, p->n, int64_t);
	double all = 0, longest = 0;
	for (uint32_t k = 0; k < p->n; k++)
		for (size_t i = p->cut[k]; i < p->cut[k + 1]; i++)
			time[k] += h->s->length[i];
	sort_times(time, p->n);
	for (uint32_t k = 0; k < p->n; k++) {
		all += (double)time[k];
		longest += k + RULE_QUARTER * p->n >= p->n ? (double)time[k] : 0;
	}
	p->longest = all > 0 ? longest / all : 0;
}

/* Cycles that hold just what some others hold, whatever the order; and whether these kinds take turns. */
static void find_kinds(const struct held *h, struct arena *scratch)
{
	struct pattern_places *p = h->p;
	uint64_t *sum = ARENA_NEW(scratch, p->n, uint64_t);
	uint32_t alike = 0, even = 0, turns[RULE_FEW + 1] = {0}, changes = 0;
	for (uint32_t k = 0; k < p->n; k++) {
		size_t ops = p->cut[k + 1] - p->cut[k];
		for (size_t i = p->cut[k]; i < p->cut[k + 1]; i++)
			sum[k] += pattern_hash(h->s->token[i]);
		even += (double)ops >= RULE_HALF * p->ops && RULE_HALF * (double)ops <= p->ops;
	}
	for (uint32_t k = RULE_FEW; k < p->n; k++) {
		changes += sum[k] != sum[k - 1];
		for (uint32_t d = 2; d <= RULE_FEW; d++)
			turns[d] += sum[k] != sum[k - 1] && sum[k] == sum[k - d];
	}
	for (uint32_t d = 2; d <= RULE_FEW; d++)
		p->cyclic = p->cyclic || (changes > (1 - RULE_NEARLY_ALL) * p->n && turns[d] >= RULE_MOST * changes);
	sort_hashes(sum, p->n);
	for (uint32_t i = 0, end; i < p->n; i = end) {
		for (end = i + 1; end < p->n && sum[end] == sum[i]; end++)
			;
		alike += end - i >= RULE_FEW ? end - i : 0;
	}
	p->kinds = (alike < even ? alike : even) / (double)p->n;
}

/* How much of what follows is told by the `depth` ops before it, of which there are a few at least: layers and
 * micro-batches may be more or fewer, but what they hold comes in order. What is not steady counts as one name. Chance
 * would tell the commonest name each time. Of many cycles those in the middle tell it. */
static double order_of(const struct held *h, const uint8_t *steady, uint32_t depth, struct arena *scratch)
{
	const struct pattern_places *p = h->p;
	struct keymap contexts;
	keymap_init(&contexts, scratch);
	size_t first = p->cut[0], n = p->cut[p->n] - first, right = 0, most = 0;
	size_t enough = (size_t)p->ops * RULE_WINDOW;
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
		name[i] = steady[token] ? token + 1 : 0;
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

static bool is_explained(const struct held *h, const uint8_t *steady, struct arena *scratch)
{
	const struct pattern_places *p = h->p;
	if ((p->constant_ops < RULE_CONSTANT && p->held_ops < RULE_HALF) || p->explained_ops < RULE_NEARLY_ALL ||
	    p->explained_time < RULE_EXPLAINED - RULE_LITTLE)
		return false;
	/* any few names at random come again and again in any cycle that is long, but in no order */
	return p->held_ops - p->constant_ops <= RULE_CONSTANT ||
	       order_of(h, steady, RULE_SPARE, scratch) >= RULE_HALF ||
	       order_of(h, steady, 2 * RULE_SPARE, scratch) >= RULE_HALF;
}

/* The last cycle ends where it has all that is constant, and most of what is steady. */
static void end_last(const struct held *h, size_t last, const uint8_t *steady, struct arena *scratch)
{
	struct pattern_places *p = h->p;
	uint32_t missing = 0, n_steady = 0, lacking = 0, *left = ARENA_NEW(scratch, h->s->n_tokens, uint32_t);
	uint8_t *seen = ARENA_NEW(scratch, h->s->n_tokens, uint8_t);
	for (uint32_t token = 0; token < h->s->n_tokens; token++) {
		left[token] = p->constant[token];
		missing += left[token];
		n_steady += steady[token];
	}
	lacking = n_steady;
	/* half as long again as the longest that a cycle was */
	size_t longest = 0, i = last;
	for (uint32_t k = 0; k < p->n; k++)
		longest = p->cut[k + 1] - p->cut[k] > longest ? p->cut[k + 1] - p->cut[k] : longest;
	longest = (size_t)(RULE_LONGER * (double)longest);
	for (; i < h->s->n && i < last + longest && (missing || lacking > RULE_QUARTER * n_steady); i++) {
		uint32_t token = h->s->token[i];
		missing -= left[token] > 0;
		left[token] -= left[token] > 0;
		lacking -= steady[token] && !seen[token];
		seen[token] = 1;
	}
	missing += lacking > RULE_QUARTER * n_steady;
	while (!missing && i < h->s->n && i < last + longest && h->there[h->s->token[i]] &&
	       !p->constant[h->s->token[i]])
		i++;
	if (!missing && p->cut[p->n] == last)
		p->cut[++p->n] = i;
}

bool pattern_places_find(const struct pattern_sequence *s, uint32_t token, struct arena *arena,
                         struct pattern_places *out)
{
	ARENA_LOCAL(scratch);
	struct held h = {.s = s, .p = out};
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += s->token[i] == token;
	*out = (struct pattern_places){.token = token, .cut = ARENA_NEW(arena, n + 2, size_t)};
	n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->token[i] != token)
			continue;
		size_t begin = pattern_launch(s, i);
		if (!n || out->cut[n - 1] != begin)
			out->cut[n++] = begin;
	}
	if (n < RULE_CYCLES_VARIED + 1)
		return false;
	out->n = (uint32_t)n - 1;
	out->constant = ARENA_NEW(arena, s->n_tokens, uint8_t);
	uint32_t **columns[] = {&h.of, &h.seen, &h.there, &h.votes, &h.usual, &h.same};
	for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
		*columns[c] = ARENA_NEW(&scratch, s->n_tokens, uint32_t);
	size_t last = out->cut[out->n];
	trim(&h, &scratch);
	if (out->n < RULE_CYCLES_VARIED)
		return false;
	count(&h, 0, out->n);
	uint8_t *steady = out->steady = ARENA_NEW(arena, s->n_tokens, uint8_t);
	for (uint32_t t = 0; t < s->n_tokens; t++) {
		steady[t] = h.there[t] && nearly_all(h.there[t], out->n, RULE_EXPLAINED);
		if (steady[t] && nearly_all(h.same[t], out->n, RULE_EXPLAINED) && h.usual[t] <= UINT8_MAX)
			out->constant[t] = (uint8_t)h.usual[t];
	}
	end_last(&h, last, steady, &scratch);
	out->others = ARENA_NEW(arena, out->n, uint32_t);
	struct behind places;
	find_behind(&h, steady, &scratch, &places);
	explain(&h, steady, &places, &scratch);
	find_kinds(&h, &scratch);
	find_longest(&h, &scratch);
	out->explained = is_explained(&h, steady, &scratch);
	return true;
}
