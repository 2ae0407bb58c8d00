#include "same/doubts.h"

#include "say/say.h"
#include "side/recording.h"

#include <math.h>
#include <string.h>

static const double CLOCKS_APART = 0.02; /* of the faster side's, from here on it matters */
enum { SAMPLES_ENOUGH = 3 };             /* of a side, to rely on their median or on what they never saw */
static const double HELD_BACK = 0.1;     /* share of samples from which on it is worth saying */

/* The same device of the other side: the one of the same rank, and of the same number among the GPUs of its process;
 * where ranks are not known, the one in its place. NULL: there is none. */
static const struct device_result *same_device(const struct side *other, const struct device_result *device)
{
	if (device->rank < 0)
		return device->id < other->n_devices ? &other->devices[device->id] : NULL;
	for (uint32_t d = 0; d < other->n_devices; d++)
		if (other->devices[d].rank == device->rank && other->devices[d].ordinal == device->ordinal)
			return &other->devices[d];
	return NULL;
}

/* A device's clocks on both sides. */
struct both {
	const struct clocks *baseline, *fixed; /* NULL: no device has clocks on both sides */
	uint32_t device;
	double apart; /* of the faster side's */
	bool means;   /* that is of their means: a clock was held back for a while */
	bool shown;   /* by enough samples of the measured time itself */
};

static double apart_of(double x, double y)
{
	double larger = fmax(x, y);
	return larger > 0 ? fabs(x - y) / larger : -1;
}

/* The one whose clocks are furthest apart. */
static struct both furthest(const struct side side[2])
{
	struct both worst = {.apart = -1};
	for (uint32_t d = 0; d < side[0].n_devices; d++) {
		const struct device_result *device = &side[0].devices[d], *other = same_device(&side[1], device);
		if (!other || !device->clocks.sm_mhz.n || !other->clocks.sm_mhz.n)
			continue;
		const struct clocks *b = &device->clocks, *f = &other->clocks;
		double medians = apart_of(b->sm_mhz.median, f->sm_mhz.median);
		double means = apart_of(b->sm_mhz.mean, f->sm_mhz.mean);
		bool by_means = means > CLOCKS_APART && medians <= CLOCKS_APART;
		double apart = by_means ? means : medians;
		bool shown = b->sm_mhz.n >= SAMPLES_ENOUGH && f->sm_mhz.n >= SAMPLES_ENOUGH && !b->beside && !f->beside;
		if (apart > worst.apart)
			worst = (struct both){b, f, device->id, apart, by_means, shown};
	}
	return worst;
}

/* Whether rows of this kind were recorded, or would have been: "nvtx" is what gapline is asked for. */
static bool recorded(bool rows, const struct trace_source *source, const char *what)
{
	size_t n = strlen(what);
	for (const char *at = source->traced; !rows && (at = strstr(at, what)); at += n)
		rows = (at == source->traced || at[-1] == ',') && (at[n] == ',' || !at[n]);
	return rows;
}

bool conditions_host_alike(const struct trace_source *a, const struct trace_source *b)
{
	return recorded(a->has_os_calls, a, "osrt") == recorded(b->has_os_calls, b, "osrt") &&
	       a->has_lock == b->has_lock;
}

const char *conditions_ranges(const struct trace_source *a, const struct trace_source *b)
{
	bool kineto = a->kind == SOURCE_KINETO;
	return kineto != (b->kind == SOURCE_KINETO) ? "ranges" : kineto ? "annotations" : "nvtx";
}

struct facts conditions_options(const struct trace_source *a, const struct trace_source *b, bool operators,
                                struct arena *arena)
{
	const struct {
		const char *what;
		bool rows, baseline, fixed;
	} kinds[] = {
		{"os_calls", a->has_os_calls || b->has_os_calls, recorded(a->has_os_calls, a, "osrt"),
	         recorded(b->has_os_calls, b, "osrt")},
		{conditions_ranges(a, b), a->has_ranges || b->has_ranges,
	         operators || recorded(a->has_ranges, a, "nvtx"), operators || recorded(b->has_ranges, b, "nvtx")},
		{"calls", true, a->has_calls, b->has_calls},
	};
	struct facts options = {0};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].rows && kinds[i].baseline != kinds[i].fixed)
			FACT_ADD(&options, arena, recorded_on_one_side, kinds[i].fixed, .what = kinds[i].what);
	return options;
}

static const struct fact *recorded_apart(const struct trace_source *first, const struct trace_source *other,
                                         struct arena *arena)
{
	if (strcmp(first->collector, other->collector) != 0)
		return FACT_NEW(arena, tools_differ, FACT_NO_SIDE,
		                .one = arena_copy(arena, first->collector, strlen(first->collector)),
		                .other = arena_copy(arena, other->collector, strlen(other->collector)));
	if (first->graphs != other->graphs && first->graphs != GRAPHS_NONE && other->graphs != GRAPHS_NONE)
		return FACT_NEW(arena, graphs_traced_apart, FACT_NO_SIDE);
	return NULL;
}

const struct fact *conditions_recorded(const struct side_facts facts[2], struct arena *arena)
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++)
			for (int q = 0; q <= s; q++) {
				const struct fact *apart =
					recorded_apart(&facts[q].runs[0].source, &facts[s].runs[r].source, arena);
				if (apart)
					return apart;
			}
	return NULL;
}

const struct fact *conditions_metrics(const struct side side[2], struct arena *arena)
{
	const bool fixed = side_has_metrics(&side[1]);
	if (side_has_metrics(&side[0]) == fixed)
		return NULL;
	return FACT_NEW(arena, recorded_on_one_side, fixed, .what = "metrics");
}

const struct fact *conditions_difference(const struct side side[2], struct arena *arena, bool *material)
{
	const struct both found = furthest(side);
	if (found.apart <= CLOCKS_APART)
		return NULL;
	const struct spread *x = &found.baseline->sm_mhz, *y = &found.fixed->sm_mhz;
	*material = found.shown;
	return FACT_NEW(arena, clocks_apart, FACT_NO_SIDE,
	                .device = side[0].n_devices > 1 ? (int64_t)found.device : FACT_UNKNOWN,
	                .baseline = found.means ? x->mean : x->median, .fixed = found.means ? y->mean : y->median,
	                .means = found.means, .baseline_samples = x->n, .fixed_samples = y->n, .apart = found.apart);
}

double conditions_clock(const struct side side[2])
{
	const struct both found = furthest(side);
	if (!found.shown)
		return NAN;
	const struct spread *b = &found.baseline->sm_mhz, *f = &found.fixed->sm_mhz;
	return found.means ? log(b->mean / f->mean) : log(b->median / f->median);
}

void conditions_busier(const struct side side[2], double busier[2])
{
	busier[0] = busier[1] = NAN;
	for (uint32_t d = 0; d < side[0].n_devices; d++) {
		const struct device_result *device = &side[0].devices[d], *other = same_device(&side[1], device);
		const double ln = other ? log(other->budget.compute / device->budget.compute) : NAN;
		busier[0] = fmin(busier[0], ln); /* of a number and NAN, the number */
		busier[1] = fmax(busier[1], ln);
	}
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
static const struct fact *say_held_back(const struct side side[2], int s, struct facts *said, struct arena *arena)
{
	static const enum limit limits[] = {LIMIT_POWER, LIMIT_THERMAL, LIMIT_HARDWARE_THERMAL, LIMIT_HARDWARE,
	                                    LIMIT_POWER_BRAKE};
	struct facts *limited_by = ARENA_NEW(arena, 1, struct facts);
	uint32_t judged = 0;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		double limited, other;
		judged = count_limited(&side[s], limits[i], &limited);
		uint32_t other_judged = count_limited(&side[1 - s], limits[i], &other);
		if (judged < SAMPLES_ENOUGH || other_judged < SAMPLES_ENOUGH || other > 0 ||
		    limited < HELD_BACK * judged)
			continue;
		FACT_ADD(limited_by, arena, limited_in, FACT_NO_SIDE,
		         .limit = say_listed(WORDS_clock_limit, limits[i])->key, .samples = limited / judged);
	}
	if (!limited_by->n)
		return NULL;
	const struct fact *fact = FACT_NEW(arena, clock_held_back, s, .by = limited_by, .samples = judged);
	facts_add(said, arena, fact);
	return fact;
}

/* One run per side cannot show that the clock was the same; samples can. */
static void say_same_clocks(const struct side side[2], struct facts *said, struct arena *arena)
{
	const struct both found = furthest(side);
	if (!found.shown || found.apart > CLOCKS_APART || side[0].n_runs > 1 || side[1].n_runs > 1)
		return;
	const struct spread *x = &found.baseline->sm_mhz, *y = &found.fixed->sm_mhz;
	FACT_ADD(said, arena, clocks_alike, FACT_NO_SIDE, .baseline = x->median, .fixed = y->median,
	         .baseline_samples = x->n, .fixed_samples = y->n);
}

/* Why a run of the side broke off, or NULL. */
static const char *incomplete(const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (*facts->runs[r].source.incomplete)
			return facts->runs[r].source.incomplete;
	return NULL;
}

static bool has_others(const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (facts->runs[r].source.others > 0)
			return true;
	return false;
}

/* Work of others is in no profile of the program's. NULL: nobody is known to have been there. */
static const struct fact *say_shared(const struct side_facts facts[2], struct facts *said, struct arena *arena)
{
	const bool others[2] = {has_others(&facts[0]), has_others(&facts[1])};
	if (!others[0] && !others[1])
		return NULL;
	const struct fact *fact = FACT_NEW(arena, gpu_shared, others[1], .both = others[0] && others[1]);
	facts_add(said, arena, fact);
	return fact;
}

/* Of a side of a report, whose steps were found in the GPU's work beside another side. */
static const struct fact *say_found_apart(const struct side *side, int s, struct arena *arena)
{
	const struct facts *notes = &side->quality.notes;
	for (uint32_t i = 0; i < notes->n; i++)
		if (notes->list[i]->id == FACT_from_report && strcmp(notes->list[i]->value[0].text, "found") == 0)
			return FACT_NEW(arena, steps_from_report, s);
	return NULL;
}

/* What may keep GPUs from their work and is in no profile, once for both sides. */
static void say_unseen(const struct side side[2], struct facts *said, struct arena *arena)
{
	static const enum fact_id unseen[] = {FACT_migrations_unseen, FACT_host_functions_unseen};
	for (size_t k = 0; k < sizeof unseen / sizeof *unseen; k++) {
		const struct fact *found = NULL;
		for (int s = 0; s < 2; s++)
			for (uint32_t i = 0; i < side[s].quality.notes.n; i++) {
				const struct fact *note = side[s].quality.notes.list[i];
				found = note->id == unseen[k] ? note : found;
			}
		if (found)
			facts_add(said, arena, found);
	}
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
		const struct fact *held = say_held_back(side, s, &out.rest, arena);
		out.held_back = held ? held : out.held_back;
		facts_add(&out.rest, arena, say_found_apart(&side[s], s, arena));
		const bool both = broken[s] && broken[1 - s];
		if (!broken[s] || (both && s))
			continue;
		const struct fact *off = FACT_NEW(arena, capture_incomplete, both ? FACT_NO_SIDE : s, .both = both,
		                                  .why = arena_copy(arena, broken[s], strlen(broken[s])));
		facts_add(&out.rest, arena, off);
		out.broken_off = both ? NULL : off;
	}
	say_unseen(side, &out.rest, arena);
	out.shared = say_shared(facts, &out.rest, arena);
	for (int s = 0; s < 2 && (!conditions->doubt || conditions->doubt != conditions->rest); s++) {
		facts_add(&out.rest, arena, nothing_left_out(&facts[s], s, arena));
	}
	return out;
}

struct verdict conditions_complete(const struct verdict *v, const struct facts *stopwatch,
                                   const struct conditions_said *said, struct arena *arena)
{
	const uint32_t why = v->reasons.n && !v->judged; /* where nothing is proven, what proves nothing comes first */
	const struct facts doubt = {v->reasons.list, why, why}, own = {v->reasons.list + why, v->reasons.n - why, 0};
	struct verdict out = *v;
	out.reasons = (struct facts){0};
	facts_add_all(&out.reasons, arena, &doubt);
	facts_add(&out.reasons, arena, said->first);
	facts_add_all(&out.reasons, arena, &own);
	facts_add_all(&out.reasons, arena, stopwatch);
	facts_add_all(&out.reasons, arena, &said->rest);
	return out;
}
