#include "render/page.h"

#include "base/list.h"
#include "render/assets.h"

#include <libxml/HTMLtree.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <stdlib.h>
#include <string.h>

enum mark_kind { MARK_FILL, MARK_DRAW, MARK_ROW, MARK_IF, MARK_KINDS };
static const char *const attribute_of[MARK_KINDS] = {"data-fill", "data-draw", "data-row", "data-if"};

struct mark {
	enum mark_kind kind;
	const char *name;
	xmlNode *node;
	bool served, drop;
};

#define fail(page, ...) ((void)((page)->first.text[0] || err_set(&(page)->first, __VA_ARGS__)))

/* ---- marks ---- */

static void add_mark(struct scope *scope, enum mark_kind kind, xmlNode *node, const xmlChar *name)
{
	const char *kept = arena_copy(scope->page->arena, (const char *)name, strlen((const char *)name));
	LIST_PUT(scope->page->arena, scope->marks, scope->n_marks,
	         (struct mark){.kind = kind, .name = kept, .node = node});
}

static bool take_mark(struct scope *scope, enum mark_kind kind, xmlNode *node)
{
	xmlChar *name = xmlGetProp(node, (const xmlChar *)attribute_of[kind]);
	if (!name)
		return false;
	add_mark(scope, kind, node, name);
	xmlUnsetProp(node, (const xmlChar *)attribute_of[kind]);
	xmlFree(name);
	return true;
}

/* Records and removes the marks of `node` and what lies below; a prototype keeps its other marks for its copies. */
static void collect(struct scope *scope, xmlNode *node)
{
	if (take_mark(scope, MARK_ROW, node))
		return;
	for (int kind = 0; kind < MARK_KINDS; kind++)
		take_mark(scope, (enum mark_kind)kind, node);
	for (xmlNode *child = node->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE)
			collect(scope, child);
}

static struct mark *find(struct scope *scope, enum mark_kind kind, const char *name)
{
	for (uint32_t i = 0; i < scope->n_marks; i++) {
		struct mark *mark = &scope->marks[i];
		if (mark->kind == kind && strcmp(mark->name, name) == 0) {
			if (mark->served)
				fail(scope->page, "template: %s=\"%s\" is served twice", attribute_of[kind], name);
			mark->served = true;
			return mark;
		}
	}
	fail(scope->page, "template: no element is marked %s=\"%s\"", attribute_of[kind], name);
	return NULL;
}

static void empty(xmlNode *node)
{
	while (node->children) {
		xmlNode *child = node->children;
		xmlUnlinkNode(child);
		xmlFreeNode(child);
	}
}

/* Comments speak to whoever edits the template. */
static void remove_comments(xmlNode *first)
{
	for (xmlNode *node = first, *next; node; node = next) {
		next = node->next;
		if (node->type == XML_ELEMENT_NODE)
			remove_comments(node->children);
		if (node->type != XML_COMMENT_NODE)
			continue;
		xmlUnlinkNode(node);
		xmlFreeNode(node);
	}
}

/* Removes what is of a page of another number of sides, everything or sections only; what stays loses the mark. */
static void remove_others(const struct page *page, xmlNode *first, bool sections)
{
	for (xmlNode *node = first, *next; node; node = next) {
		next = node->next;
		if (node->type != XML_ELEMENT_NODE)
			continue;
		xmlChar *sides = xmlGetProp(node, (const xmlChar *)"data-sides");
		bool section = strcmp((const char *)node->name, "section") == 0;
		if (sides && strtoul((const char *)sides, NULL, 10) != page->sides && (section || !sections)) {
			xmlUnlinkNode(node);
			xmlFreeNode(node);
		} else {
			if (sides && (section || !sections))
				xmlUnsetProp(node, (const xmlChar *)"data-sides");
			remove_others(page, node->children, sections);
		}
		xmlFree(sides);
	}
}

/* ---- opening and finishing ---- */

void page_open(struct page *page, const char *template, size_t n, uint32_t sides, struct arena *arena)
{
	*page = (struct page){.arena = arena, .sides = sides};
	page->top.page = page;
	page->doc = xmlReadMemory(template, (int)n, NULL, "UTF-8",
	                          XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (!page->doc) {
		const xmlError *e = xmlGetLastError();
		fail(page, "template: line %d: %s", e ? e->line : 0, e && e->message ? e->message : "not well-formed");
		return;
	}
	remove_comments(page->doc->children);
	remove_others(page, page->doc->children, true);
	collect(&page->top, xmlDocGetRootElement(page->doc));
}

/* A dropped element may hold the elements of other marks of its scope and of rows inside it, so nothing is freed before
 * every mark is checked, and inner ones go first. */
static void settle(struct page *page, struct scope *scope)
{
	for (uint32_t i = scope->n_marks; i-- > 0;) {
		struct mark *mark = &scope->marks[i];
		if (!mark->served)
			fail(page, "template: nothing serves %s=\"%s\"", attribute_of[mark->kind], mark->name);
		if (mark->drop || mark->kind == MARK_ROW) {
			xmlUnlinkNode(mark->node);
			xmlFreeNode(mark->node);
		}
	}
}

int page_finish(struct page *page, struct buf *out, struct err *err)
{
	/* rows were added in front, so inner scopes come before those that hold them */
	for (struct scope *scope = page->top.next; scope; scope = scope->next)
		settle(page, scope);
	settle(page, &page->top);
	if (!page->first.text[0]) {
		remove_others(page, page->doc->children, false);
		xmlBuffer *bytes = xmlBufferCreate();
		xmlOutputBuffer *sink =
			bytes ? xmlOutputBufferCreateBuffer(bytes, xmlFindCharEncodingHandler("UTF-8")) : NULL;
		if (sink) {
			htmlDocContentDumpFormatOutput(sink, page->doc, "UTF-8", 0);
			if (xmlOutputBufferClose(sink) < 0)
				fail(page, "page: cannot be serialised");
			else
				buf_add(out, (const char *)xmlBufferContent(bytes), (size_t)xmlBufferLength(bytes));
		} else {
			fail(page, "page: out of memory");
		}
		xmlBufferFree(bytes);
	}
	xmlFreeDoc(page->doc);
	page->doc = NULL;
	return page->first.text[0] ? err_set_id(err, page->first.id, "%s", page->first.text) : 0;
}

/* ---- serving marks ---- */

static bool is_text(struct scope *scope, const char *name, const char *text)
{
	if (text && xmlCheckUTF8((const xmlChar *)text))
		return true;
	fail(scope->page, "page: %s is not UTF-8", name);
	return false;
}

void page_fill(struct scope *scope, const char *name, const char *text)
{
	struct mark *mark = find(scope, MARK_FILL, name);
	if (!mark || !is_text(scope, name, text))
		return;
	empty(mark->node);
	xmlAddChild(mark->node, xmlNewDocText(scope->page->doc, (const xmlChar *)text));
}

static void add_text(xmlNode *parent, const char *text, size_t n)
{
	if (n)
		xmlAddChild(parent, xmlNewDocTextLen(parent->doc, (const xmlChar *)text, (int)n));
}

void page_say(struct scope *scope, const char *name, const char *sentence)
{
	struct mark *mark = find(scope, MARK_FILL, name);
	if (!mark || !is_text(scope, name, sentence))
		return;
	enum { LONGEST = 40 }; /* a name with "--" in it may be as long as it likes, and has to break */
	empty(mark->node);
	const char *said = sentence;
	for (const char *at = sentence; (at = strstr(at, "--"));) {
		const char *word = at;
		while (word > said && word[-1] != ' ')
			word--;
		size_t n = strcspn(word, " ");
		if (n > LONGEST) {
			at = word + n;
			continue;
		}
		add_text(mark->node, said, (size_t)(word - said));
		xmlNode *span = xmlNewChild(mark->node, NULL, (const xmlChar *)"span", NULL);
		xmlSetProp(span, (const xmlChar *)"class", (const xmlChar *)"option");
		add_text(span, word, n);
		said = at = word + n;
	}
	add_text(mark->node, said, strlen(said));
}

/* libxml2 does not know this element as one without an end tag, and HTML has none for it. */
static void add_break(xmlNode *parent)
{
	xmlNode *node = xmlNewDocText(parent->doc, (const xmlChar *)"<wbr>");
	node->name = xmlStringTextNoenc;
	xmlAddChild(parent, node);
}

void page_code(struct scope *scope, const char *name, const char *code)
{
	enum { LONGEST = 40 }; /* characters without a place to break */
	struct mark *mark = find(scope, MARK_FILL, name);
	if (!mark || !is_text(scope, name, code))
		return;
	empty(mark->node);
	const char *said = code;
	int n = 0;
	for (const char *at = code; *at; at++) {
		bool inside = ((unsigned char)at[1] & 0xC0) == 0x80; /* of a character */
		n = *at == ' ' ? 0 : n + !inside;
		if (inside || !at[1] || (n < LONGEST && !strchr("|,/:=_<", *at)))
			continue;
		add_text(mark->node, said, (size_t)(at + 1 - said));
		add_break(mark->node);
		said = at + 1;
		n = 0;
	}
	add_text(mark->node, said, strlen(said));
}

xmlNode *page_draw(struct scope *scope, const char *name)
{
	struct mark *mark = find(scope, MARK_DRAW, name);
	if (mark) {
		empty(mark->node);
		return mark->node;
	}
	/* the caller may draw into it all the same: it hangs in the tree, which will not be used */
	xmlNode *nowhere = xmlNewDocNode(scope->page->doc, NULL, (const xmlChar *)"g", NULL);
	xmlNode *root = scope->page->doc ? xmlDocGetRootElement(scope->page->doc) : NULL;
	return root ? xmlAddChild(root, nowhere) : nowhere;
}

struct rows *page_rows(struct scope *scope, const char *name)
{
	struct rows *rows = ARENA_NEW(scope->page->arena, 1, struct rows);
	struct mark *mark = find(scope, MARK_ROW, name);
	rows->page = scope->page;
	rows->nowhere.page = scope->page;
	rows->prototype = rows->place = mark ? mark->node : NULL;
	return rows;
}

struct rows *page_rows_among(struct scope *scope, const char *name, const struct rows *beside)
{
	struct rows *rows = page_rows(scope, name);
	rows->place = beside->place ? beside->place : rows->place;
	return rows;
}

struct scope *page_row(struct rows *rows)
{
	if (!rows->prototype)
		return &rows->nowhere;
	struct page *page = rows->page;
	struct scope *scope = ARENA_NEW(page->arena, 1, struct scope);
	*scope = (struct scope){.page = page, .next = page->top.next};
	page->top.next = scope;
	xmlNode *copy = xmlDocCopyNode(rows->prototype, page->doc, 1);
	xmlAddPrevSibling(rows->place, copy);
	scope->root = copy;
	collect(scope, copy);
	return scope;
}

void page_if(struct scope *scope, const char *name, bool keep)
{
	struct mark *mark = find(scope, MARK_IF, name);
	if (mark)
		mark->drop = !keep;
}

void page_fill_if(struct scope *scope, const char *name, bool keep, const char *text)
{
	page_if(scope, name, keep);
	page_fill(scope, name, text);
}

void page_attribute(struct scope *scope, const char *name, const char *attribute, const char *value)
{
	xmlNode *node = name ? NULL : scope->root;
	for (uint32_t i = 0; name && !node && i < scope->n_marks; i++)
		if (strcmp(scope->marks[i].name, name) == 0)
			node = scope->marks[i].node;
	if (!node)
		fail(scope->page, "template: no element is marked \"%s\"", name ? name : "a row");
	else if (is_text(scope, attribute, value))
		xmlSetProp(node, (const xmlChar *)attribute, (const xmlChar *)value);
}

void page_head(struct page *page, const char *result, const char *title, const char *scripts)
{
	struct arena *arena = page->arena;
	page_fill(&page->top, "page", arena_format(arena, "%s: %s - gapline", result, title));
	page_fill(&page->top, "title", title);
	page_if(&page->top, "linked", false);
	page_fill(&page->top, "style", asset_report_css.bytes);
	page_if(&page->top, "policy", true);
	page_attribute(
		&page->top, "policy", "content",
		arena_format(arena,
	                     "default-src 'none'; style-src 'sha256-%s';%s%s base-uri 'none'; form-action 'none'",
	                     asset_report_css.sha256, *scripts ? " script-src" : "",
	                     *scripts ? arena_format(arena, "%s;", scripts) : ""));
}
