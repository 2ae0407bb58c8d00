#include "render/startup.h"

#include "analyse/table.h"
#include "render/pictures.h"
#include "render/slices.h"
#include "render/tables.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <math.h>

enum { ROW = 76, HEADING = 18, BAR_AT = 26 };
static const double VISIBLE = 5e-3; /* of the longer start-up: a smaller change of a part has no colour */

static const char *heading(const struct side *s, struct arena *arena)
{
	return SAY(NULL, arena, side_took, .side_name = view_side(s, arena),
	           .time = s->startup.ns > 0 ? s->startup.ns : NAN);
}

static void draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	double most = fmax(a->side[0].startup.ns, a->side[1].startup.ns);
	xmlNode *svg = svg_picture(parent, SLICES_WIDTH, (int)a->n_sides * ROW,
	                           SAY(NULL, arena, startup_picture, .pair = a->n_sides > 1),
	                           say_word(WORDS_heading, "one_scale"));
	svg_stretch(svg);
	xmlNode *ink = svg_group(svg, "ink");
	svg_attribute(ink, "fill", "#111");
	for (int side = 0; side < (int)a->n_sides; side++) {
		const struct startup *s = &a->side[side].startup;
		struct slice slices[STARTUP_PARTS];
		double y = side * ROW;
		svg_attribute(svg_text(ink, 0, y + HEADING, ANCHOR_START, heading(&a->side[side], arena)),
		              "font-weight", "bold");
		for (uint32_t i = 0; i < s->n_rows; i++) {
			const char *label = startup_part_label(s->row[i].part);
			slices[i] = (struct slice){palette_of_startup(s->row[i].part), s->row[i].ns, label, "", label};
		}
		slices_draw(svg, slices, s->n_rows, y + BAR_AT, most, arena);
	}
}

static void fill_rows(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = table_make(a, TABLE_STARTUP, arena);
	struct rows *rows = page_rows(&page->top, "startup.part"), *meanings = page_rows(&page->top, "startup.meaning");
	const bool known[2] = {a->side[0].startup.ns > 0, a->side[1].startup.ns > 0};
	for (uint32_t i = 0; i < t.n; i++) {
		const enum startup_part part = (enum startup_part)t.row[i].key;
		const double *time = t.row[i].time, change = time[1] - time[0];
		struct scope *row = page_row(rows);
		key_draw(page_draw(row, "key"), palette_of_startup(part));
		page_fill(row, "name", startup_part_label(part));
		bars_draw(page_draw(row, "bars"), time[0], time[1], t.most);
		tables_number(row, "before",
		              known[0] ? format_number(arena, unit, time[0]) : say_word(WORDS_heading, "unknown"),
		              time[0]);
		tables_number(row, "after",
		              known[1] ? format_number(arena, unit, time[1]) : say_word(WORDS_heading, "unknown"),
		              time[1]);
		if (known[0] && known[1])
			tables_change(row, "change", format_change(arena, unit, change),
			              fabs(change) < VISIBLE * t.most ? 0 : change);
		else
			page_fill(row, "change", "");
		page_attribute(row, "change", "data-n", arena_format(arena, "%.7g", change));
		row = page_row(meanings);
		key_draw(page_draw(row, "key"), palette_of_startup(part));
		page_fill(row, "part", startup_part_label(part));
		page_fill(row, "text", startup_part_meaning(part));
	}
}

/* "The baseline: the mean of 3 runs, which took 3.21 to 3.35 s." */
static void add_runs(const struct analysis *a, int side, struct facts *facts, struct arena *arena)
{
	const struct side *s = &a->side[side];
	if (s->n_runs > 1 && s->startup.ns > 0)
		facts_add(facts, arena,
		          FACT_NEW(arena, startup_runs, a->n_sides > 1 ? side : FACT_NO_SIDE, .runs = s->n_runs,
		                   .least = s->startup.least, .most = s->startup.most));
}

static const char *begin_of(const struct analysis *a)
{
	const struct startup *b = &a->side[0].startup, *f = &a->side[1].startup;
	bool before = b->ns > 0 && !b->whole, after = a->n_sides < 2 ? before : f->ns > 0 && !f->whole;
	return before && after ? "recorded" : before ? "baseline" : after ? "fixed" : "program";
}

void startup_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side *b = &a->side[0], *f = &a->side[1];
	double time[2] = {b->startup.ns, f->startup.ns};
	const bool any = time[0] > 0 || time[1] > 0, both = time[0] > 0 && time[1] > 0;
	struct unit unit = format_unit(fmax(time[0], time[1]));
	struct facts runs = {0};
	add_runs(a, 0, &runs, arena);
	add_runs(a, 1, &runs, arena);
	page_if(&page->top, "startup", any);
	page_fill(&page->top, "startup.title",
	          SAY(NULL, arena, startup_title,
	              .of = a->n_sides < 2 ? "profile"
	                    : both         ? "both"
	                    : time[0] > 0  ? "baseline"
	                                   : "fixed",
	              .time = both ? words_pair(arena, time[0], time[1]) : format_time(arena, fmax(time[0], time[1]))));
	page_fill(&page->top, "startup.text",
	          SAY(NULL, arena, startup_text, .steps = b->steps.found && (a->n_sides < 2 || f->steps.found),
	              .begin = begin_of(a), .runs = runs.n ? &runs : NULL));
	page_fill(&page->top, "startup.caption", SAY(NULL, arena, startup_caption, .unit = unit.name));
	xmlNode *picture = page_draw(&page->top, "startup.picture");
	if (any)
		draw(a, arena, picture);
	fill_rows(a, unit, page);
	page_fill(&page->top, "startup.before",
	          time[0] > 0 ? format_number(arena, unit, time[0]) : say_word(WORDS_heading, "unknown"));
	page_fill(&page->top, "startup.after",
	          time[1] > 0 ? format_number(arena, unit, time[1]) : say_word(WORDS_heading, "unknown"));
	page_fill(&page->top, "startup.change",
	          time[0] > 0 && time[1] > 0 ? format_change(arena, unit, time[1] - time[0]) : "");
}
