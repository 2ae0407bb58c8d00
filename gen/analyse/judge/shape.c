/* Why a typical step says something else than the throughput (docs/method/verdict.md, "The typical step"). */
#include "analyse/judge/proof.h"
#include "analyse/say.h"

#include <math.h>
#include <string.h>

static const char *const SIDE[2] = {"the baseline", "the fixed side"};

/* The run of side i that stands for it in a sentence: the first with slow steps or a pattern, else the first. */
static const struct series *telling(const struct proof *p, const struct verdict *v, int i)
{
	for (size_t r = 0; r < p->runs[i]; r++)
		if (v->series[i][r].pattern || v->series[i][r].slow.n)
			return &v->series[i][r];
	return &v->series[i][0];
}

/* How far apart steps come that take longer: of a pattern with one long phase, or of regular slow steps; else 0. */
static size_t every(const struct series *s)
{
	if (s->slow.regular)
		return s->slow.spacing;
	return s->pattern > 4 ? s->pattern : 0;
}

/* "Every 12th step", or "About every 21st step" where they come at distances that differ a little. */
static const char *say_every(const struct series *s, struct arena *arena, const char *every_word, const char *about)
{
	const char *word = s->slow.regular && !s->slow.equal ? about : every_word;
	return arena_format(arena, "%s %s step", word, say_ordinal(arena, every(s)));
}

/* What they take longer, ns. */
static double excess(const struct series *s)
{
	double longest = 0, others = 0;
	if (s->slow.n)
		return s->slow.excess;
	for (size_t f = 0; f < s->pattern; f++) {
		longest = fmax(longest, s->phase[f]);
		others += s->phase[f] / (double)(s->pattern - 1);
	}
	return longest - (others - longest / (double)(s->pattern - 1));
}

/* Short patterns, and long ones in which every second step is slow, are cycles and no slow steps. */
static bool is_cycle(const struct series *s)
{
	return s->pattern && (s->pattern <= 4 || 2 * s->slow.n >= s->m);
}

/* "3 %", and "less than 1 %" where that would be "0 %". */
static const char *percent(struct arena *arena, double share)
{
	return share < 0.005 ? "less than 1 %" : arena_format(arena, "%.0f %%", 100 * share);
}

static const char *ms(struct arena *arena, double ns)
{
	return say_digits(arena, ns / 1e6);
}

static const char *of_slow_steps(const struct series *s[2], const struct verdict *v, struct arena *arena)
{
	size_t each[2] = {is_cycle(s[0]) ? 0 : every(s[0]), is_cycle(s[1]) ? 0 : every(s[1])};
	if (each[0] && each[0] == each[1])
		return arena_format(arena, "%s takes %s ms longer in %s, %s ms in %s.",
		                    say_every(s[0], arena, "Every", "About every"), ms(arena, excess(s[0])), SIDE[0],
		                    ms(arena, excess(s[1])), SIDE[1]);
	int i = each[1] ? 1 : 0;
	if (!each[i])
		return NULL;
	double share = excess(s[i]) / (double)each[i] / s[i]->mean;
	bool unchanged = v->typical.lo > 1 / (1 + VERDICT_MARGIN) && v->typical.hi < 1 + VERDICT_MARGIN;
	const char *which = unchanged ? say_every(s[i], arena, "A typical step is unchanged; every",
	                                          "A typical step is unchanged; about every")
	                              : say_every(s[i], arena, "Every", "About every");
	return arena_format(arena, "%s of %s takes %s ms longer (%s of its time).", which, SIDE[i],
	                    ms(arena, excess(s[i])), percent(arena, share));
}

static const char *of_cycles(const struct series *s[2], struct arena *arena)
{
	enum { SHOWN = 8 };
	int i = is_cycle(s[1]) ? 1 : 0;
	if (!is_cycle(s[i]))
		return NULL;
	const char *list = "";
	for (size_t f = 0; f < s[i]->pattern && f < SHOWN; f++)
		list = arena_format(arena, "%s%s%s", list, f ? ", " : "", ms(arena, s[i]->phase[f]));
	return arena_format(arena, "Steps of %s come in cycles of %zu (%s%s ms); the cycle's mean counts.", SIDE[i],
	                    s[i]->pattern, list, s[i]->pattern > SHOWN ? ", …" : "");
}

const char *shape_slow_range(struct arena *arena, const struct slow_steps *slow)
{
	const char *least = arena_format(arena, "%.1f", slow->least), *most = arena_format(arena, "%.1f", slow->most);
	return strcmp(least, most) == 0 ? most : arena_format(arena, "%s to %s", least, most);
}

static const char *of_rare_steps(const struct series *s[2], struct arena *arena)
{
	double share[2];
	for (int i = 0; i < 2; i++)
		share[i] = s[i]->slow.n ? s[i]->slow.excess * (double)s[i]->slow.n / ((double)s[i]->m * s[i]->mean) : 0;
	int i = share[1] >= share[0];
	const struct slow_steps *slow = &s[i]->slow;
	if (!slow->n || slow->regular)
		return NULL;
	const char *range = shape_slow_range(arena, slow);
	if (slow->n * 4 > s[i]->m) /* these are no rare ones */
		return arena_format(arena,
		                    "Steps of %s are of more than one length: %zu of %zu take %s times the median, and "
		                    "how many there are of each is what makes the total uncertain.",
		                    SIDE[i], slow->n, s[i]->m, range);
	return slow->n == 1
	               ? arena_format(arena,
	                              "One of %zu steps of %s takes %s times as long (%s of the time); how many there "
	                              "are is what makes the total uncertain.",
	                              s[i]->m, SIDE[i], range, percent(arena, share[i]))
	               : arena_format(arena,
	                              "%zu of %zu steps of %s take %s times as long (%s of the time); their "
	                              "number is what makes the total uncertain.",
	                              slow->n, s[i]->m, SIDE[i], range, percent(arena, share[i]));
}

/* Standard deviation of a step, relative, from its 10 % trimmed mean's side: what T's variance times m would be for
 * independent steps. */
static double spread(const struct series *s)
{
	return sqrt(s->variance * (double)s->m);
}

static const char *of_spread(const struct series *s[2], struct arena *arena)
{
	int i = spread(s[1]) >= spread(s[0]);
	return arena_format(
		arena,
		"The steps spread more in %s (about %.0f %% against %.0f %%): most are shorter than the mean, "
		"some much longer.",
		SIDE[i], 100 * spread(s[i]), 100 * spread(s[1 - i]));
}

const char *shape_why(const struct proof *p, const struct verdict *v, struct arena *arena)
{
	if (!v->typical.has_interval)
		return NULL;
	bool apart = fabs(p->change - log(v->typical.speedup)) > LN_MARGIN;
	bool disjoint = v->typical.lo > v->recorded.hi || v->typical.hi < v->recorded.lo;
	if (!apart && !disjoint)
		return NULL;
	const struct series *s[2] = {telling(p, v, 0), telling(p, v, 1)};
	const char *why = of_slow_steps(s, v, arena);
	if (!why)
		why = of_cycles(s, arena);
	if (!why)
		why = of_rare_steps(s, arena);
	return why ? why : of_spread(s, arena);
}
