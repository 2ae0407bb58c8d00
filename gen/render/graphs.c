/* What is in CUDA graphs that were traced whole: an estimate, and said to be one wherever it is shown. */
#include "render/sections.h"

#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

static bool is_given(const struct analysis *a)
{
	return a->inside.graphs[0].file || a->inside.graphs[1].file;
}

const char *graphs_title(const struct analysis *a, int s, const struct graph_inside *graph, struct arena *arena)
{
	return say_fact(FACT_NEW(arena, graph_is, a->n_sides > 1 ? s : FACT_NO_SIDE, .number = graph->number,
	                         .launches = graph->instances, .of = view_unit(&a->side[s])),
	                NULL, arena);
}

const char *graphs_name(const struct analysis *a, const struct graph_share *share, enum graph_share_of of,
                        struct arena *arena)
{
	const char *name = names_text(a->names, share->name);
	return !*name                  ? say_word(WORDS_heading, "none_known")
	       : of == GRAPH_BY_KERNEL ? format_kernel(arena, name, 90)
	                               : format_name(arena, name, 90);
}

static void fill_graph(const struct analysis *a, int s, const struct graph_inside *g, struct unit unit,
                       struct rows *graphs, struct rows *parts)
{
	struct arena *arena = graphs->page->arena;
	struct scope *row = page_row(graphs);
	page_fill(row, "name", graphs_title(a, s, g, arena));
	page_fill(row, "time", format_number(arena, unit, g->per_step));
	for (int of = 0; of < GRAPH_LISTS; of++)
		for (uint32_t i = 0; i < g->list[of].n; i++) {
			const struct graph_share *share = &g->list[of].row[i];
			row = page_row(parts);
			page_code(row, "name", graphs_name(a, share, (enum graph_share_of)of, arena));
			page_fill(row, "by", say_listed(WORDS_graph_by, (unsigned)of)->word);
			page_fill(row, "share", format_share(arena, share->share));
			page_fill(row, "time",
			          arena_format(arena, "\xE2\x89\x88 %s",
			                       format_number(arena, unit, g->per_step * share->share)));
		}
}

void graphs_fill(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct rows *graphs = page_rows(&page->top, "graphs.graph"),
		    *parts = page_rows_among(&page->top, "graphs.part", graphs),
		    *unknown = page_rows(&page->top, "graphs.unknown");
	uint32_t n = 0, more = 0;
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct graphs_inside *in = &a->inside.graphs[s];
		n += in->n;
		more += in->more;
		if (in->unknown)
			page_fill(page_row(unknown), "text", say_fact(in->unknown, NULL, arena));
		for (uint32_t i = 0; i < in->n; i++)
			fill_graph(a, (int)s, &in->graph[i], unit, graphs, parts);
	}
	page_if(&page->top, "graphs", is_given(a));
	page_if(&page->top, "graphs.some", n > 0);
	page_fill(&page->top, "graphs.text", SAY(NULL, arena, graphs_estimated));
	page_fill(&page->top, "graphs.caption",
	          SAY(NULL, arena, graphs_caption, .unit = unit.name, .of = view_unit(&a->side[0]), .more = more));
}

/* ---- JSON ---- */

static void write_graph(const struct analysis *a, const struct graph_inside *g, struct json *json)
{
	static const char *const keys[] = {"kernels", "phases", "ranges", "modules"};
	json_integer(json, "number", g->number);
	json_number(json, "launches_per_step", g->instances);
	json_ms(json, "ms_per_step", g->per_step);
	for (int of = 0; of < GRAPH_LISTS; of++)
		for (uint32_t i = json_list(json, keys[of]); json_item(json, i, g->list[of].n); i++) {
			const struct graph_share *share = &g->list[of].row[i];
			json_text(json, "name", share->name ? names_text(a->names, share->name) : NULL);
			json_number(json, "share", share->share);
			json_ms(json, "estimated_ms_per_step", g->per_step * share->share);
		}
}

void graphs_json(const struct analysis *a, struct json *json)
{
	if (!is_given(a))
		return;
	ARENA_LOCAL(scratch);
	json_object(json, "graphs_inside");
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct graphs_inside *in = &a->inside.graphs[s];
		if (!json_maybe(json, a->side[s].label, in->file != NULL))
			continue;
		json_text(json, "file", in->file);
		json_text(json, "unknown", say_fact(in->unknown, NULL, &scratch));
		for (uint32_t i = json_list(json, "graphs"); json_item(json, i, in->n); i++)
			write_graph(a, &in->graph[i], json);
		json_integer(json, "left_out", in->more);
		json_end_object(json);
	}
	json_end_object(json);
}
