#include "render/words.h"

#include "base/format.h"
#include "render/view.h"

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

/* The outer one, which is what is known of the program and not only of its recording, with as many digits as it takes
 * to tell its ends apart. */
static const char *range(const struct analysis *a, struct arena *arena)
{
	enum { MOST_DECIMALS = 6 };
	const struct verdict *v = &a->verdict;
	const char *lo = format_times(arena, v->outer_lo, v->speedup);
	const char *hi = format_times(arena, v->outer_hi, v->speedup);
	for (int decimals = 3; v->outer_hi > v->outer_lo && strcmp(lo, hi) == 0 && decimals <= MOST_DECIMALS;
	     decimals++) {
		lo = arena_format(arena, "%.*f" TIMES, decimals, v->outer_lo);
		hi = arena_format(arena, "%.*f" TIMES, decimals, v->outer_hi);
	}
	return arena_format(arena, "%s to %s", lo, hi);
}

/* The speedup without a profiler, where it is another one. */
static const char *unrecorded(const struct analysis *a, struct arena *arena)
{
	if (a->unrecorded <= 0 || fabs(a->unrecorded / a->verdict.speedup - 1) < 0.01)
		return "";
	const char *speedup = format_times(arena, a->unrecorded, a->unrecorded);
	return arena_format(arena, a->options.unprofiled ? "; %s unprofiled" : "; not recorded about %s", speedup);
}

const char *words_interval(const struct analysis *a, struct arena *arena)
{
	if (!a->verdict.has_interval)
		return "too little data for an interval";
	bool two = a->side[0].n_runs == 1 && a->side[1].n_runs == 1;
	return arena_format(arena, "95 %% interval %s%s%s", range(a, arena),
	                    !a->verdict.one_run ? ""
	                    : two               ? ", one run a side"
	                                        : ", only one run of one side",
	                    unrecorded(a, arena));
}

const char *words_verdict(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const char *speedup = format_times(arena, v->speedup, v->speedup);
	const char *periods =
		arena_format(arena, "%s a %s", words_pair(arena, a->side[0].period_trimmed, a->side[1].period_trimmed),
	                     view_unit(&a->side[0]));
	/* one run cannot see what differs from run to run, so its interval must not sound as if it did */
	bool two = a->side[0].n_runs == 1 && a->side[1].n_runs == 1;
	const char *within = !v->one_run ? "" : two ? " within these two captures" : " within these captures";
	const char *sure = v->has_interval ? arena_format(arena, ", 95 %% sure of %s%s", range(a, arena), within) : "";
	switch (v->result) {
	case VERDICT_FASTER:
		return arena_format(arena, "%s faster: %s%s.", speedup, periods, sure);
	case VERDICT_SLOWER:
		return arena_format(arena, "Slower: %s, a speedup of %s%s.", periods, speedup, sure);
	case VERDICT_UNCHANGED:
		return arena_format(arena,
		                    "Unchanged: %s; a speedup of %s%s, is within the %g %% that count as the same.",
		                    periods, speedup, sure, 100 * VERDICT_MARGIN);
	case VERDICT_INCONCLUSIVE:
		break;
	}
	return arena_format(arena,
	                    "Inconclusive: %s, a speedup of %s%s, does not prove a difference or that there is none.",
	                    periods, speedup, sure);
}

/* ---- what changed most ---- */

struct change {
	const char *what; /* of work */
	const struct idle_row *row;
	double before, after;
};

static void consider(struct change *best, double sign, struct change other)
{
	if (sign * (other.before - other.after) > sign * (best->before - best->after))
		*best = other;
}

static double idle_of(const struct budget *b, const struct idle_row *like)
{
	double sum = 0;
	for (uint32_t i = 0; i < b->n_rows; i++)
		if (b->rows[i].cause == like->cause && b->rows[i].phase == like->phase)
			sum += b->rows[i].per_step;
	return sum;
}

/* What a GPU waits for, as an object: "host code in data_load". */
static const char *wait_of(const struct analysis *a, const struct idle_row *row, struct arena *arena)
{
	static const char *const object[CAUSE_COUNT] = {[CAUSE_HOST_BLOCKED] = "a blocked host thread",
	                                                [CAUSE_SYNC_RETURN] =
	                                                        "the host to come back from synchronising",
	                                                [CAUSE_COPY_API] = "copy calls",
	                                                [CAUSE_LAUNCH_API] = "launch calls",
	                                                [CAUSE_ALLOC] = "allocations",
	                                                [CAUSE_MODULE_LOAD] = "module loading",
	                                                [CAUSE_OTHER_API] = "other CUDA calls",
	                                                [CAUSE_PROFILER] = "the profiler",
	                                                [CAUSE_DISPATCH] = "its own dispatch",
	                                                [CAUSE_DEPENDENCY] = "dependencies",
	                                                [CAUSE_UNATTRIBUTED] = "what the profile does not say"};
	const char *what = object[row->cause] ? object[row->cause] : cause_label(row->cause);
	return arena_format(arena, "%s%s", what, view_in_phase(a, row->phase, arena));
}

const char *words_change(const struct analysis *a, struct arena *arena)
{
	if (a->verdict.result != VERDICT_FASTER && a->verdict.result != VERDICT_SLOWER)
		return "";
	double sign = a->verdict.result == VERDICT_FASTER ? 1 : -1;
	const struct budget *b = &a->side[0].budget, *f = &a->side[1].budget;
	struct change best = {NULL, NULL, 0, 0};
	consider(&best, sign, (struct change){"computes", NULL, b->compute, f->compute});
	consider(&best, sign,
	         (struct change){"communicates and does nothing else", NULL, b->comm_exposed, f->comm_exposed});
	consider(&best, sign, (struct change){"copies and does nothing else", NULL, b->copy_exposed, f->copy_exposed});
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < a->side[side].budget.n_rows; i++) {
			const struct idle_row *row = &a->side[side].budget.rows[i];
			consider(&best, sign, (struct change){NULL, row, idle_of(b, row), idle_of(f, row)});
		}
	const char *times =
		arena_format(arena, "%s a %s", words_pair(arena, best.before, best.after), view_unit(&a->side[0]));
	if (best.what)
		return arena_format(arena, "Largest change: the GPU %s for %s.", best.what, times);
	if (!best.row)
		return "";
	const double nearly = 0.03; /* so little is left that a reader calls it gone */
	const char *way = best.after <= nearly * best.before   ? "no longer waits"
	                  : best.before <= nearly * best.after ? "now waits"
	                  : best.after < best.before           ? "waits less"
	                                                       : "waits longer";
	return arena_format(arena, "The GPU %s for %s: %s.", way, wait_of(a, best.row, arena), times);
}

const char *words_more(const struct analysis *a, struct arena *arena)
{
	const struct verdict *v = &a->verdict;
	const char *steps =
		v->more_steps > 0 ? arena_format(arena, "%lld measured steps a side", (long long)v->more_steps) : "";
	const char *runs = v->more_runs > 0 ? arena_format(arena, "%lld runs a side", (long long)v->more_runs) : "";
	if (!*steps && !*runs)
		return "";
	return arena_format(arena, "It would take at least about %s%s%s.", steps, *steps && *runs ? ", or " : "", runs);
}

const char *words_gate(const struct analysis *a, struct arena *arena)
{
	enum gate gate = view_gate(a);
	if (gate == GATE_NONE)
		return "";
	const char *asked = "";
	if (a->options.min_speedup > 0)
		asked = arena_format(arena, ", at least %s", format_times(arena, a->options.min_speedup, 2));
	if (a->options.max_regression >= 0)
		asked = arena_format(arena, "%s, at most %g %% slower", asked, a->options.max_regression);
	if (a->require_comparable)
		asked = arena_format(arena, "%s, the same work", asked);
	return arena_format(arena, "%s (asked for: %s)", view_gate_name(gate), *asked ? asked + 2 : "nothing");
}

const char *words_comparable(const struct analysis *a)
{
	static const char *const words[] = {
		[SAME_WORK_SAME] = "yes, both sides did the same work",
		[SAME_WORK_JOB] = "the same job, done in another way",
		[SAME_WORK_DIFFERENT] = "no, the two sides did different work",
		[SAME_WORK_UNKNOWN] = "? what was recorded does not tell",
	};
	static const char *const elsewhere[] = {
		[SAME_WORK_SAME] = "yes, but under other conditions",
		[SAME_WORK_JOB] = "the same job, done in another way, and under other conditions",
		[SAME_WORK_DIFFERENT] = "no, the two sides did different work, and under other conditions",
		[SAME_WORK_UNKNOWN] = "? what was recorded does not tell, and the conditions are others",
	};
	return a->other_conditions ? elsewhere[a->same_work] : words[a->same_work];
}

const char *words_diagnosis(const struct analysis *a, struct arena *arena)
{
	static const char *const head[] = {[DIAGNOSIS_NONE] = "not judged, because the verdict is not faster",
	                                   [DIAGNOSIS_CONFIRMED] = "confirmed",
	                                   [DIAGNOSIS_PARTLY] = "confirmed in part, slower than promised",
	                                   [DIAGNOSIS_EXCEEDED] =
	                                           "faster than promised, so something else changed too"};
	if (a->diagnosis == DIAGNOSIS_NONE && a->combined_ceiling <= 0)
		return "nothing that was found in the baseline was resolved";
	return arena_format(arena, "%s: the resolved findings promised a mean %s of %s, measured %s",
	                    head[a->diagnosis], view_unit(&a->side[1]), format_time(arena, a->combined_ceiling),
	                    format_time(arena, a->measured));
}
