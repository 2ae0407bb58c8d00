#include "capture/command_program.h"

#include "capture/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	size_t n = strlen(word);
	for (const char *at = list; n && (at = strstr(at, word)); at += n)
		if (at > list && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

const char *command_file(const char *word)
{
	const char *slash = strrchr(word, '/');
	return slash && slash[1] ? slash + 1 : word;
}

bool command_is_option(const char *word)
{
	return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
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
			else if (!redirects && !skip && !piped && strcmp(word, "cd") != 0) {
				c->word = arena_grow(arena, c->word, c->n, c->n + 1, sizeof *c->word);
				c->word[c->n++] = word;
			}
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
		else if (!command_is_option(word))
			return k;
	}
	return SIZE_MAX;
}

static size_t in_wrapper(struct command_program *c, size_t i, const struct wrapper *w)
{
	unsigned words = w->words;
	for (size_t k = i + 1; k < c->n; k++) {
		const char *word = c->word[k];
		if (command_is_option(word)) {
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
		bool value = command_is_option(before) && !strchr(before, '=');
		bool of_file = value && (strstr(before, "file") || strstr(before, "dir") || strstr(before, "path"));
		if (command_is_option(word) || is_number(word) || strchr(word, '=') || of_file ||
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

struct command_program command_program(const char *const *words, struct arena *arena)
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
