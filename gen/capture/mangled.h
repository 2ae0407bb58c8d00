/* A mangled C++ name -> a tree. The grammar is that of the Itanium C++ ABI (section 5.1, "External Names"), as far as
 * it occurs in names of kernels. It is parsed here because the libraries that do this (libiberty, the C++ runtime) drop
 * what nsys shows: the return types of functions inside a name, and which of several local classes one is. */
#ifndef GAPLINE_CAPTURE_MANGLED_H
#define GAPLINE_CAPTURE_MANGLED_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* In the comments a, b and c are the node's parts, and text and number its own values. */
enum mangled_kind {
	MANGLED_NAME,       /* text; also builtin types; empty: a scope that nvcc made up and nobody shows */
	MANGLED_SCOPE,      /* a::b */
	MANGLED_LOCAL,      /* b inside the function a; number: its instance, 0 when it is the first */
	MANGLED_DEFAULT,    /* a inside the default argument `number`, counted from the end */
	MANGLED_TEMPLATE,   /* a<b…>, b a list */
	MANGLED_LIST,       /* a, then the list b */
	MANGLED_PACK,       /* a: list, or NULL */
	MANGLED_OPERATOR,   /* "operator text" */
	MANGLED_CONVERSION, /* "operator a" */
	MANGLED_CTOR,       /* of the class with the name a; number: the ABI's kind */
	MANGLED_DTOR,
	MANGLED_TAGGED,  /* a with the ABI tag b */
	MANGLED_LAMBDA,  /* the number-th with the parameters a (list) */
	MANGLED_UNNAMED, /* the number-th unnamed type */
	MANGLED_PARAM,   /* the number-th parameter of a template, counted from 1 */

	MANGLED_FUNCTION,  /* a: its name, b: its MANGLED_SIGNATURE */
	MANGLED_SIGNATURE, /* a: return type, NULL when it is not known; b: list of parameters; qualifiers: of the
	                      function */
	MANGLED_QUALIFIED, /* a with qualifiers */
	MANGLED_POINTER,   /* to a */
	MANGLED_REFERENCE,
	MANGLED_RVALUE,
	MANGLED_MEMBER,    /* pointer to a member of type b of class a */
	MANGLED_ARRAY,     /* of b; a: its length, or NULL */
	MANGLED_REUSED,    /* the type a, written as a substitution of something that was no type when it was met */
	MANGLED_EXPANSION, /* a... */
	MANGLED_DECLTYPE,  /* of a; number: 1 when a is the name of something, 2 when it is an expression */

	MANGLED_LITERAL,     /* of type a: text; number: 1 when it is negative */
	MANGLED_ARGUMENT,    /* the number-th parameter of the function */
	MANGLED_PREFIX,      /* operator text before a */
	MANGLED_BINARY,      /* operator text between a and b */
	MANGLED_CONDITIONAL, /* a ? b : c */
	MANGLED_SIZEOF,      /* text(a) */
	MANGLED_CALL,        /* a(b…), b a list */
	MANGLED_SUBSCRIPT,   /* a[b] */
	MANGLED_CAST,        /* (a)b */
	MANGLED_NAMED_CAST   /* text<a>(b) */
};

enum mangled_qualifier {
	MANGLED_CONST = 1,
	MANGLED_VOLATILE = 2,
	MANGLED_RESTRICT = 4,
	MANGLED_LVALUE_THIS = 8,
	MANGLED_RVALUE_THIS = 16,
	MANGLED_NOEXCEPT = 32
};

struct mangled {
	enum mangled_kind kind;
	unsigned qualifiers;
	long number;
	const struct mangled *a, *b, *c;
	const char *text; /* n bytes, points into the name or to a constant */
	size_t n;
};

enum {
	MANGLED_MAX_BYTES = 64 << 10, /* longest name parsed */
	MANGLED_MAX_DEPTH = 1000      /* … and deepest; keeps the recursion within some 200 KiB of stack */
};

/* The tree of `name` ("_Z…"), in `arena`; it may share parts, has no cycles, and is at most as deep as the name is
 * long.
 * `*rest`: what follows the name, "" or from a '.' on (".part.0"). NULL when it is not understood. */
const struct mangled *mangled_parse(struct arena *arena, const char *name, const char **rest);

#endif
