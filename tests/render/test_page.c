/* The template engine: marks are filled, rows repeat, and a template and code that do not fit are an error. */
#include "render/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static int release(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void open_page(struct page *page, const char *template)
{
	page_open(page, template, strlen(template), 2, &arena);
}

static void assert_page(struct page *page, const char *html)
{
	struct buf out = {0};
	struct err err = {0};
	if (page_finish(page, &out, &err))
		fail_msg("%s", err.text);
	out.data[strcspn(out.data, "\n")] = 0;
	assert_string_equal(out.data, html);
	buf_release(&out);
}

static void assert_error(struct page *page, const char *text)
{
	struct buf out = {0};
	struct err err = {0};
	assert_int_equal(page_finish(page, &out, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(out.n, 0);
	buf_release(&out);
}

static void marks_are_filled_and_go_away(void **state)
{
	(void)state;
	struct page page;
	open_page(&page,
	          "<p><b data-fill=\"a\">sample <i>text</i></b><i data-if=\"yes\">1</i><i data-if=\"no\">2</i></p>");
	page_fill(&page.top, "a", "x < y & \"z\"");
	page_attribute(&page.top, "a", "title", "<\">");
	page_if(&page.top, "yes", true);
	page_if(&page.top, "no", false);
	assert_page(&page, "<p><b title='&lt;\"&gt;'>x &lt; y &amp; \"z\"</b><i>1</i></p>");
}

static void code_may_break(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p><b data-fill=\"a\"></b></p>");
	page_code(&page.top, "a", "k 'regex:^(a|b)$' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé <c_d>/");
	assert_page(&page, "<p><b>k 'regex:<wbr>^(a|<wbr>b)$' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<wbr>aé "
	                   "&lt;<wbr>c_<wbr>d&gt;/</b></p>");
}

static void options_in_sentences_do_not_break(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p><b data-fill=\"a\"/><i data-fill=\"b\"/></p>");
	page_say(&page.top, "a", "repeat (run --repeat, or --baseline/--fixed) <it>");
	page_say(&page.top, "b", "runs operator--_is_a_name_that_is_longer_than_options_are once");
	assert_page(&page, "<p><b>repeat (run <span class=\"option\">--repeat,</span> or <span "
	                   "class=\"option\">--baseline/--fixed)</span> &lt;it&gt;</b><i>runs "
	                   "operator--_is_a_name_that_is_longer_than_options_are once</i></p>");
}

static void rows_repeat_and_nest(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<ul><li data-row=\"outer\"><b data-fill=\"name\"/><i data-row=\"inner\" "
	                 "data-fill=\"text\"/></li></ul>");
	struct rows *rows = page_rows(&page.top, "outer");
	for (int i = 0; i < 2; i++) {
		struct scope *row = page_row(rows);
		page_fill(row, "name", i ? "b" : "a");
		page_attribute(row, NULL, "class", "c");
		struct rows *inner = page_rows(row, "inner");
		for (int k = 0; k < 2 * i; k++)
			page_fill(page_row(inner), "text", k ? "2" : "1");
	}
	assert_page(&page, "<ul><li class=\"c\"><b>a</b></li><li class=\"c\"><b>b</b><i>1</i><i>2</i></li></ul>");
}

static void rows_inside_what_is_dropped(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p><b data-if=\"out\"><i data-row=\"row\" data-fill=\"text\"/><u data-fill=\"u\"/></b></p>");
	struct rows *rows = page_rows(&page.top, "row");
	page_fill(page_row(rows), "text", "1");
	page_fill(page_row(rows), "text", "2");
	page_fill(&page.top, "u", "x");
	page_if(&page.top, "out", false);
	assert_page(&page, "<p></p>");
}

static void a_slot_without_code_is_an_error(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p><b data-fill=\"a\"/></p>");
	assert_error(&page, "template: nothing serves data-fill=\"a\"");
	open_page(&page, "<p><b data-row=\"r\"><i data-fill=\"x\"/></b></p>");
	page_row(page_rows(&page.top, "r"));
	assert_error(&page, "template: nothing serves data-fill=\"x\"");
}

static void code_without_a_slot_is_an_error(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p><b data-fill=\"a\"/></p>");
	page_fill(&page.top, "a", "x");
	page_fill(&page.top, "b", "x");
	assert_error(&page, "template: no element is marked data-fill=\"b\"");
	open_page(&page, "<p/>");
	page_fill(page_row(page_rows(&page.top, "r")), "x", "y");
	assert_error(&page, "template: no element is marked data-row=\"r\"");
	open_page(&page, "<p/>");
	assert_non_null(page_draw(&page.top, "d"));
	assert_error(&page, "template: no element is marked data-draw=\"d\"");
	open_page(&page, "<p/>");
	page_attribute(&page.top, "a", "class", "c");
	assert_error(&page, "template: no element is marked \"a\"");
}

static void a_slot_served_twice_is_an_error(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p><b data-fill=\"a\"/></p>");
	page_fill(&page.top, "a", "x");
	page_fill(&page.top, "a", "y");
	assert_error(&page, "template: data-fill=\"a\" is served twice");
}

static void a_broken_template_is_an_error(void **state)
{
	(void)state;
	struct page page;
	struct buf out = {0};
	struct err err = {0};
	open_page(&page, "<p>\n<b></p>");
	page_fill(&page.top, "a", "x");
	assert_int_equal(page_finish(&page, &out, &err), -1);
	assert_non_null(strstr(err.text, "template: line 2: "));
}

static void text_that_is_not_utf8_is_an_error(void **state)
{
	(void)state;
	struct page page;
	open_page(&page, "<p data-fill=\"a\"/>");
	page_fill(&page.top, "a", "\xff");
	assert_error(&page, "page: a is not UTF-8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(marks_are_filled_and_go_away, release),
		cmocka_unit_test_teardown(code_may_break, release),
		cmocka_unit_test_teardown(options_in_sentences_do_not_break, release),
		cmocka_unit_test_teardown(rows_repeat_and_nest, release),
		cmocka_unit_test_teardown(rows_inside_what_is_dropped, release),
		cmocka_unit_test_teardown(a_slot_without_code_is_an_error, release),
		cmocka_unit_test_teardown(code_without_a_slot_is_an_error, release),
		cmocka_unit_test_teardown(a_slot_served_twice_is_an_error, release),
		cmocka_unit_test_teardown(a_broken_template_is_an_error, release),
		cmocka_unit_test_teardown(text_that_is_not_utf8_is_an_error, release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
