/* Template arguments and expressions. */
#include "capture/mangled_parser.h"

#include <ctype.h>

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
