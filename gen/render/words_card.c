/* The answers on the first screen in sentences: how sure, how fast, what next. Which facts they are of is decided in
 * analyse/card.c. */
#include "analyse/shown.h"
#include "base/format.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <math.h>

#define ARROW "\xE2\x86\x92"

/* "18.0 to 41.3" with an arrow; from ten thousand on "73.8k to 169.1k"; NULL: not known */
static const char *rate(struct arena *arena, const double per_second[2])
{
	static const struct {
		double from, one;
		const char *name;
	} scales[] = {{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}, {0, 1, ""}};
	if (per_second[0] <= 0 || per_second[1] <= 0)
		return NULL;
	size_t s = 0;
	while (fmax(per_second[0], per_second[1]) < scales[s].from)
		s++;
	double one = scales[s].one;
	return arena_format(arena, "%s%s " ARROW " %s%s", format_count(arena, per_second[0] / one), scales[s].name,
	                    format_count(arena, per_second[1] / one), scales[s].name);
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
	const double noticed = 0.005; /* less is no part of a rank's time that is worth words */
	const double *comm = card.comm_share, *busy = card.busy_share;
	bool ranks = fmax(comm[0], comm[1]) >= noticed;
	return SAY(
		a->names, arena, rates, .steps = rate(arena, card.steps_per_second),
		.items = a->items_name ? rate(arena, card.items_per_second) : NULL, .of = a->items_name, .ranks = ranks,
		.busy = ranks ? shares(arena, busy[0] - comm[0], busy[1] - comm[1]) : shares(arena, busy[0], busy[1]),
		.comm = ranks ? shares(arena, comm[0], comm[1]) : NULL,
		.aside = (int64_t)(a->verdict.aside[0] + a->verdict.aside[1]), .profiled = a->recorded_apart);
}

/* ---- runs in which nothing repeats: what a program of a few launches is about ---- */

const char *words_once(const struct analysis *a, struct arena *arena)
{
	enum { MOST = 3, FEW = 8 };
	const char *text = "";
	uint32_t n;
	const struct card_once *list = card_once(a, arena, &n);
	if (a->side[0].n_kernels > FEW || (a->n_sides > 1 && a->side[1].n_kernels > FEW))
		return ""; /* three of many say little of a run */
	for (uint32_t i = 0; i < n && i < MOST; i++) {
		const struct card_once *k = &list[i];
		text = arena_format(arena, "%s%s%s", text, i ? "; " : "",
		                    SAY(a->names, arena, kernel_once, .kernel = k->name,
		                        .times = words_pair(arena, k->time[0], k->time[1]),
		                        .speedup = k->time[0] / k->time[1], .equal = k->count[0] == k->count[1],
		                        .baseline = k->count[0], .fixed = k->count[1],
		                        .per = a->side[0].n_runs > 1 || a->side[1].n_runs > 1 ? "run" : "side"));
	}
	return n ? arena_format(arena, "%s.", text) : "";
}

/* ---- how sure ---- */

/* The verdict's first reason of a kind; NULL: it has none. */
static const struct fact *said(const struct analysis *a, enum fact_id id)
{
	const struct facts *reasons = &a->verdict.reasons;
	for (uint32_t i = 0; i < reasons->n; i++)
		if (reasons->list[i]->id == id)
			return reasons->list[i];
	return NULL;
}

/* What the verdict's reasons say is said in their words. NULL: it has a place of its own. */
static const struct fact *doubt_of(const struct analysis *a, enum doubt doubt, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	switch (doubt) {
	case DOUBT_DATA:
		return a->conditions.doubt;
	case DOUBT_WARMING:
		return said(a, FACT_still_warming) ?: FACT_NEW(arena, side_was_warming, FACT_NO_SIDE);
	case DOUBT_ONE_RUN:
		return said(a, FACT_one_run_each)       ?: said(a, FACT_one_run_of_side)
		       ?: said(a, FACT_one_timed_run)   ?: said(a, FACT_too_few_spans);
	case DOUBT_SESSION:
		return said(a, FACT_sessions_differ) ?: said(a, FACT_sessions_measured) ?: v->elsewhere;
	case DOUBT_ORDER:
		return said(a, FACT_not_in_turns) ?: v->elsewhere ? NULL : FACT_NEW(arena, runs_in_order, FACT_NO_SIDE);
	case DOUBT_NO_ORDER:
		return said(a, FACT_order_unknown);
	case DOUBT_ASIDE:
		return said(a, FACT_undecided_by_aside) ?: said(a, FACT_steps_set_aside)
		       ?: FACT_NEW(arena, set_aside, FACT_NO_SIDE, .steps = (int64_t)(v->aside[0] + v->aside[1]),
		                   .counted = v->counted);
	case DOUBT_RECORDING:
		return said(a, FACT_recorded_speedup);
	case DOUBT_OPPOSITE:
		return a->turning.opposite;
	case DOUBT_HELD_BACK:
		return a->turning.held_back;
	case DOUBT_BROKEN_OFF:
		return a->turning.broken_off;
	case DOUBT_SHARED:
		return a->turning.shared;
	case DOUBT_SHORT:
		return said(a, FACT_short_captures) ?: said(a, FACT_steps_vary)
		       ?: FACT_NEW(arena, only_large_changes, FACT_NO_SIDE, .few = v->short_capture,
		                   .floor = expm1(fmax(v->floor, v->surer)));
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
		const struct fact *doubt = doubt_of(a, card.doubt[i], arena);
		if (doubt)
			list[(*n)++] = say_fact(doubt, a->names, arena);
	}
	return list;
}

/* ---- what next ---- */

/* A title goes on with a sentence: "Input starvation" is "input starvation", "GPU …" and "CUDA …" stay. */
static const char *inside(struct arena *arena, const char *title)
{
	bool name = title[0] < 'A' || title[0] > 'Z' || title[1] < 'a' || title[1] > 'z';
	return name ? title : arena_format(arena, "%c%s", title[0] - 'A' + 'a', title + 1);
}

/* What an open result asks for, by its first reason; NULL: that is none of the work. */
static const char *asked_of_work(const struct verdict *v)
{
	const struct fact *first = v->has_interval && v->reasons.n ? v->reasons.list[0] : NULL;
	if (!first || fact_info[first->id].place != FACT_IN_WORK)
		return NULL;
	switch (first->id) {
	case FACT_tools_differ:
	case FACT_graphs_traced_apart:
		return "alike";
	case FACT_loops_differ:
	case FACT_loops_of_other_size:
	case FACT_loops_of_other_cut:
	case FACT_loops_of_other_copies:
	case FACT_loops_of_other_bytes:
	case FACT_loops_of_other_number:
	case FACT_loops_of_other_share:
	case FACT_step_ranges_differ:
	case FACT_steps_in_more_ranges:
		return "mark";
	case FACT_step_holds_several:
	case FACT_step_input_several:
	case FACT_answers_differ:
		return "items";
	default:
		return "same";
	}
}

/* The reason of a slower result that weighs most. */
static const struct fact *longer(const struct analysis *a, const struct card *card, struct arena *arena)
{
	const struct reason *r = &a->waterfall.reason[0];
	return FACT_NEW(arena, next_longer, FACT_NO_SIDE, .what = words_reason(a, r, arena),
	                .phase = card_work(a, arena).kernel ? 0 : card->longer_phase,
	                .times = words_per(a, words_pair(arena, r->part.baseline, r->part.fixed), arena));
}

/* Whether one side's batches may be larger: of steps that are no pair no number of items makes one. */
static bool larger_batch(const struct analysis *a)
{
	return a->comparison.other_batch && !a->comparison.mismatch;
}

/* What has to be measured before anything is advised; NULL: nothing has. */
static const char *what_to_measure(const struct analysis *a, const struct card *card)
{
	const bool open = a->verdict.result == VERDICT_INCONCLUSIVE;
	if (a->verdict.has_speedup && larger_batch(a))
		return "items";
	if (a->conditions.nothing && a->conditions.nothing->id == FACT_ranks_of_one_run)
		return "ranks";
	if (!a->verdict.has_speedup)
		return view_is_pair(a) && !a->comparison.strangers ? "capture" : "mark";
	if (open && !a->side[0].steps.found)
		return "runs";
	const char *asked = open ? asked_of_work(&a->verdict) : NULL;
	if (!asked && a->conditions.doubt)
		return "again";
	return asked ? asked : card->by_item ? "items" : NULL;
}

static const struct fact *next_of(const struct analysis *a, struct arena *arena)
{
	struct card card = card_make(a);
	const char *where = a->side[0].phases_by_work ? "before" : "in", *what = what_to_measure(a, &card);
	if (what)
		return FACT_NEW(arena, next_measure, FACT_NO_SIDE, .what = what);
	if (card.next)
		return FACT_NEW(arena, next_finding, FACT_NO_SIDE, .speedup = card.next_speedup,
		                .profiled = a->recorded_apart, .title = inside(arena, card.next->title),
		                .phase = card.next_phase, .where = where);
	if (a->verdict.result == VERDICT_SLOWER && a->waterfall.n_reasons)
		return longer(a, &card, arena);
	if (card.left)
		return FACT_NEW(arena, next_waits, FACT_NO_SIDE, .speedup = card.next_speedup,
		                .profiled = a->recorded_apart, .cause = cause_name(card.left->cause),
		                .phase = card.left->phase, .where = where, .time = card.left->per_step,
		                .of = view_unit(&a->side[1]));
	return FACT_NEW(arena, next_measure, FACT_NO_SIDE, .what = "kernels");
}

const char *words_next(const struct analysis *a, struct arena *arena)
{
	const char *more = words_more(a, arena);
	bool open = a->verdict.has_speedup && a->verdict.result == VERDICT_INCONCLUSIVE;
	return open && *more && !larger_batch(a) && !card_make(a).by_item
	               ? more
	               : say_fact(next_of(a, arena), a->names, arena);
}
