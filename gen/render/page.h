/* A page: an XHTML template whose marked elements are filled, then serialised as HTML. Marks are attributes, and go
 * away:
 *
 *     data-fill="name"   the element's content is replaced by a text
 *     data-draw="name"   the element's content is replaced by nodes that the code makes (SVG)
 *     data-row="name"    the element is a prototype: one copy for each row, itself removed
 *     data-if="name"     the element stays or goes
 *     data-sides="2"     it is of a page of so many sides; in another its marks are served all the same, and it goes.
 * But a section goes at once, and nobody serves it
 *
 * Names belong to a scope: the page, or one copy of a row, in which its marks are found. Text enters the tree as text
 * nodes and attribute values only, so there is nothing to escape by hand.
 *
 *     page_open(&page, template, n, 2, arena);
 *     page_fill(&page.top, "verdict.word", "Faster");
 *     struct rows *rows = page_rows(&page.top, "phase");
 *     for (...)
 *             page_fill(page_row(rows), "name", name);
 *     return page_finish(&page, &out, err);
 *
 * A mark that the code does not serve and a name that the template does not have are errors of page_finish; until then
 * every function can be called, also after a failure. */
#ifndef GAPLINE_RENDER_PAGE_H
#define GAPLINE_RENDER_PAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <libxml/tree.h>
#include <stdbool.h>
#include <stdint.h>

struct mark;

struct scope {
	struct page *page;
	xmlNode *root; /* of a row's copy; NULL for the page */
	struct mark *marks;
	uint32_t n_marks;
	struct scope *next; /* all scopes of a page */
};

struct rows {
	struct page *page;
	xmlNode *prototype; /* is copied */
	xmlNode *place;     /* copies go before this one */
	struct scope nowhere;
};

struct page {
	xmlDoc *doc;
	const struct names *names; /* of what facts say */
	struct arena *arena;       /* for texts and for the page's own lists */
	struct scope top;
	struct err first; /* the first error, "" if none */
	size_t room;      /* for whoever fills the page: bytes left for what is long, … */
	uint32_t sides;   /* that it shows … */
	bool no_pair;     /* … and whether it compares a step with a run, so that nothing is a change */
};

void page_open(struct page *page, const char *template, size_t n, uint32_t sides, struct arena *arena);

/* The head of a page that shows `result` of `title`: its names, its style, and a policy by which a browser runs nothing
 * but `scripts` ("" or " 'sha256-…' …", as a Content-Security-Policy names them). */
void page_head(struct page *page, const char *result, const char *title, const char *scripts);

void page_fill(struct scope *scope, const char *name, const char *text);

/* The same for a sentence, in which an option of a command line, `--warmup`, is a word that does not break. */
void page_say(struct scope *scope, const char *name, const char *sentence);

/* The same for a command line or a kernel's name, which may break after a separator, and in a word without any: where a
 * page's style is blocked, a command would make it wider than the window. What is copied from the page is `code`. */
void page_code(struct scope *scope, const char *name, const char *code);

/* Appends to `out`, releases the page. 0, or -1 with `err` and nothing appended. */
int page_finish(struct page *page, struct buf *out, struct err *err);

/* The emptied element, to which the caller adds nodes; never NULL. */
xmlNode *page_draw(struct scope *scope, const char *name);

struct rows *page_rows(struct scope *scope, const char *name);
struct scope *page_row(struct rows *rows);

/* Rows of another kind that stand among `beside`, in the order in which both are made. */
struct rows *page_rows_among(struct scope *scope, const char *name, const struct rows *beside);

void page_if(struct scope *scope, const char *name, bool keep);
void page_fill_if(struct scope *scope, const char *name, bool keep, const char *text); /* both */

/* Sets an attribute of the element that carries the mark `name`, of any kind; name NULL: of the row's own element. */
void page_attribute(struct scope *scope, const char *name, const char *attribute, const char *value);

#endif
