#include "cmd/page_evidence.h"

#include "analyse/analyse.h"
#include "base/base64.h"
#include "render/render.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

static const char EVIDENCE[] = "<script id=\"evidence\" type=\"text/plain\">", END[] = "</script>";

bool page_recognise(const struct file_head *head)
{
	static const char begin[] = "<!DOCTYPE html>";
	return head->n >= sizeof begin - 1 && memcmp(head->data, begin, sizeof begin - 1) == 0;
}

static int read_page(const char *path, struct buf *to, struct err *err)
{
	int64_t size;
	char piece[1 << 14];
	ssize_t n;
	int fd = file_open(path, &size, err);
	if (fd < 0)
		return -1;
	while ((n = file_read(fd, piece, sizeof piece)) > 0 && to->n <= PAGE_MOST)
		buf_add(to, piece, (size_t)n);
	close(fd);
	if (n < 0)
		return err_set(err, "%s: cannot be read", path);
	if (to->n > PAGE_MOST)
		return err_set(err, "%s: more than %d MB long, and a report of gapline is not; name a report.html",
		               path, PAGE_MOST >> 20);
	if (!to->n || strlen(to->data) != to->n)
		return err_set(err, "%s: %s; name a report.html", path, to->n ? "is no page" : "is empty");
	return 0;
}

int page_evidence_read(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                       struct err *err)
{
	struct buf packed = {0};
	struct err cause;
	*out = (struct page_evidence){0};
	if (read_page(path, &out->page, err) < 0)
		return -1;
	const char *from = strstr(out->page.data, EVIDENCE), *to = from ? strstr(from, END) : NULL;
	if (!to)
		return err_set(err,
		               "%s: carries no evidence; only a report of two sides does, made by gapline 0.2 or later",
		               path);
	from += sizeof EVIDENCE - 1;
	int result = base64_take(&packed, from, (size_t)(to - from));
	if (result < 0 || !packed.n)
		result = err_set(&cause, "the evidence is damaged: it is no base64");
	else if (table_maker(packed.data, packed.n, &out->maker, &cause) == 0)
		result = table_read(packed.data, packed.n, names, arena, &out->tables, &out->columns, &cause);
	else
		result = -1;
	buf_release(&packed);
	return result < 0 ? err_set(err, "%s: %s", path, cause.text) : 0;
}

void page_evidence_release(struct page_evidence *evidence)
{
	buf_release(&evidence->page);
}

/* ---- what a page says ---- */

/* Whose contents stand in no table: from … to the first end. */
struct hole {
	const char *begin, *end;
};
static const struct hole holes[] = {{" data-carried=\"picture\">", "</div>"},
                                    {"<script id=\"data\" type=\"text/plain\">", END}};

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
	static const char begin[] = "<section id=\"";
	const char *next = strstr(at, begin);
	return next ? next + sizeof begin - 1 : NULL;
}

/* Both pages side by side. */
struct reading {
	const char *page, *given; /* where each begins */
	const char *said, *would; /* … and where it is */
	const char *section;
	struct page_verified *out;
	struct arena *arena;
};

static void add_difference(struct reading *r)
{
	struct page_verified *out = r->out;
	if (out->n < PAGE_DIFFERENCES)
		out->list[out->n++] = (struct page_difference){r->section, around(r->page, r->said, r->arena),
		                                               around(r->given, r->would, r->arena)};
	out->sections++;
	r->said = next_section(r->said);
	r->would = next_section(r->would);
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
	static const char begin[] = "<section id=\"";
	size_t n = sizeof begin - 1;
	if ((size_t)(r->would - r->given) < n || memcmp(r->would - n, begin, n) != 0)
		return;
	r->section = arena_copy(r->arena, r->would, strcspn(r->would, "\""));
}

static void compare_pages(struct reading *r)
{
	bool tag = false, number = false;
	while (r->said && r->would) {
		if (r->would > r->given && r->would[-1] == '>')
			pass_hole(r);
		note_section(r);
		if (*r->said != *r->would) {
			add_difference(r);
			tag = true;
			continue;
		}
		if (!*r->said)
			return;
		tag = *r->said == '<' || (tag && *r->said != '>');
		bool digit = !tag && isdigit((unsigned char)*r->said);
		r->out->numbers += digit && !number;
		number = digit || (number && strchr(".,", *r->said));
		r->said++;
		r->would++;
	}
}

int page_verify(const struct page_evidence *evidence, struct names *names, struct arena *arena,
                struct page_verified *out, struct err *err)
{
	struct buf given = {0};
	struct analysis analysis = analyse_tables(&evidence->tables, names, arena);
	*out = (struct page_verified){0};
	analysis.title = title_of(evidence->page.data, arena);
	int result = render_html(&analysis, &given, err);
	if (result == 0) {
		struct reading r = {.page = evidence->page.data,
		                    .given = given.data,
		                    .said = evidence->page.data,
		                    .would = given.data,
		                    .section = "",
		                    .out = out,
		                    .arena = arena};
		compare_pages(&r);
	}
	buf_release(&given);
	return result;
}

int page_evidence_is_ours(const char *path, const struct page_evidence *evidence, struct err *err)
{
	const struct table_columns *columns = &evidence->columns;
	if (strcmp(evidence->maker.version, GAPLINE_VERSION) == 0 && !columns->n_unknown && !columns->n_missing)
		return 0;
	return err_set(err, "%s: made by gapline %s, and this is " GAPLINE_VERSION ": use it with %s", path,
	               evidence->maker.version, evidence->maker.version);
}

int page_evidence_trust(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                        struct err *err)
{
	struct page_verified found;
	if (page_evidence_read(path, names, arena, out, err) < 0 || page_evidence_is_ours(path, out, err) < 0 ||
	    page_verify(out, names, arena, &found, err) < 0)
		return -1;
	return found.n ? err_set(err, "%s: the page disagrees with its evidence; gapline verify says where", path) : 0;
}
