#include "cmd/page.h"

#include "base/buf.h"
#include "base/json_reader.h"
#include "render/render.h"

#include <string.h>

static const char EVIDENCE[] = "<script id=\"evidence\" type=\"text/plain\">", END[] = "</script>";
static const char PAGE[] = "<!DOCTYPE html>";
static const char BLANKS[] = " \t\r\n";

/* Behind `word`, and blanks before and after it; NULL: something else stands there. */
static const char *pass(const char *at, const char *word)
{
	at += strspn(at, BLANKS);
	size_t n = strlen(word);
	return strncmp(at, word, n) == 0 ? at + n + strspn(at + n, BLANKS) : NULL;
}

/* Whether a file that begins so is a report of gapline, another page, or gapline's JSON result. */
static bool recognise(const struct file_head *head)
{
	char text[FILE_HEAD_BYTES + 1] = "";
	memcpy(text, head->data, head->n);
	const char *schema = pass(text, "{") ? strstr(text, "\"schema\"") : NULL;
	const char *value = schema ? pass(schema + strlen("\"schema\""), ":") : NULL;
	return strncmp(text, PAGE, sizeof PAGE - 1) == 0 || (value && pass(value, "\"gapline/"));
}

static bool is_page(const char *path)
{
	struct file_head head;
	struct err err;
	struct stat file;
	return stat(path, &file) == 0 && S_ISREG(file.st_mode) && file_look(path, &head, &err) == 0 && recognise(&head);
}

const char *page_side_label(int side)
{
	static const char *const labels[] = {"baseline", "fixed"};
	return labels[side];
}

int page_find_side(const char *given, struct arena *arena, const char **path, int *side, struct err *err)
{
	struct stat file;
	size_t n = strlen(given);
	if (is_page(given))
		return err_set(err, "%s: is a report, which has two sides: name one, %s:baseline or %s:fixed", given,
		               given, given);
	for (*side = 0; *side < 2; ++*side) {
		size_t end = strlen(page_side_label(*side)) + 1;
		if (n <= end || given[n - end] != ':' || strcmp(given + n - end + 1, page_side_label(*side)) != 0 ||
		    stat(given, &file) == 0)
			continue;
		*path = arena_copy(arena, given, n - end);
		if (stat(*path, &file) == 0 && S_ISREG(file.st_mode))
			return 1;
	}
	return 0;
}

bool page_is_side(const char *given)
{
	ARENA_LOCAL(scratch);
	const char *path;
	int side;
	struct err err;
	return page_find_side(given, &scratch, &path, &side, &err) == 1;
}

static int read_page(const char *path, struct buf *to, struct err *err)
{
	if (file_add(to, path, PAGE_MOST, err))
		return -1;
	if (to->n > PAGE_MOST)
		return err_set(err, "%s: more than %d MB long, and a report of gapline is not; name a report.html",
		               path, PAGE_MOST >> 20);
	if (!to->n || strlen(to->data) != to->n)
		return err_set_id(err, ERR_EMPTY, "%s: %s; name a report.html", path,
		                  to->n ? "is no page" : "is empty");
	return 0;
}

/* The evidence as text, `n` characters; NULL with `err`: there is none. */
static const char *find_evidence(const char *path, struct page_evidence *out, struct arena *arena, size_t *n,
                                 struct err *err)
{
	const char *from, *to;
	if (pass(out->page.data, "{")) {
		out->json = json_read(out->page.data, out->page.n, arena);
		const char *text = json_member_text(out->json, "evidence");
		const char *schema = json_member_text(out->json, "schema");
		*n = text ? strlen(text) : 0;
		if (!out->json)
			err_set(err, "%s: is no JSON; name the result of gapline report", path);
		else if (!schema || strcmp(schema, RENDER_SCHEMA) != 0)
			return err_set(err,
			               "%s: is a result of the form '%s', and this gapline reads '" RENDER_SCHEMA
			               "'; make the report again of its profiles",
			               path, schema ? schema : "unknown"),
			       NULL;
		else if (!text)
			err_set(err, "%s: carries no evidence; gapline report --evidence puts it into the JSON", path);
		return text;
	}
	from = strstr(out->page.data, EVIDENCE);
	to = from ? strstr(from, END) : NULL;
	const char *wrong =
		strncmp(out->page.data, PAGE, sizeof PAGE - 1) != 0 ? "is no page; name a report.html"
		: !strstr(out->page.data, "</html>") ? "is cut off; copy the report again, or make it again"
		: !to ? "carries no evidence: it is of one side, of very many steps, or made before gapline "
			"0.2; name the page of a comparison"
		      : NULL;
	if (wrong) {
		err_set(err, "%s: %s", path, wrong);
		return NULL;
	}
	from += sizeof EVIDENCE - 1;
	*n = (size_t)(to - from);
	return from;
}

bool page_evidence_is_ours(const struct page_evidence *evidence)
{
	return strcmp(evidence->maker.version, GAPLINE_VERSION) == 0;
}

/* Whether this gapline can judge the tables as their maker did: all columns are there, and none that nobody knows; and
 * what it made itself it would write again. 0, or -1. */
static int check_tables(const struct page_evidence *e, const struct names *names, struct err *err)
{
	const struct table_columns *columns = &e->columns;
	BUF_LOCAL(again);
	struct table_maker maker = {0};
	if (columns->n_missing || (columns->n_unknown && !page_evidence_is_ours(e)))
		return err_set(err, "the evidence %s the column %s; use it with gapline %s, which made it",
		               columns->n_missing ? "lacks" : "has",
		               columns->n_missing ? columns->missing : columns->unknown, e->maker.version);
	if (!page_evidence_is_ours(e))
		return 0;
	table_write(&e->tables, names, &again);
	int result = table_maker(again.data, again.n, &maker, err);
	if (result == 0 && (maker.length != e->maker.length || maker.checksum != e->maker.checksum))
		result = err_set_id(err, ERR_DAMAGED, "the evidence is damaged: gapline does not write such a table");
	return result;
}

int page_evidence_read(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                       struct err *err)
{
	struct err cause;
	size_t n;
	*out = (struct page_evidence){0};
	if (read_page(path, &out->page, err) < 0)
		return -1;
	const char *text = find_evidence(path, out, arena, &n, err);
	if (!text)
		return -1;
	struct buf *packed = &out->packed;
	int result = base64_take(packed, text, n);
	if (result < 0 || !packed->n)
		result = err_set_id(&cause, ERR_DAMAGED, "the evidence is damaged: it is no base64");
	else if (table_maker(packed->data, packed->n, &out->maker, &cause) == 0)
		result = table_read(packed->data, packed->n, names, arena, &out->tables, &out->columns, &cause);
	else
		result = -1;
	if (result == 0)
		result = check_tables(out, names, &cause);
	return result < 0 ? err_set_id(err, cause.id, "%s: %s%s", path, cause.text,
	                               strchr(cause.text, ';') ? "" : "; copy the report again, or make it again")
	                  : 0;
}

void page_evidence_release(struct page_evidence *evidence)
{
	buf_release(&evidence->page);
	buf_release(&evidence->packed);
}

int page_evidence_trust(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                        struct err *err)
{
	struct page_verified found;
	if (page_evidence_read(path, names, arena, out, err) < 0 || page_verify(out, names, arena, &found, err) < 0)
		return -1;
	return found.n ? err_set(err, "%s: the report disagrees with its evidence; gapline verify says where", path)
	               : 0;
}

int page_evidence_check(const char *path, struct err *err)
{
	ARENA_LOCAL(scratch);
	struct names names;
	struct page_evidence checked;
	names_init(&names, &scratch);
	int result = page_evidence_trust(path, &names, &scratch, &checked, err);
	page_evidence_release(&checked);
	return result;
}
