/* What the parts of the parser of mangled names share. Every function takes what it understands from `at` on. When
 * something is wrong, `failed` is set and NULL, or anything, is returned: callers go on for a step or two and see it
 * where they loop or recurse. */
#ifndef GAPLINE_CAPTURE_MANGLED_PARSER_H
#define GAPLINE_CAPTURE_MANGLED_PARSER_H

#include "capture/mangled.h"

#include <string.h>

typedef const struct mangled node;

struct mangled_substitution {
	node *node;
	bool is_type; /* else it was met as a scope or as the name of a template */
};

struct mangled_parser {
	struct arena *arena;
	const char *at; /* NUL-terminated */
	bool failed;
	unsigned depth;
	struct mangled_substitution *substitutions;
	size_t n, room;
};

struct mangled_operator {
	char code[3];
	char operands; /* in an expression; 0: not handled there */
	const char *text;
};

static inline node *fail(struct mangled_parser *p)
{
	p->failed = true;
	return NULL;
}

static inline bool enter(struct mangled_parser *p)
{
	if (p->depth >= MANGLED_MAX_DEPTH)
		p->failed = true;
	if (p->failed)
		return false;
	p->depth++;
	return true;
}

static inline bool take(struct mangled_parser *p, const char *text)
{
	size_t n = strlen(text);
	if (p->failed || strncmp(p->at, text, n))
		return false;
	p->at += n;
	return true;
}

static inline void expect(struct mangled_parser *p, const char *text)
{
	if (!take(p, text))
		p->failed = true;
}

static inline struct mangled *make(struct mangled_parser *p, enum mangled_kind kind, node *a, node *b)
{
	struct mangled *made = ARENA_NEW(p->arena, 1, struct mangled);
	*made = (struct mangled){.kind = kind, .a = a, .b = b};
	return made;
}

static inline struct mangled *make_text(struct mangled_parser *p, enum mangled_kind kind, const char *text, size_t n,
                                        node *a, node *b)
{
	struct mangled *made = make(p, kind, a, b);
	made->text = text;
	made->n = n;
	return made;
}

static inline struct mangled *make_number(struct mangled_parser *p, enum mangled_kind kind, long number, node *a,
                                          node *b)
{
	struct mangled *made = make(p, kind, a, b);
	made->number = number;
	return made;
}

static inline node *make_name(struct mangled_parser *p, const char *text)
{
	return make_text(p, MANGLED_NAME, text, strlen(text), NULL, NULL);
}

/* ---- mangled.c: what all of them are made of ---- */

/* `made` again as what a later "S_" means. */
node *mangled_remember(struct mangled_parser *p, node *made, bool is_type);

/* Items until 'E', which is taken; NULL: none. */
node *mangled_list(struct mangled_parser *p, node *(*parse_item)(struct mangled_parser *));

/* A function with its signature, or the name of an object. */
node *mangled_encoding(struct mangled_parser *p);

long mangled_number(struct mangled_parser *p);

/* "_" is 0, "0_" is 1, … */
long mangled_index(struct mangled_parser *p);

/* ---- mangled_names.c ---- */

/* A name with its template arguments; `*qualifiers`: those of the member function that it may be. */
node *mangled_name(struct mangled_parser *p, unsigned *qualifiers);

node *mangled_source_name(struct mangled_parser *p);

/* NULL: none begins here. */
const struct mangled_operator *mangled_operator(struct mangled_parser *p);

/* Behind the 'S': an abbreviation of the standard library, or a back reference. */
struct mangled_substitution mangled_substitution(struct mangled_parser *p);

/* ---- mangled_types.c ---- */

node *mangled_type(struct mangled_parser *p);
node *mangled_param(struct mangled_parser *p);
unsigned mangled_qualifiers(struct mangled_parser *p);

/* Parameters up to the end that the caller knows: "v" stands for none. */
node *mangled_parameters(struct mangled_parser *p, bool (*is_end)(const char *));

/* From the 'I' to its 'E'. */
node *mangled_template_arguments(struct mangled_parser *p);

node *mangled_expression(struct mangled_parser *p);

#endif
