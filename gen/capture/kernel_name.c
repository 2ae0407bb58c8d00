#include "capture/kernel_name.h"

#include "base/buf.h"
#include "base/list.h"
#include "capture/mangled.h"

#include <ctype.h>
#include <stdint.h>

void mangled_remember(struct mangled_parser *p, piece *made, bool space)
{
	if (p->failed)
		return;
	struct piece *again = arena_keep(p->arena, made, 1, sizeof *made);
	again->space = again->space && space;
	LIST_ADD(p->arena, p->met, p->n, p->room, again);
}

const char *mangled_list(struct mangled_parser *p, piece *(*parse_item)(struct mangled_parser *))
{
	BUF_LOCAL(list);
	for (const char *between = ""; !p->failed && !take(p, "E"); between = ", ")
		buf_format(&list, "%s%s", between, mangled_text(p, parse_item(p)));
	return list.n ? bounded(p, arena_copy(p->arena, list.data, list.n)) : "";
}

static long number(struct mangled_parser *p)
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

long mangled_index(struct mangled_parser *p)
{
	if (take(p, "_"))
		return 0;
	long value = number(p);
	expect(p, "_");
	return value + 1;
}

/* ---- components of names ---- */

static piece *class_name(struct mangled_parser *p, const char *text)
{
	struct piece *made = plain(p, text);
	made->is_class = true;
	return made;
}

piece *mangled_source_name(struct mangled_parser *p)
{
	size_t n = (size_t)number(p);
	if (p->failed || n == 0 || strnlen(p->at, n) < n)
		return fail(p);
	const char *text = p->at;
	p->at += n;
	if (n >= 11 && !strncmp(text, "_GLOBAL__N_", 11))
		return class_name(p, "<unnamed>");
	if (n >= 9 && !strncmp(text, "_INTERNAL", 9)) /* nvcc's scope for what is local to a file; nobody shows it */
		return class_name(p, "");
	return class_name(p, bounded(p, arena_copy(p->arena, text, n)));
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

/* "C1", "D0": behind the class. */
static piece *parse_structor(struct mangled_parser *p, piece *scope)
{
	bool is_ctor = *p->at++ == 'C';
	char kind = *p->at;
	if (!scope || !scope->is_class || kind < (is_ctor ? '1' : '0') || kind > (is_ctor ? '3' : '2'))
		return fail(p);
	p->at++;
	struct piece *made = plain(p, TEXT(p, "%s%s", is_ctor ? "" : "~", scope->own));
	made->is_typeless = true;
	made->note = kind == '0' ? " [deleting]" : kind == '1' ? "" : " [subobject]";
	return made;
}

static bool is_list_end(const char *at)
{
	return *at == 'E';
}

/* "Ul…E0_" and "Ut0_": the second lambda with these parameters, the second unnamed type */
static piece *parse_closure(struct mangled_parser *p)
{
	if (take(p, "Ul")) {
		const char *parameters = mangled_parameters(p, is_list_end);
		expect(p, "E");
		return class_name(p, TEXT(p, "[lambda%s (instance %ld)]", parameters, mangled_index(p) + 1));
	}
	expect(p, "Ut");
	return class_name(p, TEXT(p, "[unnamed type (instance %ld)]", mangled_index(p) + 1));
}

static piece *parse_operator_name(struct mangled_parser *p)
{
	if (take(p, "cv")) {
		struct piece *made = plain(p, TEXT(p, "operator %s", mangled_text(p, mangled_type(p))));
		made->is_typeless = true;
		return made;
	}
	const struct mangled_operator *found = mangled_operator(p);
	return found ? plain(p, TEXT(p, "operator %s%s", found->text, islower((unsigned char)*found->text) ? " " : ""))
	             : fail(p);
}

/* One component of a name; `scope`: what stands before it, NULL for nothing. */
static piece *parse_unqualified(struct mangled_parser *p, piece *scope)
{
	piece *name;
	if (isdigit((unsigned char)*p->at))
		name = mangled_source_name(p);
	else if (*p->at == 'C' || *p->at == 'D')
		name = parse_structor(p, scope);
	else if (*p->at == 'U')
		name = parse_closure(p);
	else
		name = parse_operator_name(p);
	while (take(p, "B"))
		name = class_name(p, TEXT(p, "%s[abi:%s]", name->front, mangled_source_name(p)->front));
	return name;
}

/* ---- what was met before ---- */

/* "S_", "S0_", "S1A_" */
static piece *parse_back_reference(struct mangled_parser *p)
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
	return p->failed || index >= p->n ? fail(p) : p->met[index];
}

piece *mangled_met(struct mangled_parser *p)
{
	static const struct {
		char code[2];
		const char *name, *arguments;
	} abbreviations[] = {
		{"a", "allocator", ""},
		{"b", "basic_string", ""},
		{"s", "basic_string", "<char, std::char_traits<char>, std::allocator<char>>"},
		{"i", "basic_istream", "<char, std::char_traits<char>>"},
		{"o", "basic_ostream", "<char, std::char_traits<char>>"},
		{"d", "basic_iostream", "<char, std::char_traits<char>>"},
	};
	for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++)
		if (take(p, abbreviations[i].code)) {
			struct piece *made =
				plain(p, TEXT(p, "std::%s%s", abbreviations[i].name, abbreviations[i].arguments));
			made->own = abbreviations[i].name;
			made->is_class = true;
			made->space = false;
			return made;
		}
	return parse_back_reference(p);
}

/* ---- whole names ---- */

/* `text`, a name with the last component of `last`. */
static struct piece *ends_with(struct mangled_parser *p, const char *text, piece *last)
{
	struct piece *made = arena_keep(p->arena, last, 1, sizeof *last);
	made->front = text;
	return made;
}

/* A component behind its scope: functions of this name do not come from a template, until arguments follow. */
static piece *scoped(struct mangled_parser *p, piece *scope, piece *name)
{
	struct piece *made =
		ends_with(p, TEXT(p, "%s%s%s", mangled_text(p, scope), *scope->front ? "::" : "", name->front), name);
	made->says_its_result = false;
	return made;
}

/* The first component of a nested name; `is_new`: it cannot be referred to yet. */
static piece *parse_first(struct mangled_parser *p, bool *is_new)
{
	*is_new = false;
	if (take(p, "St"))
		return class_name(p, "std");
	if (take(p, "S"))
		return mangled_met(p);
	if (*p->at == 'D' && (p->at[1] == 't' || p->at[1] == 'T'))
		return mangled_type(p); /* which has remembered it */
	*is_new = true;
	return *p->at == 'T' ? mangled_param(p) : parse_unqualified(p, NULL);
}

/* Behind the 'N', with its 'E'. Every prefix of it can be referred to later. */
static piece *parse_nested(struct mangled_parser *p, unsigned *qualifiers)
{
	*qualifiers = mangled_qualifiers(p);
	if (take(p, "R"))
		*qualifiers |= QUALIFIER_LVALUE_THIS;
	else if (take(p, "O"))
		*qualifiers |= QUALIFIER_RVALUE_THIS;
	piece *scope = NULL;
	while (!p->failed && !take(p, "E")) {
		bool is_new = true;
		if (!scope)
			scope = parse_first(p, &is_new);
		else if (*p->at == 'I')
			scope = mangled_template(p, scope);
		else if (take(p, "M"))
			continue; /* the member whose initialiser a lambda is in */
		else
			scope = scoped(p, scope, parse_unqualified(p, scope));
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
		instance = number(p) + 2;
		expect(p, "_");
	} else if (*p->at == '_' && isdigit((unsigned char)p->at[1])) {
		instance = p->at[1] - '0' + 2;
		p->at += 2;
	}
	return instance;
}

/* Behind the 'Z': something inside a function. */
static piece *parse_local(struct mangled_parser *p, unsigned *qualifiers)
{
	const char *function = mangled_encoding(p, false)->front;
	expect(p, "E");
	if (take(p, "d")) {
		long argument = mangled_index(p) + 1;
		piece *name = mangled_name(p, qualifiers);
		return ends_with(
			p, TEXT(p, "%s::[default argument %ld (from end)]::%s", function, argument, name->front), name);
	}
	piece *name = mangled_name(p, qualifiers);
	long instance = parse_discriminator(p);
	return ends_with(p,
	                 instance ? TEXT(p, "%s::%s (instance %ld)", function, name->front, instance)
	                          : TEXT(p, "%s::%s", function, name->front),
	                 name);
}

piece *mangled_name(struct mangled_parser *p, unsigned *qualifiers)
{
	*qualifiers = 0;
	if (!enter(p))
		return fail(p);
	piece *name;
	if (take(p, "N")) {
		name = parse_nested(p, qualifiers);
	} else if (take(p, "Z")) {
		name = parse_local(p, qualifiers);
	} else {
		bool is_new = true;
		if (take(p, "St")) {
			name = scoped(p, plain(p, "std"), parse_unqualified(p, NULL));
		} else if (take(p, "S")) {
			name = mangled_met(p);
			is_new = false;
			if (*p->at != 'I')
				fail(p);
		} else {
			name = parse_unqualified(p, NULL);
		}
		if (*p->at == 'I') {
			if (is_new)
				mangled_remember(p, name, false);
			name = mangled_template(p, name);
		}
	}
	p->depth--;
	return name;
}

/* ---- functions ---- */

static bool is_encoding_end(const char *at)
{
	return *at == '\0' || *at == 'E' || *at == '.' || *at == '$';
}

/* "void f<int>(T1) const" */
piece *mangled_encoding(struct mangled_parser *p, bool bare)
{
	if (!enter(p))
		return fail(p);
	unsigned qualifiers;
	piece *name = mangled_name(p, &qualifiers);
	if (!p->failed && !is_encoding_end(p->at)) {
		const char *result = name->says_its_result ? TEXT(p, "%s ", mangled_text(p, mangled_type(p))) : "";
		const char *parameters = mangled_parameters(p, is_encoding_end);
		if (!bare)
			name = ends_with(p,
			                 TEXT(p, "%s%s%s%s%s", result, name->front, parameters,
			                      mangled_function_qualifiers(p, qualifiers), name->note),
			                 name);
	}
	p->depth--;
	return name;
}

static const char *demangle(struct arena *arena, const char *mangled, bool own)
{
	if (strncmp(mangled, "_Z", 2) || strnlen(mangled, NAME_BYTES + 1) > NAME_BYTES)
		return mangled;
	ARENA_LOCAL(scratch);
	struct mangled_parser p = {.arena = &scratch, .at = mangled + 2};
	piece *name = mangled_encoding(&p, false);
	const char *text = own ? name->own : TEXT(&p, "%s%s", name->front, *p.at == '.' ? p.at : "");
	return p.failed || *p.at == 'E' || !*text ? mangled : arena_copy(arena, text, strlen(text));
}

const char *kernel_name_demangled(struct arena *arena, const char *mangled)
{
	return demangle(arena, mangled, false);
}

const char *kernel_name_short(struct arena *arena, const char *mangled)
{
	return demangle(arena, mangled, true);
}
