/* A spool -> a profile, what CUPTI recorded: rows as they were worked out by hand, asked for with SQL. */
#include "support_convert.h"

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
	for (uint32_t kind = 0; kind < 9; kind++) { /* from unknown to one that nobody knows yet */
		r = spool_memset(START + 1260 + kind, START + 1260 + kind, 7, 0, 9);
		put32(&r, 50, kind);
		spool_record(&b, &r, 88);
	}
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
	assert_int_equal(result.ops, 17);
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
	                          "CUPTI_ACTIVITY_KIND_MEMSET WHERE bytes > 0"),
	                    "1200|1250|7|512|-|2");
	assert_string_equal(
		query(s, db, "SELECT memKind FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE bytes = 0 ORDER BY start"),
		"7\n0\n1\n2\n3\n4\n5\n6\n7");
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
