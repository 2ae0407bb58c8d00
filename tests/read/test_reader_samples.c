/* Samples of host threads: what becomes of the rows of COMPOSITE_EVENTS and SAMPLING_CALLCHAINS, of ones that make no
 * sense, and of a real capture's. */
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define MAIN_THREAD "281476654432357" /* thread 101 of process 100, as in events.sql */

#define TABLES                                                                                                         \
	"DROP TABLE IF EXISTS COMPOSITE_EVENTS; DROP TABLE IF EXISTS SAMPLING_CALLCHAINS;"                             \
	"CREATE TABLE COMPOSITE_EVENTS(id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER,"          \
	" threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);"                                        \
	"CREATE TABLE SAMPLING_CALLCHAINS(id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL,"      \
	" kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER,"        \
	" unwindMethod INTEGER, stackDepth INTEGER NOT NULL);"                                                         \
	"INSERT INTO StringIds(id, value) VALUES (9001, 'main'), (9002, 'work(int, std::vector<float>)'),"             \
	" (9003, '0x4005d0'), (9004, '/opt/acme/bin/train'), (9005, '/lib/libc.so.6'), (9006, '[Broken backtraces]')," \
	" (9007, '[Unknown]'), (9008, '[Max depth]'), (9009, '/home/somebody/secret.py'), (9010, '0x1234');"

#define EVENT(id, time, thread) "INSERT INTO COMPOSITE_EVENTS VALUES(" #id "," #time ",1,1," thread ",1);"
#define FRAME(id, depth, symbol, module, unresolved)                                                                   \
	"INSERT INTO SAMPLING_CALLCHAINS VALUES(" #id "," #symbol "," #module ",0,0," #unresolved ",NULL,1,1," #depth  \
	");"

static const struct trace *read_with(struct support *s, const char *sql)
{
	const char *path = support_profile(s, "layout_2025.sql", sql);
	if (support_read(s, path) != 0)
		fail_msg("%s", s->err.text);
	unlink(path);
	return &s->trace;
}

/* "main < work" of sample i: the innermost last, a module in brackets, "?" for what is not known. */
static const char *stack_of(struct support *s, size_t i)
{
	const struct trace *t = &s->trace;
	const char *text = "";
	for (uint32_t f = t->samples.stack[i]; f; f = t->stacks.frames[f].parent) {
		const struct trace_function *of = &t->stacks.functions[t->stacks.frames[f].function];
		static const char *const said[] = {
			[FRAME_UNKNOWN] = "?", [FRAME_BROKEN] = "broken", [FRAME_CUT] = "cut"};
		const char *name = of->kind == FRAME_NAMED ? support_name(s, of->name)
		                   : of->kind == FRAME_MODULE
		                           ? arena_format(&s->arena, "[%s]", support_name(s, of->module))
		                           : said[of->kind];
		text = *text ? arena_format(&s->arena, "%s < %s", name, text) : name;
	}
	return text;
}

static void rows_become_stacks(void **state)
{
	const struct trace *t = read_with(
		*state, TABLES EVENT(1, 1000, MAIN_THREAD) EVENT(2, 2000, MAIN_THREAD) EVENT(3, 3000, MAIN_THREAD)
				EVENT(4, 1500, MAIN_THREAD) EVENT(5, 1600, "999") FRAME(1, 0, 9002, 9004, 0)
					FRAME(1, 1, 9001, 9004, 0) FRAME(2, 0, 9003, 9005, 1) FRAME(2, 1, 9010, 9005, 1)
						FRAME(2, 2, 9001, 9004, 0) FRAME(2, 3, 9006, 9006, 0)
							FRAME(4, 0, 9009, 9004, 0) FRAME(4, 1, 9010, 9007, 1)
								FRAME(4, 2, 9008, 9008, 0) FRAME(5, 0, 9001, 9004, 0));
	struct support *s = *state;
	assert_int_equal(t->samples.n, 4); /* thread 999 has no other row */
	static const int64_t time[] = {1000, 1500, 2000, 3000};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(t->samples.time[i], time[i]);
		assert_int_equal(t->threads[t->samples.thread[i]].tid, 101);
	}
	assert_string_equal(stack_of(s, 0), "main < work(int, std::vector<float>)");
	assert_string_equal(stack_of(s, 1), "cut < ? < secret.py"); /* of paths, the last part */
	assert_string_equal(stack_of(s, 2), "broken < main < [libc.so.6]");
	assert_string_equal(stack_of(s, 3), "");
	assert_int_equal(t->rows[ROWS_SAMPLES].read, 5);
	assert_int_equal(t->rows[ROWS_SAMPLES].dropped, 0);
	for (uint32_t i = 1; i < t->stacks.n_frames; i++)
		assert_true(t->stacks.frames[i].parent < i);
	for (uint32_t i = 0; i < t->stacks.n_functions; i++) {
		assert_null(strchr(support_name(s, t->stacks.functions[i].name), '/'));
		assert_null(strchr(support_name(s, t->stacks.functions[i].module), '/'));
	}
}

static int64_t dropped(const struct trace *t, const char *reason)
{
	for (uint32_t i = 0; i < t->n_dropped; i++)
		if (t->dropped[i].kind == ROWS_SAMPLES && strcmp(t->dropped[i].reason, reason) == 0)
			return t->dropped[i].rows;
	return 0;
}

static void what_makes_no_sense_is_counted(void **state)
{
	const struct trace *t = read_with(
		*state,
		TABLES EVENT(1, 0, MAIN_THREAD) EVENT(2, 2000, MAIN_THREAD) EVENT(3, 3000, MAIN_THREAD)
			EVENT(4, 4000, MAIN_THREAD) FRAME(1, 0, 9001, 9004, 0) /* of a sample that was dropped */
		FRAME(3, 0, 9001, 9004, 0) FRAME(3, 0, 9002, 9004, 0) FRAME(3, -1, 9002, 9004, 0)
			FRAME(3, 9223372036854775807, 9002, 9004, 0) FRAME(2, 0, 9001, 9004, 0)
				FRAME(4, 3, 9001, 9004, 0) FRAME(4, 1, 9002, 9004, 0) FRAME(7, 0, 9001, 9004, 0)
					FRAME(3, 1, 9001, 9004, 0) FRAME(4, 0, 'x', 9004, 0));
	struct support *s = *state;
	assert_int_equal(t->samples.n, 3);
	assert_string_equal(stack_of(s, 0), "main"); /* wherever its row stands */
	assert_string_equal(stack_of(s, 1), "main < main");
	assert_string_equal(stack_of(s, 2), "main < work(int, std::vector<float>)"); /* a hole in it */
	assert_int_equal(dropped(t, "has no timestamp"), 1);
	assert_int_equal(dropped(t, "is there twice"), 1);
	assert_int_equal(dropped(t, "is deeper than any stack"), 2);
	assert_int_equal(dropped(t, "is of no sample"), 2);
	assert_int_equal(dropped(t, "holds a value of the wrong type"), 1);
}

static void times_without_stacks_are_no_samples(void **state)
{
	const struct trace *t = read_with(*state, TABLES EVENT(1, 1000, MAIN_THREAD)
	                                                  EVENT(2, 2000, MAIN_THREAD) "DROP TABLE SAMPLING_CALLCHAINS");
	assert_int_equal(t->samples.n, 0);
	assert_int_equal(t->rows[ROWS_SAMPLES].read, 2);
}

static const char *const scheduled = TABLES EVENT(1, 1000, MAIN_THREAD) EVENT(2, 2000, MAIN_THREAD)
	FRAME(1, 0, 9001, 9004, 0) FRAME(2, 0, 9001, 9004, 0) "UPDATE COMPOSITE_EVENTS SET cpuCycles = 0 WHERE id = 1;";

static void stacks_of_the_scheduler_are_no_samples(void **state)
{
	const struct trace *t = read_with(*state, scheduled);
	assert_int_equal(t->samples.n, 1);
	assert_int_equal(t->samples.time[0], 2000);
	assert_int_equal(t->rows[ROWS_SAMPLES].dropped, 0);
}

/* gapline counts no cycles. What it records through nsys is nsys's. */
static void our_own_samples_have_no_cycles(void **state)
{
	struct support *s = *state;
	static const char note[] = "CREATE TABLE GAPLINE_CAPTURE(name TEXT, value TEXT);"
				   "INSERT INTO GAPLINE_CAPTURE VALUES('collector', '%s');";
	const char *own = arena_format(&s->arena, note, "cupti"), *other;
	assert_int_equal(read_with(s, arena_format(&s->arena, "%s%s", scheduled, own))->samples.n, 2);
	support_teardown(state);
	support_setup(state);
	s = *state;
	other = arena_format(&s->arena, note, "nsys");
	assert_int_equal(read_with(s, arena_format(&s->arena, "%s%s", scheduled, other))->samples.n, 1);
}

static void threads_that_do_not_run_are_not_sampled(void **state)
{
	const struct trace *t = read_with(
		*state, TABLES EVENT(1, 1000, MAIN_THREAD) EVENT(2, 2000, MAIN_THREAD) FRAME(1, 0, 9001, 9004, 0)
				FRAME(2, 0, 9001, 9004, 0) "UPDATE COMPOSITE_EVENTS SET threadState = 2 WHERE id = 1");
	assert_int_equal(t->samples.n, 1);
	assert_int_equal(t->samples.time[0], 2000);
}

/* Every stack another one, and all of them deep: the tree stays small, and what is cut off is counted. */
static void a_tree_without_end_is_cut(void **state)
{
	const struct trace *t = read_with(
		*state,
		TABLES "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
		       " INSERT INTO COMPOSITE_EVENTS SELECT i, 1000 + i, 1, 1, " MAIN_THREAD ", 1 FROM n;"
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000),"
		       " d(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM d WHERE j < 399)"
		       " INSERT INTO SAMPLING_CALLCHAINS SELECT i, 10000 + i, 9004, 0, 0, 0, NULL, 1, 1, j FROM n, d;");
	assert_int_equal(t->samples.n, 3000);
	assert_true(t->stacks.n_frames <= STACKS_MOST);
	assert_int_equal(t->stacks.cut, 3000 - (STACKS_MOST - 1) / 400);
}

/* The counts beside the capture, which were made with SQL: of the samples in next_batch from the 11th step on, the
 * innermost frames' modules. */
static void a_captures_modules_as_sql_counts_them(void **state)
{
	struct support *s = *state;
	const char *folder =
		getenv("GAPLINE_CAPTURES") ? getenv("GAPLINE_CAPTURES") : TESTS_DIR "/../../shared/captures";
	const char *path = arena_format(&s->arena, "%s/host-samples/baseline.sqlite.gz", folder);
	if (access(path, R_OK) != 0) {
		print_message("skipped: no captures in %s (set GAPLINE_CAPTURES)\n", folder);
		skip();
	}
	if (support_read(s, path) != 0)
		fail_msg("%s", s->err.text);
	static const struct {
		const char *module;
		int samples;
	} want[] = {{"python3.12", 194},       {"libcrypto.so.3", 67},
	            {"libc.so.6", 43},         {"_hashlib.cpython-312-x86_64-linux-gnu.so", 9},
	            {"libtorch_python.so", 8}, {"libtorch_cpu.so", 4},
	            {"libc10.so", 3}};
	const struct trace *t = &s->trace;
	assert_int_equal(t->samples.n, 1624);
	int all = 0, count[sizeof want / sizeof *want] = {0}, steps = 0;
	int64_t from = 0;
	for (size_t i = 0; i < t->ranges.n && !from; i++)
		if (strcmp(support_name(s, t->ranges.name[i]), "train_step") == 0 && ++steps == 11)
			from = t->ranges.start[i];
	for (size_t i = 0; i < t->ranges.n; i++) {
		if (strcmp(support_name(s, t->ranges.name[i]), "next_batch") != 0 || t->ranges.start[i] < from)
			continue;
		for (size_t k = 0; k < t->samples.n; k++) {
			if (t->samples.time[k] < t->ranges.start[i] || t->samples.time[k] >= t->ranges.end[i] ||
			    t->samples.thread[k] != t->ranges.thread[i])
				continue;
			const struct trace_frame *frame = &t->stacks.frames[t->samples.stack[k]];
			const char *module = support_name(s, t->stacks.functions[frame->function].module);
			all++;
			for (size_t m = 0; m < sizeof want / sizeof *want; m++)
				count[m] += strcmp(module, want[m].module) == 0;
		}
	}
	assert_int_equal(all, 328);
	for (size_t m = 0; m < sizeof want / sizeof *want; m++)
		assert_int_equal(count[m], want[m].samples);
	int broken = 0;
	for (size_t k = 0; k < t->samples.n; k++) {
		uint32_t f = t->samples.stack[k];
		while (f && t->stacks.frames[f].parent)
			f = t->stacks.frames[f].parent;
		broken += t->stacks.functions[t->stacks.frames[f].function].kind == FRAME_BROKEN;
	}
	assert_int_equal(broken, 496); /* SELECT count(*) … WHERE value = '[Broken backtraces]' */
}

/* Numbers that no text, thread, sample or clock has: nothing is taken for something else, and nothing is lost beside.
 */
static void absurd_numbers_stand_for_nothing(void **state)
{
	const struct trace *t = read_with(
		*state,
		TABLES EVENT(1, 1000, MAIN_THREAD) EVENT(2, 2000, MAIN_THREAD) EVENT(3, 3000, MAIN_THREAD) EVENT(
			4, 4000, "-1") EVENT(5, 5000, "9223372036854775807") EVENT(6, 6000, "NULL")
			EVENT(7, -9223372036854775807, MAIN_THREAD) EVENT(8, 9223372036854775807, MAIN_THREAD) FRAME(
				1, 0, 9223372036854775807, -9223372036854775808,
				0) FRAME(1, 1, 9001, 9004, 0) FRAME(2, 0, -1, 424242, 0)
				FRAME(2, 1, 424242, -1, 0) FRAME(2, 2, 9001, 9004, 9223372036854775807) FRAME(
					3, 1023, 9001, 9004, 0) FRAME(3, 1024, 9002, 9004, 0)
					FRAME(3, -9223372036854775808, 9002, 9004,
	                                      0) "DROP TABLE IF EXISTS GAPLINE_GIL; CREATE TABLE GAPLINE_GIL(start, "
						 "globalTid, waits, holder, sampleId,"
						 " switches); INSERT INTO GAPLINE_GIL VALUES (1000, " MAIN_THREAD
						 ", -5, -1, -1, -1),"
						 " (1900, " MAIN_THREAD
						 ", 9223372036854775807, 9223372036854775807, 9223372036854775807,"
						 " 9223372036854775807), (2000, " MAIN_THREAD
						 ", 1, 'x', 2, 7), (-5, " MAIN_THREAD ", 1, 0, 0, 0),"
						 " (9223372036854775807, " MAIN_THREAD
						 ", 1, 0, 0, 0), (2500, 'x', 1, 0, 0, 0),"
						 " (2600, 9223372036854775807, 1, " MAIN_THREAD ", 3, 7);"
						 "DROP TABLE IF EXISTS GAPLINE_CAPTURE; CREATE TABLE "
						 "GAPLINE_CAPTURE(name, value);"
						 "INSERT INTO GAPLINE_CAPTURE VALUES ('sample_ns', '1000')");
	struct support *s = *state;
	assert_int_equal(t->source.sample_ns, 1000);
	assert_true(t->source.has_lock);
	for (size_t i = 0; i < t->samples.n; i++) {
		assert_true(t->samples.time[i] >= 0 && t->samples.time[i] < 10000);
		assert_null(strstr(stack_of(s, i), "9223372036854775807"));
	}
	assert_int_equal(dropped(t, "is deeper than any stack"), 2);
	assert_int_equal(dropped(t, "holds a value of the wrong type"), 2);
	assert_int_equal(t->gil.n, 3); /* the looks at -5, 1000 and 1900 agree */
	for (size_t i = 0; i < t->gil.n; i++)
		assert_int_equal(t->threads[t->gil.thread[i]].tid, 101);
	for (size_t i = 0; i < t->unlooked.n; i++)
		assert_true(t->unlooked.start[i] < t->unlooked.end[i]);
}

/* A distance that nobody can have asked for is none, and then nobody looked at the lock. */
static void absurd_distances_are_none(void **state)
{
	static const char *const distances[] = {"9223372036854775807", "99999999999999999999", "-1", "0", "x", ""};
	struct support *s = *state;
	for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
		const struct trace *t = read_with(
			*state, arena_format(&s->arena,
		                             "%s DROP TABLE IF EXISTS GAPLINE_GIL; CREATE TABLE GAPLINE_GIL(start,"
		                             " globalTid, waits, holder, sampleId); INSERT INTO GAPLINE_GIL VALUES"
		                             " (1000, " MAIN_THREAD ", 1, NULL, NULL), (2000, " MAIN_THREAD
		                             ", 1, NULL, NULL); DROP TABLE IF EXISTS GAPLINE_CAPTURE;"
		                             "CREATE TABLE GAPLINE_CAPTURE(name, value);"
		                             "INSERT INTO GAPLINE_CAPTURE VALUES ('sample_ns', '%s')",
		                             TABLES EVENT(1, 1000, MAIN_THREAD), distances[i]));
		assert_true(t->source.sample_ns <= 0);
		assert_false(t->source.has_lock);
		assert_int_equal(t->gil.n, 0);
		assert_int_equal(t->unlooked.n, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

/* What a table cannot be read for ends with words, and not the process: a view in its place, as a damaged page. */
static void tables_that_cannot_be_read(void **state)
{
	struct support *s = *state;
	static const char *const tables[] = {"COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		const char *sql = arena_format(
			&s->arena, "%s ALTER TABLE %s RENAME TO hidden; CREATE VIEW %s AS SELECT * FROM hidden;",
			TABLES EVENT(1, 1000, MAIN_THREAD) FRAME(1, 0, 9002, 9004, 0), tables[i], tables[i]);
		const char *path = support_profile(s, "layout_2025.sql", sql);
		assert_int_equal(support_read(s, path), -1);
		assert_non_null(strstr(s->err.text, arena_format(&s->arena, ": %s is a view", tables[i])));
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(rows_become_stacks),
	                                   TEST(what_makes_no_sense_is_counted),
	                                   TEST(times_without_stacks_are_no_samples),
	                                   TEST(threads_that_do_not_run_are_not_sampled),
	                                   TEST(stacks_of_the_scheduler_are_no_samples),
	                                   TEST(our_own_samples_have_no_cycles),
	                                   TEST(a_tree_without_end_is_cut),
	                                   TEST(absurd_numbers_stand_for_nothing),
	                                   TEST(absurd_distances_are_none),
	                                   TEST(tables_that_cannot_be_read),
	                                   TEST(a_captures_modules_as_sql_counts_them)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
