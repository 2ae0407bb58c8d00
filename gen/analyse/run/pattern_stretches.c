#include "analyse/run/pattern_stretches.h"

#include "analyse/run/pattern_varied.h"
#include "base/sort.h"

/* What is asked of a cycle. */
struct cycle {
	uint64_t sum;       /* of the hashes of its names */
	uint64_t structure; /* of its copies in, copies out, waits, and optimizers' kernels */
	int64_t time;       /* of the GPU */
	size_t ops;
	float pause; /* the longest one */
};

static struct cycle look_at(const struct pattern_sequence *s, size_t from, size_t to)
{
	struct cycle c = {.ops = to - from};
	for (size_t i = from; i < to; i++) {
		uint8_t flags = s->flags[i];
		c.sum += pattern_hash(s->token[i]);
		if (flags & (PATTERN_HOST | PATTERN_UPDATE))
			c.structure +=
				pattern_hash(flags & (PATTERN_HOST | PATTERN_WORK | PATTERN_INPUT | PATTERN_UPDATE));
		c.time += s->length[i];
		c.pause = s->pause[i] > c.pause ? s->pause[i] : c.pause;
	}
	return c;
}

/* What lies at a change, where it is no pause: four times the longest one of nearly all cycles, or less than a
 * millisecond. */
static float usual_pause(const struct cycle *c, uint32_t n, struct arena *scratch)
{
	float *longest = ARENA_NEW(scratch, n, float);
	for (uint32_t k = 0; k < n; k++)
		longest[k] = c[k].pause;
	sort_floats(longest, n);
	float usual = longest[n - 1 - n / RULE_MANY] * RULE_LONG;
	return usual > RULE_LEAST_PAUSE ? usual : RULE_LEAST_PAUSE;
}

/* Whether there is a pause in cycle `k` that is its own. What a library takes for the first time is planned and loaded
 * then: a pause before it, or before what it launches with it, says nothing. */
static bool pauses(const struct pattern_sequence *s, const size_t *cut, uint32_t k, float pause)
{
	ARENA_LOCAL(scratch);
	bool *before = ARENA_NEW(&scratch, s->n_tokens, bool);
	for (size_t i = cut[k - 1]; i < cut[k]; i++)
		before[s->token[i]] = true;
	for (size_t i = cut[k]; i < cut[k + 1]; i++)
		if (s->pause[i] > pause && before[s->token[i]] && (i + 1 == cut[k + 1] || before[s->token[i + 1]]))
			return true;
	return false;
}

/* Whether each cycle that holds other names than the one before it goes on with what that did: the host has to do with
 * either as often, neither takes half as much GPU time again, and nothing else lies there, which neither neighbour has.
 */
static bool go_on(const struct pattern_sequence *s, const struct pattern_fit *fit)
{
	ARENA_LOCAL(scratch);
	struct cycle *c = ARENA_NEW(&scratch, fit->n, struct cycle);
	for (uint32_t k = 0; k < fit->n; k++)
		c[k] = look_at(s, fit->cut[k], fit->cut[k + 1]);
	float pause = usual_pause(c, fit->n, &scratch);
	for (uint32_t k = 1; k < fit->n; k++) {
		double a = (double)c[k - 1].time, b = (double)c[k].time;
		size_t behind = k + 1 < fit->n ? c[k + 1].ops : 0, most = behind > c[k - 1].ops ? behind : c[k - 1].ops;
		if (c[k].sum != c[k - 1].sum &&
		    (c[k].structure != c[k - 1].structure || a > b * RULE_LONGER || b > a * RULE_LONGER ||
		     c[k].ops > most + RULE_SPARE || pauses(s, fit->cut, k, pause)))
			return false;
	}
	return true;
}

/* GPU time of the names that nearly all cycles hold as often. */
static double same_time(const struct pattern_sequence *s, const struct pattern_found *f)
{
	double all = 0, same = 0;
	for (size_t i = f->fit.cut[0]; i < f->fit.cut[f->fit.n]; i++) {
		all += (double)s->length[i];
		same += f->constant[s->token[i]] ? (double)s->length[i] : 0;
	}
	return all > 0 ? same / all : 1;
}

/* Whether `varied` are the cycles of `f` and others: enough goes on, and the rest stands in for others. Of a few ops,
 * one of which is another, nothing is told. */
static bool is_one(const struct pattern_sequence *s, const struct pattern_found *f, const struct pattern_found *varied)
{
	const struct pattern_fit *fit = &varied->fit;
	if (fit->cut[0] > f->fit.cut[f->from + 1] || fit->cut[fit->n] < f->fit.cut[f->to - 1] ||
	    fit->ops < RULE_SHORT || varied->same < RULE_MOST || varied->share.ops < RULE_EXPLAINED ||
	    varied->share.time < RULE_EXPLAINED)
		return false;
	for (size_t i = fit->cut[0] + 1; i < fit->cut[fit->n]; i++)
		if (s->flags[i] & PATTERN_BREAK)
			return false;
	return same_time(s, varied) >= RULE_HALF && varied->cycles >= f->cycles + RULE_CYCLES && go_on(s, fit);
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
