#include "capture/kernel_name.h"

#include "base/buf.h"
#include "capture/mangled.h"

#include <string.h>

/* A tree that shares parts can be exponentially larger as a text. */
enum { PRINTED_BYTES = 64 << 10, PRINTED_NODES = 1 << 18, PRINTED_DEPTH = 2000 };

typedef const struct mangled node;

struct printer {
	struct buf text;
	bool failed; /* beyond a limit: the mangled name is the answer */
	bool space;  /* a declarator ('*', "(", "[3]") that comes next is set off by a space */
	unsigned depth, nodes;
};

static void print_type(struct printer *p, node *type);
static void print_name(struct printer *p, node *name);
static void print_any(struct printer *p, node *any);

static bool enter(struct printer *p)
{
	if (++p->nodes > PRINTED_NODES || p->depth >= PRINTED_DEPTH || p->text.n > PRINTED_BYTES)
		p->failed = true;
	if (p->failed)
		return false;
	p->depth++;
	return true;
}

static void put(struct printer *p, const char *text)
{
	buf_text(&p->text, text);
}

static void put_own(struct printer *p, node *n)
{
	buf_add(&p->text, n->text, n->n);
}

static void put_qualifiers(struct printer *p, unsigned qualifiers)
{
	static const char *const words[] = {"const", "volatile", "restrict"};
	const char *between = "";
	for (unsigned i = 0; i < 3; i++)
		if (qualifiers & 1u << i) {
			put(p, between);
			put(p, words[i]);
			between = " ";
		}
}

/* ---- names ---- */

static void print_list(struct printer *p, node *list)
{
	for (const char *between = ""; list && !p->failed; list = list->b, between = ", ") {
		put(p, between);
		print_any(p, list->a);
	}
}

static void print_parameters(struct printer *p, node *list)
{
	put(p, "(");
	print_list(p, list);
	put(p, ")");
}

static void print_function_qualifiers(struct printer *p, unsigned qualifiers)
{
	if (qualifiers & (MANGLED_CONST | MANGLED_VOLATILE | MANGLED_RESTRICT)) {
		put(p, " ");
		put_qualifiers(p, qualifiers);
	}
	if (qualifiers & MANGLED_LVALUE_THIS)
		put(p, " &");
	if (qualifiers & MANGLED_RVALUE_THIS)
		put(p, " &&");
	if (qualifiers & MANGLED_NOEXCEPT)
		put(p, " noexcept");
}

/* The last component of a name, without template arguments. */
static node *last_component(node *name)
{
	for (;;)
		switch (name->kind) {
		case MANGLED_SCOPE:
		case MANGLED_LOCAL:
			name = name->b;
			break;
		case MANGLED_TEMPLATE:
		case MANGLED_DEFAULT:
		case MANGLED_FUNCTION:
			name = name->a;
			break;
		default:
			return name;
		}
}

/* "void f<int>(T1) const" */
static void print_function(struct printer *p, node *function)
{
	node *signature = function->b;
	if (signature->a) {
		print_type(p, signature->a);
		put(p, " ");
	}
	print_name(p, function->a);
	print_parameters(p, signature->b);
	print_function_qualifiers(p, signature->qualifiers);
	node *last = last_component(function->a);
	if ((last->kind == MANGLED_CTOR || last->kind == MANGLED_DTOR) && last->number != 1)
		put(p, last->number == 0 ? " [deleting]" : " [subobject]");
}

static void print_name_parts(struct printer *p, node *n)
{
	switch (n->kind) {
	case MANGLED_SCOPE:
		print_any(p, n->a);
		if (!(n->a->kind == MANGLED_NAME && n->a->n == 0))
			put(p, "::");
		print_name(p, n->b);
		break;
	case MANGLED_LOCAL:
		if (n->a->kind == MANGLED_FUNCTION)
			print_function(p, n->a);
		else
			print_name(p, n->a);
		put(p, "::");
		print_name(p, n->b);
		if (n->number)
			buf_format(&p->text, " (instance %ld)", n->number);
		break;
	case MANGLED_DEFAULT:
		buf_format(&p->text, "[default argument %ld (from end)]::", n->number);
		print_name(p, n->a);
		break;
	case MANGLED_TEMPLATE:
		print_name(p, n->a);
		put(p, "<");
		print_list(p, n->b);
		put(p, ">");
		break;
	case MANGLED_OPERATOR:
		put(p, "operator ");
		put_own(p, n);
		if (n->text[0] >= 'a' && n->text[0] <= 'z')
			put(p, " ");
		break;
	case MANGLED_CONVERSION:
		put(p, "operator ");
		print_type(p, n->a);
		break;
	case MANGLED_DTOR:
		put(p, "~");
		/* fall through */
	case MANGLED_CTOR:
	case MANGLED_REUSED:
		print_name(p, n->a);
		break;
	case MANGLED_TAGGED:
		print_name(p, n->a);
		put(p, "[abi:");
		print_name(p, n->b);
		put(p, "]");
		break;
	case MANGLED_LAMBDA:
		put(p, "[lambda");
		print_parameters(p, n->a);
		buf_format(&p->text, " (instance %ld)]", n->number);
		break;
	case MANGLED_UNNAMED:
		buf_format(&p->text, "[unnamed type (instance %ld)]", n->number);
		break;
	case MANGLED_PARAM:
		buf_format(&p->text, "T%ld", n->number);
		break;
	case MANGLED_NAME:
		put_own(p, n);
		break;
	default: /* a type in the place of a name, as in decltype(…)::type */
		print_any(p, n);
	}
}

static void print_name(struct printer *p, node *name)
{
	if (!enter(p))
		return;
	print_name_parts(p, name);
	p->depth--;
}

/* ---- types: what stands before the declared name, then what stands behind it ---- */

static bool is_pointer(node *type)
{
	return type->kind == MANGLED_POINTER || type->kind == MANGLED_REFERENCE || type->kind == MANGLED_RVALUE ||
	       type->kind == MANGLED_MEMBER;
}

static node *pointer_target(node *pointer)
{
	return pointer->kind == MANGLED_MEMBER ? pointer->b : pointer->a;
}

/* The type without its qualifiers, which arrays do not show. */
static node *unqualified(node *type)
{
	while (type->kind == MANGLED_QUALIFIED)
		type = type->a;
	return type;
}

/* Functions and arrays, which need parentheses around a pointer to them. */
static bool is_compound(node *type)
{
	type = unqualified(type);
	return type->kind == MANGLED_SIGNATURE || type->kind == MANGLED_ARRAY;
}

static void put_declarator(struct printer *p, const char *text)
{
	if (p->space)
		put(p, " ");
	put(p, text);
	p->space = false;
}

static void print_prefix(struct printer *p, node *type);

static void print_pointer(struct printer *p, node *pointer)
{
	print_prefix(p, pointer_target(pointer));
	if (is_compound(pointer_target(pointer)))
		put_declarator(p, "(");
	if (pointer->kind == MANGLED_MEMBER) {
		put_declarator(p, " :: ");
		print_any(p, pointer->a);
		put(p, "::*");
		p->space = false;
	} else {
		put_declarator(p, pointer->kind == MANGLED_POINTER     ? "*"
		                  : pointer->kind == MANGLED_REFERENCE ? "&"
		                                                       : "&&");
	}
}

static void print_prefix(struct printer *p, node *type)
{
	if (!enter(p))
		return;
	node *bare = unqualified(type);
	unsigned qualifiers = 0;
	for (node *n = type; n != bare; n = n->a)
		qualifiers |= n->qualifiers;
	if (bare->kind == MANGLED_ARRAY) {
		print_prefix(p, bare->b);
	} else if (bare->kind == MANGLED_SIGNATURE) {
		print_prefix(p, bare->a);
	} else if (is_pointer(bare)) {
		print_pointer(p, bare);
		put_qualifiers(p, qualifiers);
		put(p, qualifiers ? " " : "");
	} else {
		put_qualifiers(p, qualifiers);
		if (qualifiers)
			put(p, " ");
		print_any(p, bare);
		p->space = bare->kind != MANGLED_REUSED;
	}
	p->depth--;
}

static void print_suffix(struct printer *p, node *type)
{
	if (!enter(p))
		return;
	type = unqualified(type);
	if (type->kind == MANGLED_ARRAY) {
		put_declarator(p, "[");
		if (type->a)
			print_any(p, type->a);
		put(p, "]");
		p->space = false;
		print_suffix(p, type->b);
	} else if (type->kind == MANGLED_SIGNATURE) {
		put_declarator(p, "");
		print_parameters(p, type->b);
		print_function_qualifiers(p, type->qualifiers);
		p->space = false;
		print_suffix(p, type->a);
	} else if (is_pointer(type)) {
		if (is_compound(pointer_target(type)))
			put(p, ")");
		p->space = p->space && !is_compound(pointer_target(type));
		print_suffix(p, pointer_target(type));
	}
	p->depth--;
}

static void print_type(struct printer *p, node *type)
{
	print_prefix(p, type);
	if (!p->failed)
		print_suffix(p, type);
}

/* ---- values and computations; cu++filt writes hardly any parentheses ---- */

static void print_between(struct printer *p, const char *before, node *n, const char *after)
{
	put(p, before);
	print_any(p, n);
	put(p, after);
}

static void print_value(struct printer *p, node *n)
{
	bool is_member = false;
	switch (n->kind) {
	case MANGLED_LITERAL:
		print_between(p, "(", n->a, n->number ? ")-" : ")");
		put_own(p, n);
		break;
	case MANGLED_ARGUMENT:
		buf_format(&p->text, "param#%ld", n->number);
		break;
	case MANGLED_PREFIX:
		put_own(p, n);
		print_any(p, n->a);
		break;
	case MANGLED_BINARY:
		is_member = n->text[0] == '.' || (n->text[0] == '-' && n->text[1] == '>' && n->n == 2);
		print_between(p, is_member ? "(" : "", n->a, "");
		put_own(p, n);
		print_between(p, "", n->b, is_member ? ")" : "");
		break;
	case MANGLED_CONDITIONAL:
		print_between(p, "", n->a, "?");
		print_between(p, "", n->b, ":");
		print_any(p, n->c);
		break;
	case MANGLED_SIZEOF:
		put_own(p, n);
		if (n->n > strlen("sizeof") && n->a->kind != MANGLED_ARGUMENT && n->a->kind != MANGLED_PARAM)
			p->failed = true;
		print_between(p, "(", n->a, ")");
		break;
	case MANGLED_CALL:
		print_any(p, n->a);
		print_parameters(p, n->b);
		break;
	case MANGLED_SUBSCRIPT:
		print_any(p, n->a);
		print_between(p, "[", n->b, "]");
		break;
	case MANGLED_CAST:
		print_between(p, "(", n->a, ")");
		print_any(p, n->b);
		break;
	case MANGLED_NAMED_CAST:
		put_own(p, n);
		print_between(p, "<", n->a, ">");
		print_between(p, "(", n->b, ")");
		break;
	default:
		p->failed = true;
	}
}

static void print_any_parts(struct printer *p, node *n)
{
	switch (n->kind) {
	case MANGLED_NAME:
	case MANGLED_SCOPE:
	case MANGLED_LOCAL:
	case MANGLED_DEFAULT:
	case MANGLED_TEMPLATE:
	case MANGLED_OPERATOR:
	case MANGLED_CONVERSION:
	case MANGLED_CTOR:
	case MANGLED_DTOR:
	case MANGLED_TAGGED:
	case MANGLED_LAMBDA:
	case MANGLED_UNNAMED:
	case MANGLED_PARAM:
	case MANGLED_REUSED:
		print_name_parts(p, n);
		break;
	case MANGLED_QUALIFIED:
	case MANGLED_POINTER:
	case MANGLED_REFERENCE:
	case MANGLED_RVALUE:
	case MANGLED_MEMBER:
	case MANGLED_ARRAY:
	case MANGLED_SIGNATURE:
		print_type(p, n);
		break;
	case MANGLED_PACK:
		print_list(p, n->a);
		break;
	case MANGLED_EXPANSION:
		print_between(p, "", n->a, "...");
		break;
	case MANGLED_DECLTYPE:
		print_between(p, n->number == 1 ? "decltype(" : "decltype((", n->a, n->number == 1 ? ")" : "))");
		break;
	default:
		print_value(p, n);
	}
}

static void print_any(struct printer *p, node *any)
{
	if (!enter(p))
		return;
	print_any_parts(p, any);
	p->depth--;
}

/* ---- the two names ---- */

static void print_whole(struct printer *p, node *tree, const char *rest)
{
	if (tree->kind == MANGLED_FUNCTION)
		print_function(p, tree);
	else
		print_name(p, tree);
	put(p, rest);
}

static void print_last(struct printer *p, node *tree, const char *rest)
{
	(void)rest;
	print_name(p, last_component(tree));
}

static const char *demangle(struct arena *arena, const char *mangled,
                            void (*print)(struct printer *, node *, const char *))
{
	ARENA_LOCAL(scratch);
	struct printer p = {0};
	const char *rest, *name = mangled;
	node *tree = mangled_parse(&scratch, mangled, &rest);
	if (tree)
		print(&p, tree, rest);
	if (p.text.n && !p.failed)
		name = arena_copy(arena, p.text.data, p.text.n);
	buf_release(&p.text);
	return name;
}

const char *kernel_name_demangled(struct arena *arena, const char *mangled)
{
	return demangle(arena, mangled, print_whole);
}

const char *kernel_name_short(struct arena *arena, const char *mangled)
{
	return demangle(arena, mangled, print_last);
}
