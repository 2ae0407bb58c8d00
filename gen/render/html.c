/* report.html: fills templates/report.html section by section, in the template's order. */
#include "base/parallel.h"
#include "render/assets.h"
#include "render/page.h"
#include "render/pictures.h"
#include "render/render.h"
#include "render/sections.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <libxml/parser.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_TEXTS = 24, TEXT = 600, MOST_FILES = 6 };

/* At most MOST_TEXTS texts, none longer than TEXT characters, and how many were left out. */
static void fill_texts(struct page *page, const char *name, const char **text, size_t n)
{
	struct arena *arena = page->arena;
	struct rows *rows = page_rows(&page->top, name);
	for (size_t i = 0; i < n && i < MOST_TEXTS; i++)
		page_say(page_row(rows), "text", format_name(arena, text[i], TEXT));
	if (n > MOST_TEXTS)
		page_fill(page_row(rows), "text", view_more(n - MOST_TEXTS, arena));
}

/* The same of facts, with what is there only if there are some. */
static void fill_facts(const struct analysis *a, struct page *page, const char *all, const char *name,
                       const struct facts *facts)
{
	page_if(&page->top, all, facts->n > 0);
	fill_texts(page, name, say_facts(facts, a->names, page->arena), facts->n);
}

static const char *title_of(const struct analysis *a, struct arena *arena)
{
	const struct side *b = &a->side[0], *f = &a->side[1];
	if (a->title)
		return format_name(arena, a->title, 200);
	if (a->n_sides < 2)
		return format_name(arena, b->name ? b->name : b->runs[0].file, 80);
	if (!(b->name && f->name) && step_times_several(a))
		return SAY(NULL, arena, title_of_runs, .baseline = b->n_runs, .fixed = f->n_runs);
	const bool named = b->name && f->name;
	const char *first = format_name(arena, named ? b->name : b->runs[0].file, 80);
	const char *second = format_name(arena, named ? f->name : f->runs[0].file, 80);
	return SAY(NULL, arena, title_of_pair, .first = first, .second = second, .both = strcmp(first, second) == 0);
}

/* "2026-06-24"; "" where the profile does not say when its run began. */
static const char *day_of(const struct side *s, struct arena *arena)
{
	enum { NS = 1000000000 };
	const time_t seconds = s->source.started / NS;
	struct tm utc;
	char text[20];
	if (s->source.started <= 0 || !gmtime_r(&seconds, &utc) || !strftime(text, sizeof text, "%Y-%m-%d", &utc))
		return "";
	return arena_copy(arena, text, strlen(text));
}

/* The GPUs and the days of the runs, each once where both sides agree; the days as the profiles say, no hour and no
 * host. */
static const char *where_of(const struct analysis *a, struct arena *arena)
{
	const struct side *b = &a->side[0], *f = &a->side[a->n_sides - 1];
	const char *const said[][2] = {{view_gpus(a, b, arena), view_gpus(a, f, arena)},
	                               {day_of(b, arena), day_of(f, arena)}};
	const char *text = "";
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		for (int s = 0; s < 2; s++)
			if (*said[i][s] && (!s || strcmp(said[i][0], said[i][1]) != 0))
				text = arena_format(arena, "%s%s%s", text, *text ? " \xC2\xB7 " : "", said[i][s]);
	return text;
}

static void fill_head(const struct analysis *a, struct page *page)
{
	page_head(page, a->n_sides < 2 ? say_word(WORDS_heading, "profile") : words_result(a), title_of(a, page->arena),
	          arena_format(page->arena, " 'sha256-%s' 'sha256-%s'", asset_early_js.sha256, asset_report_js.sha256));
	page_fill_if(&page->top, "where", *where_of(a, page->arena) != 0, where_of(a, page->arena));
	page_fill(&page->top, "early", asset_early_js.bytes);
	page_fill(&page->top, "script", asset_report_js.bytes);
}

static const char *file_shown(const struct side *s, struct arena *arena)
{
	return format_name(arena, s->runs[s->median_run].file, 60);
}

static const struct fact *stretch_of(const struct side *s, struct arena *arena)
{
	const struct timeline *t = &s->timeline;
	return FACT_NEW(arena, stretch_shown, FACT_NO_SIDE, .whole = !s->steps.found,
	                .steps = t->n_boundaries ? (int64_t)t->n_boundaries - 1 : 0, .runs = s->n_runs,
	                .file = s->n_runs > 1 ? file_shown(s, arena) : NULL);
}

/* Which of many GPUs: no table tells those of the run that is drawn, so that it is carried with the picture. */
static void fill_drawn(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const char *named = "";
	uint32_t gpus = 0, drawn = 0;
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct side *side = &a->side[s];
		const char *first = lanes_drawn(side, arena);
		named = arena_format(arena, "%s%s%s", named, *named && *first ? "; " : "", first);
		gpus = side->n_devices > gpus ? side->n_devices : gpus;
		drawn = side->timeline.n_devices > drawn ? side->timeline.n_devices : drawn;
	}
	page_fill_if(&page->top, "timeline.drawn", gpus > LANES_DEVICES,
	             drawn > LANES_DEVICES ? SAY(a->names, arena, timeline_draws, .gpus = drawn, .drawn = LANES_DEVICES,
	                                         .named = *named ? named : NULL)
	                                   : "");
}

static void fill_timeline(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side *b = &a->side[0], *f = &a->side[1];
	page_fill(&page->top, "timeline.text",
	          SAY(a->names, arena, timeline_shows, .pair = a->n_sides > 1, .baseline = stretch_of(b, arena),
	              .fixed = a->n_sides > 1 ? stretch_of(f, arena) : NULL,
	              .aligned = b->steps.found && f->steps.found));
	fill_drawn(a, page);
	timeline_draw(a, arena, page_draw(&page->top, "timeline"));
	const bool several = step_times_several(a);
	page_fill(&page->top, "overview.title",
	          SAY(NULL, arena, overview_shows, .several = several,
	              .baseline = several ? file_shown(b, arena) : NULL,
	              .fixed = several ? file_shown(f, arena) : NULL));
	overview_draw(a, arena, page_draw(&page->top, "overview"));
}

static void fill_findings(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	page_if(&page->top, "findings.none", a->findings.n == 0);
	struct rows *rows = page_rows(&page->top, "finding");
	for (uint32_t i = 0; i < a->findings.n && i < 2 * MOST_TEXTS; i++) {
		const struct finding *f = &a->findings.list[i];
		const char *status = finding_status_name(f->status);
		struct scope *row = page_row(rows);
		page_attribute(row, NULL, "class",
		               f->status == FINDING_SEEN ? "finding" : arena_format(arena, "finding %s", status));
		page_fill_if(row, "status", f->status != FINDING_SEEN, status);
		page_fill(row, "title", f->title);
		page_fill(row, "side", words_side(f));
		page_say(row, "text", format_name(arena, f->text, 2 * TEXT)); /* of both sides */
		page_say(row, "advice", format_name(arena, f->advice, TEXT));
		page_if(row, "ceiling", f->has_ceiling);
		page_fill(
			row, "ceiling",
			say_fact(FACT_NEW(arena, best_case, f->side,
		                          .time = arena_format(arena, "%s %s",
		                                               format_number(arena, unit, f->ceiling_step), unit.name),
		                          .of = view_unit(&a->side[f->side]), .profiled = a->recorded_apart,
		                          .speedup = f->ceiling_speedup,
		                          .least = f->ceiling_least > 0
		                                           ? arena_format(arena, "%s %s",
		                                                          format_number(arena, unit, f->ceiling_least),
		                                                          unit.name)
		                                           : NULL),
		                 a->names, arena));
	}
}

struct pair {
	const char *name;
	double value[2];
};

/* ---- environment and data quality: a text for each side ---- */

static void fill_fact(struct rows *rows, const char *name, const char *before, const char *after)
{
	struct arena *arena = rows->page->arena;
	struct scope *row = page_row(rows);
	page_fill(row, "name", say_word(WORDS_environment, name));
	page_fill(row, "before", *before ? format_name(arena, before, TEXT) : say_word(WORDS_heading, "unknown"));
	page_fill(row, "after", *after ? format_name(arena, after, TEXT) : say_word(WORDS_heading, "unknown"));
}

static const char *files_of(const struct side *s, struct arena *arena)
{
	const char *text = "";
	for (uint32_t i = 0; i < s->n_runs && i < MOST_FILES; i++)
		text = arena_format(arena, "%s%s%s", text, i ? ", " : "", format_name(arena, s->runs[i].file, 80));
	return s->n_runs > MOST_FILES ? arena_format(arena, "%s %s", text, view_more(s->n_runs - MOST_FILES, arena))
	                              : text;
}

static const char *recorded_by(const struct side *s, struct arena *arena)
{
	const struct trace_source *t = &s->source;
	const char *who = *t->exporter ? t->exporter : t->collector;
	return *who ? SAY(NULL, arena, exported_by, .who = who, .schema = *t->schema ? t->schema : NULL) : "";
}

/* "gapline 0.1.0 through CUPTI 13.0.1" */
static const char *captured_by(const struct side *s, struct arena *arena)
{
	const struct trace_source *t = &s->source;
	return SAY(NULL, arena, captured_by, .gapline = *t->captured_by != 0, .version = t->captured_by,
	           .through = *t->cupti ? arena_format(arena, "CUPTI %s", t->cupti) : t->collector);
}

static const char *events_of(const struct side *s, struct arena *arena)
{
	const struct trace_source *t = &s->source;
	return SAY(NULL, arena, events_recorded, .calls = t->has_calls,
	           .ranges = !t->has_ranges             ? "none"
	                     : t->kind == SOURCE_KINETO ? "kineto"
	                                                : "nvtx",
	           .os = t->has_os_calls, .metrics = side_has_metrics(s), .overheads = t->has_overheads,
	           .graphs = view_graph_mode(t->graphs));
}

/* Copies to, from and between devices whose bytes nobody recorded. */
static double unsized_of(const struct side *s, size_t direction)
{
	const double unsized[] = {s->counts.unsized_h2d, s->counts.unsized_d2h, s->counts.unsized_d2d};
	return unsized[direction];
}

static void fill_environment(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side *b = &a->side[0], *f = &a->side[1];
	struct rows *rows = page_rows(&page->top, "fact");
	fill_fact(rows, "gpu", view_gpus(a, b, arena), view_gpus(a, f, arena));
	fill_fact(rows, "driver", b->source.driver, f->source.driver);
	fill_fact(rows, "cuda", b->source.cuda_driver, f->source.cuda_driver);
	fill_fact(rows, "profile", files_of(b, arena), files_of(f, arena));
	fill_fact(rows, "profiled_by", recorded_by(b, arena), recorded_by(f, arena));
	if (*b->source.captured_by || *f->source.captured_by)
		fill_fact(rows, "captured_by", captured_by(b, arena), captured_by(f, arena));
	fill_fact(rows, "events", events_of(b, arena), events_of(f, arena));
	fill_fact(rows, "runs", arena_format(arena, "%u", b->n_runs), arena_format(arena, "%u", f->n_runs));
	fill_fact(rows, "steps", evidence_steps(a, b, arena), evidence_steps(a, f, arena));
	if (b->n_loops > 1 || f->n_loops > 1)
		fill_fact(rows, "loops", evidence_loops(a, b, arena), evidence_loops(a, f, arena));

	page_fill(&page->top, "work.caption", SAY(NULL, arena, work_caption, .per = view_per(a)));
	const char *ranges = ranges_label(&b->source, &f->source, false);
	enum { COUNTS = 5 }; /* the rest are bytes */
	const struct pair work[] = {
		{say_word(WORDS_work, "launches"), {b->counts.launches, f->counts.launches}},
		{say_word(WORDS_work, "graphs"), {b->counts.graph_launches, f->counts.graph_launches}},
		{say_word(WORDS_work, "collectives"), {b->counts.collectives, f->counts.collectives}},
		{say_word(WORDS_work, "syncs"), {b->counts.syncs, f->counts.syncs}},
		{ranges, {b->counts.ranges, f->counts.ranges}},
		{say_word(WORDS_work, "h2d"), {b->counts.bytes_h2d, f->counts.bytes_h2d}},
		{say_word(WORDS_work, "d2h"), {b->counts.bytes_d2h, f->counts.bytes_d2h}},
		{say_word(WORDS_work, "d2d"), {b->counts.bytes_d2d, f->counts.bytes_d2d}}};
	rows = page_rows(&page->top, "work");
	for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
		const double *v = work[i].value, change = v[1] - v[0];
		bool bytes = i >= COUNTS;
		const double unsized[2] = {bytes ? unsized_of(b, i - COUNTS) : 0,
		                           bytes ? unsized_of(f, i - COUNTS) : 0};
		struct scope *row = page_row(rows);
		page_fill(row, "name", work[i].name);
		if (unsized[0] > 0 || unsized[1] > 0) {
			page_fill(row, "before",
			          unsized[0] > 0 ? say_word(WORDS_heading, "unknown") : format_bytes(arena, v[0]));
			page_fill(row, "after",
			          unsized[1] > 0 ? say_word(WORDS_heading, "unknown") : format_bytes(arena, v[1]));
			page_fill(row, "change", "");
			continue;
		}
		page_fill(row, "before", bytes ? format_bytes(arena, v[0]) : format_count(arena, v[0]));
		page_fill(row, "after", bytes ? format_bytes(arena, v[1]) : format_count(arena, v[1]));
		page_fill(row, "change",
		          bytes && fabs(change) >= 1 ? arena_format(arena, "%s%s", change < 0 ? "\xE2\x88\x92" : "+",
		                                                    format_bytes(arena, fabs(change)))
		                                     : format_count_change(arena, change));
	}
	clocks_fill(a, page);
	page_say(&page->top, "environment.comparable", arena_format(arena, "%s.", words_comparable(a, arena)));
	fill_facts(a, page, "environment.differences", "environment.difference", &a->comparison.differences);
	fill_facts(a, page, "notes", "note", &a->comparison.notes);
}

static const char *dropped_of(const struct side *s, struct arena *arena)
{
	struct facts dropped = {0};
	for (uint32_t i = 0; i < s->quality.n_dropped && i < MOST_FILES; i++)
		FACT_ADD(&dropped, arena, dropped_rows, FACT_NO_SIDE, .rows = s->quality.dropped[i].rows,
		         .where = s->quality.dropped[i].where, .reason = s->quality.dropped[i].reason);
	return SAY(NULL, arena, all_of_them, .any = dropped.n > 0, .list = &dropped,
	           .more = s->quality.n_dropped > MOST_FILES ? s->quality.n_dropped - MOST_FILES : 0);
}

static const char *diagnostics_of(const struct analysis *a, const struct side *s, struct arena *arena)
{
	struct facts said = {0};
	for (uint32_t i = 0; i < s->quality.n_diagnostics && i < MOST_FILES; i++)
		FACT_ADD(&said, arena, collector_said, FACT_NO_SIDE, .error = s->quality.diagnostics[i].severity >= 3,
		         .text = format_name(arena, names_text(a->names, s->quality.diagnostics[i].text), 160));
	return SAY(NULL, arena, all_of_them, .any = said.n > 0, .list = &said,
	           .more = s->quality.n_diagnostics > MOST_FILES ? s->quality.n_diagnostics - MOST_FILES : 0);
}

static const char *unlaunched(const struct side *s, struct arena *arena)
{
	return s->quality.unlaunched_share > 0 ? format_share(arena, s->quality.unlaunched_share)
	                                       : say_word(WORDS_heading, "none");
}

static const char *overhead(const struct side *s, struct arena *arena)
{
	return s->counts.overhead > 0 ? arena_format(arena, "%s %s", format_time(arena, s->counts.overhead),
	                                             say_word(WORDS_each, view_unit(s)))
	                              : say_word(WORDS_heading, "none");
}

static void fill_method(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const struct side *b = &a->side[0], *f = &a->side[1];
	struct rows *rows = page_rows(&page->top, "quality");
	fill_fact(rows, "dropped", dropped_of(b, arena), dropped_of(f, arena));
	fill_fact(rows, "unlaunched", unlaunched(b, arena), unlaunched(f, arena));
	fill_fact(rows, "messages", diagnostics_of(a, b, arena), diagnostics_of(a, f, arena));
	fill_fact(rows, "overhead", overhead(b, arena), overhead(f, arena));
	page_if(&page->top, "remarks", b->quality.notes.n + f->quality.notes.n > 0);
	size_t n = 0;
	const char **remarks = ARENA_NEW(arena, (size_t)b->quality.notes.n + f->quality.notes.n, const char *);
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t i = 0; i < a->side[s].quality.notes.n; i++) {
			const char *note = say_fact(a->side[s].quality.notes.list[i], a->names, arena);
			remarks[n++] = a->n_sides < 2 ? note : arena_format(arena, "%s: %s", a->side[s].label, note);
		}
	fill_texts(page, "remark", remarks, n);
	page_fill(&page->top, "made",
	          SAY(NULL, arena, page_made, .version = GAPLINE_VERSION, .profiles = b->n_runs + f->n_runs));
}

/* What the page was judged from, for those who judge it again. */
static void fill_evidence(const struct analysis *a, struct page *page)
{
	BUF_LOCAL(text);
	view_evidence(a, &text);
	page_fill_if(&page->top, "evidence", text.n > 0, text.n ? text.data : "");
	page_fill_if(&page->top, "evidence.said", a->tables != NULL,
	             SAY(a->names, page->arena, page_evidence, .carried = text.n > 0));
}

/* The page but for the script's data, and those: neither needs the other. */
struct parts {
	const struct analysis *a;
	struct arena arena;
	struct page page;
	struct buf data;
	struct err err;
	int status; /* of the data */
};

static void fill_page(const struct analysis *a, struct page *page, struct arena *arena)
{
	struct unit unit = view_table_unit(a);
	page_open(page, asset_report_html.bytes, asset_report_html.n, a->n_sides, arena);
	page->names = a->names;
	tables_begin(a, page);
	fill_head(a, page);
	card_fill(a, page);
	fill_timeline(a, page);
	tables_budget(a, unit, page);
	tables_phases(a, unit, page);
	tables_idle(a, unit, page);
	functions_fill(a, unit, page);
	ranks_fill(a, unit, page);
	hardware_fill(a, page);
	fill_findings(a, unit, page);
	tables_work(a, unit, page);
	inside_fill(a, unit, page);
	graphs_fill(a, unit, page);
	step_times_fill(a, unit, page);
	startup_fill(a, page);
	fill_environment(a, page);
	files_fill(a, page);
	fill_method(a, page);
	fill_evidence(a, page);
}

static void make_part(void *context, size_t i)
{
	struct parts *parts = context;
	if (i == 0)
		fill_page(parts->a, &parts->page, &parts->arena);
	else
		parts->status = data_write(parts->a, &parts->data, &parts->err);
}

/* A page of one side has cells of the other, too, until page_finish takes them out: what fills them finds a side
 * without anything, whose texts are there. */
static const struct analysis *with_empty_side(const struct analysis *a, struct arena *arena)
{
	if (a->n_sides > 1)
		return a;
	struct analysis *both = ARENA_NEW(arena, 1, struct analysis);
	*both = *a;
	both->side[1] = (struct side){.label = "", .source = a->side[0].source};
	return both;
}

int render_html(const struct analysis *given, struct buf *out, struct err *err)
{
	ARENA_LOCAL(arena);
	const struct analysis *a = with_empty_side(given, &arena);
	struct parts parts = {.a = a};
	xmlInitParser(); /* libxml2 takes the thread that comes first for the main one: it has to be one that stays */
	parallel_each(2, make_part, &parts);
	size_t before = out->n;
	page_fill(&parts.page.top, "data", parts.status ? "" : parts.data.data);
	int status = page_finish(&parts.page, out, err);
	if (parts.status) { /* the page could not be made without its data */
		*err = parts.err;
		out->n = before;
		status = -1;
	}
	arena_release(&parts.arena);
	buf_release(&parts.data);
	return status;
}
