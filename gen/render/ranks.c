#include "render/ranks.h"

#include "analyse/say.h"
#include "render/rank_maps.h"
#include "render/tables.h"
#include "render/view.h"

#include "base/buf.h"
#include "say/say.h"

#include <math.h>

/* Rows of a side's table: as many as are shown before it is opened, unless there are only few more; the most; and bytes
 * of one, of which those that are not shown at first may have half of the room that is left. */
enum { SHOWN_RANKS = 16, FEW_MORE = 4, MOST_RANKS = 1000, RANK_ROW = 480 };

/* ---- the table ---- */

static void fill_rank(const struct analysis *a, int side, const struct rank_result *r, bool rest, struct unit unit,
                      struct rows *rows)
{
	struct arena *arena = rows->page->arena;
	const struct side *s = &a->side[side];
	const struct budget *b = &s->devices[r->device].budget;
	struct scope *row = page_row(rows);
	if (rest)
		page_attribute(row, NULL, "class", "rest");
	page_fill(row, "side", s->label);
	page_fill(row, "rank", say_rank(s, r->device, arena));
	tables_number(row, "own", r->stepless ? "\xE2\x80\x93" : format_number(arena, unit, r->own),
	              r->stepless ? -1 : r->own);
	tables_number(row, "waited_for", format_number(arena, unit, r->waited_for), r->waited_for);
	tables_number(row, "waiting", format_number(arena, unit, r->waiting), r->waiting);
	tables_number(row, "bubble", format_number(arena, unit, r->bubble), r->bubble);
	tables_number(row, "moving", format_number(arena, unit, r->moving), r->moving);
	tables_number(row, "unmatched", format_number(arena, unit, r->unmatched), r->unmatched);
	tables_number(row, "hidden", format_number(arena, unit, r->hidden), r->hidden);
	tables_number(row, "compute", format_number(arena, unit, b->compute), b->compute);
	tables_number(row, "idle", format_number(arena, unit, b->idle), b->idle);
	tables_number(row, "last", s->ranks.collectives > 0 ? format_share(arena, r->last) : "\xE2\x80\x93", r->last);
}

/* Of rows that follow where `folded`, else of rows that the page has no room for. */
static void fill_more_ranks(const struct side *s, uint32_t n, bool folded, struct rows *rows)
{
	struct scope *row = page_row(rows);
	page_attribute(row, NULL, "class", folded ? "more" : "more beyond");
	if (folded)
		page_attribute(row, NULL, "hidden", "hidden");
	page_fill(row, "side", s->label);
	page_fill(row, "rank", view_more(n, rows->page->arena));
}

static void fill_ranks(const struct analysis *a, struct unit unit, struct page *page)
{
	struct rows *rows = page_rows(&page->top, "rank"), *sums = page_rows_among(&page->top, "rank.more", rows);
	uint32_t shown[2], kept[2], most = 0, least = UINT32_MAX;
	size_t fit = page->room / 2 / 2 / RANK_ROW;
	for (int s = 0; s < 2; s++) {
		uint32_t n = a->side[s].ranks.n;
		shown[s] = n > SHOWN_RANKS + FEW_MORE ? SHOWN_RANKS : n;
		kept[s] = n < MOST_RANKS ? n : MOST_RANKS;
		kept[s] = kept[s] - shown[s] > fit ? shown[s] + (uint32_t)fit : kept[s];
		page->room -= (size_t)(kept[s] - shown[s]) * RANK_ROW;
		most = n > most ? n : most;
		if (kept[s] < n)
			least = kept[s] < least ? kept[s] : least;
		for (uint32_t i = 0; i < kept[s]; i++) {
			if (i == shown[s])
				fill_more_ranks(&a->side[s], n - shown[s], true, sums);
			fill_rank(a, s, &a->side[s].ranks.list[i], i >= shown[s], unit, rows);
		}
		if (kept[s] < n)
			fill_more_ranks(&a->side[s], n - kept[s], false, sums);
	}
	page_if(&page->top, "rank.all", shown[0] < kept[0] || shown[1] < kept[1]);
	page_fill(&page->top, "rank.all",
	          SAY(NULL, page->arena, show_all, .things = "ranks", .cut = least < UINT32_MAX, .kept = least,
	              .n = most));
}

/* ---- what they say to each other ---- */

static void fill_comm(const struct analysis *a, const struct side *s, const struct comm_result *c, struct unit unit,
                      struct rows *rows)
{
	static const char none[] = "\xE2\x80\x93";
	struct arena *arena = rows->page->arena;
	struct scope *row = page_row(rows);
	bool matched = c->matched > 0;
	page_fill(row, "side", s->label);
	page_code(row, "name", format_kernel(arena, names_text(a->names, c->name), 60));
	page_fill(row, "communicator", c->communicator ? format_count(arena, c->communicator) : none);
	tables_number(row, "ranks", c->ranks ? format_count(arena, c->ranks) : none, c->ranks);
	tables_number(row, "per_step", format_count(arena, c->per_step), c->per_step);
	tables_number(row, "waiting", matched ? format_number(arena, unit, c->waiting) : none,
	              matched ? c->waiting : -1);
	tables_number(row, "moving", matched ? format_number(arena, unit, c->moving) : none, matched ? c->moving : -1);
	tables_number(row, "exposed", format_number(arena, unit, c->exposed), c->exposed);
	tables_number(row, "hidden", format_number(arena, unit, c->hidden), c->hidden);
	page_fill(row, "last",
	          c->last == TRACE_NONE ? none
	                                : arena_format(arena, "%s, %s", say_rank(s, c->last, arena),
	                                               format_share(arena, c->last_share)));
	tables_number(row, "bytes", c->bytes > 0 ? format_bytes(arena, c->bytes) : none, c->bytes);
	tables_number(row, "bandwidth",
	              c->bus_bandwidth > 0 ? arena_format(arena, "%s/s", format_bytes(arena, c->bus_bandwidth)) : none,
	              c->bus_bandwidth);
}

static void fill_comms(const struct analysis *a, struct unit unit, struct page *page)
{
	bool any = a->side[0].ranks.n_comms || a->side[1].ranks.n_comms;
	page_if(&page->top, "comms", any);
	page_fill(&page->top, "comms.caption",
	          SAY(NULL, page->arena, comm_caption, .unit = unit.name, .of = view_unit(&a->side[0])));
	struct rows *rows = page_rows(&page->top, "comm");
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].ranks.n_comms; i++)
			fill_comm(a, &a->side[s], &a->side[s].ranks.comms[i], unit, rows);
}

/* ---- words ---- */

/* For whom most is waited in sends and receives; NULL: nobody waits. */
static const struct fact *bubble_of(const struct side *s, struct arena *arena)
{
	const struct rank_result *most = &s->ranks.list[0];
	for (uint32_t i = 1; i < s->ranks.n; i++)
		most = s->ranks.list[i].bubble > most->bubble ? &s->ranks.list[i] : most;
	if (most->bubble <= 0 || most->partner == TRACE_NONE)
		return NULL;
	return FACT_NEW(arena, ranks_in_bubbles, FACT_NO_SIDE, .mean = s->ranks.bubble, .of = view_unit(s),
	                .rank = say_rank(s, most->device, arena), .most = most->bubble,
	                .partner = say_rank(s, most->partner, arena));
}

/* How the hosts' clocks were made one, or that they were not; NULL: there is one host, or nothing is known of it. */
static const struct fact *clocks_of(const struct ranks_result *r, struct arena *arena)
{
	double within = 0, offset = 0, drift = 0;
	uint32_t unknown = 0;
	size_t collectives = 0;
	for (uint32_t i = 1; i < r->n_clocks; i++) {
		const struct trace_clock *c = &r->clocks[i];
		unknown += !c->known;
		within = fmax(within, c->within);
		offset = fabs(c->offset) > fabs(offset) ? c->offset : offset;
		drift = fabs(c->drift) > fabs(drift) ? c->drift : drift;
		collectives = i == 1 || c->collectives < collectives ? c->collectives : collectives;
	}
	return FACT_NEW(arena, hosts_clocks, FACT_NO_SIDE, .hosts = r->n_clocks, .unknown = unknown,
	                .offset = fabs(offset), .drift = fabs(drift) * 1e6, .collectives = (int64_t)collectives,
	                .within = within);
}

static void add_cell(struct facts *list, bool part, const struct rank_map *map, struct arena *arena)
{
	if (map && map->rows && (map->ranks_a_row > 1 || map->steps_a_column > 1))
		facts_add(list, arena,
		          FACT_NEW(arena, rank_cell, FACT_NO_SIDE, .part = part,
		                   .ranks = map->ranks_a_row > 1 ? (int64_t)map->ranks_a_row : FACT_UNKNOWN,
		                   .both = map->ranks_a_row > 1 && map->steps_a_column > 1,
		                   .steps = map->steps_a_column > 1 ? (int64_t)map->steps_a_column : FACT_UNKNOWN));
}

/* What the rows leave out, and how far waiting is known. */
static void fill_words(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	struct rows *rows = page_rows(&page->top, "ranks.word");
	bool any = false;
	for (int k = 0; k < 2; k++) {
		const struct side *s = &a->side[k];
		const struct ranks_result *r = &s->ranks;
		struct facts list = {0};
		bool unmatched = r->n && !r->known && r->waiting + r->bubble + r->moving + r->unmatched > 0;
		if (unmatched || (r->known && !r->one_clock))
			facts_add(&list, arena, FACT_NEW(arena, ranks_waiting, FACT_NO_SIDE, .known = !unmatched));
		facts_add(&list, arena, r->n ? bubble_of(s, arena) : NULL);
		if (r->comms_left_out)
			facts_add(&list, arena, FACT_NEW(arena, comms_left_out, FACT_NO_SIDE, .n = r->comms_left_out));
		if (r->n_clocks)
			facts_add(&list, arena, clocks_of(r, arena));
		add_cell(&list, false, &r->map, arena);
		add_cell(&list, true, rank_parts_first(r), arena);
		const char **text = say_facts(&list, a->names, arena);
		for (uint32_t i = 0; i < list.n; i++)
			page_say(page_row(rows), "text", arena_format(arena, "%s: %s", s->label, text[i]));
		any = any || list.n;
	}
	page_if(&page->top, "ranks.words", any);
}

void tables_ranks(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	bool several = a->side[0].ranks.n || a->side[1].ranks.n;
	page_if(&page->top, "ranks", several);
	page_if(&page->top, "ranks.link", several);
	rank_maps_draw(a, arena, page_draw(&page->top, "ranks"));
	page_if(&page->top, "ranks.parts", rank_parts_any(a));
	rank_parts_draw(a, arena, page_draw(&page->top, "ranks.parts"));
	page_fill(&page->top, "ranks.caption", view_caption(a, "ranks_slowest", unit, arena));
	fill_ranks(a, unit, page);
	fill_comms(a, unit, page);
	fill_words(a, page);
}
