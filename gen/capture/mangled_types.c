#include "base/buf.h"
#include "capture/mangled.h"

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

/* "const volatile restrict" */
static const char *qualifiers_text(unsigned qualifiers)
{
	static const char *const texts[] = {
		"",         "const",          "volatile",          "const volatile",
		"restrict", "const restrict", "volatile restrict", "const volatile restrict"};
	return texts[qualifiers & (QUALIFIER_CONST | QUALIFIER_VOLATILE | QUALIFIER_RESTRICT)];
}

const char *mangled_function_qualifiers(struct mangled_parser *p, unsigned qualifiers)
{
	const char *text = qualifiers_text(qualifiers);
	return TEXT(p, "%s%s%s%s%s", *text ? " " : "", text, qualifiers & QUALIFIER_LVALUE_THIS ? " &" : "",
	            qualifiers & QUALIFIER_RVALUE_THIS ? " &&" : "",
	            qualifiers & QUALIFIER_NOEXCEPT ? " noexcept" : "");
}

/* `front` with the qualifiers, which functions and arrays do not show. */
static const char *front_of(struct mangled_parser *p, piece *type)
{
	const char *text = qualifiers_text(type->qualifiers);
	if (!*text || type->shape == PIECE_COMPOUND)
		return type->front;
	return type->shape == PIECE_POINTER ? TEXT(p, "%s%s ", type->front, text) : TEXT(p, "%s %s", text, type->front);
}

const char *mangled_text(struct mangled_parser *p, piece *of)
{
	const char *front = front_of(p, of);
	return *of->back ? TEXT(p, "%s%s%s", front, of->space ? " " : "", of->back) : front;
}

piece *mangled_param(struct mangled_parser *p)
{
	expect(p, "T");
	return plain(p, TEXT(p, "T%ld", mangled_index(p) + 1));
}

unsigned mangled_qualifiers(struct mangled_parser *p)
{
	unsigned qualifiers = 0;
	for (;;) {
		if (take(p, "r"))
			qualifiers |= QUALIFIER_RESTRICT;
		else if (take(p, "V"))
			qualifiers |= QUALIFIER_VOLATILE;
		else if (take(p, "K"))
			qualifiers |= QUALIFIER_CONST;
		else
			return qualifiers;
	}
}

const char *mangled_parameters(struct mangled_parser *p, bool (*is_end)(const char *))
{
	if (*p->at == 'v' && is_end(p->at + 1)) {
		p->at++;
		return "()";
	}
	BUF_LOCAL(list);
	do
		buf_format(&list, "%s%s", list.n ? ", " : "(", mangled_text(p, mangled_type(p)));
	while (!p->failed && !is_end(p->at));
	return TEXT(p, "%s)", list.data);
}

static bool is_signature_end(const char *at)
{
	return *at == 'E' || ((*at == 'R' || *at == 'O') && at[1] == 'E');
}

/* A function or an array: `back`, then what stands behind `of`, its result or its element. */
static piece *compound(struct mangled_parser *p, piece *of, const char *back)
{
	struct piece *made = plain(p, front_of(p, of));
	made->shape = PIECE_COMPOUND;
	made->space = of->space;
	made->back = TEXT(p, "%s%s", back, of->back);
	return made;
}

/* `sign`: "*", "&" and the like. */
static piece *pointer(struct mangled_parser *p, piece *to, const char *sign)
{
	bool is_compound = to->shape == PIECE_COMPOUND;
	const char *front = front_of(p, to);
	struct piece *made = plain(p, TEXT(p, "%s%s%s%s", front, to->space ? " " : "", is_compound ? "(" : "", sign));
	made->shape = PIECE_POINTER;
	made->space = false;
	made->back = is_compound ? TEXT(p, ")%s", to->back) : to->back;
	return made;
}

/* Behind the 'F', with its 'E'. */
static piece *parse_signature(struct mangled_parser *p, unsigned qualifiers)
{
	take(p, "Y"); /* extern "C" */
	piece *result = mangled_type(p);
	const char *parameters = mangled_parameters(p, is_signature_end);
	if (take(p, "R"))
		qualifiers |= QUALIFIER_LVALUE_THIS;
	else if (take(p, "O"))
		qualifiers |= QUALIFIER_RVALUE_THIS;
	expect(p, "E");
	return compound(p, result, TEXT(p, "%s%s", parameters, mangled_function_qualifiers(p, qualifiers)));
}

/* Behind the 'A': "3_i", "_i", or an expression for the length. */
static piece *parse_array(struct mangled_parser *p)
{
	const char *length = "";
	if (isdigit((unsigned char)*p->at)) {
		int n = (int)strspn(p->at, "0123456789");
		length = TEXT(p, "%.*s", n, p->at);
		p->at += n;
	} else if (*p->at != '_') {
		length = mangled_text(p, mangled_expression(p));
	}
	expect(p, "_");
	return compound(p, mangled_type(p), TEXT(p, "[%s]", length));
}

/* Behind the 'S', which no 't' follows. Whether it can be referred to later: only with arguments is it a new type. */
static piece *parse_met_type(struct mangled_parser *p, bool *is_new)
{
	piece *met = mangled_met(p);
	*is_new = *p->at == 'I';
	if (!*is_new)
		return met;
	struct piece *made = plain(p, mangled_template(p, met)->front);
	made->space = false;
	return made;
}

/* Behind the 'D'. */
static piece *parse_d_type(struct mangled_parser *p, bool *is_new)
{
	char letter = *p->at;
	if (take(p, "F16_")) {
		*is_new = false;
		return plain(p, "std::float16_t");
	}
	if (letter >= 'a' && letter <= 'z' && builtins_d[letter - 'a']) {
		p->at++;
		*is_new = false;
		return plain(p, builtins_d[letter - 'a']);
	}
	if (take(p, "p"))
		return plain(p, TEXT(p, "%s...", mangled_text(p, mangled_type(p))));
	if (take(p, "oF"))
		return parse_signature(p, QUALIFIER_NOEXCEPT);
	if (take(p, "t") || take(p, "T")) {
		const char *expression = mangled_text(p, mangled_expression(p));
		expect(p, "E");
		return plain(p, TEXT(p, letter == 't' ? "decltype(%s)" : "decltype((%s))", expression));
	}
	return fail(p);
}

static piece *parse_qualified_type(struct mangled_parser *p)
{
	unsigned qualifiers = mangled_qualifiers(p);
	if (take(p, "F"))
		return parse_signature(p, qualifiers);
	if (take(p, "DoF"))
		return parse_signature(p, qualifiers | QUALIFIER_NOEXCEPT);
	struct piece *made = arena_keep(p->arena, mangled_type(p), 1, sizeof *made);
	made->qualifiers |= qualifiers;
	return made;
}

static piece *parse_new_type(struct mangled_parser *p, bool *is_new)
{
	unsigned ignored;
	char letter = *p->at;
	if (letter >= 'a' && letter <= 'z' && builtins[letter - 'a']) {
		p->at++;
		*is_new = false;
		return plain(p, builtins[letter - 'a']);
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
		return parse_met_type(p, is_new);
	case 'T': {
		piece *param = mangled_param(p);
		if (*p->at != 'I')
			return param;
		mangled_remember(p, param, false);
		return mangled_template(p, param);
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
		return pointer(p, mangled_type(p), "*");
	case 'R':
		return pointer(p, mangled_type(p), "&");
	case 'O':
		return pointer(p, mangled_type(p), "&&");
	case 'F':
		return parse_signature(p, 0);
	case 'A':
		return parse_array(p);
	case 'M': {
		const char *class = mangled_text(p, mangled_type(p));
		return pointer(p, mangled_type(p), TEXT(p, " :: %s::*", class));
	}
	case 'D':
		return parse_d_type(p, is_new);
	case 'u':
		return mangled_source_name(p);
	default:
		return fail(p);
	}
}

piece *mangled_type(struct mangled_parser *p)
{
	if (!enter(p))
		return fail(p);
	bool is_new = true;
	piece *type = parse_new_type(p, &is_new);
	if (is_new)
		mangled_remember(p, type, true);
	p->depth--;
	return type;
}

/* ---- template arguments ---- */

/* Behind the 'L', with its 'E': a value, or the name of a function or object. */
static piece *parse_literal(struct mangled_parser *p)
{
	if (take(p, "_Z")) {
		piece *entity = mangled_encoding(p, true);
		expect(p, "E");
		return entity;
	}
	char letter = *p->at;
	const char *type = mangled_text(p, mangled_type(p));
	if (strchr("fdeg", letter)) /* bits of a floating-point number: no kernel seen has one */
		return fail(p);
	const char *sign = take(p, "n") ? "-" : "", *digits = p->at;
	int n = (int)strspn(digits, "0123456789");
	p->at += n;
	expect(p, "E");
	return plain(p, TEXT(p, "(%s)%s%.*s", type, sign, n ? n : 1, n ? digits : "0"));
}

static piece *parse_template_argument(struct mangled_parser *p)
{
	if (take(p, "L"))
		return parse_literal(p);
	if (take(p, "J")) {
		if (!enter(p))
			return fail(p);
		piece *pack = plain(p, mangled_list(p, parse_template_argument));
		p->depth--;
		return pack;
	}
	if (take(p, "X")) {
		piece *expression = mangled_expression(p);
		expect(p, "E");
		return expression;
	}
	return mangled_type(p);
}

piece *mangled_template(struct mangled_parser *p, piece *name)
{
	if (!enter(p))
		return fail(p);
	expect(p, "I");
	const char *arguments = mangled_list(p, parse_template_argument);
	p->depth--;
	struct piece *made = plain(p, TEXT(p, "%s<%s>", mangled_text(p, name), arguments));
	made->own = name->own;
	made->note = name->note;
	made->is_class = name->is_class;
	made->says_its_result = !name->is_typeless;
	return made;
}

/* ---- computations; cu++filt writes hardly any parentheses ---- */

static piece *parse_simple_name(struct mangled_parser *p)
{
	piece *name = mangled_source_name(p);
	return *p->at == 'I' ? mangled_template(p, name) : name;
}

/* Behind the "sr": a member of a type that depends on a template's parameters. */
static piece *parse_dependent_name(struct mangled_parser *p)
{
	const char *scope = "";
	if (isdigit((unsigned char)*p->at)) {
		while (!p->failed && !take(p, "E")) {
			const char *name = parse_simple_name(p)->front;
			scope = *scope ? TEXT(p, "%s::%s", scope, name) : name;
		}
	} else {
		scope = mangled_text(p, mangled_type(p));
	}
	return plain(p, TEXT(p, "%s%s%s", scope, *scope ? "::" : "", parse_simple_name(p)->front));
}

/* An expression's text, or a list's of them: what operations are made of. */
static const char *operand(struct mangled_parser *p)
{
	return mangled_text(p, mangled_expression(p));
}

static piece *parse_calculation(struct mangled_parser *p)
{
	const struct mangled_operator *found = mangled_operator(p);
	if (!found || !found->operands)
		return fail(p);
	const char *first = operand(p);
	if (found->operands == 1)
		return plain(p, TEXT(p, "%s%s", found->text, first));
	bool is_member = !strcmp(found->text, "->");
	return plain(p, TEXT(p, is_member ? "(%s%s%s)" : "%s%s%s", first, found->text, operand(p)));
}

static piece *parse_operation(struct mangled_parser *p)
{
	static const char casts[][3] = {"sc", "dc", "rc", "cc"};
	static const char *const cast_texts[] = {"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"};
	for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
		if (take(p, casts[i])) {
			const char *type = mangled_text(p, mangled_type(p));
			return plain(p, TEXT(p, "%s<%s>(%s)", cast_texts[i], type, operand(p)));
		}
	if (take(p, "cl")) {
		const char *function = operand(p);
		return plain(p, TEXT(p, "%s(%s)", function, mangled_list(p, mangled_expression)));
	}
	if (take(p, "cv")) {
		const char *type = mangled_text(p, mangled_type(p));
		if (take(p, "_"))
			return plain(p, TEXT(p, "%s(%s)", type, mangled_list(p, mangled_expression)));
		return plain(p, TEXT(p, "(%s)%s", type, operand(p)));
	}
	if (take(p, "st"))
		return plain(p, TEXT(p, "sizeof(%s)", mangled_text(p, mangled_type(p))));
	if (take(p, "sz"))
		return plain(p, TEXT(p, "sizeof(%s)", operand(p)));
	if (take(p, "sZ"))
		return *p->at == 'T' || *p->at == 'f' ? plain(p, TEXT(p, "sizeof...(%s)", operand(p))) : fail(p);
	if (take(p, "sp"))
		return plain(p, TEXT(p, "%s...", operand(p)));
	if (take(p, "sr"))
		return parse_dependent_name(p);
	if (take(p, "ix")) {
		const char *array = operand(p);
		return plain(p, TEXT(p, "%s[%s]", array, operand(p)));
	}
	if (take(p, "qu")) {
		const char *condition = operand(p), *yes = operand(p);
		return plain(p, TEXT(p, "%s?%s:%s", condition, yes, operand(p)));
	}
	return parse_calculation(p);
}

piece *mangled_expression(struct mangled_parser *p)
{
	if (!enter(p))
		return fail(p);
	piece *expression;
	if (take(p, "L")) {
		expression = parse_literal(p);
	} else if (*p->at == 'T') {
		expression = mangled_param(p);
	} else if (take(p, "fp")) {
		mangled_qualifiers(p);
		expression = plain(p, TEXT(p, "param#%ld", mangled_index(p) + 1));
	} else if (isdigit((unsigned char)*p->at)) {
		expression = parse_simple_name(p);
	} else {
		expression = parse_operation(p);
	}
	p->depth--;
	return expression;
}
