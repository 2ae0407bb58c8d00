#include "render/sections.h"

#include "analyse/shown.h"
#include "base/format.h"
#include "render/pictures.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

enum { MOST_DIFFERENCES = 6, MOST_PAYS = 4, TEXT = 600, WORK = 90 };

static const double UNSEEN = 0.005; /* half a percent: shown as 0 % */

static const char *say(const struct fact *fact, const struct page *page)
{
	return say_fact(fact, page->names, page->arena);
}

/* Three digits. */
static struct unit brief_unit(double ns)
{
	struct unit unit = format_unit(ns);
	unit.decimals -= unit.decimals > 0;
	return unit;
}

/* Three digits each, in one unit: whoever divides one by the other finds the speedup. */
static const char *brief_pair(struct arena *arena, double before, double after)
{
	struct unit of[2] = {brief_unit(fabs(before)), brief_unit(fabs(after))};
	const struct unit larger = of[fabs(after) > fabs(before)];
	for (int i = 0; i < 2; i++)
		of[i] = of[i].ns == larger.ns ? of[i] : larger;
	return arena_format(arena, "%s \xE2\x86\x92 %s %s", format_number(arena, of[0], before),
	                    format_number(arena, of[1], after), larger.name);
}

/* ---- the headline ---- */

/* What differs where the work is different: it stands in the headline, so that nobody reads the one without the other.
 */
static const struct fact *other_work(const struct analysis *a, struct arena *arena)
{
	const struct facts *list = &a->comparison.differences;
	if (a->comparison.same_work != SAME_WORK_DIFFERENT || !list->n)
		return NULL;
	const char *text = say_form(list->list[0], SAY_SHORT, a->names, arena);
	size_t n = strlen(text);
	return FACT_NEW(
		arena, other_work, FACT_NO_SIDE,
		.what = format_name(arena, n && text[n - 1] == '.' ? arena_copy(arena, text, n - 1) : text, WORK));
}

/* Then a gain is in the colour of doubt: what is not shown to be the same work is no more sure than that. */
static bool may_be_other_work(const struct analysis *a)
{
	enum same_work same = a->comparison.same_work;
	return same == SAME_WORK_DIFFERENT || same == SAME_WORK_UNKNOWN;
}

/* Of a result that decides nothing the interval is said, not its middle. */
static const char *how_said(const struct analysis *a)
{
	const struct verdict *v = &a->verdict;
	bool open = v->result == VERDICT_INCONCLUSIVE;
	return !v->has_speedup                              ? "none"
	       : a->comparison.other_unit                   ? "unit"
	       : words_promises(v)                          ? "least"
	       : v->has_interval && (open || words_wide(v)) ? "range"
	                                                    : "one";
}

/* The first gate that has the result of all of them; the others are among the caveats. "": none was asked for. */
static const char *gate_of(const struct analysis *a, struct arena *arena)
{
	const struct gates *gates = &a->gates;
	size_t i = 0;
	while (i + 1 < gates->n && gates->gate[i].result != gates->result)
		i++;
	return gates->n ? say_fact(gates->gate[i].fact, a->names, arena) : "";
}

/* The time per step on both sides, and by how much it changed. */
static const char *times_of(const struct analysis *a, struct page *page, double before, double after)
{
	bool one = !a->verdict.has_speedup || a->comparison.other_unit || !view_is_pair(a) ||
	           before <= 0; /* a capture beside itself, a step beside a run */
	const double change = fabs(after / before - 1);
	const char *times = before == after ? format_time(page->arena, before) : brief_pair(page->arena, before, after);
	return say(FACT_NEW(page->arena, headline_times, FACT_NO_SIDE, .times = times,
	                    .of = a->items_name     ? "item"
	                          : view_is_pair(a) ? view_unit(&a->side[0])
	                                            : "both",
	                    .item = view_item(a, page->arena),
	                    .way = one || a->verdict.result == VERDICT_SLOWER || change < UNSEEN ? "same"
	                           : after < before                                              ? "less"
	                                                                                         : "more",
	                    .change = change),
	           page);
}

static void fill_headline(const struct analysis *a, struct page *page)
{
	const struct verdict *v = &a->verdict;
	double before = view_time(&a->side[0], a->side[0].headline.step);
	double after = view_time(&a->side[1], a->side[1].headline.step);
	bool slower = v->result == VERDICT_SLOWER;
	const struct fact *other = other_work(a, page->arena), *in_all = words_in_all(a, page->arena);
	page_say(&page->top, "headline",
	         say(FACT_NEW(page->arena, headline, FACT_NO_SIDE, .result = verdict_result_name(v->result),
	                      .how = how_said(a), .speedup = v->speedup,
	                      .low = slower && words_promises(v) ? v->hi : v->lo, .high = v->hi,
	                      .longer = after / before - 1, .differs = other ? words_differs(a) : "work",
	                      .other_work = other, .in_all = in_all),
	             page));
	page_attribute(&page->top, "headline", "class", other || in_all ? "result long" : "result");
	page_fill(&page->top, "times", times_of(a, page, before, after));
	const char *runs = v->measured == VERDICT_STOPWATCH ? "timed" : "profiled", *gate = gate_of(a, page->arena);
	page_fill(&page->top, "interval",
	          say(v->has_interval
	                      ? FACT_NEW(page->arena, headline_interval, FACT_NO_SIDE, .low = v->lo, .high = v->hi)
	                      : FACT_NEW(page->arena, headline_single, FACT_NO_SIDE, .runs = runs),
	              page));
	const double *ns;
	bool dots = v->has_speedup && !a->comparison.other_unit && dots_of(a, 0, page->arena, &ns) &&
	            dots_of(a, 1, page->arena, &ns);
	page_if(&page->top, "dots", dots);
	xmlNode *picture = page_draw(&page->top, "dots");
	if (dots)
		dots_draw(a, page->arena, picture);
	page_if(&page->top, "gate", *gate != 0);
	page_say(&page->top, "gate", gate);
	page_attribute(&page->top, "gate", "class",
	               arena_format(page->arena, "gate %s", gate_result_name(a->gates.result)));
}

/* ---- chips, each opens its caveats ---- */

static void add_chip(struct rows *chips, const char *class, const struct fact *label, const char **text, size_t n)
{
	struct page *page = chips->page;
	struct scope *chip = page_row(chips);
	page_attribute(chip, NULL, "class", arena_format(page->arena, "chip %s", class));
	page_fill(chip, "label", say(label, page));
	struct rows *rows = page_rows(chip, "caveat");
	for (size_t i = 0; i < n; i++)
		page_say(page_row(rows), "text", format_name(page->arena, text[i], TEXT));
}

static void add_work(const struct analysis *a, struct rows *chips)
{
	static const char *const class[] = {[SAME_WORK_SAME] = "passed",
	                                    [SAME_WORK_JOB] = "passed",
	                                    [SAME_WORK_DIFFERENT] = "failed",
	                                    [SAME_WORK_UNKNOWN] = "unknown"};
	struct arena *arena = chips->page->arena;
	const struct comparison *c = &a->comparison;
	const char **said = say_facts(&c->differences, a->names, arena);
	const char **text = ARENA_NEW(arena, MOST_DIFFERENCES + 2, const char *);
	size_t n = 0;
	text[n++] = *words_same_result(a, arena)
	                    ? words_same_result(a, arena)
	                    : say(FACT_NEW(arena, work_means, FACT_NO_SIDE, .work = same_work_name(c->same_work),
	                                   .kernels = same_kernels_name(c->kernels), .conditions = c->other_conditions),
	                          chips->page);
	for (uint32_t i = 0; i < c->differences.n && i < MOST_DIFFERENCES; i++)
		text[n++] = said[i];
	if (c->differences.n > MOST_DIFFERENCES)
		text[n++] =
			say(FACT_NEW(arena, more_differences, FACT_NO_SIDE, .n = c->differences.n - MOST_DIFFERENCES),
		            chips->page);
	add_chip(chips, class[c->same_work],
	         FACT_NEW(arena, chip_work, FACT_NO_SIDE, .work = same_work_name(c->same_work),
	                  .kernels = same_kernels_name(c->kernels), .conditions = c->other_conditions),
	         text, n);
}

static bool is_listed(const char **list, size_t n, const char *text)
{
	bool found = false;
	for (size_t i = 0; i < n && !found; i++)
		found = strcmp(list[i], text) == 0;
	return found;
}

/* What could turn the result round, then what was said of how sure it is, once each, and not what the work's chip says.
 */
static void add_runs(const struct analysis *a, struct rows *chips)
{
	struct arena *arena = chips->page->arena;
	const struct verdict *v = &a->verdict;
	bool timed = v->measured == VERDICT_STOPWATCH;
	int64_t runs[2];
	for (int s = 0; s < 2; s++)
		runs[s] = timed ? a->side[s].headline.n_stopwatch : a->side[s].n_runs;
	size_t n_doubts, n = 0;
	int64_t caveats = 0;
	const char **doubts = words_doubts(a, arena, &n_doubts), **reasons = say_facts(&v->reasons, a->names, arena);
	const char **text = ARENA_NEW(arena, n_doubts + v->reasons.n + a->gates.n + 2, const char *);
	const struct facts *differences = &a->comparison.differences;
	const char **work = say_facts(differences, a->names, arena);
	const size_t shown = differences->n < MOST_DIFFERENCES ? differences->n : MOST_DIFFERENCES;
	for (size_t i = 0; i < a->gates.n && a->gates.n > 1; i++)
		text[n++] = say_fact(a->gates.gate[i].fact, a->names, arena);
	for (size_t i = 0; i < n_doubts; i++)
		if (!is_listed(work, shown, doubts[i])) {
			text[n++] = doubts[i];
			caveats++;
		}
	for (uint32_t i = 0; i < v->reasons.n; i++)
		if (!is_listed(text, n, reasons[i]) && !is_listed(work, shown, reasons[i]))
			text[n++] = reasons[i];
	if (*words_recorded(a, arena))
		text[n++] = words_recorded(a, arena);
	add_chip(chips, caveats ? "unknown" : "passed",
	         FACT_NEW(arena, chip_runs, FACT_NO_SIDE, .kind = timed ? "timed" : "profiled", .baseline = runs[0],
	                  .fixed = runs[1], .equal = runs[0] == runs[1], .caveats = caveats),
	         text, n);
}

static void add_prediction(const struct analysis *a, struct rows *chips)
{
	static const char *const class[] = {
		[DIAGNOSIS_CONFIRMED] = "passed", [DIAGNOSIS_PARTLY] = "unknown", [DIAGNOSIS_EXCEEDED] = "unknown"};
	const struct diagnosis *d = &a->findings.diagnosis;
	if (d->result == DIAGNOSIS_NONE)
		return;
	const char *text = words_diagnosis(a, chips->page->arena);
	add_chip(chips, class[d->result],
	         FACT_NEW(chips->page->arena, chip_prediction, FACT_NO_SIDE, .result = diagnosis_said(d)), &text, 1);
}

/* ---- what a step is ---- */

static int64_t ops_of(const struct side *s)
{
	for (uint32_t l = 0; l < s->n_loops; l++)
		if (s->loops[l].judged)
			return s->loops[l].ops;
	return FACT_UNKNOWN;
}

static const struct fact *step_of(const struct analysis *a, int said, const struct side *s, const struct side *other,
                                  struct arena *arena)
{
	int64_t ops = ops_of(s), n[2] = {0};
	const struct side *const both[2] = {s, other};
	for (int i = 0; i < 2; i++)
		n[i] = both[i]->n_runs ? (int64_t)(both[i]->steps.measured / both[i]->n_runs) : 0;
	bool pattern = s->steps.origin == STEPS_BY_PATTERN && ops != FACT_UNKNOWN;
	return FACT_NEW(arena, step_is, said,
	                .what = !s->steps.found               ? "run"
	                        : pattern                     ? "pattern"
	                        : evidence_by_optimizer(a, s) ? "optimizer"
	                                                      : "range",
	                .name = s->steps.name, .ops = ops, .baseline = n[0], .fixed = n[1], .equal = n[0] == n[1],
	                .alone = s == other && s->n_runs == 1, .least = fmin(s->steps.coverage, other->steps.coverage),
	                .most = fmax(s->steps.coverage, other->steps.coverage));
}

/* Once where both sides' steps are alike; and what all of them are beside one. */
static void fill_step(const struct analysis *a, struct page *page)
{
	const struct side *b = &a->side[0], *f = &a->side[a->n_sides - 1];
	struct arena *arena = page->arena;
	bool alike = b->steps.found == f->steps.found &&
	             steps_by_ranges(b->steps.origin) == steps_by_ranges(f->steps.origin) &&
	             (b->steps.origin == STEPS_BY_PATTERN ? ops_of(b) == ops_of(f) : b->steps.name == f->steps.name);
	const char *text = say(step_of(a, alike ? FACT_NO_SIDE : 0, b, alike ? f : b, arena), page);
	if (!alike)
		text = arena_format(arena, "%s %s", text, say(step_of(a, 1, f, f, arena), page));
	const struct fact *loops = a->comparison.loops;
	page_say(&page->top, "step", loops ? arena_format(arena, "%s %s", text, say(loops, page)) : text);
}

/* ---- why ---- */

static void add_part(struct rows *rows, int which, const char *name, const char *times, const char *change)
{
	struct scope *row = page_row(rows);
	xmlNode *key = page_draw(row, "key");
	if (which >= 0)
		key_draw(key, which);
	page_say(row, "name", name);
	page_fill(row, "times", times);
	page_fill(row, "change", change);
}

/* "−3.17 ± 0.04"; or, where more than all of it would have gone or come, how much at least. */
static const char *change_of(const struct waterfall_part *part, struct unit unit, const struct page *page)
{
	struct arena *arena = page->arena;
	const double size = fabs(part->delta), most = fmax(part->baseline, part->fixed);
	const bool least = size + part->half > most && part->half < size;
	const char *change = format_change(arena, unit, part->delta);
	if (!part->has_interval)
		return change;
	return say(FACT_NEW(arena, change_said, FACT_NO_SIDE, .change = change, .least = least,
	                    .half = format_number(arena, unit, least ? size - part->half : part->half)),
	           page);
}

/* Parts that explain the change, the largest first, and the rest as one line: together they are the change. */
static void fill_why(const struct analysis *a, struct page *page)
{
	const struct waterfall *w = &a->waterfall;
	struct arena *arena = page->arena;
	struct unit unit = view_time_unit(a);
	unit.decimals -= unit.decimals > 0;
	struct rows *rows = page_rows(&page->top, "part");
	for (uint32_t i = 0; i < w->n_reasons; i++) {
		const struct waterfall_part *part = &w->reason[i].part;
		const char *change = change_of(part, unit, page);
		add_part(rows, palette_of_part(part), say(words_reason(a, &w->reason[i], arena), page),
		         brief_pair(arena, part->baseline, part->fixed),
		         arena_format(arena, "%s %s", change, unit.name));
	}
	if (w->n_reasons)
		add_part(rows, -1, say(words_rest(a, arena), page), "",
		         arena_format(arena, "%s %s", format_change(arena, unit, w->rest), unit.name));
	const char *none = a->conditions.doubt     ? say_form(a->conditions.doubt, SAY_SHORT, a->names, arena)
	                   : a->conditions.nothing ? say_form(a->conditions.nothing, SAY_SHORT, a->names, arena)
	                                           : words_no_change(a, arena);
	page_if(&page->top, "parts", w->n_reasons > 0);
	page_if(&page->top, "why.none", !w->n_reasons);
	page_say(&page->top, "why.none", none);
	page_if(&page->top, "next", true);
	page_say(&page->top, "next", words_next(a, arena));
}

/* What the colours of the bars mean: a narrow piece has no words. */
static void fill_keys(const struct analysis *a, struct page *page)
{
	bool seen[SHADE_COUNT] = {false}, named[SHADE_COUNT] = {false};
	glance_keys(a, page->arena, seen, named);
	struct rows *rows = page_rows(&page->top, "key");
	bool any = false;
	for (int k = 0; k < SHADE_COUNT; k++) {
		int which = (CAUSE_COUNT + k) % SHADE_COUNT; /* work before waits, as in the bars */
		if (!seen[which])
			continue;
		struct scope *row = page_row(rows);
		if (named[which])
			page_attribute(row, NULL, "class", "named");
		key_draw(page_draw(row, "key"), which);
		page_fill(row, "text",
		          which == SHADE_IDLE ? say(FACT_NEW(page->arena, bar_rest, FACT_NO_SIDE), page)
		                              : palette_label(which));
		any = true;
	}
	page_if(&page->top, "keys", any);
}

/* ---- one profile ---- */

/* What would pay most, best case each. */
static void fill_pays(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	struct rows *rows = page_rows(&page->top, "part");
	for (uint32_t i = 0; i < a->findings.n && i < MOST_PAYS; i++) {
		const struct finding *f = &a->findings.list[i];
		add_part(rows, -1, f->title, format_short_time(arena, f->per_step[f->side]),
		         f->has_ceiling ? say(FACT_NEW(arena, pays, FACT_NO_SIDE, .speedup = f->ceiling_speedup), page)
		                        : "");
	}
	page_if(&page->top, "parts", a->findings.n > 0);
	page_fill_if(&page->top, "why.none", a->findings.n == 0,
	             say(FACT_NEW(arena, nothing_pays, FACT_NO_SIDE), page));
	page_fill_if(&page->top, "next", false, "");
}

static void fill_profile(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side *s = &a->side[0];
	double idle = s->budget.period > 0 ? s->budget.idle / s->budget.period : 0;
	page_fill(&page->top, "headline",
	          say(FACT_NEW(arena, profile_headline, FACT_NO_SIDE,
	                       .time = format_short_time(arena, s->headline.step), .of = view_unit(s)),
	              page));
	page_fill(&page->top, "times",
	          say(FACT_NEW(arena, profile_idle, FACT_NO_SIDE, .share = idle,
	                       .time = format_short_time(arena, s->budget.idle)),
	              page));
	page_if(&page->top, "dots", false);
	page_draw(&page->top, "dots");
	page_fill(&page->top, "interval", "");
	page_if(&page->top, "gate", s->doubt);
	page_say(&page->top, "gate", s->doubt ? s->doubt : "");
	page_attribute(&page->top, "gate", "class", "gate inconclusive");
	page_rows(&page->top, "chip");
	fill_pays(a, page);
}

void card_fill(const struct analysis *a, struct page *page)
{
	bool pair = a->n_sides > 1;
	page_if(&page->top, "verdict", true);
	page_attribute(&page->top, "verdict", "class",
	               arena_format(page->arena, "verdict %s%s", pair ? verdict_result_name(a->verdict.result) : "",
	                            pair && may_be_other_work(a) ? " other" : ""));
	page_fill(&page->top, "why.title",
	          say(FACT_NEW(page->arena, why_title, FACT_NO_SIDE,
	                       .what = !pair                                       ? "budget"
	                               : a->verdict.result == VERDICT_INCONCLUSIVE ? "open"
	                                                                           : "change"),
	              page));
	glance_draw(a, page->arena, page_draw(&page->top, "bars"));
	fill_keys(a, page);
	fill_step(a, page);
	if (!pair) {
		fill_profile(a, page);
		return;
	}
	fill_headline(a, page);
	struct rows *chips = page_rows(&page->top, "chip");
	add_work(a, chips);
	add_runs(a, chips);
	add_prediction(a, chips);
	fill_why(a, page);
}
