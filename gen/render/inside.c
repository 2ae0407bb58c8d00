#include "render/sections.h"

#include "analyse/card.h"
#include "base/format.h"
#include "render/json.h"
#include "render/pictures.h"
#include "render/view.h"
#include "say/say.h"

#include <libxml/tree.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 5 }; /* kernels that are spoken of; the table has all */

static const struct kernel_inside *one_of(const struct kernel_pair *pair)
{
	return pair->side[0].launches ? &pair->side[0] : &pair->side[1];
}

static const char *shape_of(const struct kernel_inside *k, struct arena *arena)
{
	if (!k->shape)
		return "";
	return SAY(NULL, arena, launch_shape, .gx = k->grid[0], .gy = k->grid[1], .gz = k->grid[2], .bx = k->block[0],
	           .by = k->block[1], .bz = k->block[2]);
}

const char *inside_name(const struct analysis *a, const struct kernel_pair *pair, unsigned most, struct arena *arena)
{
	return format_kernel(arena, names_text(a->names, one_of(pair)->name), most);
}

/* "33.1 → 35.2", "–" where it is not known. */
static const char *both(const struct kernels_inside *in, const char *before, const char *after, struct arena *arena)
{
	if (in->given[0] && in->given[1])
		return strcmp(before, after) == 0 ? before : arena_format(arena, "%s \xE2\x86\x92 %s", before, after);
	return in->given[0] ? before : after;
}

static const char *number(const struct kernel_inside *k, enum ncu_number which, struct arena *arena)
{
	return k->launches && !isnan(k->value[which]) ? arena_format(arena, "%.1f", k->value[which]) : "\xE2\x80\x93";
}

static const char *time_of(const struct kernel_inside *k, struct unit unit, struct arena *arena)
{
	return k->launches ? format_number(arena, unit, k->per_step) : "\xE2\x80\x93";
}

static const char *limit_of(const struct kernel_inside *k)
{
	const char *limit = k->launches ? kernel_limit_name(k->limit) : NULL;
	return limit ? say_word(WORDS_kernel_limit, limit) : "\xE2\x80\x93";
}

static const struct facts *stalls_of(const struct kernel_inside *k, struct arena *arena)
{
	struct facts *stalls = ARENA_NEW(arena, 1, struct facts);
	for (uint32_t i = 0; i < k->n_stalls; i++)
		FACT_ADD(stalls, arena, stalled, FACT_NO_SIDE, .stall = say_listed(WORDS_stall, k->stall[i].stall)->key,
		         .share = k->stall[i].share);
	return stalls;
}

static const char *stalls_said(const struct kernel_inside *k, struct arena *arena)
{
	return k->n_stalls ? SAY(NULL, arena, stalls, .stalls = stalls_of(k, arena)) : "\xE2\x80\x93";
}

const char *inside_numbers(const struct kernel_inside *k, struct arena *arena)
{
	return SAY(NULL, arena, kernel_numbers, .sm = number(k, NCU_SM, arena), .memory = number(k, NCU_MEMORY, arena),
	           .dram = number(k, NCU_DRAM, arena), .occupancy = number(k, NCU_OCCUPANCY, arena),
	           .limit = kernel_limit_name(k->limit), .stalls = k->n_stalls ? stalls_of(k, arena) : NULL);
}

/* ---- the page ---- */

static void fill_row(const struct analysis *a, uint32_t i, struct unit unit, struct rows *rows)
{
	static const enum ncu_number columns[] = {NCU_SM, NCU_MEMORY, NCU_DRAM, NCU_OCCUPANCY};
	static const char *const names[] = {"sm", "memory", "dram", "occupancy"};
	struct arena *arena = rows->page->arena;
	const struct kernels_inside *in = &a->inside;
	const struct kernel_inside *b = &in->pair[i].side[0], *f = &in->pair[i].side[1];
	struct scope *row = page_row(rows);
	page_fill(row, "place", arena_format(arena, "%u", i + 1));
	page_fill(row, "name", inside_name(a, &in->pair[i], 90, arena));
	page_fill(row, "shape",
	          both(in, b->launches ? shape_of(b, arena) : "\xE2\x80\x93",
	               f->launches ? shape_of(f, arena) : "\xE2\x80\x93", arena));
	page_fill(row, "time", both(in, time_of(b, unit, arena), time_of(f, unit, arena), arena));
	for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
		page_fill(row, names[c], both(in, number(b, columns[c], arena), number(f, columns[c], arena), arena));
	page_fill(row, "limit", both(in, limit_of(b), limit_of(f), arena));
	page_fill(row, "stalls", both(in, stalls_said(b, arena), stalls_said(f, arena), arena));
}

const char *inside_coverage(const struct analysis *a, struct arena *arena)
{
	const struct kernels_inside *in = &a->inside;
	struct facts covered = {0};
	for (uint32_t s = 0; s < a->n_sides; s++)
		if (in->given[s])
			FACT_ADD(&covered, arena, kernels_covered, a->n_sides > 1 ? (int)s : FACT_NO_SIDE,
			         .share = in->covered[s],
			         .strangers = in->strangers[s] ? in->strangers[s] : FACT_UNKNOWN,
			         .groups = in->groups[s]);
	return SAY(NULL, arena, kernels_measured, .covered = &covered);
}

const char *inside_missing(const struct analysis *a, struct arena *arena)
{
	const struct kernels_inside *in = &a->inside;
	const uint32_t kernel = card_work(a, arena).kernel;
	bool missing = false;
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].n_kernels && in->given[s]; i++)
			missing = missing || a->side[s].kernels[i].name == kernel;
	for (uint32_t i = 0; i < in->n; i++)
		missing = missing && in->pair[i].side[0].name != kernel && in->pair[i].side[1].name != kernel;
	return kernel && missing ? SAY(a->names, arena, kernel_not_measured, .kernel = kernel) : "";
}

static void fill_kernel(const struct analysis *a, uint32_t i, struct rows *rows)
{
	struct arena *arena = rows->page->arena;
	const struct kernel_pair *pair = &a->inside.pair[i];
	const struct kernel_inside *now = pair->side[1].launches ? &pair->side[1] : &pair->side[0];
	struct scope *row = page_row(rows);
	page_fill(row, "title", arena_format(arena, "%u. %s", i + 1, inside_name(a, pair, 100, arena)));
	page_fill(row, "text", pair->text);
	page_fill(row, "advice", pair->advice);
	page_fill_if(row, "rule", now->rule != 0,
	             now->rule ? format_name(arena, names_text(a->names, now->rule), 500) : "");
}

static void fill_commands(const struct analysis *a, struct page *page)
{
	const struct kernels_inside *in = &a->inside;
	page_if(&page->top, "command", in->command[0] || in->command[1]);
	struct rows *rows = page_rows(&page->top, "command.line");
	for (int s = 0; s < 2; s++)
		if (in->command[s])
			page_code(page_row(rows), "text", in->command[s]);
}

void inside_fill(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	const struct kernels_inside *in = &a->inside;
	bool given = in->given[0] || in->given[1];
	page_if(&page->top, "inside", given);
	page_fill(&page->top, "inside.text",
	          given ? arena_format(arena, "%s %s", inside_coverage(a, arena), inside_missing(a, arena)) : "");
	page_if(&page->top, "inside.none", given && !in->n);
	page_if(&page->top, "inside.some", in->n > 0);
	page_fill(&page->top, "inside.caption",
	          SAY(NULL, arena, kernels_caption, .unit = unit.name, .of = view_unit(&a->side[0]), .more = in->more));
	roofline_of_kernels(a, arena, page_draw(&page->top, "inside.roofline"));
	struct rows *rows = page_rows(&page->top, "inside.row"), *words = page_rows(&page->top, "inside.kernel");
	for (uint32_t i = 0; i < in->n; i++) {
		fill_row(a, i, unit, rows);
		if (i < SHOWN && kernel_pair_weighs(&in->pair[i]))
			fill_kernel(a, i, words);
	}
	fill_commands(a, page);
}

/* ---- JSON ---- */

static void write_side(const struct analysis *a, const struct kernel_inside *k, bool absolute, const char *key,
                       struct json *json)
{
	static const struct {
		const char *key;
		enum ncu_number number;
	} members[] = {{"sm_percent", NCU_SM},
	               {"memory_percent", NCU_MEMORY},
	               {"dram_percent", NCU_DRAM},
	               {"l1_percent", NCU_L1},
	               {"l2_percent", NCU_L2},
	               {"occupancy_percent", NCU_OCCUPANCY},
	               {"occupancy_most_percent", NCU_OCCUPANCY_MOST},
	               {"registers", NCU_REGISTERS},
	               {"waves", NCU_WAVES}};
	if (!json_maybe(json, key, k->launches))
		return;
	json_text(json, "name", names_text(a->names, k->name));
	for (int i = json_list(json, "grid"); json_more(json, i < 3); i++)
		json_integer(json, NULL, k->grid[i]);
	for (int i = json_list(json, "block"); json_more(json, i < 3); i++)
		json_integer(json, NULL, k->block[i]);
	json_integer(json, "launches_measured", k->launches);
	json_ms(json, "duration_ms", k->value[NCU_DURATION]);
	json_number(json, "instances_per_step", k->instances);
	json_ms(json, "ms_per_step", k->per_step);
	json_number(json, "share", k->share);
	json_text(json, "bound", say_listed(WORDS_kernel_bound, k->bound)->key);
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		json_number(json, members[i].key, k->value[members[i].number]);
	json_text(json, "occupancy_limit", kernel_limit_name(k->limit));
	for (uint32_t i = json_list(json, "stalls"); json_item(json, i, k->n_stalls); i++) {
		json_text(json, "reason", say_listed(WORDS_stall, k->stall[i].stall)->key);
		json_number(json, "share", k->stall[i].share);
	}
	json_number(json, absolute ? "flop_per_second" : "peak_share_percent", k->rate);
	json_number(json, absolute ? "flop_per_byte" : "intensity_over_ridge", k->intensity);
	json_end_object(json);
}

void inside_json(const struct analysis *a, struct json *json)
{
	const struct kernels_inside *in = &a->inside;
	if (!in->given[0] && !in->given[1] && !in->command[0] && !in->command[1])
		return;
	json_object(json, "kernels_inside");
	for (uint32_t s = 0; json_of_side(json, a, s); s++) {
		json_bool(json, "given", in->given[s]);
		json_integer(json, "kernels", in->groups[s]);
		json_integer(json, "not_in_profile", in->strangers[s]);
		json_number(json, "covered", in->covered[s]);
		json_number(json, "peak", in->roof[s].known ? in->roof[s].peak : NAN);
		json_number(json, "bandwidth", in->roof[s].known ? in->roof[s].bandwidth : NAN);
		json_text(json, "command", in->command[s]);
	}
	json_text(json, "roofline", in->absolute ? "flop" : "share_of_peak");
	for (uint32_t i = json_list(json, "kernels"); json_item(json, i, in->n); i++) {
		for (uint32_t s = 0; s < a->n_sides; s++)
			write_side(a, &in->pair[i].side[s], in->absolute, a->side[s].label, json);
		json_text(json, "text", in->pair[i].text);
		json_text(json, "advice", in->pair[i].advice);
	}
	json_integer(json, "left_out", in->more);
	json_end_object(json);
}
