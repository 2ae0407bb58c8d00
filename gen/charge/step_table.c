#include "charge/step_table.h"

#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

static uint32_t add_column(struct step_table *c, struct step_column column)
{
	LIST_GROW(c->arena, c->list, c->n, c->room);
	column.ns = ARENA_NEW(c->arena, c->n_pieces, int64_t);
	c->list[c->n] = column;
	return c->n++;
}

static void go_to(struct step_table *c, uint32_t piece)
{
	c->piece = piece;
	c->from = piece ? c->end[piece - 1] : c->start;
	c->until = c->end[piece];
}

/* The piece in which `time` is. */
static uint32_t piece_at(const struct step_table *c, int64_t time)
{
	uint32_t piece = 0;
	SEARCH(piece, c->n_pieces - 1, c->end[piece] <= time);
	return piece;
}

void step_table_begin(struct step_table *c, int64_t start, const int64_t *end, uint32_t n_steps, uint32_t n_phases,
                      struct arena *arena)
{
	*c = (struct step_table){.arena = arena, .steps = 1, .n_steps = n_steps, .n_phases = n_phases, .start = start};
	while ((n_steps + c->steps - 1) / c->steps > STEP_TABLE_BLOCKS)
		c->steps *= 2;
	c->n_blocks = (n_steps + c->steps - 1) / c->steps;
	int64_t *ends = ARENA_NEW(arena, c->n_blocks, int64_t);
	uint32_t *block_of = ARENA_NEW(arena, c->n_blocks, uint32_t);
	for (uint32_t b = 0; b < c->n_blocks; b++) {
		uint32_t last = (b + 1) * c->steps;
		ends[b] = end[(last < n_steps ? last : n_steps) - 1];
		block_of[b] = b;
	}
	c->n_pieces = c->n_blocks;
	c->end = ends;
	c->block_of = block_of;
	go_to(c, 0);
	add_column(c, (struct step_column){.kind = PART_COMPUTE});
	add_column(c, (struct step_column){.kind = PART_COMM});
}

/* ---- the slowest steps, and those about the median ---- */

static int by_time(const void *a, const void *b, void *ns)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return ASCENDING(((const int64_t *)ns)[x], ((const int64_t *)ns)[y]) ?: ASCENDING(x, y);
}

static struct step_group group_of(const struct step_table *c, const int64_t *start, const int64_t *ns,
                                  const uint32_t *step, uint32_t n)
{
	struct step_group g = {
		.n = n, .span = arena_alloc(c->arena, n, sizeof *g.span), .step = ARENA_NEW(c->arena, n, uint32_t)};
	for (uint32_t i = 0; i < n; i++) {
		g.span[i][0] = start[step[i]];
		g.span[i][1] = start[step[i]] + ns[step[i]];
		g.ns += ns[step[i]];
		g.step[i] = step[i];
	}
	return g;
}

/* Divides blocks where a step of a group begins or ends. */
static void divide(struct step_table *c, int64_t *cut, uint32_t n)
{
	int64_t *end = ARENA_NEW(c->arena, c->n_blocks + n, int64_t);
	uint32_t *block_of = ARENA_NEW(c->arena, c->n_blocks + n, uint32_t), at = 0, pieces = 0;
	sort_times(cut, n);
	for (uint32_t b = 0; b < c->n_blocks; b++) {
		int64_t from = b ? c->end[b - 1] : c->start;
		for (; at < n && cut[at] < c->end[b]; at++)
			if (cut[at] > (pieces && end[pieces - 1] > from ? end[pieces - 1] : from)) {
				block_of[pieces] = b;
				end[pieces++] = cut[at];
			}
		block_of[pieces] = b;
		end[pieces++] = c->end[b];
	}
	c->end = end;
	c->block_of = block_of;
	c->n_pieces = pieces;
	for (uint32_t i = 0; i < c->n; i++)
		c->list[i].ns = ARENA_NEW(c->arena, pieces, int64_t);
	go_to(c, 0);
}

void step_table_groups(struct step_table *c, const int64_t *start, const int64_t *ns)
{
	const uint32_t n = c->n_steps, slow = (n + STEP_TABLE_SLOW - 1) / STEP_TABLE_SLOW;
	uint32_t usual = n / 10 < STEP_TABLE_USUAL ? n / 10 : STEP_TABLE_USUAL, cuts = 0;
	if (n < STEP_TABLE_SLOW || slow > STEP_TABLE_GROUP)
		return;
	uint32_t *order = ARENA_NEW(c->arena, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	SORT_BY(order, n, by_time, ns);
	c->group[GROUP_USUAL] = group_of(c, start, ns, order + (n - usual) / 2, usual);
	c->group[GROUP_SLOW] = group_of(c, start, ns, order + n - slow, slow);
	int64_t *cut = ARENA_NEW(c->arena, (size_t)2 * (usual + slow), int64_t);
	for (int g = 0; g < STEP_GROUPS; g++)
		for (uint32_t i = 0; i < c->group[g].n; i++) {
			cut[cuts++] = c->group[g].span[i][0];
			cut[cuts++] = c->group[g].span[i][1];
		}
	divide(c, cut, cuts);
}

void step_table_of_group(const struct step_table *c, const struct step_column *column, int group, int64_t *ns)
{
	const struct step_group *g = &c->group[group];
	for (uint32_t i = 0; i < g->n; i++) {
		ns[i] = 0;
		for (uint32_t p = piece_at(c, g->span[i][0]); p < c->n_pieces && c->end[p] <= g->span[i][1]; p++)
			ns[i] += column->ns[p];
	}
}

/* ---- columns ---- */

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
	if (start < c->from || start >= c->until)
		go_to(c, piece_at(c, start));
	while (end > c->until && c->piece + 1 < c->n_pieces) {
		c->list[column].ns[c->piece] += sign * (c->until - start);
		start = c->until;
		go_to(c, c->piece + 1);
	}
	c->list[column].ns[c->piece] += sign * (end - start);
}

void step_table_rewind(struct step_table *c)
{
	if (c->n)
		go_to(c, 0);
}

void step_table_next(struct step_table *c)
{
	go_to(c, c->piece + 1);
}

void step_table_put(struct step_table *c, uint32_t column, int64_t ns)
{
	if (column < c->n)
		c->list[column].ns[c->piece] += ns;
}

uint32_t step_table_steps(uint32_t n_steps, uint32_t steps, uint32_t block)
{
	uint32_t first = block * steps;
	return n_steps - first < steps ? n_steps - first : steps;
}
