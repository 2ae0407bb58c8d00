/* catalogue [--toy] OUTPUT.c FILE.txt …: the catalogue as C.
 *
 * Ends with a message, and the build with it, where a fact of the table has no words, a text asks for a parameter that
 * the fact does not have, no form uses one that it has, or a block is of nothing that the table has. --toy takes no
 * words from the files: every text is ⟦id and its parameters⟧. What stands in the files: gen/say/README.md. */
#include "base/buf.h"
#include "base/err.h"
#include "say/say.h"
#include "say/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const FORM[SAY_FORMS] = {"text", "short", "title", "advice", "means"};

struct book {
	struct buf fact[FACT_COUNT][SAY_FORMS];
	struct buf word[WORDS_COUNT][64];
	const char *file;
	int line;
	int problems;
	/* the block that is being read: a fact, or a list, or none */
	int of_fact, of_list;
	struct buf *to; /* where a line goes on */
};

static void problem(struct book *b, const char *what, const char *text, size_t n)
{
	fprintf(stderr, "%s:%d: %s: %.*s\n", b->file, b->line, what, (int)n, text);
	b->problems++;
}

static void read_head(struct book *b, const char *line, size_t n)
{
	static const char list[] = "[words ";
	b->of_fact = b->of_list = -1;
	b->to = NULL;
	if (line[n - 1] == ']') {
		bool words = strncmp(line, list, sizeof list - 1) == 0;
		const char *id = line + (words ? sizeof list - 1 : 1);
		size_t length = n - (size_t)(id - line) - 1;
		for (int i = 0; i < WORDS_COUNT && words; i++)
			if (strlen(words_info[i].id) == length && memcmp(words_info[i].id, id, length) == 0)
				b->of_list = i;
		for (int i = 0; i < FACT_COUNT && !words; i++)
			if (strlen(fact_info[i].id) == length && memcmp(fact_info[i].id, id, length) == 0)
				b->of_fact = i;
	}
	if (b->of_fact < 0 && b->of_list < 0)
		problem(b, "not in the table (gen/fact/*.def)", line, n);
}

/* "form: text", or "key: word". */
static void read_entry(struct book *b, const char *line, size_t n)
{
	size_t key = strcspn(line, ":");
	int i = -1;
	b->to = NULL;
	if (b->of_fact >= 0)
		for (int f = 0; f < SAY_FORMS; f++)
			i = strlen(FORM[f]) == key && memcmp(FORM[f], line, key) == 0 ? f : i;
	else if (b->of_list >= 0)
		i = fact_key(words_info[b->of_list].keys, line, key);
	if (key >= n || i < 0) {
		problem(b, b->of_list < 0 ? "neither text, short, title, advice nor means" : "not a key of the list",
		        line, key < n ? key : n);
		return;
	}
	b->to = b->of_fact >= 0 ? &b->fact[b->of_fact][i] : &b->word[b->of_list][i];
	if (b->to->n)
		problem(b, "there are words for this already", line, key);
	size_t skip = strspn(line + key + 1, " ");
	buf_add(b->to, line + key + 1 + skip, n - key - 1 - skip);
}

static void read_line(struct book *b, const char *line, size_t n)
{
	size_t indent = strspn(line, " \t");
	if (n == 0 || line[0] == '#')
		b->to = n ? b->to : NULL;
	else if (line[0] == '[')
		read_head(b, line, n);
	else if (indent && b->to && indent < n) {
		buf_text(b->to, " ");
		buf_add(b->to, line + indent, n - indent);
	} else if (b->of_fact < 0 && b->of_list < 0) {
		if (!b->problems)
			problem(b, "outside of a block", line, n);
	} else {
		read_entry(b, line, n);
	}
}

static void read_file(struct book *b, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *file = fopen(path, "r");
	b->file = path;
	b->line = 0;
	b->of_fact = b->of_list = -1;
	if (!file) {
		problem(b, "cannot be read", path, strlen(path));
		return;
	}
	while ((n = getline(&line, &room, file)) >= 0) {
		while (n > 0 && strchr(" \t\r\n", line[n - 1]))
			line[--n] = 0;
		b->line++;
		read_line(b, line, (size_t)n);
	}
	free(line);
	fclose(file);
}

/* ---- what they have to be ---- */

static void check_fact(struct book *b, int id)
{
	const struct fact_info *info = &fact_info[id];
	bool used[FACT_PARAMS] = {false};
	struct arena arena = {0};
	struct err err;
	b->file = info->id;
	b->line = 0;
	if (!b->fact[id][SAY_TEXT].n)
		problem(b, "no words for", info->id, strlen(info->id));
	for (int f = 0; f < SAY_FORMS; f++)
		if (b->fact[id][f].n && !template_parse(b->fact[id][f].data, info, &arena, used, &err))
			problem(b, FORM[f], err.text, strlen(err.text));
	for (uint32_t i = 0; i < info->n && b->fact[id][SAY_TEXT].n; i++)
		if (!used[i])
			problem(b, "a parameter that no form uses", info->param[i].name, strlen(info->param[i].name));
	arena_release(&arena);
}

static void check_list(struct book *b, int id)
{
	const char *key = words_info[id].keys;
	b->file = words_info[id].id;
	b->line = 0;
	for (int i = 0; *key; i++) {
		size_t n = strcspn(key, "|");
		if (!b->word[id][i].n)
			problem(b, "no word for", key, n);
		key += n + (key[n] == '|');
	}
}

/* ---- the toy ---- */

static void make_toy(struct book *b)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		struct buf *text = &b->fact[id][SAY_TEXT];
		buf_format(text, "⟦%s", fact_info[id].id);
		for (uint32_t i = 0; i < fact_info[id].n; i++)
			buf_format(text, "[ %s={%s:raw}]", fact_info[id].param[i].name, fact_info[id].param[i].name);
		buf_text(text, "⟧");
	}
	for (int id = 0; id < WORDS_COUNT; id++) {
		const char *key = words_info[id].keys;
		for (int i = 0; *key; i++) {
			size_t n = strcspn(key, "|");
			buf_format(&b->word[id][i], "⟦%s.%.*s⟧", words_info[id].id, (int)n, key);
			key += n + (key[n] == '|');
		}
	}
}

/* ---- as C ---- */

static void write_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputs("\",\n", out);
}

static void write_book(struct book *b, FILE *out)
{
	fputs("#include \"say/say.h\"\n\nconst struct say_forms say_catalogue[FACT_COUNT] = {\n", out);
	for (int id = 0; id < FACT_COUNT; id++)
		for (int f = 0; f < SAY_FORMS; f++)
			if (b->fact[id][f].n) {
				fprintf(out, "\t[%d].form[%d] = ", id, f);
				write_text(out, b->fact[id][f].data);
			}
	fputs("};\n", out);
	for (int id = 0; id < WORDS_COUNT; id++) {
		fprintf(out, "static const char *const list_%d[] = {\n", id);
		for (int i = 0; b->word[id][i].n; i++) {
			fputc('\t', out);
			write_text(out, b->word[id][i].data);
		}
		fputs("};\n", out);
	}
	fputs("const char *const *const say_lists[WORDS_COUNT] = {\n", out);
	for (int id = 0; id < WORDS_COUNT; id++)
		fprintf(out, "\tlist_%d,\n", id);
	fputs("};\n", out);
}

int main(int argc, char **argv)
{
	static struct book b;
	bool toy = argc > 1 && strcmp(argv[1], "--toy") == 0;
	if (argc < 3 + toy) {
		fputs("usage: catalogue [--toy] OUTPUT.c FILE.txt ...\n", stderr);
		return 2;
	}
	for (int i = 2 + toy; i < argc && !toy; i++)
		read_file(&b, argv[i]);
	if (toy)
		make_toy(&b);
	for (int id = 0; id < FACT_COUNT; id++)
		check_fact(&b, id);
	for (int id = 0; id < WORDS_COUNT; id++)
		check_list(&b, id);
	FILE *out = b.problems ? NULL : fopen(argv[1 + toy], "w");
	if (out)
		write_book(&b, out);
	for (int id = 0; id < FACT_COUNT; id++)
		for (int f = 0; f < SAY_FORMS; f++)
			buf_release(&b.fact[id][f]);
	for (int id = 0; id < WORDS_COUNT; id++)
		for (size_t i = 0; i < sizeof b.word[id] / sizeof *b.word[id]; i++)
			buf_release(&b.word[id][i]);
	return out && fclose(out) == 0 ? 0 : 1;
}
