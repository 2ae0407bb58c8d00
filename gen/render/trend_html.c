#include "base/format.h"
#include "render/assets.h"
#include "render/page.h"
#include "render/trend.h"
#include "say/number.h"
#include "say/say.h"

#include <math.h>
#include <time.h>

/* SHOWN: rows of the table before it is opened, where it has more than a few beyond. */
enum { MOST_COMMITS = 1000, SHOWN = 20, FEW = 5, MOST_CHANGES = 100, NAME = 60 };

static const char *name_of(const struct trend_commit *c, struct arena *arena)
{
	return format_name(arena, c->name, NAME);
}

static const char *title_of(const struct trend *t, struct arena *arena)
{
	if (t->title)
		return format_name(arena, t->title, 200);
	if (t->n_commits == 1)
		return name_of(&t->commits[0], arena);
	return SAY(NULL, arena, commits_title, .commits = (int64_t)t->n_commits,
	           .first = name_of(&t->commits[0], arena), .last = name_of(&t->commits[t->n_commits - 1], arena));
}

static const char *interval(const struct trend_change *c, struct arena *arena)
{
	return SAY(NULL, arena, percent_range, .low = trend_percent(arena, c->change.lo),
	           .high = trend_percent(arena, c->change.hi));
}

/* What compares the commits before and after a change; without one, the last two. "": there are none. */
static const char *command_of(const struct trend *t, const struct trend_change *c, struct arena *arena)
{
	const struct trend_series *s = &t->series[0];
	const struct trend_pair *last = t->last;
	if (!c && !last)
		return "";
	return arena_format(arena, "gapline report @commit:%s @commit:%s -o report.html",
	                    c ? trend_commit_at(t, s, c->change.at - 1)->name : last->before,
	                    c ? trend_commit_at(t, s, c->change.at)->name : last->after);
}

/* The series of the latest commit, as it is now beside what it was before its latest change. */
static const char *fill_card(const struct trend *t, struct page *page)
{
	struct arena *arena = page->arena;
	const struct trend_series *s = &t->series[0];
	const struct trend_change *c = s->n_changes ? &s->changes[s->n_changes - 1] : NULL;
	const struct trend_pair *last = t->last;
	bool early = !c && s->n < TREND_LEARNING;
	const char *direction = last ? last->result : trend_direction(s), *what = c ? trend_what(c, arena) : "";
	const char *result = last ? say_word(WORDS_result_first, last->result)
	                          : say_word(WORDS_trend, early ? "early"
	                                                  : c   ? direction
	                                                        : "no_change");
	page_if(&page->top, "verdict", true);
	page_attribute(&page->top, "verdict", "class",
	               arena_format(arena, "verdict %s", early && !last ? "inconclusive" : direction));
	page_fill(&page->top, "result", result);
	page_fill(&page->top, "change", c ? trend_percent(arena, c->change.shift) : "");
	page_fill(&page->top, "sentence",
	          c      ? SAY(NULL, arena, trend_sentence, .where = trend_where(t, s, c, arena), .before = c->before,
	                       .after = c->after, .interval = interval(c, arena))
	          : last ? trend_last(t, arena)
	                 : trend_quiet(t, s, arena));
	page_fill(&page->top, "what", *what ? SAY(NULL, arena, change_is, .what = what) : "");
	page_fill_if(&page->top, "command", c || last, command_of(t, c, arena));
	const bool level = s->n - s->since > 3; /* fewer have no noise to speak of */
	page_fill(&page->top, "sure",
	          SAY(NULL, arena, trend_now, .now = trend_commit_at(t, s, s->n - 1)->step,
	              .level = level ? s->level : NAN, .commits = (int64_t)(s->n - s->since), .noise = s->noise,
	              .drift = s->drift != 0 ? trend_percent(arena, log1p(s->drift)) : NULL));
	return c ? SAY(NULL, arena, since_commit, .result = result, .commit = trend_commit_at(t, s, c->change.at)->name)
	         : result;
}

static void fill_change(const struct trend *t, const struct trend_series *s, const struct trend_change *c,
                        struct unit unit, struct scope *row, struct arena *arena)
{
	size_t later = c->change.found - c->change.at;
	const char *found = name_of(trend_commit_at(t, s, c->change.found), arena);
	page_fill(row, "commit", trend_where(t, s, c, arena));
	page_fill(row, "shift", trend_percent(arena, c->change.shift));
	page_attribute(row, "shift", "class", c->change.shift > 0 ? "n worse" : "n better");
	page_fill(row, "interval", interval(c, arena));
	page_fill(row, "before", format_number(arena, unit, c->before));
	page_fill(row, "after", format_number(arena, unit, c->after));
	page_fill(row, "found", SAY(NULL, arena, found_with, .commit = found, .later = (int64_t)later));
	page_fill(row, "what", trend_what(c, arena));
}

static void fill_series(const struct trend *t, const struct trend_series *s, struct scope *scope, struct arena *arena)
{
	struct unit unit = format_unit(s->level);
	page_fill(scope, "title", s->like);
	page_fill(scope, "text", SAY(NULL, arena, series_shows, .commits = (int64_t)s->n));
	page_fill_if(scope, "energy", s->energy.n > 0, s->energy.n ? trend_energy(t, s, arena) : "");
	trend_draw(t, s, arena, page_draw(scope, "picture"));
	page_fill_if(scope, "none", s->n_changes == 0, trend_quiet(t, s, arena));
	page_if(scope, "some", s->n_changes > 0);
	size_t from = s->n_changes > MOST_CHANGES ? s->n_changes - MOST_CHANGES : 0;
	page_fill(scope, "caption",
	          SAY(NULL, arena, changes_caption, .most = from ? MOST_CHANGES : FACT_UNKNOWN, .unit = unit.name));
	struct rows *rows = page_rows(scope, "change");
	for (size_t i = s->n_changes; i > from; i--)
		fill_change(t, s, &s->changes[i - 1], unit, page_row(rows), arena);
}

static const char *time_of(const struct trend_commit *c, struct arena *arena)
{
	struct tm tm;
	time_t seconds = (time_t)c->time;
	char text[40];
	return gmtime_r(&seconds, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm)
	               ? arena_format(arena, "%s", text)
	               : arena_format(arena, "%lld", (long long)c->time);
}

static const char *note_of(const struct trend *t, const struct trend_commit *c, struct arena *arena)
{
	if (c->unused)
		return c->unused;
	if (c->note)
		return t->n_series > 1 ? arena_format(arena, "%s. %s", c->like, c->note) : c->note;
	return t->n_series > 1 ? c->like : "";
}

static void fill_commits(const struct trend *t, struct page *page)
{
	struct arena *arena = page->arena;
	struct unit unit = format_unit(t->series[0].level);
	size_t from = t->n_commits > MOST_COMMITS ? t->n_commits - MOST_COMMITS : 0;
	bool times = t->commits[0].has_time;
	bool energy = false;
	for (size_t i = 0; i < t->n_series; i++)
		energy = energy || t->series[i].energy.n;
	page_if(&page->top, "times", times);
	page_if(&page->top, "joules", energy);
	page_fill(&page->top, "commits.caption", SAY(NULL, arena, commits_caption, .unit = unit.name));
	struct rows *rows = page_rows(&page->top, "commit");
	size_t kept = t->n_commits - from, shown = kept > SHOWN + FEW ? SHOWN : kept;
	for (size_t i = t->n_commits; i > from; i--) {
		const struct trend_commit *c = &t->commits[i - 1];
		struct scope *row = page_row(rows);
		if (t->n_commits - i >= shown)
			page_attribute(row, NULL, "class", "rest");
		page_fill(row, "name", name_of(c, arena));
		page_fill_if(row, "time", times, times ? time_of(c, arena) : "");
		page_fill(row, "runs", c->unused ? "" : arena_format(arena, "%u", c->runs));
		page_fill(row, "step", c->unused ? "" : format_number(arena, unit, c->step));
		for (int k = 0; k < TREND_PARTS; k++)
			page_fill(row, say_listed(WORDS_trend_part, (unsigned)k)->key,
			          c->unused ? "" : format_number(arena, unit, c->part[k]));
		page_fill_if(row, "joule", energy, c->energy > 0 ? say_count(arena, c->energy) : "");
		page_fill(row, "note", note_of(t, c, arena));
	}
	page_fill_if(
		&page->top, "commits.all", shown < kept,
		SAY(NULL, arena, commits_shown, .cut = from > 0, .kept = (int64_t)kept, .n = (int64_t)t->n_commits));
	page_fill_if(&page->top, "earlier", from > 0, SAY(NULL, arena, commits_earlier, .n = (int64_t)from));
}

int trend_html(const struct trend *t, struct buf *out, struct err *err)
{
	ARENA_LOCAL(arena);
	struct page page;
	page_open(&page, asset_trend_html.bytes, asset_trend_html.n, 1, &arena);
	page_head(&page, fill_card(t, &page), title_of(t, &arena), "");
	struct rows *rows = page_rows(&page.top, "series");
	for (size_t i = 0; i < t->n_series; i++) {
		struct scope *row = page_row(rows);
		page_attribute(row, NULL, "id", arena_format(&arena, "series-%zu", i + 1));
		fill_series(t, &t->series[i], row, &arena);
	}
	fill_commits(t, &page);
	page_fill(&page.top, "method.least", arena_format(&arena, "%.3g %%", 100 * t->least));
	page_fill(&page.top, "footer", SAY(NULL, &arena, page_made_by, .version = GAPLINE_VERSION));
	return page_finish(&page, out, err);
}
