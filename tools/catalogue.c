/* catalogue [--toy] OUTPUT.c FILE.txt …: the catalogue as C.
 *
 * Ends with a message, and the build with it, where a fact of the table has no words, a text asks for a parameter that
 * the fact does not have, no form uses one that it has, or a block is of nothing that the table has. --toy takes no
 * words from the files: every text is ⟦id and its parameters⟧, and of a command ⟦report.--force⟧. What stands in the
 * files: gen/say/README.md. */
#include "base/buf.h"
#include "base/err.h"
#include "say/say.h"
#include "say/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const FORM[SAY_FORMS] = {"text", "short", "title", "advice", "means"};

/* What is said of a command: entries in their order. "status" and "example" may come several times. */
struct help {
	char command[32];
	struct entry {
		char key[32]; /* "does", "--force" */
		struct buf text;
	} entry[64];
	int n;
};

struct book {
	struct buf fact[FACT_COUNT][SAY_FORMS];
	struct buf word[WORDS_COUNT][64];
	struct help help[32];
	int n_helps;
	const char *file;
	int line;
	int problems;
	/* the block that is being read: a fact, or a list, or a command, or none */
	int of_fact, of_list;
	struct help *of_help;
	struct buf *to; /* where a line goes on */
};

static void problem(struct book *b, const char *what, const char *text, size_t n)
{
	fprintf(stderr, "%s:%d: %s: %.*s\n", b->file, b->line, what, (int)n, text);
	b->problems++;
}

static void read_head(struct book *b, const char *line, size_t n)
{
	static const char list[] = "[words ", help[] = "[help ";
	b->of_fact = b->of_list = -1;
	b->of_help = NULL;
	b->to = NULL;
	if (line[n - 1] == ']' && strncmp(line, help, sizeof help - 1) == 0) {
		b->of_help = &b->help[b->n_helps++];
		snprintf(b->of_help->command, sizeof b->of_help->command, "%.*s", (int)(n - sizeof help),
		         line + sizeof help - 1);
		return;
	}
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

static void add_entry(struct book *b, const char *key, size_t length)
{
	struct help *help = b->of_help;
	if (help->n == sizeof help->entry / sizeof *help->entry || length >= sizeof help->entry->key) {
		problem(b, "no room for", key, length);
		return;
	}
	struct entry *e = &help->entry[help->n++];
	snprintf(e->key, sizeof e->key, "%.*s", (int)length, key);
	b->to = &e->text;
}

/* "does: text", "--force: text". */
static void read_help(struct book *b, const char *line, size_t n)
{
	size_t key = strcspn(line, ":");
	b->to = NULL;
	if (key >= n || (strncmp(line, "--", 2) != 0 && fact_key("does|usage|about|example|status", line, key) < 0))
		problem(b, "neither does, usage, about, example, status nor --option", line, n);
	else
		add_entry(b, line, key);
	size_t skip = b->to ? strspn(line + key + 1, " ") : 0;
	if (b->to)
		buf_add(b->to, line + key + 1 + skip, n - key - 1 - skip);
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
		if (b->of_help && strcmp(b->of_help->entry[b->of_help->n - 1].key, "status") == 0)
			add_entry(b, "status", strlen("status")); /* a line stays one */
		buf_text(b->to, b->to->n ? " " : "   ");
		buf_add(b->to, line + indent, n - indent);
	} else if (b->of_help) {
		read_help(b, line, n);
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
	b->of_help = NULL;
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

static const struct entry *find_entry(const struct help *help, const char *key)
{
	for (int i = 0; i < help->n; i++)
		if (strcmp(help->entry[i].key, key) == 0)
			return &help->entry[i];
	return NULL;
}

static void check_help(struct book *b, const struct help *help)
{
	static const char *const needed[] = {"does", "usage", "about", "example"};
	b->file = help->command;
	b->line = 0;
	for (size_t i = 0; i < sizeof needed / sizeof *needed && strcmp(help->command, "*") != 0; i++)
		if (!find_entry(help, needed[i]))
			problem(b, "no words for", needed[i], strlen(needed[i]));
}

/* ---- the toy ---- */

static void make_toy(struct book *b)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		struct buf *text = &b->fact[id][SAY_TEXT];
		for (int f = 0; f < SAY_FORMS; f++)
			buf_release(&b->fact[id][f]);
		buf_format(text, "⟦%s", fact_info[id].id);
		for (uint32_t i = 0; i < fact_info[id].n; i++)
			buf_format(text, "[ %s={%s:raw}]", fact_info[id].param[i].name, fact_info[id].param[i].name);
		buf_text(text, "⟧");
	}
	for (int id = 0; id < WORDS_COUNT; id++) {
		const char *key = words_info[id].keys;
		for (int i = 0; *key; i++) {
			size_t n = strcspn(key, "|");
			buf_release(&b->word[id][i]);
			buf_format(&b->word[id][i], "⟦%s.%.*s⟧", words_info[id].id, (int)n, key);
			key += n + (key[n] == '|');
		}
	}
	for (int h = 0; h < b->n_helps; h++)
		for (int i = 0; i < b->help[h].n; i++) {
			struct entry *e = &b->help[h].entry[i];
			bool is_status = strcmp(e->key, "status") == 0;
			size_t keep = is_status ? strspn(e->text.data, " 0123456789+N") : 0;
			if (strcmp(e->key, "usage") == 0 || strcmp(e->key, "example") == 0)
				continue;
			e->text.n = keep;
			buf_format(&e->text, "⟦%s.%s⟧", b->help[h].command, e->key);
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

/* The words of a command for this key; those for all commands where it has none. */
static void write_entries(const struct book *b, const struct help *help, const char *key, FILE *out)
{
	const struct help *of = help;
	for (int h = 0; h < b->n_helps && !find_entry(of, key); h++)
		of = strcmp(b->help[h].command, "*") == 0 ? &b->help[h] : of;
	fputs("(const char *const[]){", out);
	for (int i = 0; i < of->n; i++)
		if (strcmp(of->entry[i].key, key) == 0)
			write_text(out, of->entry[i].text.data);
	fputs("NULL},\n", out);
}

static void write_help(const struct book *b, const struct help *help, FILE *out)
{
	const struct entry *does = find_entry(help, "does"), *about = find_entry(help, "about");
	bool of_all = strcmp(help->command, "*") == 0, of_program = strcmp(help->command, "gapline") == 0;
	fprintf(out, of_all ? "\t{NULL,\n" : "\t{\"%s%s\",\n", of_program ? "" : "gapline ", help->command);
	write_text(out, does ? does->text.data : "");
	write_text(out, about ? about->text.data : "");
	write_entries(b, help, "usage", out);
	write_entries(b, help, "example", out);
	write_entries(b, help, "status", out);
	fputs("(const struct say_option[]){", out);
	for (int i = 0; i < help->n; i++)
		if (help->entry[i].key[0] == '-') {
			fprintf(out, "{\"%s\", ", help->entry[i].key + 2);
			write_text(out, help->entry[i].text.data);
			fputs("},\n", out);
		}
	fputs("{NULL, NULL}}},\n", out);
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
		fprintf(out, "static const struct say_listed list_%d[] = {\n", id);
		const char *key = words_info[id].keys;
		for (int i = 0; b->word[id][i].n; i++) {
			int n = (int)strcspn(key, "|");
			fprintf(out, "\t{\"%.*s\", ", n, key);
			write_text(out, b->word[id][i].data);
			fputs("\t},\n", out);
			key += n + (key[n] == '|');
		}
		fputs("};\n", out);
	}
	fputs("const struct say_help say_helps[] = {\n", out);
	for (int h = 0; h < b->n_helps; h++)
		write_help(b, &b->help[h], out);
	fputs("};\nconst struct say_listed *const say_lists[WORDS_COUNT] = {\n", out);
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
	for (int i = 2 + toy; i < argc; i++)
		read_file(&b, argv[i]);
	if (toy)
		make_toy(&b);
	for (int id = 0; id < FACT_COUNT; id++)
		check_fact(&b, id);
	for (int id = 0; id < WORDS_COUNT; id++)
		check_list(&b, id);
	for (int h = 0; h < b.n_helps; h++)
		check_help(&b, &b.help[h]);
	FILE *out = b.problems ? NULL : fopen(argv[1 + toy], "w");
	if (out)
		write_book(&b, out);
	for (int id = 0; id < FACT_COUNT; id++)
		for (int f = 0; f < SAY_FORMS; f++)
			buf_release(&b.fact[id][f]);
	for (int id = 0; id < WORDS_COUNT; id++)
		for (size_t i = 0; i < sizeof b.word[id] / sizeof *b.word[id]; i++)
			buf_release(&b.word[id][i]);
	for (int h = 0; h < b.n_helps; h++)
		for (int i = 0; i < b.help[h].n; i++)
			buf_release(&b.help[h].entry[i].text);
	return out && fclose(out) == 0 ? 0 : 1;
}
