#include "render/sections.h"

#include "analyse/table.h"
#include "base/format.h"
#include "render/pictures.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

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
static void fill_latency(const struct analysis *a, enum latency_of of, struct unit unit, struct rows *rows,
                         struct arena *arena)
{
	static const char *const longest[] = {"longest_request", "longest_first", "longest_each"};
	static const char *const named[] = {"requests", "first", "each"};
	const struct latency *l[2] = {&a->side[0].latency[of], &a->side[1].latency[of]};
	const bool some = l[0]->n < l[0]->of || l[1]->n < l[1]->of;
	for (int k = 0; k < QUANTILES; k++) {
		const struct quantile *b = &l[0]->quantile[k], *f = &l[1]->quantile[k];
		const struct quantile_change *c = &a->quantile[of][k];
		if ((!b->known && !f->known) || (k > 0 && !b->has_interval && !f->has_interval))
			continue;
		struct scope *row = page_row(rows);
		page_fill(row, "name",
		          SAY(NULL, arena, quantile_row, .p = (int64_t)lround(100 * b->p),
		              .of = l[0]->longest > 0 ? named[of] : "steps",
		              .n = some ? (int64_t)(l[0]->n + l[1]->n) : FACT_UNKNOWN,
		              .all = (int64_t)(l[0]->of + l[1]->of)));
		page_fill(row, "before", with_interval(b, unit, arena));
		page_fill(row, "after", with_interval(f, unit, arena));
		const char *change = c->known ? format_change(arena, unit, f->at - b->at) : "";
		if (c->has_interval)
			change = SAY(NULL, arena, quantile_change, .change = change,
			             .low = arena_format(arena, "%+.1f", 100 * (c->lo - 1)),
			             .high = arena_format(arena, "%+.1f", 100 * (c->hi - 1)));
		page_fill(row, "change", change);
	}
	if (l[0]->longest > 0) {
		struct scope *row = page_row(rows);
		page_fill(row, "name", SAY(NULL, arena, time_row, .what = longest[of], .of = "step"));
		page_fill(row, "before", format_number(arena, unit, l[0]->longest));
		page_fill(row, "after", format_number(arena, unit, l[1]->longest));
		page_fill(row, "change", format_change(arena, unit, l[1]->longest - l[0]->longest));
	}
}

/* Of timed runs; where their energy is not known, why, unless nobody looked. */
static void fill_energy(const struct analysis *a, struct page *page)
{
	const struct energy_change *e = &a->energy;
	struct arena *arena = page->arena;
	const struct fact *said = NULL;
	double idle[2];
	for (int s = 0; s < 2; s++)
		idle[s] = a->side[s].budget.period > 0 ? a->side[s].budget.idle / a->side[s].budget.period : NAN;
	if (e->known)
		said = FACT_NEW(arena, energy_is, FACT_NO_SIDE, .baseline = e->joule[0], .fixed = e->joule[1],
		                .ratio = e->ratio, .low = e->has_interval ? e->lo : NAN,
		                .high = e->has_interval ? e->hi : NAN, .idle_baseline = idle[0], .idle_fixed = idle[1]);
	else if (e->why && strncmp(e->why, "not_", 4) != 0)
		said = FACT_NEW(arena, energy_missing, FACT_NO_SIDE,
		                .why = FACT_NEW(arena, energy_unknown, e->side, .why = e->why));
	page_fill_if(&page->top, "energy", said != NULL, said ? say_fact(said, NULL, arena) : "");
}

/* Why peaks are unknown: of each side, or of both alike. */
static void fill_memory_missing(const struct analysis *a, struct page *page)
{
	struct rows *rows = page_rows(&page->top, "memory.missing");
	const uint32_t n = a->n_sides;
	const char *why[2], *of[2];
	for (uint32_t s = 0; s < n; s++) {
		why[s] = a->side[s].memory.steps_why;
		of[s] = a->side[s].memory.known ? "steps" : "run";
	}
	const bool alike = n == 2 && why[0] && why[1] && strcmp(why[0], why[1]) == 0;
	for (uint32_t s = 0; s < (alike ? 1 : n); s++)
		if (why[s])
			page_fill(page_row(rows), "text",
			          SAY(NULL, page->arena, memory_missing, .of = of[s],
			              .why = FACT_NEW(page->arena, peak_unknown,
			                              alike || n == 1 ? FACT_NO_SIDE : (int)s, .why = why[s])));
}

/* Which quantiles of requests have no interval, and how many requests it takes. */
static void fill_quantiles_missing(const struct analysis *a, enum latency_of of, struct rows *rows, struct arena *arena)
{
	static const char *const time[] = {"step", "first", "each"};
	for (int k = 0; k < QUANTILES && a->n_sides > 1; k++) {
		const struct quantile *q[2] = {&a->side[0].latency[of].quantile[k],
		                               &a->side[1].latency[of].quantile[k]};
		const bool few[2] = {q[0]->known && !q[0]->has_interval, q[1]->known && !q[1]->has_interval};
		const int s = few[1] && (!few[0] || q[1]->independent < q[0]->independent);
		if (few[s] && a->side[s].latency[of].longest > 0)
			page_fill(
				page_row(rows), "text",
				say_fact(FACT_NEW(arena, quantile_unsure, s, .quantile = (int64_t)lround(100 * q[s]->p),
			                          .time = time[of], .needed = q[s]->needed, .of = "requests",
			                          .independent = floor(q[s]->independent)),
			                 NULL, arena));
	}
}

/* Who allocated most of it; NULL: nobody is known. */
static const struct fact *memory_part(const struct side_memory *of, struct arena *arena)
{
	const struct trace_held *range = of->held, *by = of->operators;
	if (!range->bytes && !by->bytes)
		return NULL;
	return FACT_NEW(arena, memory_part, FACT_NO_SIDE, .range = range->name,
	                .held = range->bytes ? (double)range->bytes : NAN, .both = range->bytes && by->bytes,
	                .by = by->name, .bytes = by->bytes ? (double)by->bytes : NAN);
}

/* The peak of device memory. */
static void fill_memory(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side_memory *m[2] = {&a->side[0].memory, &a->side[a->n_sides - 1].memory};
	const bool pair = a->n_sides > 1;
	const struct fact *said = NULL;
	if (m[0]->known && m[1]->known)
		said = FACT_NEW(arena, memory_is, FACT_NO_SIDE, .baseline = (double)m[0]->peak,
		                .fixed = pair ? (double)m[1]->peak : NAN,
		                .ratio = pair && m[0]->peak && m[0]->allocator == m[1]->allocator
		                                 ? (double)m[1]->peak / (double)m[0]->peak
		                                 : NAN,
		                .pair = pair, .part_baseline = memory_part(m[0], arena),
		                .part_fixed = pair ? memory_part(m[1], arena) : NULL,
		                .by = m[0]->allocator == m[1]->allocator ? m[0]->allocator ? "allocator" : "cuda"
		                      : m[0]->allocator                  ? "unlike"
		                                                         : "unlike_fixed");
	page_fill_if(&page->top, "memory", said != NULL, said ? say_fact(said, a->names, arena) : "");
}

struct peaks {
	int64_t bytes[2]; /* by side; 0: not known */
};

static void memory_row(struct rows *rows, const char *name, const int64_t bytes[2], bool alike, struct arena *arena)
{
	const double change = (double)(bytes[1] - bytes[0]);
	const char *text[2];
	for (int s = 0; s < 2; s++)
		text[s] = bytes[s] ? format_bytes(arena, (double)bytes[s]) : say_word(WORDS_heading, "unknown");
	struct scope *row = page_row(rows);
	page_fill(row, "name", name);
	page_fill(row, "before", text[0]);
	page_fill(row, "after", text[1]);
	page_fill(row, "change",
	          !alike || !bytes[0] || !bytes[1] ? ""
	          : fabs(change) < 1               ? "0"
	                                           : arena_format(arena, "%s%s", change < 0 ? "\xE2\x88\x92" : "+",
	                                                          format_bytes(arena, fabs(change))));
}

/* The peaks of steps, and of the phases that have most. */
static void fill_memory_steps(const struct analysis *a, struct page *page)
{
	enum { PHASES = 10 };
	struct arena *arena = page->arena;
	const struct side_memory *m[2] = {&a->side[0].memory, &a->side[1].memory};
	const int64_t step[2][2] = {{m[0]->step_median, m[1]->step_median}, {m[0]->step_most, m[1]->step_most}};
	const bool alike = m[0]->allocator == m[1]->allocator, any = m[0]->n_steps || m[1]->n_steps;
	struct rows *rows = page_rows(&page->top, "memory.row");
	page_if(&page->top, "memory.steps", any);
	for (int k = 0; k < 2 && any; k++)
		memory_row(rows, SAY(NULL, arena, memory_row, .of = k ? "most" : "median"), step[k], alike, arena);
	const struct table t = table_make(a, TABLE_PHASES, arena);
	struct peaks *of = ARENA_NEW(arena, t.n, struct peaks);
	for (uint32_t i = 0; i < t.n; i++)
		for (int s = 0; s < 2; s++)
			of[i].bytes[s] = t.row[i].at[s] < 0 ? 0 : a->side[s].phases[t.row[i].at[s]].memory;
	for (int k = 0; k < PHASES; k++) {
		uint32_t best = 0;
		int64_t most = 0;
		for (uint32_t i = 0; i < t.n; i++) {
			int64_t own = of[i].bytes[0] > of[i].bytes[1] ? of[i].bytes[0] : of[i].bytes[1];
			best = own > most ? i : best;
			most = own > most ? own : most;
		}
		if (!most)
			break;
		memory_row(rows, view_phase(a, (uint32_t)t.row[best].key), of[best].bytes, alike, arena);
		of[best] = (struct peaks){{0, 0}};
	}
}

static void fill_slowest(const struct analysis *a, struct page *page)
{
	struct rows *rows = page_rows(&page->top, "slowest");
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct fact *said = words_slowest(a, s, page->arena);
		if (said)
			page_fill(page_row(rows), "text", say_fact(said, a->names, page->arena));
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
	page_if(&page->top, "steps.drawn", steps_draw(a, arena, page_draw(&page->top, "steps")));
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
	struct rows *missing = page_rows(&page->top, "quantile.missing");
	for (enum latency_of of = LATENCY_STEP; of < LATENCIES; of++) {
		fill_latency(a, of, unit, rows, arena);
		fill_quantiles_missing(a, of, missing, arena);
	}
	fill_energy(a, page);
	fill_memory(a, page);
	fill_memory_missing(a, page);
	fill_memory_steps(a, page);
	fill_slowest(a, page);
	fill_runs(a, unit, page);
	fill_start(a, page);
}

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
	xmlNode *ink = svg_filled(svg, "ink", "#111");
	for (int side = 0; side < (int)a->n_sides; side++) {
		const struct startup *s = &a->side[side].startup;
		struct slice slices[STARTUP_PARTS];
		double y = side * ROW;
		svg_attribute(svg_text(ink, 0, y + HEADING, ANCHOR_START, heading(&a->side[side], arena)),
		              "font-weight", "bold");
		for (uint32_t i = 0; i < s->n_rows; i++) {
			const char *label = say_listed(WORDS_startup_part, s->row[i].part)->word;
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
		page_fill(row, "name", say_listed(WORDS_startup_part, part)->word);
		bars_draw(page_draw(row, "bars"), time[0], time[1], t.most);
		tables_number(row, "before",
		              known[0] ? format_number(arena, unit, time[0]) : say_word(WORDS_heading, "unknown"),
		              time[0]);
		tables_number(row, "after",
		              known[1] ? format_number(arena, unit, time[1]) : say_word(WORDS_heading, "unknown"),
		              time[1]);
		if (known[0] && known[1])
			tables_change(row, "change", format_change(arena, unit, change),
			              part == STARTUP_PROFILER || fabs(change) < VISIBLE * t.most ? 0 : change);
		else
			page_fill(row, "change", "");
		page_attribute(row, "change", "data-n", arena_format(arena, "%.7g", change));
		row = page_row(meanings);
		key_draw(page_draw(row, "key"), palette_of_startup(part));
		page_fill(row, "part", say_listed(WORDS_startup_part, part)->word);
		page_fill(row, "text", say_listed(WORDS_startup_meaning, part)->word);
	}
}

/* "The baseline: the mean of 3 runs, which took 3.21 to 3.35 s." */
static void add_runs(const struct analysis *a, int side, struct facts *facts, struct arena *arena)
{
	const struct side *s = &a->side[side];
	if (s->n_runs > 1 && s->startup.ns > 0)
		FACT_ADD(facts, arena, startup_runs, a->n_sides > 1 ? side : FACT_NO_SIDE, .runs = s->n_runs,
		         .least = s->startup.least, .most = s->startup.most);
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
