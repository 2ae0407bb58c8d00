#include "base/list.h"
#include "capture/mangled_parser.h"

#include <ctype.h>
#include <stdint.h>

/* `made` again as what a later "S_" means. */
node *mangled_remember(struct mangled_parser *p, node *made, bool is_type)
{
	if (p->failed)
		return made;
	LIST_ADD(p->arena, p->substitutions, p->n, p->room, (struct mangled_substitution){made, is_type});
	return made;
}

/* Items until 'E', which is taken; NULL: none. */
node *mangled_list(struct mangled_parser *p, node *(*parse_item)(struct mangled_parser *))
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

long mangled_number(struct mangled_parser *p)
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
long mangled_index(struct mangled_parser *p)
{
	if (take(p, "_"))
		return 0;
	long value = mangled_number(p);
	expect(p, "_");
	return value + 1;
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
node *mangled_encoding(struct mangled_parser *p)
{
	if (!enter(p))
		return NULL;
	unsigned qualifiers;
	node *encoding = mangled_name(p, &qualifiers);
	if (!p->failed && !is_encoding_end(p->at)) {
		node *result = has_return_type(encoding) ? mangled_type(p) : NULL;
		struct mangled *signature = make(p, MANGLED_SIGNATURE, result, mangled_parameters(p, is_encoding_end));
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
	struct mangled_parser p = {.arena = arena, .at = name + 2};
	node *tree = mangled_encoding(&p);
	if (p.failed || !tree || *p.at == 'E')
		return NULL;
	*rest = *p.at == '.' ? p.at : "";
	return tree;
}
