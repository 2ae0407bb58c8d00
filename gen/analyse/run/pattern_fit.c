#include "analyse/run/pattern_fit.h"

#include "base/sort.h"

#include <stdlib.h>

/* The sum of the hashes, by token in `hashes`, of the ops [from, to). */
static uint64_t sum_of(const struct pattern_sequence *s, const uint64_t *hashes, size_t from, size_t to)
{
	uint64_t sum = 0;
	for (size_t i = from; i < to; i++)
		sum += hashes[s->token[i]];
	return sum;
}

/* The sum that most of some cycles have, from all over the stretch; the share that has it. */
static double commonest_sum(const struct pattern_fit *f, uint32_t n, uint64_t *sum, struct arena *scratch)
{
	uint64_t *some = ARENA_NEW(scratch, RULE_SAMPLE, uint64_t);
	uint32_t taken = 0, stride = n / RULE_SAMPLE + 1;
	for (uint32_t k = 0; k < n && taken < RULE_SAMPLE; k += stride)
		some[taken++] = f->sum[k];
	sort_hashes(some, taken);
	uint32_t best = 0;
	for (uint32_t i = 0, first = 0; i < taken; i++) {
		if (some[i] != some[first])
			first = i;
		if (i - first + 1 > best) {
			best = i - first + 1;
			*sum = some[i];
		}
	}
	return (double)best / taken;
}

void pattern_counts_init(struct pattern_counts *c, uint32_t n_tokens, struct arena *arena)
{
	c->of = ARENA_NEW(arena, n_tokens, uint32_t);
	c->seen = ARENA_NEW(arena, n_tokens, uint32_t);
	c->n = 0;
}

void pattern_counts_take(struct pattern_counts *c, const struct pattern_sequence *s, size_t from, size_t to)
{
	pattern_counts_clear(c);
	for (size_t i = from; i < to; i++)
		pattern_counts_add(c, s->token[i]);
}

struct pattern_votes pattern_votes_of(const struct pattern_sequence *s, const size_t *cut, uint32_t n,
                                      struct arena *arena)
{
	struct pattern_counts counts;
	struct pattern_votes v = {.usual = ARENA_NEW(arena, s->n_tokens, uint32_t)};
	v.there = ARENA_NEW(arena, s->n_tokens, uint32_t);
	v.more = ARENA_NEW(arena, s->n_tokens, uint32_t);
	pattern_counts_init(&counts, s->n_tokens, arena);
	for (uint32_t k = 0; k < n; k++) {
		pattern_counts_take(&counts, s, cut[k], cut[k + 1]);
		for (uint32_t i = 0; i < counts.n; i++) {
			uint32_t token = counts.seen[i];
			v.there[token]++;
			if (v.more[token] == 0)
				v.usual[token] = counts.of[token];
			v.more[token] += v.usual[token] == counts.of[token] ? 1 : -1;
		}
	}
	return v;
}

/* The same, with the GPU time of each token in `time`, and that of all added to `all`. */
static void counts_weigh(struct pattern_counts *c, const struct pattern_sequence *s, size_t from, size_t to,
                         double *time, double *all)
{
	pattern_counts_clear(c);
	for (size_t i = from; i < to; i++) {
		uint32_t token = s->token[i];
		double length = (double)s->length[i];
		time[token] = c->of[token] ? time[token] + length : length;
		*all += length;
		pattern_counts_add(c, token);
	}
}

/* How many of what was counted are usual ones. */
static size_t common_of(const struct pattern_fit *f, const struct pattern_counts *counts)
{
	size_t common = 0;
	for (uint32_t i = 0; i < counts->n; i++) {
		uint32_t usual = f->usual[counts->seen[i]], is = counts->of[counts->seen[i]];
		common += usual < is ? usual : is;
	}
	return common;
}

/* How many of the ops [from, to) are usual ones. */
static size_t common_ops(const struct pattern_fit *f, const struct pattern_sequence *s, size_t from, size_t to,
                         struct pattern_counts *counts)
{
	pattern_counts_take(counts, s, from, to);
	return common_of(f, counts);
}

/* `counts` are those of cycle `k`. */
static void grade(struct pattern_fit *f, const struct pattern_sequence *s, uint32_t k,
                  const struct pattern_counts *counts)
{
	size_t all = f->cut[k + 1] - f->cut[k], common = common_of(f, counts);
	size_t larger = all > f->ops ? all : f->ops, missing = f->ops - common;
	/* what lacks more than an eighth (or a few) is something else (a validation step is the forward half of a
	 * training step); lanes may have run ahead or behind */
	double few = f->ops / RULE_FEW < RULE_FEW ? f->ops / RULE_FEW : RULE_FEW, eighth = RULE_NEAR * f->ops,
	       quarter = RULE_QUARTER * f->ops;
	double lost = s->n_lanes > 1 ? RULE_HALF * f->ops : eighth > few ? eighth : few;
	/* nothing but what is usual, and most of that: rows were lost */
	if (all == common && lost < quarter)
		lost = quarter;
	/* of nearly all of that, and of some less often: as many tokens as a small model drafts before the large one
	 * checks them, or experts that got tokens; here and there one more of another. A validation lacks a good part
	 * altogether */
	uint32_t there = 0;
	for (uint32_t i = 0; i < counts->n; i++)
		there += f->usual[counts->seen[i]] > 0;
	bool fewer = (double)(all - common) <= RULE_NEAR * (double)all && there >= RULE_NEARLY_ALL * f->n_usual &&
	             (double)common >= quarter;
	f->grade[k] = common == larger                                                            ? GRADE_EXACT
	              : !fewer && ((double)missing > lost || (double)common < RULE_HALF * f->ops) ? GRADE_NONE
	              : (double)common >= RULE_MOST * (double)larger                              ? GRADE_ALIKE
	                                                                                          : GRADE_CYCLE;
	f->more[k] = all - common > f->ops;
	f->off[k] = (uint32_t)(all - common + missing);
}

void pattern_fit_init(struct pattern_fit *f, const struct pattern_sequence *s, size_t *cut, uint32_t n,
                      struct arena *arena)
{
	ARENA_LOCAL(scratch);
	*f = (struct pattern_fit){.n = n, .cut = cut, .model = UINT32_MAX};
	f->grade = ARENA_NEW(arena, n, uint8_t);
	f->more = ARENA_NEW(arena, n, uint8_t);
	f->off = ARENA_NEW(arena, n, uint32_t);
	f->usual = ARENA_NEW(arena, s->n_tokens, uint32_t);
	f->sum = ARENA_NEW(arena, n, uint64_t);
	uint32_t whole = n - 1;
	uint64_t *hashes = ARENA_NEW(&scratch, s->n_tokens, uint64_t);
	for (uint32_t token = 0; token < s->n_tokens; token++)
		hashes[token] = pattern_hash(token);
	for (uint32_t k = 0; k < whole; k++)
		f->sum[k] = sum_of(s, hashes, cut[k], cut[k + 1]);
	uint64_t sum = 0;
	if (commonest_sum(f, whole, &sum, &scratch) >= RULE_COMMON) {
		for (uint32_t k = 0; k < whole && f->model == UINT32_MAX; k++)
			if (f->sum[k] == sum)
				f->model = k;
		for (size_t i = cut[f->model]; i < cut[f->model + 1]; i++)
			f->usual[s->token[i]]++;
	} else {
		/* no two are equal often enough: of every token the count that most have */
		struct pattern_votes votes = pattern_votes_of(s, cut, whole, &scratch);
		for (uint32_t token = 0; token < s->n_tokens; token++)
			f->usual[token] = votes.there[token] > RULE_HALF * whole ? votes.usual[token] : 0;
	}
	for (uint32_t token = 0; token < s->n_tokens; token++) {
		f->ops += f->usual[token];
		f->n_usual += f->usual[token] > 0;
	}
	cut[n] = cut[n - 1] + f->ops < s->n ? cut[n - 1] + f->ops : s->n;
	f->sum[n - 1] = sum_of(s, hashes, cut[n - 1], cut[n]);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s->n_tokens, &scratch);
	for (uint32_t k = 0; k < n; k++)
		if (f->model != UINT32_MAX && f->sum[k] == sum)
			f->grade[k] = GRADE_EXACT;
		else {
			pattern_counts_take(&counts, s, cut[k], cut[k + 1]);
			grade(f, s, k, &counts);
		}
}

uint32_t pattern_fit_split(const struct pattern_fit *f, const struct pattern_sequence *s, size_t *out, uint32_t room)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s->n_tokens, &scratch);
	uint32_t n = 0;
	for (uint32_t k = 0; k < f->n; k++) {
		if (n == room)
			break;
		out[n++] = f->cut[k];
		if (f->grade[k] == GRADE_NONE)
			continue;
		size_t end = f->cut[k + 1], at = f->cut[k] + f->ops;
		for (; n < room && at + f->ops <= end + (size_t)(RULE_QUARTER * f->ops); at += f->ops) {
			if ((double)common_ops(f, s, at, at + f->ops < end ? at + f->ops : end, &counts) <
			    RULE_MOST * f->ops)
				break;
			out[n++] = at;
		}
	}
	return n;
}

/* How many of a token the last cycle that differed had beyond what is usual, or less, that nothing has made up for; and
 * the GPU time of one of them. */
struct balance {
	int64_t beyond;
	double each;
	uint32_t cycle; /* 1 + the cycle; 0: none */
};

/* What a cycle that differs holds too much or too little of, and no neighbour makes up for, is not explained. */
struct account {
	struct balance *of; /* by token */
	int64_t beyond, missing;
	double time;
	uint64_t captured; /* beyond what is usual where a graph is captured, */
	double captured_time;
};

static void enter(struct account *a, uint32_t token, uint32_t cycle, int64_t beyond, double each)
{
	struct balance *b = &a->of[token];
	bool makes_up = b->cycle + 1 == cycle && (b->beyond > 0) != (beyond > 0);
	int64_t more = beyond > 0 ? beyond : 0,
		even = llabs(b->beyond) < llabs(beyond) ? llabs(b->beyond) : llabs(beyond);
	even = makes_up ? even : 0;
	a->beyond += more - even;
	a->missing += more - beyond - even;
	a->time += each * (double)more - (beyond > 0 ? each : b->each) * (double)even;
	*b = (struct balance){beyond > 0 ? beyond - even : beyond + even, each, cycle};
}

uint32_t pattern_fit_behind(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s->n_tokens, &scratch);
	uint32_t n = 0;
	for (uint32_t k = from; k < to; k++)
		for (size_t at = f->cut[k] + f->ops;
		     f->more[k] && (double)at + RULE_HALF * f->ops < (double)f->cut[k + 1]; at += f->ops) {
			size_t end = at + f->ops < f->cut[k + 1] ? at + f->ops : f->cut[k + 1];
			n += (double)common_ops(f, s, at, end, &counts) >= RULE_MOST * f->ops;
		}
	return n;
}

bool pattern_fit_captures(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t k)
{
	for (size_t i = f->cut[k]; i <= f->cut[k + 1] && i < s->n; i++)
		if (s->flags[i] & PATTERN_CAPTURE)
			return true;
	return false;
}

double pattern_fit_host(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to)
{
	uint32_t with = 0;
	for (uint32_t k = from; k < to; k++) {
		size_t i = f->cut[k];
		while (i < f->cut[k + 1] && !(s->flags[i] & PATTERN_HOST))
			i++;
		with += i < f->cut[k + 1];
	}
	return with / (double)(to - from);
}

struct pattern_share pattern_fit_share(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from,
                                       uint32_t to, bool runs, struct arena *arena)
{
	struct pattern_share share = {0};
	struct pattern_counts counts;
	pattern_counts_init(&counts, s->n_tokens, arena);
	struct account account = {.of = ARENA_NEW(arena, s->n_tokens, struct balance)};
	double *time = ARENA_NEW(arena, s->n_tokens, double);
	uint32_t *usual = ARENA_NEW(arena, s->n_tokens, uint32_t), n_usual = 0;
	for (uint32_t token = 0; token < s->n_tokens; token++)
		if (f->usual[token])
			usual[n_usual++] = token;
	for (uint32_t k = from; k < to; k++) {
		if (runs && (f->grade[k] == GRADE_NONE || f->more[k])) /* it parts runs */
			continue;
		share.alike += f->grade[k] >= GRADE_ALIKE;
		share.n_ops += f->cut[k + 1] - f->cut[k];
		if (f->grade[k] == GRADE_EXACT) {
			for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++)
				share.all_time += (double)s->length[i];
			continue;
		}
		bool captures = pattern_fit_captures(f, s, k);
		counts_weigh(&counts, s, f->cut[k], f->cut[k + 1], time, &share.all_time);
		for (uint32_t i = 0; i < counts.n; i++) {
			uint32_t token = counts.seen[i], n = counts.of[token];
			if (n > f->usual[token] && captures) {
				account.captured += n - f->usual[token];
				account.captured_time += time[token] / n * (n - f->usual[token]);
			} else if (n > f->usual[token])
				enter(&account, token, k + 1, (int64_t)n - f->usual[token], time[token] / n);
		}
		/* an end that the capture or the loop's own end cuts short is no fault of it */
		bool ends = k + 1 == to || (runs && (f->grade[k + 1] == GRADE_NONE || f->more[k + 1]));
		for (uint32_t i = 0; i < n_usual && !ends; i++)
			if (counts.of[usual[i]] < f->usual[usual[i]])
				enter(&account, usual[i], k + 1, (int64_t)counts.of[usual[i]] - f->usual[usual[i]], 0);
	}
	/* what runs once before a graph is captured is no fault of the loop that goes on behind it; more is no such
	 * thing
	 */
	if (account.captured_time > RULE_QUARTER * share.all_time) {
		account.beyond += (int64_t)account.captured;
		account.time += account.captured_time;
	}
	double all = (double)share.n_ops + (double)account.missing;
	share.ops = all > 0 ? 1 - (double)(account.beyond + account.missing) / all : 0;
	share.time = share.all_time > 0 ? 1 - account.time / share.all_time : 1;
	return share;
}

bool pattern_fit_has(const struct pattern_fit *f, const struct pattern_sequence *s, uint8_t flags)
{
	for (size_t i = 0; f->model != UINT32_MAX && i < f->ops; i++)
		if (s->flags[f->cut[f->model] + i] & flags)
			return true;
	return false;
}
