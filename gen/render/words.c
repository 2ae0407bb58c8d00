#include "render/words.h"

#include "analyse/card.h"
#include "base/format.h"
#include "render/pictures.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

#define ARROW "\xE2\x86\x92"
#define TIMES "\xC3\x97"

const char *words_result(const struct analysis *a)
{
	static const char *const word[] = {[VERDICT_INCONCLUSIVE] = "Inconclusive",
	                                   [VERDICT_FASTER] = "Faster",
	                                   [VERDICT_SLOWER] = "Slower",
	                                   [VERDICT_UNCHANGED] = "Unchanged"};
	return word[a->verdict.result];
}

const char *words_pair(struct arena *arena, double before, double after)
{
	struct unit unit = format_unit(fmax(fabs(before), fabs(after)));
	return arena_format(arena, "%s " ARROW " %s %s", format_number(arena, unit, before),
	                    format_number(arena, unit, after), unit.name);
}

/* "2.30" */
static const char *ratio(struct arena *arena, double value, double like)
{
	const char *text = format_times(arena, value, like);
	return arena_copy(arena, text, strlen(text) - strlen(TIMES));
}

const char *words_range(const struct analysis *a, struct arena *arena)
{
	enum { MOST_DECIMALS = 6 };
	const struct verdict *v = &a->verdict;
	const char *lo = ratio(arena, v->lo, v->speedup);
	const char *hi = format_times(arena, v->hi, v->speedup);
	for (int decimals = 3; v->hi > v->lo && strncmp(lo, hi, strlen(lo)) == 0 && decimals <= MOST_DECIMALS;
	     decimals++) {
		lo = arena_format(arena, "%.*f", decimals, v->lo);
		hi = arena_format(arena, "%.*f" TIMES, decimals, v->hi);
	}
	return arena_format(arena, "%s to %s", lo, hi);
}

const char *words_while(const struct analysis *a)
{
	return a->while_recorded ? " while recorded" : "";
}

const char *words_explained(const struct analysis *a)
{
	return a->recorded_apart ? " while recorded" : "";
}

const char *words_side(const struct finding *f)
{
	return f->both ? "on both sides" : f->side ? "in the fixed side" : "in the baseline";
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

const char *words_speedup(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	if (words_wide(v))
		return arena_format(arena, "%s to %s", format_times(arena, v->lo, v->lo),
		                    format_times(arena, v->hi, v->hi));
	return v->has_speedup ? format_times(arena, v->speedup, v->speedup) : "";
}

/* Where the interval is wide its ends stand there anyway. */
bool words_promises(const struct verdict *v)
{
	return v->early && !words_wide(v);
}

/* The near end of the interval is promised where runs ended as soon as it had a direction: the middle favours runs that
 * were lucky. */
const char *words_promised(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	bool faster = v->result == VERDICT_FASTER;
	return words_promises(v) ? arena_format(arena, "%s %s", faster ? "at least" : "at most",
	                                        format_times(arena, faster ? v->lo : v->hi, v->speedup))
	                         : words_speedup(a, arena);
}

const char *words_heading(const struct analysis *a, struct arena *arena)
{
	const char *speedup = words_promised(a, arena);
	return *speedup ? arena_format(arena, "%s%s %s%s", words_result(a), words_promises(&a->verdict) ? "," : "",
	                               speedup, words_while(a))
	                : words_result(a);
}

/* Behind words_speedup, which says the ends of a wide one. One run cannot see what differs from run to run, so its
 * interval must not sound as if it did. */
static const char *interval(const struct analysis *a, struct arena *arena)
{
	bool two = a->side[0].n_runs == 1 && a->side[1].n_runs == 1;
	return arena_format(arena, "95 %% interval%s%s%s", words_wide(&a->verdict) ? "" : " ",
	                    words_wide(&a->verdict) ? "" : words_range(a, arena),
	                    !a->verdict.one_run ? ""
	                    : two               ? ", one run a side"
	                                        : ", only one run of one side");
}

/* "3 times a side" */
static const char *measured(const struct analysis *a, struct arena *arena)
{
	size_t n[2] = {a->side[0].steps.measured, a->side[1].steps.measured};
	if (n[0] != n[1])
		return arena_format(arena, "%zu and %zu times", n[0], n[1]);
	return n[0] == 1 ? "once a side" : arena_format(arena, "%zu times a side", n[0]);
}

const char *words_interval(const struct analysis *a, struct arena *arena)
{
	if (!a->verdict.has_speedup)
		return "nothing to compare";
	if (!a->verdict.has_interval)
		return a->side[0].steps.found
		               ? arena_format(arena, "measured %s: too seldom for an interval", measured(a, arena))
		               : "no steps found, so a run is its span; fewer than three runs have no interval";
	return interval(a, arena);
}

const char *words_periods(const struct analysis *a, struct arena *arena)
{
	double before = view_time(&a->side[0], a->side[0].headline.step);
	double after = view_time(&a->side[1], a->side[1].headline.step);
	bool one = !a->verdict.has_speedup && before == after; /* a capture beside itself */
	return arena_format(arena, "%s %s", one ? format_time(arena, before) : words_pair(arena, before, after),
	                    view_each(a, arena));
}

const char *words_no_change(const struct analysis *a, struct arena *arena)
{
	const struct fact *why = FACT_NEW(arena, no_change, FACT_NO_SIDE,
	                                  .why = !a->verdict.has_speedup                  ? "nothing"
	                                         : a->verdict.result == VERDICT_UNCHANGED ? "unchanged"
	                                                                                  : "open");
	return say_fact(why, a->names, arena);
}

/* "64 % more (1.58 -> 2.57 ms)" */
static const char *longer(const struct side *s, struct arena *arena)
{
	double change = s->headline.recorded_timed / s->headline.stopwatch - 1;
	return arena_format(arena, "%s %s (%s)", format_share(arena, fabs(change)), change < 0 ? "less" : "more",
	                    words_pair(arena, s->headline.stopwatch, s->headline.recorded_timed));
}

const char *words_recorded(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const struct side *b = &a->side[0], *f = &a->side[1];
	if (v->measured != VERDICT_STOPWATCH || !v->recorded.known)
		return "";
	double times = view_time(b, b->headline.recorded_timed) / view_time(f, f->headline.recorded_timed);
	const char *speedup = format_times(arena, times, times);
	if (!b->steps.found)
		return arena_format(arena,
		                    "%s, of what was recorded: without steps that is another stretch of the run "
		                    "(%s) than the whole program, which its stopwatch times.",
		                    speedup, words_pair(arena, b->headline.recorded_timed, f->headline.recorded_timed));
	return arena_format(arena, "%s: a step of the baseline took %s, one of the fixed side %s.", speedup,
	                    longer(b, arena), longer(f, arena));
}

/* "At least 1.05x" at the beginning of a sentence. */
static const char *upper(struct arena *arena, const char *text)
{
	return *text == 'a' ? arena_format(arena, "A%s", text + 1) : text;
}

const char *words_verdict(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const char *speedup = words_speedup(a, arena);
	if (!v->has_speedup)
		return "Inconclusive: there is nothing to compare.";
	const char *periods = arena_format(arena, "%s%s", words_periods(a, arena), words_while(a));
	const char *sure = v->has_interval ? arena_format(arena, ", %s", interval(a, arena)) : "";
	if (words_promises(v))
		sure = arena_format(arena, ", measured %s%s", speedup, sure);
	switch (v->result) {
	case VERDICT_FASTER:
		return arena_format(arena, "%s faster: %s%s.", upper(arena, words_promised(a, arena)), periods, sure);
	case VERDICT_SLOWER:
		return arena_format(arena, "Slower: %s, a speedup of %s%s.", periods, words_promised(a, arena), sure);
	case VERDICT_UNCHANGED:
		return arena_format(arena,
		                    "Unchanged: %s; a speedup of %s%s, is within the %g %% that count as the same.",
		                    periods, speedup, sure, 100 * VERDICT_MARGIN);
	case VERDICT_INCONCLUSIVE:
		break;
	}
	return arena_format(arena,
	                    "Inconclusive: %s, a speedup of %s%s, proves neither a difference nor that there is none.",
	                    periods, speedup, sure);
}

const char *words_part(const struct analysis *a, struct arena *arena, const struct waterfall_part *part)
{
	static const char *const words[PART_COUNT] = {
		[PART_COMPUTE] = "GPU compute",
		[PART_COMM] = "communication not overlapped",
		[PART_COPY] = "copies not overlapped",
		[PART_UNUSUAL] = "steps set aside",
		[PART_RECORDING] = "recording and untimed steps, taken off",
		[PART_OTHER] = "other parts",
		[PART_OUTSIDE] = "start and end of the program",
	};
	if (part->kind != PART_IDLE)
		return words[part->kind];
	const char *phase = names_text(a->names, part->phase);
	const char *where = part->phase          ? arena_format(arena, " in %s", phase)
	                    : view_has_phases(a) ? " between phases"
	                                         : "";
	const char *renamed =
		part->renamed ? arena_format(arena, " (now %s)", names_text(a->names, part->renamed)) : "";
	return arena_format(arena, "idle, %s%s%s", cause_label(part->cause), where, renamed);
}

/* ---- what changed most ---- */

/* What a GPU waits for, as an object: "host code". */
static const char *waited(enum cause cause)
{
	return say_word(WORDS_waits_for, cause_name(cause));
}

/* "The GPU", or several GPUs: "no longer waits" where so little is left that a reader calls it gone. */
static const char *way_of(double before, double after, bool many)
{
	static const char *const one[] = {"no longer waits", "now waits", "waits less", "waits longer"};
	static const char *const all[] = {"no longer wait", "now wait", "wait less", "wait longer"};
	const double nearly = 0.03;
	int way = after <= nearly * before ? 0 : before <= nearly * after ? 1 : after < before ? 2 : 3;
	return many ? all[way] : one[way];
}

static const char *less(const struct waterfall_part *part)
{
	return part->delta < 0 ? "Less" : "More";
}

/* "Less GPU compute: 11.35 -> 3.73 ms a step, mostly scale_by_rows (8.34 -> 0 ms)." */
static const char *computed(const struct analysis *a, const struct waterfall_part *part, const char *times,
                            struct arena *arena)
{
	struct card_kernel kernel = card_kernel(a, arena);
	const char *which = "";
	if (kernel.name) {
		const char *name = format_kernel(arena, names_text(a->names, kernel.name), 60);
		which = kernel.alone ? arena_format(arena, ", mostly %s (%s)", name,
		                                    words_pair(arena, kernel.time[0], kernel.time[1]))
		                     : arena_format(arena, ", mostly %s", name);
	}
	return arena_format(arena, "%s GPU compute: %s%s.", less(part), times, which);
}

/* Exposed communication, and whether it was waiting for the slowest device. */
static const char *communicated(const struct analysis *a, const struct waterfall_part *part, const char *times,
                                struct arena *arena)
{
	const struct finding *f = card_make(a).straggler;
	if (!f)
		return arena_format(arena, "%s communication with nothing beside it: %s.", less(part), times);
	const char *way = way_of(f->per_step[0], f->per_step[1], true);
	return arena_format(arena, "The other GPUs %s for the slowest one: %s a %s%s.", way,
	                    words_pair(arena, f->per_step[0], f->per_step[1]), view_unit(&a->side[0]),
	                    words_explained(a));
}

static const char *reason_words(const struct analysis *a, const struct reason *reason, struct arena *arena)
{
	const struct waterfall_part *part = &reason->part;
	const char *times = arena_format(arena, "%s %s%s", words_pair(arena, part->baseline, part->fixed),
	                                 view_each(a, arena), words_explained(a));
	if (part->kind == PART_COMPUTE)
		return computed(a, part, times, arena);
	if (part->kind == PART_COMM)
		return communicated(a, part, times, arena);
	if (part->kind == PART_COPY)
		return arena_format(arena, "%s copying with nothing beside it: %s.", less(part), times);
	const char *way = way_of(part->baseline, part->fixed, false);
	const char *renamed = part->renamed ? arena_format(arena, " (%s in the fixed side)",
	                                                   format_name(arena, names_text(a->names, part->renamed), 100))
	                                    : "";
	const char *where = reason->every_phase ? "" : view_in_phase(a, part->phase, arena);
	if (reason->every_cause)
		return arena_format(arena, "The GPU %s%s%s: %s.", way, where, renamed, times);
	return arena_format(arena, "The GPU %s for %s%s%s: %s.", way, waited(part->cause), where, renamed, times);
}

const char *words_change(const struct analysis *a, struct arena *arena)
{
	const struct waterfall *w = &a->waterfall;
	const char *text = "";
	for (uint32_t i = 0; i < w->n_reasons; i++)
		text = arena_format(arena, "%s%s%s", text, i ? " " : "", reason_words(a, &w->reason[i], arena));
	return text;
}

/* What was seen of the machine that makes runs differ. */
static const char *unsteady(const struct analysis *a)
{
	return !a->verdict.unsteady   ? ""
	       : a->turning.shared    ? " Another process used the GPU."
	       : a->turning.held_back ? " The clocks were held back."
	                              : "";
}

const char *words_more(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const char *could =
		v->could ? arena_format(arena, "%s%s", say_fact(v->could, a->names, arena), unsteady(a)) : "";
	bool runs = v->more_runs > 0 && v->one_run;
	if (!(v->more_steps > 0) && !runs)
		return could;
	return arena_format(arena, "%s%sSettling it takes at least %lld %s a side.", could, *could ? " " : "",
	                    (long long)(runs ? v->more_runs : v->more_steps), runs ? "runs" : "measured steps");
}

/* "5 timed runs (no profiler) and 1 profiled run" */
static const char *runs_of(const struct side *s, struct arena *arena)
{
	const char *profiled = format_plural(arena, s->n_runs, "profiled run", "profiled runs");
	return s->headline.n_stopwatch
	               ? arena_format(arena, "%s (no profiler) and %s",
	                              format_plural(arena, s->headline.n_stopwatch, "timed run", "timed runs"),
	                              profiled)
	               : profiled;
}

const char *words_made(const struct analysis *a, struct arena *arena)
{
	const char *gpu[2], *runs[2];
	for (int s = 0; s < 2; s++) {
		gpu[s] = view_gpus(a, &a->side[s], arena);
		runs[s] = runs_of(&a->side[s], arena);
	}
	const char *on = strcmp(gpu[0], gpu[1]) == 0
	                         ? gpu[0]
	                         : arena_format(arena, "%s (baseline) and %s (fixed side)", gpu[0], gpu[1]);
	const char *from = strcmp(runs[0], runs[1]) == 0
	                           ? arena_format(arena, "%s per side", runs[0])
	                           : arena_format(arena, "%s of the baseline, %s of the fixed side", runs[0], runs[1]);
	return arena_format(arena, "gapline " GAPLINE_VERSION " on %s, from %s.", on, from);
}

const char *words_gate(const struct analysis *a, struct arena *arena)
{
	const char *all = "";
	for (size_t i = 0; i < a->gates.n; i++)
		all = arena_format(arena, "%s%s%s", all, i ? " " : "",
		                   say_fact(a->gates.gate[i].fact, a->names, arena));
	return a->gates.n > 1 ? arena_format(arena, "%s. %s", gate_result_name(a->gates.result), all) : all;
}

const char *words_comparable(const struct analysis *a)
{
	static const char *const words[] = {
		[SAME_WORK_SAME] = "yes",
		[SAME_WORK_JOB] = "the same job, done in another way",
		[SAME_WORK_DIFFERENT] = "no, the two sides did different work",
		[SAME_WORK_UNKNOWN] = "cannot be told from what was recorded",
	};
	static const char *const elsewhere[] = {
		[SAME_WORK_SAME] = "yes, but under other conditions",
		[SAME_WORK_JOB] = "the same job, done in another way, and under other conditions",
		[SAME_WORK_DIFFERENT] = "no, the two sides did different work, and under other conditions",
		[SAME_WORK_UNKNOWN] = "cannot be told from what was recorded, and the conditions are others",
	};
	return a->comparison.other_conditions ? elsewhere[a->comparison.same_work] : words[a->comparison.same_work];
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
	const struct fact *said =
		FACT_NEW(arena, prediction, FACT_NO_SIDE,
	                 .result = d->combined_ceiling > 0 ? diagnosis_result_name(d->result) : "untested",
	                 .least = d->combined_least > 0 ? d->combined_least : NAN, .predicted = d->combined_ceiling,
	                 .measured = d->measured, .profiled = a->recorded_apart, .share = d->share, .gain = d->gain,
	                 .rest = rest ? words_part(a, arena, &d->rest) : NULL,
	                 .times = rest ? words_pair(arena, d->rest.baseline, d->rest.fixed) : NULL, .missed = missed);
	return say_fact(said, a->names, arena);
}
