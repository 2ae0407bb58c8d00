#include "capture/mangled_parser.h"

#include <ctype.h>

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

node *mangled_param(struct mangled_parser *p)
{
	expect(p, "T");
	return make_number(p, MANGLED_PARAM, mangled_index(p) + 1, NULL, NULL);
}

unsigned mangled_qualifiers(struct mangled_parser *p)
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

/* Parameters up to the end that the caller knows: "v" stands for none. */
node *mangled_parameters(struct mangled_parser *p, bool (*is_end)(const char *))
{
	if (*p->at == 'v' && is_end(p->at + 1)) {
		p->at++;
		return NULL;
	}
	node *first = NULL;
	const struct mangled **end = &first;
	do {
		struct mangled *item = make(p, MANGLED_LIST, mangled_type(p), NULL);
		*end = item;
		end = &item->b;
	} while (!p->failed && !is_end(p->at));
	return first;
}

static bool is_signature_end(const char *at)
{
	return *at == 'E' || ((*at == 'R' || *at == 'O') && at[1] == 'E');
}

/* Behind the 'F', with its 'E'. */
static node *parse_signature(struct mangled_parser *p, unsigned qualifiers)
{
	take(p, "Y"); /* extern "C" */
	node *result = mangled_type(p);
	struct mangled *made = make(p, MANGLED_SIGNATURE, result, mangled_parameters(p, is_signature_end));
	if (take(p, "R"))
		qualifiers |= MANGLED_LVALUE_THIS;
	else if (take(p, "O"))
		qualifiers |= MANGLED_RVALUE_THIS;
	expect(p, "E");
	made->qualifiers = qualifiers;
	return made;
}

/* Behind the 'A': "3_i", "_i", or an expression for the length. */
static node *parse_array(struct mangled_parser *p)
{
	node *length = NULL;
	if (isdigit((unsigned char)*p->at)) {
		const char *text = p->at;
		while (isdigit((unsigned char)*p->at))
			p->at++;
		length = make_text(p, MANGLED_NAME, text, (size_t)(p->at - text), NULL, NULL);
	} else if (*p->at != '_') {
		length = mangled_expression(p);
	}
	expect(p, "_");
	return make(p, MANGLED_ARRAY, length, mangled_type(p));
}

/* Behind the 'S', which no 't' follows. Whether it can be referred to later: only with arguments is it a new type. */
static node *parse_reused_type(struct mangled_parser *p, bool *is_new)
{
	struct mangled_substitution substitution = mangled_substitution(p);
	*is_new = *p->at == 'I';
	if (*is_new)
		return make(p, MANGLED_REUSED,
		            make(p, MANGLED_TEMPLATE, substitution.node, mangled_template_arguments(p)), NULL);
	return substitution.is_type ? substitution.node : make(p, MANGLED_REUSED, substitution.node, NULL);
}

/* Behind the 'D'. */
static node *parse_d_type(struct mangled_parser *p, bool *is_new)
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
		return make(p, MANGLED_EXPANSION, mangled_type(p), NULL);
	if (take(p, "oF"))
		return parse_signature(p, MANGLED_NOEXCEPT);
	if (take(p, "t") || take(p, "T")) {
		node *expression = mangled_expression(p);
		expect(p, "E");
		return make_number(p, MANGLED_DECLTYPE, letter == 't' ? 1 : 2, expression, NULL);
	}
	return fail(p);
}

static node *parse_qualified_type(struct mangled_parser *p)
{
	unsigned qualifiers = mangled_qualifiers(p);
	if (take(p, "F"))
		return parse_signature(p, qualifiers);
	if (take(p, "DoF"))
		return parse_signature(p, qualifiers | MANGLED_NOEXCEPT);
	struct mangled *made = make(p, MANGLED_QUALIFIED, mangled_type(p), NULL);
	made->qualifiers = qualifiers;
	return made;
}

static node *parse_new_type(struct mangled_parser *p, bool *is_new)
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
			return mangled_name(p, &ignored);
		p->at++;
		return parse_reused_type(p, is_new);
	case 'T': {
		node *param = mangled_param(p);
		if (*p->at != 'I')
			return param;
		mangled_remember(p, param, false);
		return make(p, MANGLED_TEMPLATE, param, mangled_template_arguments(p));
	}
	case 'N':
	case 'Z':
		return mangled_name(p, &ignored);
	default:
		break;
	}
	if (isdigit((unsigned char)letter))
		return mangled_name(p, &ignored);
	p->at += letter != '\0';
	switch (letter) {
	case 'P':
		return make(p, MANGLED_POINTER, mangled_type(p), NULL);
	case 'R':
		return make(p, MANGLED_REFERENCE, mangled_type(p), NULL);
	case 'O':
		return make(p, MANGLED_RVALUE, mangled_type(p), NULL);
	case 'F':
		return parse_signature(p, 0);
	case 'A':
		return parse_array(p);
	case 'M': {
		node *class = mangled_type(p);
		return make(p, MANGLED_MEMBER, class, mangled_type(p));
	}
	case 'D':
		return parse_d_type(p, is_new);
	case 'u':
		return mangled_source_name(p);
	default:
		return fail(p);
	}
}

node *mangled_type(struct mangled_parser *p)
{
	if (!enter(p))
		return NULL;
	bool is_new = true;
	node *type = parse_new_type(p, &is_new);
	if (is_new)
		mangled_remember(p, type, true);
	p->depth--;
	return type;
}

/* Template arguments and expressions. */

/* Behind the 'L', with its 'E': a value, or the name of a function or object. */
static node *parse_literal(struct mangled_parser *p)
{
	if (take(p, "_Z")) {
		node *entity = mangled_encoding(p);
		expect(p, "E");
		return entity && entity->kind == MANGLED_FUNCTION ? entity->a : entity;
	}
	char letter = *p->at;
	node *type = mangled_type(p);
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

static node *parse_template_argument(struct mangled_parser *p)
{
	if (take(p, "L"))
		return parse_literal(p);
	if (take(p, "J")) {
		if (!enter(p))
			return NULL;
		node *pack = make(p, MANGLED_PACK, mangled_list(p, parse_template_argument), NULL);
		p->depth--;
		return pack;
	}
	if (take(p, "X")) {
		node *expression = mangled_expression(p);
		expect(p, "E");
		return expression;
	}
	return mangled_type(p);
}

/* From the 'I' to its 'E'. */
node *mangled_template_arguments(struct mangled_parser *p)
{
	if (!enter(p))
		return NULL;
	expect(p, "I");
	node *list = mangled_list(p, parse_template_argument);
	p->depth--;
	return list;
}

/* ---- expressions ---- */

static node *parse_simple_name(struct mangled_parser *p)
{
	node *name = mangled_source_name(p);
	return *p->at == 'I' ? make(p, MANGLED_TEMPLATE, name, mangled_template_arguments(p)) : name;
}

/* Behind the "sr": a member of a type that depends on a template's parameters. */
static node *parse_dependent_name(struct mangled_parser *p)
{
	node *scope = NULL;
	if (isdigit((unsigned char)*p->at)) {
		while (!p->failed && !take(p, "E")) {
			node *name = parse_simple_name(p);
			scope = scope ? make(p, MANGLED_SCOPE, scope, name) : name;
		}
	} else {
		scope = mangled_type(p);
	}
	return make(p, MANGLED_SCOPE, scope, parse_simple_name(p));
}

static node *parse_operation(struct mangled_parser *p)
{
	static const char casts[][3] = {"sc", "dc", "rc", "cc"};
	static const char *const cast_texts[] = {"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"};
	for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
		if (take(p, casts[i])) {
			node *type = mangled_type(p);
			const char *text = cast_texts[i];
			return make_text(p, MANGLED_NAMED_CAST, text, strlen(text), type, mangled_expression(p));
		}
	if (take(p, "cl")) {
		node *function = mangled_expression(p);
		return make(p, MANGLED_CALL, function, mangled_list(p, mangled_expression));
	}
	if (take(p, "cv")) {
		node *type = mangled_type(p);
		if (take(p, "_"))
			return make(p, MANGLED_CALL, type, mangled_list(p, mangled_expression));
		return make(p, MANGLED_CAST, type, mangled_expression(p));
	}
	if (take(p, "st"))
		return make_text(p, MANGLED_SIZEOF, "sizeof", 6, mangled_type(p), NULL);
	if (take(p, "sz"))
		return make_text(p, MANGLED_SIZEOF, "sizeof", 6, mangled_expression(p), NULL);
	if (take(p, "sZ"))
		return make_text(p, MANGLED_SIZEOF, "sizeof...", 9, mangled_expression(p), NULL);
	if (take(p, "sp"))
		return make(p, MANGLED_EXPANSION, mangled_expression(p), NULL);
	if (take(p, "sr"))
		return parse_dependent_name(p);
	if (take(p, "ix")) {
		node *array = mangled_expression(p);
		return make(p, MANGLED_SUBSCRIPT, array, mangled_expression(p));
	}
	if (take(p, "qu")) {
		node *condition = mangled_expression(p), *yes = mangled_expression(p);
		struct mangled *made = make(p, MANGLED_CONDITIONAL, condition, yes);
		made->c = mangled_expression(p);
		return made;
	}
	const struct mangled_operator *found = mangled_operator(p);
	if (!found || !found->operands)
		return fail(p);
	node *first = mangled_expression(p);
	enum mangled_kind kind = found->operands == 1 ? MANGLED_PREFIX : MANGLED_BINARY;
	node *second = kind == MANGLED_BINARY ? mangled_expression(p) : NULL;
	return make_text(p, kind, found->text, strlen(found->text), first, second);
}

node *mangled_expression(struct mangled_parser *p)
{
	if (!enter(p))
		return NULL;
	node *expression;
	if (take(p, "L")) {
		expression = parse_literal(p);
	} else if (*p->at == 'T') {
		expression = mangled_param(p);
	} else if (take(p, "fp")) {
		mangled_qualifiers(p);
		expression = make_number(p, MANGLED_ARGUMENT, mangled_index(p) + 1, NULL, NULL);
	} else if (isdigit((unsigned char)*p->at)) {
		expression = parse_simple_name(p);
	} else {
		expression = parse_operation(p);
	}
	p->depth--;
	return expression;
}
