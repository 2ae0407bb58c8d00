#include "fixture_analysis.h"
#include "render/assets.h"
#include "render/render.h"
#include "said.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libxml/HTMLparser.h>
#include <libxml/xpath.h>

static struct arena arena;

static int release(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

struct report {
	struct analysis a;
	struct buf html;
	xmlDoc *doc;
	xmlXPathContext *xpath;
};

static void read_report(struct report *r, enum fixture which)
{
	struct err err = {0};
	if (render_html(&r->a, &r->html, &err))
		fail_msg("%s: %s", fixture_name(which), err.text);
	r->doc = htmlReadMemory(r->html.data, (int)r->html.n, NULL, "UTF-8", HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
	r->xpath = xmlXPathNewContext(r->doc);
}

static void open_report(struct report *r, enum fixture which)
{
	*r = (struct report){0};
	fixture_analysis(which, &arena, &r->a);
	read_report(r, which);
}

static void close_report(struct report *r)
{
	xmlXPathFreeContext(r->xpath);
	xmlFreeDoc(r->doc);
	buf_release(&r->html);
	arena_release(&arena);
}

static double number(struct report *r, const char *expression)
{
	xmlXPathObject *result = xmlXPathEvalExpression((const xmlChar *)expression, r->xpath);
	assert_non_null(result);
	double value = xmlXPathCastToNumber(result);
	xmlXPathFreeObject(result);
	return value;
}

static void assert_text(struct report *r, const char *expression, const char *text)
{
	xmlXPathObject *result = xmlXPathEvalExpression((const xmlChar *)expression, r->xpath);
	xmlChar *value = xmlXPathCastToString(result);
	assert_string_equal((const char *)value, text);
	xmlFree(value);
	xmlXPathFreeObject(result);
}

static void every_analysis_gives_a_page(void **state)
{
	(void)state;
	for (int i = 0; i < FIXTURE_COUNT; i++) {
		if (i == FIXTURE_ONE)
			continue;
		struct report r;
		open_report(&r, (enum fixture)i);
		assert_true(r.html.n < 1500000);
		assert_memory_equal(r.html.data, "<!DOCTYPE html>", 15);
		assert_int_equal(number(&r, "count(//@data-fill | //@data-draw | //@data-row | //@data-if)"), 0);
		assert_int_equal(number(&r, "count(//main/section)"), 8 + number(&r, "count(//section[@id='ranks'])"));
		assert_int_equal(number(&r, "count(//nav//a)"), number(&r, "count(//main/section)"));
		assert_int_equal(number(&r, "count(//section[not(.//h2)])"), 0);
		/* every picture has words for those who cannot see it, or is decoration */
		assert_int_equal(
			number(&r,
		               "count(//svg[not(ancestor::svg or @aria-hidden or (title and desc and @role='img'))])"),
			0);
		assert_int_equal(number(&r, "count(//table[not(caption)])"), 0);
		assert_int_equal(number(&r, "count(//tbody/tr[not(th)])"), 0);
		/* nothing that a policy or a missing style sheet could take away */
		assert_int_equal(number(&r, "count(//@style | //iframe | //img | //link | //object)"), 0);
		assert_int_equal(number(&r, "count(//script)"), 3);
		assert_int_equal(number(&r, "count(//script[parent::head or @id or @type][not(@src)])"), 3);
		close_report(&r);
	}
}

static void same_input_same_bytes(void **state)
{
	(void)state;
	struct report first, second;
	open_report(&first, FIXTURE_DEVICES);
	open_report(&second, FIXTURE_DEVICES);
	assert_int_equal(first.html.n, second.html.n);
	assert_memory_equal(first.html.data, second.html.data, first.html.n);
	xmlXPathFreeContext(second.xpath);
	xmlFreeDoc(second.doc);
	buf_release(&second.html);
	close_report(&first);
}

static void a_typical_step_is_a_caveat(void **state)
{
	(void)state;
	struct report r = {0};
	fixture_analysis(FIXTURE_PAIR, &arena, &r.a);
	r.a.verdict.typical_line = FACT_NEW(&arena, typical_step, FACT_NO_SIDE, .speedup = 0.95, .low = 0.92,
	                                    .high = 0.99, .why = fact_that_says(&arena, "<Why>."));
	r.a.verdict.lo = 0.01; /* however far that is, the dots keep most of their picture */
	facts_add(&r.a.verdict.reasons, &arena, r.a.verdict.typical_line);
	read_report(&r, FIXTURE_PAIR);
	assert_text(&r, "//details[starts-with(@class, 'chip')]//li[contains(., 'typical')]",
	            "By typical steps, the speedup is 0.950\xC3\x97 (0.920 to 0.990). <Why>.");
	assert_true(number(&r, "//figure//circle[1]/@cx") > 190);
	close_report(&r);
}

/* A step of one side and a run of the other: both are said, and no number is the change of another. */
static void a_step_and_a_run_are_no_pair(void **state)
{
	(void)state;
	struct report r = {0};
	fixture_analysis(FIXTURE_PAIR, &arena, &r.a);
	r.a.side[1].steps.found = false;
	r.a.waterfall = (struct waterfall){0};
	read_report(&r, FIXTURE_PAIR);
	assert_text(&r, "//section[@id='verdict']//p[@class='sentence'][1]",
	            "55.6 \xE2\x86\x92 24.2 ms per step or run");
	assert_true(number(&r, "count(//section[@id='verdict']//path[@class='band'])") == 0);
	assert_true(number(&r, "count(//section[@id='phases']//td[contains(@class, 'less')])") == 0);
	assert_true(number(&r, "count(//section[@id='phases']//caption[starts-with(., 'Phases') and contains(., "
	                       "'per run of the fixed side')])") == 1);
	close_report(&r);
}

static void what_the_page_says(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_PAIR);
	assert_text(&r, "//title", "Faster: ResNet-50, workers and pinned memory - gapline");
	assert_text(&r, "//h3[@class='result']", "2.30\xC3\x97 faster");
	assert_text(&r, "//p[@class='sentence']",
	            "55.6 \xE2\x86\x92 24.2 ms per step, \xE2\x88\x92"
	            "56 %");
	assert_text(&r, "//figcaption", "Speedup 2.22 to 2.38\xC3\x97 (95 % CI)");
	assert_text(&r, "//p[starts-with(@class, 'gate')]", "Needs ≥ 1.50×; measured 2.30× (2.22 to 2.38): passed.");
	assert_int_equal(number(&r, "count(//figure//circle)"), 2);
	assert_text(&r, "//figure//circle[1]/title", "baseline.sqlite: 55.64 ms");
	assert_int_equal(number(&r, "count(//details[starts-with(@class, 'chip')])"), 3);
	assert_int_equal(number(&r, "count(//*[local-name()='text'][.='gate'][@text-anchor='end'])"), 1);
	assert_text(&r, "//details[2]/summary", "1 profiled run per side: 1 caveat");
	assert_text(&r, "//details[3]/summary", "Prediction met");
	assert_text(&r, "//ul[@class='parts']/li[1]/span/span[2]", "GPU waits for host code in data_load");
	assert_text(&r, "//ul[@class='parts']/li[1]/b",
	            "\xE2\x88\x92"
	            "31.0 ms");
	/* what the lines say is the whole change */
	assert_text(&r, "//ul[@class='parts']/li[2]/b",
	            "\xE2\x88\x92"
	            "0.4 ms");
	assert_text(&r, "//section[@id='phases']//tbody/tr[1]/th", "data_load");
	assert_text(&r, "//section[@id='phases']//tbody/tr[1]/td[1]", "1 \xE2\x86\x92 5");
	assert_text(&r, "//section[@id='phases']//tbody/tr[1]/td[3]", "31.04");
	assert_text(&r, "//section[@id='phases']//tbody/tr[1]/td[5]",
	            "\xE2\x88\x92"
	            "31.02");
	assert_text(&r, "//div[@id='idle']//tfoot/tr/td[3]", "31.88");
	assert_int_equal(number(&r, "count(//section[@id='findings']/article)"), 3);
	assert_text(&r, "//section[@id='timeline']//svg/title",
	            "GPU idle gaps, baseline above fixed, on one time scale");
	close_report(&r);
}

static void clocks_are_shown_when_they_were_sampled(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_DEVICES);
	assert_int_equal(number(&r, "count(//div[@aria-label='Clocks']//tbody/tr)"), 3);
	assert_text(&r, "//div[@aria-label='Clocks']//tbody/tr[1]/td[3]", "1755 (1710 to 1980)");
	assert_text(&r, "//div[@aria-label='Clocks']//tbody/tr[1]/td[4]", "unknown");
	assert_text(&r, "//div[@aria-label='Clocks']//tbody/tr[1]/td[5]", "693 (612 to 701)");
	assert_text(&r, "//div[@aria-label='Clocks']//tbody/tr[1]/td[7]", "power cap in 60 %, heat in 5 %");
	assert_text(&r, "//div[@aria-label='Clocks']//tbody/tr[2]/td[3]", "1980");
	assert_text(&r, "//div[@aria-label='Clocks']//tbody/tr[2]/td[7]", "unknown");
	assert_text(&r, "//div[@id='environment']//tr[th='Captured by']/td[1]", "gapline 0.1.0 through CUPTI 13.0.1");
	close_report(&r);
	open_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//div[@aria-label='Clocks'])"), 0);
	assert_int_equal(number(&r, "count(//tr[th='Captured by'])"), 0);
	close_report(&r);
}

static void several_runs_are_told_apart(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_NO_STEPS);
	assert_text(&r, "//header/h1", "3 runs of the baseline and 3 of the fixed side");
	assert_text(&r, "//footer/p/span", "Made by gapline " GAPLINE_VERSION " from 6 profiles.");
	assert_int_equal(number(&r, "count(//section[@id='steps']/div[@aria-label='Runs']//tbody/tr)"), 6);
	assert_int_equal(number(&r, "count(//section[@id='steps']//td[.='shown'])"), 2);
	assert_text(&r, "//section[@id='steps']//tr[td='shown'][1]/td[1]", "baseline2.sqlite");
	assert_text(&r, "//section[@id='timeline']/h3",
	            "One whole run of each side: baseline2.sqlite and fixed2.sqlite");
	close_report(&r);
	open_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//section[@id='steps']/div[@aria-label='Runs'])"), 0);
	assert_text(&r, "//footer/p/span", "Made by gapline " GAPLINE_VERSION " from 2 profiles.");
	close_report(&r);
}

/* On the first screen of the page, and for a pull request. */
static double said_on_the_card(struct analysis *a, const char *words)
{
	struct report r = {.a = *a};
	struct buf markdown = {0};
	struct err err = {0};
	read_report(&r, FIXTURE_PAIR);
	double said =
		number(&r, arena_format(&arena, "count(//details[starts-with(@class, 'chip')]//li[contains(., '%s')])",
	                                words));
	xmlXPathFreeContext(r.xpath);
	xmlFreeDoc(r.doc);
	buf_release(&r.html);
	assert_int_equal(render_markdown(a, &(struct markdown_wish){.brief = true}, &markdown, &err), 0);
	assert_int_equal(strstr(markdown.data, words) != NULL, said > 0);
	buf_release(&markdown);
	return said;
}

/* What recording added is a piece of its own, and the recorded speedup is folded away: it decides nothing. */
static void recording_has_its_own_piece(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_STOPWATCH);
	assert_int_equal(number(&r, "count(//div[@class='why']//svg//g[@class='recording']/rect)"), 2);
	/* 50 ms of the longer bar, 56.31 ms with all steps counted */
	assert_text(&r, "substring(//div[@class='why']//g[@class='recording'][1]/rect/@x, 1, 4)", "88.7");
	assert_int_equal(number(&r, "count(//div[@class='why']//text[contains(., 'profiled ')])"), 2);
	assert_int_equal(number(&r, "count(//details[2]//li[contains(., '2.30')])"), 1);
	assert_int_equal(number(&r, "count(//*[self::p or self::h3][contains(., '2.30')])"), 0);
	close_report(&r);
	open_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//div[@class='why']//svg//g[@class='recording'])"), 0);
	close_report(&r);
}

/* What could turn the verdict round is a caveat of a chip on the first screen, and only where it is so. */
static void doubts_are_caveats(void **state)
{
	(void)state;
	enum { DATA, WARMING, SESSION, ORDER, NO_ORDER, ASIDE, SHORT, OPPOSITE, HELD_BACK, BROKEN_OFF, SHARED, DOUBTS };
	static const char *const words[DOUBTS] = {
		[DATA] = "12 of 900 rows of kernels make no sense",
		[WARMING] = "A side was still warming up when its capture ended.",
		[SESSION] = "measured on another day.", /* and not in turns, of course */
		[ORDER] = "The sides were not measured in turns",
		[NO_ORDER] = "The order of the runs is unknown",
		[ASIDE] = "1 step is set aside; with it the speedup is 1.50\xC3\x97.",
		[SHORT] = "only a change above 12 % counts.",
		[OPPOSITE] = "The profiled runs say the opposite",
		[HELD_BACK] = "Only in the baseline was the clock held back",
		[BROKEN_OFF] = "Only the capture of the fixed side is incomplete",
		[SHARED] = "Other processes used the GPU when the program began, only in the baseline",
	};
	for (int with = 0; with <= DOUBTS; with++) {
		struct analysis a;
		fixture_analysis(FIXTURE_PAIR, &arena, &a);
		struct verdict *v = &a.verdict;
		a.conditions.doubt =
			with == DATA ? fact_that_says(&arena, "12 of 900 rows of kernels make no sense.") : NULL;
		v->warming = with == WARMING;
		v->one_run = with != SESSION && with != ORDER && with != NO_ORDER;
		v->exchange.known = with == SESSION || with == ORDER;
		v->elsewhere = with == SESSION ? fact_that_says(&arena, words[with]) : NULL;
		if (with == NO_ORDER)
			FACT_ADD(&v->reasons, &arena, order_unknown, FACT_NO_SIDE, .how = "recorded");
		v->aside[0] = with == ASIDE;
		v->counted = 1.5;
		v->short_capture = true; /* a direction that it does not keep from counting is no doubt */
		v->result = with == SHORT ? VERDICT_INCONCLUSIVE : VERDICT_FASTER;
		const struct fact *is = fact_that_says(&arena, with < DOUBTS ? words[with] : NULL);
		a.turning = (struct turning){with == OPPOSITE ? is : NULL, with == HELD_BACK ? is : NULL,
		                             with == BROKEN_OFF ? is : NULL, with == SHARED ? is : NULL};
		v->floor = log(1.12);
		for (int doubt = 0; doubt < DOUBTS; doubt++)
			if (said_on_the_card(&a, words[doubt]) != (with == doubt))
				fail_msg("%s: %s", words[doubt], with == doubt ? "not said" : "said");
		arena_release(&arena);
	}
}

/* What is not shown to be the same work is in the colour of doubt, however large the gain. */
static void a_gain_is_as_sure_as_its_work(void **state)
{
	(void)state;
	for (int same = SAME_WORK_SAME; same <= SAME_WORK_UNKNOWN; same++) {
		struct report r = {0};
		fixture_analysis(FIXTURE_PAIR, &arena, &r.a);
		r.a.verdict.result = VERDICT_FASTER;
		r.a.comparison.same_work = (enum same_work)same;
		read_report(&r, FIXTURE_PAIR);
		bool doubt = same == SAME_WORK_DIFFERENT || same == SAME_WORK_UNKNOWN;
		assert_int_equal(number(&r, "count(//*[@class='verdict faster other'])"), doubt);
		assert_int_equal(number(&r, "count(//*[@class='verdict faster'])"), !doubt);
		close_report(&r);
	}
}

static void what_cannot_be_fixed_has_no_status(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//article)"), 3);
	assert_int_equal(number(&r, "count(//article//span[@class='status'])"), 2);
	assert_int_equal(number(&r, "count(//article[@class='finding']//span[@class='status'])"), 0);
	assert_text(&r, "//article[@class='finding']//span[@class='side']", "in the fixed side");
	close_report(&r);
}

/* 40 kernels: those of 1 % of a step and more, and a row that holds the sum of the others. */
static void what_is_left_out_is_summed_up(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//section[@id='kernels']//tbody/tr)"), 41);
	assert_int_equal(number(&r, "count(//section[@id='kernels']//tr[@class='more']/preceding-sibling::tr)"), 24);
	assert_int_equal(number(&r, "count(//section[@id='kernels']//tr[@class='rest'])"), 16);
	assert_text(&r, "//section[@id='kernels']//summary", "All 40 kernels");
	assert_text(&r, "//section[@id='kernels']//tr[@class='more']/th", "and 16 more");
	double sum = 0;
	assert_true(r.a.side[0].kernels[24].per_step < 0.01 * r.a.side[0].steps.mean);
	for (uint32_t i = 24; i < 40; i++)
		sum += r.a.side[0].kernels[i].per_step / 1e6;
	double shown = number(&r, "//section[@id='kernels']//tr[@class='more']/td[2]");
	assert_true(shown > sum - 0.0051 && shown < sum + 0.0051);
	close_report(&r);
}

/* Many kernels of about the time of the longest. */
static void labels_of_lines_have_room(void **state)
{
	(void)state;
	enum { KERNELS = 9, HEADING = 14, LINE = 16 };
	static const char picture[] = "//section[@id='kernels']//svg[not(ancestor::table)]",
			  label[] = "text[not(@font-weight)]";
	struct report r = {0};
	fixture_analysis(FIXTURE_PAIR, &arena, &r.a);
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < r.a.side[s].n_kernels; i++)
			r.a.side[s].kernels[i].per_step = i < KERNELS ? (s ? 14e6 : 10e6) - i * 1e5 : 1e3;
	read_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, arena_format(&arena, "count(%s//%s)", picture, label)), 2 * KERNELS);
	double lowest = 0;
	for (int i = 1; i <= 2 * KERNELS; i++) {
		const char *one = arena_format(&arena, "(%s//%s)[%d]", picture, label, i);
		double x = number(&r, arena_format(&arena, "number(%s/@x)", one)),
		       y = number(&r, arena_format(&arena, "number(%s/@y)", one));
		assert_true(y >= HEADING + LINE);
		lowest = fmax(lowest, y);
		assert_int_equal(number(&r, arena_format(&arena, "count(%s//text[@x = %g and @y > %g and @y < %g])",
		                                         picture, x, y - LINE, y + LINE)),
		                 1); /* itself */
	}
	assert_true(number(&r, arena_format(&arena, "number(%s/@height)", picture)) < lowest + LINE);
	close_report(&r);
}

/* Two operators on each side, of which the points of one are known: so much of the time. */
static double rooflines_where(double share)
{
	struct report r = {0};
	fixture_analysis(FIXTURE_PAIR, &arena, &r.a);
	for (int s = 0; s < 2; s++) {
		struct owner_result *o = ARENA_NEW(&arena, 2, struct owner_result);
		const double time = share * 1e6;
		o[0] = (struct owner_result){
			.name = r.a.side[s].kernels[0].name, .instances = 1, .per_step = 1e6 - time};
		o[1] = (struct owner_result){.name = r.a.side[s].kernels[1].name,
		                             .instances = 1,
		                             .per_step = time,
		                             .flops = 1e9,
		                             .flops_known = time,
		                             .moved = 1e7,
		                             .moved_known = time};
		r.a.side[s].operators = o;
		r.a.side[s].n_operators = 2;
	}
	read_report(&r, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//*[@id='operators']//tbody/tr)"), 2);
	double n = number(&r, "count(//*[@id='operators']//svg/title[starts-with(., 'Roofline')])");
	close_report(&r);
	return n;
}

static void a_roofline_is_of_a_part_that_matters(void **state)
{
	(void)state;
	assert_int_equal(rooflines_where(0.051), 1);
	assert_int_equal(rooflines_where(0.049), 0);
}

/* A marked step that begins before the first GPU operation is measured from there, and so the picture begins there. */
static void what_is_measured_is_no_longer_than_the_run(void **state)
{
	(void)state;
	struct report r = {0};
	fixture_analysis(FIXTURE_PAIR, &arena, &r.a);
	struct overview *o = &r.a.side[0].overview;
	o->length = 90 * 1000000;
	o->window_start = -20 * 1000000;
	o->window_end = 70 * 1000000;
	read_report(&r, FIXTURE_PAIR);
	assert_text(&r, "string(//svg[title='The whole run of both sides']//g[@class='ink']/text)",
	            "baseline, 110.0 ms");
	assert_text(&r, "string(//svg[title='The whole run of both sides']//text[starts-with(., 'measured')])",
	            "measured: 90.00 ms");
	close_report(&r);
}

static void equal_sides_have_nothing_to_show(void **state)
{
	(void)state;
	struct report r;
	open_report(&r, FIXTURE_SELF);
	assert_int_equal(number(&r, "count(//ul[@class='parts'])"), 0);
	assert_text(&r, "//div[@class='why']//p[not(@class)]", "Nothing changed that matters.");
	assert_int_equal(number(&r, "count(//section[@id='findings']/article)"), 0);
	close_report(&r);
}

/* Parsed again, a hostile name is the same text in the same place: it opened no element, attribute or comment. */
static void hostile_names_are_text(void **state)
{
	(void)state;
	struct report r, harmless;
	open_report(&r, FIXTURE_HOSTILE);
	open_report(&harmless, FIXTURE_PAIR);
	assert_int_equal(number(&r, "count(//*[starts-with(name(), 'img')])"), 0);
	assert_int_equal(number(&r, "count(//*[starts-with(name(), 'script')])"), 3); /* the page's own */
	assert_int_equal(number(&r, "count(//@onerror)"), 0);
	assert_int_equal(number(&r, "count(//article)"), number(&harmless, "count(//article)"));
	assert_int_equal(number(&r, "count(//tr)"), number(&harmless, "count(//tr)"));
	assert_int_equal(number(&r, "count(//dt)"), number(&harmless, "count(//dt)"));
	assert_text(&r, "//h1", r.a.title);
	assert_text(&r, "//section[@id='phases']//tbody/tr[1]/th", names_text(r.a.names, r.a.side[0].phases[0].name));
	xmlXPathFreeContext(harmless.xpath);
	xmlFreeDoc(harmless.doc);
	buf_release(&harmless.html);
	close_report(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_analysis_gives_a_page, release),
		cmocka_unit_test_teardown(same_input_same_bytes, release),
		cmocka_unit_test_teardown(a_step_and_a_run_are_no_pair, release),
		cmocka_unit_test_teardown(what_the_page_says, release),
		cmocka_unit_test_teardown(a_typical_step_is_a_caveat, release),
		cmocka_unit_test_teardown(several_runs_are_told_apart, release),
		cmocka_unit_test_teardown(clocks_are_shown_when_they_were_sampled, release),
		cmocka_unit_test_teardown(doubts_are_caveats, release),
		cmocka_unit_test_teardown(recording_has_its_own_piece, release),
		cmocka_unit_test_teardown(a_gain_is_as_sure_as_its_work, release),
		cmocka_unit_test_teardown(what_cannot_be_fixed_has_no_status, release),
		cmocka_unit_test_teardown(what_is_left_out_is_summed_up, release),
		cmocka_unit_test_teardown(labels_of_lines_have_room, release),
		cmocka_unit_test_teardown(a_roofline_is_of_a_part_that_matters, release),
		cmocka_unit_test_teardown(what_is_measured_is_no_longer_than_the_run, release),
		cmocka_unit_test_teardown(equal_sides_have_nothing_to_show, release),
		cmocka_unit_test_teardown(hostile_names_are_text, release),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xmlCleanupParser();
	return failed;
}
