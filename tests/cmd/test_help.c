/* Help's words come from the catalogue (gen/say/help.txt): every command and option has some, and none is of nothing.
 */
#include "base/buf.h"
#include "cmd/cmd.h"
#include "say/say.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SHARED_MOST = 128 };

/* Options of [help *] that a command has met. */
static bool met[SHARED_MOST];

static size_t place(const struct say_help *help, const char *option)
{
	size_t i = 0;
	while (help->options[i].name && strcmp(help->options[i].name, option) != 0)
		i++;
	return i;
}

static void visit(void *context, const struct opt_usage *usage)
{
	const struct say_help *help = context, *shared = say_help("*");
	size_t own = 0, n = 0;
	assert_string_equal(usage->name, help->name);
	assert_true(*usage->about && *usage->arguments && *usage->examples && *usage->statuses);
	while (help->options[n].name)
		n++;
	for (size_t i = 0; i < usage->n_options; i++) {
		const char *name = usage->options[i].name;
		if (!usage->options[i].help || !*usage->options[i].help)
			fail_msg("%s --%s has no help", usage->name, name);
		bool is_own = help->options[place(help, name)].name;
		own += is_own;
		if (!is_own)
			met[place(shared, name)] = true;
	}
	if (own != n)
		fail_msg("%s: help.txt has %zu options, %zu of them are the command's", usage->name, n, own);
}

static void every_option_has_words(void **state)
{
	(void)state;
	for (const struct cmd *c = cmd_table; c->name; c++) {
		const struct say_help *help = say_help(c->name);
		assert_non_null(help->name);
		assert_true(*help->does);
		cmd_usage(c, visit, (void *)help);
	}
	const struct say_option *shared = say_help("*")->options;
	for (size_t i = 0; shared[i].name; i++)
		if (!met[i])
			fail_msg("[help *] has --%s, which no command has", shared[i].name);
}

static void own_words_come_first(void **state)
{
	(void)state;
	assert_string_equal(say_help_option(say_help("report"), "quiet"), "print nothing but errors");
	assert_string_equal(say_help_option(say_help("stats"), "quiet"), "print nothing but the tables and errors");
	assert_null(say_help_option(say_help("report"), "no-such-option"));
}

static void other_statuses(void **state)
{
	(void)state;
	assert_string_equal(say_help("export")->statuses[0], "0  done"); /* those of all commands */
	assert_string_equal(say_help("report")->statuses[1], "1  a gate is not met");
	assert_string_equal(say_help("history")->statuses[3],
	                    "   report: the history cannot be read, or none of its commits can");
	assert_null(say_help("history")->statuses[4]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_has_words),
		cmocka_unit_test(own_words_come_first),
		cmocka_unit_test(other_statuses),
	};
	return cmocka_run_group_tests_name("help", tests, NULL, NULL);
}
