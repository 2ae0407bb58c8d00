/* The option table: what is understood, what is refused, and what the help says. */
#include "base/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct values {
	bool flag, other;
	const char *text, *maybe;
	struct opt_list list, operands;
	int whole, choice;
	double decimal;
	struct opt_command command, second;
	struct arena arena;
	struct err err;
};

static const char *const choices[] = {"auto", "always", "never", NULL};
static const char *const none[] = {NULL};
static const char *const arguments[] = {"[OPTIONS] FILE", "--list FILE ...", NULL};

/* Parses the words of `line`, separated by '|'. */
static int parse(struct values *v, const char *line)
{
	static char words[512];
	char *argv[20] = {(char[]){"tool"}};
	int argc = 1;
	struct opt options[] = {
		{OPT_FLAG, 'f', "flag", NULL, "a flag", .flag = &v->flag},
		{OPT_FLAG, 'g', "other", NULL, "another flag", .flag = &v->other},
		{OPT_TEXT, 't', "text", "TEXT", "a text", .text = &v->text},
		{OPT_LIST, 0, "list", "FILE", "texts", .list = &v->list},
		{OPT_WHOLE, 'n', "whole", "N", "a whole number", .whole = &v->whole, .max = 100},
		{OPT_DECIMAL, 0, "decimal", "X", "a number", .decimal = &v->decimal, .min = 0.5, .max = 10},
		{OPT_CHOICE, 0, "choice", "WHEN", "a word", .choice = &v->choice, .choices = choices},
		{OPT_COMMAND, 0, "command", "COMMAND", "a command", .command = &v->command},
		{OPT_COMMAND, 0, "second", "COMMAND", "another", .command = &v->second},
		{OPT_TEXT, 0, "maybe", "TEXT", "a text or none", .text = &v->maybe, .may_be_empty = true,
	         .alias = "former"},
	};
	const struct opt_usage usage = {"tool", arguments, "About.", options, sizeof options / sizeof *options,
	                                none,   none};
	*v = (struct values){.whole = -1, .choice = -1};
	strcpy(words, line);
	for (char *w = words, *end; *line && w; w = end ? end + 1 : NULL) {
		end = strchr(w, '|');
		if (end)
			*end = 0;
		argv[argc++] = w;
	}
	return opt_parse(&usage, argc, argv, &v->arena, &v->operands, &v->err);
}

static void assert_refused(const char *line, const char *message)
{
	struct values v;
	int rc = parse(&v, line);
	assert_int_equal(rc, -1);
	assert_string_equal(v.err.text, message);
	arena_release(&v.arena);
}

static void test_understood(void **state)
{
	(void)state;
	struct values v;
	assert_int_equal(parse(&v, "a|-fg|--text=x=y|b|--list|p|--list=q|-n7|--decimal|.75|--choice|never|-|--|-f"), 0);
	assert_true(v.flag && v.other);
	assert_string_equal(v.text, "x=y");
	assert_int_equal(v.list.n, 2);
	assert_string_equal(v.list.item[0], "p");
	assert_string_equal(v.list.item[1], "q");
	assert_int_equal(v.whole, 7);
	assert_true(v.decimal == 0.75);
	assert_int_equal(v.choice, 2);
	assert_int_equal(v.operands.n, 4);
	assert_string_equal(v.operands.item[0], "a");
	assert_string_equal(v.operands.item[1], "b");
	assert_string_equal(v.operands.item[2], "-");
	assert_string_equal(v.operands.item[3], "-f");
	arena_release(&v.arena);

	assert_int_equal(parse(&v, ""), 0);
	assert_false(v.flag);
	assert_int_equal(v.operands.n, 0);
	assert_int_equal(v.whole, -1);
	arena_release(&v.arena);

	assert_int_equal(parse(&v, "-fn|100|--text|--flag"), 0); /* a value may look like an option */
	assert_int_equal(v.whole, 100);
	assert_string_equal(v.text, "--flag");
	arena_release(&v.arena);
}

static void assert_words(const char *const *words, const char *joined)
{
	char text[200] = "";
	for (size_t i = 0; words && words[i]; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "", words[i]);
	assert_string_equal(text, joined);
}

static void test_commands(void **state)
{
	struct values v;
	(void)state;
	assert_int_equal(parse(&v, "--command|a b|-f|--second=-- c"), 0);
	assert_string_equal(v.command.text, "a b");
	assert_string_equal(v.second.text, "-- c");
	assert_true(v.flag && !v.command.words && !v.second.words);
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "-f|--command|--|a|-g|--text|--|--second|x|--second|--|b|--list|--"), 0);
	assert_words(v.command.words, "a|-g|--text|--|--second|x");
	assert_words(v.second.words, "b|--list|--");
	assert_true(v.flag && !v.other && !v.text && !v.list.n && !v.operands.n);
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "--second|a|--command|--|b"), 0);
	assert_string_equal(v.second.text, "a");
	assert_words(v.command.words, "b");
	arena_release(&v.arena);
	assert_refused("--command", "--command needs a value: --command COMMAND");
	assert_refused("--command|--", "--command --: a command is to follow");
	assert_refused("--command|--|--second|--|a", "--command --: a command is to follow");
	assert_refused("--command|a|--command|--|b", "--command is given twice");
	assert_refused("--command=", "--command: its value is empty");
}

static void test_help_asked(void **state)
{
	(void)state;
	struct values v;
	assert_int_equal(parse(&v, "a|--help|--nonsense"), 1);
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "-fh"), 1);
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "--|--help"), 0);
	arena_release(&v.arena);
}

/* What comes behind `--` is somebody else's, and an empty text is a text where that means something. */
static void test_empty(void **state)
{
	struct values v;
	(void)state;
	assert_int_equal(parse(&v, "--maybe=|--|a||b|"), 0);
	assert_string_equal(v.maybe, "");
	assert_int_equal(v.operands.n, 4);
	assert_string_equal(v.operands.item[1], "");
	assert_string_equal(v.operands.item[2], "b");
	assert_string_equal(v.operands.item[3], "");
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "--maybe||x"), 0);
	assert_string_equal(v.maybe, "");
	assert_int_equal(v.operands.n, 1);
	arena_release(&v.arena);
}

static void test_refused(void **state)
{
	(void)state;
	assert_refused("--flog", "there is no option '--flog'; did you mean --flag?");
	assert_refused("--decmial=1", "there is no option '--decmial'; did you mean --decimal?");
	assert_refused("--xyz", "there is no option '--xyz'");
	assert_refused("--fla", "there is no option '--fla'; did you mean --flag?");
	assert_refused("-z", "there is no option '-z'");
	assert_refused("--flag=1", "--flag takes no value");
	assert_refused("--help=1", "--help takes no value");
	assert_refused("--text", "--text needs a value: --text TEXT");
	assert_refused("-n", "-n needs a value: -n N");
	assert_refused("--text=", "--text: its value is empty");
	assert_refused("a||b", "an argument is empty");
	assert_refused("--text|a|-tb", "-t is given twice");
	assert_refused("--choice|sometimes", "--choice: 'sometimes' is none of auto, always or never");
	assert_refused("--choice|alway", "--choice: 'alway' is none of auto, always or never");
}

static void test_numbers(void **state)
{
	(void)state;
	static const char *const bad_whole[] = {"x", "1x", "-", "--1", "+1", " 1", "1 ", "0x10", "1.0", "1e1", "--"};
	static const char *const bad_decimal[] = {"x",   "1x",    "-1.x", "+1",  " 1",    "1,5",   "1e", "e1",
	                                          "1e-", "1e0.5", "inf",  "nan", "0x1p0", "1.2.3", ".",  "1%"};
	char line[100], message[200];
	for (size_t i = 0; i < sizeof bad_whole / sizeof *bad_whole; i++) {
		sprintf(line, "--whole|%s", bad_whole[i]);
		sprintf(message, "--whole: '%s' is not a whole number", bad_whole[i]);
		assert_refused(line, message);
	}
	for (size_t i = 0; i < sizeof bad_decimal / sizeof *bad_decimal; i++) {
		sprintf(line, "--decimal|%s", bad_decimal[i]);
		sprintf(message, "--decimal: '%s' is not a number; write it like 1.25", bad_decimal[i]);
		assert_refused(line, message);
	}
	assert_refused("--whole|101", "--whole: 101 is out of range: it goes from 0 to 100");
	assert_refused("--whole|99999999999999999999",
	               "--whole: 99999999999999999999 is out of range: it goes from 0 to 100");
	assert_refused("--whole|-1", "--whole: -1 is out of range: it goes from 0 to 100");
	assert_refused("--decimal|-0.5", "--decimal: -0.5 is out of range: it goes from 0.5 to 10");
	assert_refused("--decimal|0.499", "--decimal: 0.499 is out of range: it goes from 0.5 to 10");
	assert_refused("--decimal|10.0001", "--decimal: 10.0001 is out of range: it goes from 0.5 to 10");
	struct values v;
	assert_int_equal(parse(&v, "--decimal|10.|-n|007"), 0);
	assert_true(v.decimal == 10);
	assert_int_equal(v.whole, 7);
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "--decimal|75e-2"), 0);
	assert_true(v.decimal == 0.75);
	arena_release(&v.arena);
	assert_int_equal(parse(&v, "--decimal|.1E+1"), 0);
	assert_true(v.decimal == 1);
	arena_release(&v.arena);
	assert_refused("--decimal|1e9", "--decimal: 1e9 is out of range: it goes from 0.5 to 10");
}

/* A former name is understood, is the same option, and is not shown. */
static void test_alias(void **state)
{
	(void)state;
	struct values v;
	assert_int_equal(parse(&v, "--former|a"), 0);
	assert_string_equal(v.maybe, "a");
	arena_release(&v.arena);
	assert_refused("--former|a|--maybe|b", "--maybe is given twice");
	assert_refused("--former", "--maybe needs a value: --maybe TEXT");
}

static void test_near(void **state)
{
	(void)state;
	assert_true(opt_near("repotr", "report"));  /* swapped */
	assert_true(opt_near("reports", "report")); /* added */
	assert_true(opt_near("rport", "report"));   /* missing */
	assert_true(opt_near("shwo", "show"));
	assert_false(opt_near("shell", "show")); /* three letters */
	assert_false(opt_near("", "show"));
	assert_false(opt_near("-", "p"));
	assert_false(opt_near("version", "report"));
	assert_false(opt_near("a-name-that-is-far-longer-than-any-option-could-be", "report"));
}

static void test_help(void **state)
{
	(void)state;
	bool flag;
	const char *text;
	const struct opt options[] = {
		{OPT_FLAG, 'f', "flag", NULL, "short", .flag = &flag},
		{OPT_TEXT, 0, "a-name-of-twenty-chars", "TEXT",
	         "a help text that is long enough to be wrapped onto a second line of the page", .text = &text},
	};
	static const char *const examples[] = {"tool a", NULL}, *const statuses[] = {"0  done", NULL};
	const struct opt_usage usage = {"tool", arguments, "About this.", options, 2, examples, statuses};
	struct buf out = {0};
	opt_help(&usage, &out);
	assert_string_equal(out.data, "usage: tool [OPTIONS] FILE\n"
	                              "       tool --list FILE ...\n"
	                              "\n"
	                              "About this.\n"
	                              "\n"
	                              "options:\n"
	                              "  -f, --flag            short\n"
	                              "      --a-name-of-twenty-chars TEXT\n"
	                              "                        a help text that is long enough to be wrapped onto a\n"
	                              "                        second line of the page\n"
	                              "  -h, --help            show this help\n"
	                              "\n"
	                              "examples:\n"
	                              "  tool a\n"
	                              "\n"
	                              "exit status:\n"
	                              "  0  done\n");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_understood), cmocka_unit_test(test_commands), cmocka_unit_test(test_help_asked),
		cmocka_unit_test(test_empty),      cmocka_unit_test(test_refused),  cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_alias),      cmocka_unit_test(test_near),     cmocka_unit_test(test_help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
