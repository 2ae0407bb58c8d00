#include "analyse/judge/conditions.h"

#include "analyse/side/recording.h"

#include <math.h>
#include <string.h>

static const double CLOCKS_APART = 0.02; /* of the faster side's median, from here on it matters */
enum { SAMPLES_ENOUGH = 3 };             /* of a side, to rely on their median or on what they never saw */
static const double HELD_BACK = 0.1;     /* share of samples from which on it is worth saying */

static const char *const SIDE[2] = {"baseline", "fixed side"};

/* The device whose clocks are furthest apart, or TRACE_NONE when no device has clocks on both sides. */
static uint32_t furthest(const struct side side[2], double *distance)
{
	const struct side *b = &side[0], *f = &side[1];
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

const char *conditions_difference(const struct side side[2], struct arena *arena, bool *material)
{
	double far;
	uint32_t d = furthest(side, &far);
	if (d == TRACE_NONE || far <= CLOCKS_APART)
		return NULL;
	const struct spread *x = &side[0].devices[d].clocks.sm_mhz, *y = &side[1].devices[d].clocks.sm_mhz;
	const char *which = side[0].n_devices > 1 ? arena_format(arena, " of device %u", d) : "";
	bool beside = side[0].devices[d].clocks.beside || side[1].devices[d].clocks.beside;
	*material = x->n >= SAMPLES_ENOUGH && y->n >= SAMPLES_ENOUGH && !beside;
	return arena_format(arena,
	                    "SM clock%s under load: %.0f MHz in the baseline, %.0f MHz in the fixed side (medians of "
	                    "%u and %u samples), %.1f %% apart, which changes GPU times whatever the fix does.",
	                    which, x->median, y->median, x->n, y->n, 100 * far);
}

/* ---- reasons ---- */

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

/* What held back one side's GPUs now and then, and the other's never; NULL: nothing did. */
static const char *say_held_back(const struct side side[2], int s, struct sentences *said, struct arena *arena)
{
	static const enum limit limits[] = {LIMIT_POWER, LIMIT_THERMAL, LIMIT_HARDWARE_THERMAL, LIMIT_HARDWARE,
	                                    LIMIT_POWER_BRAKE};
	const char *list = "";
	uint32_t judged = 0;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		double limited, other;
		judged = count_limited(&side[s], limits[i], &limited);
		uint32_t other_judged = count_limited(&side[1 - s], limits[i], &other);
		if (judged < SAMPLES_ENOUGH || other_judged < SAMPLES_ENOUGH || other > 0 ||
		    limited < HELD_BACK * judged)
			continue;
		list = arena_format(arena, "%s%s%s in %.0f %%", list, *list ? ", " : "", limit_label(limits[i]),
		                    100 * limited / judged);
	}
	if (!*list)
		return NULL;
	const char *text =
		arena_format(arena, "Only in the %s was the GPU's clock held back: %s of %u samples under load.",
	                     SIDE[s], list, judged);
	say_add(said, arena, text);
	return text;
}

/* One run a side cannot show that the clock was the same; samples can. */
static void say_same_clocks(const struct side side[2], struct sentences *said, struct arena *arena)
{
	double far;
	uint32_t d = furthest(side, &far);
	if (d == TRACE_NONE || far > CLOCKS_APART || side[0].n_runs > 1 || side[1].n_runs > 1)
		return;
	if (side[0].devices[d].clocks.beside || side[1].devices[d].clocks.beside)
		return; /* of the measured time itself they show nothing */
	const struct spread *x = &side[0].devices[d].clocks.sm_mhz, *y = &side[1].devices[d].clocks.sm_mhz;
	if (x->n < SAMPLES_ENOUGH || y->n < SAMPLES_ENOUGH)
		return;
	say_add(said, arena,
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

struct conditions_said conditions_reasons(const struct side side[2], const struct side_facts facts[2],
                                          const struct verdict *verdict, const struct verdict_conditions *conditions,
                                          struct arena *arena)
{
	struct conditions_said out = {0};
	const char *broken[2] = {incomplete(&facts[0]), incomplete(&facts[1])};
	say_same_clocks(side, &out.rest, arena);
	out.first = recording_reason(side, verdict, conditions, arena);
	for (int s = 0; s < 2; s++) {
		const char *held = say_held_back(side, s, &out.rest, arena);
		out.held_back = held ? held : out.held_back;
		if (!broken[s] || broken[1 - s])
			continue;
		out.broken_off = arena_format(
			arena, "Only the capture of the %s is incomplete (%s): what ran last is not in it.", SIDE[s],
			broken[s]);
		say_add(&out.rest, arena, out.broken_off);
	}
	return out;
}
