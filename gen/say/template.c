#include "say/template.h"

#include "base/list.h"

#include <ctype.h>
#include <string.h>

struct parser {
	const struct fact_info *info;
	struct arena *arena;
	const char *at;
	bool *used;
	struct err *err;
};

const struct fact_param *template_param(const struct fact_info *info, int param)
{
	static const struct fact_param side = {"side", FACT_KIND_LISTED, NULL, WORDS_side};
	return param == TEMPLATE_SIDE ? &side : &info->param[param];
}

/* ---- styles ---- */

static bool is_number(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return n > 0 && n <= 3;
}

int template_list(const char *keys, const char *style, size_t n)
{
	for (int i = 0; i < WORDS_COUNT; i++)
		if (strlen(words_info[i].id) == n && memcmp(words_info[i].id, style, n) == 0)
			return strcmp(words_info[i].keys, keys) == 0 ? i : -1;
	return -1;
}

static bool style_fits(const struct fact_param *p, const char *style, size_t n)
{
	static const char *const named[] = {[FACT_KIND_COUNT] = "times|ordinal|raw",
	                                    [FACT_KIND_NUMBER] = "count|times|speedup|interval|g|exact|raw",
	                                    [FACT_KIND_TIME] = "ms|in_ms|in_us|us0|us1|ms3|auto|short|raw",
	                                    [FACT_KIND_SHARE] = "coarse|whole|g|g1|g2|g3|raw",
	                                    [FACT_KIND_BYTES] = "units|raw",
	                                    [FACT_KIND_FLAG] = "raw",
	                                    [FACT_KIND_NAME] = "full|raw",
	                                    [FACT_KIND_TEXT] = "raw",
	                                    [FACT_KIND_RANK] = "raw",
	                                    [FACT_KIND_WORD] = "raw",
	                                    [FACT_KIND_LISTED] = "raw",
	                                    [FACT_KIND_PART] = "raw",
	                                    [FACT_KIND_PARTS] = "and|raw"};
	if (n == 0)
		return p->kind != FACT_KIND_WORD && p->kind != FACT_KIND_FLAG;
	if (fact_key(named[p->kind], style, n) >= 0)
		return true;
	if (p->kind == FACT_KIND_LISTED)
		return template_list(fact_keys(p), style, n) >= 0;
	bool numbered = p->kind == FACT_KIND_NUMBER || p->kind == FACT_KIND_SHARE || p->kind == FACT_KIND_NAME ||
	                p->kind == FACT_KIND_TEXT;
	if (p->kind == FACT_KIND_NAME && n > 1 && *style == 'k')
		return is_number(style + 1, n - 1);
	return numbered && is_number(style, n);
}

/* ---- the grammar ---- */

static struct template_piece *parse_until(struct parser *p, const char *ends);

static struct template_piece *fail(struct parser *p, const char *problem, const char *what, size_t n)
{
	err_set(p->err, "%s: %.*s", problem, (int)n, what);
	return NULL;
}

/* The parameter named at p->at, which is moved behind it; TEMPLATE_NONE with an error. */
static int parse_name(struct parser *p)
{
	const char *name = p->at;
	while (islower((unsigned char)*p->at) || isdigit((unsigned char)*p->at) || *p->at == '_')
		p->at++;
	size_t n = (size_t)(p->at - name);
	if (n == 4 && memcmp(name, "side", n) == 0)
		return TEMPLATE_SIDE;
	for (uint32_t i = 0; i < p->info->n; i++)
		if (strlen(p->info->param[i].name) == n && memcmp(p->info->param[i].name, name, n) == 0) {
			if (p->used)
				p->used[i] = true;
			return (int)i;
		}
	fail(p, "no such parameter", name, n);
	return TEMPLATE_NONE;
}

static bool add_branch(struct parser *p, struct template_piece *piece, struct template_branch branch)
{
	branch.first = parse_until(p, "|}");
	if (!branch.first)
		return false;
	LIST_PUT(p->arena, piece->branch, piece->n_branches, branch);
	return true;
}

/* Whether a choice has an answer for every key. */
static bool complete(struct parser *p, const struct template_piece *piece, const char *keys)
{
	for (uint32_t b = 0; b < piece->n_branches; b++)
		if (piece->branch[b].n == 1 && *piece->branch[b].key == '*')
			return true;
	for (const char *key = keys; key && *key;) {
		size_t n = strcspn(key, "|");
		bool there = false;
		for (uint32_t b = 0; b < piece->n_branches; b++)
			there = there || (piece->branch[b].n == n && memcmp(piece->branch[b].key, key, n) == 0);
		if (!there)
			return fail(p, "a choice without words for", key, n) != NULL;
		key += n + (key[n] == '|');
	}
	return keys ? true : fail(p, "a choice by number without *", p->at, 0) != NULL;
}

static struct template_piece *parse_choice(struct parser *p, struct template_piece *piece)
{
	const struct fact_param *param = template_param(p->info, piece->param);
	const char *keys = fact_keys(param);
	if (!keys && param->kind != FACT_KIND_COUNT)
		return fail(p, "neither a word nor a count", param->name, strlen(param->name));
	piece->kind = TEMPLATE_CHOICE;
	do {
		struct template_branch branch = {.key = ++p->at};
		branch.n = strcspn(p->at, "=|}");
		p->at += branch.n;
		bool any = branch.n == 1 && *branch.key == '*';
		if (*p->at != '=' ||
		    (!any && (keys ? fact_key(keys, branch.key, branch.n) < 0 : !is_number(branch.key, branch.n))))
			return fail(p, "not a key", branch.key, branch.n);
		p->at++;
		if (!add_branch(p, piece, branch))
			return NULL;
	} while (*p->at == '|');
	return complete(p, piece, keys) ? piece : NULL;
}

static struct template_piece *parse_plural(struct parser *p, struct template_piece *piece)
{
	enum fact_kind kind = template_param(p->info, piece->param)->kind;
	piece->kind = TEMPLATE_PLURAL;
	do {
		p->at++;
		if (!add_branch(p, piece, (struct template_branch){0}))
			return NULL;
	} while (*p->at == '|');
	if (piece->n_branches != 2 || (kind != FACT_KIND_COUNT && kind != FACT_KIND_NUMBER))
		return fail(p, "a plural needs a count, and two forms", p->at, 0);
	return piece;
}

static struct template_piece *parse_slot(struct parser *p)
{
	struct template_piece *piece = ARENA_NEW(p->arena, 1, struct template_piece);
	const char *begin = p->at++;
	*piece = (struct template_piece){.kind = TEMPLATE_SLOT, .text = "", .until = TEMPLATE_NONE};
	if ((piece->param = parse_name(p)) == TEMPLATE_NONE)
		return NULL;
	if (*p->at == '?')
		piece = parse_choice(p, piece);
	else if (*p->at == '#')
		piece = parse_plural(p, piece);
	else {
		if (p->at[0] == '.' && p->at[1] == '.') {
			p->at += 2;
			if ((piece->until = parse_name(p)) == TEMPLATE_NONE)
				return NULL;
			if (template_param(p->info, piece->until)->kind != template_param(p->info, piece->param)->kind)
				return fail(p, "a range of two kinds", begin + 1, (size_t)(p->at - begin - 1));
		}
		if (*p->at == ':') {
			piece->text = ++p->at;
			piece->n = strcspn(p->at, "}");
			p->at += piece->n;
		}
		if (!style_fits(template_param(p->info, piece->param), piece->text, piece->n))
			return fail(p, "a style that does not fit", begin + 1, (size_t)(p->at - begin - 1));
	}
	if (piece && *p->at++ != '}')
		return fail(p, "not closed", begin, strlen(begin));
	return piece;
}

static struct template_piece *parse_optional(struct parser *p)
{
	struct template_piece *piece = ARENA_NEW(p->arena, 1, struct template_piece);
	const char *begin = p->at++;
	*piece = (struct template_piece){
		.kind = TEMPLATE_OPTIONAL, .branch = ARENA_NEW(p->arena, 1, struct template_branch), .n_branches = 1};
	piece->branch->first = parse_until(p, "]");
	if (!piece->branch->first)
		return NULL;
	if (*p->at++ != ']')
		return fail(p, "not closed", begin, strlen(begin));
	return piece;
}

/* "\\" before a character that means something makes it one that does not. */
static struct template_piece *parse_text(struct parser *p, const char *ends)
{
	struct template_piece *piece = ARENA_NEW(p->arena, 1, struct template_piece);
	bool escaped = p->at[0] == '\\' && p->at[1];
	p->at += escaped;
	*piece = (struct template_piece){.kind = TEMPLATE_TEXT, .text = p->at, .n = escaped};
	piece->n += strcspn(p->at + escaped, "\\{}[]|");
	p->at += piece->n;
	if (!piece->n && *p->at && !strchr(ends, *p->at))
		return fail(p, "a backslash is needed before", p->at, 1);
	return piece;
}

/* Pieces up to one of `ends`, at which p->at is left, or to the end. */
static struct template_piece *parse_until(struct parser *p, const char *ends)
{
	struct template_piece *first = NULL, **last = &first;
	do {
		struct template_piece *piece = *p->at == '{'   ? parse_slot(p)
		                               : *p->at == '[' ? parse_optional(p)
		                                               : parse_text(p, ends);
		if (!piece)
			return NULL;
		*last = piece;
		last = &piece->next;
	} while (*p->at && !strchr(ends, *p->at));
	return first;
}

struct template_piece *template_parse(const char *text, const struct fact_info *info, struct arena *arena, bool *used,
                                      struct err *err)
{
	struct parser p = {.info = info, .arena = arena, .at = text, .used = used, .err = err};
	return parse_until(&p, "");
}
