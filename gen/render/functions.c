#include "render/sections.h"

#include "base/format.h"
#include "render/json.h"
#include "render/pictures.h"
#include "render/view.h"
#include "result/say.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 90, SHOWN_ALL = 15, SHOWN_OF_CAUSE = 8, MODULE = 40 };
static const double MOST_OF = 0.95; /* so much is not worth a word */

/* ---- words ---- */

/* What waited for Python's GIL: "the thread 'loader-1' (97.1 %)", …; NULL: nothing that is worth a word. */
static const struct fact *holders_of(const struct analysis *a, int s, struct arena *arena)
{
	enum { NAMED = 3 };
	const struct sampled_cause *gil = NULL;
	for (uint32_t i = 0; i < a->functions.n_causes; i++) {
		const struct sampled_cause *cause = &a->functions.cause[i];
		if (cause->n_holders && cause->idle[s] > 0 && (!gil || cause->idle[s] > gil->idle[s]))
			gil = cause;
	}
	struct facts *holders = ARENA_NEW(arena, 1, struct facts);
	for (uint32_t i = 0; gil && i < gil->n_holders && holders->n < NAMED; i++) {
		const struct lock_holder *h = &gil->holders[i];
		if (h->time[s] >= (1 - MOST_OF) * gil->idle[s])
			FACT_ADD(holders, arena, lock_holder, FACT_NO_SIDE,
			         .who = h->main   ? "main"
			                : h->name ? "named"
			                          : "unnamed",
			         .name = h->name, .share = h->time[s] / gil->idle[s]);
	}
	return gil && holders->n ? FACT_NEW(arena, lock_holders, FACT_NO_SIDE,
	                                    .phase = view_in_phase(a, gil->phase, arena), .holders = holders)
	                         : NULL;
}

/* How much a sampler that is not let run did not see; NAN: hardly any. */
static double unlooked(const struct analysis *a, int s)
{
	const double least = 0.001; /* of a step */
	const struct budget *b = &a->side[s].budget;
	return !a->side[s].source.has_lock || b->unlooked < least * b->period ? NAN : b->unlooked / b->idle;
}

const char *functions_said(const struct analysis *a, int s, struct arena *arena)
{
	const struct sampling *of = &a->functions.side[s];
	if (of->samples <= 0)
		return SAY(NULL, arena, no_samples);
	const bool any = of->idle > 0, bad = any && (of->broken > 0 || of->unnamed > 0 || of->bare > 0);
	return SAY(a->names, arena, samples_taken, .samples = of->samples, .interval = of->interval, .idle = of->idle,
	           .stands = of->stands, .broken = bad ? of->broken / of->idle : NAN,
	           .unnamed = bad ? of->unnamed / of->idle : NAN, .bare = bad ? of->bare / of->idle : NAN,
	           .covered = any && of->covered < MOST_OF ? of->covered : NAN, .nobody = any && of->stands < MOST_OF,
	           .cut = any && of->cut ? (int64_t)of->cut : FACT_UNKNOWN,
	           .holders = any ? holders_of(a, s, arena) : NULL, .unlooked = any ? unlooked(a, s) : NAN);
}

/* ---- the page ---- */

static const char *module_of(const struct analysis *a, const struct sampled_function *f, struct arena *arena)
{
	return f->module ? format_name(arena, names_text(a->names, f->module), MODULE) : "";
}

static const char *dash(void)
{
	return "\xE2\x80\x93";
}

/* A dash: nothing tells, since no sample does. */
static const char *number(bool told, struct unit unit, double ns, struct arena *arena)
{
	return told ? format_number(arena, unit, ns) : dash();
}

static const char *share(const struct analysis *a, int s, double part, double of, struct arena *arena)
{
	return a->functions.side[s].idle > 0 && of > 0 ? format_share(arena, part / of) : dash();
}

static const char *arrow(const struct analysis *a, const char *before, const char *after, struct arena *arena)
{
	if (a->n_sides < 2 || strcmp(after, dash()) == 0)
		return before;
	return strcmp(before, dash()) == 0 ? after : arena_format(arena, "%s \xE2\x86\x92 %s", before, after);
}

static void fill_times(struct scope *row, const struct analysis *a, const bool told[2], const double time[2],
                       bool changed, struct unit unit)
{
	struct arena *arena = row->page->arena;
	const bool both = a->functions.both && told[0] && told[1];
	page_fill(row, "before", number(told[0], unit, time[0], arena));
	page_fill(row, "after", number(told[1], unit, time[1], arena));
	tables_change(row, "change", both ? format_change(arena, unit, time[1] - time[0]) : dash(),
	              both && changed ? time[1] - time[0] : 0);
}

static void fill_function(struct scope *row, const struct analysis *a, const struct function_row *f, const double of[2],
                          struct unit unit)
{
	struct arena *arena = row->page->arena;
	const char *name = say_function(a->names, &f->function, SHOWN, arena);
	page_fill(row, "name", name);
	if (f->function.kind == FRAME_NAMED && strcmp(name, names_text(a->names, f->function.name)) != 0)
		page_attribute(row, "name", "title", format_name(arena, names_text(a->names, f->function.name), 400));
	page_fill(row, "module", module_of(a, &f->function, arena));
	page_fill(row, "share",
	          arrow(a, share(a, 0, f->self[0], of[0], arena), share(a, 1, f->self[1], of[1], arena), arena));
	const bool told[2] = {f->total[0] > 0 || f->untold[0] <= 0, f->total[1] > 0 || f->untold[1] <= 0};
	fill_times(row, a, told, f->self, f->changed, unit);
	page_fill(
		row, "total",
		arrow(a, number(told[0], unit, f->total[0], arena), number(told[1], unit, f->total[1], arena), arena));
}

static void fill_sum(struct scope *row, const struct analysis *a, const char *name, const bool told[2],
                     const double time[2], const double of[2], struct unit unit)
{
	struct arena *arena = row->page->arena;
	page_fill(row, "name", name);
	page_fill(row, "share",
	          arrow(a, share(a, 0, time[0], of[0], arena), share(a, 1, time[1], of[1], arena), arena));
	fill_times(row, a, told, time, false, unit);
}

/* What a list does not show. */
static void fill_rest(struct rows *sums, const struct analysis *a, const struct function_list *list, uint32_t shown,
                      const double of[2], struct unit unit)
{
	const struct sampling *side = a->functions.side;
	const bool told[2] = {side[0].idle > 0, side[1].idle > 0};
	double rest[2] = {list->rest[0], list->rest[1]};
	if (shown >= list->n && !list->left_out)
		return;
	for (uint32_t i = shown; i < list->n; i++)
		for (int s = 0; s < 2; s++)
			rest[s] += list->row[i].self[s];
	fill_sum(page_row(sums), a, view_more(list->n - shown + list->left_out, sums->page->arena), told, rest, of,
	         unit);
}

static void fill_all(const struct analysis *a, struct unit unit, struct page *page)
{
	const struct functions *f = &a->functions;
	struct rows *rows = page_rows(&page->top, "function");
	struct rows *sums = page_rows_among(&page->top, "function.more", rows);
	uint32_t shown = f->all.n < SHOWN_ALL ? f->all.n : SHOWN_ALL;
	for (uint32_t i = 0; i < shown; i++)
		fill_function(page_row(rows), a, &f->all.row[i], f->idle, unit);
	fill_rest(sums, a, &f->all, shown, f->idle, unit);
}

static void fill_causes(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	const struct functions *f = &a->functions;
	struct rows *causes = page_rows(&page->top, "function.cause");
	struct rows *rows = page_rows_among(&page->top, "function.of_cause", causes);
	struct rows *sums = page_rows_among(&page->top, "function.cause_more", causes);
	static const bool told[2] = {true, true}; /* idle time is, whatever was sampled */
	for (uint32_t c = 0; c < f->n_causes; c++) {
		const struct sampled_cause *cause = &f->cause[c];
		const double nobody[2] = {fmax(cause->idle[0] - cause->sampled[0], 0),
		                          fmax(cause->idle[1] - cause->sampled[1], 0)};
		fill_sum(page_row(causes), a,
		         arena_format(arena, "%s%s", cause_label(cause->cause), view_in_phase(a, cause->phase, arena)),
		         told, cause->idle, cause->idle, unit);
		uint32_t shown = cause->functions.n < SHOWN_OF_CAUSE ? cause->functions.n : SHOWN_OF_CAUSE;
		for (uint32_t i = 0; i < shown; i++)
			fill_function(page_row(rows), a, &cause->functions.row[i], cause->idle, unit);
		fill_rest(sums, a, &cause->functions, shown, cause->idle, unit);
		if (nobody[0] > (1 - MOST_OF) * cause->idle[0] || nobody[1] > (1 - MOST_OF) * cause->idle[1])
			fill_sum(page_row(sums), a, say_word(WORDS_heading, "no_sample"), told, nobody, cause->idle,
			         unit);
	}
}

void functions_fill(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	const struct functions *f = &a->functions;
	page_if(&page->top, "functions", f->known);
	struct rows *words = page_rows(&page->top, "functions.word");
	for (uint32_t s = 0; s < a->n_sides; s++)
		page_fill(page_row(words), "text",
		          arena_format(arena, "%s: %s", a->side[s].label, functions_said(a, (int)s, arena)));
	xmlNode *place = page_draw(&page->top, "functions.picture");
	if (f->known)
		icicle_draw(a, unit, arena, place);
	page_fill(&page->top, "functions.caption",
	          view_caption(a, f->both ? "functions_changed" : "functions", unit, arena));
	fill_all(a, unit, page);
	page_if(&page->top, "functions.causes", f->n_causes > 0);
	page_fill(&page->top, "functions.causes.caption", view_caption(a, "by_cause", unit, arena));
	fill_causes(a, unit, page);
}

/* ---- JSON ---- */

static void write_function(struct json *json, const struct analysis *a, const struct sampled_function *f)
{
	static const char *const kinds[] = {[FRAME_NAMED] = "function",
	                                    [FRAME_MODULE] = "module",
	                                    [FRAME_UNKNOWN] = "unknown",
	                                    [FRAME_BROKEN] = "broken",
	                                    [FRAME_CUT] = "cut"};
	json_text(json, "name", f->name ? names_text(a->names, f->name) : NULL);
	json_text(json, "module", f->module ? names_text(a->names, f->module) : NULL);
	json_text(json, "kind", kinds[f->kind]);
}

static void write_list(struct json *json, const struct analysis *a, const struct function_list *list)
{
	for (uint32_t i = json_list(json, "functions"); json_item(json, i, list->n); i++) {
		const struct function_row *row = &list->row[i];
		write_function(json, a, &row->function);
		json_bool(json, "changed", row->changed);
		for (uint32_t s = 0; json_of_side(json, a, s); s++) {
			json_ms(json, "self_ms", row->self[s]);
			json_ms(json, "total_ms", row->total[s]);
			json_number(json, "self_samples", row->samples[s]);
			json_ms(json, "unsampled_ms", row->untold[s]);
		}
	}
	json_integer(json, "left_out", list->left_out);
}

static void write_sampling(struct json *json, const struct sampling *s)
{
	json_number(json, "samples", s->samples);
	json_number(json, "in_idle", s->idle);
	json_number(json, "without_symbol", s->unnamed);
	json_number(json, "without_callers", s->broken);
	json_number(json, "without_stack", s->bare);
	json_integer(json, "cut", s->cut);
	json_ms(json, "interval_ms", s->interval);
	json_number(json, "covered_share", s->covered);
	json_number(json, "sampled_share", s->stands);
}

static void write_holders(struct json *json, const struct analysis *a, const struct sampled_cause *c)
{
	for (uint32_t i = json_list(json, "holders"); json_item(json, i, c->n_holders); i++) {
		const struct lock_holder *h = &c->holders[i];
		json_text(json, "thread", h->name ? names_text(a->names, h->name) : NULL);
		json_bool(json, "main", h->main);
		for (uint32_t s = 0; json_of_side(json, a, s); s++)
			json_ms(json, "ms_per_step", h->time[s]);
	}
	json_integer(json, "holders_left_out", c->holders_left_out);
}

static void write_causes(struct json *json, const struct analysis *a)
{
	for (uint32_t i = json_list(json, "causes"); json_item(json, i, a->functions.n_causes); i++) {
		const struct sampled_cause *c = &a->functions.cause[i];
		json_text(json, "cause", cause_name(c->cause));
		json_text(json, "phase", view_phase(a, c->phase));
		for (uint32_t s = 0; json_of_side(json, a, s); s++) {
			json_ms(json, "ms_per_step", c->idle[s]);
			json_ms(json, "sampled_ms", c->sampled[s]);
			json_number(json, "samples", c->samples[s]);
		}
		if (c->n_holders)
			write_holders(json, a, c);
		write_list(json, a, &c->functions);
	}
}

/* The parts of the picture, so that another one can be made of them. */
static void write_stacks(struct json *json, const struct analysis *a)
{
	for (uint32_t i = json_list(json, "stacks"); json_item(json, i, a->functions.n_parts); i++) {
		const struct stack_part *p = &a->functions.part[i];
		if (p->parent == TRACE_NONE) {
			json_null(json, "parent");
			json_text(json, "cause", cause_name(p->cause));
			json_text(json, "phase", view_phase(a, p->phase));
		} else {
			json_integer(json, "parent", p->parent);
			write_function(json, a, &p->function);
			for (uint32_t k = json_list(json, "callers"); json_item(json, k, p->n_callers); k++)
				write_function(json, a, &p->callers[k]);
		}
		json_text(json, "change", say_listed(WORDS_stack_change, p->change)->key);
		for (uint32_t s = 0; json_of_side(json, a, s); s++) {
			json_ms(json, "total_ms", p->time[s]);
			json_ms(json, "unsampled_ms", p->untold[s]);
		}
	}
}

void functions_json(const struct analysis *a, struct json *json)
{
	const struct functions *f = &a->functions;
	if (!f->known)
		return;
	json_object(json, "functions");
	json_object(json, "sampling");
	for (uint32_t s = 0; json_of_side(json, a, s); s++) {
		write_sampling(json, &f->side[s]);
		json_ms(json, "ms_per_step", f->idle[s]);
		json_ms(json, "gil_unlooked_ms_per_step",
		        a->side[s].source.has_lock ? a->side[s].budget.unlooked : NAN);
	}
	json_end_object(json);
	write_list(json, a, &f->all);
	write_causes(json, a);
	write_stacks(json, a);
	json_end_object(json);
}
