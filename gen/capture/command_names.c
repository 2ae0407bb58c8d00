#include "capture/command_names.h"

#include "base/buf.h"
#include "base/format.h"
#include "capture/command_program.h"
#include "read/scrub_command.h"
#include "read/scrub_token.h"

#include <string.h>

enum {
	MOST_WORDS = 400, /* longer command lines are not compared */
	WORD = 32,        /* characters of a word that differs */
	DIFFERENCES = 48, /* of all of them */
};

struct named {
	struct command_program command;
	bool *differs; /* a word a member */
};

/* ---- what differs ---- */

/* The longest sequence of words that both have, from the back: length[i][k] of those from i and from k on. An option is
 * longer than a value: what differs of `--a 1 --b 2` and `--a 2 --b 1` are values. */
static void compare_words(struct named side[2], struct arena *arena)
{
	size_t n = side[0].command.n, m = side[1].command.n;
	const char **a = side[0].command.word, **b = side[1].command.word;
	for (int s = 0; s < 2; s++)
		side[s].differs = ARENA_NEW(arena, side[s].command.n, bool);
	if (n > MOST_WORDS || m > MOST_WORDS)
		return;
	unsigned *length = ARENA_NEW(arena, (n + 1) * (m + 1), unsigned);
	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			unsigned *here = &length[i * (m + 1) + k], down = here[m + 1], right = here[1];
			*here = !strcmp(a[i], b[k]) ? here[m + 2] + (command_is_option(a[i]) ? 3 : 2)
			        : down > right      ? down
			                            : right;
		}
	size_t i = 0, k = 0;
	while (i < n || k < m) {
		const unsigned *here = &length[i * (m + 1) + k];
		if (i < n && k < m && !strcmp(a[i], b[k])) {
			i++;
			k++;
		} else if (k == m || (i < n && here[m + 1] >= here[1])) {
			side[0].differs[i++] = true;
		} else {
			side[1].differs[k++] = true;
		}
	}
}

/* ---- folders ---- */

/* The last part of the path `a` that `b` does not have at this distance from the end, and the file behind it. NULL:
 * there is none. */
static const char *folder_that_differs(const char *a, const char *b, struct arena *arena)
{
	const char *end = a + strlen(a), *other = b + strlen(b), *file = command_file(a);
	for (bool between = false;; between = end < file - 1) {
		const char *x = end, *y = other;
		while (x > a && x[-1] != '/')
			x--;
		while (y > b && y[-1] != '/')
			y--;
		size_t n = (size_t)(end - x), m = (size_t)(other - y);
		bool same = n == m && !memcmp(x, y, n);
		if (!same && n && x < file && strncmp(x, "..", n) != 0)
			return arena_format(arena, "%s/%s%s", arena_copy(arena, x, n),
			                    between && x + n + 1 < file ? "\xE2\x80\xA6/" : "", file);
		if (!same || x == a)
			return NULL;
		end = x - 1;
		other = y > b ? y - 1 : y;
	}
}

static const char *path_of(const struct command_program *c, struct arena *arena)
{
	const char *word = c->word[c->program];
	return c->folder && *word != '/'
	               ? arena_format(arena, "%s/%s", c->folder, strncmp(word, "./", 2) ? word : word + 2)
	       : strncmp(word, "./", 2) ? word
	                                : word + 2;
}

/* ---- words as they are shown ---- */

/* A value: of a path its last part, with a folder where another word that differs ends in the same. NULL: not shown. */
static const char *value_shown(const char *value, const struct named *other, struct arena *arena)
{
	size_t n = strlen(value);
	if (strstr(value, "://") || n > 4096)
		return NULL;
	for (size_t at = 0; at < n; at++)
		if (scrub_token(value, n, at))
			return NULL;
	const char *file = command_file(value);
	for (size_t i = 0; file != value && i < other->command.n; i++) {
		const char *word = other->command.word[i], *equal = strchr(word, '=');
		const char *its = command_is_option(word) && equal ? equal + 1 : word;
		const char *folder = other->differs[i] && !strcmp(command_file(its), file)
		                             ? folder_that_differs(value, its, arena)
		                             : NULL;
		if (folder)
			return folder;
	}
	return file;
}

/* `--name`, `--name=value`, `NAME=value` or a value. NULL: not shown. */
static const char *word_shown(const struct named *side, size_t i, const struct named *other, struct arena *arena)
{
	const char *word = side->command.word[i], *before = i ? side->command.word[i - 1] : "";
	const char *equal = strchr(word, '=');
	if (equal && equal > word && !strchr(arena_copy(arena, word, (size_t)(equal - word)), '/')) {
		const char *name = arena_copy(arena, word, (size_t)(equal - word));
		const char *value =
			scrub_command_may_show(name, equal + 1) ? value_shown(equal + 1, other, arena) : NULL;
		return value ? arena_format(arena, "%s=%s", name, value) : name;
	}
	if (command_is_option(word))
		return scrub_command_has_value(word) ? arena_copy(arena, word, 2) : word;
	/* -c CODE of an interpreter is no name */
	if (!strcmp(before, "-c") ||
	    (command_is_option(before) && !strchr(before, '=') && !scrub_command_may_show(before, word)))
		return NULL;
	return value_shown(word, other, arena);
}

/* Adds a word to a line, within what may be shown of all of them; false: it had no room. */
static bool add(struct buf *line, const char *word, size_t most, struct arena *arena)
{
	const char *shown = format_name(arena, word, WORD);
	if (line->n + strlen(shown) + 1 > most)
		return false;
	buf_text(line, line->n ? " " : "");
	buf_text(line, shown);
	return true;
}

/* Launchers and variables stand before the program's name, options and values behind it. */
static const char *with_differences(const struct named *side, const struct named *other, const char *program,
                                    struct arena *arena)
{
	struct buf before = {0}, behind = {0};
	const struct command_program *c = &side->command;
	bool fits = true;
	for (size_t i = 0; i < c->n && fits; i++) {
		const char *word = c->word[i];
		if (!side->differs[i] || i == c->program)
			continue;
		bool of_option = i && i - 1 != c->program && !command_is_option(word) &&
		                 command_is_option(c->word[i - 1]) && !strchr(c->word[i - 1], '=');
		const char *shown = word_shown(side, i, other, arena);
		bool leads = i < c->program && !command_is_option(word) && !of_option;
		struct buf *line = leads ? &before : &behind;
		size_t most = DIFFERENCES - (leads ? behind.n : before.n);
		if (!shown || !*shown)
			continue;
		if (of_option && !side->differs[i - 1])
			fits = add(line, c->word[i - 1], most, arena);
		fits = fits && add(line, shown, most, arena);
	}
	if (!fits)
		buf_text(&behind, behind.n ? " \xE2\x80\xA6" : "\xE2\x80\xA6");
	const char *front = arena_copy(arena, before.data ? before.data : "", before.n);
	const char *back = arena_copy(arena, behind.data ? behind.data : "", behind.n);
	buf_release(&before);
	buf_release(&behind);
	return arena_format(arena, "%s%s%s%s%s", front, *front ? " " : "", program, *back ? " " : "", back);
}

void command_names(const char *const *const words[2], const char *names[2], struct arena *arena)
{
	struct named side[2];
	for (int s = 0; s < 2; s++) {
		side[s].command = command_program(words[s], arena);
		names[s] = format_name(arena, command_file(side[s].command.word[side[s].command.program]), 80);
	}
	if (strcmp(names[0], names[1]) != 0)
		return;
	compare_words(side, arena);
	const char *path[2], *folder[2], *longer[2];
	for (int s = 0; s < 2; s++)
		path[s] = path_of(&side[s].command, arena);
	for (int s = 0; s < 2; s++) {
		folder[s] = strchr(path[s], '/') ? folder_that_differs(path[s], path[!s], arena) : NULL;
		longer[s] = folder[s] ? format_name(arena, folder[s], 80) : names[s];
	}
	if (strcmp(longer[0], longer[1]) == 0)
		for (int s = 0; s < 2; s++)
			longer[s] = with_differences(&side[s], &side[!s], names[s], arena);
	for (int s = 0; s < 2; s++)
		names[s] = longer[s];
}
