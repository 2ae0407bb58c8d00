/* A spool -> a profile: processes, clocks, calls of the system, and the capture as a whole. */
#include "support_convert.h"

/* Two programs under one PID, one after the other, and a process beside them. */
static void test_processes_apart(void **state)
{
	struct support *s = *state;
	const uint32_t pids[] = {PID, PID, 800};
	const char *const names[] = {"700-cuda-0.spool", "700-cuda-1.spool", "800-cuda-0.spool"};
	const char *const domains[] = {"first", "second", "third"}, *strings[] = {"one", "two", "three"};
	for (int i = 0; i < 3; i++) {
		struct spool_maker m;
		struct buf b = {0};
		struct spool_events events = {{0}};
		begin_cuda(&m, pids[i]);
		uint64_t at = (uint64_t)(START + 100 + 1000 * i);
		struct spool_record r = spool_call(5, 211, at, at + 10, pids[i], 5);
		spool_record(&b, &r, 40);
		r = spool_kernel(at + 20, at + 30, 0, 7, 5, 0x7f0011);
		spool_record(&b, &r, 216);
		spool_add_buffer(&m, &b);
		spool_event_text(&events, (struct spool_event){.time = (int64_t)at, .type = SPOOL_DOMAIN, .domain = 1},
		                 domains[i]);
		spool_event_text(&events, (struct spool_event){.type = SPOOL_STRING, .domain = 1, .string = 1},
		                 strings[i]);
		spool_event(&events,
		            (struct spool_event){.time = (int64_t)at,
		                                 .type = SPOOL_PUSH,
		                                 .domain = 1,
		                                 .text = SPOOL_REGISTERED,
		                                 .string = 1},
		            "", 0);
		spool_event(&events, (struct spool_event){.time = (int64_t)at + 50, .type = SPOOL_POP, .domain = 1}, "",
		            0);
		spool_add_events(&m, pids[i], &events);
		if (i != 2)
			spool_end(&m, START + 2000);
		write_spool(s, &m, names[i]);
	}
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.processes, 2);
	assert_int_equal(result.incomplete, 1);
	assert_string_equal(
		query(s, db,
	              "SELECT k.start, r.start, k.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
	              "CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId AND k.globalPid = "
	              "(r.globalTid & ~0xFFFFFF) ORDER BY 1"),
		"120|100|5\n1120|1100|10\n2120|2100|5");
	assert_string_equal(
		query(s, db,
	              "SELECT d.text, value, n.start, n.end FROM NVTX_EVENTS n JOIN StringIds ON id = n.textId "
	              "JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = n.domainId AND d.globalTid = "
	              "n.globalTid WHERE n.eventType = 59 ORDER BY n.start"),
		"first|one|100|150\nsecond|two|1100|1150\nthird|three|2100|2150");
	assert_string_equal(query(s, db, "SELECT pid FROM PROCESSES ORDER BY 1"), "700\n800");
}

static void test_clock_of_day(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	spool_begin(&m, PID, WRITER);
	struct spool_header *header = (struct spool_header *)m.bytes.data;
	header->clock = SPOOL_REALTIME;
	header->monotonic_ns = START + 1000;
	header->realtime_ns = 1700000000000000000;
	spool_event_text(&events, (struct spool_event){.time = 1700000000000000234, .type = SPOOL_MARK}, "here");
	spool_add_events(&m, MAIN, &events);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	assert_string_equal(query(s, db, "SELECT start, eventType, text FROM NVTX_EVENTS"), "1234|34|here");
}

static struct spool_event os_call(int64_t start, int64_t end)
{
	return (struct spool_event){.time = start, .type = SPOOL_OS_CALL, .payload = (uint64_t)end};
}

/* Calls of the operating system: those of a process that used CUDA, less our own threads'. */
static void test_os_calls(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	const uint32_t pids[] = {PID, 900};
	for (int i = 0; i < 2; i++) {
		struct spool_events events = {{0}}, others = {{0}};
		spool_begin(&m, pids[i], 778);
		spool_add_text(&m, SPOOL_THREAD_NAME, MAIN, "python");
		spool_event_text(&events, os_call(START + 100, START + 70100), "poll");
		spool_event_text(&events, os_call(START + 80000, START + 79000), "read"); /* ends before it starts */
		spool_add_events(&m, MAIN, &events);
		spool_event_text(&others, os_call(START + 5, START + 70000), "pthread_cond_timedwait");
		spool_add_events(&m, WRITER, &others); /* the other library's thread */
		spool_event_text(&others, os_call(START + 5, START + 70000), "nanosleep");
		spool_add_events(&m, 778, &others);
		spool_end(&m, START);
		write_spool(s, &m, i ? "900-osrt-0.spool" : "700-osrt-0.spool");
	}
	begin_cuda(&m, PID);
	struct buf b = {0};
	struct spool_record r = spool_call(5, 211, START + 5, START + 6, MAIN, 1);
	spool_record(&b, &r, 40);
	spool_add_buffer(&m, &b);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.os_calls, 1);
	assert_int_equal(result.processes, 1);
	assert_int_equal(result.skipped, 1);
	assert_string_equal(
		query(s, db,
	              "SELECT start, end, eventClass, globalTid & 0xFFFFFF, value, nestingLevel, callchainId "
	              "FROM OSRT_API JOIN StringIds ON id = nameId"),
		"100|70100|27|700|poll|0|0");
	assert_string_equal(query(s, db, "SELECT value, globalTid FROM ThreadNames JOIN StringIds ON id = nameId"),
	                    "python|281486720762556");
	assert_string_equal(query(s, db, "SELECT pid FROM PROCESSES"), "700");
}

static void test_no_files(void **state)
{
	struct support *s = *state;
	support_write(support_path(s, "notes.txt"), "not a spool, and not called one", 31);
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.processes, 0);
	assert_int_equal(access(db, F_OK), -1);
}

/* ---- the capture as a whole ---- */

static void test_about_the_capture(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	const struct spool_device device = {.ordinal = 0,
	                                    .sm_count = 132,
	                                    .memory_bytes = 150109880320,
	                                    .memory_bandwidth = 4814304000000,
	                                    .clock_hz = 1980000000,
	                                    .compute_major = 9,
	                                    .pci_bus = 6,
	                                    .uuid = {0xd7, 0xe1, 0x7e, 0xfe, 0xe9, 0x23, 0x9e, 0x68, 0x5a, 0x7e, 0x03,
	                                             0x67, 0x85, 0xe0, 0xae, 0xec}};
	struct spool_device other = device;
	other.ordinal = 1;
	other.pci_bus = 5;
	other.uuid[0] = 1;
	begin_cuda(&m, PID);
	spool_add_device(&m, &device, "NVIDIA H200");
	spool_add_device(&m, &other, "NVIDIA H200");
	spool_add_message(&m, SPOOL_INFO, "the clock of day is used");
	spool_add_message(&m, SPOOL_WARNING, "something\nodd \x1b[31m");
	const struct spool_dropped dropped = {SPOOL_DROPPED_CUPTI, 0, 40};
	const struct spool_dropped of_threads = {SPOOL_DROPPED_EVENTS, 0, 40};
	spool_add(&m, SPOOL_DROPPED, 0, &dropped, sizeof dropped);
	spool_add(&m, SPOOL_DROPPED, 0, &of_threads, sizeof of_threads);
	spool_event_text(&events, (struct spool_event){.time = START + 5, .type = SPOOL_MARK}, "here");
	spool_add_events(&m, MAIN, &events);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");

	spool_begin(&m, 800, 0); /* sees only the second GPU, as its first; says the same thing again */
	other.ordinal = 0;
	spool_add_device(&m, &other, "NVIDIA H200");
	spool_add_message(&m, SPOOL_WARNING, "something\nodd \x1b[31m");
	spool_add_message(&m, SPOOL_ERROR, "CUPTI is taken");
	write_spool(s, &m, "800-cuda-0.spool");

	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.worst, SPOOL_ERROR);
	assert_int_equal(result.n_messages, 3);
	assert_string_equal(result.messages[0], "CUPTI is taken");
	assert_string_equal(result.messages[1], "something\xEF\xBF\xBDodd \xEF\xBF\xBD[31m");
	assert_int_equal(result.dropped, 80);
	assert_int_equal(result.dropped_events, 40);
	assert_string_equal(
		query(s, db,
	              "SELECT id, name, busLocation, totalMemory, memoryBandwidth, clockRate, smCount, uuid, "
	              "computeMajor, computeMinor FROM TARGET_INFO_GPU ORDER BY id"),
		"0|NVIDIA H200|0000:05:00.0|150109880320|4814304000000|1980000000|132|"
		"01e17efe-e923-9e68-5a7e-036785e0aeec|9|0\n"
		"1|NVIDIA H200|0000:06:00.0|150109880320|4814304000000|1980000000|132|"
		"d7e17efe-e923-9e68-5a7e-036785e0aeec|9|0");
	assert_string_equal(query(s, db, "SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE ORDER BY pid, cudaId"),
	                    "1|0|700\n0|1|700\n0|0|800");
	assert_string_equal(query(s, db, "SELECT name, nameEnum, value FROM TARGET_INFO_SYSTEM_ENV"),
	                    "NvDriverVersion|205|580.159.04\nCudaDriverVersion|611|13000");
	assert_string_equal(query(s, db, "SELECT utcEpochNs, utcTime, localTime FROM TARGET_INFO_SESSION_START_TIME"),
	                    "1700000000000000000|2023-11-14T22:13:20|-");
	assert_string_equal(query(s, db, "SELECT duration, startTime, stopTime FROM ANALYSIS_DETAILS"),
	                    "5000000|0|5000000");
	assert_string_equal(query(s, db, "SELECT name, value FROM META_DATA_CAPTURE"),
	                    "CUDA_GRAPH_TRACE_OPTIONS:MODE|Graph");
	assert_string_equal(query(s, db, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_NAME'"),
	                    "gapline");
	assert_string_equal(
		query(s, db, "SELECT severity, text FROM DIAGNOSTIC_EVENT WHERE severity > 1 ORDER BY 1, 2"),
		"2|80 events were lost while the program ran\n"
		"2|something\xEF\xBF\xBDodd \xEF\xBF\xBD[31m\n3|CUPTI is taken");
	assert_string_equal(query(s, db, "PRAGMA integrity_check"), "ok");
}

/* A profile that is there is replaced when the new one is whole, and left alone when there is none. */
static void test_target(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	support_write(support_path(s, "out.sqlite"), "old", 3);
	support_write(support_path(s, "700-cuda-0.spool"), "no spool at all, but long enough to be looked at closely",
	              56);
	const struct convert_request request = {
		.spool = support_path(s, "."), .profile = support_path(s, "out.sqlite"), .version = "0.1.0"};
	struct convert_result result;
	assert_int_equal(convert_spool(&request, &s->arena, &result, &s->err), -1);
	assert_non_null(strstr(s->err.text, "700-cuda-0.spool: is no spool"));
	size_t n;
	assert_memory_equal(support_load(s, request.profile, &n), "old", 3);
	assert_int_equal(n, 3);
	begin_cuda(&m, PID);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	assert_string_equal(query(s, db, "SELECT count(*) FROM META_DATA_EXPORT"), "6");
	DIR *dir = opendir(s->folder);
	int files = 0;
	for (const struct dirent *e; (e = readdir(dir));)
		files += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(dir);
	assert_int_equal(files, 2); /* nothing is left beside them */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_processes_apart, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_clock_of_day, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_os_calls, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_no_files, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_about_the_capture, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_target, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
