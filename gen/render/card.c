#include "render/card.h"

#include "analyse/card.h"
#include "base/format.h"
#include "render/palette.h"
#include "render/pictures.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

enum { MOST_DIFFERENCES = 4, TEXT = 600 };

/* Sentences, none longer than TEXT characters. */
static void fill_list(struct page *page, const char *name, const char **text, size_t n)
{
	struct rows *rows = page_rows(&page->top, name);
	for (size_t i = 0; i < n; i++)
		page_say(page_row(rows), "text", format_name(page->arena, text[i], TEXT));
}

/* How the same job was done in another way turns nothing round: it stands under Environment, and only its extent here.
 * Other work, and other conditions, may; those stand first among the differences. */
static void fill_work(const struct analysis *a, struct arena *arena, struct page *page)
{
	static const char *const class[] = {[SAME_WORK_SAME] = "passed",
	                                    [SAME_WORK_JOB] = "passed",
	                                    [SAME_WORK_DIFFERENT] = "failed",
	                                    [SAME_WORK_UNKNOWN] = "unknown"};
	page_say(&page->top, "comparable", words_comparable(a));
	page_attribute(&page->top, "comparable", "class", class[a->comparison.same_work]);
	uint32_t n = a->comparison.differences.n, shown = a->comparison.comparable ? 0
	                                                  : n < MOST_DIFFERENCES   ? n
	                                                                           : MOST_DIFFERENCES;
	page_if(&page->top, "same_result", *words_same_result(a, arena) != 0);
	page_say(&page->top, "same_result", words_same_result(a, arena));
	page_if(&page->top, "differences", shown > 0);
	fill_list(page, "difference", say_facts(&a->comparison.differences, a->names, page->arena), shown);
	page_if(&page->top, "differences.rest", n > shown);
	page_fill(&page->top, "differences.rest",
	          arena_format(page->arena, "%s%s", shown ? "and " : "",
	                       shown ? arena_format(page->arena, "%u more", n - shown)
	                             : format_plural(page->arena, n, "difference", "differences")));
}

/* Everything that was said about how sure it is, for those who ask. */
static void fill_sure(const struct analysis *a, struct page *page)
{
	const struct verdict *v = &a->verdict;
	const char *recorded = words_recorded(a, page->arena);
	page_say(&page->top, "sure", words_sure(a, page->arena));
	page_if(&page->top, "more", v->reasons.n > 0 || *recorded);
	page_if(&page->top, "reasons", v->reasons.n > 0);
	fill_list(page, "reason", say_facts(&v->reasons, a->names, page->arena), v->reasons.n);
	page_fill(&page->top, "diagnosis", words_diagnosis(a, page->arena));
	page_if(&page->top, "verdict.recorded", *recorded != 0);
	page_fill(&page->top, "verdict.recorded", recorded);
}

/* What the colours of the two bars mean: a narrow piece has no words. */
void card_keys(const struct analysis *a, const char *name, struct page *page)
{
	bool seen[SHADE_COUNT] = {false};
	glance_keys(a, page->arena, seen);
	struct rows *rows = page_rows(&page->top, name);
	bool any = false;
	for (int k = 0; k < SHADE_COUNT; k++) {
		/* work before waits, as in the bars */
		int which = (CAUSE_COUNT + k) % SHADE_COUNT;
		if (!seen[which])
			continue;
		struct scope *row = page_row(rows);
		key_draw(page_draw(row, "key"), which);
		page_fill(row, "text",
		          which < CAUSE_COUNT   ? cause_label((enum cause)which)
		          : which == SHADE_IDLE ? "smaller waits"
		                                : palette(which)->label);
		any = true;
	}
	page_if(&page->top, arena_format(page->arena, "%ss", name), any);
}

/* How to mark what was not found. */
static void fill_start(const struct analysis *a, struct page *page)
{
	static const char *const how[] = {[VIEW_MARKS_PROFILER] = "start.profiler",
	                                  [VIEW_MARKS_TORCH] = "start.torch",
	                                  [VIEW_MARKS_NVTX] = "start.nvtx"};
	enum { WAYS = sizeof how / sizeof *how };
	bool wanted[WAYS] = {false}, any = false;
	for (int s = 0; s < 2; s++)
		if (!a->side[s].steps.found)
			any = wanted[view_marks(a, &a->side[s])] = true;
	page_if(&page->top, "start", any);
	for (int i = 0; i < WAYS; i++)
		page_if(&page->top, how[i], wanted[i]);
}

void card_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct verdict *v = &a->verdict;
	const char *gate = words_gate(a, arena), *change = words_change(a, arena), *rates = words_rates(a, arena);
	const char *once = words_once(a, arena);
	page_if(&page->top, "verdict", true);
	page_attribute(&page->top, "verdict", "class",
	               arena_format(arena, "verdict %s", verdict_result_name(v->result)));
	page_fill(&page->top, "verdict.result", words_result(a));
	page_fill(&page->top, "verdict.speedup", words_promised(a, arena));
	page_if(&page->top, "verdict.while", a->while_recorded);
	page_fill(&page->top, "verdict.while", "while recorded");
	page_if(&page->top, "verdict.interval", v->has_interval);
	page_fill(&page->top, "verdict.bar", "Bar: 95 % interval. Band: counts as 1\xC3\x97.");
	page_fill(&page->top, "verdict.sentence", words_periods(a, arena));
	page_if(&page->top, "verdict.typical", v->typical_line);
	page_fill(&page->top, "verdict.typical", v->typical_line ? say_fact(v->typical_line, a->names, arena) : "");
	page_if(&page->top, "verdict.rates", *rates != 0);
	page_fill(&page->top, "verdict.rates", rates);
	page_if(&page->top, "verdict.once", *once != 0);
	page_fill(&page->top, "verdict.once", once);
	xmlNode *picture = page_draw(&page->top, "verdict.picture");
	if (v->has_interval)
		speedup_draw(a, arena, picture);
	glance_draw(a, arena, page_draw(&page->top, "glance"));
	card_keys(a, "key", page);

	fill_sure(a, page);
	page_fill(&page->top, "why", *change ? change : words_no_change(a));
	fill_work(a, arena, page);
	page_say(&page->top, "next", words_next(a, arena));
	page_if(&page->top, "gate", *gate != 0);
	page_fill(&page->top, "gate", gate);
	page_attribute(&page->top, "gate", "class", gate_result_name(a->gates.result));
	fill_start(a, page);
}
