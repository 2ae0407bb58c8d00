#include "render/sections.h"

#include "base/buf.h"
#include "base/format.h"
#include "render/pictures.h"
#include "render/view.h"
#include "result/say.h"
#include "say/say.h"

#include <math.h>

/* The pictures of ranks and steps: own steps, and small ones of each part of them. */

enum {
	WIDTH = 1200,
	GUTTER = 150, /* for labels; where they are longer, up to: */
	WIDEST_GUTTER = 230,
	TALL = 18, /* heights of a row, by how many there are */
	LOW = 6,
	FEW = 20,
	WIDEST = 48, /* a step's width */
	BETWEEN = 14,
	SHADES = 8
};

/* From light to dark; told apart in grey too. A dark page has its own, from dark to light. */
static const char *const shade[SHADES] = {"#f7efe2", "#f3dfc0", "#eecb98", "#e8b06d",
                                          "#df9147", "#cc6f2a", "#a94f17", "#7b330b"};
static const char *const shade_class[SHADES] = {"shade-0", "shade-1", "shade-2", "shade-3",
                                                "shade-4", "shade-5", "shade-6", "shade-7"};

/* What colours reach from and to, on both sides. */
struct range {
	double low, high;
};

static void add_range(struct range *range, const struct rank_map *map)
{
	if (!map->rows)
		return;
	range->low = fmin(range->low, map->low);
	range->high = fmax(range->high, map->high);
}

/* -1: not known. */
static int shade_of(double step, const struct range *range)
{
	if (step < 0)
		return -1;
	double at = range->high > range->low ? (step - range->low) / (range->high - range->low) * SHADES : 0;
	return at < 0 ? 0 : at >= SHADES ? SHADES - 1 : (int)at;
}

static const char *row_label(const struct side *s, const struct rank_map *map, uint32_t row, struct arena *arena)
{
	uint32_t first = row * map->ranks_a_row, last = first + map->ranks_a_row;
	const char *label = say_rank(s, first, arena);
	last = last < s->n_devices ? last : s->n_devices;
	return last - first > 1 ? arena_format(arena, "%s %s", label, view_more(last - first - 1, arena)) : label;
}

/* One path a shade, in cells, which are stretched; neighbours of one shade are one bar. */
static void draw_cells(const struct rank_map *map, const struct range *range, double x, double y, double width,
                       double height, struct arena *arena, xmlNode *svg)
{
	xmlNode *cells = svg_group(svg, NULL);
	svg_attribute(cells, "transform",
	              arena_format(arena, "translate(%.5g %.5g) scale(%.5g %.5g)", x, y, width, height));
	for (int which = 0; which < SHADES; which++) {
		BUF_LOCAL(path);
		for (uint32_t r = 0; r < map->rows; r++)
			for (uint32_t c = 0, next; c < map->columns; c = next) {
				const float *row = &map->step[(size_t)r * map->columns];
				int mine = shade_of(row[c], range);
				for (next = c + 1; next < map->columns && shade_of(row[next], range) == mine; next++)
					;
				if (mine == which)
					buf_format(&path, "M%u %uh%uv1H%uz", c, r, next - c, c);
			}
		if (path.n) {
			xmlNode *group = svg_filled(cells, shade_class[which], shade[which]);
			svg_path(group, path.data);
		}
	}
}

/* Labels that would be cut where they differ have room. */
static double gutter_for(const struct side *s, const struct rank_map *map, double gutter, struct arena *arena)
{
	for (uint32_t r = 0; r < map->rows; r++)
		gutter = fmax(gutter, svg_text_width(row_label(s, map, r, arena)) + 12);
	return fmin(gutter, WIDEST_GUTTER);
}

static double row_height(const struct rank_map *map)
{
	return map->rows <= FEW ? TALL : LOW;
}

static void draw_rows(const struct side *s, const struct rank_map *map, double gutter, double y, struct arena *arena,
                      xmlNode *muted)
{
	double height = row_height(map);
	uint32_t every = height < SVG_TEXT ? 4 : 1;
	for (uint32_t r = 0; r < map->rows; r += every)
		svg_text(muted, gutter - 8, y + r * height + (every > 1 ? 8 : height / 2 + 4), ANCHOR_END,
		         svg_fit(arena, row_label(s, map, r, arena), gutter - 12));
}

static void draw_columns(const struct rank_map *map, double x, double y, double width, struct arena *arena,
                         xmlNode *muted)
{
	uint32_t last = map->first_step + (map->columns - 1) * map->steps_a_column;
	svg_text(muted, x, y, ANCHOR_START, SAY(NULL, arena, step_numbered, .step = map->first_step + 1));
	if (map->columns * width > 120)
		svg_text(muted, x + map->columns * width, y, ANCHOR_END,
		         SAY(NULL, arena, step_numbered, .step = last + 1));
}

static void draw_name(const struct side *s, double y, struct arena *arena, xmlNode *ink)
{
	svg_attribute(svg_text(ink, 4, y, ANCHOR_START, view_side(s, arena)), "font-weight", "bold");
}

static xmlNode *new_ink(xmlNode *svg)
{
	xmlNode *ink = svg_filled(svg, "ink", "#222");
	return ink;
}

static xmlNode *new_muted(xmlNode *svg)
{
	xmlNode *muted = svg_filled(svg, "muted", "#555");
	return muted;
}

/* ---- own steps ---- */

static double draw_side(const struct side *s, const struct range *range, double gutter, double y, struct arena *arena,
                        xmlNode *svg)
{
	const struct rank_map *map = &s->ranks.map;
	double width = fmin((WIDTH - gutter - 10) / map->columns, WIDEST);
	xmlNode *ink = new_ink(svg), *muted = new_muted(svg);
	draw_name(s, y + 12, arena, ink);
	y += 20;
	draw_cells(map, range, gutter, y, width, row_height(map), arena, svg);
	draw_rows(s, map, gutter, y, arena, muted);
	y += map->rows * row_height(map);
	draw_columns(map, gutter, y + 15, width, arena, muted);
	return y + 32;
}

static void draw_shades(double x, double y, double width, xmlNode *svg)
{
	for (int i = 0; i < SHADES; i++) {
		xmlNode *rect = svg_rect(svg, x + width * i, y, width, 14, NULL);
		svg_attribute(rect, "class", shade_class[i]);
		svg_attribute(rect, "fill", shade[i]);
	}
}

static void draw_legend(const struct range *range, double gutter, double y, struct arena *arena, xmlNode *svg)
{
	xmlNode *muted = new_muted(svg);
	svg_text(muted, gutter - 8, y + 11, ANCHOR_END, SAY(NULL, arena, scale_end, .time = range->low, .least = true));
	draw_shades(gutter, y, 26, svg);
	svg_text(muted, gutter + 26 * SHADES + 8, y + 11, ANCHOR_START,
	         SAY(NULL, arena, scale_end, .time = range->high, .least = false));
}

/* Nothing where there is no map. */
static void rank_maps_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct range range = {INFINITY, 0};
	double y = 0, gutter = GUTTER;
	for (int s = 0; s < 2; s++) {
		add_range(&range, &a->side[s].ranks.map);
		gutter = gutter_for(&a->side[s], &a->side[s].ranks.map, gutter, arena);
	}
	if (range.high <= 0)
		return;
	range.high = fmax(range.high, range.low * (1 + VERDICT_MARGIN)); /* what differs by less is no pattern */
	xmlNode *svg = svg_picture(parent, WIDTH, 100, say_word(WORDS_picture, "rank_map"),
	                           say_word(WORDS_picture, "rank_map_shows"));
	for (int s = 0; s < 2; s++)
		if (a->side[s].ranks.map.rows)
			y = draw_side(&a->side[s], &range, gutter, y, arena, svg);
	draw_legend(&range, gutter, y, arena, svg);
	svg_resize(svg, WIDTH, y + 24);
}

/* The map of the first part that has one; NULL: none has. ---- their parts ---- */
static const struct rank_map *rank_parts_first(const struct ranks_result *ranks)
{
	for (int p = 0; p < RANK_PARTS; p++)
		if (ranks->parts[p].rows)
			return &ranks->parts[p];
	return NULL;
}

/* `first` is the side's first picture, and like all of them in size. */
static double draw_parts(const struct side *s, const struct rank_map *first, const struct range *range, double gutter,
                         double panel, double y, struct arena *arena, xmlNode *svg)
{
	xmlNode *ink = new_ink(svg), *muted = new_muted(svg);
	double width = fmin(panel / first->columns, s->steps.found ? WIDEST : 3 * WIDEST), x = gutter;
	draw_name(s, y + 12, arena, ink);
	y += 18;
	draw_rows(s, first, gutter, y, arena, muted);
	if (s->steps.found)
		draw_columns(first, gutter, y + first->rows * row_height(first) + 15, width, arena, muted);
	for (int p = 0; p < RANK_PARTS; p++) {
		if (range[p].high <= 0)
			continue;
		if (s->ranks.parts[p].rows)
			draw_cells(&s->ranks.parts[p], &range[p], x, y, width, row_height(first), arena, svg);
		x += panel + BETWEEN;
	}
	return y + first->rows * row_height(first) + 32;
}

/* The parts beside each other, on scales of their own that both sides share. */
static void rank_parts_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct range range[RANK_PARTS], shades[RANK_PARTS];
	double span = fmax(a->side[0].headline.step, a->side[1].headline.step) * VERDICT_MARGIN;
	int n = 0;
	for (int p = 0; p < RANK_PARTS; p++) {
		range[p] = (struct range){INFINITY, 0};
		for (int s = 0; s < 2; s++)
			add_range(&range[p], &a->side[s].ranks.parts[p]);
		n += range[p].high > 0;
		span = fmax(span, range[p].high > 0 ? range[p].high - range[p].low : 0);
	}
	if (!n)
		return;
	double gutter = GUTTER, y = 40;
	for (int s = 0; s < 2; s++) {
		const struct rank_map *first = rank_parts_first(&a->side[s].ranks);
		gutter = first ? gutter_for(&a->side[s], first, gutter, arena) : gutter;
	}
	double panel = (WIDTH - gutter - 10) / n - BETWEEN, x = gutter;
	xmlNode *svg = svg_picture(parent, WIDTH, 100, say_word(WORDS_picture, "rank_parts"),
	                           say_word(WORDS_picture, "rank_parts_show"));
	xmlNode *ink = new_ink(svg), *muted = new_muted(svg);
	for (int p = 0; p < RANK_PARTS; p++) {
		if (range[p].high <= 0)
			continue;
		svg_attribute(svg_text(ink, x, 12, ANCHOR_START, say_listed(WORDS_rank_part, (unsigned)p)->word),
		              "font-weight", "bold");
		svg_text(muted, x, 28, ANCHOR_START,
		         SAY(NULL, arena, time_range, .low = range[p].low, .high = range[p].high));
		x += panel + BETWEEN;
	}
	/* what hardly varies beside the others has one shade: drawn from its own least to its own most it would look as
	 * restless as what matters */
	for (int p = 0; p < RANK_PARTS; p++)
		shades[p] = (struct range){range[p].low, range[p].high > 0 ? range[p].low + span : 0};
	for (int s = 0; s < 2; s++) {
		const struct rank_map *first = rank_parts_first(&a->side[s].ranks);
		if (first)
			y = draw_parts(&a->side[s], first, shades, gutter, panel, y, arena, svg);
	}
	svg_resize(svg, WIDTH, y);
}

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
	page_fill_if(&page->top, "rank.all", shown[0] < kept[0] || shown[1] < kept[1],
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
		FACT_ADD(list, arena, rank_cell, FACT_NO_SIDE, .part = part,
		         .ranks = map->ranks_a_row > 1 ? (int64_t)map->ranks_a_row : FACT_UNKNOWN,
		         .both = map->ranks_a_row > 1 && map->steps_a_column > 1,
		         .steps = map->steps_a_column > 1 ? (int64_t)map->steps_a_column : FACT_UNKNOWN);
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
			FACT_ADD(&list, arena, ranks_waiting, FACT_NO_SIDE, .known = !unmatched);
		facts_add(&list, arena, r->n ? bubble_of(s, arena) : NULL);
		if (r->comms_left_out)
			FACT_ADD(&list, arena, comms_left_out, FACT_NO_SIDE, .n = r->comms_left_out);
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

void ranks_fill(const struct analysis *a, struct unit unit, struct page *page)
{
	struct arena *arena = page->arena;
	bool several = a->side[0].ranks.n || a->side[1].ranks.n;
	page_if(&page->top, "ranks", several);
	page_if(&page->top, "ranks.link", several);
	rank_maps_draw(a, arena, page_draw(&page->top, "ranks"));
	page_if(&page->top, "ranks.parts", rank_parts_first(&a->side[0].ranks) || rank_parts_first(&a->side[1].ranks));
	rank_parts_draw(a, arena, page_draw(&page->top, "ranks.parts"));
	page_fill(&page->top, "ranks.caption", view_caption(a, "ranks_slowest", unit, arena));
	fill_ranks(a, unit, page);
	fill_comms(a, unit, page);
	fill_words(a, page);
}
