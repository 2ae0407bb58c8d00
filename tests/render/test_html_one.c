/* The page of one profile has nothing of a pair: no column, no arrow, no other side. */
#include "fixture_analysis.h"
#include "render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <libxml/HTMLparser.h>
#include <libxml/xpath.h>

static void counts(xmlXPathContext *page, const char *what, int least, int most)
{
	char expression[400];
	snprintf(expression, sizeof expression, "count(%s)", what);
	xmlXPathObject *found = xmlXPathEvalExpression((const xmlChar *)expression, page);
	if (!found || found->floatval < least || found->floatval > most)
		fail_msg("%s is %g", expression, found ? found->floatval : -1);
	xmlXPathFreeObject(found);
}

static void one_profile(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	struct buf html = {0};
	struct err err = {0};
	fixture_analysis(FIXTURE_ONE, &arena, &a);
	assert_int_equal(a.n_sides, 1);
	if (render_html(&a, &html, &err))
		fail_msg("%s", err.text);
	xmlDoc *doc = htmlReadMemory(html.data, (int)html.n, NULL, "UTF-8", HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
	xmlXPathContext *page = xmlXPathNewContext(doc);
	counts(page, "//section[@id='verdict']//circle", 0, 0);
	counts(page, "//@data-sides", 0, 0);
	counts(page, "//main//text()[contains(., 'aseline') or contains(., 'fixed side')][not(ancestor::script)]", 0,
	       0);
	counts(page, "//td[contains(., '\xE2\x86\x92')]", 0, 0);
	counts(page, "//section[@id='kernels']//tbody/tr", 1, 1000);
	counts(page, "//section[@id='verdict']//ul[@class='parts']/li", 1, 4);
	/* rows are as wide as their head */
	counts(page, "//table[not(.//@colspan)]//tr[count(th|td) != count(ancestor::table/thead/tr[1]/*)]", 0, 0);
	xmlXPathFreeContext(page);
	xmlFreeDoc(doc);
	buf_release(&html);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_profile)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
