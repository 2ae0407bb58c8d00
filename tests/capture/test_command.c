/* Command lines as users write them, against what a shell makes of them. */
#include "capture/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;

static int release_arena(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* The words, each in <>. */
static const char *split(const char *line)
{
	struct err err;
	const char *const *words;
	if (command_split(line, &arena, &words, &err))
		return arena_format(&arena, "error: %s", err.text);
	const char *text = "";
	for (size_t i = 0; words[i]; i++)
		text = arena_format(&arena, "%s<%s>", text, words[i]);
	return text;
}

static const char *shell(const char *line)
{
	char said[1000] = "";
	setenv("LINE", line, 1);
	FILE *f = popen("eval \"set -- $LINE\"; printf '<%s>' \"$@\"", "r");
	assert_non_null(f);
	size_t n = fread(said, 1, sizeof said - 1, f);
	assert_int_equal(pclose(f), 0);
	return arena_copy(&arena, said, n);
}

static void test_words_as_a_shell_has_them(void **state)
{
	static const char *const lines[] = {
		"python train.py --lr 3e-4",
		"  spaces   and\ttabs  ",
		"'single quotes' \"double quotes\"",
		"glued'in the 'middle\"of a word\"",
		"a\\ b \\'c \\\\ d\\\"",
		"'it'\\''s' \"say \\\"hi\\\"\" \"back\\\\slash\" \"kept \\n\"",
		"'$HOME' '`x`' '|' \"a|b;c\" '#' a#b a~b",
		"--flag= --empty '' \"\" end",
		"\\$HOME \\| \\# \\~ '\\'",
	};
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_string_equal(split(lines[i]), shell(lines[i]));
	assert_string_equal(split("run x=1=2 a]b {a,b} %q{X} ^"), "<run><x=1=2><a]b><{a,b}><%q{X}><^>");
}

static void test_what_only_a_shell_can_do(void **state)
{
	static const char *const lines[] = {
		"a | b",   "a|b", "a && b", "a&",  "a; b", "a > b", "a 2>&1", "a < b", "$A",  "a$A",   "\"$A\"",
		"\"`a`\"", "`a`", "(a)",    "a *", "a?",   "[a]",   "# a",    "a # b", "~/a", "a ~/b", "\"a\"'b'$c"};
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *said = split(lines[i]);
		assert_non_null(strstr(said, "needs a shell for its"));
		assert_non_null(strstr(said, "sh -c '...'"));
	}
}

static void test_broken_lines(void **state)
{
	(void)state;
	assert_non_null(strstr(split("a 'b"), "a quote (') that does not end"));
	assert_non_null(strstr(split("a \"b\\\""), "a quote (\") that does not end"));
	assert_non_null(strstr(split("a \\"), "ends with a backslash"));
	assert_non_null(strstr(split(""), "the command is empty"));
	assert_non_null(strstr(split(" \t\n"), "the command is empty"));
	assert_non_null(strstr(split("'' a"), "the command is empty"));
	assert_non_null(strstr(split("A_1=b c"), "env A_1=b c"));
	assert_string_equal(split("1=b c"), "<1=b><c>");
}

static void test_text_and_back(void **state)
{
	static const char *const words[] = {"a", "b c", "",     "it's", "\"", "$HOME", "\\", "|",
	                                    "~", "#",   "a\nb", "*",    "é",  "-x=1",  "''", NULL};
	struct err err;
	const char *const *again;
	(void)state;
	assert_int_equal(command_split(command_text(words, &arena), &arena, &again, &err), 0);
	for (size_t i = 0; words[i] || again[i]; i++)
		assert_string_equal(again[i], words[i]);
	assert_string_equal(command_text((const char *const[]){"sh", "-c", "a b", NULL}, &arena), "sh -c 'a b'");
}

static const char *name(const char *pattern)
{
	struct err err;
	const char *made = command_file_name(pattern, 4711, &arena, &err);
	return made ? made : arena_format(&arena, "error: %s", err.text);
}

static void test_file_names(void **state)
{
	char host[256] = "";
	(void)state;
	assert_int_equal(gethostname(host, sizeof host - 1), 0);
	setenv("RANK", "12", 1);
	setenv("EVIL", "%p", 1);
	unsetenv("NOT_SET");
	assert_string_equal(name("plain.sqlite"), "plain.sqlite");
	assert_string_equal(name("d/r%q{RANK}_%p.x"), "d/r12_4711.x");
	assert_string_equal(name("%q{RANK}/x"), "12/x");
	assert_string_equal(name("100%%p"), "100%p");
	assert_string_equal(name("%q{EVIL}"), "%p");
	assert_string_equal(name("%h"), host);
	assert_non_null(strstr(name("%q{NOT_SET}"), "no variable NOT_SET"));
	assert_non_null(strstr(name("%q{}"), "'%q' is unknown"));
	assert_non_null(strstr(name("%q{RANK"), "'%q' is unknown"));
	assert_non_null(strstr(name("%qRANK"), "'%q' is unknown"));
	assert_non_null(strstr(name("a%"), "'%' is unknown"));
	assert_non_null(strstr(name("%d"), "'%d' is unknown"));
	assert_non_null(strstr(name("%p/x"), "not in its folder's"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_words_as_a_shell_has_them, release_arena),
		cmocka_unit_test_teardown(test_what_only_a_shell_can_do, release_arena),
		cmocka_unit_test_teardown(test_broken_lines, release_arena),
		cmocka_unit_test_teardown(test_text_and_back, release_arena),
		cmocka_unit_test_teardown(test_file_names, release_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
