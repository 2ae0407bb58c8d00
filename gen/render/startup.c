#include "render/startup.h"

#include "analyse/table.h"
#include "render/evidence.h"
#include "render/pictures.h"
#include "render/slices.h"
#include "render/tables.h"
#include "render/view.h"

#include <math.h>

enum { ROW = 76, HEADING = 18, BAR_AT = 26 };
static const double VISIBLE = 5e-3; /* of the longer start-up: a smaller change of a part has no colour */

static const char *heading(const struct side *s, struct arena *arena)
{
	const char *name = view_side(s, arena);
	if (s->startup.ns <= 0)
		return arena_format(arena, "%s: not known", name);
	return arena_format(arena, "%s, %s", name, format_time(arena, s->startup.ns));
}

static void draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	double most = fmax(a->side[0].startup.ns, a->side[1].startup.ns);
	xmlNode *svg = svg_picture(parent, SLICES_WIDTH, (int)a->n_sides * ROW,
	                           a->n_sides > 1 ? "Start-up by what the program did, baseline above fixed"
	                                          : "Start-up by what the program did",
	                           "On one scale; the table below has the numbers.");
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
		tables_number(row, "before", known[0] ? format_number(arena, unit, time[0]) : "not known", time[0]);
		tables_number(row, "after", known[1] ? format_number(arena, unit, time[1]) : "not known", time[1]);
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

/* "Mean of 3 runs, of 3.21 to 3.35 s" */
static const char *runs_of(const struct side *s, struct arena *arena)
{
	if (s->n_runs < 2 || s->startup.ns <= 0)
		return "";
	return arena_format(arena, " The %s: the mean of %u runs, which took %s to %s.", s->label, s->n_runs,
	                    format_time(arena, s->startup.least), format_time(arena, s->startup.most));
}

static const char *begin_of(const struct analysis *a)
{
	const struct startup *b = &a->side[0].startup, *f = &a->side[1].startup;
	bool before = b->ns > 0 && !b->whole, after = a->n_sides < 2 ? before : f->ns > 0 && !f->whole;
	if (!before && !after)
		return " It begins where the program was started.";
	if (before && after)
		return " It begins with the first thing that was recorded of the program; what it did before that is "
		       "not "
		       "in it.";
	return before ? " The baseline's begins with the first thing that was recorded of the program, the fixed "
	                "side's "
	                "where the program was started: they cannot be compared as a whole."
	              : " The fixed side's begins with the first thing that was recorded of the program, the "
	                "baseline's "
	                "where the program was started: they cannot be compared as a whole.";
}

void startup_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const char *both = evidence_startups(a, arena);
	double time[2] = {a->side[0].startup.ns, a->side[1].startup.ns};
	struct unit unit = format_unit(fmax(time[0], time[1]));
	page_if(&page->top, "startup", both);
	page_fill(&page->top, "startup.title", arena_format(arena, "Start-up: %s", both ? both : ""));
	bool steps = a->side[0].steps.found && (a->n_sides < 2 || a->side[1].steps.found);
	page_fill(&page->top, "startup.text",
	          arena_format(arena,
	                       "What lies before %s. It is part of no step, and of none of the numbers above.%s%s%s",
	                       steps ? "the first step"
	                             : "the first step, or where there are none before the last module was "
	                               "loaded",
	                       begin_of(a), runs_of(&a->side[0], arena), runs_of(&a->side[1], arena)));
	page_fill(&page->top, "startup.caption",
	          arena_format(arena, "Parts of the start-up, %s; each column adds up", unit.name));
	xmlNode *picture = page_draw(&page->top, "startup.picture");
	if (both)
		draw(a, arena, picture);
	fill_rows(a, unit, page);
	page_fill(&page->top, "startup.before", time[0] > 0 ? format_number(arena, unit, time[0]) : "not known");
	page_fill(&page->top, "startup.after", time[1] > 0 ? format_number(arena, unit, time[1]) : "not known");
	page_fill(&page->top, "startup.change",
	          time[0] > 0 && time[1] > 0 ? format_change(arena, unit, time[1] - time[0]) : "");
}
