/* Mangled C++ names become text while they are read. The grammar is that of the Itanium C++ ABI (section 5.1, "External
 * Names"), as far as it occurs in names of kernels. Every function takes what it understands from `at` on, and returns
 * a piece in the arena. When something is wrong, `failed` is set and any piece is returned: callers go on for a step or
 * two and see it where they loop or recurse. */
#ifndef GAPLINE_CAPTURE_MANGLED_H
#define GAPLINE_CAPTURE_MANGLED_H

#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

enum {
	NAME_BYTES = 64 << 10,   /* longest name read */
	NAME_DEPTH = 1000,       /* … and deepest; keeps the recursion within some 200 KiB of stack */
	PIECE_BYTES = 64 << 10,  /* longest text: what is met again makes it grow exponentially */
	PIECES_BYTES = 16 << 20, /* … and all that are made of one name */
};

enum qualifier {
	QUALIFIER_CONST = 1,
	QUALIFIER_VOLATILE = 2,
	QUALIFIER_RESTRICT = 4,
	QUALIFIER_LVALUE_THIS = 8,
	QUALIFIER_RVALUE_THIS = 16,
	QUALIFIER_NOEXCEPT = 32
};

enum piece_shape {
	PIECE_PLAIN,
	PIECE_POINTER, /* or reference, or pointer to a member */
	PIECE_COMPOUND /* function or array, which needs parentheses around a pointer to it */
};

/* A name, a type, a value: its text is `front`, and of a type what stands before the declared name, with `back` behind
 * it. */
struct piece {
	const char *front, *back;
	enum piece_shape shape;
	unsigned qualifiers; /* of a type; not in `front` yet */
	bool space;          /* a declarator ('*', "(", "[3]") that follows `front` is set off by a space */

	/* of a name */
	const char *own;      /* its last component, without template arguments */
	const char *note;     /* which of several constructors or destructors: " [deleting]" */
	bool is_class;        /* constructors may be called `own` */
	bool is_typeless;     /* its last component is a constructor, a destructor or a conversion */
	bool says_its_result; /* a function of this name says its return type: it is made from a template */
};

typedef const struct piece piece;

struct mangled_parser {
	struct arena *arena;
	const char *at; /* NUL-terminated */
	bool failed;
	unsigned depth;
	size_t written; /* bytes of all pieces */
	piece **met;    /* what "S_", "S0_", … mean */
	size_t n, room;
};

static inline piece *fail(struct mangled_parser *p)
{
	static piece nothing = {.front = "", .back = "", .own = "", .note = ""};
	p->failed = true;
	return &nothing;
}

static inline bool enter(struct mangled_parser *p)
{
	if (p->depth >= NAME_DEPTH)
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

/* `text`, when there is not too much of it. */
static inline const char *bounded(struct mangled_parser *p, const char *text)
{
	size_t n = strlen(text);
	p->written += n;
	if (n > PIECE_BYTES || p->written > PIECES_BYTES)
		p->failed = true;
	return text;
}

/* printf, bounded. */
#define TEXT(p, ...) bounded((p), arena_format((p)->arena, __VA_ARGS__))

/* What is nothing but a text. */
static inline struct piece *plain(struct mangled_parser *p, const char *text)
{
	struct piece *made = ARENA_NEW(p->arena, 1, struct piece);
	*made = (struct piece){.front = text, .back = "", .own = text, .note = "", .space = true};
	return made;
}

/* ---- kernel_name.c ---- */

/* `made` is what a later "S_" means; `space`: as when it is met again as a type. */
void mangled_remember(struct mangled_parser *p, piece *made, bool space);

/* Items until 'E', which is taken, with commas between them. */
const char *mangled_list(struct mangled_parser *p, piece *(*parse_item)(struct mangled_parser *));

/* A function with its signature, or the name of an object; `bare`: without what a function says besides its name. */
piece *mangled_encoding(struct mangled_parser *p, bool bare);

/* "_" is 0, "0_" is 1, … */
long mangled_index(struct mangled_parser *p);

/* A name with its template arguments; `*qualifiers`: those of the member function that it may be. */
piece *mangled_name(struct mangled_parser *p, unsigned *qualifiers);

piece *mangled_source_name(struct mangled_parser *p);

struct mangled_operator {
	char code[3];
	char operands; /* in an expression; 0: not handled there */
	const char *text;
};

/* NULL: none begins here. */
const struct mangled_operator *mangled_operator(struct mangled_parser *p);

/* Behind the 'S': an abbreviation of the standard library, or a back reference. */
piece *mangled_met(struct mangled_parser *p);

/* ---- mangled_types.c ---- */

/* All of it as a text. */
const char *mangled_text(struct mangled_parser *p, piece *of);

piece *mangled_type(struct mangled_parser *p);
piece *mangled_param(struct mangled_parser *p);
unsigned mangled_qualifiers(struct mangled_parser *p);

/* " const &" */
const char *mangled_function_qualifiers(struct mangled_parser *p, unsigned qualifiers);

/* Parameters up to the end that the caller knows, in parentheses: "v" stands for none. */
const char *mangled_parameters(struct mangled_parser *p, bool (*is_end)(const char *));

/* `name` with its arguments, from the 'I' to its 'E'. */
piece *mangled_template(struct mangled_parser *p, piece *name);

piece *mangled_expression(struct mangled_parser *p);

#endif
