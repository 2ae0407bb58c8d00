/* What launchers of parallel jobs say in the environment: values that a launcher sets, and nothing else. */
#include "base/launcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void values_that_a_launcher_sets(void **state)
{
	(void)state;
	static const char *const good[] = {"0", "17", "torch.elastic-1:x@y", "a_b"};
	static const char *const bad[] = {"", "a b", "1;2", "$HOME", "a/b", "\xC3\xBC", "1\n"};
	const struct launcher_variable *v = &LAUNCHER[0];
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(setenv(v->name, good[i], 1), 0);
		assert_string_equal(launcher_value(v), good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(setenv(v->name, bad[i], 1), 0);
		assert_null(launcher_value(v));
	}
	assert_int_equal(unsetenv(v->name), 0);
	assert_null(launcher_value(v));
}

static void no_longer_than_readers_take(void **state)
{
	(void)state;
	char value[LAUNCHER_VALUE_MAX + 2] = "";
	const struct launcher_variable *v = &LAUNCHER[0];
	memset(value, 'x', LAUNCHER_VALUE_MAX);
	assert_int_equal(setenv(v->name, value, 1), 0);
	assert_string_equal(launcher_value(v), value);
	value[LAUNCHER_VALUE_MAX] = 'x';
	assert_int_equal(setenv(v->name, value, 1), 0);
	assert_null(launcher_value(v));
	assert_int_equal(unsetenv(v->name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_that_a_launcher_sets),
		cmocka_unit_test(no_longer_than_readers_take),
	};
	return cmocka_run_group_tests_name("launchers", tests, NULL, NULL);
}
