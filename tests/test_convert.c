/* A spool -> a profile: rows as they were worked out by hand, asked for with SQL. */
#include "support_convert.h"

/* ---- CUDA ---- */

static void test_ops_and_calls(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	begin_cuda(&m, PID);

	/* A launch by the runtime with the driver call inside it, one of the driver alone, one of our own thread. */
	struct spool_record r = spool_call(4, 307, START + 110, START + 190, MAIN, 5);
	spool_record(&b, &r, 40);
	r = spool_call(5, 211, START + 100, START + 200, MAIN, 5);
	spool_record(&b, &r, 40);
	r = spool_call(4, 307, START + 300, START + 350, MAIN, 6);
	put32(&r, 36, 700); /* CUDA_ERROR_ILLEGAL_ADDRESS */
	spool_record(&b, &r, 40);
	r = spool_call(4, 307, START + 120, START + 180, HELPER, 7); /* inside the launch by time, on another thread */
	spool_record(&b, &r, 40);
	r = spool_call(5, 41, START + 400, START + 450, WRITER, 8);
	spool_record(&b, &r, 40);
	r = spool_call(5, 999, START + 500, START + 550, MAIN, 0); /* a call without a name */
	spool_record(&b, &r, 40);

	r = spool_kernel(START + 250, START + 900, 1, 13, 5, 0x7f0011);
	r.bytes[4] = 0x21; /* cache: asked for 1, in effect 2 */
	r.bytes[6] = 32;
	static const uint32_t sizes[] = {128, 2, 3, 256, 4, 5, 1024, 2048, 16, 9999};
	for (int i = 0; i < 10; i++)
		put32(&r, 52 + 4 * i, sizes[i]);
	put64(&r, 96, 77);
	r.bytes[136] = 1; /* cooperative */
	put32(&r, 140, 102400);
	put32(&r, 152, 1);
	put64(&r, 192, 5000000000);
	spool_record(&b, &r, 216);
	r = spool_kernel(START + 950, START + 960, 1, 13, 6, 0x7f0022);
	put64(&r, 144, 0x100000007);
	spool_record(&b, &r, 216);
	r = spool_kernel(START + 970, START + 980, 0, 7, 7, 0xdead); /* a name that never came */
	spool_record(&b, &r, 216);
	r = spool_copy(START + 1000, START + 1100, 1, 4096, 8);
	put64(&r, 88, 3);
	spool_record(&b, &r, 96);
	r = spool_memset(START + 1200, START + 1250, 7, 512, 9);
	spool_record(&b, &r, 88);
	r = spool_graph(START + 1300, START + 1400, 2, 13, 10);
	spool_record(&b, &r, 56);
	r = spool_device_graph(START + 1410, START + 1480, 21);
	spool_record(&b, &r, 56);
	r = spool_sync(START + 1500, START + 1600, 3, 13, 11);
	spool_record(&b, &r, 56);
	r = spool_overhead(START + 1700, START + 1800, 4 << 16, 2, MAIN);
	spool_record(&b, &r, 56);
	r = spool_overhead(START + 1810, START + 1820, 1 << 16, 2, WRITER);
	spool_record(&b, &r, 56);
	r = (struct spool_record){0}; /* of a kind that is not needed */
	put32(&r, 0, 9);
	spool_record(&b, &r, 48);
	r = spool_copy(START + 2000, START + 2100, 10, 8192, 0); /* between devices: another layout */
	put32(&r, 0, 22);
	static const uint32_t peers[] = {0, 1, 1, 2, 12};
	for (int i = 0; i < 5; i++)
		put32(&r, 44 + 4 * i, peers[i]);
	put64(&r, 72, 5);
	r.bytes[5] = 3;
	spool_record(&b, &r, 96);
	spool_add_buffer(&m, &b);
	spool_end(&m, START + 9000);
	write_spool(s, &m, "700-cuda-0.spool");

	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.processes, 1);
	assert_int_equal(result.ops, 8);
	assert_int_equal(result.calls, 4);
	assert_int_equal(result.skipped, 0);
	assert_int_equal(result.incomplete, 0);
	assert_string_equal(result.cupti, "13.0.1");

	assert_string_equal(query(s, db,
	                          "SELECT start, end, eventClass, globalTid & 0xFFFFFF, (globalTid >> 24) & 0xFFFFFF, "
	                          "globalTid >> 48, correlationId, value, returnValue, callchainId FROM "
	                          "CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId ORDER BY start"),
	                    "100|200|0|700|700|1|5|cudaLaunchKernel_v7000|0|-\n"
	                    "120|180|1|701|700|1|7|cuLaunchKernel|0|-\n"
	                    "300|350|1|700|700|1|6|cuLaunchKernel|700|-\n"
	                    "500|550|0|700|700|1|-|[runtime call 999]|0|-");
	assert_string_equal(
		query(s, db,
	              "SELECT start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, "
	              "d.value, s.value, m.value, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, "
	              "blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, "
	              "localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId, sharedMemoryLimitConfig FROM "
	              "CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds d ON d.id = demangledName JOIN StringIds s ON "
	              "s.id = shortName LEFT JOIN StringIds m ON m.id = mangledName ORDER BY start LIMIT 1"),
		"250|900|1|1|0|13|5|281486720761856|add(float *, "
		"int)|add|_Z3addPfi|2|2|32|128|2|3|256|4|5|1024|2048|16|"
		"5000000000|77|102400|-|1");
	assert_string_equal(query(s, db, "SELECT 281486720761856 = ((1 << 48) | (700 << 24))"), "1");
	assert_string_equal(query(s, db,
	                          "SELECT value, launchType, mangledName IS NULL, graphNodeId FROM "
	                          "CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName ORDER BY start "
	                          "LIMIT 2 OFFSET 1"),
	                    "plain_kernel|1|0|4294967303\n[unknown kernel]|1|1|-");
	assert_string_equal(
		query(s, db,
	              "SELECT start, end, deviceId, contextId, streamId, correlationId, bytes, copyKind, "
	              "srcKind, dstKind, srcDeviceId, srcContextId, dstDeviceId, dstContextId, graphNodeId, "
	              "copyCount FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start"),
		"1000|1100|0|1|7|8|4096|1|0|2|-|-|-|-|-|3\n"
		"2000|2100|0|1|7|12|8192|10|2|2|0|1|1|2|5|-");
	assert_string_equal(query(s, db,
	                          "SELECT start, end, value, bytes, graphNodeId, memKind FROM "
	                          "CUPTI_ACTIVITY_KIND_MEMSET"),
	                    "1200|1250|7|512|-|2");
	assert_string_equal(query(s, db,
	                          "SELECT start, end, streamId, correlationId, graphId, graphExecId FROM "
	                          "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
	                    "1300|1400|13|10|0|2\n1410|1480|144115188075855872|0|0|21");
	/* The context was last used on device 0 (by the memset). */
	assert_string_equal(query(s, db,
	                          "SELECT start, end, deviceId, contextId, streamId, correlationId, syncType, eventId, "
	                          "eventSyncId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
	                    "1500|1600|0|1|13|11|3|4294967295|4294967295");
	assert_string_equal(query(s, db,
	                          "SELECT start, end, globalTid & 0xFFFFFF, value, overheadType, label FROM "
	                          "CUPTI_ACTIVITY_KIND_OVERHEAD JOIN StringIds s ON s.id = nameId JOIN "
	                          "ENUM_CUPTI_OVERHEAD_TYPE e ON e.id = overheadType"),
	                    "1700|1800|700|Module loading|6|Module loading");
	assert_string_equal(query(s, db, "SELECT globalPid, pid, name FROM PROCESSES"), "281486720761856|700|trainer");
}

/* Layouts of CUDA 12.4 (CUPTI 22): smaller records of the same kinds. */
static void test_layouts_of_cuda_12(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	static const uint32_t sizes[][2] = {{1, 88}, {2, 80}, {10, 176}, {17, 40}, {38, 40}, {51, 48}, {5, 40}};
	spool_begin(&m, PID, WRITER);
	spool_add_cupti(&m, 22);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		spool_add_size(&m, sizes[i][0], sizes[i][1]);
	struct spool_record r = spool_kernel(START + 10, START + 20, 0, 7, 1, 0);
	put32(&r, 88, 4096); /* localMemoryTotal before it became wider */
	spool_record(&b, &r, 176);
	r = spool_copy(START + 30, START + 40, 2, 64, 2);
	spool_record(&b, &r, 88);
	r = spool_memset(START + 50, START + 60, 0, 64, 3);
	spool_record(&b, &r, 80);
	r = spool_overhead(START + 70, START + 80, 1, 1, 0);
	spool_record(&b, &r, 40);
	r = spool_sync(START + 90, START + 100, 4, UINT32_MAX, 5);
	spool_record(&b, &r, 40);
	r = spool_graph(START + 110, START + 120, 3, 7, 6);
	spool_record(&b, &r, 48);
	spool_add_buffer(&m, &b);
	spool_end(&m, START + 200);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_string_equal(result.cupti, "12.4");
	assert_int_equal(result.ops, 4);
	assert_int_equal(result.skipped, 0);
	assert_string_equal(query(s, db, "SELECT localMemoryTotal FROM CUPTI_ACTIVITY_KIND_KERNEL"), "4096");
	assert_string_equal(query(s, db, "SELECT copyCount FROM CUPTI_ACTIVITY_KIND_MEMCPY"), "-");
	assert_string_equal(query(s, db, "SELECT start, overheadType, correlationId FROM CUPTI_ACTIVITY_KIND_OVERHEAD"),
	                    "70|2|-");
	assert_string_equal(query(s, db, "SELECT start, eventSyncId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), "90|-");
	assert_string_equal(query(s, db, "SELECT start, end, graphExecId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
	                    "110|120|3");
}

/* Of graphs that kernels launch there is no call: their own beginning says whether they belong to the window. */
static void test_device_graphs_in_a_window(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	const struct spool_window opens = {.open = 1, .why = 2, .time = START + 50},
				  closes = {.open = 0, .why = 2, .time = START + 100};
	static const int64_t starts[] = {49, 50, 99, 100};
	begin_cuda(&m, PID);
	spool_add(&m, SPOOL_WINDOW, 0, &opens, sizeof opens);
	spool_add(&m, SPOOL_WINDOW, 0, &closes, sizeof closes);
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		struct spool_record r = spool_device_graph((uint64_t)(START + starts[i]), START + 200, 1);
		spool_record(&b, &r, 56);
	}
	spool_add_buffer(&m, &b);
	spool_end(&m, START + 300);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	assert_string_equal(query(s, db, "SELECT start FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE ORDER BY 1"), "50\n99");
}

static void test_times_without_sense(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	begin_cuda(&m, PID);
	static const uint64_t times[][2] = {
		{START + 500, START + 400}, /* ends before it starts */
		{0, 0},                     /* not collected */
		{START + 500, 0},
		{START - 1, START + 10}, /* before the capture */
		{UINT64_MAX, UINT64_MAX},
		{START + 10, (uint64_t)1 << 62},
		{START + 600, START + 600}, /* takes no time: fine */
	};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct spool_record r = spool_kernel(times[i][0], times[i][1], 0, 7, 1, 0x7f0011);
		spool_record(&b, &r, 216);
		r = spool_call(5, 211, times[i][0], times[i][1], MAIN, 1);
		spool_record(&b, &r, 40);
	}
	spool_add_buffer(&m, &b);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.skipped, 12);
	assert_string_equal(query(s, db, "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL"), "600|600");
	assert_string_equal(query(s, db, "SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME"), "600|600");
	assert_string_equal(query(s, db, "SELECT severity, text FROM DIAGNOSTIC_EVENT"),
	                    "2|12 events made no sense and were left out");
}

static void test_layouts_that_are_not_known(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	spool_begin(&m, PID, WRITER);
	spool_add_cupti(&m, 140203);
	spool_add_size(&m, 9, 1000); /* not needed, so of no interest */
	spool_add_size(&m, 10, 232);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *text = refusal(s);
	assert_non_null(strstr(text, "CUPTI 14.2.3"));
	assert_non_null(strstr(text, "kernels (kind 10) in 232 bytes"));
}

/* A record of a kind whose size was never stated ends its buffer, not the conversion. */
static void test_damaged_buffer(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	begin_cuda(&m, PID);
	struct spool_record r = spool_kernel(START + 10, START + 20, 0, 7, 1, 0x7f0011), unknown = {{33}};
	spool_record(&b, &r, 216);
	spool_record(&b, &unknown, 64);
	spool_record(&b, &r, 216);
	spool_add_buffer(&m, &b);
	spool_record(&b, &r, 216);
	spool_record(&b, &r, 100); /* cut off */
	spool_add_buffer(&m, &b);
	spool_record(&b, &r, 216);
	spool_add_buffer(&m, &b);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.ops, 3);
	assert_int_equal(result.skipped, 2);
}

/* The same pointer stands for another kernel after a module was unloaded and another one loaded. */
static void test_names_that_change(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	begin_cuda(&m, PID);
	struct spool_record r = spool_kernel(START + 10, START + 20, 0, 7, 1, 0x7f0022);
	spool_record(&b, &r, 216);
	spool_add_buffer(&m, &b);
	spool_add_kernel_name(&m, 0x7f0022, "another_kernel");
	r = spool_kernel(START + 30, START + 40, 0, 7, 1, 0x7f0022);
	spool_record(&b, &r, 216);
	spool_add_buffer(&m, &b);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	assert_string_equal(query(s, db,
	                          "SELECT start, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = "
	                          "demangledName ORDER BY start"),
	                    "10|plain_kernel\n30|another_kernel");
}

/* Driver calls are told by their thread and time, in whatever order buffers come. */
static void test_driver_calls_inside_runtime_calls(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct buf b = {0};
	begin_cuda(&m, PID);
	struct spool_record r;
	for (int i = 9; i >= 0; i--) { /* runtime calls [100 i, 100 i + 50], last first */
		uint64_t at = (uint64_t)(START + 1000 + 100 * i);
		r = spool_call(4, 307, at, at + 50, MAIN, 1); /* as long as the runtime call: inside */
		spool_record(&b, &r, 40);
		r = spool_call(4, 307, at + 40, at + 51, MAIN, 2); /* outlasts it: not inside */
		spool_record(&b, &r, 40);
		r = spool_call(4, 307, at + 60, at + 70, MAIN, 3); /* between two */
		spool_record(&b, &r, 40);
		r = spool_call(5, 211, at, at + 50, MAIN, 1);
		spool_record(&b, &r, 40);
	}
	spool_add_buffer(&m, &b);
	spool_end(&m, START);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	assert_string_equal(
		query(s, db,
	              "SELECT eventClass, correlationId, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY "
	              "1, 2"),
		"0|1|10\n1|2|10\n1|3|10");
}

/* ---- processes ---- */

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
	spool_add(&m, SPOOL_DROPPED, 0, &dropped, sizeof dropped);
	spool_add(&m, SPOOL_DROPPED, 0, &dropped, sizeof dropped);
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
		cmocka_unit_test_setup_teardown(test_ops_and_calls, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_layouts_of_cuda_12, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_device_graphs_in_a_window, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_times_without_sense, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_layouts_that_are_not_known, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_damaged_buffer, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_names_that_change, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_driver_calls_inside_runtime_calls, support_setup,
	                                        support_teardown),
		cmocka_unit_test_setup_teardown(test_processes_apart, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_clock_of_day, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_os_calls, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_no_files, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_about_the_capture, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_target, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
