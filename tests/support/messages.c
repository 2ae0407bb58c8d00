/* messages: docs/reference/messages.md on standard output, from the table of facts and the catalogue. Every fact is
 * said with parameters at their ends: 0, 1, 2, much, each word, the longest name. messages --ids: the ids of the facts
 * that the JSON may hold, one a line. */
#include "fact/fact.h"
#include "say/say.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_ROUNDS = 4, MOST_SHOWN = 400 };

static struct arena arena;
static struct names names;
static char longest[NAME_MAX_BYTES];

static union fact_value number_of(enum fact_kind kind, unsigned round)
{
	static const double time[] = {0, 1, 2e6, 3.6e15}, share[] = {0, 1, 0.02, 0.12345}, number[] = {0, 1, 2, 1e15};
	return (union fact_value){.number = (kind == FACT_KIND_TIME    ? time
	                                     : kind == FACT_KIND_SHARE ? share
	                                                               : number)[round % LEAST_ROUNDS]};
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

static const struct facts *parts_of(unsigned round)
{
	struct facts *parts = ARENA_NEW(&arena, 1, struct facts);
	for (unsigned i = 0; i <= round % 3; i++)
		facts_add(parts, &arena, FACT_NEW(&arena, cycle_step, FACT_NO_SIDE, .time = 1e6 * (i + 1)));
	return parts;
}

static union fact_value value_of(const struct fact_param *p, unsigned round)
{
	static const int64_t count[] = {0, 1, 2, INT64_C(1000000000000000)};
	const char *text = round % LEAST_ROUNDS == 3 ? longest : "some_name";
	switch (p->kind) {
	case FACT_KIND_COUNT:
	case FACT_KIND_RANK:
		return (union fact_value){.count = count[round % LEAST_ROUNDS]};
	case FACT_KIND_FLAG:
		return (union fact_value){.count = round % 2};
	case FACT_KIND_NAME:
		return (union fact_value){.count = names_add_text(&names, text)};
	case FACT_KIND_TEXT:
		return (union fact_value){.text = text};
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		return (union fact_value){.text = key_of(p, round)};
	case FACT_KIND_PART:
		return (union fact_value){.part = parts_of(0)->list[0]};
	case FACT_KIND_PARTS:
		return (union fact_value){.parts = parts_of(round)};
	default:
		return number_of(p->kind, round);
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
		value[i] = value_of(&fact_info[id].param[i], round + (fact_keys(&fact_info[id].param[i]) ? 0 : i));
	const struct fact *fact = fact_new(&arena, (enum fact_id)id, round % 2, value, fact_info[id].n * sizeof *value);
	return say_form(fact, form, &names, &arena);
}

static void put_forms(int id)
{
	static const char *const label[SAY_FORMS] = {"", "Short: ", "Title: ", "What to do: ", ""};
	for (int form = 0; form < SAY_FORMS; form++) {
		const char *before[64];
		unsigned n = 0, rounds = rounds_of(&fact_info[id]);
		if (!say_catalogue[id].form[form])
			continue;
		for (unsigned round = 0; round < rounds && n < 64; round++) {
			const char *text = say(id, round, (enum say_form)form);
			bool again = false;
			for (unsigned i = 0; i < n; i++)
				again = again || strcmp(before[i], text) == 0;
			if (again)
				continue;
			before[n++] = text;
			printf("- %s", label[form]);
			put(text);
		}
	}
}

static void put_fact(int id)
{
	const struct fact_info *info = &fact_info[id];
	printf("\n### `%s`\n\n%s, %s.", info->id, fact_severity_name(info->severity), fact_place_name(info->place));
	for (uint32_t i = 0; i < info->n; i++)
		printf("%s`%s`", i ? ", " : " Parameters: ", info->param[i].name);
	printf("%s", info->n ? "." : "");
	if (*info->docs)
		printf(" More: [%s](../%s).", info->docs, info->docs);
	printf("\n\n");
	put_forms(id);
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
	       "Every message that gapline has, by its id in the JSON. `./dev refresh` writes this page, with numbers "
	       "at "
	       "their ends.\n\n"
	       "Severity: *info* describes, *caveat* limits what a number shows, *doubt* is why there is no answer or "
	       "a "
	       "worse one.\n\n"
	       "Where a message stands: *reason*, beside the verdict in every output; *work*, among the differences "
	       "and "
	       "notes of the comparison; *quality*, beside a side's data; *finding*; *part*, inside another message; "
	       "*output*, the words of one output.\n");
	for (int id = 0; id < FACT_COUNT; id++)
		put_fact(id);
	arena_release(&arena);
	return 0;
}
