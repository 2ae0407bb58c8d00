/* What facts say in words, for tests: texts live as long as the test program. */
#ifndef GAPLINE_TESTS_SAID_H
#define GAPLINE_TESTS_SAID_H

#include "say/say.h"

#include <string.h>

static struct arena said_arena;

__attribute__((destructor)) static void said_release(void)
{
	arena_release(&said_arena);
}

/* A fact whose sentence is `text`: the note that reading gives a side's files. */
static inline const struct fact *fact_that_says(struct arena *arena, const char *text)
{
	return FACT_NEW(arena, files_grouped, FACT_NO_SIDE, .how = text);
}

static inline const char *said(const struct fact *fact, const struct names *names)
{
	return say_fact(fact, names, &said_arena);
}

/* The first sentence of a list that has these words in it, or NULL. */
static inline const char *said_in(const struct facts *facts, const struct names *names, const char *words)
{
	for (uint32_t i = 0; i < facts->n; i++) {
		const char *text = said(facts->list[i], names);
		if (strstr(text, words))
			return text;
	}
	return NULL;
}

#endif
