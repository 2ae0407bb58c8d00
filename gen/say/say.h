/* Facts become words, in every output: the texts are in the catalogue, the files *.txt beside this one, which somebody
 * who knows no C can rewrite (README.md says how). No other place has a sentence. */
#ifndef GAPLINE_SAY_SAY_H
#define GAPLINE_SAY_SAY_H

#include "fact/fact.h"
#include "trace/names.h"

/* What the catalogue has of a fact. */
enum say_form {
	SAY_TEXT,   /* the sentence, or sentences; every fact has it */
	SAY_SHORT,  /* the same where there is little room */
	SAY_TITLE,  /* a few words above it */
	SAY_ADVICE, /* what to do */
	SAY_MEANS,  /* for docs/reference/messages.md alone: more than the text says */
	SAY_FORMS
};

/* The fact in words: an arena text, as plain as names and texts in it are: every output escapes it. `names`: where the
 * names are that its parameters are ids of; may be NULL if it has none. SAY_SHORT is the text where there is no short
 * form; of other forms that there are not, "". */
const char *say_form(const struct fact *fact, enum say_form form, const struct names *names, struct arena *arena);

/* Whether the fact has every value that its forms need. Facts in it have to be known by themselves. */
bool say_known(const struct fact *fact, const struct names *names);

/* Its text; NULL for NULL. */
const char *say_fact(const struct fact *fact, const struct names *names, struct arena *arena);

/* The text of a fact of no side that is made for it alone. */
#define SAY(names, arena, id, ...) say_fact(FACT_NEW((arena), id, FACT_NO_SIDE, __VA_ARGS__), (names), (arena))

/* The texts of a list, `n` of them. */
const char **say_facts(const struct facts *facts, const struct names *names, struct arena *arena);

/* The word of a list for a key that the list has. Not an arena's. */
const char *say_word(enum words_id list, const char *key);

/* The key and the word for a value of an enumeration in whose order the list has its keys (facts.def names it). */
struct say_listed {
	const char *key, *word;
};
const struct say_listed *say_listed(enum words_id list, unsigned value);

/* What is said of a command (help.txt). Lists end with NULL, options with a row without a name. */
struct say_help {
	const char *name;  /* "gapline report" */
	const char *does;  /* a line */
	const char *about; /* a paragraph */
	const char *const *usage, *const *examples;
	const char *const *statuses; /* "0  done"; a line that begins with blanks goes on with the one before */
	const struct say_option {
		const char *name, *help; /* without the dashes */
	} * options;
};

/* Of "report"; "gapline" is the program itself. Every command has it. */
const struct say_help *say_help(const char *command);

/* Of an option: the command's own words, else those for all commands. */
const char *say_help_option(const struct say_help *command, const char *option);

/* ---- what the catalogue becomes (tools/catalogue.c) ---- */

struct say_forms {
	const char *form[SAY_FORMS]; /* NULL: there is none */
};
extern const struct say_forms say_catalogue[FACT_COUNT];
extern const struct say_listed *const say_lists[WORDS_COUNT]; /* in the order of its keys */
extern const struct say_help say_helps[];                     /* the last, without a name: of all commands */

#endif
