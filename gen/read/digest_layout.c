#include "read/digest_inside.h"

#include <stdbool.h>
#include <string.h>

/* The numbers of these enums stand in files. */
_Static_assert(OP_KERNEL == 0 && OP_COMM == 1 && OP_GRAPH == 2 && OP_COPY == 3 && OP_MEMSET == 4,
               "docs/reference/digest.md");
_Static_assert(OPF_PAGEABLE == 1 && OPF_GRAPH_NODE == 2 && OPF_MANAGED == 4, "docs/reference/digest.md");
_Static_assert(MEMORY_NOT_SEEN == 0 && MEMORY_SEEN == 1 && MEMORY_EARLIER == 2, "docs/reference/digest.md");
_Static_assert(MEMORY_NO_END == 6, "docs/reference/digest.md");
_Static_assert(MEMORY_NO_PLACE == 3 && MEMORY_DAMAGED == 4 && MEMORY_NO_START == 5, "docs/reference/digest.md");
_Static_assert(RANGE_PUSH_POP == 0 && RANGE_START_END == 1, "docs/reference/digest.md");
_Static_assert(OVERHEAD_PROFILER == 0 && OVERHEAD_MODULE_LOAD == 1, "docs/reference/digest.md");

void layout_guess_begin(struct layout_guess *g, const struct trace *t, enum columns_of rows, enum column_how how,
                        const uint32_t *number, int64_t *last)
{
	const bool named = layout_named(rows);
	const struct column *group = COLUMNS[rows].column, *times = group + (named ? 2 : 1);
	*g = (struct layout_guess){.how = how,
	                           .group_size = group->size,
	                           .group = columns_get(t, rows, group),
	                           .name = named ? columns_get(t, rows, group + 1) : NULL,
	                           .start = columns_get(t, rows, times + 1),
	                           .end = columns_get(t, rows, times),
	                           .number = number,
	                           .last = last};
}

/* Whether row `i` is of another group than the one before. */
static bool layout_begins_group(const struct layout_guess *g, size_t i)
{
	return !i || layout_get(g->group, g->group_size, i) != layout_get(g->group, g->group_size, i - 1);
}

static uint32_t name_of(const struct layout_guess *g, size_t i)
{
	uint32_t name = ((const uint32_t *)g->name)[i];
	return g->number ? g->number[name] : name;
}

int64_t layout_guess_base(const struct layout_guess *g, size_t i)
{
	if (g->how == KEPT_LENGTH)
		return layout_get(g->start, 8, i);
	if (g->how == KEPT_START)
		return layout_begins_group(g, i) ? 0 : layout_get(g->end, 8, i - 1);
	return 0;
}

int64_t *layout_guess_last(const struct layout_guess *g, size_t i)
{
	if (g->how == KEPT_PLAIN)
		return NULL;
	if (g->how == KEPT_NEXT || !g->name)
		return &g->last[0];
	uint32_t name = name_of(g, i), before = 0;
	if (!layout_begins_group(g, i))
		before = name_of(g, i - 1);
	else if (g->how == KEPT_START)
		before = UINT32_MAX; /* a gap that is none: since the start of the capture */
	return &g->last[layout_place(name, before)];
}
