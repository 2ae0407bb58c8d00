/* Spools that are cut off, damaged or no spools at all: converted as far as they go, or refused with a reason. Run with
 * sanitizers as well (preset debug). */
#include "support_convert.h"

#include "capture/spool_read.h"
#include "draws.h"

/* One of everything. */
static void small_spool(struct spool_maker *m)
{
	struct buf b = {0};
	struct spool_events events = {{0}};
	const struct spool_device device = {.sm_count = 132};
	const struct spool_dropped dropped = {SPOOL_DROPPED_EVENTS, 0, 1};
	const struct spool_window window = {.open = 0, .why = 1, .time = START + 700};
	begin_cuda(m, PID);
	spool_add_device(m, &device, "NVIDIA H200");
	spool_add_message(m, SPOOL_WARNING, "a word");
	spool_add_text(m, SPOOL_THREAD_NAME, MAIN, "main");
	spool_add(m, SPOOL_DROPPED, 0, &dropped, sizeof dropped);
	spool_add(m, 4000, 0, "of a later version", 18);
	struct spool_record r = spool_call(4, 307, START + 10, START + 20, MAIN, 1);
	spool_record(&b, &r, 40);
	r = spool_call(5, 211, START + 5, START + 25, MAIN, 1);
	spool_record(&b, &r, 40);
	r = spool_kernel(START + 30, START + 40, 0, 7, 1, 0x7f0011);
	spool_record(&b, &r, 216);
	r = spool_copy(START + 50, START + 60, 2, 100, 1);
	spool_record(&b, &r, 96);
	r = spool_memset(START + 50, START + 60, 0, 100, 1);
	spool_record(&b, &r, 88);
	r = spool_sync(START + 50, START + 60, 3, 7, 1);
	spool_record(&b, &r, 56);
	r = spool_graph(START + 50, START + 60, 1, 7, 1);
	spool_record(&b, &r, 56);
	r = spool_overhead(START + 50, START + 60, 1, 2, MAIN);
	spool_record(&b, &r, 56);
	spool_add_buffer(m, &b);
	spool_event_text(&events, (struct spool_event){.time = START + 1, .type = SPOOL_PUSH}, "a range");
	spool_event_text(&events, (struct spool_event){.time = START + 1, .type = SPOOL_START, .id = 1}, "another");
	spool_event_text(&events, (struct spool_event){.time = START + 2, .type = SPOOL_STRING, .string = 1}, "text");
	spool_event(&events, (struct spool_event){.time = START + 800, .type = SPOOL_POP}, "", 0);
	spool_event(&events, (struct spool_event){.time = START + 800, .type = SPOOL_STOP, .id = 1}, "", 0);
	spool_event_text(&events,
	                 (struct spool_event){.time = START + 100, .type = SPOOL_OS_CALL, .payload = START + 60000},
	                 "poll");
	spool_add_events(m, MAIN, &events);
	spool_add(m, SPOOL_WINDOW, 0, &window, sizeof window);
	spool_end(m, START + 900);
}

/* Converts what is in the test's folder; 0, or -1 with a message. Whatever comes out must be a sound database. */
static int try_convert(struct support *s, struct convert_result *result)
{
	struct arena arena = {0};
	char spool[300], profile[300];
	snprintf(spool, sizeof spool, "%s/.", s->folder);
	snprintf(profile, sizeof profile, "%s/out.sqlite", s->folder);
	const struct convert_request request = {
		.spool = spool, .profile = profile, .start_ns = START, .stop_ns = START + 10, .version = "0.1.0"};
	struct err err = {0};
	unlink(profile);
	int failed = convert_spool(&request, &arena, result, &err);
	if (failed && !err.text[0])
		fail_msg("refused without a word");
	if ((access(profile, F_OK) == 0) != !failed)
		fail_msg("a profile must be there exactly when it could be made");
	arena_release(&arena);
	return failed;
}

static void test_every_length(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	small_spool(&m);
	const char *path = support_path(s, "700-cuda-0.spool"), *db = support_path(s, "out.sqlite");
	int64_t ops = 0, calls = 0, ranges = 0;
	/* the whole comes last, whatever the step */
	for (size_t n = m.bytes.n % draws_step(1); n <= m.bytes.n; n += draws_step(1)) {
		spool_write(&m, path, n);
		struct convert_result r;
		assert_int_equal(try_convert(s, &r), 0);
		/* More of the file is never less of the profile. */
		assert_true(r.ops >= ops && r.calls >= calls && r.ranges >= ranges);
		assert_int_equal(r.skipped, 0);
		assert_int_equal(r.incomplete, r.processes && n < m.bytes.n);
		ops = r.ops;
		calls = r.calls;
		ranges = r.ranges;
		if (n % 64 == 0)
			assert_string_equal(query(s, db, "PRAGMA integrity_check"), "ok");
	}
	assert_int_equal(ops, 4);
	assert_int_equal(calls, 1);
	assert_int_equal(ranges, 2);
	assert_string_equal(query(s, db, "SELECT count(*), count(end) FROM NVTX_EVENTS"), "2|1");
	assert_string_equal(query(s, db, "SELECT count(*) FROM OSRT_API"), "1");
	spool_discard(&m);
}

/* Bytes all over the file become something else. */
static void test_changed_bytes(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	static const unsigned char values[] = {0x00, 0x7F, 0x80, 0xFF};
	small_spool(&m);
	const char *path = support_path(s, "700-cuda-0.spool");
	for (size_t i = 0; i < m.bytes.n; i += draws_step(2)) {
		char was = m.bytes.data[i];
		m.bytes.data[i] = (char)(i % 5 == 4 ? was ^ 1 : values[i % 5]);
		spool_write(&m, path, SIZE_MAX);
		struct convert_result r;
		try_convert(s, &r);
		m.bytes.data[i] = was;
	}
	spool_discard(&m);
}

static void test_numbers_at_their_ends(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	static const uint64_t values[] = {UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, 0xFFFFFFFF00000000,
	                                  0xFFFFFFFF};
	small_spool(&m);
	const char *path = support_path(s, "700-cuda-0.spool");
	for (size_t i = 8; i + 8 <= m.bytes.n; i += draws_step(8)) {
		uint64_t was;
		memcpy(&was, m.bytes.data + i, sizeof was);
		for (size_t j = i / 8 % 2; j < sizeof values / sizeof *values; j += 2) {
			memcpy(m.bytes.data + i, &values[j], sizeof was);
			spool_write(&m, path, SIZE_MAX);
			struct convert_result r;
			try_convert(s, &r);
		}
		memcpy(m.bytes.data + i, &was, sizeof was);
	}
	spool_discard(&m);
}

/* Blocks of every type with nothing in them, alone and first in their file. */
static void test_empty_blocks(void **state)
{
	struct support *s = *state;
	for (uint32_t type = 0; type < 32; type++) { /* and some that are not known yet */
		struct spool_maker m;
		struct convert_result r;
		spool_begin(&m, PID, WRITER);
		spool_add(&m, type, MAIN, "", 0);
		write_spool(s, &m, "700-cuda-0.spool");
		assert_int_equal(try_convert(s, &r), 0);
		assert_int_equal(r.skipped + r.ops + r.calls, 0);
	}
}

/* What a later version writes is passed over: whoever reads gets the next block, never a length without its payload. */
static void test_unknown_types(void **state)
{
	struct support *s = *state;
	static const char large[100000] = {0};
	struct spool_maker m;
	struct spool_reader r;
	spool_begin(&m, PID, WRITER);
	spool_add(&m, 1000, MAIN, large, sizeof large);
	spool_add(&m, SPOOL_PROGRAM, MAIN, "first", 5);
	spool_add(&m, 1000, MAIN, large, sizeof large);
	spool_add(&m, UINT32_MAX, MAIN, "", 0);
	spool_add(&m, SPOOL_DRIVER, MAIN, "second!", 7);
	spool_add(&m, 1001, MAIN, "last", 4);
	write_spool(s, &m, "700-cuda-0.spool");
	assert_int_equal(spool_open(&r, s->folder, "700-cuda-0.spool", &s->arena, &s->err), 1);
	assert_int_equal(spool_next(&r, &s->err), 1);
	assert_int_equal(r.block.type, SPOOL_PROGRAM);
	assert_int_equal(r.block.bytes, 5);
	assert_memory_equal(r.payload, "first", 5);
	assert_int_equal(spool_next(&r, &s->err), 1);
	assert_int_equal(r.block.type, SPOOL_DRIVER);
	assert_int_equal(r.block.bytes, 7);
	assert_memory_equal(r.payload, "second!", 7);
	assert_int_equal(spool_next(&r, &s->err), 0);
	assert_int_equal(spool_next(&r, &s->err), 0);
	spool_close(&r);
}

/* ---- what is no spool ---- */

static void test_strangers(void **state)
{
	struct support *s = *state;
	struct convert_result r;
	const char *path = support_path(s, "700-cuda-0.spool");
	support_write(path, "GLSPOOK", 8);
	assert_int_equal(try_convert(s, &r), -1);
	support_write(path, "x", 1);
	assert_int_equal(try_convert(s, &r), -1);
	unlink(path);

	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_non_null(strstr(refusal(s), "symbolic link"));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* would make a simple reader wait for ever */
	assert_non_null(strstr(refusal(s), "not a regular file"));
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_non_null(strstr(refusal(s), "not a regular file"));
	rmdir(path);

	struct spool_maker m;
	small_spool(&m);
	struct spool_header *header = (struct spool_header *)m.bytes.data;
	header->version = 2;
	spool_write(&m, path, SIZE_MAX);
	assert_non_null(strstr(refusal(s), "has version 2"));
	header->version = SPOOL_VERSION;
	header->clock = 7;
	spool_write(&m, path, SIZE_MAX);
	assert_non_null(strstr(refusal(s), "unknown clock"));
	spool_discard(&m);
}

static void test_missing_folder(void **state)
{
	struct support *s = *state;
	struct convert_result r;
	const struct convert_request request = {
		.spool = support_path(s, "nowhere"), .profile = support_path(s, "out.sqlite"), .version = "0.1.0"};
	assert_int_equal(convert_spool(&request, &s->arena, &r, &s->err), -1);
	assert_non_null(strstr(s->err.text, "nowhere: the spool folder cannot be read"));
}

static void test_target_that_cannot_be_written(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct convert_result r;
	small_spool(&m);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *const targets[] = {"no/such/folder.sqlite", ".", "-", "/dev/full"};
	for (int i = 0; i < 4; i++) {
		const char *target = i < 2 ? support_path(s, targets[i]) : targets[i];
		const struct convert_request request = {
			.spool = support_path(s, "."), .profile = target, .version = "0.1.0"};
		s->err.text[0] = 0;
		assert_int_equal(convert_spool(&request, &s->arena, &r, &s->err), -1);
		assert_true(s->err.text[0]);
	}
}

/* The order of the files is that of the programs, the tenth after the ninth. */
static void test_order(void **state)
{
	struct support *s = *state;
	static const char *const names[] = {"70-cuda-10.spool", "70-cuda-9.spool", "9-osrt-0.spool",
	                                    "70-cuda-0.spool",  ".spool",          "70-cuda-1.spool.tmp"};
	for (int i = 0; i < 6; i++)
		support_write(support_path(s, names[i]), "", 0);
	const char **list;
	size_t n;
	assert_int_equal(spool_list(s->folder, &s->arena, &list, &n, &s->err), 0);
	assert_int_equal(n, 4);
	assert_string_equal(list[0], "9-osrt-0.spool");
	assert_string_equal(list[1], "70-cuda-0.spool");
	assert_string_equal(list[2], "70-cuda-9.spool");
	assert_string_equal(list[3], "70-cuda-10.spool");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_length, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_changed_bytes, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_numbers_at_their_ends, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_empty_blocks, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_unknown_types, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_strangers, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_missing_folder, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_target_that_cannot_be_written, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_order, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
