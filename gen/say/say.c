#include "say/say.h"

#include "base/buf.h"
#include "base/format.h"
#include "say/number.h"
#include "say/template.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct saying {
	const struct fact *fact;
	const struct names *names;
	struct arena *arena;
	struct buf *out;
	bool unknown; /* a parameter was needed that is not known */
};

const char *say_word(enum words_id list, const char *key)
{
	int i = fact_key(words_info[list].keys, key, strlen(key));
	assert(i >= 0);
	return i >= 0 ? say_lists[list][i].word : key;
}

const struct say_listed *say_listed(enum words_id list, unsigned value)
{
	return &say_lists[list][value];
}

static bool is(const struct template_piece *piece, const char *style)
{
	return strlen(style) == piece->n && memcmp(piece->text, style, piece->n) == 0;
}

/* "2", "0": how many decimals, or characters; -1: the style is another one. */
static int number_of(const char *style, size_t n)
{
	return n && *style >= '0' && *style <= '9' ? atoi(style) : -1;
}

/* ---- a value in a style ---- */

static const char *say_share(const struct template_piece *piece, double share, struct arena *arena)
{
	double p = 100 * share;
	if (is(piece, "coarse"))
		return arena_format(arena, "%.*f %%", p < 2 ? 1 : 0, p);
	if (is(piece, "whole"))
		return share < 0.005 ? say_word(WORDS_amount, "little") : arena_format(arena, "%.0f %%", p);
	if (is(piece, "g"))
		return arena_format(arena, "%g %%", p);
	if (piece->n && *piece->text == 'g')
		return arena_format(arena, "%.*g %%", number_of(piece->text + 1, piece->n - 1), p);
	return piece->n ? arena_format(arena, "%.*f %%", number_of(piece->text, piece->n), p)
	                : say_percent(arena, share);
}

static const char *say_time(const struct template_piece *piece, double ns, struct arena *arena)
{
	if (is(piece, "auto"))
		return format_time(arena, ns);
	if (is(piece, "short"))
		return format_short_time(arena, ns);
	if (is(piece, "us0") || is(piece, "us1"))
		return arena_format(arena, "%.*f", piece->text[2] - '0', ns / 1e3);
	if (is(piece, "ms3"))
		return arena_format(arena, "%.3f ms", ns / 1e6);
	if (is(piece, "in_us"))
		return say_digits(arena, ns / 1e3);
	return is(piece, "in_ms") ? say_digits(arena, ns / 1e6)
	                          : arena_format(arena, "%s ms", say_digits(arena, ns / 1e6));
}

static const char *say_number(const struct template_piece *piece, double value, struct arena *arena)
{
	if (is(piece, "count"))
		return say_count(arena, value);
	if (is(piece, "times"))
		return say_times(arena, value);
	if (is(piece, "speedup"))
		return format_times(arena, value, value);
	char text[DECIMAL_ROOM];
	if (is(piece, "exact"))
		return arena_copy(arena, text, decimal_exact(text, value));
	if (is(piece, "g"))
		return arena_format(arena, "%g", value);
	int decimals = number_of(piece->text, piece->n);
	return decimals >= 0 ? arena_format(arena, "%.*f", decimals, value) : say_digits(arena, value);
}

static const char *say_name(const struct template_piece *piece, const char *name, struct arena *arena)
{
	int most = number_of(piece->text, piece->n);
	if (is(piece, "full"))
		return name;
	if (most < 0 && piece->n)
		return format_kernel(arena, name, (unsigned)number_of(piece->text + 1, piece->n - 1));
	return most < 0 ? say_short(arena, name) : format_name(arena, name, (unsigned)most);
}

static const char *say_parts(const struct template_piece *piece, const struct facts *parts, const struct saying *s)
{
	const char *text = "";
	for (uint32_t i = 0; i < parts->n; i++) {
		bool last = i + 1 == parts->n && is(piece, "and");
		const char *part = say_fact(parts->list[i], s->names, s->arena);
		text = !i ? part
		          : arena_format(s->arena, "%s%s%s %s", text, last ? " " : ",",
		                         last ? say_word(WORDS_amount, "last") : "", part);
	}
	return text;
}

/* As the build with a catalogue of ids and parameters shows it: no word but the profile's and keys. */
static const char *say_raw(enum fact_kind kind, const union fact_value *value, const struct saying *s)
{
	static const struct template_piece plain = {.text = ""};
	switch (kind) {
	case FACT_KIND_NAME:
		return names_text(s->names, (uint32_t)value->count);
	case FACT_KIND_TEXT:
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		return value->text;
	case FACT_KIND_PART:
		return say_fact(value->part, s->names, s->arena);
	case FACT_KIND_PARTS:
		return say_parts(&plain, value->parts, s);
	case FACT_KIND_COUNT:
	case FACT_KIND_FLAG:
	case FACT_KIND_RANK:
		return arena_format(s->arena, "%lld", (long long)value->count);
	default:
		return arena_format(s->arena, "%.6g", value->number);
	}
}

static const char *say_value(const struct template_piece *piece, const struct fact_param *p,
                             const union fact_value *value, const struct saying *s)
{
	int list;
	if (is(piece, "raw"))
		return say_raw(p->kind, value, s);
	switch (p->kind) {
	case FACT_KIND_COUNT:
		return is(piece, "ordinal") ? say_ordinal(s->arena, (size_t)value->count)
		       : is(piece, "times") ? say_times(s->arena, (double)value->count)
		                            : say_raw(p->kind, value, s);
	case FACT_KIND_NUMBER:
		return say_number(piece, value->number, s->arena);
	case FACT_KIND_TIME:
		return say_time(piece, value->number, s->arena);
	case FACT_KIND_SHARE:
		return say_share(piece, value->number, s->arena);
	case FACT_KIND_BYTES:
		return piece->n ? format_bytes(s->arena, value->number) : say_bytes(s->arena, value->number);
	case FACT_KIND_NAME:
		return say_name(piece, names_text(s->names, (uint32_t)value->count), s->arena);
	case FACT_KIND_TEXT:
		return piece->n ? say_name(piece, value->text, s->arena) : value->text;
	case FACT_KIND_LISTED:
		list = template_list(fact_keys(p), piece->text, piece->n);
		return say_word(list < 0 ? p->listed : (enum words_id)list, value->text);
	case FACT_KIND_PARTS:
		return say_parts(piece, value->parts, s);
	default:
		return say_raw(p->kind, value, s);
	}
}

/* ---- pieces ---- */

static void say_pieces(struct saying *s, const struct template_piece *piece);

/* The parameter of a piece, with its value; false: it is not known. */
static bool take(const struct saying *s, int param, const struct fact_param **p, union fact_value *value)
{
	*p = template_param(&fact_info[s->fact->id], param);
	if (param == TEMPLATE_SIDE)
		value->text = fact_side_name(s->fact->side);
	else
		*value = s->fact->value[param];
	return fact_known((*p)->kind, value);
}

static void say_slot(struct saying *s, const struct template_piece *piece)
{
	const struct fact_param *p;
	union fact_value value, until;
	if (!take(s, piece->param, &p, &value) || (piece->until >= 0 && !take(s, piece->until, &p, &until))) {
		s->unknown = true;
		return;
	}
	const char *text[2] = {say_value(piece, p, &value, s), NULL};
	if (piece->until >= 0)
		text[1] = say_value(piece, p, &until, s);
	if (piece->until >= 0 && is(piece, "interval"))
		say_interval(s->arena, value.number, until.number, text);
	buf_text(s->out, text[0]);
	if (text[1] && (strcmp(text[0], text[1]) != 0 || is(piece, "interval")))
		buf_format(s->out, " %s %s", say_word(WORDS_amount, "range"), text[1]);
}

static bool chosen(const struct template_branch *branch, const struct fact_param *p, const union fact_value *value,
                   bool known)
{
	if (branch->n == 1 && *branch->key == '*')
		return true;
	if (!known)
		return false;
	if (p->kind == FACT_KIND_COUNT)
		return value->count == atoll(branch->key);
	const char *key = p->kind == FACT_KIND_FLAG ? (value->count ? "yes" : "no") : value->text;
	return strlen(key) == branch->n && memcmp(key, branch->key, branch->n) == 0;
}

static void say_choice(struct saying *s, const struct template_piece *piece)
{
	const struct fact_param *p;
	union fact_value value;
	bool known = take(s, piece->param, &p, &value);
	for (uint32_t i = 0; i < piece->n_branches; i++)
		if (chosen(&piece->branch[i], p, &value, known)) {
			say_pieces(s, piece->branch[i].first);
			return;
		}
	s->unknown = true;
}

static void say_plural(struct saying *s, const struct template_piece *piece)
{
	const struct fact_param *p;
	union fact_value value;
	bool known = take(s, piece->param, &p, &value);
	bool one = known && (p->kind == FACT_KIND_COUNT ? value.count == 1 : fabs(value.number - 1) < 0.005);
	s->unknown = s->unknown || !known;
	say_pieces(s, piece->branch[one ? 0 : 1].first);
}

static void say_optional(struct saying *s, const struct template_piece *piece)
{
	BUF_LOCAL(text);
	struct saying inner = *s;
	inner.out = &text;
	inner.unknown = false;
	say_pieces(&inner, piece->branch->first);
	if (!inner.unknown && text.n)
		buf_add(s->out, text.data, text.n);
}

static void say_pieces(struct saying *s, const struct template_piece *piece)
{
	for (; piece; piece = piece->next)
		switch (piece->kind) {
		case TEMPLATE_TEXT:
			buf_add(s->out, piece->text, piece->n);
			break;
		case TEMPLATE_SLOT:
			say_slot(s, piece);
			break;
		case TEMPLATE_CHOICE:
			say_choice(s, piece);
			break;
		case TEMPLATE_PLURAL:
			say_plural(s, piece);
			break;
		case TEMPLATE_OPTIONAL:
			say_optional(s, piece);
			break;
		}
}

/* Adds one form to `out`; whether all that it needs is known. */
static bool add_form(const struct fact *fact, const char *text, const struct names *names, struct arena *arena,
                     struct buf *out)
{
	struct err err;
	struct saying s = {.fact = fact, .names = names, .arena = arena, .out = out};
	say_pieces(&s,
	           template_parse(text, &fact_info[fact->id], arena, NULL, &err)); /* the build has parsed it, too */
	return !s.unknown;
}

const char *say_form(const struct fact *fact, enum say_form form, const struct names *names, struct arena *arena)
{
	const struct say_forms *forms = &say_catalogue[fact->id];
	const char *text = forms->form[form == SAY_SHORT && !forms->form[form] ? SAY_TEXT : form];
	if (!text)
		return "";
	BUF_LOCAL(out);
	bool known = add_form(fact, text, names, arena, &out);
	assert(known);
	(void)known;
	return arena_copy(arena, out.data ? out.data : "", out.n);
}

bool say_known(const struct fact *fact, const struct names *names)
{
	const struct say_forms *forms = &say_catalogue[fact->id];
	ARENA_LOCAL(arena);
	BUF_LOCAL(out);
	bool known = true;
	for (int form = 0; form < SAY_FORMS; form++)
		known = known && (!forms->form[form] || add_form(fact, forms->form[form], names, &arena, &out));
	return known;
}

const char *say_fact(const struct fact *fact, const struct names *names, struct arena *arena)
{
	return fact ? say_form(fact, SAY_TEXT, names, arena) : NULL;
}

const char **say_facts(const struct facts *facts, const struct names *names, struct arena *arena)
{
	const char **text = ARENA_NEW(arena, facts->n, const char *);
	for (uint32_t i = 0; i < facts->n; i++)
		text[i] = say_fact(facts->list[i], names, arena);
	return text;
}

/* ---- help ---- */

const struct say_help *say_help(const char *command)
{
	const struct say_help *h = say_helps;
	while (h->name && strcmp(h->name, command) && (strncmp(h->name, "gapline ", 8) || strcmp(h->name + 8, command)))
		h++;
	return h;
}

static const char *find_option(const struct say_help *help, const char *option)
{
	const struct say_option *o = help->options;
	while (o->name && strcmp(o->name, option))
		o++;
	return o->help;
}

const char *say_help_option(const struct say_help *command, const char *option)
{
	const char *help = find_option(command, option);
	return help ? help : find_option(say_help("*"), option);
}
