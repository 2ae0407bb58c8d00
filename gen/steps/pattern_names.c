#include "steps/pattern_loops.h"

#include "steps/op_names.h"

#include <string.h>

/* A kernel's short name, cut where it is very long; it ends within its text. */
static int short_name(const struct trace *t, uint32_t name, const char **text)
{
	enum { LONGEST = 40 };
	*text = names_text(t->names, name);
	size_t length = op_words_short(text);
	return length > LONGEST ? LONGEST : (int)length;
}

static bool is_called(const struct trace *t, uint32_t name, const char *text, int length)
{
	const char *own;
	return short_name(t, name, &own) == length && strncmp(own, text, (size_t)length) == 0;
}

static bool is_copy(const struct trace *t, uint32_t name)
{
	return *names_text(t->names, name) == '[';
}

/* The two kernels that weigh most, the second one where it weighs a quarter of the first; copies where there are no
 * kernels. */
static const char *heaviest(const struct trace *t, const struct run_loop *loop, struct arena *arena)
{
	const char *first = NULL, *text;
	double time = 0;
	int length = 0;
	for (int copies = 0; copies < 2 && !first; copies++)
		for (uint32_t i = 0; i < loop->n_makeup; i++) {
			const struct run_loop_op *op = &loop->makeup[i];
			if (is_copy(t, op->name) != copies || (first && is_called(t, op->name, first, length)))
				continue;
			if (first && op->time < time / 4)
				break;
			int own = short_name(t, op->name, &text);
			if (first)
				return arena_format(arena, "%.*s + %.*s", length, first, own, text);
			time = op->time;
			first = text;
			length = own;
		}
	return first ? arena_format(arena, "%.*s", length, first) : "GPU work";
}

/* Whether other loops are called as `loop` is, and none of them has a kernel of this name. */
static bool is_its_own(const struct trace *t, const struct run_loop *loops, uint32_t n, const struct run_loop *loop,
                       const char *text, int length)
{
	bool others = false;
	for (uint32_t l = 0; l < n; l++) {
		if (&loops[l] == loop || strcmp(loops[l].title, loop->title) != 0)
			continue;
		others = true;
		for (uint32_t i = 0; i < loops[l].n_makeup; i++)
			if (is_called(t, loops[l].makeup[i].name, text, length))
				return false;
	}
	return others;
}

/* The title of a loop, with the heaviest kernel that no other loop of it has, if there is one. */
static const char *told_apart(const struct trace *t, const struct run_loop *loops, uint32_t n,
                              const struct run_loop *loop, struct arena *arena)
{
	const char *text;
	for (int copies = 0; copies < 2; copies++)
		for (uint32_t i = 0; i < loop->n_makeup; i++) {
			int length = short_name(t, loop->makeup[i].name, &text);
			if (is_copy(t, loop->makeup[i].name) == copies && is_its_own(t, loops, n, loop, text, length))
				return arena_format(arena, "%s + %.*s", loop->title, length, text);
		}
	return loop->title;
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
	for (uint32_t l = 0; l < n; l++)
		title[l] = told_apart(t, loops, n, &loops[l], arena);
	take(loops, title, n);
	for (uint32_t l = 0; l < n; l++) {
		uint32_t before = earlier(loops, n, &loops[l]);
		title[l] = before ? arena_format(arena, "%s #%u", loops[l].title, before + 1) : loops[l].title;
	}
	take(loops, title, n);
}

void run_loops_name(struct run_loops *loops, const struct trace *t)
{
	for (uint32_t l = 0; l < loops->n; l++)
		loops->list[l].name = names_add_text(t->names, loops->list[l].title);
}
