#include "render/perfetto_stacks.h"

#include "base/list.h"

/* The slices that are open, the outermost first. */
struct open_stack {
	struct arena *arena;
	struct stack_slice *slice;
	size_t n, room;
	size_t *open, depth, open_room; /* indices of slices */
};

static void close_below(struct open_stack *s, size_t depth, int64_t end)
{
	while (s->depth > depth)
		s->slice[s->open[--s->depth]].end = end;
}

/* How many of the open frames are those of the stack, from its outermost one on. `chain`: innermost first. */
static size_t common(const struct open_stack *s, const uint32_t *chain, size_t n)
{
	size_t depth = 0;
	while (depth < s->depth && depth < n && s->slice[s->open[depth]].frame == chain[n - 1 - depth])
		depth++;
	return depth;
}

struct stack_slice *stack_slices(const struct trace *t, uint32_t thread, int64_t from, int64_t interval,
                                 struct arena *arena, size_t *n)
{
	struct arena scratch = {0};
	struct open_stack s = {.arena = arena};
	uint32_t *chain = NULL;
	size_t room = 0;
	int64_t until = from; /* what the sample before stands for */
	for (uint32_t i = t->first_sample[thread]; i < t->first_sample[thread + 1]; i++) {
		int64_t time = t->samples.time[i];
		size_t length = 0;
		if (time < from)
			continue;
		for (uint32_t f = t->samples.stack[i]; f; f = t->stacks.frames[f].parent) {
			LIST_GROW(&scratch, chain, length, room);
			chain[length++] = f;
		}
		if (until < time)
			close_below(&s, 0, until);
		close_below(&s, common(&s, chain, length), time);
		while (s.depth < length) {
			LIST_GROW(&scratch, s.open, s.depth, s.open_room);
			LIST_GROW(s.arena, s.slice, s.n, s.room);
			s.slice[s.n] = (struct stack_slice){.start = time, .frame = chain[length - 1 - s.depth]};
			s.open[s.depth++] = s.n++;
		}
		until = time + interval;
		if (i + 1 < t->first_sample[thread + 1] && t->samples.time[i + 1] < until + interval / 2)
			until = t->samples.time[i + 1]; /* they come a little late, too */
	}
	close_below(&s, 0, until);
	arena_release(&scratch);
	*n = s.n;
	return s.slice;
}
