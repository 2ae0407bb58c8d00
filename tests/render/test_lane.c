/* Lanes of a timeline: what is drawn of pieces wider and narrower than a pixel, and what stands on them. */
#include "fixture_analysis.h"
#include "render/pictures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <libxml/tree.h>

static struct arena arena;

static int release(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static uint32_t count_of(xmlNode *node, const char *name)
{
	uint32_t n = node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
	for (xmlNode *child = node->children; child; child = child->next)
		n += count_of(child, name);
	return n;
}

static xmlNode *draw(struct segment *segments, uint32_t n, struct analysis *a)
{
	fixture_analysis(FIXTURE_PAIR, &arena, a);
	struct lane lane = {.kind = LANE_GAPS, .label = "idle", .segments = segments, .n = n, .y = 0, .height = 24};
	struct axis axis = {.x = 0, .width = 1000, .px = 1e-3, .length = 1000000}; /* a pixel is 1000 ns */
	xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
	xmlNode *svg = xmlNewDocNode(doc, NULL, (const xmlChar *)"svg", NULL);
	xmlDocSetRootElement(doc, svg);
	lane_draw(a, &lane, &axis, 3, &arena, svg);
	return svg;
}

static void assert_bars(xmlNode *svg, const char *class, const char *d)
{
	for (xmlNode *g = svg->children; g; g = g->next) {
		xmlChar *name = xmlGetProp(g, (const xmlChar *)"class");
		bool found = name && strcmp((const char *)name, class) == 0;
		xmlFree(name);
		if (!found)
			continue;
		xmlChar *path = xmlGetProp(xmlGetLastChild(g), (const xmlChar *)"d");
		assert_string_equal((const char *)path, d);
		xmlFree(path);
		return;
	}
	fail_msg("no %s", class);
}

static void a_gap_wider_than_a_pixel_is_drawn(void **state)
{
	(void)state;
	struct analysis a;
	struct segment segments[] = {
		{.start = 10000,
	         .end = 14000,
	         .which = CAUSE_HOST_CODE,
	         .group = 0}, /* 4 pixels: with a text of its own */
		{.start = 20000, .end = 21500, .which = CAUSE_HOST_CODE, .group = 1}, /* 1.5: full height, no text */
	};
	xmlNode *svg = draw(segments, 2, &a);
	assert_int_equal(count_of(svg, "rect"), 1);
	assert_bars(svg, "host-code", "M20 0h1.5v24h-1.5z");
	xmlFreeDoc(svg->doc);
}

/* Two long pieces of one gap with the same cause carry one label with their time together, though a piece too narrow to
 * see lies between them; pieces of two gaps carry one each. */
static void pieces_of_a_gap_carry_one_label(void **state)
{
	(void)state;
	for (uint32_t group = 0; group < 2; group++) {
		struct analysis a;
		struct segment segments[] = {
			{.start = 100000, .end = 400000, .which = CAUSE_HOST_CODE},
			{.start = 400000, .end = 401000, .which = CAUSE_LAUNCH_API},
			{.start = 401000, .end = 801000, .which = CAUSE_HOST_CODE, .group = group},
		};
		xmlNode *svg = draw(segments, 3, &a);
		xmlBufferPtr text = xmlBufferCreate();
		xmlNodeDump(text, svg->doc, svg, 0, 0);
		const char *said = (const char *)xmlBufferContent(text);
		assert_int_equal(strstr(said, "0.700 ms") != NULL, group == 0);
		assert_int_equal(strstr(said, "0.400 ms") != NULL, group == 1);
		xmlBufferFree(text);
		xmlFreeDoc(svg->doc);
	}
}

static void narrow_gaps_become_their_share(void **state)
{
	(void)state;
	struct analysis a;
	struct segment segments[2000];
	for (int i = 0; i < 2000; i++) /* half of every pixel, in two pieces, over all of the lane */
		segments[i] = (struct segment){
			.start = 500 * i, .end = 500 * i + 250, .which = CAUSE_DISPATCH, .group = (uint32_t)i};
	xmlNode *svg = draw(segments, 2000, &a);
	assert_int_equal(count_of(svg, "path"), 1);
	assert_bars(svg, "dispatch", "M0 12h1e+03v12h-1e+03z");
	xmlFreeDoc(svg->doc);
}

static void what_fills_a_pixel_gives_it_its_colour(void **state)
{
	(void)state;
	struct analysis a;
	struct segment segments[] = {
		{.start = 5000, .end = 5300, .which = CAUSE_DISPATCH, .group = 0},
		{.start = 5300, .end = 5999, .which = CAUSE_LAUNCH_API, .group = 0},
	};
	xmlNode *svg = draw(segments, 2, &a);
	assert_int_equal(count_of(svg, "path"), 1);
	assert_bars(svg, "launch-api", "M5 2h1v22h-1z");
	xmlFreeDoc(svg->doc);
}

static void colours_by_part(void **state)
{
	(void)state;
	static const struct {
		enum part_kind kind;
		enum cause cause;
		int which;
	} parts[] = {{PART_COMPUTE, 0, SHADE_COMPUTE},
	             {PART_COMM, 0, SHADE_COMM},
	             {PART_COPY, 0, SHADE_COPY},
	             {PART_IDLE, CAUSE_HOST_BLOCKED, CAUSE_HOST_BLOCKED},
	             {PART_IDLE, CAUSE_DISPATCH, CAUSE_DISPATCH},
	             {PART_UNUSUAL, 0, SHADE_IDLE}};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct waterfall_part part = {.kind = parts[i].kind, .cause = parts[i].cause};
		assert_int_equal(palette_of_part(&part), parts[i].which);
	}
	for (int i = 0; i < SHADE_COUNT; i++)
		for (int k = 0; k < i; k++) /* no two look the same: a colour is used again only as stripes */
			assert_true(strcmp(palette(i)->fill, palette(k)->fill) != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_gap_wider_than_a_pixel_is_drawn, release),
		cmocka_unit_test_teardown(narrow_gaps_become_their_share, release),
		cmocka_unit_test_teardown(pieces_of_a_gap_carry_one_label, release),
		cmocka_unit_test_teardown(what_fills_a_pixel_gives_it_its_colour, release),
		cmocka_unit_test_teardown(colours_by_part, release),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xmlCleanupParser();
	return failed;
}
