/* There and back: what was put into a spool is what the reader finds in the profile. */
#include "support_convert.h"

static const char *name_at(struct support *s, const uint32_t *names, size_t i)
{
	return support_name(s, names[i]);
}

/* What NCCL says of an all-reduce: a layout, and a payload of the range that is open. */
static void add_payload(struct spool_events *events)
{
	static const char *const names[] = {"NCCL communicator ID", "Message size [bytes]"};
	struct {
		struct spool_schema_entry head;
		char name[24];
	} entries[2] = {{.head = {.type = 18}}, {.head = {.type = 22, .offset = 8}}};
	for (size_t i = 0; i < 2; i++) {
		entries[i].head.bytes = sizeof entries[i];
		entries[i].head.name_bytes = (uint32_t)strlen(names[i]);
		memcpy(entries[i].name, names[i], strlen(names[i]));
	}
	const uint64_t words[] = {1, 1 << 24, 16, 32, 0xfedcba9876543210, 4096};
	spool_event(events,
	            (struct spool_event){
			    .time = START + 61, .type = SPOOL_SCHEMA, .domain = 1, .category = 1, .id = 1 << 24},
	            entries, sizeof entries);
	spool_event(events, (struct spool_event){.time = START + 62, .type = SPOOL_PAYLOAD, .domain = 1}, words,
	            sizeof words);
}

static const char *make_profile(struct support *s)
{
	struct spool_maker m;
	struct buf b = {0};
	struct spool_events events = {{0}};
	const struct spool_device device = {
		.sm_count = 132, .memory_bytes = 1 << 30, .clock_hz = 1980000000, .uuid = {1}};
	begin_cuda(&m, PID);
	spool_add_device(&m, &device, "NVIDIA H200");
	spool_add_text(&m, SPOOL_THREAD_NAME, MAIN, "main thread");
	spool_add_message(&m, SPOOL_WARNING, "a warning");
	struct spool_record r = spool_call(5, 211, START + 100, START + 200, MAIN, 5);
	spool_record(&b, &r, 40);
	r = spool_call(4, 307, START + 300, START + 350, MAIN, 6);
	spool_record(&b, &r, 40);
	r = spool_call(5, 41, START + 400, START + 450, HELPER, 8);
	spool_record(&b, &r, 40);
	r = spool_kernel(START + 250, START + 900, 0, 13, 5, 0x7f0011);
	spool_record(&b, &r, 216);
	r = spool_kernel(START + 950, START + 960, 0, 13, 6, 0x7f0022);
	put64(&r, 144, 0x100000007);
	spool_record(&b, &r, 216);
	r = spool_copy(START + 1000, START + 1100, 1, 4096, 8);
	spool_record(&b, &r, 96);
	r = spool_memset(START + 1200, START + 1250, 7, 512, 0);
	spool_record(&b, &r, 88);
	r = spool_graph(START + 1300, START + 1400, 2, 14, 6);
	spool_record(&b, &r, 56);
	r = spool_sync(START + 1500, START + 1600, 3, 13, 11);
	spool_record(&b, &r, 56);
	r = spool_overhead(START + 1700, START + 1800, 2 << 16, 2, MAIN);
	spool_record(&b, &r, 56);
	r = spool_overhead(START + 1900, START + 2000, 4 << 16, 2, MAIN);
	spool_record(&b, &r, 56);
	r = spool_overhead(START + 2100, START + 2200, 6 << 16, 2, MAIN); /* waiting for the queue is no overhead */
	spool_record(&b, &r, 56);
	spool_add_buffer(&m, &b);
	spool_event_text(&events, (struct spool_event){.time = START + 1, .type = SPOOL_DOMAIN, .domain = 1}, "lib");
	spool_event_text(&events, (struct spool_event){.time = START + 50, .type = SPOOL_PUSH}, "step");
	spool_event_text(&events, (struct spool_event){.time = START + 60, .type = SPOOL_PUSH, .domain = 1}, "inner");
	add_payload(&events);
	spool_event(&events, (struct spool_event){.time = START + 70, .type = SPOOL_POP, .domain = 1}, "", 0);
	spool_event(&events, (struct spool_event){.time = START + 80, .type = SPOOL_POP}, "", 0);
	spool_event_text(&events, (struct spool_event){.time = START + 90, .type = SPOOL_START, .id = 3},
	                 "never ended");
	spool_event_text(&events,
	                 (struct spool_event){.time = START + 3000, .type = SPOOL_OS_CALL, .payload = START + 63000},
	                 "poll");
	spool_add_events(&m, MAIN, &events);
	spool_end(&m, START + 9000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	return db;
}

static void test_there_and_back(void **state)
{
	struct support *s = *state;
	const char *db = make_profile(s);
	if (support_read(s, db) != 0)
		fail_msg("%s", s->err.text);
	const struct trace *t = &s->trace;

	assert_int_equal(t->source.kind, SOURCE_GAPLINE);
	assert_string_equal(t->source.collector, "gapline-cupti");
	assert_string_equal(t->source.exporter, "gapline 0.1.0");
	assert_string_equal(t->source.driver, "580.159.04");
	assert_string_equal(t->source.cuda_driver, "13.0");
	assert_int_equal(t->source.graphs, GRAPHS_WHOLE);
	assert_int_equal(t->n_dropped, 0);
	assert_int_equal(t->n_diagnostics, 1);

	static const int64_t op_times[][2] = {{250, 900}, {950, 960}, {1000, 1100}, {1200, 1250}, {1300, 1400}};
	static const char *const op_names[] = {"add(float *, int)", "plain_kernel", "[CUDA memcpy Host-to-Device]",
	                                       "[CUDA memset]", "[CUDA graph]"};
	static const int64_t launches[] = {100, 300, 400, -1, 300};
	assert_int_equal(t->ops.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(t->ops.start[i], op_times[i][0]);
		assert_int_equal(t->ops.end[i], op_times[i][1]);
		assert_string_equal(name_at(s, t->ops.name, i), op_names[i]);
		uint32_t launch = t->ops.launch[i];
		assert_int_equal(launch == TRACE_NONE ? -1 : t->calls.start[launch], launches[i]);
	}
	assert_int_equal(t->ops.flags[0], 0);
	assert_int_equal(t->ops.flags[1], OPF_GRAPH_NODE);
	assert_int_equal(t->ops.flags[2], OPF_PAGEABLE);
	assert_int_equal(t->ops.bytes[2], 4096);
	assert_int_equal(t->ops.bytes[3], 512);
	assert_int_equal(t->n_devices, 1);
	assert_int_equal(t->devices[0].gpu, 0);
	assert_string_equal(support_name(s, t->gpus[0].name), "NVIDIA H200");
	assert_int_equal(t->gpus[0].sm_count, 132);

	static const char *const call_names[] = {"cudaLaunchKernel", "cuLaunchKernel", "cudaMemcpyAsync"};
	assert_int_equal(t->calls.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(name_at(s, t->calls.name, i), call_names[i]);
	assert_int_equal(t->threads[t->calls.thread[2]].tid, HELPER);

	assert_int_equal(t->ranges.n, 3);
	assert_string_equal(name_at(s, t->ranges.name, 0), "step");
	assert_string_equal(name_at(s, t->ranges.name, 1), "inner");
	assert_string_equal(name_at(s, t->ranges.domain, 1), "lib");
	assert_int_equal(t->ranges.end[1], 70);
	assert_string_equal(name_at(s, t->ranges.name, 2), "never ended");
	assert_int_equal(t->ranges.clipped[2], 1);
	assert_int_equal(t->ranges.kind[2], RANGE_START_END);

	assert_int_equal(t->comm_calls.n, 1);
	assert_int_equal(t->comm_calls.comm[0], (int64_t)0xfedcba9876543210);
	assert_int_equal(t->comm_calls.bytes[0], 4096);
	assert_int_equal(t->comm_calls.start[0], 60);
	assert_int_equal(t->comm_calls.end[0], 70);
	assert_int_equal(t->comm_calls.peer[0], TRACE_NONE);

	assert_int_equal(t->os_calls.n, 1);
	assert_int_equal(t->os_calls.end[0], 63000);
	assert_int_equal(t->overheads.n, 2);
	assert_int_equal(t->overheads.class[0], OVERHEAD_PROFILER);
	assert_int_equal(t->overheads.class[1], OVERHEAD_MODULE_LOAD);
	assert_int_equal(t->processes[0].pid, PID);
	assert_string_equal(support_name(s, t->processes[0].name), "trainer");
	assert_string_equal(support_name(s, t->threads[t->calls.thread[0]].name), "main thread");
}

/* Whose profile it is decides what it can be compared with: gapline may only have called nsys. */
static void test_collectors(void **state)
{
	struct support *s = *state;
	const char *db = make_profile(s);
	support_run(db, "CREATE TABLE GAPLINE_CAPTURE(name TEXT NOT NULL, value TEXT NOT NULL); INSERT INTO "
	                "GAPLINE_CAPTURE VALUES ('gapline', '0.1.0'), ('collector', 'cupti'), ('graphs', 'node')");
	assert_int_equal(support_read(s, db), 0);
	assert_int_equal(s->trace.source.kind, SOURCE_GAPLINE);
	assert_string_equal(s->trace.source.collector, "gapline-cupti");
	assert_int_equal(s->trace.source.graphs, GRAPHS_BY_NODE);

	db = support_profile(s, "layout_2026.sql", NULL);
	assert_int_equal(support_read(s, db), 0);
	assert_string_equal(s->trace.source.collector, "nsys");
	support_run(db, "CREATE TABLE GAPLINE_CAPTURE(name TEXT NOT NULL, value TEXT NOT NULL); INSERT INTO "
	                "GAPLINE_CAPTURE VALUES ('collector', 'nsys')");
	assert_int_equal(support_read(s, db), 0);
	assert_int_equal(s->trace.source.kind, SOURCE_NSYS_SQLITE);
	assert_string_equal(s->trace.source.collector, "nsys");
	support_run(db, "UPDATE GAPLINE_CAPTURE SET value = x'00FF' WHERE name = 'collector'");
	assert_int_equal(support_read(s, db), 0);
	assert_string_equal(s->trace.source.collector, "nsys");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there_and_back, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_collectors, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
