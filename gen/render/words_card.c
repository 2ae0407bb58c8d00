/* The answers on the first screen in sentences: how sure, how fast, what next. Which facts they are of is decided in
 * analyse/card.c. */
#include "analyse/card.h"
#include "base/format.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <math.h>

#define ARROW "\xE2\x86\x92"
enum { SENTENCE = 600 };

/* "18.0 to 41.3 steps a second" with an arrow; from ten thousand on "73.8k to 169.1k tokens a second" */
static const char *rate(struct arena *arena, const double per_second[2], const char *of)
{
	static const struct {
		double from, one;
		const char *name;
	} scales[] = {{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}, {0, 1, ""}};
	if (per_second[0] <= 0 || per_second[1] <= 0)
		return "";
	size_t s = 0;
	while (fmax(per_second[0], per_second[1]) < scales[s].from)
		s++;
	double one = scales[s].one;
	return arena_format(arena, "%s%s " ARROW " %s%s %s a second, ", format_count(arena, per_second[0] / one),
	                    scales[s].name, format_count(arena, per_second[1] / one), scales[s].name, of);
}

static const char *shares(struct arena *arena, double before, double after)
{
	return arena_format(arena, "%s " ARROW " %s", format_share(arena, before), format_share(arena, after));
}

/* A kernel of a collective runs until the last rank has come: of a rank that waits for others the GPU looks busy. */
const char *words_rates(const struct analysis *a, struct arena *arena)
{
	struct card card = card_make(a);
	if (!a->verdict.has_speedup)
		return "";
	size_t aside = a->verdict.aside[0] + a->verdict.aside[1]; /* the rates are without them */
	const double noticed = 0.005; /* less is no part of a rank's time that is worth words */
	const double comm[2] = {card.comm_share[0], card.comm_share[1]};
	bool ranks = fmax(comm[0], comm[1]) >= noticed;
	const char *gpu =
		ranks ? arena_format(arena, "GPU computing or copying %s, only communicating or waiting for it %s",
	                             shares(arena, card.busy_share[0] - comm[0], card.busy_share[1] - comm[1]),
	                             shares(arena, comm[0], comm[1]))
		      : arena_format(arena, "GPU busy %s", shares(arena, card.busy_share[0], card.busy_share[1]));
	const char *with = aside > 1 ? " (with the steps set aside)" : aside ? " (with the step set aside)" : "";
	return arena_format(arena, "%s%s%s%s%s.", rate(arena, card.steps_per_second, "steps"),
	                    a->items_name ? rate(arena, card.items_per_second, a->items_name) : "", gpu, with,
	                    words_explained(a));
}

/* ---- how sure ---- */

static const char *set_aside(const struct verdict *v, struct arena *arena)
{
	int64_t n = (int64_t)(v->aside[0] + v->aside[1]);
	return arena_format(arena, "%s set aside; with %s %s.", format_plural(arena, n, "step is", "steps are"),
	                    n > 1 ? "them" : "it", format_times(arena, v->counted, v->speedup));
}

/* What one run cannot see, and what its launches and kernels tell all the same. */
static const char *one_run(const struct analysis *a, struct arena *arena)
{
	bool both = a->side[0].n_runs == a->side[1].n_runs;
	const char *runs = both ? "One run a side" : "Only one run of one side";
	if (a->verdict.state_line)
		return arena_format(arena, "%s. %s", runs, say_fact(a->verdict.state_line, a->names, arena));
	return arena_format(arena, "%s: a clock that differs %s would look like a change.", runs,
	                    both ? "between the two" : "in it");
}

/* NULL: it has a place of its own. */
static const char *doubt_words(const struct analysis *a, enum doubt doubt, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	switch (doubt) {
	case DOUBT_DATA:
		return format_name(arena, say_fact(a->conditions.doubt, a->names, arena), SENTENCE);
	case DOUBT_WARMING:
		return "A side was still warming up when its capture ended.";
	case DOUBT_ONE_RUN:
		return one_run(a, arena);
	case DOUBT_SESSION:
		return say_fact(v->elsewhere, a->names, arena);
	case DOUBT_ORDER:
		return "Not captured in turns: a machine that warms up would look like a change.";
	case DOUBT_NO_ORDER:
		return "The order of the runs is not known: a machine that warms up would look like a change.";
	case DOUBT_ASIDE:
		return set_aside(v, arena);
	case DOUBT_RECORDING:
		return "Recorded: without a profiler it may be anywhere in this interval (gapline run measures it).";
	case DOUBT_OPPOSITE:
		return say_fact(a->turning.opposite, a->names, arena);
	case DOUBT_HELD_BACK:
		return format_name(arena, say_fact(a->turning.held_back, a->names, arena), SENTENCE);
	case DOUBT_BROKEN_OFF:
		return format_name(arena, say_fact(a->turning.broken_off, a->names, arena), SENTENCE);
	case DOUBT_SHARED:
		return format_name(arena, say_fact(a->turning.shared, a->names, arena), SENTENCE);
	case DOUBT_SHORT:
		return arena_format(arena, "%s: only a change above %.0f %% counts.",
		                    v->short_capture ? "Few independent steps" : "The steps vary much",
		                    100 * expm1(fmax(v->floor, v->surer)));
	case DOUBT_WORK:
	case DOUBT_CONDITIONS:
	case DOUBT_COUNT:
		break;
	}
	return NULL;
}

const char **words_doubts(const struct analysis *a, struct arena *arena, size_t *n)
{
	struct card card = card_make(a);
	const char **list = ARENA_NEW(arena, card.n_doubts + 1, const char *);
	*n = 0;
	for (uint32_t i = 0; i < card.n_doubts; i++) {
		const char *text = doubt_words(a, card.doubt[i], arena);
		if (text)
			list[(*n)++] = text;
	}
	return list;
}

/* Why an interval of several runs may be wider than one of a single run. */
static const char *spread_words(const struct analysis *a, struct arena *arena)
{
	bool stopwatch = a->verdict.measured == VERDICT_STOPWATCH;
	uint32_t n[2];
	for (int s = 0; s < 2; s++)
		n[s] = stopwatch ? a->side[s].headline.n_stopwatch : a->side[s].n_runs;
	uint32_t few = n[0] < n[1] ? n[0] : n[1];
	if (few < 2)
		return "";
	const char *runs = n[0] == n[1] ? arena_format(arena, "%u runs a side", few)
	                                : arena_format(arena, "%u and %u runs", n[0], n[1]);
	return arena_format(arena, " It includes the spread of %s%s, which one run cannot show.", runs,
	                    stopwatch ? " without a profiler" : "");
}

const char *words_sure(const struct analysis *a, struct arena *arena)
{
	if (!a->verdict.has_speedup)
		return a->conditions.nothing
		               ? format_name(arena, say_fact(a->conditions.nothing, a->names, arena), SENTENCE)
		               : "There is nothing to compare.";
	const char *text = a->verdict.has_interval ? arena_format(arena, "95 %% interval %s.%s", words_range(a, arena),
	                                                          spread_words(a, arena))
	                                           : "Too little data for an interval.";
	size_t n;
	const char **doubts = words_doubts(a, arena, &n);
	for (size_t i = 0; i < n; i++)
		text = arena_format(arena, "%s %s", text, doubts[i]);
	return text;
}

/* ---- what next ---- */

/* A title goes on with a sentence: "Input starvation" is "input starvation", "GPU …" and "CUDA …" stay. */
static const char *inside(struct arena *arena, const char *title)
{
	bool name = title[0] < 'A' || title[0] > 'Z' || title[1] < 'a' || title[1] > 'z';
	return name ? title : arena_format(arena, "%c%s", title[0] - 'A' + 'a', title + 1);
}

const char *words_next(const struct analysis *a, struct arena *arena)
{
	struct card card = card_make(a);
	const char *more = words_more(a, arena);
	const char *most = format_times(arena, card.next_speedup, card.next_speedup);
	if (!a->verdict.has_speedup)
		return view_is_pair(a) ? "Compare it with a capture of the changed program."
		                       : "Mark the step on both sides: with a range in the program, or --step NAME.";
	if (a->verdict.result == VERDICT_INCONCLUSIVE && *more)
		return more;
	if (a->verdict.result == VERDICT_INCONCLUSIVE && !a->side[0].steps.found)
		return "Mark the step in the program, or let gapline run measure whole runs without a profiler.";
	if (card.next)
		return arena_format(arena, "At most %s more%s: %s%s.", most, words_explained(a),
		                    inside(arena, card.next->title),
		                    card.next_phase ? view_in_phase(a, card.next_phase, arena) : "");
	if (a->verdict.result == VERDICT_SLOWER && a->waterfall.n_reasons)
		return "Start with what got longer, part by part.";
	if (card.left)
		return arena_format(arena,
		                    "At most %s more from all waits that are left%s; the longest is for %s, %s a %s.",
		                    most, words_explained(a), words_wait(a, card.left->cause, card.left->phase, arena),
		                    format_time(arena, card.left->per_step), view_unit(&a->side[1]));
	return "Little is left between the kernels: look into the kernels.";
}
