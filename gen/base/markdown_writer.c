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

static bool is_among(const char *signs, char sign)
{
	return sign && strchr(signs, sign);
}

/* Whether a sign starts something with what follows: @name, #1, !1, ~label, $x$, :sign:, %1 and &1 of GitLab, http://
 * and "GH-1". */
static bool starts_something(char sign, const char *rest)
{
	if (sign == '-')
		return is_among("0123456789", *rest);
	if (sign == '%' && is_among(")],.;", *rest))
		return false;
	return is_among("@#!~$:%&", sign) && *rest && *rest != ' ';
}

/* Whether it is the last w of "www.", as far as two of them tell. */
static bool is_www(const char *at)
{
	return is_among("wW", at[-1]) && is_among("wW", at[0]) && at[1] == '.';
}

/* Whether it begins a list or the like at the start of a text, or behind nothing but digits: "1." */
static bool begins_block(char sign, const char *rest, bool first, bool digits)
{
	if (first)
		return is_among("-+=/:", sign);
	return digits && is_among(".)", sign) && (!*rest || *rest == ' ');
}

/* Markdown's own signs get a backslash or are written by number. A sign that starts something with what follows is set
 * apart from it. At the start of a text, where a block may begin, that holds for its signs, too. */
void markdown_text(struct markdown *md, const char *text)
{
	bool digits = true; /* nothing else so far */
	for (size_t n = 0; *text; n++) {
		uint32_t code;
		if (n == MOST_CHARACTERS) {
			buf_text(md->out, "\xE2\x80\xA6");
			return;
		}
		const char *rest = text + next(text, &code);
		char sign = code < 0x80 ? (char)code : 0;
		if (is_among("<>&$|", sign))
			buf_format(md->out, "&#%d;", sign);
		else if (is_among("\\`*_{}[]~#!@^", sign) || begins_block(sign, rest, !n, digits))
			buf_format(md->out, "\\%c", sign);
		else
			put(md, code);
		if (starts_something(sign, rest) || (n && is_www(text)))
			buf_text(md->out, APART);
		digits = digits && is_among("0123456789", sign);
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
