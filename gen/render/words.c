#include "render/words.h"

#include "analyse/card.h"
#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

#define ARROW "\xE2\x86\x92"

const char *words_result(const struct analysis *a)
{
	return say_word(WORDS_result_first, verdict_result_name(a->verdict.result));
}

/* The smaller of two has three digits that count, and two decimals more at most than the larger one. */
static const char *own_digits(struct arena *arena, struct unit unit, double ns)
{
	const int own = ns ? 2 - (int)floor(log10(fabs(ns) / unit.ns)) : 0, most = unit.decimals + 2;
	unit.decimals = own > most ? most : own > unit.decimals ? own : unit.decimals;
	return format_number(arena, unit, ns);
}

const char *words_pair(struct arena *arena, double before, double after)
{
	struct unit unit = format_unit(fmax(fabs(before), fabs(after)));
	return arena_format(arena, "%s " ARROW " %s %s", own_digits(arena, unit, before),
	                    own_digits(arena, unit, after), unit.name);
}

const char *words_side(const struct finding *f)
{
	return say_word(WORDS_finding_side, !f->both                        ? (f->side ? "fixed" : "baseline")
	                                    : f->status == FINDING_RESOLVED ? "less"
	                                    : f->status == FINDING_NEW      ? "more"
	                                                                    : "both");
}

const char *words_status(const struct finding *f)
{
	return f->status == FINDING_SEEN ? words_side(f) : finding_status_name(f->status);
}

bool words_wide(const struct verdict *v)
{
	const double wide = 1.3;
	return v->has_interval && v->hi > wide * v->lo;
}

/* Where the interval is wide its ends stand there anyway. */
bool words_promises(const struct verdict *v)
{
	return v->early && !words_wide(v);
}

/* The near end of the interval is promised where runs ended as soon as it had a direction: the middle favours runs that
 * were lucky. NULL: there is nothing to compare. */
static const struct fact *speedup_of(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	if (!v->has_speedup || a->comparison.other_unit)
		return NULL;
	return FACT_NEW(arena, speedup_said, FACT_NO_SIDE,
	                .how = words_promises(v) ? v->result == VERDICT_FASTER ? "least" : "most"
	                       : words_wide(v)   ? "range"
	                                         : "one",
	                .speedup = v->speedup, .low = v->lo, .high = v->hi);
}

const char *words_differs(const struct analysis *a)
{
	const struct facts *list = &a->comparison.differences;
	if (a->comparison.same_work != SAME_WORK_DIFFERENT || !list->n)
		return "no";
	return list->list[0]->id == FACT_result_differs ? "result" : "work";
}

const struct fact *words_in_all(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	if (!a->side[0].steps.found || v->result == VERDICT_INCONCLUSIVE || a->items_name)
		return NULL;
	/* Captures of one duration, too, hold more of faster steps: all together they are as long, but for their ends.
	 */
	const double clear = 1.05;
	double n[2] = {0}; /* a run's */
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < a->side[s].n_runs; r++)
			n[s] += (double)a->side[s].runs[r].n_steps / (double)a->side[s].n_runs;
	const double all = v->speedup * n[0] / n[1];
	const bool other_way =
		v->result == VERDICT_FASTER ? all < 1 / clear : v->result == VERDICT_SLOWER && all > clear;
	return other_way ? FACT_NEW(arena, in_all, FACT_NO_SIDE, .baseline = (int64_t)n[0], .fixed = (int64_t)n[1],
	                            .speedup = all, .faster = all > 1)
	                 : NULL;
}

const char *words_heading(const struct analysis *a, struct arena *arena)
{
	return SAY(a->names, arena, verdict_heading, .result = verdict_result_name(a->verdict.result),
	           .promised = words_promises(&a->verdict), .speedup = speedup_of(a, arena),
	           .profiled = a->while_recorded, .differs = words_differs(a),
	           .per_step = words_in_all(a, arena) != NULL);
}

/* The ends of a wide interval stand in the speedup's place. One run cannot see what differs from run to run, so its
 * interval must not sound as if it did. */
static const struct fact *interval_of(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const bool two = a->side[0].n_runs == 1 && a->side[1].n_runs == 1, wide = words_wide(v);
	if (!v->has_interval)
		return NULL;
	return FACT_NEW(arena, interval_said, FACT_NO_SIDE, .low = wide ? NAN : v->lo, .high = v->hi,
	                .runs = !v->one_run ? "several"
	                        : two       ? "one_each"
	                                    : "one_side");
}

const char *words_interval(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const size_t n[2] = {a->side[0].steps.measured, a->side[1].steps.measured};
	return SAY(a->names, arena, interval_or_why,
	           .found = !v->has_speedup            ? "nothing"
	                    : a->comparison.other_unit ? "unit"
	                    : v->has_interval          ? "interval"
	                    : a->side[0].steps.found   ? "seldom"
	                                               : "runs",
	           .measured = words_promises(v) ? v->speedup : NAN, .interval = interval_of(a, arena),
	           .equal = n[0] == n[1], .baseline = (int64_t)n[0], .fixed = (int64_t)n[1],
	           .in_all = words_in_all(a, arena));
}

const struct fact *words_per(const struct analysis *a, const char *times, struct arena *arena)
{
	return FACT_NEW(arena, headline_times, FACT_NO_SIDE, .times = times,
	                .of = a->items_name     ? "item"
	                      : view_is_pair(a) ? view_unit(&a->side[0])
	                                        : "both",
	                .item = view_item(a, arena), .way = "same");
}

const char *words_no_change(const struct analysis *a, struct arena *arena)
{
	return SAY(a->names, arena, no_change,
	           .why = !a->verdict.has_speedup                  ? "nothing"
	                  : a->verdict.result == VERDICT_UNCHANGED ? "unchanged"
	                                                           : "open");
}

static const double UNSEEN = 0.0005; /* shown as 0.0 % */

/* "64 % more (1.58 -> 2.57 ms)" */
static const struct fact *longer(const struct side *s, struct arena *arena)
{
	double change = s->headline.recorded_timed / s->headline.stopwatch - 1;
	return FACT_NEW(arena, profiled_longer, FACT_NO_SIDE, .change = fabs(change),
	                .way = fabs(change) < UNSEEN ? "same"
	                       : change < 0          ? "less"
	                                             : "more",
	                .times = words_pair(arena, s->headline.stopwatch, s->headline.recorded_timed));
}

const char *words_recorded(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const struct side *b = &a->side[0], *f = &a->side[1];
	if (v->measured != VERDICT_STOPWATCH || !v->recorded.known)
		return "";
	return SAY(a->names, arena, profiled_speedup,
	           .speedup = view_time(b, b->headline.recorded_timed) / view_time(f, f->headline.recorded_timed),
	           .steps = b->steps.found,
	           .stretch = words_pair(arena, b->headline.recorded_timed, f->headline.recorded_timed),
	           .baseline = longer(b, arena), .fixed = longer(f, arena));
}

const char *words_verdict(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	double before = view_time(&a->side[0], a->side[0].headline.step);
	double after = view_time(&a->side[1], a->side[1].headline.step);
	/* an interval that is clear of 1, and proves nothing all the same */
	const bool clear = a->comparison.other_unit || (v->has_interval && (v->lo > 1 || v->hi < 1));
	const struct fact *why = clear && v->reasons.n ? v->reasons.list[0] : NULL;
	return SAY(a->names, arena, verdict_said, .result = verdict_result_name(v->result),
	           .how = !v->has_speedup            ? "none"
	                  : a->comparison.other_unit ? "unit"
	                  : words_promises(v)        ? "least"
	                  : words_wide(v)            ? "range"
	                                             : "one",
	           .speedup = v->speedup, .low = v->lo, .high = v->hi, .said = speedup_of(a, arena),
	           .times = words_per(a, words_pair(arena, before, after), arena), .profiled = a->while_recorded,
	           .interval = interval_of(a, arena), .margin = VERDICT_MARGIN, .doubted = why != NULL, .why = why,
	           .in_all = words_in_all(a, arena));
}

const char *words_part(const struct analysis *a, struct arena *arena, const struct waterfall_part *part)
{
	if (part->kind != PART_IDLE)
		return say_word(WORDS_part, part_kind_name(part->kind));
	return SAY(a->names, arena, idle_part, .cause = cause_name(part->cause), .phase = part->phase,
	           .between = !part->phase && view_has_phases(a), .renamed = part->renamed);
}

static const struct fact *overlap_of(const struct reason *r, struct arena *arena)
{
	if (!(r->at_once[0] > 0))
		return NULL;
	return FACT_NEW(arena, kernels_overlap, FACT_NO_SIDE, .more = r->at_once[1] > r->at_once[0],
	                .baseline = r->at_once[0], .fixed = r->at_once[1]);
}

const struct fact *words_reason(const struct analysis *a, const struct reason *r, struct arena *arena)
{
	const struct waterfall_part *part = &r->part;
	const char *where = a->side[0].phases_by_work ? "before" : "in";
	uint32_t phase = r->every_phase ? 0 : part->phase;
	if (part->kind == PART_IDLE && r->every_cause)
		return FACT_NEW(arena, why_idle, FACT_NO_SIDE, .phase = phase, .where = where,
		                .renamed = part->renamed);
	if (part->kind == PART_IDLE)
		return FACT_NEW(arena, why_waits, FACT_NO_SIDE, .cause = cause_name(part->cause), .phase = phase,
		                .where = where, .renamed = phase ? part->renamed : 0, .held = r->held);
	bool straggler = part->kind == PART_COMM && card_make(a).straggler;
	bool memset = r->one_way && r->way == WAY_MEMSET;
	const struct card_work w = part->kind == PART_COMPUTE ? card_work(a, arena) : (struct card_work){0};
	return FACT_NEW(arena, why_work, FACT_NO_SIDE,
	                .what = straggler ? "straggler"
	                        : memset  ? "memset"
	                                  : say_listed(WORDS_trend_part, part->kind)->key,
	                .way = r->one_way ? view_copy_way(r->way) : NULL, .held = r->held, .kernel = w.kernel,
	                .owner = w.owner, .module = w.module, .baseline = w.time[0], .fixed = w.time[1],
	                .before = w.count[0], .after = w.count[1], .overlap = overlap_of(r, arena),
	                .of = a->items_name            ? "item"
	                      : a->side[0].steps.found ? "step"
	                                               : "run");
}

const struct fact *words_slowest(const struct analysis *a, uint32_t s, struct arena *arena)
{
	const struct slowest *slow = &a->side[s].slowest;
	const char *whose = a->n_sides > 1 ? s ? "fixed" : "baseline" : "profile";
	struct facts *parts = ARENA_NEW(arena, 1, struct facts);
	for (uint32_t i = 0; i < slow->n_parts; i++) {
		const struct slowest_part *part = &slow->part[i];
		FACT_ADD(parts, arena, slowest_part, FACT_NO_SIDE,
		         .kind = say_listed(WORDS_trend_part, part->kind)->key, .cause = cause_name(part->cause),
		         .phase = part->phase, .way = part->kind == PART_COPY ? view_copy_way(part->way) : NULL,
		         .more = part->time.more, .half = part->time.half);
	}
	const struct slowest_time *w = slow->work;
	const struct fact *apart = !slow->requests ? NULL
	                           : !slow->apart
	                                   ? FACT_NEW(arena, slowest_whose, FACT_NO_SIDE)
	                                   : FACT_NEW(arena, slowest_apart, FACT_NO_SIDE, .own = w[WORK_OWN].more,
	                                              .own_half = w[WORK_OWN].half, .others = w[WORK_OTHERS].more,
	                                              .others_half = w[WORK_OTHERS].half, .idle = w[WORK_IDLE].more,
	                                              .idle_half = w[WORK_IDLE].half);
	if (slow->few)
		return FACT_NEW(arena, slowest_few, FACT_NO_SIDE, .whose = whose, .n = slow->few, .of = slow->of,
		                .requests = slow->requests, .least = SLOWEST_LEAST);
	return !slow->n ? NULL
	                : FACT_NEW(arena, slowest_steps, FACT_NO_SIDE, .whose = whose, .n = slow->n, .of = slow->of,
	                           .requests = slow->requests, .longer = slow->all.more, .half = slow->all.half,
	                           .usual = slow->all.usual, .slow = slow->all.slow, .parts = parts->n ? parts : NULL,
	                           .apart = apart);
}

const struct fact *words_rest(const struct analysis *a, struct arena *arena)
{
	const struct waterfall_part *largest = a->waterfall.largest;
	struct unit unit = view_time_unit(a);
	return FACT_NEW(
		arena, why_rest, FACT_NO_SIDE, .recording = a->recorded_apart,
		.largest = largest ? words_reason(a, &(struct reason){.part = *largest}, arena) : NULL,
		.change = largest ? arena_format(arena, "%s %s", format_change(arena, unit, largest->delta), unit.name)
	                          : NULL);
}

const char *words_change(const struct analysis *a, struct arena *arena)
{
	const struct waterfall *w = &a->waterfall;
	struct unit unit = view_time_unit(a);
	const char *text = "";
	for (uint32_t i = 0; i < w->n_reasons; i++) {
		const struct reason *r = &w->reason[i];
		const char *times = words_pair(arena, r->part.baseline, r->part.fixed);
		text = arena_format(arena, "%s%s%s", text, i ? " " : "",
		                    SAY(a->names, arena, why_line, .why = words_reason(a, r, arena),
		                        .times = words_per(a, times, arena), .profiled = a->recorded_apart));
	}
	if (w->largest) {
		const char *rest = arena_format(arena, "%s %s", format_change(arena, unit, w->rest), unit.name);
		text = arena_format(arena, "%s %s", text,
		                    SAY(a->names, arena, why_line, .why = words_rest(a, arena),
		                        .times = words_per(a, rest, arena), .profiled = a->recorded_apart));
	}
	return text;
}

const char *words_more(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const bool other = a->comparison.same_work == SAME_WORK_DIFFERENT; /* no number of steps settles that */
	const bool runs = v->more_runs > 0 && v->one_run && !other, steps = verdict_steps_worthwhile(v) && !other;
	return SAY(a->names, arena, would_settle, .could = v->could,
	           .unsteady = !v->unsteady           ? "no"
	                       : a->turning.shared    ? "shared"
	                       : a->turning.held_back ? "clocks"
	                                              : "no",
	           .of = runs    ? "runs"
	                 : steps ? "steps"
	                         : "nothing",
	           .n = (int64_t)(runs ? v->more_runs : v->more_steps), .spaced = v->could && (runs || steps));
}

const char *words_made(const struct analysis *a, struct arena *arena)
{
	const char *gpu[2], *runs[2];
	for (uint32_t s = 0; s < 2; s++) {
		const struct side *side = &a->side[s < a->n_sides ? s : 0];
		gpu[s] = view_gpus(a, side, arena);
		runs[s] = SAY(NULL, arena, runs_made, .timed = side->headline.n_stopwatch, .profiled = side->n_runs);
	}
	return SAY(a->names, arena, made_from, .version = GAPLINE_VERSION, .gpu = gpu[0],
	           .other_gpu = strcmp(gpu[0], gpu[1]) == 0 ? NULL : gpu[1],
	           .sides = a->n_sides < 2                  ? "one"
	                    : strcmp(runs[0], runs[1]) == 0 ? "alike"
	                                                    : "apart",
	           .baseline = runs[0], .fixed = runs[1]);
}

const char *words_gate(const struct analysis *a, struct arena *arena)
{
	const char *all = "";
	for (size_t i = 0; i < a->gates.n; i++)
		all = arena_format(arena, "%s%s%s", all, i ? " " : "",
		                   say_fact(a->gates.gate[i].fact, a->names, arena));
	return a->gates.n > 1 ? arena_format(arena, "%s. %s", gate_result_name(a->gates.result), all) : all;
}

const char *words_comparable(const struct analysis *a, struct arena *arena)
{
	return SAY(a->names, arena, chip_work, .work = same_work_name(a->comparison.same_work),
	           .kernels = same_kernels_name(a->comparison.kernels), .conditions = a->comparison.other_conditions);
}

const char *words_same_result(const struct analysis *a, struct arena *arena)
{
	return a->comparison.result.state == RESULT_AGREES ? say_fact(a->comparison.result.fact, a->names, arena) : "";
}

const char *words_diagnosis(const struct analysis *a, struct arena *arena)
{
	const struct diagnosis *d = &a->findings.diagnosis;
	const bool rest = d->has_rest && d->result != DIAGNOSIS_NONE;
	const char *missed = d->has_unmet ? arena_format(arena, "%s, %s", words_part(a, arena, &d->unmet),
	                                                 words_pair(arena, d->unmet.baseline, d->unmet.fixed))
	                                  : NULL;
	return SAY(a->names, arena, prediction, .result = d->combined_ceiling > 0 ? diagnosis_said(d) : "untested",
	           .least = d->combined_least > 0 ? d->combined_least : NAN, .predicted = d->combined_ceiling,
	           .measured = d->measured, .profiled = a->verdict.measured == VERDICT_STOPWATCH, .share = d->share,
	           .gain = d->gain, .rest = rest ? words_part(a, arena, &d->rest) : NULL,
	           .times = rest ? words_pair(arena, d->rest.baseline, d->rest.fixed) : NULL, .missed = missed);
}
