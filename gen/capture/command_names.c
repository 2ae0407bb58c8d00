#include "capture/command.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/format.h"
#include "base/list.h"
#include "base/words.h"
#include "read/scrub_parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Which word of a command line is the program that it is about. */

struct command_program {
	const char **word; /* a shell's code in words of its own: what it runs last; in the arena */
	size_t n;
	size_t program;     /* which of them */
	const char *folder; /* where that code goes first (cd), NULL: it does not */
};

/* What runs another program, and which of its options take the next word; `words`: so many words of its own come
 * before the program, as the duration of timeout. */
struct wrapper {
	const char *name;
	const char *options; /* each between spaces */
	unsigned words;
};

static const struct wrapper wrappers[] = {
	{"env", " -u --unset -C --chdir ", 0},
	{"nice", " -n ", 0},
	{"ionice", " -c -n ", 0},
	{"nohup", "", 0},
	{"setsid", "", 0},
	{"time", " -f -o ", 0},
	{"stdbuf", " -i -o -e ", 0},
	{"timeout", " -k -s ", 1},
	{"taskset", "", 1},
	{"numactl", " -N -m -C -i -p ", 0},
	{"sudo", " -u -g ", 0},
	{"exec", "", 0},
	{"xvfb-run", " -s -n ", 0},
};

/* What runs another program with options that nobody can list. */
static const char launchers[] = " mpirun mpiexec orterun prterun srun jsrun aprun torchrun accelerate deepspeed "
				"horovodrun uv poetry pipenv pdm "
				"conda mamba micromamba apptainer singularity julia ruby perl Rscript node java ";

static const char modules_that_launch[] =
	" torch.distributed.run torch.distributed.launch accelerate.commands.launch cProfile ";

static bool is_among(const char *list, const char *word)
{
	return words_have(list, word, strlen(word), strncmp);
}

static const char *command_file(const char *word)
{
	const char *slash = strrchr(word, '/');
	return slash && slash[1] ? slash + 1 : word;
}

static bool is_number(const char *word)
{
	char *end;
	strtod(word, &end);
	return end != word && !*end;
}

static bool is_script(const char *word)
{
	static const char suffixes[] = " .py .sh .jl .R .r .pl .rb .js .mjs .lua .jar .exe ";
	const char *dot = strrchr(command_file(word), '.');
	return dot && dot > command_file(word) && is_among(suffixes, dot);
}

static bool begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

/* ---- a shell's code ---- */

/* What it runs last becomes the words from `at` on: the first command of its last pipeline. Variables that are set
 * before it stay, where output goes does not. */
static void read_code(struct command_program *c, size_t at, const char *code, struct arena *arena)
{
	c->n = at;
	bool of_cd = false, skip = false, piped = false;
	for (const char *p = code; *p;) {
		size_t n = strcspn(p, " \t\n;&|");
		if (n && p[n] == '&' && strchr("<>", p[n - 1]))
			n += strcspn(p + n, " \t\n;|"); /* 2>&1 */
		if (n) {
			const char *word = arena_copy(arena, p, n);
			bool redirects = strpbrk(word, "<>") != NULL;
			if (of_cd)
				c->folder = word;
			else if (!redirects && !skip && !piped && strcmp(word, "cd") != 0)
				LIST_PUT(arena, c->word, c->n, word);
			of_cd = strcmp(word, "cd") == 0;
			skip = strchr("<>", word[n - 1]) != NULL;
			p += n;
			continue;
		}
		bool pipe = *p == '|' && p[1] != '|';
		bool ends = strchr(";&|\n", *p) != NULL;
		p += strspn(p, ends ? ";&|\n \t" : " \t");
		if (!ends)
			continue;
		of_cd = skip = false;
		piped = pipe;
		if (*p && !pipe)
			c->n = at; /* another command follows */
	}
}

/* ---- one word after another ---- */

/* Where the words of a shell go on: its script, or its code. SIZE_MAX: neither. */
static size_t in_shell(struct command_program *c, size_t i, struct arena *arena)
{
	for (size_t k = i + 1; k < c->n; k++) {
		if (c->word[k][0] != '-' && c->word[k][0] != '+')
			return k;
		if (c->word[k][0] == '-' && c->word[k][1] != '-' && strchr(c->word[k], 'c') && k + 1 < c->n) {
			read_code(c, k, c->word[k + 1], arena); /* in the place of -c */
			return c->n > k ? k : SIZE_MAX;
		}
	}
	return SIZE_MAX;
}

static size_t in_python(const struct command_program *c, size_t i, bool *module)
{
	for (size_t k = i + 1; k < c->n; k++) {
		const char *word = c->word[k];
		*module = !strcmp(word, "-m") && k + 1 < c->n;
		if (*module)
			return k + 1;
		if (!strcmp(word, "-c"))
			return SIZE_MAX;
		if (!strcmp(word, "-X") || !strcmp(word, "-W"))
			k++;
		else if (!scrub_command_is_option(word))
			return k;
	}
	return SIZE_MAX;
}

static size_t in_wrapper(struct command_program *c, size_t i, const struct wrapper *w)
{
	unsigned words = w->words;
	for (size_t k = i + 1; k < c->n; k++) {
		const char *word = c->word[k];
		if (scrub_command_is_option(word)) {
			bool folder = !strcmp(w->name, "env") && (!strcmp(word, "-C") || !strcmp(word, "--chdir"));
			k += is_among(w->options, word);
			if (folder && k < c->n)
				c->folder = c->word[k];
		} else if (strchr(word, '=') && !strcmp(w->name, "env")) {
			continue;
		} else if (words) {
			words--;
		} else {
			return k;
		}
	}
	return SIZE_MAX;
}

/* The first script, the first path, else the first word that is no option's value as far as can be seen. */
static size_t in_launcher(const struct command_program *c, size_t i)
{
	static const char own[] = " run launch exec "; /* uv run, accelerate launch */
	size_t last = SIZE_MAX;
	for (size_t k = i + 1; k < c->n; k++) {
		const char *word = c->word[k], *before = c->word[k - 1];
		bool value = scrub_command_is_option(before) && !strchr(before, '=');
		bool of_file = value && (strstr(before, "file") || strstr(before, "dir") || strstr(before, "path"));
		if (scrub_command_is_option(word) || is_number(word) || strchr(word, '=') || of_file ||
		    (k == i + 1 && is_among(own, word)))
			continue;
		if (!strcmp(before, "-m"))
			return k;
		if (is_script(word) || begins(word, "./") || begins(word, "../") || begins(word, "/") || !value ||
		    begins(command_file(word), "python"))
			return k;
		last = k;
	}
	return last;
}

/* Where to go on from word `i`, SIZE_MAX: it is the program. */
static size_t next(struct command_program *c, size_t i, bool *module, struct arena *arena)
{
	static const char shells[] = " sh bash dash zsh ksh ";
	const char *file = command_file(c->word[i]);
	bool was_module = *module;
	*module = false;
	if (was_module ? is_among(modules_that_launch, c->word[i]) : is_among(launchers, file))
		return in_launcher(c, i);
	if (was_module)
		return SIZE_MAX;
	if (is_among(shells, file))
		return in_shell(c, i, arena);
	if ((begins(file, "python") || begins(file, "pypy")) && !strchr(file + 4, '_') && !is_script(file))
		return in_python(c, i, module);
	for (size_t k = 0; k < sizeof wrappers / sizeof *wrappers; k++)
		if (!strcmp(wrappers[k].name, file))
			return in_wrapper(c, i, &wrappers[k]);
	return SIZE_MAX;
}

/* words: ends with NULL, at least one. */
static struct command_program command_program(const char *const *words, struct arena *arena)
{
	struct command_program c = {0};
	while (words[c.n])
		c.n++;
	c.word = ARENA_NEW(arena, c.n, const char *);
	memcpy(c.word, words, c.n * sizeof *c.word);
	bool module = false;
	size_t i = 0;
	/* variables that code sets before its command */
	for (size_t to; (to = next(&c, i, &module, arena)) != SIZE_MAX;) {
		i = to;
		while (!module && i + 1 < c.n && strchr(c.word[i], '=') && !strchr(c.word[i], '/'))
			i++;
	}
	c.program = i;
	return c;
}

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
			*here = !strcmp(a[i], b[k]) ? here[m + 2] + (scrub_command_is_option(a[i]) ? 3 : 2)
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
		const char *its = scrub_command_is_option(word) && equal ? equal + 1 : word;
		const char *folder = other->differs[i] && !strcmp(command_file(its), file)
		                             ? folder_that_differs(value, its, arena)
		                             : NULL;
		if (folder)
			return folder;
	}
	return file;
}

/* Whether the word behind it may be its value. */
static bool is_open_option(const char *word)
{
	return scrub_command_is_option(word) && !strchr(word, '=');
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
	if (scrub_command_is_option(word))
		return scrub_command_has_value(word) ? arena_copy(arena, word, 2) : word;
	/* -c CODE of an interpreter is no name */
	if (!strcmp(before, "-c") || (is_open_option(before) && !scrub_command_may_show(before, word)))
		return NULL;
	return value_shown(word, other, arena);
}

static void join(struct buf *line, const char *text)
{
	buf_text(line, line->n ? " " : "");
	buf_text(line, text);
}

/* Adds a word to a line, within what may be shown of all of them; false: it had no room. */
static bool add(struct buf *line, const char *word, size_t most, struct arena *arena)
{
	const char *shown = format_name(arena, word, WORD);
	if (line->n + strlen(shown) + 1 > most)
		return false;
	join(line, shown);
	return true;
}

/* Launchers and variables stand before the program's name, options and values behind it. */
static const char *with_differences(const struct named *side, const struct named *other, const char *program,
                                    struct arena *arena)
{
	BUF_LOCAL(before);
	BUF_LOCAL(behind);
	const struct command_program *c = &side->command;
	bool fits = true;
	for (size_t i = 0; i < c->n && fits; i++) {
		const char *word = c->word[i];
		if (!side->differs[i] || i == c->program)
			continue;
		bool is_option = scrub_command_is_option(word);
		bool of_option = !is_option && i && i - 1 != c->program && is_open_option(c->word[i - 1]);
		const char *shown = word_shown(side, i, other, arena);
		bool leads = i < c->program && !is_option && !of_option;
		struct buf *line = leads ? &before : &behind;
		size_t most = DIFFERENCES - (leads ? behind.n : before.n);
		if (!shown || !*shown)
			continue;
		if (of_option && !side->differs[i - 1])
			fits = add(line, c->word[i - 1], most, arena);
		fits = fits && add(line, shown, most, arena);
	}
	if (!fits)
		join(&behind, "\xE2\x80\xA6");
	join(&before, program);
	if (behind.n)
		join(&before, behind.data);
	return arena_copy(arena, before.data, before.n);
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
