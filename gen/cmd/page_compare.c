#include "cmd/page.h"

#include "analyse/analyse.h"
#include "base/json_reader.h"
#include "base/list.h"
#include "base/sort.h"
#include "render/render.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- byte by byte ---- */

/* Whose contents stand in no table: from … to the first end. */
struct hole {
	const char *begin, *end;
};
static const struct hole holes[] = {{" data-carried=\"picture\">", "</div>"},
                                    {"<script id=\"data\" type=\"text/plain\">", "</script>"},
                                    {"<script id=\"evidence\" type=\"text/plain\">", "</script>"}};
/* … and whose contents are no text of the page. */
static const struct hole unsaid[] = {
	{"<title>", "</title>"}, {"<h1>", "</h1>"}, {"<style", "</style>"}, {"<script", "</script>"}};
static const char SECTION[] = "<section id=\"";

/* The text of the first heading, without escapes; "" without one. */
static const char *title_of(const char *page, struct arena *arena)
{
	static const char *const escapes[][2] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}};
	const char *from = strstr(page, "<h1>"), *to = from ? strchr(from + 4, '<') : NULL;
	if (!to)
		return "";
	char *title = arena_copy(arena, from + 4, (size_t)(to - from - 4)), *at = title;
	for (const char *c = title; *c; at++) {
		size_t skip = 1;
		*at = *c;
		for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
			if (strncmp(c, escapes[i][0], strlen(escapes[i][0])) == 0) {
				*at = *escapes[i][1];
				skip = strlen(escapes[i][0]);
			}
		c += skip;
	}
	*at = 0;
	return title;
}

/* The text around a place: the text node that it lies in, or the tag. */
static const char *around(const char *page, const char *at, struct arena *arena)
{
	enum { BEFORE = 60, BEHIND = 60 };
	const char *from = at, *to = at;
	while (from > page && at - from < BEFORE && from[-1] != '>' && *from != '<')
		from--;
	while (*to && to - at < BEHIND && *to != '<' && *to != '>')
		to++;
	while (from > page && ((unsigned char)*from & 0xC0) == 0x80) /* not within a character */
		from--;
	while (((unsigned char)*to & 0xC0) == 0x80)
		to++;
	return arena_copy(arena, from, (size_t)(to - from));
}

static const char *next_section(const char *at)
{
	const char *next = strstr(at, SECTION);
	return next ? next + sizeof SECTION - 1 : NULL;
}

/* Both pages side by side. */
struct reading {
	const char *page, *given; /* where each begins */
	const char *said, *would; /* … and where it is */
	const char *section;
	struct page_verified *out;
	struct arena *arena;
};

static void add_difference(struct page_verified *out, const char *section, const char *said, const char *evidence)
{
	if (out->n < PAGE_DIFFERENCES)
		out->list[out->n++] = (struct page_difference){section, said, evidence};
	out->sections++;
}

/* Passes over what no table has, of which only the ends have to be there. */
static void pass_hole(struct reading *r)
{
	for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
		size_t n = strlen(holes[i].begin);
		if ((size_t)(r->would - r->given) < n || memcmp(r->would - n, holes[i].begin, n) != 0)
			continue;
		const char *said = strstr(r->said, holes[i].end), *would = strstr(r->would, holes[i].end);
		if (said && would) {
			r->said = said;
			r->would = would;
		}
	}
}

static void note_section(struct reading *r)
{
	size_t n = sizeof SECTION - 1;
	if ((size_t)(r->would - r->given) < n || memcmp(r->would - n, SECTION, n) != 0)
		return;
	r->section = arena_copy(r->arena, r->would, strcspn(r->would, "\""));
}

static void compare_pages(struct reading *r)
{
	while (r->said && r->would) {
		if (r->would > r->given && r->would[-1] == '>')
			pass_hole(r);
		note_section(r);
		if (*r->said != *r->would) {
			add_difference(r->out, r->section, around(r->page, r->said, r->arena),
			               around(r->given, r->would, r->arena));
			r->said = next_section(r->said);
			r->would = next_section(r->would);
			continue;
		}
		if (!*r->said)
			return;
		r->said++;
		r->would++;
	}
}

/* ---- numbers alone ---- */

struct number {
	const char *at, *section;
	size_t n, section_n;
};

struct numbers {
	struct number *list;
	size_t n;
};

static int compare_numbers(const void *a, const void *b)
{
	const struct number *x = a, *y = b;
	int by_section = strncmp(x->section, y->section, x->section_n > y->section_n ? x->section_n : y->section_n);
	int by_text = by_section ? by_section : strncmp(x->at, y->at, x->n < y->n ? x->n : y->n);
	return by_text ?: ASCENDING(x->n, y->n);
}

/* Behind the tag that begins here, and what is no text of the page; NULL: there is no end. */
static const char *pass_unsaid(const char *at, const char *end)
{
	for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
		if (strncmp(at, unsaid[i].begin, strlen(unsaid[i].begin)) == 0)
			return strstr(at, unsaid[i].end);
	const char *tag = memchr(at, '>', (size_t)(end - at));
	const struct hole *picture = &holes[0];
	size_t n = strlen(picture->begin);
	if (tag && (size_t)(tag + 1 - at) >= n && memcmp(tag + 1 - n, picture->begin, n) == 0)
		return strstr(tag, picture->end);
	return tag;
}

/* The numbers in the text of a page, but for its maker's version: by section, sorted. */
static struct numbers numbers_of(const char *page, const char *version, struct arena *arena)
{
	struct numbers out = {0};
	size_t room = 0, version_n = strlen(version), section_n = 1;
	const char *section = "", *end = page + strlen(page);
	for (const char *at = page; at < end;) {
		if (*at == '<') {
			if (strncmp(at, SECTION, sizeof SECTION - 1) == 0) {
				section = at + sizeof SECTION - 1;
				section_n = strcspn(section, "\"") + 1;
			}
			const char *behind = pass_unsaid(at, end);
			at = behind ? behind : at + 1;
		} else if (!isdigit((unsigned char)*at)) {
			at++;
		} else {
			size_t n = 1;
			while (isdigit((unsigned char)at[n]) || (at[n] && strchr(".,", at[n])))
				n++;
			while (!isdigit((unsigned char)at[n - 1]))
				n--;
			LIST_GROW(arena, out.list, out.n, room);
			if (n != version_n || memcmp(at, version, n) != 0)
				out.list[out.n++] = (struct number){at, section, n, section_n};
			at += n;
		}
	}
	SORT(out.list, out.n, compare_numbers);
	return out;
}

/* How many numbers of the page are such that the evidence gives, as often, in the same section. Of another version's
 * page the others are differences; where the evidence gives more, a later version says more. */
static void count_numbers(const char *page, const char *given, const char *version, struct arena *arena,
                          struct page_verified *out)
{
	const struct numbers said = numbers_of(page, version, arena), would = numbers_of(given, GAPLINE_VERSION, arena);
	const char *last = NULL;
	size_t w = 0;
	for (size_t s = 0; s < said.n; s++) {
		const struct number *number = &said.list[s];
		while (w < would.n && compare_numbers(&would.list[w], number) < 0)
			w++;
		if (w < would.n && compare_numbers(&would.list[w], number) == 0) {
			w++;
			out->numbers++;
			continue;
		}
		const char *section = arena_copy(arena, number->section, number->section_n - 1);
		if (out->numbers_only && (!last || strcmp(last, section) != 0))
			add_difference(out, section, around(page, number->at, arena), NULL);
		last = section;
	}
}

/* ---- JSON: value by value ---- */

struct json_reading {
	struct page_verified *out;
	struct arena *arena;
	bool differs; /* the member of the result that is being read */
};

static size_t count_values(const struct json_value *in)
{
	size_t n = 0;
	for (const struct json_value *v = in->first; v; v = v->next)
		n++;
	return n;
}

/* What a difference shows of a value. */
static const char *shown(const struct json_reading *r, const struct json_value *v)
{
	if (!v)
		return "nothing";
	if (v->kind == JSON_ARRAY || v->kind == JSON_OBJECT)
		return arena_format(r->arena, v->kind == JSON_ARRAY ? "[%zu]" : "{%zu}", count_values(v));
	if (v->kind == JSON_BOOL)
		return v->yes ? "true" : "false";
	return v->kind == JSON_NULL ? "null" : around(v->text, v->text, r->arena);
}

static bool same_text(const struct json_reading *r, const struct json_value *said, const struct json_value *would)
{
	bool sentence = r->out->numbers_only && strchr(said->text, ' ') && strchr(would->text, ' ');
	return sentence || strcmp(said->text, would->text) == 0;
}

static void compare_values(struct json_reading *r, const char *path, const struct json_value *said,
                           const struct json_value *would);

/* Members go by their names, elements by their places. There are as many, so that no name is there twice. */
static bool compare_parts(struct json_reading *r, const char *path, const struct json_value *said,
                          const struct json_value *would)
{
	size_t place = 0;
	const struct json_value *s = said->first;
	if (count_values(said) != count_values(would))
		return false;
	for (const struct json_value *w = would->first; w; w = w->next, place++) {
		const struct json_value *same = s;
		if (would->kind == JSON_OBJECT)
			for (same = said->first; same && strcmp(same->key, w->key) != 0;)
				same = same->next;
		else
			s = s->next;
		const char *name = w->key ? arena_format(r->arena, "%s%s%s", path, *path ? "." : "", w->key)
		                          : arena_format(r->arena, "%s[%zu]", path, place);
		if (!*path) {
			r->differs = false;
			if (strcmp(w->key, "gapline") == 0 || strcmp(w->key, "evidence") == 0)
				continue;
		}
		compare_values(r, name, same, w);
	}
	return true;
}

static void compare_values(struct json_reading *r, const char *path, const struct json_value *said,
                           const struct json_value *would)
{
	bool same = said && said->kind == would->kind;
	if (same && (would->kind == JSON_OBJECT || would->kind == JSON_ARRAY))
		same = compare_parts(r, path, said, would);
	else if (same && would->kind == JSON_NUMBER)
		same = strtod(said->text, NULL) == strtod(would->text, NULL);
	else if (same && would->kind == JSON_TEXT)
		same = same_text(r, said, would);
	else if (same && would->kind == JSON_BOOL)
		same = said->yes == would->yes;
	r->out->numbers += same && would->kind == JSON_NUMBER;
	if (!same && !r->differs)
		add_difference(r->out, path, shown(r, said), shown(r, would));
	r->differs = r->differs || !same;
}

static void compare_json(const struct page_evidence *evidence, const struct buf *given, struct arena *arena,
                         struct page_verified *out)
{
	struct json_reading r = {.out = out, .arena = arena};
	compare_values(&r, "", evidence->json, json_read(given->data, given->n, arena));
}

/* Whether the JSON leaves out ranks of a side: `--all-ranks` is no part of the evidence. */
static bool folds(const struct json_value *json, const char *side)
{
	return json_member(json_member(json, side, JSON_OBJECT), "folded", JSON_OBJECT) != NULL;
}

int page_verify(const struct page_evidence *evidence, struct names *names, struct arena *arena,
                struct page_verified *out, struct err *err)
{
	BUF_LOCAL(given);
	bool ours = page_evidence_is_ours(evidence);
	struct analysis analysis = analyse_tables(&evidence->tables, names, arena);
	const char *title = json_member_text(evidence->json, "title");
	*out = (struct page_verified){.numbers_only = !ours};
	analysis.all_ranks = !folds(evidence->json, "baseline") && !folds(evidence->json, "fixed");
	if (!evidence->json)
		analysis.title = title_of(evidence->page.data, arena);
	else if (title)
		analysis.title = names_text(names, names_add_text(names, title));
	int result =
		evidence->json ? render_json_evidence(&analysis, &given, err) : render_html(&analysis, &given, err);
	struct reading r = {.page = evidence->page.data,
	                    .given = given.data,
	                    .said = evidence->page.data,
	                    .would = given.data,
	                    .section = "",
	                    .out = out,
	                    .arena = arena};
	if (result == 0 && evidence->json)
		compare_json(evidence, &given, arena, out);
	else if (result == 0 && ours)
		compare_pages(&r);
	if (result == 0 && !evidence->json)
		count_numbers(r.page, r.given, evidence->maker.version, arena, out);
	return result;
}
