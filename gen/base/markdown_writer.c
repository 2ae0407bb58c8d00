#include "base/markdown_writer.h"

#include "base/utf8.h"

#include <string.h>

enum { MOST_CHARACTERS = 600 };
static const char APART[] = "&#8203;"; /* a space without width: the character before it starts nothing any more */

void markdown_raw(struct markdown *md, const char *markup)
{
	buf_text(md->out, markup);
}

/* One character, made harmless; its length in the text. */
static size_t next(const char *text, uint32_t *code)
{
	size_t skip = 1, n = utf8_next((const unsigned char *)text, strlen(text), code, &skip);
	if (!n)
		*code = 0xfffd;
	else if (*code < 0x20 || (*code >= 0x7f && *code < 0xa0))
		*code = ' ';
	return n ? n : skip;
}

static void put(struct markdown *md, uint32_t code)
{
	char bytes[4];
	buf_add(md->out, bytes, utf8_put(code, bytes));
}

/* Markdown's own signs get a backslash or are written by number. A sign that starts something with what follows
 * (@name, #1, !1, ~label, $x$, :sign:, %1 and &1 of GitLab, http://, www.) is set apart from it; so is "GH-1". At the
 * start of a text, where a block may begin, that holds for its signs, too. */
void markdown_text(struct markdown *md, const char *text)
{
	bool first = true, digits = true; /* nothing but digits so far: "1." begins a list */
	for (size_t n = 0; *text; n++) {
		uint32_t code;
		if (n == MOST_CHARACTERS) {
			buf_text(md->out, "\xE2\x80\xA6");
			return;
		}
		const char *rest = text + next(text, &code);
		bool follows = *rest && *rest != ' ', digit = code >= '0' && code <= '9';
		char sign = code < 0x80 ? (char)code : 0;
		if (sign == '<' || sign == '>' || sign == '&' || sign == '$' || sign == '|')
			buf_format(md->out, "&#%d;", sign);
		else if ((sign && strchr("\\`*_{}[]~#!@^", sign)) || (first && sign && strchr("-+=/:", sign)) ||
		         (digits && !first && !follows && sign && strchr(".)", sign)))
			buf_format(md->out, "\\%c", sign);
		else
			put(md, code);
		bool dot = n && (sign == 'w' || sign == 'W') && *rest == '.' && strchr("wW", text[-1]); /* "www." */
		if (sign == '%' && strchr(")],.;", *rest))
			follows = false;
		bool issue = sign == '-' && *rest >= '0' && *rest <= '9';
		if ((follows && sign && strchr("@#!~$:%&", sign)) || dot || issue)
			buf_text(md->out, APART);
		digits = digits && digit;
		first = false;
		text = rest;
	}
}

void markdown_code(struct markdown *md, const char *text)
{
	size_t run = 0, longest = 0;
	for (const char *c = text; *c; c++) {
		run = *c == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	if (!*text)
		return;
	for (size_t i = 0; i <= longest; i++)
		markdown_raw(md, "`");
	markdown_raw(md, " "); /* one on either side is no part of the code; it keeps backquotes apart */
	while (*text) {
		uint32_t code;
		text += next(text, &code);
		if (code == '|' && md->cell)
			markdown_raw(md, "\\");
		put(md, code);
	}
	markdown_raw(md, " ");
	for (size_t i = 0; i <= longest; i++)
		markdown_raw(md, "`");
}

bool markdown_url(const char *url)
{
	static const char own[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#@!$&'()*+,;=%";
	size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
	return scheme && url[scheme] && strspn(url, own) == strlen(url) && strlen(url) <= 2000;
}

void markdown_link(struct markdown *md, const char *text, const char *url)
{
	markdown_raw(md, "[");
	markdown_text(md, text);
	buf_format(md->out, "](<%s>)", url);
}
