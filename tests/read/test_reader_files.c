/* Files that are packed or foreign, and files that must be left alone. */
#include "big_profile.h"
#include "read/source.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void told_by_content(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *data;
		size_t n;
		const char *says;
	} cases[] = {
		{"", 0, "is empty"},
		{"NVIDIA Tegra Profiler Report 2025@5@1@121-123v0.", 48, "nsys export --type sqlite"},
		{"NVIDIA Tegra Profiler Report 1.", 31, "nsys export --type sqlite"},
		{"{\"schemaVersion\": 1, \"traceEvents\": []}", 39, "PyTorch"},
		{"\n\t [ {} ]", 9, "PyTorch"},
		{"\xEF\xBB\xBF{}", 5, "PyTorch"},
		{"NVR\0....", 8, "Nsight Compute"},
		{"\xFD"
	         "7zXZ\0",
	         6, "xz; unpack"},
		{"PK\x03\x04", 4, "zip; unpack"},
		{"BZh9", 4, "bzip2; unpack"},
		{"\x0A\x13\x12\x0D/device:GPU:0\x1A\x02\x08\x01", 21, "XPlane trace of XLA (JAX"},
		{"\x0A\x0D\x08\x01\x12\x09/host:CPU", 15, "gapline capture"},
		{"hello", 5, "no profile that gapline reads"},
		{"\0\0\0\0", 4, "no profile that gapline reads"},
		{"S", 1, "is cut off"},
		{"SQLite format 3", 15, "is cut off"},
		{"SQLite format 3\0", 16, "is cut off"},
		{"SQLite format 4\0 and more", 24, "no profile that gapline reads"},
		{"\x1F\x8B", 2, "is cut off"},
		{"\x28\xB5\x2F\xFD", 4, "zstd"},
		{"\x1F\x8B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 11, "is damaged"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *path = support_path(s, "run.sqlite"); /* the name means nothing */
		support_write(path, cases[i].data, cases[i].n);
		REFUSED(s, path, cases[i].says);
		if (cases[i].n && cases[i].data[0] != '\x1F') {
			const char *packed = support_path(s, "run.gz");
			support_gzip(packed, cases[i].data, cases[i].n, "wb");
			const char *said = cases[i].says;
			REFUSED(s, packed, strstr(said, "nsys export") ? "nsys export --type sqlite" : said);
		}
	}
	const char *packed = support_path(s, "run.gz");
	support_gzip(packed, "", 0, "wb");
	REFUSED(s, packed, "holds nothing");
	REFUSED(s, s->folder, "is a folder");
	REFUSED(s, support_path(s, "absent"), "no such file; check its name");
	REFUSED(s, "/dev/null", "is not a regular file");
	const char *pipe = support_path(s, "pipe");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	REFUSED(s, pipe, "is not a regular file"); /* and does not wait for a writer */
}

static void a_report_is_told_how_to_be_exported(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "a run.nsys-rep");
	support_write(path, "NVIDIA Tegra Profiler Report 1.", 31);
	REFUSED(s, path,
	        arena_format(&s->arena, "nsys export --type sqlite --force-overwrite true --output '%s.sqlite' '%s'",
	                     path, path));
	path = support_path(s, "what's $HOME.qdrep");
	support_write(path, "NVIDIA Tegra Profiler Report 1.", 31);
	REFUSED(s, path, "what'\\''s $HOME.qdrep.sqlite' '");
	REFUSED(s, path, "of 2021 or before (.qdrep)");
	path = support_path(s, "new.nsys-rep"); /* of a kind that nobody knows yet */
	support_write(path, "something else", 14);
	REFUSED(s, path, arena_format(&s->arena, "'%s.sqlite' '%s'", path, path));
	path = support_path(s, "it's.zip");
	support_write(path, "PK\x03\x04", 4);
	REFUSED(s, path, "unzip '");
	REFUSED(s, path, "it'\\''s.zip'");
	path = support_path(s, "kernels.csv");
	support_write(path, "\"ID\",\"Process ID\",\"Process Name\"\n", 33);
	REFUSED(s, path, arena_format(&s->arena, "--fixed-ncu '%s'", path));
	path = support_path(s, "report.html");
	support_write(path, "<!DOCTYPE html>\n", 16);
	REFUSED(s, path, "a web page");
	path = support_path(s, "run.sqlite");
	static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
	support_write(path, pointer, sizeof pointer - 1);
	REFUSED(s, path, "a pointer of Git LFS");
	REFUSED(s, path, arena_format(&s->arena, "git -C '%s/' lfs pull --include 'run.sqlite'", s->folder));
	path = support_path(s, "it's [1],2.sqlite"); /* what a pattern would take for its own */
	support_write(path, pointer, sizeof pointer - 1);
	REFUSED(s, path, "lfs pull --include 'it'\\''s ?1??2.sqlite'");
	path = support_path(s, "it's.txt");
	support_write(path, "epoch 1: loss 0.3\n", 18);
	REFUSED(s, path, arena_format(&s->arena, "with: file '%s/it'\\''s.txt'", s->folder));
	path = support_path(s, "log.gz");
	support_gzip(path, "epoch 1: loss 0.3\n", 18, "wb");
	REFUSED(s, path, arena_format(&s->arena, "with: gzip -dc < '%s' | file -", path));
	path = support_path(s, "result.json");
	support_write(path, "{\"loss\": 0.3}", 13);
	REFUSED(s, path, arena_format(&s->arena, "begins with: head -c 300 '%s'", path));
	static const char other[] = "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]";
	support_write(path, other, sizeof other - 1);
	REFUSED(s, path, arena_format(&s->arena, "see what wrote it with: head -c 300 '%s'", path));
	path = support_path(s, "result.gz");
	support_gzip(path, "{\"loss\": 0.3}", 13, "wb");
	REFUSED(s, path, arena_format(&s->arena, "begins with: gzip -dc < '%s' | head -c 300", path));
	REFUSED(s, s->folder, ": is a folder; name one file in it");
}

static void databases_that_are_no_profile(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "other.db");
	support_run(path, "CREATE TABLE bookmarks (url TEXT)");
	REFUSED(s, path, "neither an nsys export");
	REFUSED(s, path, arena_format(&s->arena, "sqlite3 '%s' .schema", path));
	path = support_path(s, "nvprof.db"); /* https://docs.nvidia.com/cuda/profiler-users-guide: nvprof -o */
	support_run(path,
	            "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL);"
	            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT);"
	            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (_id_ INTEGER PRIMARY KEY, start INT, end INT);"
	            "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY, start INT)");
	REFUSED(s, path, "is a database of nvprof");
	REFUSED(s, path, "gapline capture -o FILE -- COMMAND");
	path = support_path(s, "results.db");
	support_run(path, "CREATE TABLE entry (kind); CREATE TABLE part (kind)");
	REFUSED(s, path, arena_format(&s->arena, "gapline history report --db '%s'", path));
	path = support_profile(s, "layout_2021.sql",
	                       "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
	                       "DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET");
	REFUSED(s, path, "4 CUDA calls, 4 NVTX ranges, 1 OS calls");
	REFUSED(s, path, "nothing from the GPU");
	REFUSED(s, path, "nsys profile --trace=cuda,nvtx,osrt");
	support_run(path, "UPDATE StringIds SET value = 'cudaDeviceSynchronize' WHERE value LIKE 'cuda%'");
	REFUSED(s, path, "CUDA was recorded, and no call launches a kernel or copies");
	support_run(path, "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
	REFUSED(s, path, "did not use CUDA");
	unlink(path);
	path = support_profile(
		s, "layout_2021.sql",
		"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = 1;"
		"UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET end = 1");
	REFUSED(s, path, "6 rows dropped");
}

/* ---- gzip ---- */

static void gzipped(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", NULL), *packed = support_path(s, "any name at all");
	size_t n;
	unsigned char *data = support_load(s, path, &n);
	support_gzip(packed, data, n, "wb");
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);

	/* Two members, and zeros after them as some tapes and downloads leave them. */
	support_gzip(packed, data, n / 3, "wb");
	support_gzip(packed, data + n / 3, n - n / 3, "ab");
	FILE *f = fopen(packed, "ab");
	fwrite("\0\0\0\0\0\0\0\0", 1, 8, f);
	fclose(f);
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);

	size_t packed_n;
	support_gzip(packed, data, n, "wb");
	unsigned char *whole = support_load(s, packed, &packed_n);
	for (size_t cut = 2; cut < packed_n; cut += 1 + packed_n / 40) {
		support_write(packed, whole, cut);
		REFUSED(s, packed, "is cut off");
	}
	for (size_t at = 20; at < packed_n; at += 1 + packed_n / 40) {
		whole[at] ^= 0x55;
		support_write(packed, whole, packed_n);
		assert_int_equal(support_read(s, packed), -1); /* found by the format or by the checksum */
		whole[at] ^= 0x55;
	}
	/* A database that was cut off before it was packed. */
	support_gzip(packed, data, n - 4096, "wb");
	REFUSED(s, packed, "is cut off");
}

static void gzipped_with_a_wal_mark(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", "PRAGMA journal_mode = WAL");
	size_t n;
	unsigned char *data = support_load(s, path, &n);
	assert_int_equal(data[18], 2);
	const char *packed = support_path(s, "wal.gz");
	support_gzip(packed, data, n, "wb");
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
}

/* ---- the input is left alone ---- */

/* Names, sizes and times of everything in the folder, and the bytes of the profile. */
static const char *folder_state(struct support *s, const char *profile)
{
	struct buf text = {0};
	struct dirent **entries;
	int n = scandir(s->folder, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		struct stat st;
		if (stat(support_path(s, entries[i]->d_name), &st) == 0 && S_ISREG(st.st_mode))
			buf_format(&text, "%s %lld %lld.%09ld\n", entries[i]->d_name, (long long)st.st_size,
			           (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		free(entries[i]);
	}
	free(entries);
	size_t bytes;
	unsigned char *data = support_load(s, profile, &bytes);
	buf_format(&text, "%lu", crc32(0, data, (uInt)bytes));
	const char *copy = arena_copy(&s->arena, text.data, text.n);
	buf_release(&text);
	return copy;
}

static void no_file_beside_the_input(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", NULL);
	const char *before = folder_state(s, path);
	assert_int_equal(support_read(s, path), 0);
	assert_string_equal(folder_state(s, path), before);

	/* What another program left there and does not count any more is neither used nor removed: a journal whose
	 * change was finished (journal_mode=PERSIST zeroes its header), a log without a single page. */
	support_write(support_path(s, "profile.sqlite-journal"), "\0\0\0\0\0\0\0\0\0\0\0\1 garbage", 20);
	support_write(support_path(s, "profile.sqlite-wal"), "\x37\x7f\x06\x82 garbage", 12);
	support_write(support_path(s, "profile.sqlite-shm"), "garbage", 7);
	chmod(s->folder, 0500);
	chmod(path, 0400);
	before = folder_state(s, path);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
	assert_string_equal(folder_state(s, path), before);
}

static void rows_only_in_a_wal_file_are_missed(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", "PRAGMA journal_mode = WAL");
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL", NULL, NULL, NULL), SQLITE_OK);
	const char *before = folder_state(s, path);
	REFUSED(s, path, "profile.sqlite-wal");
	assert_string_equal(folder_state(s, path), before);

	/* Beside a link there is nothing: it lies beside the file. */
	const char *link = support_path(s, "link.sqlite");
	assert_int_equal(symlink(path, link), 0);
	REFUSED(s, link, "profile.sqlite-wal");
	REFUSED(s, link, arena_format(&s->arena, "sqlite3 '%s' 'PRAGMA journal_mode=DELETE'", link));
	sqlite3_close(db); /* which puts them in */
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 4);
}

/* SQLite writes pages of a large change before it is committed; the journal beside them has what they were. */
static void a_change_that_was_broken_off_is_not_read(void **state)
{
	struct support *s = *state;
	static const char change[] = "PRAGMA cache_size = 5; BEGIN; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;"
				     "UPDATE StringIds SET value = value || 'x'; DELETE FROM NVTX_EVENTS";
	const char *path = big_profile(s), *copy = support_path(s, "it's a copy.sqlite");
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
	for (int i = 0; i < 2; i++) { /* as a crash would leave them */
		size_t n;
		const char *end = i ? "-journal" : "";
		const unsigned char *bytes = support_load(s, arena_format(&s->arena, "%s%s", path, end), &n);
		support_write(arena_format(&s->arena, "%s%s", copy, end), bytes, n);
	}
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(db);
	REFUSED(s, copy, "it's a copy.sqlite-journal");
	REFUSED(s, copy, "/it'\\''s a copy.sqlite' .tables"); /* a word of a shell's */
	assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK); /* what the message advises */
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM sqlite_master", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(support_read(s, copy), 0);
	assert_true(s->trace.ops.n > 40000);
}

static void odd_file_names(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", NULL);
	static const char *const names[] = {"a b?mode=rw&cache=shared#x%41%00.sqlite",
	                                    "\xC3\xBC\xFF'\";$`\\n",
	                                    "file:x",
	                                    "-rf",
	                                    ":memory:",
	                                    "%2e%2e"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *odd = support_path(s, names[i]);
		assert_int_equal(rename(path, odd), 0);
		const char *before = folder_state(s, odd);
		if (support_read(s, odd) != 0)
			fail_msg("%s", s->err.text);
		assert_int_equal(s->trace.ops.n, 6);
		assert_int_equal(support_read(s, arena_format(&s->arena, "/%s", odd)),
		                 0); /* //tmp/… has no host in it */
		char here[4096];
		assert_non_null(getcwd(here, sizeof here));
		assert_int_equal(chdir(s->folder), 0);
		int relative = support_read(s, names[i]);
		assert_int_equal(chdir(here), 0);
		assert_int_equal(relative, 0);
		assert_string_equal(folder_state(s, odd), before);
		path = odd;
	}
}

/* A change that leaves the size as it was, and a name that stands for another file meanwhile. */
static void what_was_opened_is_judged(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "raced"), *other = support_path(s, "other");
	struct source source;
	support_write(path, "{ \"traceEvents\": [] }", 21);
	support_write(other, "another file", 12);
	assert_int_equal(source_open(&source, path, NULL, &s->err), 0);
	assert_int_equal(source_check(&source, &s->err), 0);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(source_check(&source, &s->err), 0);
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* longer than the grain of a file's time */
	int fd = open(arena_format(&s->arena, "/proc/self/fd/%d", source.fd), O_WRONLY);
	assert_int_equal(pwrite(fd, "}", 1, 20), 1);
	assert_int_equal(close(fd), 0);
	assert_int_equal(source_check(&source, &s->err), -1);
	assert_non_null(strstr(s->err.text, "was written while it was read"));
	source_close(&source);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(told_by_content),
		TEST(a_report_is_told_how_to_be_exported),
		TEST(databases_that_are_no_profile),
		TEST(gzipped),
		TEST(gzipped_with_a_wal_mark),
		TEST(no_file_beside_the_input),
		TEST(rows_only_in_a_wal_file_are_missed),
		TEST(a_change_that_was_broken_off_is_not_read),
		TEST(odd_file_names),
		TEST(what_was_opened_is_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
