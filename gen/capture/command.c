#include "capture/command.h"

#include "base/buf.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- command lines ---- */

struct words {
	const char **item;
	size_t n;
	struct arena *arena;
	struct buf word;
	bool open; /* a word has begun, if only with quotes around nothing */
};

static void end_word(struct words *w)
{
	if (!w->open)
		return;
	LIST_PUT(w->arena, w->item, w->n, arena_copy(w->arena, w->word.data ? w->word.data : "", w->word.n));
	w->word.n = 0;
	w->open = false;
}

static int needs_shell(const char *line, const char *at, struct err *err)
{
	return err_set(err,
	               "the command '%s' needs a shell for its '%c'; name one: sh -c '...', or put the character into "
	               "quotes",
	               line, *at);
}

/* `at` is behind the opening quote; returns the place behind the closing one, NULL with `err`. */
static const char *read_quoted(struct words *w, const char *line, const char *at, char quote, struct err *err)
{
	for (; *at != quote; at++) {
		if (!*at) {
			err_set(err, "the command '%s' has a quote (%c) that does not end", line, quote);
			return NULL;
		}
		if (quote == '"' && (*at == '$' || *at == '`')) {
			needs_shell(line, at, err);
			return NULL;
		}
		if (quote == '"' && *at == '\\' && at[1] && strchr("$`\"\\", at[1]))
			at++;
		buf_add(&w->word, at, 1);
	}
	return at + 1;
}

/* Whether the character means something to a shell where it stands, outside of quotes. */
static bool is_for_shell(const struct words *w, char c)
{
	return strchr("|&;<>()$`*?[", c) || (!w->open && (c == '#' || c == '~'));
}

static int split(struct words *w, const char *line, struct err *err)
{
	for (const char *at = line; *at;) {
		char c = *at;
		if (strchr(" \t\n", c)) {
			end_word(w);
			at++;
		} else if (c == '\'' || c == '"') {
			w->open = true;
			at = read_quoted(w, line, at + 1, c, err);
			if (!at)
				return -1;
		} else if (c == '\\') {
			if (!at[1])
				return err_set(err, "the command '%s' ends with a backslash", line);
			w->open = true;
			buf_add(&w->word, at + 1, 1);
			at += 2;
		} else if (is_for_shell(w, c)) {
			return needs_shell(line, at, err);
		} else {
			w->open = true;
			buf_add(&w->word, at++, 1);
		}
	}
	end_word(w);
	return 0;
}

/* `NAME=value command` is the shell's as well. */
static bool is_assignment(const char *word)
{
	size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
	return n && word[n] == '=' && !strchr("0123456789", *word);
}

int command_split(const char *line, struct arena *arena, const char *const **words, struct err *err)
{
	struct words w = {.arena = arena};
	int rc = split(&w, line, err);
	buf_release(&w.word);
	if (rc)
		return -1;
	if (!w.n || !*w.item[0])
		return err_set(err, "the command is empty");
	if (is_assignment(w.item[0]))
		return err_set(err, "the command '%s' begins with a variable, which a shell would set; write: env %s",
		               line, line);
	LIST_PUT(arena, w.item, w.n, NULL);
	*words = w.item;
	return 0;
}

static bool is_plain(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
	return *word && !word[strspn(word, plain)];
}

const char *command_text(const char *const *words, struct arena *arena)
{
	BUF_LOCAL(line);
	for (size_t i = 0; words[i]; i++) {
		buf_text(&line, i ? " " : "");
		if (is_plain(words[i]))
			buf_text(&line, words[i]);
		else
			buf_quoted(&line, words[i]);
	}
	return arena_copy(arena, line.data ? line.data : "", line.n);
}

/* ---- file names ---- */

/* One % pattern at `at`; returns the place behind it, NULL with `err`. */
static const char *fill(struct buf *name, const char *pattern, const char *at, pid_t pid, struct err *err)
{
	char host[256] = "", variable[256] = "";
	const char *end = at[1] == 'q' && at[2] == '{' ? strchr(at, '}') : NULL;
	if (at[1] == '%') {
		buf_text(name, "%");
		return at + 2;
	}
	if (at[1] == 'h' && !gethostname(host, sizeof host - 1)) {
		buf_text(name, host);
		return at + 2;
	}
	if (at[1] == 'p') {
		buf_format(name, "%ld", (long)pid);
		if (!strchr(at, '/'))
			return at + 2;
		err_set(err, "%s: %%p can stand in the file's name only, not in its folder's", pattern);
		return NULL;
	}
	size_t n = end ? (size_t)(end - at) - 3 : 0;
	if (!n || n >= sizeof variable) {
		err_set(err, "%s: '%.2s' is unknown; there are %%q{VARIABLE}, %%p, %%h and %%%%", pattern, at);
		return NULL;
	}
	memcpy(variable, at + 3, n);
	const char *value = getenv(variable);
	if (!value) {
		err_set(err, "%s: the environment has no variable %s", pattern, variable);
		return NULL;
	}
	buf_text(name, value);
	return end + 1;
}

const char *command_file_name(const char *pattern, pid_t pid, struct arena *arena, struct err *err)
{
	BUF_LOCAL(name);
	const char *at = pattern;
	while (at && *at) {
		if (*at == '%')
			at = fill(&name, pattern, at, pid, err);
		else
			buf_add(&name, at++, 1);
	}
	return at ? arena_copy(arena, name.data ? name.data : "", name.n) : NULL;
}
