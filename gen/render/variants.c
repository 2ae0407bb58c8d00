#include "render/variants.h"

#include "base/format.h"
#include "base/json_writer.h"
#include "render/assets.h"
#include "render/page.h"
#include "render/pictures.h"
#include "say/say.h"

#include <math.h>

static const char *result_of(const struct variant *v)
{
	return say_word(WORDS_result_first, verdict_result_name(v->result));
}

static void fill_row(const struct variant *v, bool baseline, struct unit unit, struct scope *row, struct arena *arena)
{
	const struct fact *interval = FACT_NEW(arena, variant_interval, FACT_NO_SIDE, .low = v->lo, .high = v->hi);
	page_fill(row, "name", v->name);
	page_fill(row, "result", baseline ? "" : result_of(v));
	page_fill(row, "runs", arena_format(arena, "%zu", v->n));
	page_fill(row, "step", format_number(arena, unit, v->step));
	page_fill(row, "speedup",
	          baseline ? ""
	                   : SAY(NULL, arena, speedup_said, .how = "one", .speedup = v->speedup, .low = v->lo,
	                         .high = v->hi));
	page_fill(row, "interval", v->has_interval ? say_fact(interval, NULL, arena) : "");
	page_if(row, "linked.report", v->report != NULL);
	page_attribute(row, "linked.report", "href", v->report ? v->report : "");
	page_fill(row, "report", v->report ? v->report : "");
	page_fill(row, "why", v->why ? say_fact(v->why, NULL, arena) : "");
}

int variants_html(const struct variant *list, size_t n, const char *parameter, const char *title, struct buf *out,
                  struct err *err)
{
	ARENA_LOCAL(arena);
	struct page page;
	int64_t decided = 0;
	for (size_t i = 1; i < n; i++)
		decided += list[i].result != VERDICT_INCONCLUSIVE;
	const char *result = SAY(NULL, &arena, variants_page, .decided = decided, .variants = (int64_t)n - 1);
	const char *own =
		parameter ? SAY(NULL, &arena, sweep_title, .parameter = parameter)
			  : SAY(NULL, &arena, variants_title, .variants = (int64_t)n - 1, .baseline = list[0].name);
	const struct unit unit = format_unit(list[0].step);
	page_open(&page, asset_variants_html.bytes, asset_variants_html.n, 1, &arena);
	page_head(&page, result, title ? title : own, "");
	xmlNode *picture = page_draw(&page.top, "picture");
	if (!parameter || !dots_of_sweep(list, n, parameter, &arena, picture))
		dots_of_variants(list, n, &arena, picture);
	page_fill(&page.top, "means",
	          SAY(NULL, &arena, variants_means, .baseline = list[0].name,
	              .intervals = variants_any_interval(list, n)));
	page_fill(&page.top, "caption",
	          SAY(NULL, &arena, variants_caption, .unit = unit.name, .baseline = list[0].name,
	              .intervals = variants_any_interval(list, n)));
	struct rows *rows = page_rows(&page.top, "variant");
	for (size_t i = 0; i < n; i++)
		fill_row(&list[i], i == 0, unit, page_row(rows), &arena);
	page_fill(&page.top, "footer", SAY(NULL, &arena, page_made_by, .version = GAPLINE_VERSION));
	return page_finish(&page, out, err);
}

static void write_variant(struct json *json, const struct variant *v, bool baseline, struct arena *arena)
{
	json_object(json, baseline ? "baseline" : NULL);
	json_text(json, "name", v->name);
	json_text(json, "value", v->value);
	json_ms(json, "step_ms", v->step);
	for (size_t r = json_list(json, "run_ms"); json_more(json, r < v->n); r++)
		json_ms(json, NULL, v->run[r]);
	if (!baseline) {
		json_text(json, "result", verdict_result_name(v->result));
		json_number(json, "speedup", v->speedup);
		json_number(json, "lo", v->has_interval ? v->lo : NAN);
		json_number(json, "hi", v->has_interval ? v->hi : NAN);
		json_text(json, "why", v->why ? say_fact(v->why, NULL, arena) : NULL);
		json_text(json, "pair_result", verdict_result_name(v->pair.result));
		json_text(json, "report", v->report);
	}
	json_end_object(json);
}

int variants_json(const struct variant *list, size_t n, const char *parameter, struct buf *out, struct err *err)
{
	ARENA_LOCAL(arena);
	struct json json;
	json_init(&json, out);
	json_object(&json, NULL);
	json_text(&json, "schema", "gapline-variants/1");
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "parameter", parameter);
	write_variant(&json, &list[0], true, &arena);
	for (size_t i = 1 + json_list(&json, "variants"); json_more(&json, i < n); i++)
		write_variant(&json, &list[i], false, &arena);
	json_end_object(&json);
	return json_finish(&json, err);
}

void variants_terminal(const struct variant *list, size_t n, struct buf *out)
{
	ARENA_LOCAL(arena);
	buf_format(out, "%s\n",
	           SAY(NULL, &arena, variants_head, .baseline = list[0].name, .runs = (int64_t)list[0].n,
	               .time = format_time(&arena, list[0].step), .intervals = variants_any_interval(list, n)));
	for (size_t i = 1; i < n; i++) {
		const struct variant *v = &list[i];
		buf_format(out, "%s\n",
		           SAY(NULL, &arena, variant_is, .name = v->name, .result = verdict_result_name(v->result),
		               .time = format_time(&arena, v->step), .speedup = v->speedup,
		               .low = v->has_interval ? v->lo : NAN, .high = v->has_interval ? v->hi : NAN,
		               .runs = (int64_t)v->n, .why = v->why));
	}
}
