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
