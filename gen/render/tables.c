#include "render/tables.h"

#include "render/pictures.h"
#include "render/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 30, FEW = 6, SHOWN = 90, SHOWN_KERNEL = 62, WHOLE = 1000, MOST_GPUS = 16 };

/* Of the longer step: rows below this say nothing about it. */
static const double SMALL = 5e-4;
static const double VISIBLE = 5e-3;

static double least_of(const struct analysis *a)
{
	return SMALL * fmax(a->side[0].period_mean, a->side[1].period_mean);
}

/* What both sides say about one thing; `at` is the row on each side, −1 if it is not there. */
struct line {
	uint64_t key;
	double time[2], count[2], bytes[2];
	int64_t at[2];
};

struct lines {
	struct line *line;
	uint32_t n;
	double most;              /* the longest time */
	double time[2], count[2]; /* sums of the lines left out of the table */
	uint32_t shown;
};

static int by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	double d = fmax(y->time[0], y->time[1]) - fmax(x->time[0], x->time[1]);
	return d > 0 ? 1 : d < 0 ? -1 : by_key(a, b);
}

static void begin(struct lines *lines, struct arena *arena, size_t room)
{
	*lines = (struct lines){.line = ARENA_NEW(arena, room, struct line)};
}

static void add(struct lines *lines, int side, uint32_t at, uint64_t key, double time, double count, double bytes)
{
	struct line *line = &lines->line[lines->n++];
	*line = (struct line){.key = key, .at = {-1, -1}};
	line->at[side] = at;
	line->time[side] = time;
	line->count[side] = count;
	line->bytes[side] = bytes;
}

/* Joins lines of one key, sorts them by the longer of their two times, and sums up those beyond `most` rows and, after
 * the first few, those that are shorter than `least`. */
static void join(struct lines *lines, uint32_t most, double least)
{
	uint32_t n = 0;
	qsort(lines->line, lines->n, sizeof *lines->line, by_key);
	for (uint32_t i = 0; i < lines->n; i++) {
		struct line *from = &lines->line[i];
		if (n == 0 || lines->line[n - 1].key != from->key) {
			lines->line[n++] = *from;
			continue;
		}
		struct line *to = &lines->line[n - 1];
		for (int side = 0; side < 2; side++) {
			to->time[side] += from->time[side];
			to->count[side] += from->count[side];
			to->bytes[side] += from->bytes[side];
			to->at[side] = to->at[side] >= 0 ? to->at[side] : from->at[side];
		}
	}
	lines->n = n;
	qsort(lines->line, n, sizeof *lines->line, by_time);
	lines->shown = n <= most ? n : most - 1;
	while (lines->shown > FEW &&
	       fmax(lines->line[lines->shown - 1].time[0], lines->line[lines->shown - 1].time[1]) < least)
		lines->shown--;
	if (lines->shown + 1 == n) /* one row is no longer than what would stand for it */
		lines->shown = n <= most ? n : lines->shown;
	for (uint32_t i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			lines->most = fmax(lines->most, lines->line[i].time[side]);
			if (i >= lines->shown) {
				lines->time[side] += lines->line[i].time[side];
				lines->count[side] += lines->line[i].count[side];
			}
		}
}

/* ---- cells ---- */

void tables_change(struct scope *scope, const char *name, const char *text, double change)
{
	page_fill(scope, name, text);
	bool shows = strcmp(text, "0") != 0 && strcmp(text, "~0") != 0;
	page_attribute(scope, name, "class", !shows || change == 0 ? "n" : change < 0 ? "n less" : "n more-of");
}

/* A text that is shortened has the whole one beside it. */
static void fill_shortened(struct scope *row, const char *name, const char *shown)
{
	page_fill(row, "name", shown);
	if (strcmp(name, shown) != 0)
		page_attribute(row, "name", "title", format_name(row->page->arena, name, WHOLE));
}

static void fill_name(struct scope *row, const char *name)
{
	fill_shortened(row, name, format_name(row->page->arena, name, SHOWN));
}

/* What a row is about, for the script that lights it up in the timeline: ids of names, a cause's number. */
static void mark_row(struct scope *row, const char *attribute, uint32_t id)
{
	page_attribute(row, NULL, attribute, arena_format(row->page->arena, "%u", id));
}

static const char *pair_of(struct arena *arena, const char *before, const char *after)
{
	return strcmp(before, after) == 0 ? before : arena_format(arena, "%s \xE2\x86\x92 %s", before, after);
}

/* `most`: the longest time of the table; a change that cannot be seen beside it has no colour. */
static void fill_times(struct scope *row, struct unit unit, const double time[2], double most)
{
	struct arena *arena = row->page->arena;
	page_fill(row, "before", format_number(arena, unit, time[0]));
	page_fill(row, "after", format_number(arena, unit, time[1]));
	double change = time[1] - time[0];
	tables_change(row, "change", format_change(arena, unit, change), fabs(change) < VISIBLE * most ? 0 : change);
}

static void fill_counts(struct scope *row, const double count[2])
{
	struct arena *arena = row->page->arena;
	page_fill(row, "count", pair_of(arena, format_count(arena, count[0]), format_count(arena, count[1])));
}

static void fill_more(struct scope *scope, const char *name, const struct lines *lines, struct unit unit, bool counts)
{
	struct rows *rows = page_rows(scope, name);
	if (lines->shown == lines->n)
		return;
	struct scope *row = page_row(rows);
	page_fill(row, "name", arena_format(scope->page->arena, "and %u more", lines->n - lines->shown));
	fill_times(row, unit, lines->time, lines->most);
	if (counts)
		fill_counts(row, lines->count);
}

static const char *caption(struct page *page, const char *what, struct unit unit, const struct analysis *a)
{
	return arena_format(page->arena, "%s, %s a %s", what, unit.name, view_unit(&a->side[0]));
}

/* ---- the tables ---- */

void tables_waterfall(const struct analysis *a, struct unit unit, struct page *page)
{
	struct lines lines;
	begin(&lines, page->arena, 2 * (size_t)a->n_waterfall);
	for (uint32_t i = 0; i < a->n_waterfall; i++)
		for (int side = 0; side < 2; side++)
			add(&lines, side, i, i, side ? a->waterfall[i].fixed : a->waterfall[i].baseline, 0, 0);
	join(&lines, 2 * MOST_ROWS, 0);
	page_fill(
		&page->top, "waterfall.caption",
		arena_format(page->arena, "Parts of a %s, %s; each column adds up", view_unit(&a->side[0]), unit.name));
	struct rows *rows = page_rows(&page->top, "part");
	for (uint32_t i = 0; i < lines.shown; i++) {
		const struct line *line = &lines.line[i];
		struct scope *row = page_row(rows);
		fill_name(row, waterfall_label(a, page->arena, &a->waterfall[line->at[0]]));
		fill_times(row, unit, line->time, lines.most);
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], lines.most);
	}
	fill_more(&page->top, "part.more", &lines, unit, false);
}

void tables_budget(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	page_fill(&page->top, "budget.caption",
	          caption(page, "The budget of each GPU (arithmetic means over the measured window)", unit, a));
	struct rows *rows = page_rows(&page->top, "budget");
	for (int s = 0; s < 2; s++)
		for (uint32_t d = 0; d <= a->side[s].n_devices && d <= MOST_GPUS; d++) {
			/* one GPU needs no mean; many are cut, and the mean is over all of them */
			uint32_t n = a->side[s].n_devices;
			bool mean = d == n || d == MOST_GPUS;
			if (mean && n == 1)
				continue;
			const struct device_result *r = &a->side[s].devices[mean ? 0 : d];
			const struct budget *b = mean ? &a->side[s].budget : &r->budget;
			bool named = r->name && *names_text(a->names, r->name);
			const char *gpu =
				named ? arena_format(arena, "%u: %s", r->id, format_name(arena, view_gpu(a, r), SHOWN))
				      : arena_format(arena, "GPU %u", r->id);
			struct scope *row = page_row(rows);
			page_fill(row, "side", a->side[s].label);
			page_fill(row, "gpu",
			          mean ? arena_format(arena, "mean of %u", n)
			               : arena_format(arena, "%s, process %lld", gpu, (long long)r->process));
			page_fill(row, "compute", format_number(arena, unit, b->compute));
			page_fill(row, "comm", format_number(arena, unit, b->comm_exposed));
			page_fill(row, "copy", format_number(arena, unit, b->copy_exposed));
			page_fill(row, "idle", format_number(arena, unit, b->idle));
			page_fill(row, "period", format_number(arena, unit, b->period));
		}
}

void tables_phases(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct lines lines;
	begin(&lines, arena, (size_t)a->side[0].n_phases + a->side[1].n_phases);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].n_phases; i++)
			add(&lines, s, i, a->side[s].phases[i].name, a->side[s].phases[i].cost, 0, 0);
	join(&lines, MOST_ROWS, least_of(a));
	page_if(&page->top, "phases.none", !view_has_phases(a));
	page_if(&page->top, "phases.some", view_has_phases(a));
	page_fill(&page->top, "phases.caption", caption(page, "Phases", unit, a));
	struct rows *rows = page_rows(&page->top, "phase");
	for (uint32_t i = 0; i < lines.shown; i++) {
		const struct line *line = &lines.line[i];
		static const struct phase_result nothing;
		const struct phase_result *p[2];
		const char *rank[2];
		for (int s = 0; s < 2; s++) {
			p[s] = line->at[s] < 0 ? &nothing : &a->side[s].phases[line->at[s]];
			rank[s] = line->at[s] < 0 ? "\xE2\x80\x93" : arena_format(arena, "%u", p[s]->rank);
		}
		struct scope *row = page_row(rows);
		mark_row(row, "data-phase", (uint32_t)line->key);
		fill_name(row, view_phase(a, (uint32_t)line->key));
		page_fill(row, "rank", pair_of(arena, rank[0], rank[1]));
		fill_times(row, unit, line->time, lines.most);
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], lines.most);
		page_fill(
			row, "idle",
			pair_of(arena, format_number(arena, unit, p[0]->idle), format_number(arena, unit, p[1]->idle)));
		page_fill(row, "gpu",
		          pair_of(arena, format_number(arena, unit, p[0]->gpu), format_number(arena, unit, p[1]->gpu)));
		page_fill(
			row, "host",
			pair_of(arena, format_number(arena, unit, p[0]->host), format_number(arena, unit, p[1]->host)));
	}
	fill_more(&page->top, "phase.more", &lines, unit, false);
}

/* The causes that the table shows, with what they mean. */
static void fill_meanings(const struct lines *lines, struct page *page)
{
	bool shown[CAUSE_COUNT] = {false};
	for (uint32_t i = 0; i < lines->shown; i++)
		shown[lines->line[i].key >> 32] = true;
	struct rows *rows = page_rows(&page->top, "meaning");
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		if (!shown[cause])
			continue;
		struct scope *row = page_row(rows);
		key_draw(page_draw(row, "key"), cause);
		page_fill(row, "cause", cause_label((enum cause)cause));
		page_fill(row, "text", cause_meaning((enum cause)cause));
	}
	page_if(&page->top, "meanings", lines->shown > 0);
}

void tables_idle(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct lines lines;
	begin(&lines, arena, (size_t)a->side[0].budget.n_rows + a->side[1].budget.n_rows);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].budget.n_rows; i++) {
			const struct idle_row *row = &a->side[s].budget.rows[i];
			add(&lines, s, i, (uint64_t)row->cause << 32 | row->phase, row->per_step, 0, 0);
		}
	join(&lines, MOST_ROWS, least_of(a));
	page_fill(&page->top, "idle.caption", caption(page, "GPU idle time by cause and phase", unit, a));
	struct rows *rows = page_rows(&page->top, "cause");
	for (uint32_t i = 0; i < lines.shown; i++) {
		const struct line *line = &lines.line[i];
		enum cause cause = (enum cause)(line->key >> 32);
		uint32_t call = 0;
		for (int s = 0; s < 2 && !call; s++)
			call = line->at[s] < 0 ? 0 : a->side[s].budget.rows[line->at[s]].call;
		struct scope *row = page_row(rows);
		mark_row(row, "data-cause", (uint32_t)cause);
		if (view_has_phases(a))
			mark_row(row, "data-phase", (uint32_t)line->key);
		key_draw(page_draw(row, "key"), (int)cause);
		const char *label = cause_label(cause);
		fill_name(row, call ? arena_format(arena, "%s: %s", label, names_text(a->names, call)) : label);
		page_fill(row, "phase",
		          view_has_phases(a) ? format_name(arena, view_phase(a, (uint32_t)line->key), SHOWN)
		                             : "\xE2\x80\x93");
		fill_times(row, unit, line->time, lines.most);
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], lines.most);
	}
	fill_more(&page->top, "cause.more", &lines, unit, false);
	double idle[2] = {a->side[0].budget.idle, a->side[1].budget.idle};
	page_fill(&page->top, "idle.before", format_number(arena, unit, idle[0]));
	page_fill(&page->top, "idle.after", format_number(arena, unit, idle[1]));
	tables_change(&page->top, "idle.change", format_change(arena, unit, idle[1] - idle[0]), idle[1] - idle[0]);
	fill_meanings(&lines, page);
}

static void fill_kernels(const struct analysis *a, struct unit unit, struct page *page)
{
	struct lines lines;
	begin(&lines, page->arena, (size_t)a->side[0].n_kernels + a->side[1].n_kernels);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].n_kernels; i++) {
			const struct kernel_result *k = &a->side[s].kernels[i];
			add(&lines, s, i, k->name, k->per_step, k->instances, 0);
		}
	join(&lines, MOST_ROWS, least_of(a));
	page_fill(&page->top, "kernels.caption",
	          caption(page, "Kernels and whole graph launches, summed over GPUs", unit, a));
	struct rows *rows = page_rows(&page->top, "kernel");
	for (uint32_t i = 0; i < lines.shown; i++) {
		const struct line *line = &lines.line[i];
		struct scope *row = page_row(rows);
		const char *name = names_text(a->names, (uint32_t)line->key);
		mark_row(row, "data-name", (uint32_t)line->key);
		fill_shortened(row, name, format_kernel(page->arena, name, SHOWN_KERNEL));
		fill_times(row, unit, line->time, lines.most);
		fill_counts(row, line->count);
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], lines.most);
	}
	fill_more(&page->top, "kernel.more", &lines, unit, true);
}

static void fill_api(const struct analysis *a, struct unit unit, struct page *page)
{
	struct lines lines;
	begin(&lines, page->arena, (size_t)a->side[0].n_api + a->side[1].n_api);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].n_api; i++) {
			const struct api_result *c = &a->side[s].api[i];
			add(&lines, s, i, (uint64_t)c->name << 8 | c->class, c->per_step, c->calls, 0);
		}
	join(&lines, MOST_ROWS, least_of(a));
	page_if(&page->top, "api.none", lines.n == 0);
	page_if(&page->top, "api.some", lines.n > 0);
	page_fill(&page->top, "api.caption", caption(page, "CUDA API calls inside the measured window", unit, a));
	struct rows *rows = page_rows(&page->top, "call");
	for (uint32_t i = 0; i < lines.shown; i++) {
		const struct line *line = &lines.line[i];
		enum call_class class = (enum call_class)(line->key & 0xff);
		struct scope *row = page_row(rows);
		key_draw(page_draw(row, "key"), cause_of_call[class]);
		mark_row(row, "data-name", (uint32_t)(line->key >> 8));
		fill_name(row, names_text(a->names, (uint32_t)(line->key >> 8)));
		fill_times(row, unit, line->time, lines.most);
		fill_counts(row, line->count);
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], lines.most);
	}
	fill_more(&page->top, "call.more", &lines, unit, true);
}

static void fill_copies(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct lines lines;
	begin(&lines, arena, (size_t)a->side[0].n_copies + a->side[1].n_copies);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].n_copies; i++) {
			const struct copy_result *c = &a->side[s].copies[i];
			uint64_t key = (uint64_t)c->memset << 9 | (uint64_t)c->pageable << 8 | (uint64_t)c->kind;
			add(&lines, s, i, key, c->per_step, c->instances, c->bytes);
		}
	join(&lines, 2 * MOST_ROWS, 0); /* no more than there are kinds */
	page_if(&page->top, "copies.none", lines.n == 0);
	page_if(&page->top, "copies.some", lines.n > 0);
	page_fill(&page->top, "copies.caption", caption(page, "Copies and memsets, summed over GPUs", unit, a));
	struct rows *rows = page_rows(&page->top, "copy");
	for (uint32_t i = 0; i < lines.n; i++) {
		const struct line *line = &lines.line[i];
		int s = line->at[0] < 0 ? 1 : 0;
		const struct copy_result *c = &a->side[s].copies[line->at[s]];
		struct scope *row = page_row(rows);
		page_fill(row, "name",
		          arena_format(arena, "%s%s", view_copy_label(c), c->pageable ? ", pageable memory" : ""));
		fill_times(row, unit, line->time, lines.most);
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], lines.most);
		fill_counts(row, line->count);
		page_fill(row, "bytes",
		          pair_of(arena, format_bytes(arena, line->bytes[0]), format_bytes(arena, line->bytes[1])));
	}
}

void tables_work(const struct analysis *a, struct unit unit, struct page *page)
{
	fill_kernels(a, unit, page);
	fill_api(a, unit, page);
	fill_copies(a, unit, page);
}
