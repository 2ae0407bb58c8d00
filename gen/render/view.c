#include "render/view.h"

#include "table/table.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "say/say.h"

const char *view_phase(const struct analysis *analysis, uint32_t phase)
{
	return phase ? names_text(analysis->names, phase) : say_word(WORDS_heading, "between");
}

const char *view_key(const struct analysis *a, uint32_t id, struct arena *arena)
{
	if (!id)
		return "0";
	uint64_t hash = 0xcbf29ce484222325;
	for (const char *c = names_text(a->names, id); *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	return arena_format(arena, "%012llx", (unsigned long long)(hash >> 16));
}

bool view_has_phases(const struct analysis *analysis)
{
	for (uint32_t s = 0; s < analysis->n_sides; s++)
		for (uint32_t i = 0; i < analysis->side[s].n_phases; i++)
			if (analysis->side[s].phases[i].name)
				return true;
	return false;
}

static const char *inside(const struct analysis *a)
{
	return a->side[0].phases_by_work ? "before" : "in";
}

const char *view_inside(const struct analysis *a, struct arena *arena)
{
	return arena_format(arena, "%s ", SAY(a->names, arena, in_phase, .where = inside(a)));
}

const char *view_in_phase(const struct analysis *a, uint32_t phase, struct arena *arena)
{
	if (!phase && (a->side[0].phases_by_work || !view_has_phases(a)))
		return "";
	return SAY(a->names, arena, in_phase, .where = phase ? inside(a) : "between", .phase = phase);
}

const char *view_copy_way(uint32_t way)
{
	return say_listed(WORDS_copy_direction, way < COPY_WAYS ? way : COPY_UNKNOWN)->key;
}

const char *view_copy_kind(const struct copy_result *copy)
{
	return view_copy_way(copy->memset ? WAY_MEMSET : copy->kind);
}

WORD_OF(view_call_class, call_class, [CALL_OTHER] = "other", [CALL_LAUNCH] = "launch", [CALL_COPY] = "copy",
        [CALL_SYNC] = "sync", [CALL_ALLOC] = "alloc", [CALL_MODULE] = "module")

WORD_OF(view_source_kind,
        source_kind, [SOURCE_NSYS_SQLITE] = "nsys-sqlite", [SOURCE_GAPLINE] = "gapline", [SOURCE_KINETO] = "kineto")

WORD_OF(view_graph_mode, graph_mode, [GRAPHS_NONE] = "none", [GRAPHS_WHOLE] = "whole", [GRAPHS_BY_NODE] = "by_node")

struct unit view_table_unit(const struct analysis *a)
{
	return format_unit(fmax(a->side[0].headline.step, a->side[1].headline.step));
}

const char *view_gpu(const struct analysis *analysis, const struct device_result *device)
{
	const char *name = device->name ? names_text(analysis->names, device->name) : "";
	return *name ? name : say_word(WORDS_heading, "unknown_gpu");
}

const char *view_gpus(const struct analysis *a, const struct side *s, struct arena *arena)
{
	enum { NAME = 80 };
	return SAY(NULL, arena, gpus_are, .n = s->n_devices,
	           .first = s->n_devices ? format_name(arena, view_gpu(a, &s->devices[0]), NAME)
	                                 : say_word(WORDS_heading, "unknown_gpu"));
}

const char *view_unit(const struct side *side)
{
	return side->steps.found ? "step" : "run";
}

bool view_is_pair(const struct analysis *a)
{
	return a->n_sides < 2 || a->side[0].steps.found == a->side[1].steps.found;
}

const char *view_per(const struct analysis *a)
{
	return say_word(WORDS_each, a->comparison.strangers  ? "repetition"
	                            : view_is_pair(a)        ? view_unit(&a->side[0])
	                            : a->side[0].steps.found ? "step_run"
	                                                     : "run_step");
}

const char *view_caption(const struct analysis *a, const char *what, struct unit unit, struct arena *arena)
{
	return SAY(NULL, arena, caption, .what = what, .unit = unit.name, .per = view_per(a));
}

const char *view_more(uint64_t n, struct arena *arena)
{
	return SAY(NULL, arena, and_more, .n = (int64_t)n);
}

static bool ends_in(const char *word, const char *end)
{
	size_t n = strlen(word), m = strlen(end);
	return n > m && strcmp(word + n - m, end) == 0;
}

/* One of "tokens", "batches", "queries". */
static const char *one_of(const char *items, struct arena *arena)
{
	static const char *const hissing[] = {"ches", "shes", "sses", "xes"};
	size_t less = ends_in(items, "s") && !ends_in(items, "ss");
	for (size_t i = 0; i < sizeof hissing / sizeof *hissing; i++)
		less = ends_in(items, hissing[i]) ? 2 : less;
	if (ends_in(items, "ies"))
		return arena_format(arena, "%.*sy", (int)strlen(items) - 3, items);
	return arena_copy(arena, items, strlen(items) - less);
}

const char *view_item(const struct analysis *a, struct arena *arena)
{
	return a->items_name ? one_of(a->items_name, arena) : NULL;
}

const char *view_each(const struct analysis *a, struct arena *arena)
{
	return a->items_name ? SAY(NULL, arena, per_item, .item = view_item(a, arena)) : view_per(a);
}

double view_time(const struct side *side, double step)
{
	return step / side_items(side);
}

struct unit view_time_unit(const struct analysis *a)
{
	return format_unit(fmax(view_time(&a->side[0], a->side[0].headline.step),
	                        view_time(&a->side[1], a->side[1].headline.step)));
}

enum view_marks view_marks(const struct analysis *a, const struct side *side)
{
	if (side->source.kind == SOURCE_KINETO)
		return VIEW_MARKS_PROFILER;
	for (uint32_t i = 0; i < side->n_kernels; i++)
		if (strstr(names_text(a->names, side->kernels[i].name), "at::"))
			return VIEW_MARKS_TORCH;
	return VIEW_MARKS_NVTX;
}

const char *view_side(const struct side *side, struct arena *arena)
{
	enum { NAME = 60 };
	return side->name ? arena_format(arena, "%s: %s", side->label, format_name(arena, side->name, NAME))
	                  : side->label;
}

void view_evidence(const struct analysis *a, struct buf *to)
{
	BUF_LOCAL(table);
	if (a->tables)
		table_write(a->tables, a->names, &table);
	if (table.n <= TABLE_MOST)
		base64_add(to, (const unsigned char *)table.data, table.n);
}
