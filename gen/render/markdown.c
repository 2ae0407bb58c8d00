/* The result for a pull request: a step summary, or short, a comment that a job writes anew each time. Blocks are
 * added in the order of their weight, as long as there is room. */
#include "analyse/shown.h"
#include "base/markdown_writer.h"
#include "render/render.h"
#include "render/sections.h"
#include "render/view.h"
#include "render/words.h"
#include "say/say.h"

#include <string.h>

/* GitHub's limit for a comment is 65,536 characters; bytes are at least as many. */
enum { MOST_BYTES = 65536, RESERVE = 8192, TOP = 5, NAME = 80 };

struct sheet {
	const struct analysis *a;
	const struct markdown_wish *wish;
	struct arena arena;
	struct buf *out;
	struct buf block;
	struct markdown md; /* writes to `block` */
	size_t begin;       /* where this document begins in `out` */
	bool cut, caveats;  /* whether blocks were left out; whether there is a list of caveats */
	const char *said;   /* the headline, and every caveat so far */
};

/* Ends a block; false where there is no room for it. */
static bool add(struct sheet *s)
{
	size_t room = MOST_BYTES - RESERVE, used = s->out->n - s->begin;
	bool fits = s->block.n <= room - (used < room ? used : room);
	if (fits && s->block.n)
		buf_add(s->out, s->block.data, s->block.n);
	s->cut = s->cut || !fits;
	buf_release(&s->block);
	return fits;
}

static void paragraph(struct sheet *s, const char *text)
{
	if (!*text)
		return;
	markdown_text(&s->md, text);
	markdown_raw(&s->md, "\n\n");
	add(s);
}

static void put_verdict(struct sheet *s)
{
	const struct analysis *a = s->a;
	markdown_raw(&s->md, s->wish->brief ? "<!-- gapline -->\n" : "");
	markdown_raw(&s->md, "### ");
	markdown_text(&s->md, words_heading(a, &s->arena));
	markdown_raw(&s->md, "\n\n");
	if (a->title) {
		markdown_text(&s->md, SAY(NULL, &s->arena, workload, .title = format_name(&s->arena, a->title, NAME)));
		markdown_raw(&s->md, "\n\n");
	}
	markdown_raw(&s->md, "**");
	s->said = words_verdict(a, &s->arena);
	markdown_text(&s->md, s->said);
	markdown_raw(&s->md, "**\n\n");
	add(s);
	paragraph(s, words_once(a, &s->arena));
	paragraph(s, words_change(a, &s->arena));
	paragraph(s, words_more(a, &s->arena));
}

static void put_gates(struct sheet *s)
{
	static const char *const sign[] = {[GATE_NONE] = "",
	                                   [GATE_PASSED] = "\xE2\x9C\x85",
	                                   [GATE_FAILED] = "\xE2\x9D\x8C",
	                                   [GATE_INCONCLUSIVE] = "\xE2\x9D\x94"};
	const struct gates *gates = &s->a->gates;
	if (!gates->n)
		return;
	buf_format(&s->block, "**%s: %s %s**\n\n| %s | %s | %s |\n|---|---|---|\n", say_word(WORDS_heading, "gates"),
	           sign[gates->result], gate_result_name(gates->result), say_word(WORDS_heading, "gate"),
	           say_word(WORDS_heading, "result"), say_word(WORDS_heading, "measured"));
	bool fits = add(s);
	for (size_t i = 0; fits && i < gates->n; i++) {
		const struct gate *gate = &gates->gate[i];
		s->md.cell = true;
		markdown_raw(&s->md, "| ");
		markdown_code(&s->md, format_name(&s->arena, gate->name, NAME));
		buf_format(&s->block, " | %s %s | ", sign[gate->result], gate_result_name(gate->result));
		markdown_text(&s->md, say_fact(gate->fact, s->a->names, &s->arena));
		markdown_raw(&s->md, " |\n");
		s->md.cell = false;
		fits = add(s);
	}
	markdown_raw(&s->md, "\n");
	add(s);
}

static void row(struct sheet *s, const char *name, bool code, struct unit unit, double baseline, double fixed)
{
	s->md.cell = true;
	markdown_raw(&s->md, "| ");
	if (code)
		markdown_code(&s->md, format_name(&s->arena, name, NAME));
	else
		markdown_text(&s->md, name);
	const double value[2] = {baseline, fixed};
	for (uint32_t i = 0; i < s->a->n_sides; i++) {
		markdown_raw(&s->md, " | ");
		markdown_text(&s->md, format_number(&s->arena, unit, value[i]));
	}
	markdown_raw(&s->md, " |\n");
	s->md.cell = false;
}

/* The head of a table of both sides. */
static void head(struct sheet *s, const char *what, struct unit unit)
{
	s->md.cell = true;
	buf_format(&s->block, "| %s, %s", say_word(WORDS_heading, what), unit.name);
	for (uint32_t i = 0; i < s->a->n_sides; i++) {
		markdown_raw(&s->md, " | ");
		markdown_text(&s->md, format_name(&s->arena, view_side(&s->a->side[i], &s->arena), NAME));
		buf_format(&s->block, ", %s", say_word(WORDS_each, view_unit(&s->a->side[i])));
	}
	markdown_raw(&s->md, s->a->n_sides > 1 ? " |\n|---|--:|--:|\n" : " |\n|---|--:|\n");
	s->md.cell = false;
}

/* Where the steps come from, once where both sides say the same. */
static void put_steps(struct sheet *s)
{
	const char *text[2] = {0};
	for (uint32_t i = 0; i < s->a->n_sides; i++)
		text[i] = evidence_steps(s->a, &s->a->side[i], &s->arena);
	bool pair = s->a->n_sides > 1, same = pair && strcmp(text[0], text[1]) == 0;
	paragraph(s, SAY(NULL, &s->arena, steps_line,
	                 .sides = !pair  ? "profile"
	                          : same ? "same"
	                                 : "apart",
	                 .first = text[0], .second = text[1]));
	const struct fact *loops = s->a->comparison.loops;
	paragraph(s, loops ? say_fact(loops, s->a->names, &s->arena) : "");
}

static void put_budget(struct sheet *s)
{
	const struct budget *b = &s->a->side[0].budget, *f = &s->a->side[1].budget;
	struct unit unit = view_table_unit(s->a);
	head(s, "budget", unit);
	row(s, say_word(WORDS_part, "compute"), false, unit, b->compute, f->compute);
	row(s, say_word(WORDS_part, "comm_exposed"), false, unit, b->comm_exposed, f->comm_exposed);
	row(s, say_word(WORDS_part, "copy_exposed"), false, unit, b->copy_exposed, f->copy_exposed);
	row(s, say_word(WORDS_part, "idle"), false, unit, b->idle, f->idle);
	row(s, say_word(WORDS_part, "all"), false, unit, b->period, f->period);
	markdown_raw(&s->md, "\n");
	add(s);
}

static void put_phases(struct sheet *s)
{
	struct table t = table_make(s->a, TABLE_PHASES, &s->arena);
	struct unit unit = view_table_unit(s->a);
	if (!view_has_phases(s->a))
		return;
	head(s, "phases", unit);
	for (uint32_t i = 0; i < t.shown && i < TOP; i++)
		row(s, view_phase(s->a, (uint32_t)t.row[i].key), true, unit, t.row[i].time[0], t.row[i].time[1]);
	markdown_raw(&s->md, "\n");
	add(s);
}

static void put_startup(struct sheet *s)
{
	const char *startup = evidence_startup(s->a, &s->arena);
	if (startup)
		paragraph(s, SAY(NULL, &s->arena, startup_line, .startup = startup));
}

static void put_details(struct sheet *s)
{
	put_steps(s);
	put_budget(s);
	put_phases(s);
	put_startup(s);
}

static void put_findings(struct sheet *s)
{
	uint32_t n = s->a->findings.n;
	bool fits = true;
	for (uint32_t i = 0; fits && i < n && i < TOP; i++) {
		const struct finding *f = &s->a->findings.list[i];
		if (!i)
			buf_format(&s->block, "**%s**\n\n", say_word(WORDS_heading, "findings"));
		markdown_raw(&s->md, "- **");
		markdown_text(&s->md, f->title);
		if (s->a->n_sides > 1)
			buf_format(&s->block, "** (%s): ", words_status(f));
		else
			markdown_raw(&s->md, "**: ");
		markdown_text(&s->md, f->text);
		markdown_raw(&s->md, "\n");
		fits = add(s);
	}
	if (n > TOP)
		buf_format(&s->block, "- %s\n", SAY(NULL, &s->arena, more_in_report, .n = n - TOP));
	markdown_raw(&s->md, n ? "\n" : "");
	add(s);
}

/* A text once: what the headline says is no news. */
static void caveat(struct sheet *s, const char *text)
{
	if (!*text || strstr(s->said, text))
		return;
	if (!s->caveats)
		buf_format(&s->block, "**%s**\n\n", say_word(WORDS_heading, "caveats"));
	markdown_raw(&s->md, "- ");
	markdown_text(&s->md, text);
	markdown_raw(&s->md, "\n");
	add(s);
	s->caveats = true;
	s->said = arena_format(&s->arena, "%s\n%s", s->said, text);
}

/* What the interval does not hold, or holds only as far as it is said. */
static void put_reasons(struct sheet *s)
{
	const struct verdict *v = &s->a->verdict;
	for (uint32_t i = 0; i < v->reasons.n; i++) {
		const struct fact *fact = v->reasons.list[i];
		if (fact != v->typical_line && fact_info[fact->id].severity == FACT_CAVEAT)
			caveat(s, say_fact(fact, s->a->names, &s->arena));
	}
}

/* Other work first: it makes a verdict worth little. Then every fact that could turn the result round; what else is to
 * be known of the data stands in the report. Without a number to doubt, why there is none. */
static void put_caveats(struct sheet *s)
{
	const struct analysis *a = s->a;
	const struct verdict *v = &a->verdict;
	if (!a->comparison.comparable || a->comparison.same_work != SAME_WORK_SAME) {
		caveat(s, arena_format(&s->arena, "%s.", words_comparable(a, &s->arena)));
		if (a->comparison.differences.n)
			caveat(s, say_fact(a->comparison.differences.list[0], a->names, &s->arena));
	}
	caveat(s, words_same_result(a, &s->arena));
	size_t n;
	const char **doubts = words_doubts(a, &s->arena, &n);
	if (v->result == VERDICT_INCONCLUSIVE && v->reasons.n && !a->conditions.doubt)
		caveat(s, say_fact(v->reasons.list[0], a->names, &s->arena));
	for (size_t i = 0; i < n; i++)
		caveat(s, doubts[i]);
	put_reasons(s);
	markdown_raw(&s->md, s->caveats ? "\n" : "");
	add(s);
}

static void put_picture(struct sheet *s)
{
	if (!s->wish->svg_url)
		return;
	markdown_raw(&s->md, "!");
	markdown_link(&s->md, say_word(WORDS_heading, "picture"), s->wish->svg_url);
	markdown_raw(&s->md, "\n\n");
	add(s);
}

/* For this there is always room. */
static void put_end(struct sheet *s)
{
	struct markdown md = {.out = s->out};
	if (s->cut)
		buf_format(s->out, "\n%s\n\n", say_word(WORDS_heading, "no_room"));
	if (s->wish->report_url) {
		markdown_link(&md, say_word(WORDS_heading, "report"), s->wish->report_url);
		markdown_raw(&md, "\n\n");
	}
	markdown_text(&md, words_made(s->a, &s->arena));
	markdown_raw(&md, "\n");
}

/* One side alone: how long its step is, and what of it is idle. */
static void put_side(struct sheet *s)
{
	const struct side *side = &s->a->side[0];
	double idle = side->budget.period > 0 ? side->budget.idle / side->budget.period : 0;
	markdown_raw(&s->md, "### ");
	markdown_text(&s->md, SAY(NULL, &s->arena, profile_line, .time = side->headline.step, .of = view_unit(side),
	                          .idle = idle));
	markdown_raw(&s->md, "\n\n");
	add(s);
	paragraph(s, side->doubt ? side->doubt : "");
}

int render_markdown(const struct analysis *a, const struct markdown_wish *wish, struct buf *out, struct err *err)
{
	const char *const urls[] = {wish->svg_url, wish->report_url};
	struct sheet s = {.a = a, .wish = wish, .out = out, .begin = out->n};
	s.md.out = &s.block;
	for (size_t i = 0; i < 2; i++)
		if (urls[i] && !markdown_url(urls[i]))
			return err_set(err, "'%s' is no http or https address that a link can hold", urls[i]);
	if (a->n_sides < 2) {
		put_side(&s);
		put_findings(&s);
		put_details(&s);
	} else {
		put_verdict(&s);
		put_gates(&s);
		if (!wish->brief) {
			put_picture(&s);
			put_details(&s);
			put_findings(&s);
		}
		put_caveats(&s);
	}
	put_end(&s);
	buf_release(&s.block);
	arena_release(&s.arena);
	return 0;
}
