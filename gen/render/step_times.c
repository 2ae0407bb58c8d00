#include "render/step_times.h"

#include "base/format.h"
#include "render/pictures.h"
#include "render/tables.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>

enum { MOST_RUNS = 40 };

bool step_times_several(const struct analysis *a)
{
	return a->side[0].n_runs > 1 || a->side[1].n_runs > 1;
}

struct pair {
	const char *name;
	double value[2];
};

static size_t periods_measured(const struct run_result *run)
{
	size_t cut = run->warmup ? run->warmup - 1 : 0;
	return run->n_periods > cut ? run->n_periods - cut : 0;
}

static void fill_runs(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	page_if(&page->top, "runs", step_times_several(a));
	page_fill(&page->top, "runs.caption", SAY(NULL, arena, runs_caption, .unit = unit.name));
	struct rows *rows = page_rows(&page->top, "run");
	for (uint32_t side = 0; side < a->n_sides; side++)
		for (uint32_t r = 0; r < a->side[side].n_runs && r <= MOST_RUNS; r++) {
			const struct side *s = &a->side[side];
			const struct run_result *run = &s->runs[r];
			bool rest = r == MOST_RUNS, steps = s->steps.found && !rest;
			struct scope *row = page_row(rows);
			page_fill(row, "side", view_side(s, arena));
			page_fill(row, "file",
			          rest ? view_more(s->n_runs - r, arena) : format_name(arena, run->file, 80));
			page_fill(row, "steps", steps ? arena_format(arena, "%zu", run->n_steps) : "");
			page_fill(row, "warmup", steps ? arena_format(arena, "%zu", run->left_out) : "");
			page_fill(row, "measured", rest ? "" : arena_format(arena, "%zu", periods_measured(run)));
			page_fill(row, "period",
			          run->series && !rest ? format_number(arena, unit, run->series->mean) : "");
			page_fill(row, "shown", r == s->median_run && !rest ? "shown" : "");
		}
}

static const char *with_interval(const struct quantile *q, struct unit unit, struct arena *arena)
{
	const char *at = format_number(arena, unit, q->at);
	if (!q->known || !q->has_interval)
		return q->known ? at : "";
	return arena_format(arena, "%s [%s, %s]", at, format_number(arena, unit, q->lo),
	                    format_number(arena, unit, q->hi));
}

/* The median always; beyond it, what is more than the longest of a few steps. */
static void fill_quantiles(const struct analysis *a, struct unit unit, struct rows *rows, struct arena *arena)
{
	for (int k = 0; k < QUANTILES; k++) {
		const struct quantile *b = &a->side[0].quantile[k], *f = &a->side[1].quantile[k];
		const struct quantile_change *c = &a->quantile[k];
		if ((!b->known && !f->known) || (k > 0 && !b->has_interval && !f->has_interval))
			continue;
		struct scope *row = page_row(rows);
		page_fill(row, "name",
		          SAY(NULL, arena, quantile_row, .p = (int64_t)lround(100 * b->p),
		              .requests = a->side[0].longest_request > 0));
		page_fill(row, "before", with_interval(b, unit, arena));
		page_fill(row, "after", with_interval(f, unit, arena));
		const char *change = c->known ? format_change(arena, unit, f->at - b->at) : "";
		if (c->has_interval)
			change = SAY(NULL, arena, quantile_change, .change = change,
			             .low = arena_format(arena, "%+.1f", 100 * (c->lo - 1)),
			             .high = arena_format(arena, "%+.1f", 100 * (c->hi - 1)));
		page_fill(row, "change", change);
	}
	const double longest[2] = {a->side[0].longest_request, a->side[1].longest_request};
	if (longest[0] > 0) {
		struct scope *row = page_row(rows);
		page_fill(row, "name", SAY(NULL, arena, time_row, .what = "longest_request", .of = "step"));
		page_fill(row, "before", format_number(arena, unit, longest[0]));
		page_fill(row, "after", format_number(arena, unit, longest[1]));
		page_fill(row, "change", format_change(arena, unit, longest[1] - longest[0]));
	}
}

/* How to mark what was not found. */
static void fill_start(const struct analysis *a, struct page *page)
{
	static const char *const how[] = {[VIEW_MARKS_PROFILER] = "start.profiler",
	                                  [VIEW_MARKS_TORCH] = "start.torch",
	                                  [VIEW_MARKS_NVTX] = "start.nvtx"};
	enum { WAYS = sizeof how / sizeof *how };
	bool wanted[WAYS] = {false}, any = false;
	for (uint32_t s = 0; s < a->n_sides; s++)
		if (!a->side[s].steps.found)
			any = wanted[view_marks(a, &a->side[s])] = true;
	page_if(&page->top, "start", any);
	for (int i = 0; i < WAYS; i++)
		page_if(&page->top, how[i], wanted[i]);
}

void step_times_fill(const struct analysis *a, struct unit unit, struct page *page)
{
	const struct side *b = &a->side[0], *f = &a->side[1];
	struct arena *arena = page->arena;
	bool stopwatch = a->verdict.measured == VERDICT_STOPWATCH;
	bool one = !b->steps.found && !f->steps.found && b->n_runs <= 1 && f->n_runs <= 1; /* a number a side */
	bool steps = b->steps.found || f->steps.found;
	const char *per = view_is_pair(a) ? view_unit(b) : "step";
	page_fill(&page->top, "steps.title", say_word(WORDS_picture, steps ? "step_times" : "run_times"));
	page_fill(&page->top, "steps.link", say_word(WORDS_environment, steps ? "steps" : "runs"));
	page_fill(&page->top, "steps.caption",
	          SAY(NULL, arena, steps_caption, .runs = one, .unit = unit.name, .of = per, .timed = stopwatch));
	steps_draw(a, arena, page_draw(&page->top, "steps"));
	const struct pair times[] = {
		{stopwatch ? SAY(NULL, arena, time_row, .what = "timed", .of = per) : "",
	         {b->headline.stopwatch, f->headline.stopwatch}},
		{SAY(NULL, arena, time_row, .what = stopwatch ? "profiled" : "only", .of = per),
	         {b->headline.recorded, f->headline.recorded}},
		{SAY(NULL, arena, time_row, .what = "typical", .of = per), {b->headline.typical, f->headline.typical}},
		{SAY(NULL, arena, time_row, .what = "shortest", .of = per), {b->steps.min, f->steps.min}},
		{SAY(NULL, arena, time_row, .what = "longest", .of = per), {b->steps.max, f->steps.max}}};
	struct rows *rows = page_rows(&page->top, "step");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		const double *v = times[i].value;
		if (!*times[i].name || (one && i > 1))
			continue;
		struct scope *row = page_row(rows);
		page_fill(row, "name", times[i].name);
		page_fill(row, "before", format_number(arena, unit, v[0]));
		page_fill(row, "after", format_number(arena, unit, v[1]));
		tables_change(row, "change", format_change(arena, unit, v[1] - v[0]), v[1] - v[0]);
	}
	fill_quantiles(a, unit, rows, arena);
	fill_runs(a, unit, page);
	fill_start(a, page);
}
