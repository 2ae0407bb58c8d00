/* Packed profiles: what comes out, where it is kept, and what is left of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/unpack.h"
#include "support_sqlite.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#ifdef GAPLINE_ZSTD
#include <zstd.h>
#endif

#define SAYS(s, part)                                                                                                  \
	do {                                                                                                           \
		if (!strstr((s)->err.text, (part)))                                                                    \
			fail_msg("\"%s\" is not said: %s", (part), (s)->err.text);                                     \
	} while (0)

/* Bytes that pack neither to nothing nor to themselves. */
static unsigned char *bytes_of(struct support *s, size_t n)
{
	unsigned char *data = arena_alloc(&s->arena, n, 1);
	uint32_t x = 1;
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (unsigned char)(x >> 30);
	}
	return data;
}

static size_t files_in(const char *folder)
{
	size_t n = 0;
	DIR *dir = opendir(folder);
	for (struct dirent *e; dir && (e = readdir(dir));)
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(dir);
	return n;
}

/* The file's contents, through pieces of odd sizes, equal `data`. */
static void assert_unpacks_to(struct support *s, const char *path, const unsigned char *data, size_t n)
{
	unsigned char *all = arena_alloc(&s->arena, n + 1, 1);
	struct unpack *u = unpack_open(path, -1, &s->err);
	assert_non_null(u);
	size_t have = 0;
	for (ssize_t got = 1, piece = 1; got > 0 && have <= n; have += (size_t)got, piece = piece * 3 + 1) {
		size_t room = n + 1 - have;
		got = unpack_read(u, all + have, (size_t)piece < room ? (size_t)piece : room, &s->err);
		assert_true(got >= 0);
	}
	assert_int_equal(have, n);
	assert_memory_equal(all, data, n);
	struct stat packed;
	assert_int_equal(stat(path, &packed), 0);
	assert_int_equal(unpack_used(u), packed.st_size);
	unpack_close(u);
}

static void gzip_in_pieces(void **state)
{
	struct support *s = *state;
	enum { N = 3000000 };
	const unsigned char *data = bytes_of(s, N);
	const char *path = support_path(s, "packed");
	support_gzip(path, data, N, "wb");
	assert_unpacks_to(s, path, data, N);
	support_gzip(path, data, 1000, "wb"); /* as several members */
	support_gzip(path, data + 1000, 0, "ab");
	support_gzip(path, data + 1000, N - 1000, "ab");
	assert_unpacks_to(s, path, data, N);
	support_write(path, "plain", 5);
	assert_null(unpack_open(path, -1, &s->err));
	SAYS(s, "neither with gzip nor with zstd");
}

/* ---- where it is kept ---- */

static int unpack_profile(struct support *s, struct meter *meter)
{
	return unpack_to_file(support_path(s, "packed"), -1, INT64_MAX, meter, &s->err);
}

static void file_without_a_name(void **state)
{
	struct support *s = *state;
	enum { N = 1000000 };
	const unsigned char *data = bytes_of(s, N);
	support_gzip(support_path(s, "packed"), data, N, "wb");
	const char *folder = support_path(s, "temporary");
	mkdir(folder, 0700);
	setenv("TMPDIR", folder, 1);
	struct meter whole = {.of = 50}, meter = {.of = 7, .parent = &whole, .weight = 40};
	int fd = unpack_profile(s, &meter);
	assert_true(fd >= 0);
	assert_int_equal(whole.done, 40);
	assert_int_equal(files_in(folder), 0);
	struct stat in, at;
	assert_int_equal(fstat(fd, &in), 0);
	assert_int_equal(stat(folder, &at), 0);
	assert_true(in.st_dev == at.st_dev && in.st_nlink == 0 && in.st_size == N);
	unsigned char *all = arena_alloc(&s->arena, N, 1);
	assert_int_equal(pread(fd, all, N, 0), N);
	assert_memory_equal(all, data, N);
	close(fd);
	setenv("TMPDIR", "/nowhere", 1); /* another folder, then */
	fd = unpack_profile(s, NULL);
	assert_true(fd >= 0);
	close(fd);
	rmdir(folder);
	unsetenv("TMPDIR");
}

/* A limit on the size of files, which also sends a signal, stands for a full disk. */
static void no_room(void **state)
{
	struct support *s = *state;
	enum { N = 1000000, LIMIT = 300000 };
	support_gzip(support_path(s, "packed"), bytes_of(s, N), N, "wb");
	setenv("TMPDIR", s->folder, 1);
	struct rlimit before, small;
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = LIMIT;
	setrlimit(RLIMIT_FSIZE, &small);
	int fd = unpack_profile(s, NULL);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(fd, -1);
	SAYS(s, s->folder);
	SAYS(s, "TMPDIR may name a folder with more room");
	assert_int_equal(files_in(s->folder), 1);
	unsetenv("TMPDIR");
	sigset_t waiting;
	sigpending(&waiting);
	assert_false(sigismember(&waiting, SIGXFSZ));
}

/* ---- zstd ---- */

#ifdef GAPLINE_ZSTD
static size_t zstd_frame(struct support *s, const void *data, size_t n, int window, unsigned char **packed)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n);
	*packed = arena_alloc(&s->arena, room, 1);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	if (window) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
		ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0); /* or a small one would do */
	}
	ZSTD_inBuffer in = {data, n, 0};
	ZSTD_outBuffer out = {*packed, room, 0};
	while (ZSTD_compressStream2(context, &out, &in, in.pos < n ? ZSTD_e_continue : ZSTD_e_end) > 0 || in.pos < n)
		;
	ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
	ZSTD_freeCCtx(context);
	return out.pos;
}

static void zstd(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", "PRAGMA journal_mode = WAL");
	const char *packed = support_path(s, "any name at all");
	size_t n;
	unsigned char *data = support_load(s, path, &n), *frame, *frames[2];
	size_t frame_n = zstd_frame(s, data, n, 0, &frame);
	support_write(packed, frame, frame_n);
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);

	/* Two frames, and one to skip before them. */
	struct buf all = {0};
	buf_add(&all, "\x50\x2A\x4D\x18\x04\0\0\0skip", 12);
	size_t first = zstd_frame(s, data, n / 3, 0, &frames[0]);
	size_t second = zstd_frame(s, data + n / 3, n - n / 3, 0, &frames[1]);
	buf_add(&all, (const char *)frames[0], first);
	buf_add(&all, (const char *)frames[1], second);
	support_write(packed, all.data, all.n);
	assert_unpacks_to(s, packed, data, n);
	assert_int_equal(support_read(s, packed), 0);
	buf_release(&all);

	for (size_t cut = 4; cut < frame_n; cut += 1 + frame_n / 40) {
		support_write(packed, frame, cut);
		assert_int_equal(support_read(s, packed), -1);
		SAYS(s, "is cut off");
	}
	int refused = 0;
	for (size_t at = 4; at < frame_n; at += 1 + frame_n / 40) {
		frame[at] ^= 0x55;
		support_write(packed, frame, frame_n);
		if (support_read(s, packed) == 0) /* else found by the format or by the checksum */
			assert_unpacks_to(s, packed, data, n);
		else
			refused++;
		frame[at] ^= 0x55;
	}
	assert_in_range(refused, 35, 40); /* a bit or two of a frame mean nothing */
}

static void zstd_with_a_long_window(void **state)
{
	struct support *s = *state;
	enum { N = 100000, TOO_LONG = 28 };
	unsigned char *frame;
	const char *path = support_path(s, "packed");
	size_t n = zstd_frame(s, bytes_of(s, N), N, TOO_LONG, &frame);
	support_write(path, frame, n);
	assert_int_equal(support_read(s, path), -1);
	SAYS(s, "zstd -d --long=31");
}

static void foreign_contents(void **state)
{
	struct support *s = *state;
	unsigned char *frame;
	const char *path = support_path(s, "packed");
	size_t n = zstd_frame(s, "{\"traceEvents\": []}", 19, 0, &frame);
	support_write(path, frame, n);
	assert_int_equal(support_read(s, path), -1);
	SAYS(s, "JSON");
	SAYS(s, "packed with zstd");
	support_gzip(path, frame, n, "wb");
	assert_int_equal(support_read(s, path), -1);
	SAYS(s, "holds, gzipped, packed with zstd; unpack it");
}
#else
static void zstd_is_refused(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "packed");
	support_write(path, "\x28\xB5\x2F\xFD\x04\0", 6);
	assert_int_equal(support_read(s, path), -1);
	SAYS(s, "built without libzstd");
}
#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, support_setup, support_teardown)
	const struct CMUnitTest tests[] = {
		TEST(gzip_in_pieces), TEST(file_without_a_name),     TEST(no_room),
#ifdef GAPLINE_ZSTD
		TEST(zstd),           TEST(zstd_with_a_long_window), TEST(foreign_contents),
#else
		TEST(zstd_is_refused),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
