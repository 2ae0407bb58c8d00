/* Samples of the GPUs from stand-ins for the driver's library, and how they are noted in a profile. */
#include "capture/annotate.h"
#include "capture/gpu.h"
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static const char nothing[] = "/nonexistent/libnvidia-ml.so.1";
static const char first_uuid[] = "GPU-00000000-1111-2222-3333-444444444444";

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the library ---- */

static void test_library(void **test)
{
	struct support *s = *test;
	struct gpu_state state;
	int64_t before = now();
	gpu_state_open(&state, STANDIN_NVML_NEW, &s->arena);
	assert_string_equal(state.source, "NVML");
	assert_string_equal(state.driver, "580.159.04");
	assert_int_equal(state.n_gpus, 2); /* the third cannot be opened */
	assert_string_equal(state.gpus[0].name, "NVIDIA H200");
	assert_string_equal(state.gpus[0].uuid, first_uuid);
	assert_string_equal(state.gpus[0].bus, "00000000:18:00.0");
	assert_int_equal(state.gpus[0].max_sm_mhz, 1980);
	assert_string_equal(state.gpus[1].name, "NVIDIA ?[31mT400");
	assert_int_equal(state.gpus[1].max_sm_mhz, 0);
	assert_int_equal(state.gpus[0].others, 0);
	assert_int_equal(state.gpus[1].others, -1);
	gpu_state_sample(&state);
	gpu_state_sample(&state);
	gpu_state_close(&state);
	gpu_state_close(&state); /* and again: nothing */
	gpu_state_sample(&state);
	assert_null(state.open);
	assert_int_equal(state.n, 4);
	const struct gpu_sample *a = &state.samples[0], *b = &state.samples[1], *c = &state.samples[2];
	assert_true(a->time >= before && a->time <= b->time && b->time <= c->time && c->time <= now());
	assert_int_equal(a->gpu, 0);
	assert_int_equal(a->sm_mhz, 1980);
	assert_int_equal(c->sm_mhz, 1965);
	assert_int_equal(a->memory_mhz, 3201);
	assert_int_equal(a->power_mw, 693125);
	assert_int_equal(a->temperature_c, 64);
	assert_int_equal(a->busy_percent, 97);
	assert_true(a->has_throttle && a->throttle == 0x8000000000000004);
	assert_int_equal(b->gpu, 1);
	assert_int_equal(b->sm_mhz, -1);
	assert_int_equal(b->memory_mhz, -1);
	assert_int_equal(b->power_mw, -1); /* answered 0xFFFFFFFF */
	assert_int_equal(b->temperature_c, 31);
	assert_int_equal(b->busy_percent, -1);
	assert_false(b->has_throttle);
}

/* Those that are there before the program begins are somebody else's. */
static void test_others(void **test)
{
	struct support *s = *test;
	struct gpu_state state;
	setenv("STANDIN_NVML", "shared", 1);
	gpu_state_open(&state, STANDIN_NVML_NEW, &s->arena);
	assert_int_equal(state.gpus[0].others, 2);
	assert_int_equal(state.gpus[1].others, -1);
	gpu_state_close(&state);
	gpu_state_open(&state, STANDIN_NVML_OLD, &s->arena);
	assert_int_equal(state.gpus[0].others, -1);
	gpu_state_close(&state);
	unsetenv("STANDIN_NVML");
}

static void test_old_library(void **test)
{
	struct support *s = *test;
	struct gpu_state state;
	gpu_state_open(&state, STANDIN_NVML_OLD, &s->arena);
	assert_string_equal(state.source, "NVML");
	gpu_state_sample(&state);
	gpu_state_close(&state);
	assert_int_equal(state.samples[0].busy_percent, -1);
	assert_int_equal(state.samples[0].throttle, 0x20); /* by the function's older name */
	assert_int_equal(state.samples[0].sm_mhz, 1980);
}

static void test_no_source(void **test)
{
	struct support *s = *test;
	struct gpu_state state;
	gpu_state_open(&state, nothing, &s->arena);
	assert_string_equal(state.source, "");
	gpu_state_sample(&state);
	gpu_state_close(&state);
	assert_int_equal(state.n + state.n_gpus, 0);
	/* A library without a driver or without GPUs is no source either. */
	setenv("STANDIN_NVML", "broken", 1);
	gpu_state_open(&state, STANDIN_NVML_NEW, &s->arena);
	assert_string_equal(state.source, "");
	setenv("STANDIN_NVML", "empty", 1);
	gpu_state_open(&state, STANDIN_NVML_NEW, &s->arena);
	assert_string_equal(state.source, "");
}

/* ---- the profile ---- */

/* Rows of a query, cells separated by '|', rows by a newline; NULL is "-". */
static const char *query(struct support *s, const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *row;
	struct buf text = {0};
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
	while (sqlite3_step(row) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(row); i++) {
			const unsigned char *cell = sqlite3_column_text(row, i);
			buf_format(&text, "%s%s", cell ? (const char *)cell : "-",
			           i + 1 < sqlite3_column_count(row) ? "|" : "\n");
		}
	sqlite3_finalize(row);
	sqlite3_close(db);
	const char *copy = text.n ? arena_copy(&s->arena, text.data, text.n) : "";
	buf_release(&text);
	return copy;
}

static int files_in(const char *folder)
{
	int n = 0;
	DIR *dir = opendir(folder);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void test_annotate(void **test)
{
	struct support *s = *test;
	struct gpu_identity gpus[2] = {{"NVIDIA H200", "GPU-a", "00000000:18:00.0", 1980, 2}, {"", "", "", 0, -1}};
	struct gpu_sample samples[2] = {{1500, 0, 1755, 3201, 693130, 64, 97, true, 4},
	                                {900, 1, -1, -1, -1, 31, -1, false, 0}};
	struct gpu_state state = {.source = "NVML", .gpus = gpus, .n_gpus = 2, .samples = samples, .n = 2};
	struct annotation note = {.version = "0.1.0",
	                          .collector = "cupti",
	                          .cupti = "13.0.1",
	                          .trace = "cuda,nvtx",
	                          .graphs = "graph",
	                          .complete = "the program was killed by SIGKILL",
	                          .dropped = 12,
	                          .dropped_events = 5,
	                          .gpu_state = &state,
	                          .start_ns = 1000};
	struct err err;
	const char *path = support_profile(s, "layout_2025.sql", "PRAGMA journal_mode = WAL");
	for (int i = 0; i < 2; i++) { /* twice: the second replaces the first */
		assert_int_equal(annotate_profile(path, &note, &err), 0);
		assert_int_equal(files_in(s->folder), 1);
		assert_string_equal(
			query(s, path, "SELECT * FROM GAPLINE_CAPTURE ORDER BY name"),
			"collector|cupti\ncomplete|the program was killed by SIGKILL\ncupti|13.0.1\n"
			"dropped|12\ndropped_events|5\ngapline|0.1.0\ngpu_state|NVML\ngraphs|graph\ntrace|cuda,nvtx\n");
		assert_string_equal(query(s, path, "SELECT * FROM GAPLINE_GPU ORDER BY gpu"),
		                    "0|GPU-a|00000000:18:00.0|NVIDIA H200|1980|2\n1|-|-|-|-|-\n");
		assert_string_equal(query(s, path, "SELECT * FROM GAPLINE_GPU_STATE ORDER BY gpu"),
		                    "500|0|1755|3201|693130|64|97|4\n-100|1|-|-|-|31|-|-\n");
	}
	assert_int_equal(support_read(s, path), 0);
	struct annotation less = {.version = "0.1.0", .collector = "nsys", .complete = "yes"};
	assert_int_equal(annotate_profile(path, &less, &err), 0);
	assert_string_equal(query(s, path, "SELECT * FROM GAPLINE_CAPTURE ORDER BY name"),
	                    "collector|nsys\ncomplete|yes\ngapline|0.1.0\ngpu_state|none\n");
	assert_string_equal(query(s, path, "SELECT * FROM GAPLINE_GPU_STATE"), "");
}

static void test_annotate_fails(void **test)
{
	struct support *s = *test;
	struct annotation note = {.version = "0.1.0", .collector = "nsys"};
	struct err err;
	const char *missing = support_path(s, "missing.sqlite"), *text = support_path(s, "text");
	assert_int_equal(annotate_profile(missing, &note, &err), -1);
	assert_non_null(strstr(err.text, "missing.sqlite: what was captured cannot be noted"));
	assert_int_equal(files_in(s->folder), 0);
	static const char prose[] = "No database, and longer than a hundred bytes, so that SQLite looks at what it is "
				    "and does not take it for an empty one.";
	support_write(text, prose, sizeof prose);
	assert_int_equal(annotate_profile(text, &note, &err), -1);
	assert_non_null(strstr(err.text, "not a database"));
	assert_int_equal(files_in(s->folder), 1);
}

static int setup(void **test)
{
	unsetenv("STANDIN_NVML");
	return support_setup(test);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_library),   TEST(test_others),   TEST(test_old_library),
		TEST(test_no_source), TEST(test_annotate), TEST(test_annotate_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
