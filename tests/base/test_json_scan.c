/* What check_tokens.py, which holds the scanner against Python, does not reach: tokens longer than the window,
 * documents that cannot be read on, limits, values that are passed over; and that what is written reads back. */
#include "base/json_reader.h"
#include "base/json_scan.h"
#include "base/json_writer.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A document that is made as it is read: `begin`, n times `each`, `end`. */
struct made {
	const char *begin, *each, *end;
	size_t n, at;
	bool fails; /* before `end` */
};

static ssize_t make(void *context, void *data, size_t room)
{
	struct made *m = context;
	const size_t begin = strlen(m->begin), each = strlen(m->each), middle = begin + m->n * each;
	size_t n = 0;
	for (; n < room && m->at < middle + strlen(m->end); n++, m->at++) {
		if (m->fails && m->at == middle)
			return n ? (ssize_t)n : -1;
		((char *)data)[n] = m->at < begin    ? m->begin[m->at]
		                    : m->at < middle ? m->each[(m->at - begin) % each]
		                                     : m->end[m->at - middle];
	}
	return (ssize_t)n;
}

/* The document's tokens as letters: k, t and their bytes, n for null, # for a number; ! for a flaw. */
static void expect_tokens(const char *document, bool lenient, const char *expected)
{
	char found[128] = "";
	struct made made = {"", document, "", .n = 1};
	struct json_scan s;
	json_scan_open(&s, make, &made, 4);
	s.lenient = lenient;
	for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;) {
		const char *kind = token == TOKEN_KEY      ? "k"
		                   : token == TOKEN_TEXT   ? "t"
		                   : token == TOKEN_NULL   ? "n"
		                   : token == TOKEN_NUMBER ? "#"
		                                           : "";
		strncat(found, kind, sizeof found - strlen(found) - 1);
		if (token == TOKEN_KEY || token == TOKEN_TEXT)
			strncat(found, s.text, s.n);
	}
	strncat(found, s.flaw ? "!" : "", sizeof found - strlen(found) - 1);
	assert_string_equal(found, expected);
	json_scan_close(&s);
}

static void what_programs_write_beside_json(void **state)
{
	(void)state;
	expect_tokens("{\"a\": \"x\ny\x01\"}", true, "katx\ny\x01");
	expect_tokens("{\"a\": \"x\ny\"}", false, "ka!");
	expect_tokens("[\"C:\\cuda\\_x\\u12\\U\", \"\\u0041\\n\"]", true, "tC:\\cuda\\_x\\u12\\UtA\n");
	expect_tokens("[\"C:\\cuda\"]", false, "!");
	expect_tokens("[NaN, -Infinity, Infinity, nan, -nan, inf,-inf, null, -1]", true, "nnnnnnnn#");
	expect_tokens("[-inf]", false, "!");
	expect_tokens("[nul]", true, "!");
	expect_tokens("[infinite]", true, "n!");
	expect_tokens("[\"x\n", true, "!");
	expect_tokens("[na", true, "!");
}

static void a_text_longer_than_the_window_is_whole(void **state)
{
	(void)state;
	enum { MANY = 300000 };
	struct made made = {"[7, \"", "a\\u00e9b", "\", 9.25 ]\n", .n = MANY};
	struct json_scan s;
	json_scan_open(&s, make, &made, 1);
	assert_int_equal(json_scan_next(&s), TOKEN_ARRAY);
	assert_int_equal(json_scan_next(&s), TOKEN_NUMBER);
	assert_int_equal(json_scan_next(&s), TOKEN_TEXT);
	assert_int_equal(s.n, 4 * MANY);
	for (size_t i = 0; i < MANY; i++)
		assert_memory_equal(s.text + 4 * i,
		                    "a\xC3\xA9"
		                    "b",
		                    4);
	assert_int_equal(json_scan_next(&s), TOKEN_NUMBER);
	assert_memory_equal(s.text, "9.25", s.n);
	assert_int_equal(json_scan_position(&s), 5 + 8 * MANY + 7);
	assert_int_equal(json_scan_next(&s), TOKEN_ARRAY_END);
	assert_int_equal(json_scan_next(&s), TOKEN_END);
	assert_int_equal(json_scan_next(&s), TOKEN_END);
	json_scan_close(&s);
}

static void limits_are_kept(void **state)
{
	(void)state;
	static const struct {
		struct made made;
		int deepest;
		enum json_flaw flaw;
		int64_t at;
	} cases[] = {
		{{"", "[", "", .n = 256}, 256, JSON_CUT_OFF, 256},
		{{"", "[", "", .n = 257}, 256, JSON_TOO_DEEP, 256},
		{{"", "{\"a\":", "", .n = 33}, 32, JSON_TOO_DEEP, 160},
		{{"[\"", "a", "\"]", .n = JSON_SCAN_LONGEST - 2}, 1, JSON_SOUND, JSON_SCAN_LONGEST + 2},
		{{"[\"", "a", "\"]", .n = JSON_SCAN_LONGEST}, 1, JSON_TOO_LONG, 1 + JSON_SCAN_LONGEST},
		{{"[", "1", "]", .n = JSON_SCAN_LONGEST}, 1, JSON_TOO_LONG, 1 + JSON_SCAN_LONGEST},
		{{"[", " ", "]", .n = 2 * (size_t)JSON_SCAN_LONGEST},
	         1,
	         JSON_SOUND,
	         2 * (int64_t)JSON_SCAN_LONGEST + 2},
		{{"[\"", "a", "\"]", .n = 1000, .fails = true}, 1, JSON_UNREADABLE, 1002},
		{{"[", "1", "]", .n = 300000, .fails = true}, 1, JSON_UNREADABLE, 300001},
		{{"[", " ", "]", .n = 300000, .fails = true}, 1, JSON_UNREADABLE, 300001},
		{{"[]", " ", "]", .n = 300000, .fails = true}, 1, JSON_UNREADABLE, 300002},
		{{"[", " ", "?]", .n = 300000}, 1, JSON_INVALID, 300001},
		{{"[1", " ", "2]", .n = 300000}, 1, JSON_INVALID, 300002},
		{{"[\"", "a", "\n\"]", .n = 300000}, 1, JSON_INVALID, 300002},
		{{"[\"", "a", "\\x\"]", .n = 300000}, 1, JSON_INVALID, 300002},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made made = cases[i].made;
		struct json_scan s;
		json_scan_open(&s, make, &made, cases[i].deepest);
		enum json_token token;
		while ((token = json_scan_next(&s)) > TOKEN_END)
			assert_false(made.fails && token == TOKEN_NUMBER); /* it could have gone on */
		assert_int_equal(token, s.flaw ? TOKEN_FAILED : TOKEN_END);
		if (s.flaw != cases[i].flaw || json_scan_position(&s) != cases[i].at)
			fail_msg("case %zu: flaw %d at %lld", i, (int)s.flaw, (long long)json_scan_position(&s));
		assert_int_equal(json_scan_next(&s), s.flaw ? TOKEN_FAILED : TOKEN_END);
		json_scan_close(&s);
	}
}

static void a_value_is_passed_over(void **state)
{
	(void)state;
	static const char text[] =
		"{\"a\": [1, {\"x\": [[2]]}], \"b\": \"3\", \"c\": {\"d\": 4}, \"e\": 5, \"f\": [6,, ]}";
	struct json_scan s;
	json_scan_open_text(&s, text, strlen(text), 9);
	assert_int_equal(json_scan_next(&s), TOKEN_OBJECT);
	for (const char *key = "abce"; *key; key++) {
		assert_int_equal(json_scan_next(&s), TOKEN_KEY);
		assert_int_equal(s.n, 1);
		assert_int_equal(*s.text, *key);
		json_scan_skip(&s);
		assert_int_equal(s.depth, 1);
	}
	assert_int_equal(json_scan_next(&s), TOKEN_KEY);
	json_scan_skip(&s);
	assert_int_equal(s.flaw, JSON_INVALID);
	assert_string_equal(s.expected, "a value");
	assert_int_equal(json_scan_position(&s), strstr(text, ",, ") - text + 1);
	json_scan_close(&s);
}

static void every_character_is_written_and_read_back(void **state)
{
	(void)state;
	struct buf text = {0}, out = {0};
	struct err err = {0};
	struct json json;
	struct arena arena = {0};
	for (uint32_t code = 1; code < 0x110000; code++) {
		char bytes[4];
		if (code < 0xD800 || code >= 0xE000)
			buf_add(&text, bytes, utf8_put(code, bytes));
	}
	json_init(&json, &out);
	json_object(&json, NULL);
	json_text(&json, text.data, text.data);
	json_end_object(&json);
	assert_int_equal(json_finish(&json, &err), 0);
	const struct json_value *root = json_read(out.data, out.n, &arena);
	assert_non_null(root);
	assert_string_equal(root->first->key, text.data);
	assert_string_equal(root->first->text, text.data);
	assert_non_null(strstr(out.data, "\\u0007\\b\\t\\n\\u000B\\f\\r\\u000E"));
	assert_non_null(strstr(out.data, "\\u001F !\\\"#"));
	assert_non_null(strstr(out.data, "[\\\\]"));
	buf_release(&text);
	buf_release(&out);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_programs_write_beside_json),
		cmocka_unit_test(a_text_longer_than_the_window_is_whole),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(a_value_is_passed_over),
		cmocka_unit_test(every_character_is_written_and_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
