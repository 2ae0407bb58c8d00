/* The tables that gapline adds to a profile when it captures: how it was captured, samples of the GPUs. */
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char tables[] =
	"CREATE TABLE GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL);"
	"CREATE TABLE GAPLINE_GPU (gpu INTEGER NOT NULL, uuid TEXT, bus TEXT, name TEXT, max_sm_mhz INTEGER);"
	"CREATE TABLE GAPLINE_GPU_STATE (time INTEGER NOT NULL, gpu INTEGER NOT NULL, sm_mhz INTEGER, memory_mhz "
	"INTEGER, power_mw INTEGER, temperature_c INTEGER, busy_percent INTEGER, throttle INTEGER);";

static void read_with(struct support *s, const char *rows)
{
	const char *path = support_profile(s, "layout_2025.sql", tables); /* GPUs: 0 is 'b', 1 is 'a' */
	support_run(path, rows);
	if (support_read(s, path) != 0)
		fail_msg("%s", s->err.text);
}

static void test_facts(void **state)
{
	struct support *s = *state;
	read_with(s, "INSERT INTO GAPLINE_CAPTURE VALUES ('gapline', '0.1.0'), ('collector', 'cupti'), ('cupti', "
	             "'13.0.1'), ('trace', 'cuda,nvtx'), ('gpu_state', 'NVML'), ('complete', 'the program was killed "
	             "by' || char(27) || ' SIGKILL'), ('dropped', '12'), ('dropped_events', '5'), ('unheard-of', 'x')");
	const struct trace_source *source = &s->trace.source;
	assert_string_equal(source->captured_by, "0.1.0");
	assert_string_equal(source->cupti, "13.0.1");
	assert_string_equal(source->traced, "cuda,nvtx");
	assert_string_equal(source->sampled_by, "NVML");
	assert_null(strchr(source->incomplete, 27)); /* hostile text */
	assert_int_equal(strncmp(source->incomplete, "the program was killed by", 25), 0);
	assert_int_equal(source->lost, 12);
	assert_int_equal(source->lost_events, 5);
	assert_int_equal(s->trace.n_gpu_samples, 0);
}

static void test_complete(void **state)
{
	struct support *s = *state;
	read_with(s, "INSERT INTO GAPLINE_CAPTURE VALUES ('complete', 'yes'), ('dropped', 'many'), ('dropped_events', "
	             "'9223372036854775807')");
	assert_string_equal(s->trace.source.incomplete, "");
	assert_string_equal(s->trace.source.captured_by, "");
	assert_int_equal(s->trace.source.lost, 0);
	assert_true(s->trace.source.lost_events < INT64_MAX / 2);
}

/* What nsys says of gapline's own process between it and the program is not about the program. */
static void test_launcher(void **state)
{
	struct support *s = *state;
	static const char said[] =
		"CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT, globalPid INTEGER);"
		"INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'of the launcher', (77 << 24) | (1 << 48)), "
		"(2, 'of the program', 78 << 24), (2, 'of nobody', NULL);";
	read_with(s, said);
	assert_int_equal(s->trace.n_diagnostics, 3);
	support_teardown(state);
	support_setup(state);
	s = *state;
	read_with(s, arena_format(&s->arena, "%s INSERT INTO GAPLINE_CAPTURE VALUES ('launcher', '77')", said));
	assert_int_equal(s->trace.n_diagnostics, 2);
	assert_string_equal(support_name(s, s->trace.diagnostics[0].text), "of nobody"); /* at one time: by the text */
	assert_string_equal(support_name(s, s->trace.diagnostics[1].text), "of the program");
}

/* By UUID, with and without its kind in front; numbers that cannot be are unknown; sorted by GPU and time. */
static void test_samples(void **state)
{
	struct support *s = *state;
	read_with(s, "INSERT INTO GAPLINE_GPU VALUES (3, 'GPU-A', NULL, 'NVIDIA H200', 2100), "
	             "(5, 'b', NULL, NULL, NULL), (6, 'GPU-elsewhere', NULL, NULL, NULL);"
	             "INSERT INTO GAPLINE_GPU_STATE VALUES "
	             "(2000, 3, 1755, 3201, 693130, 64, 97, 4), (0, 3, 1980, 3201, 300000, 60, 0, 0), "
	             "(1000, 6, 1, 1, 1, 1, 1, 1), (1000, 9, 1, 1, 1, 1, 1, 1), "
	             "(-500, 5, -7, 9223372036854775807, NULL, NULL, 101, NULL), "
	             "(1500, 3, 'fast', NULL, NULL, NULL, NULL, NULL), (1500, 3, NULL, NULL, NULL, 50, NULL, "
	             "-9223372036854775804)");
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_gpu_samples, 4);
	const struct trace_gpu_sample *x = t->gpu_samples;
	assert_int_equal(x[3].gpu, 1);
	assert_int_equal(x[3].time, -500);
	assert_int_equal(x[3].sm_mhz, -1);
	assert_int_equal(x[3].memory_mhz, -1);
	assert_int_equal(x[3].power_mw, -1);
	assert_int_equal(x[3].temperature_c, -1);
	assert_int_equal(x[3].busy_percent, -1);
	assert_false(x[3].has_limits);
	assert_int_equal(x[0].gpu, 0);
	assert_int_equal(x[0].time, 0);
	assert_int_equal(x[0].busy_percent, 0);
	assert_true(x[0].has_limits);
	assert_int_equal(x[1].time, 1500);
	assert_true(x[1].limits == 0x8000000000000004);
	assert_int_equal(x[2].time, 2000);
	assert_int_equal(x[2].sm_mhz, 1755);
	assert_int_equal(x[2].memory_mhz, 3201);
	assert_int_equal(x[2].power_mw, 693130);
	assert_int_equal(x[2].temperature_c, 64);
	assert_int_equal(x[2].busy_percent, 97);
	assert_true(x[2].limits == LIMITED_POWER);
	assert_int_equal(t->n_dropped, 1); /* the fast one */
	assert_string_equal(t->dropped[0].where, "GAPLINE_GPU_STATE");
	assert_true(t->gpus[0].clock_hz == 1980000000); /* what the profile says itself stays */
}

/* Somebody else's processes, on GPUs that the program ran on and on those that it only saw, or did not even see. */
static void test_others(void **state)
{
	static const char *const rows =
		"ALTER TABLE GAPLINE_GPU ADD COLUMN others INTEGER; INSERT INTO GAPLINE_GPU VALUES "
		"(3, 'GPU-A', NULL, NULL, NULL, %s), (5, 'b', NULL, NULL, NULL, %s), (6, 'GPU-elsewhere', NULL, NULL, "
		"NULL, "
		"9)";
	struct support *s = *state;
	read_with(s, arena_format(&s->arena, rows, "2", "NULL"));
	assert_int_equal(s->trace.n_devices, 2);
	assert_int_equal(s->trace.n_diagnostics, 1);
	assert_non_null(strstr(support_name(s, s->trace.diagnostics[0].text), "2 other processes used the GPU ("));
	assert_int_equal(s->trace.source.others, 2);
	support_teardown(state);
	support_setup(state);
	s = *state;
	read_with(s, arena_format(&s->arena, rows, "0", "-3"));
	assert_int_equal(s->trace.n_diagnostics, 0);
	support_teardown(state);
	support_setup(state);
	s = *state;
	read_with(s, "INSERT INTO TARGET_INFO_GPU (vmId, id, name, uuid) VALUES (0, 2, 'nobody ran on it', 'GPU-C'); "
	             "ALTER TABLE GAPLINE_GPU ADD COLUMN others INTEGER; INSERT INTO GAPLINE_GPU VALUES "
	             "(7, 'GPU-C', NULL, NULL, NULL, 4)");
	assert_int_equal(s->trace.n_gpus, 3);
	assert_int_equal(s->trace.n_diagnostics, 0);
	assert_int_equal(s->trace.source.others, 0);
}

/* By the place on the bus where nsys knows no UUID, whatever the width of its numbers. */
static void test_bus(void **state)
{
	struct support *s = *state;
	read_with(s, "UPDATE TARGET_INFO_GPU SET uuid = '', clockRate = NULL, busLocation = CASE id WHEN 0 THEN "
	             "'0000:1a:00.0' ELSE '0000:1b:00.0' END;"
	             "INSERT INTO GAPLINE_GPU VALUES (0, '', '00000000:1A:00.0', NULL, 1755), "
	             "(1, NULL, 'nowhere', NULL, NULL);"
	             "INSERT INTO GAPLINE_GPU_STATE(time, gpu, sm_mhz) VALUES (7, 0, 1000), (8, 1, 1000)");
	assert_int_equal(s->trace.n_gpu_samples, 1);
	assert_int_equal(s->trace.gpu_samples[0].gpu, 0); /* though TARGET_INFO_GPU lists number 1 first */
	assert_true(s->trace.gpus[0].clock_hz == 1755000000);
}

/* The only GPU is the one, also when its UUID is that of a part of it. */
static void test_only_gpu(void **state)
{
	struct support *s = *state;
	read_with(s, "DELETE FROM TARGET_INFO_GPU WHERE id = 1; UPDATE TARGET_INFO_GPU SET uuid = 'MIG-1';"
	             "INSERT INTO GAPLINE_GPU VALUES (0, 'GPU-1', NULL, NULL, NULL);"
	             "INSERT INTO GAPLINE_GPU_STATE(time, gpu, sm_mhz) VALUES (7, 0, 1000)");
	assert_int_equal(s->trace.n_gpu_samples, 1);
}

/* Runs that were timed and not recorded; rows that make no sense say nothing. */
static void test_stopwatch(void **state)
{
	struct support *s = *state;
	read_with(s, "CREATE TABLE GAPLINE_STOPWATCH (start INTEGER, time INTEGER, steps INTEGER, process INTEGER, "
	             "unused TEXT);"
	             "INSERT INTO GAPLINE_STOPWATCH VALUES (100, 5000, 40, 9000, NULL), "
	             "(200, NULL, 40, 9000, 'it was' || char(27) || ' late'), (300, 5100, 40, 9000, NULL), "
	             "(50, 4900, 40, 9000, NULL), "       /* the first, wherever it stands */
	             "(400, 5000, 41, 9000, NULL), "      /* other steps */
	             "(400, 9001, 40, 9000, NULL), "      /* longer than the process */
	             "(400, NULL, 40, 9000, NULL), "      /* no time, no reason */
	             "(400, 5000, 40, 9000, 'and yet'), " /* both */
	             "(400, -5, 40, 9000, NULL), (400, 5000, -1, 9000, NULL), (400, 5000, 1 << 40, 9000, NULL), "
	             "(400, 'soon', 40, 9000, NULL), (NULL, 5000, 40, 9000, NULL)");
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_stopwatch, 4);
	assert_int_equal(t->stopwatch[0].time, 4900);
	assert_int_equal(t->stopwatch[1].start, 100);
	assert_int_equal(t->stopwatch[1].time, 5000);
	assert_int_equal(t->stopwatch[1].steps, 40);
	assert_int_equal(t->stopwatch[1].process, 9000);
	assert_null(t->stopwatch[1].unused);
	assert_int_equal(t->stopwatch[2].time, 0);
	assert_int_equal(strncmp(t->stopwatch[2].unused, "it was", 6), 0);
	assert_null(strchr(t->stopwatch[2].unused, 27)); /* hostile text */
	assert_int_equal(t->stopwatch[3].time, 5100);
	int64_t dropped = 0;
	for (uint32_t i = 0; i < t->n_dropped; i++)
		dropped += strcmp(t->dropped[i].where, "GAPLINE_STOPWATCH") == 0 ? t->dropped[i].rows : 0;
	assert_int_equal(dropped, 9);
}

static void test_absent(void **state)
{
	struct support *s = *state;
	assert_int_equal(support_read(s, support_profile(s, "layout_2024.sql", NULL)), 0);
	assert_string_equal(s->trace.source.captured_by, "");
	assert_string_equal(s->trace.source.incomplete, "");
	assert_int_equal(s->trace.n_gpu_samples, 0);
	assert_int_equal(s->trace.n_stopwatch, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_facts),  TEST(test_launcher), TEST(test_complete),  TEST(test_samples), TEST(test_bus),
		TEST(test_others), TEST(test_only_gpu), TEST(test_stopwatch), TEST(test_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
