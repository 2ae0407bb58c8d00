#include "steps/fold.h"

#include "base/list.h"
#include "steps/marks.h"
#include "trace/again.h"

#include <ctype.h>
#include <string.h>

enum {
	LEVELS = 16,      /* numbers looked at in one name; what comes after stays as it is */
	MIN_DISTINCT = 3, /* two names that differ in a number are not yet a counter */
	MIN_COUNTED =
		8 /* "step 1" to "step 7" may be parts of a step; more are counted, and begin anew in each epoch */
};

/* One distinct range name on its way to being normalised. */
struct entry {
	char *text; /* so far: folded numbers are already '#' */
	size_t at;  /* numbers before this offset are decided */
	int64_t instances;
	int64_t threads; /* threads that use the name */
};

/* Names that are equal up to their next number. */
struct group {
	int64_t instances, threads, names;
	bool step;    /* the name says that what follows is the number of a step: one is enough */
	bool counted; /* … or of something else that programs count */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Length of `text` without a trailing list ", key = value, …". */
static size_t length_without_list(const char *text)
{
	for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
		const char *c = comma + 1;
		while (*c == ' ')
			c++;
		const char *word = c;
		while (is_word(*c))
			c++;
		if (c > word && strncmp(c, " = ", 3) == 0)
			return (size_t)(comma - text);
	}
	return strlen(text);
}

/* The next number at or after `at`: digits, or 0x and hexadecimal digits. Returns its offset, or -1. */
static ptrdiff_t next_number(const char *text, size_t at, size_t *length)
{
	for (size_t i = at; text[i]; i++) {
		if (!isdigit((unsigned char)text[i]))
			continue;
		size_t j = i + 1;
		if (text[i] == '0' && text[j] == 'x' && isxdigit((unsigned char)text[j + 1]))
			for (j++; isxdigit((unsigned char)text[j]); j++)
				;
		else
			while (isdigit((unsigned char)text[j]))
				j++;
		*length = j - i;
		return (ptrdiff_t)i;
	}
	return -1;
}

void fold_count(const struct names *names, const struct again_ranges *ranges, uint32_t n, uint32_t first_thread,
                struct arena *arena, struct fold_counts *c)
{
	if (!c->of) {
		names_init(&c->texts, arena);
		c->n_names = names->n;
		c->of = ARENA_NEW(arena, c->n_names, uint32_t);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = ranges[i].name, thread = first_thread + ranges[i].thread;
		if (!c->of[name]) {
			const char *text = names_text(names, name);
			size_t length = length_without_list(text);
			c->of[name] = names_add(&c->texts, text, length);
			if (c->of[name] == 0)
				continue; /* the empty name */
			if (c->of[name] > c->n) {
				LIST_ADD(arena, c->list, c->n, c->room,
				         (struct fold_count){.text = arena_copy(arena, text, length),
				                             .thread = TRACE_NONE});
			}
		}
		struct fold_count *e = &c->list[c->of[name] - 1];
		e->instances += ranges[i].n;
		if (e->thread != thread) {
			e->thread = thread;
			e->threads++;
		}
	}
}

/* "ProfilerStep#12", "step 3": a step's number ends the name. */
static bool numbers_steps(const char *text, size_t at, size_t length)
{
	return !text[at + length] && at > 0 && strchr("# :=_-", text[at - 1]) &&
	       marks_name_class(text, "") >= MARK_STEP;
}

static bool is_counter(const struct group *g, size_t steps)
{
	if (g->names < MIN_DISTINCT && !g->step)
		return false;
	if (g->names >= MIN_COUNTED && g->counted)
		return true;
	if (4 * g->instances <= 5 * g->threads) /* about once each on every thread that uses it */
		return true;
	return steps && 4 * g->instances >= 3 * (int64_t)steps && 4 * g->instances <= 5 * (int64_t)steps;
}

/* Decides the next number of every name; returns how many names may have more. */
static size_t fold_level(struct entry *entries, size_t n, size_t steps, struct arena *arena)
{
	struct names prefixes;
	names_init(&prefixes, arena);
	uint32_t *group_of = ARENA_NEW(arena, n, uint32_t);
	struct group *groups = ARENA_NEW(arena, n + 1, struct group);
	size_t length, left = 0;
	for (size_t i = 0; i < n; i++) {
		ptrdiff_t number = next_number(entries[i].text, entries[i].at, &length);
		if (number < 0)
			continue;
		/* the prefix alone would make "" and "no number" the same, so its first byte tells them apart */
		char *prefix = arena_format(arena, "^%.*s", (int)number, entries[i].text);
		uint32_t id = names_add_text(&prefixes, prefix);
		group_of[i] = id;
		groups[id].instances += entries[i].instances;
		groups[id].threads += entries[i].threads;
		groups[id].names++;
		groups[id].counted = groups[id].names > 1 ? groups[id].counted : marks_name_counts(prefix);
		groups[id].step = groups[id].step || numbers_steps(entries[i].text, (size_t)number, length);
	}
	for (size_t i = 0; i < n; i++) {
		struct entry *e = &entries[i];
		if (!group_of[i])
			continue;
		size_t number = (size_t)next_number(e->text, e->at, &length);
		if (!is_counter(&groups[group_of[i]], steps)) {
			e->at = number + length;
		} else {
			bool marked = number > 0 && e->text[number - 1] == '#';
			if (!marked)
				e->text[number++] = '#', length--;
			memmove(e->text + number, e->text + number + length, strlen(e->text + number + length) + 1);
			e->at = number;
		}
		left++;
	}
	return left;
}

void fold_decide(const struct fold_counts *c, struct names *names, size_t steps, struct arena *arena, struct fold *out)
{
	ARENA_LOCAL(scratch);
	struct entry *entries = ARENA_NEW(&scratch, c->n, struct entry);
	out->n = names->n;
	out->of = ARENA_NEW(arena, out->n, uint32_t);
	for (size_t i = 0; i < c->n; i++)
		entries[i] = (struct entry){.text = arena_copy(&scratch, c->list[i].text, strlen(c->list[i].text)),
		                            .instances = c->list[i].instances,
		                            .threads = c->list[i].threads};
	for (int level = 0; level < LEVELS && c->n && fold_level(entries, c->n, steps, &scratch); level++)
		;
	for (uint32_t name = 0; name < c->n_names; name++)
		if (c->of[name])
			out->of[name] = names_add_text(names, entries[c->of[name] - 1].text);
	out->n_list = (uint32_t)c->n;
	out->list = ARENA_NEW(arena, c->n, uint32_t);
	for (size_t i = 0; i < c->n; i++)
		out->list[i] = names_add_text(names, entries[i].text);
}

bool fold_means(const char *normalised, const char *wanted)
{
	size_t n = strlen(wanted);
	const char *rest = strncmp(normalised, wanted, n) == 0 ? normalised + n : NULL;
	return rest && (!*rest || strcmp(rest, "#") == 0 || strcmp(rest, "_#") == 0);
}
