#include "base/opt.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 24, NEAR_MAX = 40 };

/* ---- values ---- */

static bool is_number(const char *text, bool decimal)
{
	size_t whole = strspn(text, "0123456789"), n = whole, fraction = 0;
	if (decimal && text[whole] == '.') {
		fraction = strspn(text + whole + 1, "0123456789");
		n = whole + 1 + fraction;
	}
	if (decimal && (text[n] == 'e' || text[n] == 'E')) {
		size_t sign = text[n + 1] == '-' || text[n + 1] == '+',
		       exponent = strspn(text + n + 1 + sign, "0123456789");
		n += exponent ? 1 + sign + exponent : 0;
	}
	return !text[n] && whole + fraction > 0;
}

static int parse_number(const struct opt *o, const char *shown, const char *value, double *out, struct err *err)
{
	bool decimal = o->kind == OPT_DECIMAL, negative = *value == '-', percent = !strcmp(o->value, "PCT");
	BUF_LOCAL(number);
	size_t n = strlen(value);
	buf_add(&number, value, percent && n > 1 && value[n - 1] == '%' ? n - 1 : n);
	if (!is_number(number.data + negative, decimal))
		return err_set(err, "%s: '%s' is not a %s", shown, value,
		               percent   ? "percentage; write it like 2.5"
		               : decimal ? "number; write it like 1.25"
		                         : "whole number");
	*out = strtod(value, NULL); /* the locale is never set, so the point is a point */
	if (negative || *out < o->min || *out > o->max)
		return err_set(err, "%s: %s is out of range: it goes from %g to %.10g", shown, value, o->min, o->max);
	return 0;
}

static int parse_choice(const struct opt *o, const char *shown, const char *value, struct err *err)
{
	BUF_LOCAL(list);
	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(value, o->choices[i])) {
			*o->choice = i;
			return 0;
		}
		buf_format(&list, "%s%s", !i ? "" : o->choices[i + 1] ? ", " : " or ", o->choices[i]);
	}
	err_set(err, "%s: '%s' is none of %s", shown, value, list.data);
	return -1;
}

static int store(const struct opt *o, const char *shown, const char *value, struct arena *arena, struct err *err)
{
	double number;
	if (o->kind != OPT_FLAG && !*value && !o->may_be_empty)
		return err_set(err, "%s: its value is empty", shown);
	switch (o->kind) {
	case OPT_FLAG:
		*o->flag = true;
		return 0;
	case OPT_TEXT:
	case OPT_OUTPUT:
		*o->text = value;
		return 0;
	case OPT_LIST:
		LIST_PUT(arena, o->list->item, o->list->n, value);
		return 0;
	case OPT_WHOLE:
		if (parse_number(o, shown, value, &number, err))
			return -1;
		*o->whole = (int)number;
		return 0;
	case OPT_DECIMAL:
		return parse_number(o, shown, value, o->decimal, err);
	case OPT_CHOICE:
		return parse_choice(o, shown, value, err);
	case OPT_COMMAND:
		o->command->text = value;
		return 0;
	}
	return err_set(err, "%s: unknown kind of option", shown);
}

bool opt_takes_file(const struct opt *o)
{
	return (o->kind == OPT_TEXT || o->kind == OPT_OUTPUT || o->kind == OPT_LIST) &&
	       (strstr(o->value, "FILE") || strstr(o->value, "DIR") || strstr(o->value, "PROFILE"));
}

/* ---- near misses ---- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

bool opt_near(const char *given, const char *meant)
{
	/* optimal string alignment distance: three rows of the classic table */
	size_t n = strlen(given), m = strlen(meant);
	size_t row[3][NEAR_MAX + 1];
	if (!n || n > NEAR_MAX || m > NEAR_MAX)
		return false;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *up = row[(i + 2) % 3], *upper = row[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(least(up[j] + 1, now[j - 1] + 1), up[j - 1] + (given[i - 1] != meant[j - 1]));
			if (i > 1 && j > 1 && given[i - 1] == meant[j - 2] && given[i - 2] == meant[j - 1])
				now[j] = least(now[j], upper[j - 2] + 1);
		}
	}
	return row[n % 3][m] <= (m > 4 ? 2 : m > 1); /* of one letter, every other one is near */
}

/* `dashes`: as they were given. */
static int unknown_option(const struct opt_usage *usage, const char *dashes, const char *name, size_t n,
                          struct err *err)
{
	char given[NEAR_MAX + 1] = "";
	if (n <= NEAR_MAX)
		memcpy(given, name, n);
	for (size_t i = 0; i < usage->n_options; i++)
		if (opt_near(given, usage->options[i].name))
			return err_set(err, "there is no option '%s%.*s'; did you mean --%s?", dashes,
			               (int)least(n, 200), name, usage->options[i].name);
	return err_set(err, "there is no option '%s%.*s'", dashes, (int)least(n, 200), name);
}

/* ---- parsing ---- */

struct parser {
	const struct opt_usage *usage;
	int argc, next;
	char **argv;
	bool *seen; /* by option */
	struct arena *arena;
	struct err *err;
};

/* Whether the argument at `i` and the `--` behind it begin the words of a command. */
static bool begins_words(const struct parser *p, int i)
{
	if (i + 1 >= p->argc || strncmp(p->argv[i], "--", 2) || strcmp(p->argv[i + 1], "--"))
		return false;
	for (size_t k = 0; k < p->usage->n_options; k++)
		if (p->usage->options[k].kind == OPT_COMMAND && !strcmp(p->argv[i] + 2, p->usage->options[k].name))
			return true;
	return false;
}

static int take_words(struct parser *p, const struct opt *o, const char *shown)
{
	int end = ++p->next; /* behind the `--` */
	while (end < p->argc && !begins_words(p, end))
		end++;
	size_t n = (size_t)(end - p->next);
	if (!n)
		return err_set(p->err, "%s --: a command is to follow", shown);
	const char **words = ARENA_NEW(p->arena, n + 1, const char *);
	for (size_t i = 0; i < n; i++)
		words[i] = p->argv[p->next++];
	o->command->words = words;
	return 0;
}

/* `rest` is what follows the name within its argument, NULL if nothing does. */
static int take(struct parser *p, size_t option, const char *shown, const char *rest)
{
	const struct opt *o = &p->usage->options[option];
	if (o->kind == OPT_FLAG)
		return rest ? err_set(p->err, "%s takes no value", shown) : store(o, shown, "", p->arena, p->err);
	if (p->seen[option] && o->kind != OPT_LIST)
		return err_set(p->err, "%s is given twice", shown);
	p->seen[option] = true;
	if (!rest && o->kind == OPT_COMMAND && p->next < p->argc && !strcmp(p->argv[p->next], "--"))
		return take_words(p, o, shown);
	if (!rest) {
		if (p->next == p->argc)
			return err_set(p->err, "%s needs a value: %s %s", shown, shown, o->value);
		rest = p->argv[p->next++];
	}
	return store(o, shown, rest, p->arena, p->err);
}

static bool is_called(const char *known, const char *name, size_t n)
{
	return known && strlen(known) == n && !memcmp(known, name, n);
}

static int parse_long(struct parser *p, const char *argument)
{
	const char *name = argument + 2, *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	for (size_t i = 0; i < p->usage->n_options; i++) {
		const struct opt *o = &p->usage->options[i];
		if (is_called(o->name, name, n) || is_called(o->alias, name, n))
			return take(p, i, arena_format(p->arena, "--%s", o->name), equals ? equals + 1 : NULL);
	}
	if (n == 4 && !memcmp(name, "help", n))
		return equals ? err_set(p->err, "--help takes no value") : 1;
	return unknown_option(p->usage, "--", name, n, p->err);
}

static int parse_letters(struct parser *p, const char *letters)
{
	for (; *letters; letters++) {
		size_t i = 0;
		while (i < p->usage->n_options && p->usage->options[i].letter != *letters)
			i++;
		if (i == p->usage->n_options)
			return *letters == 'h' ? 1 : unknown_option(p->usage, "-", letters, strlen(letters), p->err);
		const char *shown = arena_format(p->arena, "-%c", *letters);
		if (p->usage->options[i].kind != OPT_FLAG)
			return take(p, i, shown, letters[1] ? letters + 1 : NULL);
		if (take(p, i, shown, NULL))
			return -1;
	}
	return 0;
}

void opt_add(struct opt_rows *rows, const struct opt *more, size_t bytes)
{
	memcpy(rows->row + rows->n, more, bytes);
	rows->n += bytes / sizeof *more;
}

int opt_parse(const struct opt_usage *usage, int argc, char **argv, struct arena *arena, struct opt_list *operands,
              struct err *err)
{
	struct parser p = {usage, argc, 1, argv, NULL, arena, err};
	p.seen = ARENA_NEW(arena, usage->n_options, bool);
	*operands = (struct opt_list){ARENA_NEW(arena, (size_t)argc + 1, const char *), 0};
	bool only_operands = false;
	struct err later = {0};
	int result = 0;
	while (p.next < argc) {
		const char *argument = argv[p.next++];
		int rc = 0;
		p.err = result ? &later : err;
		if (!*argument && !only_operands)
			rc = err_set(p.err, "an argument is empty");
		else if (only_operands || argument[0] != '-' || !argument[1])
			operands->item[operands->n++] = argument;
		else if (!strcmp(argument, "--"))
			only_operands = true;
		else if (argument[1] == '-')
			rc = parse_long(&p, argument);
		else
			rc = parse_letters(&p, argument + 1);
		if (rc > 0 && !result)
			return rc;
		result = rc < 0 ? rc : result;
	}
	return result;
}

/* ---- help ---- */

void opt_wrap(struct buf *out, const char *text, size_t indent, size_t columns)
{
	size_t column = indent;
	bool first = true;
	while (*text) {
		size_t n = strcspn(text, " ");
		if (!first && column + 1 + n > columns) {
			buf_format(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			buf_text(out, " ");
			column++;
		}
		buf_add(out, text, n);
		column += n;
		first = false;
		text += n + strspn(text + n, " ");
	}
	buf_text(out, "\n");
}

static void option_row(struct buf *out, char letter, const char *name, const char *value, const char *help)
{
	size_t start = out->n;
	if (letter)
		buf_format(out, "  -%c, --%s", letter, name);
	else
		buf_format(out, "      --%s", name);
	if (value)
		buf_format(out, " %s", value);
	size_t column = out->n - start;
	if (column + 2 > HELP_COLUMN) {
		buf_text(out, "\n");
		column = 0;
	}
	buf_format(out, "%*s", (int)(HELP_COLUMN - column), "");
	opt_wrap(out, help, HELP_COLUMN, OPT_COLUMNS);
}

void opt_usage_lines(const struct opt_usage *usage, struct buf *out)
{
	for (size_t i = 0; usage->arguments[i]; i++)
		buf_format(out, "%s%s %s\n", i ? "       " : "usage: ", usage->name, usage->arguments[i]);
}

void opt_help(const struct opt_usage *usage, struct buf *out)
{
	opt_usage_lines(usage, out);
	buf_text(out, "\n");
	opt_wrap(out, usage->about, 0, OPT_COLUMNS);
	buf_text(out, "\noptions:\n");
	for (size_t i = 0; i < usage->n_options; i++) {
		const struct opt *o = &usage->options[i];
		option_row(out, o->letter, o->name, o->value, o->help);
	}
	option_row(out, 'h', "help", NULL, "show this help");
	buf_text(out, "\nexamples:\n");
	for (size_t i = 0; usage->examples[i]; i++)
		buf_format(out, "  %s\n", usage->examples[i]);
	buf_text(out, "\nexit status:\n");
	for (size_t i = 0; usage->statuses[i]; i++)
		buf_format(out, "  %s\n", usage->statuses[i]);
}
