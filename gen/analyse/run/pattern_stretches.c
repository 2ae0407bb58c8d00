#include "analyse/run/pattern_stretches.h"

#include "analyse/run/pattern_varied.h"
#include "base/sort.h"

/* What is asked of the cycles, one row each. */
struct cycles {
	const struct pattern_sequence *s;
	uint32_t n;
	const size_t *cut;
	uint64_t *sum;       /* of the hashes of their names */
	uint64_t *structure; /* how many copies in, copies out, waits, and optimizers' kernels there are */
	uint64_t usual;      /* the structure that most have */
};

static void look_at(const struct pattern_sequence *s, const struct pattern_fit *fit, struct arena *arena,
                    struct cycles *c)
{
	*c = (struct cycles){.s = s, .n = fit->n, .cut = fit->cut};
	c->sum = ARENA_NEW(arena, c->n, uint64_t);
	c->structure = ARENA_NEW(arena, c->n, uint64_t);
	uint32_t votes = 0;
	for (uint32_t k = 0; k < c->n; k++) {
		uint64_t input = 0, output = 0, waits = 0, updates = 0;
		for (size_t i = c->cut[k]; i < c->cut[k + 1]; i++) {
			uint8_t flags = s->flags[i];
			c->sum[k] += pattern_hash(s->token[i]);
			input += (flags & PATTERN_INPUT) != 0;
			output += pattern_is_out(flags);
			waits += (flags & (PATTERN_HOST | PATTERN_WORK)) == (PATTERN_HOST | PATTERN_WORK);
			updates += (flags & PATTERN_UPDATE) != 0;
		}
		c->structure[k] = pattern_hash(pattern_hash(pattern_hash(input) + output) + waits) + updates;
		if (votes == 0)
			c->usual = c->structure[k];
		votes += c->structure[k] == c->usual ? 1 : -1;
	}
}

/* The median GPU time of the cycles [from, to), of a few of them. A host may be busy with something else. */
static double busy(const struct cycles *c, uint32_t from, uint32_t to)
{
	int64_t of[RULE_MANY] = {0};
	uint32_t n = 0;
	for (uint32_t k = from; k < to && n < RULE_MANY; k++, n++)
		for (size_t i = c->cut[k]; i < c->cut[k + 1]; i++)
			of[n] += c->s->length[i];
	sort_times(of, n);
	int64_t median = n ? of[n / 2] : 0;
	return (double)median;
}

/* The longest pause in nearly all cycles. */
static float usual_pause(const struct cycles *c, struct arena *scratch)
{
	float *longest = ARENA_NEW(scratch, c->n, float);
	for (uint32_t k = 0; k < c->n; k++)
		for (size_t i = c->cut[k]; i < c->cut[k + 1]; i++)
			longest[k] = c->s->pause[i] > longest[k] ? c->s->pause[i] : longest[k];
	sort_floats(longest, c->n);
	return longest[c->n - 1 - c->n / RULE_MANY];
}

/* Whether cycle `k` holds much that neither the one before it nor the one behind it does: other work lies there. */
static bool holds_more(const struct cycles *c, uint32_t k)
{
	const size_t *cut = c->cut;
	size_t ops = cut[k + 1] - cut[k], before = k ? cut[k] - cut[k - 1] : 0;
	size_t behind = k + 1 < c->n ? cut[k + 2] - cut[k + 1] : 0;
	return ops > (before > behind ? before : behind) + RULE_SPARE;
}

/* Whether cycle `k`, which holds other names than the one before it, goes on with what that did. What a library takes
 * for the first time is planned and loaded then: a pause before it, or before what it launches with it, says nothing.
 */
static bool goes_on(const struct cycles *c, uint32_t k, float pause, uint8_t *before)
{
	bool good = c->structure[k] == c->usual && c->structure[k - 1] == c->usual && !holds_more(c, k) &&
	            !holds_more(c, k - 1);
	for (size_t i = c->cut[k - 1]; i < c->cut[k]; i++)
		before[c->s->token[i]] = 1;
	for (size_t i = c->cut[k]; i < c->cut[k + 1]; i++)
		good = good && (c->s->pause[i] <= pause || !before[c->s->token[i]] ||
		                (i + 1 < c->cut[k + 1] && !before[c->s->token[i + 1]]));
	for (size_t i = c->cut[k - 1]; i < c->cut[k]; i++)
		before[c->s->token[i]] = 0;
	double a = busy(c, k > RULE_MANY ? k - RULE_MANY : 0, k), b = busy(c, k, c->n);
	return good && a <= b * RULE_LONGER && b <= a * RULE_LONGER;
}

/* Leaves out what is beyond a change at which something else begins, seen from the cycles of the loop. */
static void trim(const struct cycles *c, const struct pattern_found *f, struct pattern_found *out,
                 struct arena *scratch)
{
	uint32_t from = 0, to = c->n;
	size_t middle = f->fit.cut[f->from + (f->to - f->from) / 2];
	float pause = usual_pause(c, scratch) * RULE_LONG;
	uint8_t *before = ARENA_NEW(scratch, c->s->n_tokens, uint8_t);
	if (pause < RULE_LEAST_PAUSE)
		pause = RULE_LEAST_PAUSE;
	for (uint32_t k = 1; k < to; k++)
		if (c->sum[k] != c->sum[k - 1] && !goes_on(c, k, pause, before)) {
			if (c->cut[k] <= middle)
				from = k;
			else
				to = k;
		}
	out->from = from;
	out->to = to;
	out->cycles = to - from;
	out->share.n_ops = c->cut[to] - c->cut[from];
}

/* GPU time of the names that nearly all cycles hold as often. */
static double same_time(const struct cycles *c, const uint32_t *constant)
{
	double all = 0, same = 0;
	for (size_t i = c->cut[0]; i < c->cut[c->n]; i++) {
		all += (double)c->s->length[i];
		same += constant[c->s->token[i]] ? (double)c->s->length[i] : 0;
	}
	return all > 0 ? same / all : 1;
}

/* Whether `varied` are the cycles of `f` and others: enough goes on, and the rest stands in for others. Of a few ops,
 * one of which is another, nothing is told. */
static bool is_one(const struct pattern_sequence *s, const struct pattern_found *f, struct pattern_found *varied)
{
	ARENA_LOCAL(scratch);
	const struct pattern_fit *fit = &varied->fit;
	struct cycles c;
	if (fit->cut[0] > f->fit.cut[f->from + 1] || fit->cut[fit->n] < f->fit.cut[f->to - 1] ||
	    fit->ops < RULE_SHORT || varied->same < RULE_MOST || varied->share.ops < RULE_EXPLAINED ||
	    varied->share.time < RULE_EXPLAINED)
		return false;
	for (size_t i = fit->cut[0] + 1; i < fit->cut[fit->n]; i++)
		if (s->flags[i] & PATTERN_BREAK)
			return false;
	look_at(s, fit, &scratch, &c);
	trim(&c, f, varied, &scratch);
	return same_time(&c, varied->constant) >= RULE_HALF && varied->cycles >= f->cycles + RULE_CYCLES;
}

bool pattern_stretches_find(const struct pattern_sequence *s, const struct pattern_found *f, struct arena *arena,
                            struct pattern_found *out)
{
	const struct pattern_fit *fit = &f->fit;
	ARENA_LOCAL(scratch);
	bool good = false;
	size_t inside = fit->cut[f->to] - fit->cut[f->from];
	if (inside + (size_t)fit->ops * RULE_CYCLES > s->n)
		return false;
	uint32_t *n = ARENA_NEW(&scratch, s->n_tokens, uint32_t), tried = 0;
	for (size_t i = 0; i < s->n; i++)
		n[s->token[i]]++;
	/* first where the cycles begin */
	for (size_t i = fit->cut[fit->model]; i < fit->cut[fit->model + 1] && tried < RULE_SHORT && !good; i++) {
		uint32_t token = s->token[i];
		if (fit->usual[token] != 1 || n[token] < f->cycles + RULE_CYCLES)
			continue;
		struct arena pass = {0};
		tried++;
		good = pattern_varied_try(s, token, n[token], false, &pass, out) && is_one(s, f, out);
		if (good)
			arena_adopt(arena, &pass);
		else
			arena_release(&pass);
	}
	return good;
}
