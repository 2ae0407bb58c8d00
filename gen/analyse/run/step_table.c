#include "analyse/run/step_table.h"

#include "base/list.h"
#include "base/search.h"

static uint32_t add_column(struct step_table *c, struct step_column column)
{
	LIST_GROW(c->arena, c->list, c->n, c->room);
	column.ns = ARENA_NEW(c->arena, c->n_blocks, int64_t);
	c->list[c->n] = column;
	return c->n++;
}

static void go_to(struct step_table *c, uint32_t block)
{
	c->block = block;
	c->from = block ? c->end[block - 1] : c->start;
	c->until = c->end[block];
}

void step_table_begin(struct step_table *c, int64_t start, const int64_t *end, uint32_t n_steps, uint32_t n_phases,
                      struct arena *arena)
{
	*c = (struct step_table){.arena = arena, .steps = 1, .n_steps = n_steps, .n_phases = n_phases, .start = start};
	while ((n_steps + c->steps - 1) / c->steps > STEP_TABLE_BLOCKS)
		c->steps *= 2;
	c->n_blocks = (n_steps + c->steps - 1) / c->steps;
	int64_t *ends = ARENA_NEW(arena, c->n_blocks, int64_t);
	for (uint32_t b = 0; b < c->n_blocks; b++) {
		uint32_t last = (b + 1) * c->steps;
		ends[b] = end[(last < n_steps ? last : n_steps) - 1];
	}
	c->end = ends;
	go_to(c, 0);
	add_column(c, (struct step_column){.kind = PART_COMPUTE});
	add_column(c, (struct step_column){.kind = PART_COMM});
}

uint32_t step_table_copy(struct step_table *c, uint32_t way)
{
	if (!c->n)
		return TRACE_NONE;
	if (!c->copy[way])
		c->copy[way] = add_column(c, (struct step_column){.kind = PART_COPY, .way = way}) + 1;
	return c->copy[way] - 1;
}

uint32_t step_table_idle(struct step_table *c, enum cause cause, uint32_t phase)
{
	if (!c->n)
		return TRACE_NONE;
	if (!c->idle[cause])
		c->idle[cause] = ARENA_NEW(c->arena, c->n_phases, uint32_t);
	uint32_t *at = &c->idle[cause][phase];
	if (!*at && c->n < STEP_TABLE_MOST)
		*at = add_column(c, (struct step_column){.kind = PART_IDLE, .cause = cause, .phase = phase}) + 1;
	return *at ? *at - 1 : TRACE_NONE;
}

void step_table_add(struct step_table *c, uint32_t column, int64_t start, int64_t end, int sign)
{
	if (column >= c->n || start >= end)
		return;
	if (start < c->from || start >= c->until) {
		uint32_t block = 0;
		SEARCH(block, c->n_blocks - 1, c->end[block] <= start);
		go_to(c, block);
	}
	while (end > c->until && c->block + 1 < c->n_blocks) {
		c->list[column].ns[c->block] += sign * (c->until - start);
		start = c->until;
		go_to(c, c->block + 1);
	}
	c->list[column].ns[c->block] += sign * (end - start);
}

void step_table_rewind(struct step_table *c)
{
	if (c->n)
		go_to(c, 0);
}

void step_table_next(struct step_table *c)
{
	go_to(c, c->block + 1);
}

void step_table_put(struct step_table *c, uint32_t column, int64_t ns)
{
	if (column < c->n)
		c->list[column].ns[c->block] += ns;
}

uint32_t step_table_steps(uint32_t n_steps, uint32_t steps, uint32_t block)
{
	uint32_t first = block * steps;
	return n_steps - first < steps ? n_steps - first : steps;
}
