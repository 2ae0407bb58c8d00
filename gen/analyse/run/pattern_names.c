#include "analyse/run/pattern_names.h"

#include "analyse/run/op_words.h"
#include "base/keymap.h"

#include <stdlib.h>
#include <string.h>

struct word {
	const char *text;
	int length;
};

/* A kernel's short name, cut where it is very long. */
static struct word short_word(const struct trace *t, uint32_t name)
{
	enum { LONGEST = 40 };
	const char *text = names_text(t->names, name);
	size_t length = op_words_short(&text);
	return (struct word){text, length > LONGEST ? LONGEST : (int)length};
}

/* FNV-1a. */
static uint64_t word_key(struct word word)
{
	uint64_t hash = 0xcbf29ce484222325;
	for (int i = 0; i < word.length; i++)
		hash = (hash ^ (unsigned char)word.text[i]) * 0x100000001b3;
	return hash;
}

static bool is_copy(const struct trace *t, uint32_t name)
{
	return *names_text(t->names, name) == '[';
}

/* The two kernels that weigh most, the second one where it weighs a quarter of the first; copies where there are no
 * kernels. */
static const char *heaviest(const struct trace *t, const struct run_loop *loop, struct arena *arena)
{
	struct word words[2] = {0};
	uint32_t n = 0;
	double first = 0;
	for (int copies = 0; copies < 2 && !n; copies++)
		for (uint32_t i = 0; i < loop->n_makeup && n < 2; i++) {
			if (is_copy(t, loop->makeup[i].name) != copies)
				continue;
			if (n && loop->makeup[i].time < first / 4)
				break;
			struct word word = short_word(t, loop->makeup[i].name);
			if (n && word_key(words[0]) == word_key(word))
				continue;
			first = n ? first : loop->makeup[i].time;
			words[n++] = word;
		}
	return n == 2   ? arena_format(arena, "%.*s + %.*s", words[0].length, words[0].text, words[1].length,
	                               words[1].text)
	       : n == 1 ? arena_format(arena, "%.*s", words[0].length, words[0].text)
	                : "GPU work";
}

/* The heaviest kernel of `loop` that no other loop of its title has; its text is NULL where there is none. */
static struct word own_word(const struct trace *t, const struct run_loop *loops, uint32_t n,
                            const struct run_loop *loop)
{
	ARENA_LOCAL(scratch);
	struct keymap others;
	struct word own = {0};
	keymap_init(&others, &scratch);
	for (uint32_t l = 0; l < n; l++)
		for (uint32_t i = 0; i < loops[l].n_makeup && &loops[l] != loop; i++)
			if (strcmp(loops[l].title, loop->title) == 0)
				keymap_add(&others, word_key(short_word(t, loops[l].makeup[i].name)));
	for (int copies = 0; copies < 2 && !own.text; copies++)
		for (uint32_t i = 0; i < loop->n_makeup && !own.text; i++) {
			struct word word = short_word(t, loop->makeup[i].name);
			if (is_copy(t, loop->makeup[i].name) == copies &&
			    keymap_find(&others, word_key(word)) == UINT32_MAX)
				own = word;
		}
	return own;
}

/* How many loops of the same title begin before `loop`, or with it and stand before it in the list. */
static uint32_t earlier(const struct run_loop *loops, uint32_t n, const struct run_loop *loop)
{
	uint32_t before = 0;
	for (uint32_t l = 0; l < n; l++)
		if (strcmp(loops[l].title, loop->title) == 0 &&
		    (loops[l].start < loop->start || (loops[l].start == loop->start && &loops[l] < loop)))
			before++;
	return before;
}

static void take(struct run_loop *loops, const char *const *title, uint32_t n)
{
	for (uint32_t l = 0; l < n; l++)
		loops[l].title = title[l];
}

void pattern_names_give(const struct trace *t, struct run_loop *loops, uint32_t n, struct arena *arena)
{
	const char **title = ARENA_NEW(arena, n, const char *);
	for (uint32_t l = 0; l < n; l++)
		loops[l].title = heaviest(t, &loops[l], arena);
	for (uint32_t l = 0; l < n; l++) {
		bool alone = true;
		for (uint32_t k = 0; k < n; k++)
			alone = alone && (k == l || strcmp(loops[k].title, loops[l].title) != 0);
		struct word own = {0};
		if (!alone)
			own = own_word(t, loops, n, &loops[l]);
		title[l] = own.text ? arena_format(arena, "%s + %.*s", loops[l].title, own.length, own.text)
		                    : loops[l].title;
	}
	take(loops, title, n);
	for (uint32_t l = 0; l < n; l++) {
		uint32_t before = earlier(loops, n, &loops[l]);
		title[l] = before ? arena_format(arena, "%s #%u", loops[l].title, before + 1) : loops[l].title;
	}
	take(loops, title, n);
}
