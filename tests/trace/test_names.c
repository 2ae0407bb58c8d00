#include "trace/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FFFD "\xEF\xBF\xBD"

struct fixture {
	struct arena arena;
	struct names names;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	names_init(&f->names, &f->arena);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	arena_release(&f->arena);
	free(f);
	return 0;
}

static void same_text_is_the_same_id(void **state)
{
	struct names *n = &((struct fixture *)*state)->names;
	assert_int_equal(names_add(n, "", 0), 0);
	assert_int_equal(names_add_text(n, NULL), 0);
	assert_string_equal(names_text(n, 0), "");
	uint32_t a = names_add_text(n, "forward"), b = names_add_text(n, "forward_x");
	assert_int_not_equal(a, b);
	assert_int_equal(names_add(n, "forward_x", 7), a);
	assert_string_equal(names_text(n, a), "forward");
}

static void many_names_keep_their_ids(void **state)
{
	struct names *n = &((struct fixture *)*state)->names;
	enum { MANY = 50000 };
	char text[32];
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "step_%u", i);
		assert_int_equal(names_add_text(n, text), i + 1);
	}
	for (uint32_t i = 0; i < MANY; i += 7) {
		snprintf(text, sizeof text, "step_%u", i);
		assert_int_equal(names_add_text(n, text), i + 1);
		assert_string_equal(names_text(n, i + 1), text);
	}
	assert_int_equal(n->n, MANY + 1);
}

static void files_are_called_by_their_last_part(void **state)
{
	struct names *n = &((struct fixture *)*state)->names;
	assert_string_equal(names_file(n, "/home/me/base.sqlite"), "base.sqlite");
	assert_string_equal(names_file(n, "base.sqlite"), "base.sqlite");
	assert_string_equal(names_file(n, "runs/"), "runs/");
	assert_string_equal(names_file(n, "me\n/two\nlines"), "two" FFFD "lines");
}

/* Expected forms were worked out from Unicode's table 3-7 and the header's list. */
static void hostile_bytes_become_replacements(void **state)
{
	struct names *n = &((struct fixture *)*state)->names;
	static const struct {
		const char *raw;
		size_t n;
		const char *clean;
	} cases[] = {
		{"plain", 5, "plain"},
		{"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80", 15,
	         "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"},
		{"a\0b", 3, "a" FFFD "b"},
		{"\x1b[31mred\n", 9, FFFD "[31mred" FFFD},
		{"del\x7F", 4, "del" FFFD},
		{"\xC2\x85 c1", 5, FFFD " c1"},
		{"\xFF\xFE", 2, FFFD FFFD},
		{"\x80", 1, FFFD},                            /* continuation without a beginning */
		{"\xC0\xAF", 2, FFFD FFFD},                   /* overlong slash */
		{"\xE0\x80\xAF", 3, FFFD FFFD FFFD},          /* overlong slash */
		{"\xED\xA0\x80", 3, FFFD FFFD FFFD},          /* surrogate */
		{"\xF4\x90\x80\x80", 4, FFFD FFFD FFFD FFFD}, /* above U+10FFFF */
		{"\xE2\x82", 2, FFFD},                        /* cut off: one for the whole beginning */
		{"\xE2\x82x", 3, FFFD "x"},
		{"\xF0\x9F\x98x", 4, FFFD "x"},
		{"a\xE2\x80\xAE"
	         "b",
	         5, "a" FFFD "b"}, /* right-to-left override */
		{"a\xE2\x81\xA6"
	         "b",
	         5, "a" FFFD "b"}, /* isolate */
		{"a\xD8\x9C"
	         "b",
	         4, "a" FFFD "b"},             /* Arabic letter mark */
		{"\xEF\xBF\xBE", 3, FFFD},     /* U+FFFE */
		{"\xEF\xB7\x90", 3, FFFD},     /* U+FDD0 */
		{"\xF0\x9F\xBF\xBF", 4, FFFD}, /* U+1FFFF */
		{"a\xE2\x80\x8B"
	         "b",
	         5, "a\\u200Bb"}, /* zero width space */
		{"a\xEF\xBB\xBF", 4, "a\\uFEFF"},
		{"a\xE2\x80\xA8\xE2\x80\xA9", 7, "a\\u2028\\u2029"},    /* separators of lines and paragraphs */
		{"\xF3\xA0\x81\x81", 4, "\\U000E0041"},                 /* a tag */
		{"\xC2\xAD", 2, "\\u00AD"},                             /* soft hyphen */
		{"\xE2\x81\xA0\xE2\x81\xAF", 6, "\\u2060\\u206F"},      /* word joiner, nominal digit shapes */
		{"\xEF\xB8\x8F\xEF\xBF\xBC", 6, "\\uFE0F\xEF\xBF\xBC"}, /* a variation; U+FFFC can be seen */
		{"<script>&\"", 10, "<script>&\""},                     /* markup is the writers' business */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(names_text(n, names_add(n, cases[i].raw, cases[i].n)), cases[i].clean);
	/* Two raw texts with one harmless form are one name. */
	assert_int_equal(names_add(n, "\xFF", 1), names_add(n, "\xFE", 1));
}

static void long_texts_are_shortened_in_the_middle(void **state)
{
	struct names *n = &((struct fixture *)*state)->names;
	static char raw[20000];
	memset(raw, 'a', sizeof raw);
	memcpy(raw, "BEGIN", 5);
	static const size_t lengths[] = {4096, 4097, 8191, 8192, 8193, 20000};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		memset(raw + 5, 'a', sizeof raw - 5);
		memcpy(raw + lengths[i] - 3, "END", 3);
		const char *text = names_text(n, names_add(n, raw, lengths[i]));
		assert_memory_equal(text, "BEGIN", 5);
		assert_string_equal(text + strlen(text) - 3, "END");
		if (lengths[i] <= NAME_MAX_BYTES) {
			assert_int_equal(strlen(text), lengths[i]);
			assert_null(strstr(text, "\xE2\x80\xA6"));
		} else {
			assert_in_range(strlen(text), NAME_MAX_BYTES - 4, NAME_MAX_BYTES);
			assert_non_null(strstr(text, "\xE2\x80\xA6"));
		}
	}
}

static int well_formed(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		int more = *c < 0x80                 ? 0
		           : *c >= 0xC2 && *c < 0xE0 ? 1
		           : *c >= 0xE0 && *c < 0xF0 ? 2
		           : *c >= 0xF0 && *c < 0xF5 ? 3
		                                     : -1;
		if (more < 0)
			return 0;
		for (c++; more > 0; more--, c++)
			if ((*c & 0xC0) != 0x80)
				return 0;
	}
	return 1;
}

/* Whatever the bytes and wherever the cut falls: never half a character, never too long. */
static void cuts_fall_between_characters(void **state)
{
	struct names *n = &((struct fixture *)*state)->names;
	static const char *const unit[] = {"\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xFF", "a\xE2\x82"};
	static char raw[16000];
	for (size_t u = 0; u < sizeof unit / sizeof *unit; u++)
		for (size_t shift = 0; shift < 4; shift++)
			for (size_t length = 4090; length < 16000; length += 1321) {
				size_t at = 0;
				while (at < shift)
					raw[at++] = 'x';
				for (; at < length; at++)
					raw[at] = unit[u][(at - shift) % strlen(unit[u])];
				const char *text = names_text(n, names_add(n, raw, length));
				assert_true(well_formed(text));
				assert_true(strlen(text) <= NAME_MAX_BYTES);
				assert_true(strlen(text) >= NAME_MAX_BYTES - 10);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_text_is_the_same_id, setup, teardown),
		cmocka_unit_test_setup_teardown(many_names_keep_their_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(files_are_called_by_their_last_part, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_bytes_become_replacements, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts_are_shortened_in_the_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(cuts_fall_between_characters, setup, teardown),
	};
	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
