/* A profile whose tables are read side by side is the one that is read table after table, down to the ids of names. */
#include "support_sqlite.h"

#include "base/parallel.h"

#include <sched.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const LAYOUTS[] = {"layout_2020.sql", "layout_2021.sql", "layout_2023.sql",
                                      "layout_2024.sql", "layout_2025.sql", "layout_2026.sql"};

/* Rows that are dropped, in tables of every group; names at hand; a thread and a process that only one table has. */
static const char MORE[] =
	"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = start - 1 WHERE rowid = (SELECT max(rowid) FROM "
	"CUPTI_ACTIVITY_KIND_RUNTIME);"
	"UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET end = start - 1;"
	"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (7, 5, 59, 'never', 77);"
	"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (50, 60, 59, 'alone', 5000000000077);";

/* Reads the profile on the first of the process's processors, or on all of them. */
static int read_on(struct support *s, const char *path, bool one, struct names *names, struct trace *trace,
                   struct err *err)
{
	cpu_set_t all, first;
	CPU_ZERO(&first);
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &first);
	const struct read_wish wish = {.details = true};
	names_init(names, &s->arena);
	assert_int_equal(sched_setaffinity(0, sizeof first, one ? &first : &all), 0);
	assert_true((parallel_width() == 1) == one);
	int result = read_profile_with(path, &wish, names, &s->arena, trace, err);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	return result;
}

#define SAME(column, n) assert_memory_equal(a->column, b->column, (n) * sizeof *a->column)

static void check_same(const struct trace *a, const struct trace *b)
{
	assert_int_equal(a->names->n, b->names->n);
	for (uint32_t id = 0; id < a->names->n; id++)
		assert_string_equal(names_text(a->names, id), names_text(b->names, id));
	assert_int_equal(a->ops.n, b->ops.n);
	SAME(ops.start, a->ops.n);
	SAME(ops.name, a->ops.n);
	SAME(ops.base_name, a->ops.n);
	SAME(ops.mangled_name, a->ops.n);
	SAME(ops.device, a->ops.n);
	SAME(ops.launch, a->ops.n);
	assert_int_equal(a->calls.n, b->calls.n);
	SAME(calls.name, a->calls.n);
	SAME(calls.thread, a->calls.n);
	assert_int_equal(a->ranges.n, b->ranges.n);
	SAME(ranges.start, a->ranges.n);
	SAME(ranges.end, a->ranges.n);
	SAME(ranges.name, a->ranges.n);
	SAME(ranges.domain, a->ranges.n);
	SAME(ranges.thread, a->ranges.n);
	assert_int_equal(a->os_calls.n, b->os_calls.n);
	SAME(os_calls.name, a->os_calls.n);
	SAME(os_calls.thread, a->os_calls.n);
	assert_int_equal(a->overheads.n, b->overheads.n);
	SAME(overheads.name, a->overheads.n);
	SAME(overheads.thread, a->overheads.n);
	assert_int_equal(a->slices.n, b->slices.n);
	SAME(slices.start, a->slices.n);
	SAME(slices.thread, a->slices.n);
	assert_memory_equal(a->rows, b->rows, sizeof a->rows);
	assert_int_equal(a->n_processes, b->n_processes);
	assert_int_equal(a->n_devices, b->n_devices);
	assert_int_equal(a->n_threads, b->n_threads);
	for (uint32_t i = 0; i < a->n_threads; i++) {
		assert_int_equal(a->threads[i].tid, b->threads[i].tid);
		assert_int_equal(a->threads[i].process, b->threads[i].process);
		assert_int_equal(a->threads[i].name, b->threads[i].name);
	}
	assert_int_equal(a->n_dropped, b->n_dropped);
	for (uint32_t i = 0; i < a->n_dropped; i++) {
		assert_string_equal(a->dropped[i].where, b->dropped[i].where);
		assert_string_equal(a->dropped[i].reason, b->dropped[i].reason);
		assert_int_equal(a->dropped[i].rows, b->dropped[i].rows);
	}
}

static void same_trace_on_one_processor_and_on_all(void **state)
{
	struct support *s = *state;
	if (parallel_width() < 2) {
		print_message("one processor only\n");
		skip();
	}
	for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
		struct names names[2];
		struct trace trace[2];
		const char *path = support_profile(s, LAYOUTS[i], MORE);
		assert_int_equal(read_on(s, path, true, &names[0], &trace[0], &s->err), 0);
		assert_int_equal(read_on(s, path, false, &names[1], &trace[1], &s->err), 0);
		assert_true(trace[0].n_dropped >= 3);
		check_same(&trace[0], &trace[1]);
		unlink(path);
	}
}

/* Whichever table a reader finds damaged first, the error is that of the first in order. */
static void same_error_on_one_processor_and_on_all(void **state)
{
	struct support *s = *state;
	if (parallel_width() < 2) {
		print_message("one processor only\n");
		skip();
	}
	const char *path = support_profile(s, LAYOUTS[4], NULL);
	size_t n;
	unsigned char *bytes = support_load(s, path, &n);
	int failed = 0;
	for (size_t page = 1; page < n / 4096; page++) {
		struct names names[2];
		struct trace trace[2];
		struct err err[2] = {{.text = ""}, {.text = ""}};
		unsigned char kept[16];
		memcpy(kept, bytes + page * 4096, sizeof kept);
		memset(bytes + page * 4096, 0xAA, sizeof kept);
		support_write(path, bytes, n);
		memcpy(bytes + page * 4096, kept, sizeof kept);
		int result = read_on(s, path, true, &names[0], &trace[0], &err[0]);
		assert_int_equal(read_on(s, path, false, &names[1], &trace[1], &err[1]), result);
		if (result != 0)
			assert_string_equal(err[0].text, err[1].text);
		failed += result != 0;
	}
	assert_true(failed > 3);
}

/* Who does not ask for ids gets the same calls for the same ops, and no ids. */
static void same_launches_without_their_ids(void **state)
{
	struct support *s = *state;
	struct names names[2];
	struct trace trace[2];
	const char *path = support_profile(s, LAYOUTS[4], NULL);
	for (int joined = 0; joined < 2; joined++) {
		const struct read_wish wish = {.joined = joined};
		names_init(&names[joined], &s->arena);
		assert_int_equal(read_profile_with(path, &wish, &names[joined], &s->arena, &trace[joined], &s->err), 0);
	}
	assert_non_null(trace[0].ops.correlation);
	assert_non_null(trace[0].calls.correlation);
	assert_null(trace[1].ops.correlation);
	assert_null(trace[1].calls.correlation);
	assert_int_equal(trace[0].ops.n, trace[1].ops.n);
	uint32_t launched = 0;
	for (size_t i = 0; i < trace[0].ops.n; i++)
		launched += trace[0].ops.launch[i] != TRACE_NONE;
	assert_true(launched > 0);
	assert_memory_equal(trace[0].ops.launch, trace[1].ops.launch, trace[0].ops.n * sizeof(uint32_t));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
	const struct CMUnitTest tests[] = {
		TEST(same_trace_on_one_processor_and_on_all),
		TEST(same_error_on_one_processor_and_on_all),
		TEST(same_launches_without_their_ids),
	};
	return cmocka_run_group_tests_name("reader_parallel", tests, NULL, NULL);
}
