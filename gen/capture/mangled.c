#include "capture/mangled.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

typedef const struct mangled node;

struct substitution {
	node *node;
	bool is_type; /* else it was met as a scope or as the name of a template */
};

/* Every parse_… function takes what it understands from `at` on. When something is wrong, `failed` is set and NULL, or
 * anything, is returned: callers go on for a step or two and see it where they loop or recurse. */
struct parser {
	struct arena *arena;
	const char *at; /* NUL-terminated */
	bool failed;
	unsigned depth;
	struct substitution *substitutions;
	size_t n, room;
};

static node *parse_type(struct parser *p);
static node *parse_name(struct parser *p, unsigned *qualifiers);
static node *parse_encoding(struct parser *p);
static node *parse_expression(struct parser *p);
static node *parse_template_arguments(struct parser *p);
static node *parse_unqualified(struct parser *p, node *scope);

static node *fail(struct parser *p)
{
	p->failed = true;
	return NULL;
}

static bool enter(struct parser *p)
{
	if (p->depth >= MANGLED_MAX_DEPTH)
		p->failed = true;
	if (p->failed)
		return false;
	p->depth++;
	return true;
}

static bool take(struct parser *p, const char *text)
{
	size_t n = strlen(text);
	if (p->failed || strncmp(p->at, text, n))
		return false;
	p->at += n;
	return true;
}

static void expect(struct parser *p, const char *text)
{
	if (!take(p, text))
		p->failed = true;
}

static struct mangled *make(struct parser *p, enum mangled_kind kind, node *a, node *b)
{
	struct mangled *made = ARENA_NEW(p->arena, 1, struct mangled);
	*made = (struct mangled){.kind = kind, .a = a, .b = b};
	return made;
}

static struct mangled *make_text(struct parser *p, enum mangled_kind kind, const char *text, size_t n, node *a, node *b)
{
	struct mangled *made = make(p, kind, a, b);
	made->text = text;
	made->n = n;
	return made;
}

static struct mangled *make_number(struct parser *p, enum mangled_kind kind, long number, node *a, node *b)
{
	struct mangled *made = make(p, kind, a, b);
	made->number = number;
	return made;
}

static node *make_name(struct parser *p, const char *text)
{
	return make_text(p, MANGLED_NAME, text, strlen(text), NULL, NULL);
}

/* `made` again as what a later "S_" means. */
static node *remember(struct parser *p, node *made, bool is_type)
{
	if (p->failed)
		return made;
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 32;
		p->substitutions = arena_grow(p->arena, p->substitutions, p->room, room, sizeof *p->substitutions);
		p->room = room;
	}
	p->substitutions[p->n++] = (struct substitution){made, is_type};
	return made;
}

/* Items until 'E', which is taken; NULL: none. */
static node *parse_list(struct parser *p, node *(*parse_item)(struct parser *))
{
	node *first = NULL;
	const struct mangled **end = &first;
	while (!p->failed && !take(p, "E")) {
		struct mangled *item = make(p, MANGLED_LIST, parse_item(p), NULL);
		*end = item;
		end = &item->b;
	}
	return first;
}

/* ---- numbers and names ---- */

static long parse_number(struct parser *p)
{
	long value = 0;
	if (!isdigit((unsigned char)*p->at))
		p->failed = true;
	while (isdigit((unsigned char)*p->at) && !p->failed) {
		value = 10 * value + (*p->at++ - '0');
		if (value > INT32_MAX)
			p->failed = true;
	}
	return value;
}

/* "_" is 0, "0_" is 1, … */
static long parse_index(struct parser *p)
{
	if (take(p, "_"))
		return 0;
	long value = parse_number(p);
	expect(p, "_");
	return value + 1;
}

static node *parse_source_name(struct parser *p)
{
	size_t n = (size_t)parse_number(p);
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

static const struct operator
{
	char code[3];
	char operands; /* in an expression; 0: not handled there */
	const char *text;
}
operators[] = {
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

static const struct operator* take_operator(struct parser *p)
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
static node *parse_structor(struct parser *p, node *scope)
{
	bool is_ctor = *p->at++ == 'C';
	char kind = *p->at;
	node *name = class_name(scope);
	if (!name || kind < (is_ctor ? '1' : '0') || kind > (is_ctor ? '3' : '2'))
		return fail(p);
	p->at++;
	return make_number(p, is_ctor ? MANGLED_CTOR : MANGLED_DTOR, kind - '0', name, NULL);
}

/* Parameters up to the end that the caller knows: "v" stands for none. */
static node *parse_parameters(struct parser *p, bool (*is_end)(const char *))
{
	if (*p->at == 'v' && is_end(p->at + 1)) {
		p->at++;
		return NULL;
	}
	node *first = NULL;
	const struct mangled **end = &first;
	do {
		struct mangled *item = make(p, MANGLED_LIST, parse_type(p), NULL);
		*end = item;
		end = &item->b;
	} while (!p->failed && !is_end(p->at));
	return first;
}

static bool is_list_end(const char *at)
{
	return *at == 'E';
}

/* "Ul…E0_" and "Ut0_": the second lambda with these parameters, the second unnamed type */
static node *parse_closure(struct parser *p)
{
	if (take(p, "Ul")) {
		node *parameters = parse_parameters(p, is_list_end);
		expect(p, "E");
		return make_number(p, MANGLED_LAMBDA, parse_index(p) + 1, parameters, NULL);
	}
	expect(p, "Ut");
	return make_number(p, MANGLED_UNNAMED, parse_index(p) + 1, NULL, NULL);
}

static node *parse_operator_name(struct parser *p)
{
	if (take(p, "cv"))
		return make(p, MANGLED_CONVERSION, parse_type(p), NULL);
	const struct operator* operator= take_operator(p);
	return operator? make_text(p, MANGLED_OPERATOR, operator->text, strlen(operator->text), NULL, NULL) : fail(p);
}

/* One component of a name; `scope`: what stands before it, NULL for nothing. */
static node *parse_unqualified(struct parser *p, node *scope)
{
	node *name;
	if (isdigit((unsigned char)*p->at))
		name = parse_source_name(p);
	else if (*p->at == 'C' || *p->at == 'D')
		name = parse_structor(p, scope);
	else if (*p->at == 'U')
		name = parse_closure(p);
	else
		name = parse_operator_name(p);
	while (take(p, "B"))
		name = make(p, MANGLED_TAGGED, name, parse_source_name(p));
	return name;
}

/* "S_", "S0_", "S1A_": something that was met before. */
static struct substitution parse_back_reference(struct parser *p)
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
		return (struct substitution){0};
	}
	return p->substitutions[index];
}

/* Behind the 'S': an abbreviation of the standard library, or a back reference. */
static struct substitution parse_substitution(struct parser *p)
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
			return (struct substitution){name, false};
		}
	return parse_back_reference(p);
}

static node *parse_param(struct parser *p)
{
	expect(p, "T");
	return make_number(p, MANGLED_PARAM, parse_index(p) + 1, NULL, NULL);
}

static unsigned parse_qualifiers(struct parser *p)
{
	unsigned qualifiers = 0;
	for (;;) {
		if (take(p, "r"))
			qualifiers |= MANGLED_RESTRICT;
		else if (take(p, "V"))
			qualifiers |= MANGLED_VOLATILE;
		else if (take(p, "K"))
			qualifiers |= MANGLED_CONST;
		else
			return qualifiers;
	}
}

/* Behind the 'N', with its 'E'. Every prefix of it can be referred to later. */
static node *parse_nested(struct parser *p, unsigned *qualifiers)
{
	*qualifiers = parse_qualifiers(p);
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
			scope = parse_substitution(p).node;
			is_new = false;
		} else if (!scope && *p->at == 'T') {
			scope = parse_param(p);
		} else if (!scope && *p->at == 'D' && (p->at[1] == 't' || p->at[1] == 'T')) {
			scope = parse_type(p);
			is_new = false; /* parse_type has remembered it */
		} else if (scope && *p->at == 'I') {
			scope = make(p, MANGLED_TEMPLATE, scope, parse_template_arguments(p));
		} else if (scope && take(p, "M")) {
			continue; /* the member whose initialiser a lambda is in */
		} else {
			node *name = parse_unqualified(p, scope);
			scope = scope ? make(p, MANGLED_SCOPE, scope, name) : name;
		}
		if (is_new && *p->at != 'E' && *p->at != 'M')
			remember(p, scope, false);
	}
	return scope ? scope : fail(p);
}

/* "_0" and "__10_" behind a local name: the instance, counted from 1; 0 without. */
static long parse_discriminator(struct parser *p)
{
	long instance = 0;
	if (take(p, "__")) {
		instance = parse_number(p) + 2;
		expect(p, "_");
	} else if (*p->at == '_' && isdigit((unsigned char)p->at[1])) {
		instance = p->at[1] - '0' + 2;
		p->at += 2;
	}
	return instance;
}

/* Behind the 'Z': something inside a function. */
static node *parse_local(struct parser *p, unsigned *qualifiers)
{
	node *function = parse_encoding(p);
	expect(p, "E");
	if (take(p, "d")) {
		long argument = parse_index(p) + 1;
		node *name = parse_name(p, qualifiers);
		return make(p, MANGLED_LOCAL, function, make_number(p, MANGLED_DEFAULT, argument, name, NULL));
	}
	node *name = parse_name(p, qualifiers);
	return make_number(p, MANGLED_LOCAL, parse_discriminator(p), function, name);
}

/* A name with its template arguments; `*qualifiers`: those of the member function that it may be. */
static node *parse_name(struct parser *p, unsigned *qualifiers)
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
			name = parse_substitution(p).node;
			is_new = false;
			if (*p->at != 'I')
				fail(p);
		} else {
			name = parse_unqualified(p, NULL);
		}
		if (*p->at == 'I') {
			if (is_new)
				remember(p, name, false);
			name = make(p, MANGLED_TEMPLATE, name, parse_template_arguments(p));
		}
	}
	p->depth--;
	return name;
}

/* ---- types ---- */

/* Builtin types by letter, and by the letter behind a 'D'. */
static const char *const builtins['z' - 'a' + 1] = {
	['a' - 'a'] = "signed char", ['b' - 'a'] = "bool",
	['c' - 'a'] = "char",        ['d' - 'a'] = "double",
	['e' - 'a'] = "long double", ['f' - 'a'] = "float",
	['g' - 'a'] = "__float128",  ['h' - 'a'] = "unsigned char",
	['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
	['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
	['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
	['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
	['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
	['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
	['z' - 'a'] = "...",
};
static const char *const builtins_d['z' - 'a' + 1] = {
	['a' - 'a'] = "auto",     ['c' - 'a'] = "decltype(auto)", ['h' - 'a'] = "__fp16",
	['i' - 'a'] = "char32_t", ['n' - 'a'] = "std::nullptr_t", ['s' - 'a'] = "char16_t",
	['u' - 'a'] = "char8_t",
};

static bool is_signature_end(const char *at)
{
	return *at == 'E' || ((*at == 'R' || *at == 'O') && at[1] == 'E');
}

/* Behind the 'F', with its 'E'. */
static node *parse_signature(struct parser *p, unsigned qualifiers)
{
	take(p, "Y"); /* extern "C" */
	node *result = parse_type(p);
	struct mangled *made = make(p, MANGLED_SIGNATURE, result, parse_parameters(p, is_signature_end));
	if (take(p, "R"))
		qualifiers |= MANGLED_LVALUE_THIS;
	else if (take(p, "O"))
		qualifiers |= MANGLED_RVALUE_THIS;
	expect(p, "E");
	made->qualifiers = qualifiers;
	return made;
}

/* Behind the 'A': "3_i", "_i", or an expression for the length. */
static node *parse_array(struct parser *p)
{
	node *length = NULL;
	if (isdigit((unsigned char)*p->at)) {
		const char *text = p->at;
		while (isdigit((unsigned char)*p->at))
			p->at++;
		length = make_text(p, MANGLED_NAME, text, (size_t)(p->at - text), NULL, NULL);
	} else if (*p->at != '_') {
		length = parse_expression(p);
	}
	expect(p, "_");
	return make(p, MANGLED_ARRAY, length, parse_type(p));
}

/* Behind the 'S', which no 't' follows. Whether it can be referred to later: only with arguments is it a new type. */
static node *parse_reused_type(struct parser *p, bool *is_new)
{
	struct substitution substitution = parse_substitution(p);
	*is_new = *p->at == 'I';
	if (*is_new)
		return make(p, MANGLED_REUSED,
		            make(p, MANGLED_TEMPLATE, substitution.node, parse_template_arguments(p)), NULL);
	return substitution.is_type ? substitution.node : make(p, MANGLED_REUSED, substitution.node, NULL);
}

/* Behind the 'D'. */
static node *parse_d_type(struct parser *p, bool *is_new)
{
	char letter = *p->at;
	if (letter == 'F' && !strncmp(p->at, "F16_", 4)) {
		p->at += 4;
		*is_new = false;
		return make_name(p, "std::float16_t");
	}
	if (letter >= 'a' && letter <= 'z' && builtins_d[letter - 'a']) {
		p->at++;
		*is_new = false;
		return make_name(p, builtins_d[letter - 'a']);
	}
	if (take(p, "p"))
		return make(p, MANGLED_EXPANSION, parse_type(p), NULL);
	if (take(p, "oF"))
		return parse_signature(p, MANGLED_NOEXCEPT);
	if (take(p, "t") || take(p, "T")) {
		node *expression = parse_expression(p);
		expect(p, "E");
		return make_number(p, MANGLED_DECLTYPE, letter == 't' ? 1 : 2, expression, NULL);
	}
	return fail(p);
}

static node *parse_qualified_type(struct parser *p)
{
	unsigned qualifiers = parse_qualifiers(p);
	if (take(p, "F"))
		return parse_signature(p, qualifiers);
	if (take(p, "DoF"))
		return parse_signature(p, qualifiers | MANGLED_NOEXCEPT);
	struct mangled *made = make(p, MANGLED_QUALIFIED, parse_type(p), NULL);
	made->qualifiers = qualifiers;
	return made;
}

static node *parse_new_type(struct parser *p, bool *is_new)
{
	unsigned ignored;
	char letter = *p->at;
	if (letter >= 'a' && letter <= 'z' && builtins[letter - 'a']) {
		p->at++;
		*is_new = false;
		return make_name(p, builtins[letter - 'a']);
	}
	switch (letter) {
	case 'r':
	case 'V':
	case 'K':
		return parse_qualified_type(p);
	case 'S':
		if (p->at[1] == 't')
			return parse_name(p, &ignored);
		p->at++;
		return parse_reused_type(p, is_new);
	case 'T': {
		node *param = parse_param(p);
		if (*p->at != 'I')
			return param;
		remember(p, param, false);
		return make(p, MANGLED_TEMPLATE, param, parse_template_arguments(p));
	}
	case 'N':
	case 'Z':
		return parse_name(p, &ignored);
	default:
		break;
	}
	if (isdigit((unsigned char)letter))
		return parse_name(p, &ignored);
	p->at += letter != '\0';
	switch (letter) {
	case 'P':
		return make(p, MANGLED_POINTER, parse_type(p), NULL);
	case 'R':
		return make(p, MANGLED_REFERENCE, parse_type(p), NULL);
	case 'O':
		return make(p, MANGLED_RVALUE, parse_type(p), NULL);
	case 'F':
		return parse_signature(p, 0);
	case 'A':
		return parse_array(p);
	case 'M': {
		node *class = parse_type(p);
		return make(p, MANGLED_MEMBER, class, parse_type(p));
	}
	case 'D':
		return parse_d_type(p, is_new);
	case 'u':
		return parse_source_name(p);
	default:
		return fail(p);
	}
}

static node *parse_type(struct parser *p)
{
	if (!enter(p))
		return NULL;
	bool is_new = true;
	node *type = parse_new_type(p, &is_new);
	if (is_new)
		remember(p, type, true);
	p->depth--;
	return type;
}

/* ---- template arguments and expressions ---- */

/* Behind the 'L', with its 'E': a value, or the name of a function or object. */
static node *parse_literal(struct parser *p)
{
	if (take(p, "_Z")) {
		node *entity = parse_encoding(p);
		expect(p, "E");
		return entity && entity->kind == MANGLED_FUNCTION ? entity->a : entity;
	}
	char letter = *p->at;
	node *type = parse_type(p);
	if (strchr("fdeg", letter)) /* bits of a floating-point number: no kernel seen has one */
		return fail(p);
	bool negative = take(p, "n");
	const char *text = p->at;
	while (isdigit((unsigned char)*p->at))
		p->at++;
	size_t n = (size_t)(p->at - text);
	expect(p, "E");
	struct mangled *made = make_text(p, MANGLED_LITERAL, n ? text : "0", n ? n : 1, type, NULL);
	made->number = negative;
	return made;
}

static node *parse_template_argument(struct parser *p)
{
	if (take(p, "L"))
		return parse_literal(p);
	if (take(p, "J")) {
		if (!enter(p))
			return NULL;
		node *pack = make(p, MANGLED_PACK, parse_list(p, parse_template_argument), NULL);
		p->depth--;
		return pack;
	}
	if (take(p, "X")) {
		node *expression = parse_expression(p);
		expect(p, "E");
		return expression;
	}
	return parse_type(p);
}

/* From the 'I' to its 'E'. */
static node *parse_template_arguments(struct parser *p)
{
	if (!enter(p))
		return NULL;
	expect(p, "I");
	node *list = parse_list(p, parse_template_argument);
	p->depth--;
	return list;
}

static node *parse_simple_name(struct parser *p)
{
	node *name = parse_source_name(p);
	return *p->at == 'I' ? make(p, MANGLED_TEMPLATE, name, parse_template_arguments(p)) : name;
}

/* Behind the "sr": a member of a type that depends on a template's parameters. */
static node *parse_dependent_name(struct parser *p)
{
	node *scope = NULL;
	if (isdigit((unsigned char)*p->at)) {
		while (!p->failed && !take(p, "E")) {
			node *name = parse_simple_name(p);
			scope = scope ? make(p, MANGLED_SCOPE, scope, name) : name;
		}
	} else {
		scope = parse_type(p);
	}
	return make(p, MANGLED_SCOPE, scope, parse_simple_name(p));
}

static node *parse_operation(struct parser *p)
{
	static const char casts[][3] = {"sc", "dc", "rc", "cc"};
	static const char *const cast_texts[] = {"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"};
	for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
		if (take(p, casts[i])) {
			node *type = parse_type(p);
			const char *text = cast_texts[i];
			return make_text(p, MANGLED_NAMED_CAST, text, strlen(text), type, parse_expression(p));
		}
	if (take(p, "cl")) {
		node *function = parse_expression(p);
		return make(p, MANGLED_CALL, function, parse_list(p, parse_expression));
	}
	if (take(p, "cv")) {
		node *type = parse_type(p);
		if (take(p, "_"))
			return make(p, MANGLED_CALL, type, parse_list(p, parse_expression));
		return make(p, MANGLED_CAST, type, parse_expression(p));
	}
	if (take(p, "st"))
		return make_text(p, MANGLED_SIZEOF, "sizeof", 6, parse_type(p), NULL);
	if (take(p, "sz"))
		return make_text(p, MANGLED_SIZEOF, "sizeof", 6, parse_expression(p), NULL);
	if (take(p, "sZ"))
		return make_text(p, MANGLED_SIZEOF, "sizeof...", 9, parse_expression(p), NULL);
	if (take(p, "sp"))
		return make(p, MANGLED_EXPANSION, parse_expression(p), NULL);
	if (take(p, "sr"))
		return parse_dependent_name(p);
	if (take(p, "ix")) {
		node *array = parse_expression(p);
		return make(p, MANGLED_SUBSCRIPT, array, parse_expression(p));
	}
	if (take(p, "qu")) {
		node *condition = parse_expression(p), *yes = parse_expression(p);
		struct mangled *made = make(p, MANGLED_CONDITIONAL, condition, yes);
		made->c = parse_expression(p);
		return made;
	}
	const struct operator* operator= take_operator(p);
	if (!operator|| !operator->operands)
		return fail(p);
	node *first = parse_expression(p);
	enum mangled_kind kind = operator->operands == 1 ? MANGLED_PREFIX : MANGLED_BINARY;
	node *second = kind == MANGLED_BINARY ? parse_expression(p) : NULL;
	return make_text(p, kind, operator->text, strlen(operator->text), first, second);
}

static node *parse_expression(struct parser *p)
{
	if (!enter(p))
		return NULL;
	node *expression;
	if (take(p, "L")) {
		expression = parse_literal(p);
	} else if (*p->at == 'T') {
		expression = parse_param(p);
	} else if (take(p, "fp")) {
		parse_qualifiers(p);
		expression = make_number(p, MANGLED_ARGUMENT, parse_index(p) + 1, NULL, NULL);
	} else if (isdigit((unsigned char)*p->at)) {
		expression = parse_simple_name(p);
	} else {
		expression = parse_operation(p);
	}
	p->depth--;
	return expression;
}

/* ---- functions ---- */

static bool is_encoding_end(const char *at)
{
	return *at == '\0' || *at == 'E' || *at == '.' || *at == '$';
}

/* Functions made from a template say their return type, unless they cannot have one. */
static bool has_return_type(node *name)
{
	while (name && name->kind == MANGLED_LOCAL)
		name = name->b->kind == MANGLED_DEFAULT ? name->b->a : name->b;
	if (!name || name->kind != MANGLED_TEMPLATE)
		return false;
	for (name = name->a; name && name->kind == MANGLED_SCOPE;)
		name = name->b;
	return name && name->kind != MANGLED_CTOR && name->kind != MANGLED_DTOR && name->kind != MANGLED_CONVERSION;
}

/* A function with its signature, or the name of an object. */
static node *parse_encoding(struct parser *p)
{
	if (!enter(p))
		return NULL;
	unsigned qualifiers;
	node *encoding = parse_name(p, &qualifiers);
	if (!p->failed && !is_encoding_end(p->at)) {
		node *result = has_return_type(encoding) ? parse_type(p) : NULL;
		struct mangled *signature = make(p, MANGLED_SIGNATURE, result, parse_parameters(p, is_encoding_end));
		signature->qualifiers = qualifiers;
		encoding = make(p, MANGLED_FUNCTION, encoding, signature);
	}
	p->depth--;
	return encoding;
}

const struct mangled *mangled_parse(struct arena *arena, const char *name, const char **rest)
{
	if (strncmp(name, "_Z", 2) || strnlen(name, MANGLED_MAX_BYTES + 1) > MANGLED_MAX_BYTES)
		return NULL;
	struct parser p = {.arena = arena, .at = name + 2};
	node *tree = parse_encoding(&p);
	if (p.failed || !tree || *p.at == 'E')
		return NULL;
	*rest = *p.at == '.' ? p.at : "";
	return tree;
}
