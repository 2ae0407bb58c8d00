/* messages: docs/reference/messages.md on standard output, from the table of facts and the catalogue. Every fact is
 * said with each word of its parameters and usual numbers, and with few of what is counted where that gives other
 * words. messages --ends: with parameters at their ends (0, 1, 2, much, the longest name), for a test. messages --ids:
 * the ids of the facts that the JSON may hold, one a line. */
#include "fact/fact.h"
#include "say/say.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_ROUNDS = 4, MOST_SHOWN = 400 };

static struct arena arena;
static struct names names;
static char longest[NAME_MAX_BYTES];
static enum { USUAL, FEW, ENDS } pass; /* numbers as a reader meets them, with few of what is counted, at their ends */

/* `turn`: which of the values; usual ones grow from one parameter to the next. */
static union fact_value number_of(enum fact_kind kind, unsigned turn)
{
	static const double time[] = {0, 1, 2e6, 3.6e15}, share[] = {0, 1, 0.02, 0.12345}, number[] = {0, 1, 2, 1e15};
	static const double usual_time[] = {4.1e5, 3.2e6, 1.27e7, 5.5e7}, usual_share[] = {0.034, 0.12, 0.31, 0.57},
			    usual_number[] = {1.4, 1.52, 1.61, 1.75};
	return (union fact_value){.number = (kind == FACT_KIND_TIME    ? pass != ENDS ? usual_time : time
	                                     : kind == FACT_KIND_SHARE ? pass != ENDS ? usual_share : share
	                                     : pass != ENDS            ? usual_number
	                                                               : number)[turn % LEAST_ROUNDS]};
}

/* The key of a round: each has its turn. */
static const char *key_of(const struct fact_param *p, unsigned round)
{
	const char *keys = fact_keys(p), *key = keys;
	unsigned n = 1;
	for (const char *c = keys; *c; c++)
		n += *c == '|';
	for (unsigned i = 0; i < round % n; i++)
		key = strchr(key, '|') + 1;
	return arena_copy(&arena, key, strcspn(key, "|"));
}

/* What other messages say in this one stands for itself. */
static const struct facts *parts_of(const char *name, unsigned round)
{
	struct facts *parts = ARENA_NEW(&arena, 1, struct facts);
	for (unsigned i = 0; i <= round % 3; i++)
		facts_add(parts, &arena, FACT_NEW(&arena, files_grouped, FACT_NO_SIDE, .how = name));
	return parts;
}

static union fact_value value_of(const struct fact_param *p, unsigned round, unsigned i)
{
	static const int64_t count[][LEAST_ROUNDS] = {
		[USUAL] = {3, 12, 40, 120}, [FEW] = {1, 0, 2, 3}, [ENDS] = {0, 1, 2, INT64_C(1000000000000000)}};
	unsigned turn = pass == USUAL ? i : round + i;
	const char *name = arena_format(&arena, "\xE2\x80\xB9%s\xE2\x80\xBA", p->name);
	const char *text = pass != ENDS ? name : turn % LEAST_ROUNDS == 3 ? longest : "some_name";
	switch (p->kind) {
	case FACT_KIND_COUNT:
	case FACT_KIND_RANK:
		return (union fact_value){.count = count[pass][turn % LEAST_ROUNDS]};
	case FACT_KIND_FLAG:
		return (union fact_value){.count = (round + i) % 2};
	case FACT_KIND_NAME:
		return (union fact_value){.count = names_add_text(&names, text)};
	case FACT_KIND_TEXT:
		return (union fact_value){.text = text};
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		return (union fact_value){.text = key_of(p, round)};
	case FACT_KIND_PART:
		return (union fact_value){.part = parts_of(name, 0)->list[0]};
	case FACT_KIND_PARTS:
		return (union fact_value){.parts = parts_of(name, round + i)};
	default:
		return number_of(p->kind, turn);
	}
}

/* Enough for each key of each word, with each number. */
static unsigned rounds_of(const struct fact_info *info)
{
	unsigned rounds = LEAST_ROUNDS;
	for (uint32_t i = 0; i < info->n; i++) {
		unsigned n = 1;
		for (const char *c = fact_keys(&info->param[i]); c && *c; c++)
			n += *c == '|';
		rounds = n > rounds ? n : rounds;
	}
	return info->n ? rounds : 2; /* one of each side */
}

/* As a line of Markdown: nothing in it means anything, and a long name is cut. */
static void put(const char *text)
{
	size_t shown = 0;
	for (; *text && shown < MOST_SHOWN; text++, shown++) {
		if (strchr("\\`*_[]<>&#|", *text))
			putchar('\\');
		putchar(*text);
	}
	printf("%s\n", *text ? " […]" : "");
}

static const char *say(int id, unsigned round, enum say_form form)
{
	union fact_value value[FACT_PARAMS];
	for (uint32_t i = 0; i < fact_info[id].n; i++)
		value[i] = value_of(&fact_info[id].param[i], round, fact_keys(&fact_info[id].param[i]) ? 0 : i);
	const struct fact *fact = fact_new(&arena, (enum fact_id)id, round % 2, value, fact_info[id].n * sizeof *value);
	return say_form(fact, form, &names, &arena);
}

/* The text without what the lists of its parameters say in this round: "GPU idle: host code" and nineteen others. */
static const char *without_listed(int id, unsigned round, const char *text)
{
	for (uint32_t i = 0; i < fact_info[id].n; i++) {
		const struct fact_param *p = &fact_info[id].param[i];
		if (p->kind != FACT_KIND_LISTED)
			continue;
		for (int list = 0; list < WORDS_COUNT; list++) {
			if (strcmp(words_info[list].keys, fact_keys(p)) != 0)
				continue;
			const char *word = say_word((enum words_id)list, key_of(p, round)), *at = strstr(text, word);
			if (at)
				text = arena_format(&arena, "%.*s%s", (int)(at - text), text, at + strlen(word));
		}
	}
	return text;
}

/* The words of a text without its numbers, and with one name for both sides: two of them differ only in values. */
static const char *words_of(const char *text)
{
	static const char *const fixed = "he fixed side", *const baseline = "he baseline";
	char *words = ARENA_NEW(&arena, strlen(text) + 1, char), *to = words;
	while (*text) {
		bool side = !strncmp(text, fixed, strlen(fixed));
		const char *from = side ? baseline : text;
		size_t n = side ? strlen(baseline) : 1;
		if (!strchr("0123456789.<+", *from)) {
			memcpy(to, from, n);
			to += n;
		}
		text += side ? strlen(fixed) : 1;
	}
	*to = 0;
	return words;
}

static void put_forms(int id, bool ends)
{
	static const char *const label[SAY_FORMS] = {"", "Short: ", "Title: ", "What to do: ", ""};
	for (int form = 0; form < SAY_FORMS; form++) {
		const char *before[128];
		unsigned n = 0, rounds = rounds_of(&fact_info[id]);
		if (!say_catalogue[id].form[form])
			continue;
		for (unsigned round = 0; round < (ends ? 1 : 2) * rounds && n < 128; round++) {
			pass = ends ? ENDS : round < rounds ? USUAL : FEW;
			const char *text = say(id, round % rounds, (enum say_form)form);
			const char *words = ends ? text : words_of(without_listed(id, round % rounds, text));
			bool again = false;
			for (unsigned i = 0; i < n; i++)
				again = again || strcmp(before[i], words) == 0;
			if (again)
				continue;
			before[n++] = words;
			printf("- %s", label[form]);
			put(text);
		}
	}
}

static void put_fact(int id, bool ends)
{
	const struct fact_info *info = &fact_info[id];
	printf("\n### `%s`\n\n%s, %s.", info->id, fact_severity_name(info->severity), fact_place_name(info->place));
	for (uint32_t i = 0; i < info->n; i++)
		printf("%s`%s`", i ? ", " : " Parameters: ", info->param[i].name);
	printf("%s", info->n ? "." : "");
	if (*info->docs)
		printf(" More: [%s](../%s).", info->docs, info->docs);
	printf("\n\n");
	put_forms(id, ends);
}

int main(int argc, char **argv)
{
	names_init(&names, &arena);
	memset(longest, 'n', sizeof longest - 1);
	if (argc > 1 && strcmp(argv[1], "--ids") == 0) {
		for (int id = 0; id < FACT_COUNT; id++)
			if (fact_info[id].place != FACT_IN_OUTPUT)
				printf("%s\n", fact_info[id].id);
		arena_release(&arena);
		return 0;
	}
	printf("# Messages\n\n"
	       "Every message that gapline has, by its id in the JSON, a line for each of its wordings. `./dev "
	       "refresh` "
	       "writes this page. Numbers are examples; names, and what other messages say in this one, stand in "
	       "\xE2\x80\xB9 \xE2\x80\xBA.\n\n"
	       "Severity: *info* describes, *caveat* limits what a number shows, *doubt* is why there is no answer or "
	       "a "
	       "worse one.\n\n"
	       "Where a message stands: *reason*, beside the verdict in every output; *work*, among the differences "
	       "and "
	       "notes of the comparison; *quality*, beside a side's data; *finding*; *part*, inside another message; "
	       "*output*, the words of one output.\n");
	for (int id = 0; id < FACT_COUNT; id++)
		put_fact(id, argc > 1);
	arena_release(&arena);
	return 0;
}
