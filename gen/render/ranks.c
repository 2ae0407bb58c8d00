#include "render/ranks.h"

#include "analyse/say.h"
#include "render/rank_maps.h"
#include "render/tables.h"
#include "render/view.h"

#include "base/buf.h"

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
	page_fill(row, "rank", arena_format(rows->page->arena, "and %u more", n));
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
	          least < UINT32_MAX ? arena_format(page->arena, "The first %u of %u ranks", least, most)
	                             : arena_format(page->arena, "All %u ranks", most));
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
	          arena_format(page->arena, "Communication, the longest first, %s a %s of a rank", unit.name,
	                       view_unit(&a->side[0])));
	struct rows *rows = page_rows(&page->top, "comm");
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < a->side[s].ranks.n_comms; i++)
			fill_comm(a, &a->side[s], &a->side[s].ranks.comms[i], unit, rows);
}

/* ---- words ---- */

/* For whom most is waited in sends and receives; NULL: nobody waits. */
static const char *say_bubble(const struct side *s, struct arena *arena)
{
	const struct rank_result *most = &s->ranks.list[0];
	for (uint32_t i = 1; i < s->ranks.n; i++)
		most = s->ranks.list[i].bubble > most->bubble ? &s->ranks.list[i] : most;
	if (most->bubble <= 0 || most->partner == TRACE_NONE)
		return NULL;
	return arena_format(arena,
	                    "ranks wait %s a %s in the mean inside sends and receives until their partner gets there; "
	                    "%s waits most, %s, mostly for %s",
	                    format_time(arena, s->ranks.bubble), view_unit(s), say_rank(s, most->device, arena),
	                    format_time(arena, most->bubble), say_rank(s, most->partner, arena));
}

/* How the hosts' clocks were made one, or that they were not; NULL: there is one host, or nothing is known of it. */
static const char *say_clocks(const struct ranks_result *r, struct arena *arena)
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
	if (unknown)
		return arena_format(arena,
		                    "ranks ran on %u hosts, and the clocks of %u of them could not be told from "
		                    "collectives: their times stand as recorded",
		                    r->n_clocks, unknown);
	return arena_format(
		arena,
		"ranks ran on %u hosts, whose clocks differed by up to %s and drifted by up to %.1f ppm. They "
		"were made one from %zu collectives%s: a time of one host is within %s of another's",
		r->n_clocks, format_time(arena, fabs(offset)), fabs(drift) * 1e6, collectives,
		r->n_clocks > 2 ? " or more" : "", format_time(arena, within));
}

static const char *cell_of(const char *what, const struct rank_map *map, struct arena *arena)
{
	const char *ranks = map->ranks_a_row > 1 ? format_plural(arena, map->ranks_a_row, "rank", "ranks") : "";
	const char *steps = map->steps_a_column > 1 ? format_plural(arena, map->steps_a_column, "step", "steps") : "";
	return arena_format(arena, "%s is the longest of up to %s%s%s", what, ranks, *ranks && *steps ? " and " : "",
	                    steps);
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
		const char *text[6];
		int n = 0;
		if (r->n && !r->known && r->waiting + r->bubble + r->moving + r->unmatched > 0)
			text[n++] = "collectives could not be matched across ranks, so how much of them is waiting is "
				    "not known";
		else if (r->known && !r->one_clock)
			text[n++] = "ranks ran on several hosts, whose clocks differ: the rank whose kernel ran for "
				    "the shortest time counts as the last one";
		const char *bubble = r->n ? say_bubble(s, arena) : NULL;
		if (bubble)
			text[n++] = bubble;
		if (r->comms_left_out)
			text[n++] = arena_format(arena, "the table of communication leaves out the %u shortest rows",
			                         r->comms_left_out);
		if (r->n_clocks)
			text[n++] = say_clocks(r, arena);
		if (r->map.rows && (r->map.ranks_a_row > 1 || r->map.steps_a_column > 1))
			text[n++] = cell_of("a cell", &r->map, arena);
		const struct rank_map *part = rank_parts_first(r);
		if (part && (part->ranks_a_row > 1 || part->steps_a_column > 1))
			text[n++] = cell_of("a cell of a part", part, arena);
		for (int i = 0; i < n; i++)
			page_say(page_row(rows), "text", arena_format(arena, "%s: %s.", s->label, text[i]));
		any = any || n;
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
	page_fill(&page->top, "ranks.caption",
	          arena_format(arena, "Ranks, the slowest first, %s a %s", unit.name, view_unit(&a->side[0])));
	fill_ranks(a, unit, page);
	fill_comms(a, unit, page);
	fill_words(a, page);
}
