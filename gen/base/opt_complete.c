#include "base/opt_complete.h"

#include "base/opt_manual.h"

#include <string.h>

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
