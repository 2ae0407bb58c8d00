/* Writes GitHub's and GitLab's Markdown so that a text stays a text, whatever it holds: it opens no element, link or
 * table cell, calls nobody (@name), refers to no issue (#1) and is no command. Texts are UTF-8; control characters
 * become spaces, characters that turn the direction of writing U+FFFD. What is written between two calls is the
 * caller's own markup.
 *
 *	struct markdown md = {.out = &buf};
 *	markdown_raw(&md, "| ");  md.cell = true;  markdown_code(&md, name);  md.cell = false;  markdown_raw(&md, "
 *|\n"); */
#ifndef GAPLINE_BASE_MARKDOWN_WRITER_H
#define GAPLINE_BASE_MARKDOWN_WRITER_H

#include "base/buf.h"

#include <stdbool.h>

struct markdown {
	struct buf *out;
	bool cell; /* inside a table's cell */
};

/* Markup, as it is: never a text that comes from elsewhere. */
void markdown_raw(struct markdown *md, const char *markup);

/* At most 600 characters of a text, as text. */
void markdown_text(struct markdown *md, const char *text);

/* A code span; "" for an empty text. */
void markdown_code(struct markdown *md, const char *text);

/* Whether an address can stand in a link: http or https, of URLs' own characters only. */
bool markdown_url(const char *url);

/* `url` has to be a markdown_url. */
void markdown_link(struct markdown *md, const char *text, const char *url);

#endif
