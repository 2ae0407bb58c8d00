#include "render/sections.h"

#include "analyse/shown.h"
#include "render/pictures.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

enum {
	SHOWN = 90,
	SHOWN_KERNEL = 62,
	WHOLE = 1000,      /* characters of what is called a whole name … */
	WHOLE_LEAST = 120, /* … and where there are very many of them */
	ROW = 340,         /* bytes of a row without its name */
	ROOM = 450 * 1000, /* bytes of the rows, of all tables, that are not shown at first */
	DOMAIN = 40        /* characters of an NVTX domain's name */
};
static const double VISIBLE = 5e-3;

/* ---- cells ---- */

void tables_change(struct scope *scope, const char *name, const char *text, double change)
{
	if (scope->page->no_pair) {
		text = "\xE2\x80\x93";
		change = 0;
	}
	page_fill(scope, name, text);
	bool shows = strcmp(text, "0") != 0 && strcmp(text, "~0") != 0;
	page_attribute(scope, name, "class",
	               !shows || change == 0 ? "n change"
	               : change < 0          ? "n change less"
	                                     : "n change more-of");
}

void tables_number(struct scope *scope, const char *name, const char *text, double number)
{
	page_fill(scope, name, text);
	page_attribute(scope, name, "data-n", arena_format(scope->page->arena, "%.7g", number));
}

/* Bytes of a text in the page. */
static size_t markup_length(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '<' || *text == '>' ? 4 : *text == '&' || *text == '"' ? 6 : 1;
	return n;
}

static const char **names_of(const struct table *t, struct arena *arena)
{
	return ARENA_NEW(arena, t->kept, const char *);
}

/* How names look side by side. */
static const char **shorten_all(const char **name, const struct table *t, bool kernels, struct arena *arena)
{
	const char **shown = names_of(t, arena);
	unsigned most = kernels ? SHOWN_KERNEL : SHOWN;
	for (uint32_t i = 0; i < t->kept; i++)
		shown[i] = kernels ? format_kernel(arena, name[i], most) : format_name(arena, name[i], most);
	format_apart(arena, name, shown, t->kept, most);
	return shown;
}

/* What a row is about, for the script that lights it up in the timeline: ids of names, a cause's number. */
static void mark_row(struct scope *row, const char *attribute, const struct analysis *a, uint64_t id)
{
	page_attribute(row, NULL, attribute, view_key(a, (uint32_t)id, row->page->arena));
}

/* "302 → 1"; of one side, or where both are the same, its own. */
static const char *pair_of(const struct page *page, const char *before, const char *after)
{
	return page->sides < 2 || strcmp(before, after) == 0
	               ? before
	               : arena_format(page->arena, "%s \xE2\x86\x92 %s", before, after);
}

/* `most`: the longest time of the table; a change that cannot be seen beside it has no colour. */
static void fill_times(struct scope *row, struct unit unit, const struct table_row *line, double most, bool host)
{
	struct arena *arena = row->page->arena;
	const double *time = line->time, change = time[1] - time[0];
	tables_number(row, "before", format_number(arena, unit, time[0]), time[0]);
	tables_number(row, "after", format_number(arena, unit, time[1]), time[1]);
	const char *text = format_change(arena, unit, change);
	bool seen = fabs(change) >= VISIBLE * most;
	tables_change(row, "change", text, seen && !host ? change : 0);
	page_attribute(row, "change", "data-n", arena_format(arena, "%.7g", change));
}

/* "30.25 -> 0.06" sorts by the larger. */
static void fill_pair(struct scope *row, const char *name, const char *before, const char *after, const double value[2])
{
	tables_number(row, name, pair_of(row->page, before, after), fmax(value[0], value[1]));
}

static void fill_time_pair(struct scope *row, const char *name, struct unit unit, const double time[2])
{
	struct arena *arena = row->page->arena;
	fill_pair(row, name, format_number(arena, unit, time[0]), format_number(arena, unit, time[1]), time);
}

static void fill_counts(struct scope *row, const double count[2])
{
	struct arena *arena = row->page->arena;
	fill_pair(row, "count", format_count(arena, count[0]), format_count(arena, count[1]), count);
}

/* Rows of a table one after the other: those that are shown, the sum of the others, these, and the sum of what is left
 * out. The template has a row for a thing, NAME, a row for sums, NAME.more, and what opens the table, NAME.all. */
struct filling {
	struct rows *rows, *sums;
	struct table *t;
	const char **name, **shown; /* by row */
	unsigned whole;
	struct unit unit;
	const char *mark;
	bool counts, gpu;
	bool host; /* a host that runs ahead loses nothing by it: no change is good or bad */
};

/* `folded`: of rows that follow, and are all there where styles are blocked. */
static void fill_sum(struct filling *f, const struct table_row *sum, uint32_t n, const char *class, bool folded)
{
	struct arena *arena = f->rows->page->arena;
	struct scope *row = page_row(f->sums);
	page_attribute(row, NULL, "class", class);
	if (folded)
		page_attribute(row, NULL, "hidden", "hidden");
	page_fill(row, "name", view_more(n, arena));
	fill_times(row, f->unit, sum, f->t->most, f->host);
	if (f->counts)
		fill_counts(row, sum->count);
}

/* Keeps as many rows as the page has room for, with names as whole as that allows. */
static void fit(struct filling *f, size_t *room)
{
	struct table *t = f->t;
	f->whole = WHOLE;
	if (t->kept == t->shown)
		return;
	size_t each = *room / (t->kept - t->shown);
	f->whole = each > ROW + SHOWN + WHOLE         ? WHOLE
	           : each < ROW + SHOWN + WHOLE_LEAST ? WHOLE_LEAST
	                                              : (unsigned)each - ROW - SHOWN;
	for (uint32_t i = t->shown; i < t->kept; i++) {
		size_t length = ROW + markup_length(f->shown[i]);
		if (strcmp(f->shown[i], f->name[i]) != 0)
			length += markup_length(format_name(f->rows->page->arena, f->name[i], f->whole));
		if (length > *room)
			table_keep(t, i);
		else
			*room -= length;
	}
}

static struct filling fill_begin(struct page *page, const char *mark, struct table *t, const char **name,
                                 const char **shown, struct unit unit)
{
	struct rows *rows = page_rows(&page->top, mark);
	const char *sums = arena_format(page->arena, "%s.more", mark);
	struct filling f = {
		rows, page_rows_among(&page->top, sums, rows), t, name, shown, WHOLE, unit, mark, false, false, false};
	fit(&f, &page->room);
	return f;
}

/* Row `i` of the table, with what all tables have. A name that is shortened has the whole one beside it. */
static struct scope *fill_row(struct filling *f, uint32_t i)
{
	enum { BAR = 190 };
	struct arena *arena = f->rows->page->arena;
	const struct table_row *line = &f->t->row[i];
	bool rest = i >= f->t->shown;
	if (i == f->t->shown)
		fill_sum(f, &f->t->rest, f->t->n - f->t->shown, "more", true);
	struct scope *row = page_row(f->rows);
	if (rest)
		page_attribute(row, NULL, "class", "rest");
	page_fill(row, "name", f->shown[i]);
	if (strcmp(f->name[i], f->shown[i]) != 0)
		page_attribute(row, "name", "title", format_name(arena, f->name[i], rest ? f->whole : WHOLE));
	fill_times(row, f->unit, line, f->t->most, f->host);
	xmlNode *bars = page_draw(row, "bars");
	if (!rest || fmax(line->time[0], line->time[1]) * BAR >= 8 * f->t->most)
		bars_draw(bars, line->time[0], line->time[1], f->t->most);
	if (f->counts)
		fill_counts(row, line->count);
	if (f->gpu)
		fill_time_pair(row, "gpu", f->unit, line->gpu);
	return row;
}

static void fill_end(struct filling *f, const char *things)
{
	struct page *page = f->rows->page;
	const struct table *t = f->t;
	const char *mark = arena_format(page->arena, "%s.all", f->mark);
	if (t->kept < t->n)
		fill_sum(f, &t->beyond, t->n - t->kept, "more beyond", false);
	page_fill_if(
		&page->top, mark, t->shown < t->n,
		SAY(NULL, page->arena, show_all, .things = things, .cut = t->kept < t->n, .kept = t->kept, .n = t->n));
}

static const char *caption(struct page *page, const char *what, struct unit unit, const struct analysis *a)
{
	return view_caption(a, what, unit, page->arena);
}

/* ---- the tables ---- */

void tables_begin(const struct analysis *a, struct page *page)
{
	page->no_pair = !view_is_pair(a);
	page->room = ROOM;
}

void tables_phases(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = table_make(a, TABLE_PHASES, arena);
	page_if(&page->top, "phases.none", !view_has_phases(a));
	page_if(&page->top, "phases.some", view_has_phases(a));
	page_if(&page->top, "phases.work", a->side[0].phases_by_work);
	page_fill(&page->top, "phases.caption", caption(page, "phases", unit, a));
	const char **name = names_of(&t, arena);
	for (uint32_t i = 0; i < t.kept; i++)
		name[i] = view_phase(a, (uint32_t)t.row[i].key);
	const char **shown = shorten_all(name, &t, false, arena);
	struct filling f = fill_begin(page, "phase", &t, name, shown, unit);
	for (uint32_t i = 0; i < t.kept; i++) {
		static const struct phase_result nothing;
		const struct table_row *line = &t.row[i];
		const struct phase_result *p[2];
		const char *place[2];
		for (int s = 0; s < 2; s++) {
			p[s] = line->at[s] < 0 ? &nothing : &a->side[s].phases[line->at[s]];
			place[s] = line->at[s] < 0 ? "\xE2\x80\x93" : arena_format(arena, "%u", p[s]->rank);
		}
		struct scope *row = fill_row(&f, i);
		mark_row(row, "data-phase", a, line->key);
		const double idle[2] = {p[0]->idle, p[1]->idle}, gpu[2] = {p[0]->gpu, p[1]->gpu};
		const double host[2] = {p[0]->host, p[1]->host};
		page_fill(row, "place", pair_of(page, place[0], place[1]));
		fill_time_pair(row, "idle", unit, idle);
		fill_time_pair(row, "gpu", unit, gpu);
		fill_time_pair(row, "host", unit, host);
	}
	fill_end(&f, "phases");
}

/* The causes that the table shows, with what they mean. */
static void fill_meanings(const struct table *t, struct page *page)
{
	bool shown[CAUSE_COUNT] = {false};
	for (uint32_t i = 0; i < t->kept; i++)
		shown[t->row[i].key >> 32] = true;
	struct rows *rows = page_rows(&page->top, "meaning");
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		if (!shown[cause])
			continue;
		struct scope *row = page_row(rows);
		key_draw(page_draw(row, "key"), cause);
		page_fill(row, "cause", cause_label((enum cause)cause));
		page_fill(row, "text", cause_meaning((enum cause)cause));
	}
	page_if(&page->top, "meanings", t->shown > 0);
}

void tables_idle(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = table_make(a, TABLE_IDLE, arena);
	page_fill(&page->top, "idle.caption", caption(page, "idle", unit, a));
	const char **name = names_of(&t, arena), **shown = names_of(&t, arena);
	for (uint32_t i = 0; i < t.kept; i++) {
		const struct table_row *line = &t.row[i];
		uint32_t call = 0;
		for (int s = 0; s < 2 && !call; s++)
			call = line->at[s] < 0 ? 0 : a->side[s].budget.rows[line->at[s]].call;
		name[i] = cause_label((enum cause)(line->key >> 32));
		if (call)
			name[i] = arena_format(arena, "%s: %s", name[i], names_text(a->names, call));
		shown[i] = format_name(arena, name[i], SHOWN);
	}
	struct filling f = fill_begin(page, "cause", &t, name, shown, unit);
	for (uint32_t i = 0; i < t.kept; i++) {
		enum cause cause = (enum cause)(t.row[i].key >> 32);
		uint32_t phase = (uint32_t)t.row[i].key;
		struct scope *row = fill_row(&f, i);
		page_attribute(row, NULL, "data-cause", arena_format(arena, "%u", (unsigned)cause));
		if (view_has_phases(a))
			mark_row(row, "data-phase", a, phase);
		key_draw(page_draw(row, "key"), (int)cause);
		page_fill(row, "phase",
		          view_has_phases(a) ? format_name(arena, view_phase(a, phase), SHOWN) : "\xE2\x80\x93");
	}
	fill_end(&f, "causes");
	double idle[2] = {a->side[0].budget.idle, a->side[1].budget.idle};
	page_fill(&page->top, "idle.before", format_number(arena, unit, idle[0]));
	page_fill(&page->top, "idle.after", format_number(arena, unit, idle[1]));
	tables_change(&page->top, "idle.change", format_change(arena, unit, idle[1] - idle[0]), idle[1] - idle[0]);
	fill_meanings(&t, page);
}

/* Tables whose rows are a name each, with a time and a number. */
static struct table begin_named(const struct analysis *a, enum table_kind kind, const char *mark, struct page *page)
{
	struct table t = table_make(a, kind, page->arena);
	page_if(&page->top, arena_format(page->arena, "%s.none", mark), t.n == 0);
	page_if(&page->top, arena_format(page->arena, "%s.some", mark), t.n > 0);
	return t;
}

static void fill_kernels(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = begin_named(a, TABLE_KERNELS, "kernels", page);
	page_fill(&page->top, "kernels.caption", caption(page, "kernels", unit, a));
	const char **name = names_of(&t, arena);
	for (uint32_t i = 0; i < t.kept; i++)
		name[i] = names_text(a->names, (uint32_t)t.row[i].key);
	const char **shown = shorten_all(name, &t, true, arena);
	struct filling f = fill_begin(page, "kernel", &t, name, shown, unit);
	f.counts = true;
	for (uint32_t i = 0; i < t.kept; i++)
		mark_row(fill_row(&f, i), "data-name", a, t.row[i].key);
	bool slopes = a->n_sides > 1 && view_is_pair(a) && t.n > 1 && slopes_differ(a, arena);
	page_if(&page->top, "slopes", slopes);
	xmlNode *picture = page_draw(&page->top, "slopes");
	if (slopes)
		slopes_draw(a, unit, arena, picture);
	fill_end(&f, "kernels");
}

/* The share of the peak of the later side that has one: "1440 -> 2810 (84 %)". */
static void fill_rate(struct scope *row, const char *name, const double rate[2], const double share[2])
{
	struct arena *arena = row->page->arena;
	const int last = rate[1] > 0;
	const char *text[2];
	for (int s = 0; s < 2; s++)
		text[s] = rate[s] > 0 ? SAY(NULL, arena, flops_rate, .rate = rate[s], .share = NAN) : "\xE2\x80\x93";
	const bool same = fabs(rate[0] - rate[1]) <= 0.01 * fmax(rate[0], rate[1]);
	if (rate[last] > 0)
		text[last] = SAY(NULL, arena, flops_rate, .rate = rate[last],
		                 .share = share[last] >= 0.01 ? share[last] : NAN);
	fill_pair(row, name, same ? text[last] : text[0], text[same ? last : 1], rate);
}

static void fill_rates(const struct analysis *a, const struct table_row *line, struct scope *row)
{
	double rate[2] = {0}, bytes[2] = {0}, of_rate[2] = {NAN, NAN}, of_bytes[2] = {NAN, NAN};
	for (int s = 0; s < 2; s++) {
		const struct owner_result none = {0}, *o = line->at[s] < 0 ? &none : &a->side[s].operators[line->at[s]];
		rate[s] = o->tflops;
		bytes[s] = o->moved_known > 0 ? o->moved / o->moved_known : 0;
		of_rate[s] = o->ideal_known > 0 ? o->ideal / o->ideal_known : NAN;
		of_bytes[s] = o->copied_known > 0 ? o->copied / o->copied_known : NAN;
	}
	fill_rate(row, "rate", rate, of_rate);
	fill_rate(row, "moved", bytes, of_bytes);
}

/* Operators, modules with those in them, functions with their lines: only where a profile has them. */
static void fill_owners(const struct analysis *a, enum table_kind kind, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	const bool operators = kind == TABLE_OPERATORS;
	const char *things = operators ? "operators" : kind == TABLE_MODULES ? "modules" : "lines";
	struct table t = table_make(a, kind, arena);
	page_if(&page->top, things, t.n > 0);
	page_fill(&page->top, arena_format(arena, "%s.caption", things), caption(page, things, unit, a));
	const char **name = names_of(&t, arena);
	for (uint32_t i = 0; i < t.kept; i++)
		name[i] = t.row[i].key ? names_text(a->names, (uint32_t)t.row[i].key)
		                       : SAY(NULL, arena, no_owner, .what = things);
	const char **shown = shorten_all(name, &t, false, arena);
	struct filling f = fill_begin(page, arena_copy(arena, things, strlen(things) - 1), &t, name, shown, unit);
	f.counts = true;
	f.gpu = !operators;
	for (uint32_t i = 0; i < t.kept; i++) {
		struct scope *row = fill_row(&f, i);
		if (operators)
			fill_rates(a, &t.row[i], row);
	}
	fill_end(&f, things);
	if (operators)
		known_operators_fill(a, page);
	else if (kind == TABLE_MODULES)
		known_modules_fill(a, page);
}

static void fill_api(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = begin_named(a, TABLE_CALLS, "api", page);
	page_fill(&page->top, "api.caption", caption(page, "calls", unit, a));
	const char **name = names_of(&t, arena);
	for (uint32_t i = 0; i < t.kept; i++)
		name[i] = names_text(a->names, (uint32_t)t.row[i].key);
	const char **shown = shorten_all(name, &t, false, arena);
	struct filling f = fill_begin(page, "call", &t, name, shown, unit);
	f.host = true;
	f.counts = true;
	for (uint32_t i = 0; i < t.kept; i++) {
		const struct table_row *line = &t.row[i];
		int s = line->at[0] < 0 ? 1 : 0;
		struct scope *row = fill_row(&f, i);
		key_draw(page_draw(row, "key"), cause_of_call[a->side[s].api[line->at[s]].class]);
		mark_row(row, "data-name", a, line->key);
	}
	fill_end(&f, "calls");
}

static void fill_ranges(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = begin_named(a, TABLE_RANGES, "nvtx", page);
	const struct trace_source *first = &a->side[0].source, *second = &a->side[a->n_sides - 1].source;
	const char *label = ranges_label(first, second, true);
	page_fill(&page->top, "nvtx.title", label);
	page_fill(&page->top, "nvtx.caption",
	          SAY(NULL, arena, ranges_caption, .ranges = label, .unit = unit.name, .per = view_per(a)));
	const char **name = names_of(&t, arena);
	for (uint32_t i = 0; i < t.kept; i++) {
		uint32_t domain = (uint32_t)(t.row[i].key >> 32);
		const char *text = names_text(a->names, (uint32_t)t.row[i].key);
		name[i] = domain ? arena_format(arena, "%s: %s",
		                                format_name(arena, names_text(a->names, domain), DOMAIN), text)
		                 : text;
	}
	const char **shown = shorten_all(name, &t, false, arena);
	struct filling f = fill_begin(page, "range", &t, name, shown, unit);
	f.host = true;
	f.counts = true;
	f.gpu = true;
	for (uint32_t i = 0; i < t.kept; i++)
		fill_row(&f, i);
	fill_end(&f, "ranges");
}

/* A dash where some of the copies do not say theirs. */
static const char *bytes_of(const struct analysis *a, const struct table_row *line, int s, struct arena *arena)
{
	bool unsized = line->at[s] >= 0 && a->side[s].copies[line->at[s]].unsized > 0;
	return unsized ? "\xE2\x80\x93" : format_bytes(arena, line->bytes[s]);
}

static void fill_copies(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	struct table t = begin_named(a, TABLE_COPIES, "copies", page);
	page_fill(&page->top, "copies.caption", caption(page, "copies", unit, a));
	struct rows *rows = page_rows(&page->top, "copy");
	for (uint32_t i = 0; i < t.n; i++) {
		const struct table_row *line = &t.row[i];
		int s = line->at[0] < 0 ? 1 : 0;
		const struct copy_result *c = &a->side[s].copies[line->at[s]];
		struct scope *row = page_row(rows);
		page_fill(row, "name", SAY(NULL, arena, copy_is, .kind = view_copy_kind(c), .pageable = c->pageable));
		fill_times(row, unit, line, t.most, true); /* a copy beside kernels costs nothing */
		bars_draw(page_draw(row, "bars"), line->time[0], line->time[1], t.most);
		fill_counts(row, line->count);
		fill_pair(row, "bytes", bytes_of(a, line, 0, arena), bytes_of(a, line, 1, arena), line->bytes);
	}
}

void tables_work(const struct analysis *a, struct unit unit, struct page *page)
{
	fill_kernels(a, unit, page);
	fill_owners(a, TABLE_OPERATORS, unit, page);
	fill_owners(a, TABLE_MODULES, unit, page);
	fill_owners(a, TABLE_LINES, unit, page);
	fill_api(a, unit, page);
	fill_ranges(a, unit, page);
	fill_copies(a, unit, page);
}
