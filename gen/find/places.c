/* Where it is what a finding claims: the module, and the line of the program. */
#include "base/keymap.h"
#include "find/rules_parts.h"
#include "trace/owners.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES_LEAST = 20 };         /* fewer of them say nothing */
static const double LEAST = 1 / 3.0; /* of what is claimed: less is not said */
static const double MOST = 0.5;    /* the innermost place that has so much; where none has, the one that has most … */
static const double NEARLY = 0.95; /* … or of what has nearly as much the innermost: what it calls */

/* Modules with those in them, or lines with what they call. */
struct place {
	const char *text; /* so many characters of it */
	size_t n;
	uint32_t depth;
	double time, samples;
};

struct place_list {
	struct arena *arena;
	struct keymap keys; /* by text */
	struct place *list;
};

static void add(struct place_list *to, const char *text, size_t n, uint32_t depth, const struct place_fact *fact)
{
	const uint32_t i = KEYMAP_ADD(to->arena, &to->keys, keymap_text(text, n), to->list);
	struct place *place = &to->list[i];
	if (!place->text)
		*place = (struct place){.text = text, .n = n};
	place->depth = depth > place->depth ? depth : place->depth;
	place->time += fact->per_step;
	place->samples += fact->samples;
}

/* A module's time is that of those, too, that it is in. */
static void add_module(struct place_list *to, const char *path, const struct place_fact *fact)
{
	static const char noted[] = "nn.Module: ";
	path += strncmp(path, noted, sizeof noted - 1) == 0 ? sizeof noted - 1 : 0;
	for (size_t n = strlen(path); n; n = owners_around(path, n))
		add(to, path, n, (uint32_t)n, fact);
}

static bool has_enough(const struct place *place, double least)
{
	return place->time >= least && (place->samples <= 0 || place->samples >= SAMPLES_LEAST);
}

/* Of places with as much time the inner one counts. `half`: of such with half of all. */
static bool is_better(const struct place *x, const struct place *y, bool half)
{
	if (!half && x->depth != y->depth)
		return x->depth > y->depth;
	if (x->time != y->time)
		return (x->time < y->time) == half;
	return x->depth != y->depth ? x->depth > y->depth : strcmp(x->text, y->text) < 0;
}

/* NULL: no place has enough. */
static const struct place *find(const struct place_list *list, double all)
{
	const struct place *best = NULL;
	double most = 0;
	for (uint32_t i = 0; i < list->keys.n; i++)
		if (has_enough(&list->list[i], LEAST * all) && list->list[i].time > most)
			most = list->list[i].time;
	const bool half = most >= MOST * all;
	for (uint32_t i = 0; i < list->keys.n && most > 0; i++)
		if (has_enough(&list->list[i], half ? MOST * all : NEARLY * most) &&
		    (!best || is_better(&list->list[i], best, half)))
			best = &list->list[i];
	return all > 0 ? best : NULL;
}

/* Of idle time what the finding claims; its whole cost counts, so that what is not known is in no place. */
static double collect(const struct evidence *e, enum place_time time, bool lines, struct place_list *to)
{
	const struct place_facts *places = &e->facts->places;
	double all = time == PLACE_IDLE ? e->amount : 0;
	for (uint32_t i = 0; i < places->n; i++) {
		const struct place_fact *fact = &places->list[i];
		if (fact->time != time || (time == PLACE_IDLE && !e->claims[fact->idle]))
			continue;
		const char *name = names_text(e->names, fact->name);
		if (!fact->name)
			all = fact->per_step;
		else if (fact->line && lines)
			add(to, name, strlen(name), fact->depth, fact);
		else if (!fact->line && !lines)
			add_module(to, name, fact);
	}
	return all;
}

static struct place_list list_of(struct arena *arena)
{
	struct place_list list = {.arena = arena};
	keymap_init(&list.keys, arena);
	return list;
}

static double share_of(const struct place *place, double all)
{
	return place->time < all ? place->time / all : 1;
}

void rule_tell_places(const struct evidence *e, struct facts *said)
{
	static const char *const words[] = {[PLACE_IDLE] = "idle",
	                                    [PLACE_KERNELS] = "kernels",
	                                    [PLACE_COPIES] = "copies",
	                                    [PLACE_COMM] = "communication"};
	ARENA_LOCAL(scratch);
	const enum place_time time = e->idle < e->amount / 2 ? e->rule->gpu : PLACE_IDLE;
	struct place_list modules = list_of(&scratch), lines = list_of(&scratch);
	double all = collect(e, time, false, &modules);
	const struct place *module = find(&modules, all);
	if (module)
		FACT_ADD(said, e->arena, in_module, e->side_no, .time = words[time], .share = share_of(module, all),
		         .module = arena_copy(e->arena, module->text, module->n));
	all = collect(e, time, true, &lines);
	const struct place *line = find(&lines, all);
	if (!line)
		return;
	const size_t file = strcspn(line->text, "(");
	const char *function = strstr(line->text + file, "): ");
	if (function)
		FACT_ADD(said, e->arena, at_line, e->side_no, .time = words[time], .share = share_of(line, all),
		         .file = arena_copy(e->arena, line->text, file),
		         .line = strtoll(line->text + file + 1, NULL, 10),
		         .function = arena_copy(e->arena, function + 3, strlen(function + 3)));
}
