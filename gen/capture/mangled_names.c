#include "capture/mangled_parser.h"

#include <ctype.h>

node *mangled_source_name(struct mangled_parser *p)
{
	size_t n = (size_t)mangled_number(p);
	if (p->failed || n == 0 || strnlen(p->at, n) < n)
		return fail(p);
	const char *text = p->at;
	p->at += n;
	if (n >= 11 && !strncmp(text, "_GLOBAL__N_", 11))
		return make_name(p, "<unnamed>");
	if (n >= 9 && !strncmp(text, "_INTERNAL", 9)) /* nvcc's scope for what is local to a file */
		return make_name(p, "");
	return make_text(p, MANGLED_NAME, text, n, NULL, NULL);
}

static const struct mangled_operator operators[] = {
	{"nw", 0, "new"}, {"na", 0, "new[]"}, {"dl", 0, "delete"}, {"da", 0, "delete[]"}, {"ps", 1, "+"},
	{"ng", 1, "-"},   {"ad", 1, "&"},     {"de", 1, "*"},      {"co", 1, "~"},        {"nt", 1, "!"},
	{"pl", 2, "+"},   {"mi", 2, "-"},     {"ml", 2, "*"},      {"dv", 2, "/"},        {"rm", 2, "%"},
	{"an", 2, "&"},   {"or", 2, "|"},     {"eo", 2, "^"},      {"aS", 2, "="},        {"pL", 2, "+="},
	{"mI", 2, "-="},  {"mL", 2, "*="},    {"dV", 2, "/="},     {"rM", 2, "%="},       {"aN", 2, "&="},
	{"oR", 2, "|="},  {"eO", 2, "^="},    {"ls", 2, "<<"},     {"rs", 2, ">>"},       {"lS", 2, "<<="},
	{"rS", 2, ">>="}, {"eq", 2, "=="},    {"ne", 2, "!="},     {"lt", 2, "<"},        {"gt", 2, ">"},
	{"le", 2, "<="},  {"ge", 2, ">="},    {"aa", 2, "&&"},     {"oo", 2, "||"},       {"cm", 2, ","},
	{"pp", 0, "++"},  {"mm", 0, "--"},    {"pm", 2, "->*"},    {"pt", 2, "->"},       {"cl", 0, "()"},
	{"ix", 0, "[]"},
};

const struct mangled_operator *mangled_operator(struct mangled_parser *p)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (take(p, operators[i].code))
			return &operators[i];
	return NULL;
}

/* The name that constructors of `scope` have; NULL: none. */
static node *class_name(node *scope)
{
	for (; scope; scope = scope->kind == MANGLED_SCOPE || scope->kind == MANGLED_LOCAL ? scope->b : scope->a)
		switch (scope->kind) {
		case MANGLED_SCOPE:
		case MANGLED_LOCAL:
		case MANGLED_TEMPLATE:
		case MANGLED_DEFAULT:
			break;
		case MANGLED_NAME:
		case MANGLED_TAGGED:
		case MANGLED_LAMBDA:
		case MANGLED_UNNAMED:
			return scope;
		default:
			return NULL;
		}
	return NULL;
}

/* "C1", "D0": behind the class. */
static node *parse_structor(struct mangled_parser *p, node *scope)
{
	bool is_ctor = *p->at++ == 'C';
	char kind = *p->at;
	node *name = class_name(scope);
	if (!name || kind < (is_ctor ? '1' : '0') || kind > (is_ctor ? '3' : '2'))
		return fail(p);
	p->at++;
	return make_number(p, is_ctor ? MANGLED_CTOR : MANGLED_DTOR, kind - '0', name, NULL);
}

static bool is_list_end(const char *at)
{
	return *at == 'E';
}

/* "Ul…E0_" and "Ut0_": the second lambda with these parameters, the second unnamed type */
static node *parse_closure(struct mangled_parser *p)
{
	if (take(p, "Ul")) {
		node *parameters = mangled_parameters(p, is_list_end);
		expect(p, "E");
		return make_number(p, MANGLED_LAMBDA, mangled_index(p) + 1, parameters, NULL);
	}
	expect(p, "Ut");
	return make_number(p, MANGLED_UNNAMED, mangled_index(p) + 1, NULL, NULL);
}

static node *parse_operator_name(struct mangled_parser *p)
{
	if (take(p, "cv"))
		return make(p, MANGLED_CONVERSION, mangled_type(p), NULL);
	const struct mangled_operator *found = mangled_operator(p);
	return found ? make_text(p, MANGLED_OPERATOR, found->text, strlen(found->text), NULL, NULL) : fail(p);
}

/* One component of a name; `scope`: what stands before it, NULL for nothing. */
static node *parse_unqualified(struct mangled_parser *p, node *scope)
{
	node *name;
	if (isdigit((unsigned char)*p->at))
		name = mangled_source_name(p);
	else if (*p->at == 'C' || *p->at == 'D')
		name = parse_structor(p, scope);
	else if (*p->at == 'U')
		name = parse_closure(p);
	else
		name = parse_operator_name(p);
	while (take(p, "B"))
		name = make(p, MANGLED_TAGGED, name, mangled_source_name(p));
	return name;
}

/* ---- substitutions ---- */

/* "S_", "S0_", "S1A_": something that was met before. */
static struct mangled_substitution parse_back_reference(struct mangled_parser *p)
{
	size_t index = 0;
	if (!take(p, "_")) {
		for (; !p->failed && (isdigit((unsigned char)*p->at) || (*p->at >= 'A' && *p->at <= 'Z')); p->at++) {
			index = index * 36 +
			        (size_t)(isdigit((unsigned char)*p->at) ? *p->at - '0' : *p->at - 'A' + 10);
			if (index > p->n)
				p->failed = true;
		}
		expect(p, "_");
		index++;
	}
	if (p->failed || index >= p->n) {
		p->failed = true;
		return (struct mangled_substitution){0};
	}
	return p->substitutions[index];
}

/* Behind the 'S': an abbreviation of the standard library, or a back reference. */
struct mangled_substitution mangled_substitution(struct mangled_parser *p)
{
	static const struct {
		char code[2];
		const char *name, *arguments;
	} abbreviations[] = {
		{"a", "allocator", NULL},
		{"b", "basic_string", NULL},
		{"s", "basic_string", "char, std::char_traits<char>, std::allocator<char>"},
		{"i", "basic_istream", "char, std::char_traits<char>"},
		{"o", "basic_ostream", "char, std::char_traits<char>"},
		{"d", "basic_iostream", "char, std::char_traits<char>"},
	};
	for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++)
		if (take(p, abbreviations[i].code)) {
			node *name = make(p, MANGLED_SCOPE, make_name(p, "std"), make_name(p, abbreviations[i].name));
			const char *arguments = abbreviations[i].arguments;
			if (arguments)
				name = make(p, MANGLED_TEMPLATE, name,
				            make(p, MANGLED_LIST, make_name(p, arguments), NULL));
			return (struct mangled_substitution){name, false};
		}
	return parse_back_reference(p);
}

/* ---- whole names ---- */

/* Behind the 'N', with its 'E'. Every prefix of it can be referred to later. */
static node *parse_nested(struct mangled_parser *p, unsigned *qualifiers)
{
	*qualifiers = mangled_qualifiers(p);
	if (take(p, "R"))
		*qualifiers |= MANGLED_LVALUE_THIS;
	else if (take(p, "O"))
		*qualifiers |= MANGLED_RVALUE_THIS;
	node *scope = NULL;
	while (!p->failed && !take(p, "E")) {
		bool is_new = true;
		if (!scope && take(p, "St")) {
			scope = make_name(p, "std");
			is_new = false;
		} else if (!scope && take(p, "S")) {
			scope = mangled_substitution(p).node;
			is_new = false;
		} else if (!scope && *p->at == 'T') {
			scope = mangled_param(p);
		} else if (!scope && *p->at == 'D' && (p->at[1] == 't' || p->at[1] == 'T')) {
			scope = mangled_type(p);
			is_new = false; /* mangled_type has remembered it */
		} else if (scope && *p->at == 'I') {
			scope = make(p, MANGLED_TEMPLATE, scope, mangled_template_arguments(p));
		} else if (scope && take(p, "M")) {
			continue; /* the member whose initialiser a lambda is in */
		} else {
			node *name = parse_unqualified(p, scope);
			scope = scope ? make(p, MANGLED_SCOPE, scope, name) : name;
		}
		if (is_new && *p->at != 'E' && *p->at != 'M')
			mangled_remember(p, scope, false);
	}
	return scope ? scope : fail(p);
}

/* "_0" and "__10_" behind a local name: the instance, counted from 1; 0 without. */
static long parse_discriminator(struct mangled_parser *p)
{
	long instance = 0;
	if (take(p, "__")) {
		instance = mangled_number(p) + 2;
		expect(p, "_");
	} else if (*p->at == '_' && isdigit((unsigned char)p->at[1])) {
		instance = p->at[1] - '0' + 2;
		p->at += 2;
	}
	return instance;
}

/* Behind the 'Z': something inside a function. */
static node *parse_local(struct mangled_parser *p, unsigned *qualifiers)
{
	node *function = mangled_encoding(p);
	expect(p, "E");
	if (take(p, "d")) {
		long argument = mangled_index(p) + 1;
		node *name = mangled_name(p, qualifiers);
		return make(p, MANGLED_LOCAL, function, make_number(p, MANGLED_DEFAULT, argument, name, NULL));
	}
	node *name = mangled_name(p, qualifiers);
	return make_number(p, MANGLED_LOCAL, parse_discriminator(p), function, name);
}

/* A name with its template arguments; `*qualifiers`: those of the member function that it may be. */
node *mangled_name(struct mangled_parser *p, unsigned *qualifiers)
{
	*qualifiers = 0;
	if (!enter(p))
		return NULL;
	node *name;
	if (take(p, "N")) {
		name = parse_nested(p, qualifiers);
	} else if (take(p, "Z")) {
		name = parse_local(p, qualifiers);
	} else {
		bool is_new = true;
		if (take(p, "St")) {
			name = make(p, MANGLED_SCOPE, make_name(p, "std"), parse_unqualified(p, NULL));
		} else if (take(p, "S")) {
			name = mangled_substitution(p).node;
			is_new = false;
			if (*p->at != 'I')
				fail(p);
		} else {
			name = parse_unqualified(p, NULL);
		}
		if (*p->at == 'I') {
			if (is_new)
				mangled_remember(p, name, false);
			name = make(p, MANGLED_TEMPLATE, name, mangled_template_arguments(p));
		}
	}
	p->depth--;
	return name;
}
