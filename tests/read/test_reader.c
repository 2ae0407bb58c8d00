/* What the reader makes of nsys exports of every generation. Expected values were worked out by hand from the rows in
 * profiles/events.sql. */
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define SECRETS "hunter2", "someone", "/home"

static const char *const LAYOUTS[] = {"layout_2020.sql", "layout_2021.sql", "layout_2023.sql",
                                      "layout_2024.sql", "layout_2025.sql", "layout_2026.sql"};

static void check_ops(const struct support *s)
{
	const struct trace *t = &s->trace;
	const struct trace_ops *o = &t->ops;
	/* Device 0 is process 100's, device 1 process 200's; both say deviceId 0. */
	static const struct {
		int64_t start, end, bytes;
		uint32_t device, stream;
		enum op_kind kind;
		enum copy_kind copy;
		int flags;
		const char *name;
		int64_t call_start; /* of the launch; -1 none */
	} want[] = {
		{1150, 1650, 1, 0, 7, OP_KERNEL, 0, 0, "void scale<float>(float *, int)", 1000},
		{1700, 1800, 4096, 0, 7, OP_COPY, COPY_H2D, 0, "[CUDA memcpy Host-to-Device]", 1200},
		{2000, 2500, 8192, 0, 7, OP_COPY, COPY_D2H, OPF_PAGEABLE, "[CUDA memcpy Device-to-Host]", 1400},
		{2510, 2520, 65536, 0, 7, OP_COPY, COPY_UM_H2D, OPF_MANAGED, "[CUDA memcpy Unified Host-to-Device]",
	         -1},
		{2700, 2710, 512, 0, 7, OP_MEMSET, 0, 0, "[CUDA memset]", -1},
		{1160, 1760, 1, 1, 13, OP_COMM, 0, 0,
	         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1005},
	};
	assert_int_equal(o->n, sizeof want / sizeof *want);
	for (size_t i = 0; i < o->n; i++) {
		assert_int_equal(o->start[i], want[i].start);
		assert_int_equal(o->end[i], want[i].end);
		const bool kernel = o->kind[i] == OP_KERNEL || o->kind[i] == OP_COMM;
		assert_int_equal(o->bytes[i], kernel ? trace_launch(want[i].bytes, 32) : want[i].bytes);
		assert_int_equal(o->device[i], want[i].device);
		assert_int_equal(o->stream[i], want[i].stream);
		assert_int_equal(o->kind[i], want[i].kind);
		assert_int_equal(o->copy[i], want[i].copy);
		assert_int_equal(o->flags[i], want[i].flags);
		assert_string_equal(support_name(s, o->name[i]), want[i].name);
		if (want[i].call_start < 0)
			assert_int_equal(o->launch[i], TRACE_NONE);
		else
			assert_int_equal(t->calls.start[o->launch[i]], want[i].call_start);
	}
	assert_int_equal(t->n_unlaunched, 1); /* the memset; nobody launches a migration */
	assert_int_equal(t->n_devices, 2);
	assert_int_equal(t->devices[0].first_op, 0);
	assert_int_equal(t->devices[0].n_ops, 5);
	assert_int_equal(t->devices[1].first_op, 5);
	assert_int_equal(t->devices[1].n_ops, 1);
	assert_int_equal(t->processes[t->devices[0].process].pid, 100);
	assert_int_equal(t->processes[t->devices[1].process].pid, 200);
}

static void check_host(const struct support *s)
{
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_processes, 2);
	assert_int_equal(t->n_threads, 3);
	static const int tids[] = {101, 102, 201};
	for (int i = 0; i < 3; i++)
		assert_int_equal(t->threads[i].tid, tids[i]);
	assert_string_equal(support_name(s, t->threads[0].name), "main loop"); /* NVTX's name wins */
	assert_string_equal(support_name(s, t->threads[1].name), "trainer");
	assert_string_equal(support_name(s, t->threads[2].name), "");

	const struct trace_calls *c = &t->calls;
	assert_int_equal(c->n, 4); /* without the backtrace row */
	static const char *const names[] = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy", "cudaLaunchKernel"};
	static const int classes[] = {CALL_LAUNCH, CALL_COPY, CALL_SYNC, CALL_LAUNCH};
	for (int i = 0; i < 4; i++) {
		assert_string_equal(support_name(s, c->name[i]), names[i]);
		assert_int_equal(c->class[i], classes[i]);
		assert_int_equal(c->thread[i], i < 3 ? 0 : 2);
	}
	assert_int_equal(t->first_call[1], 3);
	assert_int_equal(t->first_call[2], 3);
	assert_int_equal(t->first_call[3], 4);

	const struct trace_ranges *r = &t->ranges;
	static const struct {
		int64_t start, end;
		uint32_t thread;
		const char *name, *domain;
		int kind, clipped;
	} want[] = {
		{900, 2800, 0, "step_0", "", RANGE_PUSH_POP, 0},
		{950, 1350, 0, "forward", "training", RANGE_PUSH_POP, 0},
		{2750, 2900, 0, "step_1", "", RANGE_PUSH_POP, 1}, /* 2900: the OS call's end is the last time */
		{1001, 1500, 2, "all_reduce", "communication", RANGE_START_END, 0},
	};
	assert_int_equal(r->n, sizeof want / sizeof *want);
	for (size_t i = 0; i < r->n; i++) {
		assert_int_equal(r->start[i], want[i].start);
		assert_int_equal(r->end[i], want[i].end);
		assert_int_equal(r->thread[i], want[i].thread);
		assert_string_equal(support_name(s, r->name[i]), want[i].name);
		assert_string_equal(support_name(s, r->domain[i]), want[i].domain);
		assert_int_equal(r->kind[i], want[i].kind);
		assert_int_equal(r->clipped[i], want[i].clipped);
	}
	assert_int_equal(t->os_calls.n, 1); /* without the tracer's note */
	assert_string_equal(support_name(s, t->os_calls.name[0]), "pthread_cond_wait");
	assert_int_equal(t->os_calls.class[0], OS_WAIT);
	assert_int_equal(t->os_calls.thread[0], 1);
	assert_int_equal(t->overheads.n, 2);
	assert_int_equal(t->overheads.class[0], OVERHEAD_PROFILER);
	assert_int_equal(t->overheads.class[1], OVERHEAD_MODULE_LOAD);
	assert_true(t->source.has_calls && t->source.has_ranges && t->source.has_os_calls && t->source.has_overheads);
}

static void same_events_from_every_generation(void **state)
{
	struct support *s = *state;
	for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
		const char *path = support_profile(s, LAYOUTS[i], NULL);
		if (support_read(s, path) != 0)
			fail_msg("%s: %s", LAYOUTS[i], s->err.text);
		print_message("%s\n", LAYOUTS[i]);
		check_ops(s);
		check_host(s);
		assert_int_equal(s->trace.n_dropped, 0);
		assert_int_equal(s->trace.source.kind, SOURCE_NSYS_SQLITE);
		assert_string_equal(s->trace.source.collector, "nsys");
		assert_int_equal(s->trace.source.graphs, GRAPHS_NONE);
		unlink(path);
	}
}

static void where_each_generation_comes_from(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *exporter, *schema, *driver, *cuda, *process;
		const char *gpu[2]; /* of process 100's and 200's device 0; NULL: cannot be told */
		int gpu_index[2];
		int64_t clock, sms;
	} want[] = {
		{"NVIDIA Nsight Systems",
	         "",
	         "",
	         "",
	         "",
	         {"Tesla V100-SXM2-16GB", "Tesla V100-SXM2-16GB"},
	         {1, 0},
	         1530000000,
	         80},
		{"NVIDIA Nsight Systems 2021.5.2.53",
	         "2.7.0",
	         "525.105.17",
	         "11.7",
	         "trainer",
	         {"NVIDIA A100-PCIE-40GB", "NVIDIA A100-PCIE-40GB"},
	         {0, 0},
	         1410000000,
	         108},
		{"NVIDIA Nsight Systems 2023.3.1.92",
	         "3.4.0",
	         "535.104.05",
	         "12.2",
	         "trainer",
	         {"NVIDIA RTX A6000", "NVIDIA RTX A6000"},
	         {0, 0},
	         1800000000,
	         84}, /* not the display adapter */
		{"NVIDIA Nsight Systems 2024.2.3.38",
	         "3.11.1",
	         "550.54.14",
	         "12.4",
	         "trainer",
	         {NULL, NULL},
	         {-1, -1},
	         0,
	         0}, /* two processes and two GPUs: who used which is not in the file */
		{"NVIDIA Nsight Systems 2025.3.2.474",
	         "3.20.3",
	         "580.159.04",
	         "13.0",
	         "trainer",
	         {"NVIDIA H200", "NVIDIA H100 80GB HBM3"},
	         {0, 1},
	         1980000000,
	         132},
		{"NVIDIA Nsight Systems 2026.2.1.210",
	         "3.25.0",
	         "595.71.05",
	         "13.2",
	         "trainer",
	         {"NVIDIA B200", "NVIDIA B200"},
	         {1, 0},
	         1965000000,
	         148}, /* by uuid, by id */
	};
	for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
		const char *path = support_profile(s, LAYOUTS[i], NULL);
		assert_int_equal(support_read(s, path), 0);
		const struct trace *t = &s->trace;
		assert_string_equal(t->source.exporter, want[i].exporter);
		assert_string_equal(t->source.schema, want[i].schema);
		assert_string_equal(t->source.driver, want[i].driver);
		assert_string_equal(t->source.cuda_driver, want[i].cuda);
		assert_string_equal(support_name(s, t->processes[0].name), want[i].process);
		for (int d = 0; d < 2; d++) {
			uint32_t gpu = t->devices[d].gpu;
			assert_int_equal((int)gpu, want[i].gpu_index[d]);
			if (gpu == TRACE_NONE)
				continue;
			assert_string_equal(support_name(s, t->gpus[gpu].name), want[i].gpu[d]);
			assert_int_equal(t->gpus[gpu].clock_hz, want[i].clock);
			assert_int_equal(t->gpus[gpu].sm_count, want[i].sms);
		}
		unlink(path);
	}
}

static void one_process_counts_its_gpus(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2024.sql",
	                                   "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid = 281478332153856;"
	                                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1");
	assert_int_equal(support_read(s, path), 0);
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_devices, 2);
	for (uint32_t d = 0; d < 2; d++) { /* the file has their rows in the other order */
		assert_int_equal(t->devices[d].ordinal, d);
		assert_int_equal(t->devices[d].gpu, d);
	}
}

static void warnings_lose_their_folders(void **state)
{
	struct support *s = *state;
	assert_int_equal(support_read(s, support_profile(s, "layout_2024.sql", NULL)), 0);
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_diagnostics, 2); /* information is left out, repetition said once */
	assert_int_equal(t->diagnostics[0].severity, 2);
	assert_string_equal(support_name(s, t->diagnostics[0].text), "Cannot open \"libfoo.so\": no such file");
	assert_int_equal(t->diagnostics[1].severity, 3);
	assert_string_equal(support_name(s, t->diagnostics[1].text), "Not all CUDA events might have been collected.");
}

/* No environment, user or folder may get into the trace: not one name holds them. */
static void secrets_stay_in_the_file(void **state)
{
	struct support *s = *state;
	static const char *const secrets[] = {SECRETS, "never used"};
	for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
		const char *path = support_profile(s, LAYOUTS[i], NULL);
		assert_int_equal(support_read(s, path), 0);
		unlink(path);
	}
	for (uint32_t id = 0; id < s->names.n; id++)
		for (size_t k = 0; k < sizeof secrets / sizeof *secrets; k++)
			if (strstr(support_name(s, id), secrets[k]))
				fail_msg("a name holds %s: %s", secrets[k], support_name(s, id));
}

static void graph_launches_traced_whole(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(
		s, "layout_2025.sql",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId "
		"INTEGER"
		" NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
		"correlationId"
		" INTEGER, globalPid INTEGER, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (3000, 3900, 0, 1, NULL, 7, 50, 281476654432256, "
		"1, 2);"
		"INSERT INTO StringIds VALUES (16, 'cudaGraphLaunch_v10000');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2910, 2950, 0, 281476654432357, 50, 16, 0, NULL);"
		"DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL"); /* as in a real file */
	assert_int_equal(support_read(s, path), 0);
	const struct trace *t = &s->trace;
	assert_int_equal(t->source.graphs, GRAPHS_WHOLE);
	size_t i = t->devices[0].n_ops - 1;
	assert_int_equal(t->ops.kind[i], OP_GRAPH);
	assert_string_equal(support_name(s, t->ops.name[i]), "[CUDA graph]");
	assert_int_equal(t->calls.start[t->ops.launch[i]], 2910);
	assert_int_equal(t->calls.class[t->ops.launch[i]], CALL_LAUNCH);
}

/* As nsys 2025.3 exports them: CUPTI's own stream, no call. */
static void graphs_that_kernels_launch(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(
		s, "layout_2025.sql",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId "
		"INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
		"correlationId INTEGER, globalPid INTEGER, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (3000, 3900, 0, 1, NULL, 144115188075855872, 0, "
		"281476654432256, 1, 2)");
	assert_int_equal(support_read(s, path), 0);
	const struct trace *t = &s->trace;
	size_t i = t->devices[0].n_ops - 1;
	assert_int_equal(t->n_dropped, 0);
	assert_int_equal(t->ops.kind[i], OP_GRAPH);
	assert_int_equal(t->ops.end[i], 3900);
	assert_int_equal(t->ops.launch[i], TRACE_NONE);
	for (size_t k = 0; k < i; k++)
		assert_int_not_equal(t->ops.stream[k], t->ops.stream[i]);
}

static void graph_launches_traced_by_node(void **state)
{
	struct support *s = *state;
	const char *more =
		"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 4294967298 + rowid, correlationId = 50,"
		" globalPid = 281476654432256;"
		"INSERT INTO StringIds VALUES (16, 'cudaGraphLaunch_v10000');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId,"
		" returnValue) VALUES (1110, 1140, 0, 281476654432357, 50, 16, 0)";
	const char *path = support_profile(s, "layout_2023.sql", more);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.source.graphs, GRAPHS_BY_NODE);
	size_t nodes = 0;
	for (size_t i = 0; i < s->trace.ops.n; i++) {
		if (!(s->trace.ops.flags[i] & OPF_GRAPH_NODE))
			continue;
		nodes++;
		assert_int_equal(s->trace.calls.start[s->trace.ops.launch[i]], 1110); /* both from one launch */
	}
	assert_int_equal(nodes, 2);
	unlink(path);
	/* What the capture says about itself counts, as soon as there are graphs. */
	support_read(s, support_profile(s, "layout_2024.sql", more));
	assert_int_equal(s->trace.source.graphs, GRAPHS_WHOLE);
}

static void tables_and_columns_by_feature(void **state)
{
	struct support *s = *state;
	/* A versioned name, an added column in front, an index of the user's: nothing changes. */
	const char *path = support_profile(
		s, "layout_2024.sql",
		"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V2;"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V1 (start INTEGER);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_notes (start INTEGER);"
		"CREATE TABLE k (note TEXT, END INTEGER, Start INTEGER, deviceid INTEGER, bytes INTEGER, copyKind "
		"INTEGER,"
		" streamId INTEGER, correlationId INTEGER, globalPid INTEGER, srcKind INTEGER, dstKind INTEGER);"
		"INSERT INTO k SELECT 'x', end, start, deviceId, bytes, copyKind, streamId, correlationId, globalPid,"
		" srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
		"DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY; ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_MEMCPY;"
		"ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernel_name TEXT;"
		"CREATE INDEX user_index ON CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, "
		"correlationId,"
		" nameId, returnValue);"
		"CREATE TABLE cudaKernelStats (id INTEGER)");
	assert_int_equal(support_read(s, path), 0);
	check_ops(s);
	check_host(s);
}

static void other_text_encodings(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "utf16.sqlite");
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	const char *const parts[] = {"PRAGMA encoding = 'UTF-16le'", support_sql(s, "layout_2025.sql"),
	                             support_sql(s, "events.sql")};
	for (int i = 0; i < 3; i++)
		assert_int_equal(sqlite3_exec(db, parts[i], NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(support_read(s, path), 0);
	check_ops(s);
	check_host(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
	const struct CMUnitTest tests[] = {
		TEST(same_events_from_every_generation), TEST(where_each_generation_comes_from),
		TEST(one_process_counts_its_gpus),       TEST(warnings_lose_their_folders),
		TEST(secrets_stay_in_the_file),          TEST(graph_launches_traced_whole),
		TEST(graphs_that_kernels_launch),        TEST(graph_launches_traced_by_node),
		TEST(tables_and_columns_by_feature),     TEST(other_text_encodings),
	};
	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
