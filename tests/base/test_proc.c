/* How a child process ended, as base/proc.h tells it. */
#include "base/proc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct proc started(const char *script)
{
	struct err err;
	struct proc proc;
	const char *const argv[] = {"sh", "-c", script, NULL};
	const struct proc_spawn spawn = {.argv = argv, .output = -1, .input = -1};
	assert_int_equal(proc_start(&proc, &spawn, &err), 0);
	return proc;
}

static void end_is_told(void **state)
{
	(void)state;
	struct proc well = started("exit 0"), badly = started("exit 3"), killed = started("kill -9 $$");
	assert_int_equal(proc_wait(&well, -1), 1);
	assert_int_equal(well.status, 0);
	assert_int_equal(proc_wait(&badly, -1), 1);
	assert_int_equal(proc_exit_status(badly.status), 3);
	assert_int_equal(proc_wait(&killed, -1), 1);
	assert_int_equal(proc_exit_status(killed.status), 128 + 9);
}

/* Somebody else in the process waits for all children: the end is there, how it was is lost, and is no success. */
static void end_that_somebody_else_took(void **state)
{
	(void)state;
	const char *const scripts[] = {"exit 0", "exit 3"};
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		char words[80];
		struct proc proc = started(scripts[i]);
		pid_t taken;
		while ((taken = waitpid(proc.pid, NULL, 0)) < 0 && errno == EINTR)
			continue;
		assert_int_equal(taken, proc.pid);
		assert_int_equal(proc_wait(&proc, -1), 1);
		assert_true(proc.ended);
		assert_int_equal(proc.status, PROC_STATUS_UNKNOWN);
		assert_int_equal(proc_exit_status(proc.status), 255);
		proc_status_text(proc.status, words, sizeof words);
		assert_string_equal(words, "a status that is not known");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_is_told),
		cmocka_unit_test(end_that_somebody_else_took),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
