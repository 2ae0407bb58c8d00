#include "find/bound.h"

#include "base/keymap.h"
#include "base/sort.h"
#include "same/doubts.h"
#include "side/side_facts.h"
#include "side/side_parts.h"
#include "trace/owners.h"

#include <string.h>

/* A list that may be changed; `list` may be NULL where there is none. */
#define COPY(arena, list, n) arena_keep((arena), (list), (n), sizeof *(list))

/* ---- phases ---- */

/* Rows of phases that have none of their own any more become one a cause. `left_out` is by name. */
static void bound_rows(struct budget *b, const bool *left_out, uint32_t other, struct names *names, struct arena *arena)
{
	struct idle_row *of_cause[CAUSE_COUNT] = {0};
	uint32_t kept = 0;
	b->rows = COPY(arena, b->rows, b->n_rows);
	for (uint32_t i = 0; i < b->n_rows; i++) {
		struct idle_row row = b->rows[i];
		if (!left_out[row.phase]) {
			b->rows[kept++] = row;
		} else if (!of_cause[row.cause]) { /* the largest comes first: it names the call */
			row.phase = other;
			of_cause[row.cause] = &b->rows[kept];
			b->rows[kept++] = row;
		} else {
			of_cause[row.cause]->per_step += row.per_step;
			for (int o = 0; o < OPENED_COUNT; o++)
				of_cause[row.cause]->opened[o] += row.opened[o];
		}
	}
	b->n_rows = kept;
	SORT_BY(b->rows, kept, budget_compare_idle, names);
}

static void bound_phases(struct side *side, struct names *names, struct arena *arena)
{
	if (side->n_phases <= BOUND_ROWS)
		return;
	ARENA_LOCAL(scratch);
	struct phase_result rest = {
		.name = names_add_text(names, side->phases_by_work ? "(other work)" : "(other ranges)")};
	bool *left_out = ARENA_NEW(&scratch, names->n, bool);
	uint32_t kept = BOUND_ROWS - 2, all = side->n_phases, between = 0;
	side->phases = COPY(arena, side->phases, all);
	side->devices = COPY(arena, side->devices, side->n_devices);
	for (uint32_t i = 0; i < all; i++)
		between += side->phases[i].name == 0;
	for (uint32_t i = kept; i < all; i++) {
		struct phase_result p = side->phases[i];
		if (p.name == 0) { /* time between phases is none of theirs */
			side->phases[kept++] = p;
			continue;
		}
		left_out[p.name] = true;
		rest.cost += p.cost;
		rest.gpu += p.gpu;
		rest.idle += p.idle;
		rest.host += p.host;
		rest.instances += p.instances;
		rest.cost_share += p.cost_share;
		rest.memory = p.memory > rest.memory ? p.memory : rest.memory;
	}
	side->phases[kept++] = rest;
	side->n_phases = kept;
	for (uint32_t i = 0; i < kept; i++)
		side->phases[i].rank = i + 1;
	bound_rows(&side->budget, left_out, rest.name, names, arena);
	for (uint32_t d = 0; d < side->n_devices; d++)
		bound_rows(&side->devices[d].budget, left_out, rest.name, names, arena);
	QUALITY_FIND(&side->quality, arena, rows_added_up, FACT_NO_SIDE, .all = all - between,
	             .what = side->phases_by_work ? "work_phases" : "phases",
	             .ranges = conditions_ranges(&side->source, &side->source), .listed = kept - 1 - between);
}

/* ---- kernels ---- */

static void bound_kernels(struct side *side, struct names *names, struct arena *arena)
{
	if (side->n_kernels <= BOUND_ROWS)
		return;
	struct kernel_result rest[2] = {
		{.name = names_add_text(names, "(other kernels)")},
		{.name = names_add_text(names, "(other communication kernels)"), .comm = true},
	};
	uint32_t kept = BOUND_ROWS - 2, all = side->n_kernels;
	side->kernels = COPY(arena, side->kernels, all);
	for (uint32_t i = kept; i < all; i++) {
		struct kernel_result *r = &rest[side->kernels[i].comm];
		r->instances += side->kernels[i].instances;
		r->per_step += side->kernels[i].per_step;
	}
	for (int comm = 0; comm < 2; comm++)
		if (rest[comm].instances > 0)
			side->kernels[kept++] = rest[comm];
	side->n_kernels = kept;
	QUALITY_FIND(&side->quality, arena, rows_added_up, FACT_NO_SIDE, .all = all, .what = "kernels",
	             .ranges = "ranges", .listed = BOUND_ROWS - 2);
}

/* ---- operators and modules ---- */

/* The first `all` of a list, the longest first, as far as it may be long; the others are added up as `rest`. */
static uint32_t bound_owners(struct side *side, struct owner_result *list, uint32_t all, const char *what,
                             uint32_t rest, struct arena *arena)
{
	const uint32_t kept = BOUND_ROWS - 1;
	if (all <= BOUND_ROWS)
		return all;
	for (uint32_t i = kept + 1; i < all; i++) {
		list[kept].instances += list[i].instances;
		list[kept].per_step += list[i].per_step;
		list[kept].flops += list[i].flops;
		list[kept].flops_known += list[i].flops_known;
		list[kept].ideal += list[i].ideal;
		list[kept].ideal_known += list[i].ideal_known;
		list[kept].moved += list[i].moved;
		list[kept].moved_known += list[i].moved_known;
		list[kept].copied += list[i].copied;
		list[kept].copied_known += list[i].copied_known;
	}
	list[kept].name = rest;
	list[kept].all_instances = list[kept].instances;
	list[kept].all = list[kept].per_step;
	QUALITY_FIND(&side->quality, arena, rows_added_up, FACT_NO_SIDE, .all = all, .what = what, .ranges = "ranges",
	             .listed = kept);
	return BOUND_ROWS;
}

static void bound_operators(struct side *side, struct names *names, struct arena *arena)
{
	side->operators = COPY(arena, side->operators, side->n_operators);
	side->n_operators = bound_owners(side, side->operators, side->n_operators, "operators",
	                                 names_add_text(names, "(other operators)"), arena);
	double all = 0, known = 0, moved = 0, ideal = 0, of = 0;
	for (uint32_t i = 0; i < side->n_operators; i++) {
		struct owner_result *o = &side->operators[i];
		o->tflops = o->flops_known > 0 ? o->flops / o->flops_known / 1e3 : 0;
		all += o->per_step;
		known += o->flops_known;
		moved += o->moved_known;
		ideal += o->ideal;
		of += o->ideal_known;
	}
	side->flops_share = all > 0 ? known / all : 0;
	side->moved_share = all > 0 ? moved / all : 0;
	side->peak_share = of > 0 ? ideal / of : 0;
	side->mfu = side->budget.period > 0 ? ideal / side->n_devices / side->budget.period : 0;
}

SORT_ORDER_BY(by_all, struct owner_result, names,
              DESCENDING(x->all, y->all) ?: strcmp(names_text(names, x->name), names_text(names, y->name)))

/* Rows that hold others. */
struct nested {
	struct owner_result *list;
	struct keymap names;
};

/* What a row owns, to one that it is in (`own`: to itself). */
static void nested_add(struct nested *to, uint32_t name, const struct owner_result *from, bool own, struct arena *arena)
{
	uint32_t at = KEYMAP_ADD(arena, &to->names, name, to->list);
	struct owner_result *row = &to->list[at];
	row->name = name;
	row->all_instances += from->instances;
	row->all += from->per_step;
	if (own) {
		row->instances += from->instances;
		row->per_step += from->per_step;
	}
}

/* A module has what the modules in it have, and may own nothing itself: "GPT" and "GPT/Block" of "GPT/Block/Linear". */
static void bound_modules(struct side *side, struct names *names, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct nested to = {0};
	double all = 0, known = 0;
	keymap_init(&to.names, &scratch);
	for (uint32_t i = 0; i < side->n_modules; i++) {
		const struct owner_result *own = &side->modules[i];
		const char *path = names_text(names, own->name);
		const size_t whole = strlen(path);
		size_t end = whole;
		all += own->per_step;
		known += own->name ? own->per_step : 0;
		do {
			nested_add(&to, names_add(names, path, end), own, end == whole, arena);
		} while ((end = owners_around(path, end)));
	}
	SORT_BY(to.list, to.names.n, by_all, names);
	side->modules = to.list;
	side->modules_share = all > 0 ? known / all : 0;
	side->n_modules =
		bound_owners(side, to.list, to.names.n, "modules", names_add_text(names, "(other modules)"), arena);
}

/* The function of a line: "train.py Block.forward" of "train.py:42 Block.forward". An edit moves lines, and both sides
 * have the function. 0: it is none, or of no line. */
static uint32_t function_of(struct names *names, uint32_t line, struct arena *scratch)
{
	const char *text = names_text(names, line), *space = strchr(text, ' '), *colon = space;
	while (colon && colon > text && colon[-1] >= '0' && colon[-1] <= '9')
		colon--;
	if (!colon || colon == space || colon == text || colon[-1] != ':')
		return 0;
	return names_add_text(names, arena_format(scratch, "%.*s%s", (int)(colon - 1 - text), text, space));
}

static void bound_lines(struct side *side, struct names *names, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct nested to = {0};
	keymap_init(&to.names, &scratch);
	for (uint32_t i = 0; i < side->n_lines; i++) {
		const struct owner_result *own = &side->lines[i];
		const uint32_t function = own->name ? function_of(names, own->name, &scratch) : 0;
		nested_add(&to, own->name, own, true, arena);
		if (function)
			nested_add(&to, function, own, false, arena);
	}
	SORT_BY(to.list, to.names.n, by_all, names);
	side->lines = to.list;
	side->n_lines = bound_owners(side, to.list, to.names.n, "lines", names_add_text(names, "(other lines)"), arena);
}

/* ---- ranges ---- */

static void bound_ranges(struct side *side, struct names *names, struct arena *arena)
{
	if (side->n_ranges <= BOUND_ROWS)
		return;
	struct range_result rest = {.name = names_add_text(names, "(other ranges)")};
	uint32_t kept = BOUND_ROWS - 1, all = side->n_ranges;
	side->ranges = COPY(arena, side->ranges, all);
	for (uint32_t i = kept; i < all; i++) {
		rest.instances += side->ranges[i].instances;
		rest.host += side->ranges[i].host;
		rest.gpu += side->ranges[i].gpu;
	}
	side->ranges[kept] = rest;
	side->n_ranges = BOUND_ROWS;
	QUALITY_FIND(&side->quality, arena, rows_added_up, FACT_NO_SIDE, .all = all, .what = "ranges",
	             .ranges = conditions_ranges(&side->source, &side->source), .listed = kept);
}

/* ---- the waterfall ---- */

struct waterfall bound_waterfall(const struct waterfall *w, struct arena *arena)
{
	if (w->n <= BOUND_ROWS)
		return *w;
	struct waterfall out = *w;
	out.part = COPY(arena, w->part, BOUND_ROWS);
	struct waterfall_part *last = &out.part[BOUND_ROWS - 1];
	for (uint32_t i = BOUND_ROWS; i < w->n; i++) {
		last->baseline += w->part[i].baseline;
		last->fixed += w->part[i].fixed;
	}
	last->kind = PART_OTHER;
	last->cause = 0;
	last->phase = 0;
	last->delta = last->fixed - last->baseline;
	out.n = BOUND_ROWS;
	return out;
}

struct side bound_side(const struct side *side, struct names *names, struct arena *arena)
{
	struct side out = *side;
	bound_phases(&out, names, arena);
	bound_kernels(&out, names, arena);
	bound_operators(&out, names, arena);
	bound_modules(&out, names, arena);
	bound_lines(&out, names, arena);
	bound_ranges(&out, names, arena);
	return out;
}
