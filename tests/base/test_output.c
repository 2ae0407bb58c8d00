/* Outputs are whole or not there, and nothing is left beside them. */
#include "base/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/gapline-output-XXXXXX";

static int enter_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder) || chdir(folder) ? -1 : 0;
}

static int leave_folder(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder) ? -1 : 0; /* rmdir fails if a test left a file */
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text)
{
	char bytes[100] = "";
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(bytes, 1, sizeof bytes - 1, f) == strlen(text));
	fclose(f);
	assert_string_equal(bytes, text);
}

static int files_here(void)
{
	int n = 0;
	DIR *dir = opendir(".");
	for (struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	return n;
}

static int write_one(const char *path, const char *text, struct err *err)
{
	struct output o;
	int rc = output_prepare(&o, path, err);
	o.bytes = text;
	o.n = strlen(text);
	if (!rc)
		rc = output_write(&o, 1, err);
	output_release(&o);
	return rc;
}

static mode_t mode_of(const char *path)
{
	struct stat file;
	assert_int_equal(stat(path, &file), 0);
	return file.st_mode & 07777;
}

static void test_new_and_replaced(void **state)
{
	(void)state;
	struct err err;
	mode_t before = umask(027);
	assert_int_equal(write_one("new", "one", &err), 0);
	umask(before);
	assert_holds("new", "one");
	assert_int_equal(mode_of("new"), 0640);
	assert_int_equal(chmod("new", 0604), 0);
	assert_int_equal(write_one("new", "two", &err), 0);
	assert_holds("new", "two");
	assert_int_equal(mode_of("new"), 0604); /* an existing file keeps its permissions */
	assert_int_equal(files_here(), 1);
	assert_int_equal(unlink("new"), 0);
}

static void test_through_a_link(void **state)
{
	(void)state;
	struct err err;
	put("real", "old");
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(write_one("link", "new", &err), 0);
	char to[10];
	assert_int_equal(readlink("link", to, sizeof to), 4); /* still a link */
	assert_holds("real", "new");
	assert_int_equal(unlink("real"), 0);
	assert_int_equal(write_one("link", "new", &err), -1);
	assert_string_equal(err.text, "link: is a symbolic link to nowhere");
	assert_int_equal(unlink("link"), 0);
}

static void assert_never(const char *path, const char *message)
{
	struct err err;
	struct output o;
	assert_int_equal(output_prepare(&o, path, &err), -1);
	assert_string_equal(err.text, message);
	output_release(&o);
}

static void test_never_possible(void **state)
{
	(void)state;
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_never("folder", "folder: is a folder; name a file in it");
	assert_never("folder/", "folder/: names a folder; name a file in it");
	assert_never("missing/", "missing/: names a folder; name a file in it");
	assert_never("missing/file", "missing/file: its folder does not exist; create it first");
	put("file", "");
	assert_never("file/below", "file/below: Not a directory; a part of the path that should be one is a file");
	if (geteuid()) {
		assert_int_equal(chmod("folder", 0500), 0);
		assert_never("folder/file", "folder/file: cannot write into its folder: Permission denied");
		assert_int_equal(chmod("file", 0400), 0);
		assert_never("file", "file: cannot be written: Permission denied");
	}
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(rmdir("folder"), 0);
}

static bool same(const char *a, const char *b)
{
	struct err err;
	struct output first, second;
	assert_int_equal(output_prepare(&first, a, &err), 0);
	assert_int_equal(output_prepare(&second, b, &err), 0);
	bool result = output_same(&first, &second);
	output_release(&first);
	output_release(&second);
	return result;
}

static void test_same(void **state)
{
	(void)state;
	put("file", "");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_true(same("file", "link"));
	assert_true(same("file", "./folder/../file"));
	assert_true(same("new", "folder/../new"));
	assert_true(same("-", "-"));
	assert_true(same("/dev/null", "/dev/null"));
	assert_false(same("file", "new"));
	assert_false(same("new", "other"));
	assert_false(same("new", "folder/new"));
	assert_false(same("new", "-"));
	struct output o;
	struct err err;
	struct stat file;
	assert_int_equal(stat("file", &file), 0);
	assert_int_equal(output_prepare(&o, "link", &err), 0);
	assert_true(output_replaces(&o, &file));
	output_release(&o);
	assert_int_equal(output_prepare(&o, "new", &err), 0);
	assert_false(output_replaces(&o, &file));
	output_release(&o);
	assert_int_equal(unlink("link") | unlink("file") | rmdir("folder"), 0);
}

static void test_stream(void **state)
{
	(void)state;
	struct err err;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	int fd = open("pipe", O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(write_one("pipe", "through", &err), 0);
	char bytes[20] = "";
	assert_int_equal(read(fd, bytes, sizeof bytes), 7);
	assert_string_equal(bytes, "through");
	assert_int_equal(files_here(), 1); /* the pipe itself, not replaced by a file */
	close(fd);
	assert_int_equal(write_one("/dev/full", "x", &err), -1);
	assert_string_equal(err.text,
	                    "/dev/full: No space left on device; free some (df -h shows where), or write elsewhere");
	assert_int_equal(unlink("pipe"), 0);
}

/* The second of two files does not fit: neither is replaced. */
static void test_all_or_nothing(void **state)
{
	(void)state;
	struct err err;
	struct output two[2];
	struct rlimit before, small;
	char large[5000];
	memset(large, 'x', sizeof large);
	put("first", "old first");
	put("second", "old second");
	assert_int_equal(output_prepare(&two[0], "first", &err), 0);
	assert_int_equal(output_prepare(&two[1], "second", &err), 0);
	two[0].bytes = "new";
	two[0].n = 3;
	two[1].bytes = large;
	two[1].n = sizeof large;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = output_write(two, 2, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(rc, -1);
	assert_string_equal(err.text,
	                    "second: File too large; raise the limit (ulimit -f), or write to another file system");
	assert_holds("first", "old first");
	assert_holds("second", "old second");
	assert_int_equal(files_here(), 2);
	assert_int_equal(output_write(two, 2, &err), 0); /* and with room it works */
	assert_holds("first", "new");
	output_release(&two[0]);
	output_release(&two[1]);
	assert_int_equal(unlink("first") | unlink("second"), 0);
}

/* Processes that write the same three names at once: each is done, and each name is whole. */
static void test_at_once(void **state)
{
	enum { PROCESSES = 6, TIMES = 60 };
	static const char *const names[] = {"a", "b", "c"};
	(void)state;
	pid_t child[PROCESSES];
	for (int p = 0; p < PROCESSES; p++) {
		child[p] = fork();
		assert_true(child[p] >= 0);
		for (int i = 0; !child[p] && i < TIMES; i++) {
			struct output out[3];
			struct err err;
			int rc = 0;
			for (int k = 0; k < 3; k++) {
				rc = rc ? rc : output_prepare(&out[k], names[k], &err);
				out[k].bytes = "whole";
				out[k].n = 5;
			}
			if (rc || output_write(out, 3, &err)) {
				fprintf(stderr, "%s\n", err.text);
				_exit(2);
			}
			for (int k = 0; k < 3; k++)
				output_release(&out[k]);
		}
		if (!child[p])
			raise(SIGKILL); /* what it shares with this process is not its to give back: no leak */
	}
	for (int p = 0, status; p < PROCESSES; p++) {
		assert_int_equal(waitpid(child[p], &status, 0), child[p]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	for (int k = 0; k < 3; k++) {
		assert_holds(names[k], "whole");
		assert_int_equal(unlink(names[k]), 0);
	}
	assert_int_equal(files_here(), 0);
}

/* What killed processes left goes; what a process is at work on, here or elsewhere, or what only looks like it, stays.
 */
static void test_leftovers(void **state)
{
	(void)state;
	struct err err;
	char alive[40];
	static const char *const gone[] = {".new.99999999-0.tmp", ".new.99999999-12.old"};
	static const char *const others[] = {".new.99999999-0.tmpx", ".new.99999999.tmp", ".other.99999999-0.tmp",
	                                     ".new.html.99999999-0.tmp", ".new.-5-0.tmp"};
	snprintf(alive, sizeof alive, ".new.%ld-0.tmp", (long)getppid());
	put(gone[0], "x");
	put(gone[1], "x");
	put(alive, "x");
	put(".new.99999998-0.old", "x");
	int fd = open(".new.99999998-0.old", O_RDONLY);
	assert_int_equal(flock(fd, LOCK_SH), 0); /* as the process of another machine holds it */
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		put(others[i], "x");
	assert_int_equal(write_one("new", "one", &err), 0);
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		assert_int_not_equal(access(gone[i], F_OK), 0);
	assert_int_equal(unlink(alive), 0);
	assert_int_equal(unlink(".new.99999998-0.old"), 0);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(unlink(others[i]), 0);
	assert_int_equal(unlink("new"), 0);
	close(fd);
}

static void test_secret(void **state)
{
	(void)state;
	struct output o;
	struct err err;
	put("state", "old");
	assert_int_equal(chmod("state", 0644), 0);
	assert_int_equal(output_prepare(&o, "state", &err), 0);
	o.secret = true;
	o.bytes = "new";
	o.n = 3;
	assert_int_equal(output_write(&o, 1, &err), 0);
	output_release(&o);
	assert_int_equal(mode_of("state"), 0600);
	assert_int_equal(unlink("state"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_and_replaced), cmocka_unit_test(test_through_a_link),
		cmocka_unit_test(test_never_possible),   cmocka_unit_test(test_same),
		cmocka_unit_test(test_stream),           cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_at_once),          cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_secret),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
