/* The conditions under which the two sides ran: clocks, what held them back, captures that broke off. */
#include "analyse/judge/compare.h"
#include "analyse/judge/unprofiled.h"

#include <math.h>
#include <string.h>

static const double CLOCKS_APART = 0.02; /* of the faster side's median, from here on it matters */
enum { SAMPLES_ENOUGH = 3 };             /* of a side, to rely on their median or on what they never saw */
static const double HELD_BACK = 0.1;     /* share of samples from which on it is worth saying */

static const char *const SIDE[2] = {"baseline", "fixed side"};

/* The device whose clocks are furthest apart, or TRACE_NONE when no device has clocks on both sides. */
static uint32_t furthest(const struct analysis *a, double *distance)
{
	const struct side *b = &a->side[0], *f = &a->side[1];
	uint32_t worst = TRACE_NONE;
	*distance = -1;
	for (uint32_t d = 0; d < b->n_devices && d < f->n_devices; d++) {
		const struct spread *x = &b->devices[d].clocks.sm_mhz, *y = &f->devices[d].clocks.sm_mhz;
		double larger = fmax(x->median, y->median);
		if (!x->n || !y->n || larger <= 0)
			continue;
		double far = fabs(x->median - y->median) / larger;
		if (far > *distance) {
			*distance = far;
			worst = d;
		}
	}
	return worst;
}

const char *conditions_difference(const struct analysis *a, struct arena *arena, bool *material)
{
	double far;
	uint32_t d = furthest(a, &far);
	if (d == TRACE_NONE || far <= CLOCKS_APART)
		return NULL;
	const struct spread *x = &a->side[0].devices[d].clocks.sm_mhz, *y = &a->side[1].devices[d].clocks.sm_mhz;
	const char *which = a->side[0].n_devices > 1 ? arena_format(arena, " of device %u", d) : "";
	bool beside = a->side[0].devices[d].clocks.beside || a->side[1].devices[d].clocks.beside;
	*material = x->n >= SAMPLES_ENOUGH && y->n >= SAMPLES_ENOUGH && !beside;
	return arena_format(arena,
	                    "SM clock%s under load: %.0f MHz in the baseline, %.0f MHz in the fixed side (medians of "
	                    "%u and %u samples), %.1f %% apart, which changes GPU times whatever the fix does.",
	                    which, x->median, y->median, x->n, y->n, 100 * far);
}

/* ---- reasons ---- */

static void add_reason(struct analysis *a, struct arena *arena, const char *text)
{
	struct verdict *v = &a->verdict;
	v->reasons = arena_grow(arena, v->reasons, v->n_reasons, v->n_reasons + 1, sizeof *v->reasons);
	v->reasons[v->n_reasons++] = text;
}

/* What concerns the speedup itself stands before everything else. */
static void add_first(struct analysis *a, struct arena *arena, const char *text)
{
	add_reason(a, arena, text);
	struct verdict *v = &a->verdict;
	memmove(v->reasons + 1, v->reasons, (v->n_reasons - 1) * sizeof *v->reasons);
	v->reasons[0] = text;
}

/* How many samples of a side say what held its GPUs back, and in how many of them `limit` did. */
static uint32_t count_limited(const struct side *side, enum limit limit, double *limited)
{
	uint32_t judged = 0;
	*limited = 0;
	for (uint32_t d = 0; d < side->n_devices; d++) {
		const struct clocks *c = &side->devices[d].clocks;
		judged += c->judged;
		*limited += c->limited[limit] * c->judged;
	}
	return judged;
}

/* What held back one side's GPUs now and then, and the other's never. */
static void say_held_back(struct analysis *a, struct arena *arena, int s)
{
	static const enum limit said[] = {LIMIT_POWER, LIMIT_THERMAL, LIMIT_HARDWARE_THERMAL, LIMIT_HARDWARE,
	                                  LIMIT_POWER_BRAKE};
	const char *list = "";
	uint32_t judged = 0;
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		double limited, other;
		judged = count_limited(&a->side[s], said[i], &limited);
		uint32_t other_judged = count_limited(&a->side[1 - s], said[i], &other);
		if (judged < SAMPLES_ENOUGH || other_judged < SAMPLES_ENOUGH || other > 0 ||
		    limited < HELD_BACK * judged)
			continue;
		list = arena_format(arena, "%s%s%s in %.0f %%", list, *list ? ", " : "", limit_label(said[i]),
		                    100 * limited / judged);
	}
	if (*list)
		add_reason(a, arena,
		           arena_format(arena,
		                        "Only in the %s was the GPU's clock held back: %s of %u samples under load.",
		                        SIDE[s], list, judged));
}

/* One run a side cannot show that the clock was the same; samples can. */
static void say_same_clocks(struct analysis *a, struct arena *arena)
{
	double far;
	uint32_t d = furthest(a, &far);
	if (d == TRACE_NONE || far > CLOCKS_APART || a->side[0].n_runs > 1 || a->side[1].n_runs > 1)
		return;
	if (a->side[0].devices[d].clocks.beside || a->side[1].devices[d].clocks.beside)
		return; /* of the measured time itself they show nothing */
	const struct spread *x = &a->side[0].devices[d].clocks.sm_mhz, *y = &a->side[1].devices[d].clocks.sm_mhz;
	if (x->n < SAMPLES_ENOUGH || y->n < SAMPLES_ENOUGH)
		return;
	add_reason(a, arena,
	           arena_format(arena,
	                        "The SM clock was sampled under load: %.0f MHz in the baseline, %.0f MHz in the fixed "
	                        "side (medians of %u and %u samples), so it explains no difference.",
	                        x->median, y->median, x->n, y->n));
}

/* Why a run of the side broke off, or NULL. */
static const char *incomplete(const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (*facts->runs[r].trace->source.incomplete)
			return facts->runs[r].trace->source.incomplete;
	return NULL;
}

void conditions_reasons(const struct side_facts facts[2], struct arena *arena, struct analysis *a)
{
	const char *broken[2] = {incomplete(&facts[0]), incomplete(&facts[1])};
	bool first = true;
	const char *recording =
		a->conditions.unprofiled ? unprofiled_reason(a, arena, &first) : recording_reason(a, arena);
	say_same_clocks(a, arena);
	if (recording && first)
		add_first(a, arena, recording);
	else if (recording)
		add_reason(a, arena, recording);
	if (a->unprofiled.unused)
		add_reason(a, arena, a->unprofiled.unused);
	for (int s = 0; s < 2; s++) {
		say_held_back(a, arena, s);
		if (broken[s] && !broken[1 - s])
			add_reason(a, arena,
			           arena_format(arena,
			                        "Only the capture of the %s is incomplete (%s): what ran last is not "
			                        "in it.",
			                        SIDE[s], broken[s]));
	}
}
