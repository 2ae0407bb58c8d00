#include "analyse/run/pattern_layers.h"

/* Cycles one after the other that end one step. */
struct end {
	uint32_t last;           /* of them */
	bool works, host, input; /* other kernels; the host has to do with it; other copies in */
	bool read;               /* the host takes something from the device */
	bool looks_up;           /* an input is looked up, or a result picked, as in no usual cycle */
	uint32_t others, again;  /* ops that no usual cycle has; those beyond that and beyond whole cycles */
};

/* What cycle `k` holds beyond a usual one is added to `end`. Whether it ends a step: it has other kernels, or the host
 * has to do with it. */
static bool ends_step(const struct pattern_sequence *s, const struct pattern_fit *fit, uint32_t k, struct end *end)
{
	size_t ops = fit->cut[k + 1] - fit->cut[k];
	uint32_t others = 0;
	bool works = false, host = false;
	for (size_t i = fit->cut[k]; i < fit->cut[k + 1]; i++) {
		host = host || s->flags[i] & PATTERN_HOST;
		end->read = end->read || pattern_is_out(s->flags[i]);
		if (fit->grade[k] == GRADE_EXACT || fit->usual[s->token[i]])
			continue;
		works = works || s->flags[i] & PATTERN_WORK;
		end->input = end->input || s->flags[i] & PATTERN_INPUT;
		end->looks_up = end->looks_up || s->flags[i] & PATTERN_LOOKUP;
		others++;
	}
	size_t usual = others + (fit->grade[k] == GRADE_NONE ? 0 : fit->ops);
	end->works = end->works || works;
	end->host = end->host || host;
	end->others += others;
	end->again += ops > usual ? (uint32_t)(ops - usual) : 0;
	return works || host;
}

/* Whether what is between two steps says that it is that. */
static bool is_sure(const struct pattern_fit *fit, const struct end *end)
{
	/* a test for convergence now and then may be as much as an iteration that is that short; an op or two are none,
	 * which reads, computes and writes */
	bool much = (end->works || fit->ops <= RULE_SPARE) && end->others + end->host >= RULE_QUARTER * fit->ops;
	/* who only waits takes no loss to print */
	bool waits = end->host && !end->read;
	return end->looks_up || (end->others >= end->again && (end->input || !end->host || waits || much));
}

/* Whether cycle `k` holds an optimizer's kernel that no usual cycle has: behind several micro-batches. */
static bool updates(const struct pattern_sequence *s, const struct pattern_fit *fit, uint32_t k)
{
	for (size_t i = fit->cut[k]; i < fit->cut[k + 1]; i++)
		if (s->flags[i] & PATTERN_UPDATE && !fit->usual[s->token[i]])
			return true;
	return false;
}

static uint32_t count_updates(const struct pattern_sequence *s, const struct pattern_found *f)
{
	uint32_t n = 0;
	for (uint32_t k = f->from; k < f->to; k++)
		n += updates(s, &f->fit, k);
	return n;
}

static uint32_t far(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

bool pattern_layers_join(const struct pattern_sequence *s, const struct pattern_found *f, struct arena *arena,
                         struct pattern_found *out)
{
	const struct pattern_fit *fit = &f->fit;
	bool by_update = count_updates(s, f) >= RULE_MANY;
	if (!by_update && pattern_fit_has(fit, s, PATTERN_UPDATE))
		return false;
	uint32_t n = 0, sure = 0, even = 0, looked = 0, *last = ARENA_NEW(arena, (size_t)fit->n + 1, uint32_t);
	struct end end = {0};
	bool goes_on = false;
	uint32_t layers = 0, fewest = UINT32_MAX, most = 0; /* between two ends */
	/* whether the last one ends a step, what follows does not say, so what goes on up to it says nothing either */
	for (uint32_t k = f->from; k + 1 < f->to; k++) {
		struct end next = goes_on ? end : (struct end){0};
		next.last = k;
		if (pattern_fit_captures(fit, s, k)) { /* it says nothing */
			layers++;
			continue;
		}
		bool ends = by_update ? updates(s, fit, k) : ends_step(s, fit, k, &next);
		if (goes_on && !ends) {
			if (n) {
				fewest = layers < fewest ? layers : fewest;
				most = layers > most ? layers : most;
			}
			layers = 0;
			last[n++] = end.last;
			sure += by_update || is_sure(fit, &end);
			looked += by_update || end.looks_up;
		}
		layers += fit->grade[k] != GRADE_NONE;
		end = next;
		goes_on = ends;
	}
	if (f->bursts && looked < n) /* what parts runs may be anything else */
		return false;
	if (n + 1 < (s->of_pytorch ? RULE_CYCLES : RULE_CYCLES_VARIED))
		return false;
	for (uint32_t i = 2; i < n; i++) { /* a longer sequence now and then */
		uint32_t distance = last[i] - last[i - 1];
		even += far(last[i - 1] - last[i - 2], distance) <= RULE_NEAR * distance;
	}
	uint32_t distance = last[n - 1] - last[n - 2];
	/* so few are no chance where all are alike, and what is in each of them is no pass by itself */
	if (n < RULE_MANY && (even < n - 2 || sure < n || most != fewest || pattern_fit_has(fit, s, PATTERN_LOOKUP)))
		return false;
	if (distance < 2 || even < RULE_NEARLY_ALL * (n - 2) || sure < RULE_NEARLY_ALL * n)
		return false;
	size_t *cut = ARENA_NEW(arena, (size_t)n + 2, size_t);
	bool whole = last[0] - f->from + 1 == distance; /* the first of them */
	cut[0] = fit->cut[f->from];
	for (uint32_t i = 0; i < n; i++)
		cut[i + whole] = fit->cut[last[i] + 1];
	struct pattern_found found = {0};
	/* where each begins with a lookup, one that casts weights beside what the others do is a pass like any */
	bool good = pattern_cuts_try(s, cut, n + whole, looked == n, arena, &found) && (looked == n || !found.bursts) &&
	            pattern_cuts_weight(&found) >= pattern_cuts_weight(f) * (looked == n ? RULE_HALF : RULE_MOST);
	found.fewest = fewest;
	found.most = most;
	if (good)
		*out = found;
	return good;
}
