#include "base/json_writer.h"
#include "base/opt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void opt_roff(const char *text, struct buf *out)
{
	if (*text == '.' || *text == '\'')
		buf_text(out, "\\&");
	for (; *text; text++)
		switch (*text) {
		case '\\':
			buf_text(out, "\\e");
			break;
		case '-':
			buf_text(out, "\\-");
			break;
		case '\n':
			buf_text(out, " ");
			break;
		default:
			buf_add(out, text, 1);
		}
}

static void line(struct buf *out, const char *request, const char *text)
{
	buf_text(out, request);
	opt_roff(text, out);
	buf_text(out, "\n");
}

/* "gapline report" is the page gapline-report. */
static void title(const struct opt_usage *usage, const char *version, struct buf *out)
{
	buf_text(out, ".TH ");
	for (const char *c = usage->name; *c; c++) {
		char letter = *c == ' ' ? '-' : (char)toupper((unsigned char)*c);
		buf_add(out, &letter, 1);
	}
	buf_format(out, " 1 \"\" \"gapline %s\" \"gapline\"\n", version);
}

static void option(const char *value, char letter, const char *name, const char *help, const char *const *choices,
                   struct buf *out)
{
	buf_text(out, ".TP\n");
	if (letter)
		buf_format(out, "\\fB\\-%c\\fR, ", letter);
	buf_text(out, "\\fB\\-\\-");
	opt_roff(name, out);
	buf_text(out, "\\fR");
	if (value)
		buf_format(out, " \\fI%s\\fR", value);
	buf_text(out, "\n");
	opt_roff(help, out);
	for (size_t i = 0; choices && choices[i]; i++) {
		buf_text(out, i ? ", " : " One of: ");
		opt_roff(choices[i], out);
	}
	buf_text(out, choices ? ".\n" : "\n");
}

/* Lines that stand as they are, one a line. */
static void verbatim(const char *const *lines, struct buf *out)
{
	buf_text(out, ".nf\n");
	for (size_t i = 0; lines[i]; i++)
		line(out, "", lines[i]);
	buf_text(out, ".fi\n");
}

void opt_manual(const struct opt_usage *usage, const char *summary, const char *version, struct buf *out)
{
	title(usage, version, out);
	buf_text(out, ".SH NAME\n");
	for (const char *c = usage->name; *c; c++)
		buf_text(out, *c == ' ' ? "\\-" : (char[]){*c, 0});
	line(out, " \\- ", summary);
	buf_text(out, ".SH SYNOPSIS\n");
	for (size_t i = 0; usage->arguments[i]; i++) {
		buf_format(out, "%s.B %s\n", i ? ".br\n" : "", usage->name);
		line(out, "", usage->arguments[i]);
	}
	buf_text(out, ".SH DESCRIPTION\n");
	line(out, "", usage->about);
	buf_text(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < usage->n_options; i++) {
		const struct opt *o = &usage->options[i];
		option(o->value, o->letter, o->name, o->help, o->kind == OPT_CHOICE ? o->choices : NULL, out);
	}
	option(NULL, 'h', "help", "show the help", NULL, out);
	buf_text(out, ".SH EXAMPLES\n");
	verbatim(usage->examples, out);
	buf_text(out, ".SH EXIT STATUS\n");
	verbatim(usage->statuses, out);
	buf_text(out, ".SH SEE ALSO\n.BR gapline (1)\n");
}

/* ---- as data ---- */

static void json_texts(struct json *json, const char *key, const char *const *texts)
{
	for (size_t i = json_list(json, key); json_more(json, texts[i]); i++)
		json_text(json, NULL, texts[i]);
}

static void json_option(const struct opt *o, struct json *json)
{
	static const char *const kinds[] = {
		[OPT_FLAG] = "flag",   [OPT_TEXT] = "text",       [OPT_OUTPUT] = "output", [OPT_LIST] = "list",
		[OPT_WHOLE] = "whole", [OPT_DECIMAL] = "decimal", [OPT_CHOICE] = "choice", [OPT_COMMAND] = "command"};
	bool number = o->kind == OPT_WHOLE || o->kind == OPT_DECIMAL;
	json_object(json, NULL);
	json_text(json, "name", o->name);
	json_text(json, "letter", o->letter ? (char[]){o->letter, 0} : NULL);
	json_text(json, "kind", kinds[o->kind]);
	json_text(json, "value", o->value);
	json_text(json, "help", o->help);
	if (o->kind == OPT_CHOICE)
		json_texts(json, "choices", o->choices);
	if (number)
		json_number(json, "min", o->min);
	if (number)
		json_number(json, "max", o->max);
	json_end_object(json);
}

/* "0  done", and lines that go on with the one before, which begin with blanks. */
static void json_statuses(const char *const *lines, struct json *json)
{
	struct buf means = {0};
	json_array(json, "statuses");
	for (size_t i = 0; lines[i]; i++) {
		const char *text = strstr(lines[i], "  ");
		text = text ? text : lines[i];
		size_t n = (size_t)(text - lines[i]);
		char word[16];
		snprintf(word, sizeof word, "%.*s", (int)n, lines[i]);
		bool more = lines[i + 1] && lines[i + 1][0] == ' ';
		if (means.n)
			buf_text(&means, " ");
		buf_text(&means, text + strspn(text, " "));
		if (n) {
			json_object(json, NULL);
			json_text(json, "status", word);
		}
		if (more)
			continue;
		json_text(json, "means", means.data);
		json_end_object(json);
		buf_release(&means);
	}
	json_end_array(json);
}

void opt_json(const struct opt_usage *usage, const char *summary, struct json *json)
{
	json_object(json, NULL);
	const char *blank = strrchr(usage->name, ' ');
	json_text(json, "name", blank ? blank + 1 : usage->name);
	json_text(json, "summary", summary);
	json_text(json, "about", usage->about);
	json_texts(json, "usage", usage->arguments);
	for (size_t i = json_list(json, "options"); json_more(json, i < usage->n_options); i++)
		json_option(&usage->options[i], json);
	json_texts(json, "examples", usage->examples);
	json_statuses(usage->statuses, json);
	json_end_object(json);
}

/* Up to the first ". ", "; " or " (", without what the shells' syntax would take for its own. */
static void short_help(const char *help, struct buf *out)
{
	for (const char *c = help; *c; c++) {
		if ((strchr(".;", *c) && (!c[1] || c[1] == ' ')) || !strncmp(c, " (", 2))
			break;
		if (!strchr("[]'\"`$\\", *c))
			buf_add(out, *c == ':' ? "," : c, 1);
	}
}

static void words(const char *const *list, struct buf *out)
{
	for (size_t i = 0; list[i]; i++)
		buf_format(out, "%s%s", i ? " " : "", list[i]);
}

/* ---- bash: a function that looks at the word before, then at the command ---- */

static void bash_command(const struct opt_usage *usage, const char *name, struct buf *out)
{
	buf_format(out, "\t%s)\n\t\tcase $before in\n", name);
	for (size_t i = 0; i < usage->n_options; i++) {
		const struct opt *o = &usage->options[i];
		if (o->kind == OPT_FLAG)
			continue;
		buf_format(out, "\t\t--%s", o->name);
		if (o->letter)
			buf_format(out, " | -%c", o->letter);
		if (o->kind == OPT_CHOICE) {
			buf_text(out, ") COMPREPLY=($(compgen -W '");
			words(o->choices, out);
			buf_text(out, "' -- \"$word\")) && return ;;\n");
		} else {
			buf_text(out, opt_takes_file(o) ? ") return ;;\n"
			                                : ") COMPREPLY=() && compopt +o default && return ;;\n");
		}
	}
	buf_text(out, "\t\tesac\n\t\toptions='--help");
	for (size_t i = 0; i < usage->n_options; i++)
		buf_format(out, " --%s", usage->options[i].name);
	buf_text(out, "'\n\t\t;;\n");
}

static void bash_end(const char *const *names, struct buf *out)
{
	buf_text(out,
	         "\tesac\n\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY=($(compgen -W 'help --help --version ");
	words(names, out);
	buf_text(out, "' -- \"$word\"))\n\telif [ \"${COMP_WORDS[1]}\" = help ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	words(names, out);
	buf_text(out, "' -- \"$word\"))\n\telif [[ $word == -* ]]; then\n"
	              "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n\tfi\n}\n"
	              "complete -o default -F _gapline gapline\n");
}

/* ---- zsh: _arguments of each command ---- */

static void zsh_command(const struct opt_usage *usage, const char *name, struct buf *out)
{
	buf_format(out, "\t%s)\n\t\t_arguments \\\n", name);
	for (size_t i = 0; i < usage->n_options; i++) {
		const struct opt *o = &usage->options[i];
		const char *many = o->kind == OPT_LIST ? "*" : "";
		if (o->letter && !*many)
			buf_format(out, "\t\t\t'(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
		else
			buf_format(out, "\t\t\t'%s--%s[", many, o->name);
		short_help(o->help, out);
		buf_text(out, "]");
		if (o->kind == OPT_CHOICE) {
			buf_format(out, ":%s:(", o->value);
			words(o->choices, out);
			buf_text(out, ")");
		} else if (o->kind != OPT_FLAG) {
			buf_format(out, ":%s:%s", o->value, opt_takes_file(o) ? "_files" : "");
		}
		buf_text(out, "' \\\n");
	}
	buf_text(out, "\t\t\t'(-h --help)'{-h,--help}'[show the help]' '*:file:_files'\n\t\t;;\n");
}

static void zsh_end(const char *const *names, const char *const *summaries, struct buf *out)
{
	buf_text(out, "\thelp) (( CURRENT == 2 )) && _values command");
	for (size_t i = 0; names[i]; i++)
		buf_format(out, " %s", names[i]);
	buf_text(out, " ;;\n\t*)\n\t\tlocal -a commands=(\n");
	for (size_t i = 0; names[i]; i++) {
		buf_format(out, "\t\t\t'%s:", names[i]);
		short_help(summaries[i], out);
		buf_text(out, "'\n");
	}
	buf_text(out, "\t\t)\n\t\t_describe command commands\n\t\t;;\n\tesac\n}\n_gapline \"$@\"\n");
}

/* ---- fish: a line an option ---- */

static void fish_command(const struct opt_usage *usage, const char *name, const char *summary, struct buf *out)
{
	buf_format(out, "complete -c gapline -n __fish_use_subcommand -xa %s -d '", name);
	short_help(summary, out);
	buf_text(out, "'\n");
	for (size_t i = 0; i < usage->n_options; i++) {
		const struct opt *o = &usage->options[i];
		buf_format(out, "complete -c gapline -n '__fish_seen_subcommand_from %s' -l %s", name, o->name);
		if (o->letter)
			buf_format(out, " -s %c", o->letter);
		if (o->kind == OPT_CHOICE) {
			buf_text(out, " -xa '");
			words(o->choices, out);
			buf_text(out, "'");
		} else if (o->kind != OPT_FLAG) {
			buf_text(out, opt_takes_file(o) ? " -r" : " -x");
		}
		buf_text(out, " -d '");
		short_help(o->help, out);
		buf_text(out, "'\n");
	}
}

void opt_complete_begin(enum opt_shell shell, struct buf *out)
{
	static const char *const heads[] = {
		"_gapline() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
		"\tcase ${COMP_WORDS[1]} in\n",
		"#compdef gapline\n_gapline() {\n\tlocal command=$words[2]\n\t(( CURRENT > 2 )) || command=\n"
		"\t(( CURRENT > 2 )) && shift words && (( CURRENT-- ))\n\tcase $command in\n",
		"",
	};
	buf_text(out, heads[shell]);
}

void opt_complete_command(enum opt_shell shell, const struct opt_usage *usage, const char *name, const char *summary,
                          struct buf *out)
{
	if (shell == OPT_BASH)
		bash_command(usage, name, out);
	else if (shell == OPT_ZSH)
		zsh_command(usage, name, out);
	else
		fish_command(usage, name, summary, out);
}

void opt_complete_end(enum opt_shell shell, const char *const *names, const char *const *summaries, struct buf *out)
{
	if (shell == OPT_BASH)
		bash_end(names, out);
	else if (shell == OPT_ZSH)
		zsh_end(names, summaries, out);
}
