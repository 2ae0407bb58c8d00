/* Traces of the PyTorch profiler: numbers, spellings, what is made of operators. */
#include "kineto_rows.h"
#include "read/kineto.h"
#include "support_sqlite.h"
#include "trace/comm.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static const struct trace *read_wished(struct support *s, const char *json, bool details)
{
	const struct read_wish wish = {.details = details};
	const char *path = support_path(s, "trace.json");
	support_write(path, json, strlen(json));
	if (read_profile_with(path, &wish, &s->names, &s->arena, &s->trace, &s->err) != 0)
		fail_msg("%s", s->err.text);
	return &s->trace;
}

static const struct trace *read_text(struct support *s, const char *json)
{
	return read_wished(s, json, false);
}

static void times_are_exact(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"0", 0},
		{"-0", 0},
		{"1", 1000},
		{"4320554113004.505", 4320554113004505},
		{"1713797520123456.789", 1713797520123456789}, /* 19 digits, which a double does not hold */
		{"1713797520123456.001", 1713797520123456001},
		{".5", 500},
		{"0.0005", 1},
		{"0.0004999", 0},
		{"-1.5", -1500},
		{"1e3", 1000000},
		{"1.5E+2", 150000},
		{"25e-4", 3},
		{"12.3456789012345678901234567890", 12346},
		{"0e999999999999", 0},
		{"2305843009213693.951", 2305843009213693951},
	};
	static const char *const bad[] = {"",      "-",
	                                  ".",     "1e",
	                                  "1e+",   "x",
	                                  "1x",    "--1",
	                                  "1.2.3", "+1",
	                                  "0x10",  "2305843009213693.952",
	                                  "1e999", "99999999999999999999"};
	int64_t ns;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		if (!kineto_ns(good[i].text, strlen(good[i].text), &ns))
			fail_msg("%s is refused", good[i].text);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (kineto_ns(bad[i], strlen(bad[i]), &ns))
			fail_msg("%s is taken for %lld", bad[i], (long long)ns);
	assert_true(kineto_integer("10.0", 4, &ns) && ns == 10);
	assert_false(kineto_integer("10159970886766084423", 20, &ns));
}

static void rows_join_whatever_comes_first(void **state)
{
	/* The key of the events in between, times relative to a base that comes last. */
	const struct trace *t = read_text(
		*state,
		"{\"displayTimeUnit\": \"ms\", \"junk\": {\"traceEvents\": 3, \"ph\": [\"X\"]}, \"traceEvents\": "
		"[" KERNEL("4320554113004.505", "2.25", "7") ", " CALL(
			"4320554113000.001", "1.5",
			"7") ", "
			     "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pageable -> Device)\", "
			     "\"pid\": 0, "
			     "\"tid\": 7, \"ts\": 4320554113100, \"dur\": 3, \"args\": {\"device\": 0, \"stream\": 7, "
			     "\"bytes\": 64, "
			     "\"correlation\": 8, \"nested\": {\"correlation\": 7, \"bytes\": 1}}}, "
			     "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": "
			     "0, \"tid\": 7, "
			     "\"ts\": 4320554113004, \"dur\": 2}, "
			     "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Sync\", \"pid\": 0, \"tid\": "
			     "7, \"ts\": "
			     "4320554113004, \"dur\": 2, \"args\": {\"stream\": 7, \"correlation\": 7}}], "
			     "\"deviceProperties\": [{\"id\": 1, \"name\": \"other\"}, {\"id\": 0, \"name\": \"H200\", "
			     "\"totalGlobalMem\": 150109880320, \"numSms\": 132}], \"distributedInfo\": {\"backend\": "
			     "\"nccl\", "
			     "\"rank\": 3, \"world_size\": 8, \"pg_config\": [{\"rank\": 5}]}, "
			     "\"cuda_driver_version\": 13010, \"baseTimeNanoseconds\": 1790857026000000000}");
	assert_int_equal(t->ops.n, 2);
	assert_int_equal(t->calls.n, 1);
	assert_int_equal(t->ranges.n, 0);
	assert_int_equal(t->ops.end[0] - t->ops.start[0], 2250);
	assert_int_equal(t->ops.start[0] - t->calls.start[0], 4504);
	assert_int_equal(t->ops.launch[0], 0);
	assert_int_equal(t->ops.launch[1], TRACE_NONE);
	assert_int_equal(t->ops.copy[1], COPY_H2D);
	assert_int_equal(t->ops.bytes[1], 64);
	assert_true(t->ops.flags[1] & OPF_PAGEABLE);
	assert_true(t->source.started + t->calls.start[0] == 1790857026000000000 + 4320554113000001);
	assert_int_equal(t->source.rank, 3);
	assert_int_equal(t->source.ranks, 8);
	assert_string_equal(t->source.cuda_driver, "13.1");
	assert_string_equal(t->source.collector, "kineto");
	assert_int_equal(t->processes[t->devices[0].process].pid, 9);
	assert_string_equal(names_text(t->names, t->gpus[t->devices[0].gpu].name), "H200");
}

static void bad_rows_are_dropped_and_counted(void **state)
{
	const struct trace *t = read_text(
		*state,
		"[" KERNEL("1000", "5", "1") ", " KERNEL("1000", "-5", "1") ", " KERNEL(
			"\"soon\"", "5",
			"1") ", " KERNEL("1e300", "5",
	                                 "1") ", " KERNEL("1000", "1e300",
	                                                  "1") ", " KERNEL("1000", "5",
	                                                                   "-1") ", "
										 "{\"ph\": \"X\", \"cat\": \"kernel\", "
										 "\"name\": \"no time\"}, "
										 "{\"ph\": \"X\", \"cat\": \"kernel\", "
										 "\"ts\": 1, \"dur\": 1, \"pid\": -3, "
										 "\"tid\": 0}, "
										 "{}, [], 3, null, {\"ph\": \"X\"}, "
										 "{\"args\": 3}, {\"ph\": \"M\", "
										 "\"args\": []}, "
										 "{\"name\": \"process_name\", \"ph\": "
										 "\"M\", \"pid\": 9, \"args\": "
										 "{\"name\": \"train\"}}]");
	assert_int_equal(t->ops.n, 2);
	assert_int_equal(t->rows[ROWS_KERNELS].read, 8);
	assert_int_equal(t->rows[ROWS_KERNELS].dropped, 6);
	assert_true(t->source.started == TRACE_NO_TIME);
}

/* Work without a duration did not take no time. */
static void no_duration_is_not_zero(void **state)
{
#define WITHOUT(more)                                                                                                  \
	", {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1500" more "}"
	const struct trace *t =
		read_text(*state, "[" KERNEL("1000", "0", "1") WITHOUT("") WITHOUT(", \"dur\": null") "]");
	assert_int_equal(t->ops.n, 1); /* 0 is a duration */
	assert_int_equal(t->rows[ROWS_KERNELS].dropped, 2);
	assert_int_equal(t->n_dropped, 1);
	assert_string_equal(t->dropped[0].reason, "has no duration");
}

static void a_time_clamped_to_zero_does_not_move_the_start(void **state)
{
	const struct trace *t =
		read_text(*state, "[" KERNEL("1694128201557000", "5", "1") ", " KERNEL("0", "5", "2") "]");
	assert_int_equal(t->ops.n, 1);
	assert_true(t->ops.start[0] < 1000);
	assert_true(t->source.started + t->ops.start[0] == 1694128201557000000);
}

#define SPAN(cat, name, tid, ts, dur)                                                                                  \
	", {\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": 9, \"tid\": " tid ", \"ts\": " ts    \
	", \"dur\": " dur "}"

struct range {
	const char *name, *domain;
	int64_t start, end; /* us */
};

static void assert_ranges(const struct trace *t, const struct range *want, size_t n)
{
	for (size_t w = 0; w < n; w++) {
		bool found = false;
		for (size_t i = 0; i < t->ranges.n && !found; i++)
			found = !strcmp(names_text(t->names, t->ranges.name[i]), want[w].name) &&
			        !strcmp(names_text(t->names, t->ranges.domain[i]), want[w].domain) &&
			        t->ranges.start[i] == want[w].start * 1000 + 1 &&
			        t->ranges.end[i] == want[w].end * 1000 + 1;
		if (!found)
			fail_msg("no range %s of domain '%s' from %lld to %lld", want[w].name, want[w].domain,
			         (long long)want[w].start, (long long)want[w].end);
	}
	assert_int_equal(t->ranges.n, n);
}

static void a_step_is_put_together(void **state)
{
	const struct trace *t = read_text(
		*state,
		"[" KERNEL("500", "5", "1") SPAN("user_annotation", "ProfilerStep#7", "9", "100", "1000")
			SPAN("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "9",
	                     "110", "90") SPAN("cpu_op", "aten::stack", "9", "120", "10") /* the loader's own */
		SPAN("cpu_op", "aten::to", "9", "210", "10") SPAN("cpu_op", "aten::linear", "9", "230", "30") SPAN(
			"cpu_op", "aten::addmm", "9", "235",
			"20") SPAN("cpu_op", "aten::ones_like", "9", "270",
	                           "10") SPAN("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0",
	                                      "10", "300", "50") SPAN("cpu_op", "AddmmBackward0", "10", "310", "20")
			SPAN("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "10",
	                     "360", "40") SPAN("user_annotation", "nccl:all_reduce", "10", "370", "10")
				SPAN("user_annotation", "Optimizer.step#AdamW.step", "9", "500",
	                             "100") SPAN("cpu_op", "autograd::engine::evaluate_function: MulBackward0", "10",
	                                         "650", "10") SPAN("cpu_op", "aten::item", "9", "700", "100")
					SPAN("python_function", "/home/u/train.py(12): save", "9", "850",
	                                     "200") SPAN("python_function", "<built-in method f of T object at 0x7f12>",
	                                                 "9", "860", "150")
						SPAN("python_function", "/home/u/train.py(13): short", "9", "870",
	                                             "99") ", {\"ph\": \"s\", \"id\": 1, \"pid\": 9, \"tid\": 9, "
							   "\"ts\": 235, \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"}]");
	const char *details = "PyTorch operators", *functions = "Python functions";
	const struct range want[] = {
		{"ProfilerStep#7", "", 100, 1100},
		{"DataLoader.__next__", "", 110, 200},
		{"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", details, 110, 200},
		{"operators", "", 210, 220},
		{"aten::to", details, 210, 220},
		{"forward", "", 230, 260},
		{"aten::linear", details, 230, 260},
		{"operators", "", 270, 280},
		{"aten::ones_like", details, 270, 280},
		{"backward", "", 300, 400},
		{"AddmmBackward0", details, 300, 350},
		{"torch::autograd::AccumulateGrad", details, 360, 400},
		{"Optimizer.step", "", 500, 600},
		{"Optimizer.step#AdamW.step", details, 500, 600},
		{"backward", "", 650, 660}, /* the optimiser was between */
		{"MulBackward0", details, 650, 660},
		{"operators", "", 700, 800},
		{"aten::item", details, 700, 800},
		{"train.py(12): save", functions, 850, 1050},
		{"<built-in method f of T object", functions, 860, 1010},
	};
	assert_ranges(t, want, sizeof want / sizeof *want);
}

static void kernels_have_their_launch_shape(void **state)
{
	static const char *const arguments[] = {
		"\"grid\": [128, 2, 3], \"device\": 0, \"block\": [256, 1, 1]",
		"\"block\": [256, 1, 1], \"grid\": [128.0, 2, 3, 9], \"stream\": 7",
		"\"grid\": [128, 2], \"block\": [256, 1, 1]",
		"\"grid\": 128, \"block\": [256, 1, 1]",
		"\"grid\": [[128, 2, 3]], \"block\": [256, 1, 1]",
		"\"grid\": [{\"x\": 128}, 2, 3], \"block\": [256, 1, 1]",
		"\"Input Dims\": [[128, 2, 3]], \"block\": [256, 1, 1]",
		"\"grid\": [128, -2, 3], \"block\": [256, 1, 1]",
	};
	const size_t n = sizeof arguments / sizeof *arguments;
	const int64_t grid[3] = {128, 2, 3}, block[3] = {256, 1, 1};
	char json[4096] = "[";
	for (size_t i = 0; i < n; i++)
		snprintf(json + strlen(json), sizeof json - strlen(json),
		         "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, "
		         "\"ts\": %zu, \"dur\": 1, \"args\": {%s}}",
		         i ? ", " : "", 100 * (i + 1), arguments[i]);
	strcat(json, "]");
	const struct trace *t = read_wished(*state, json, true);
	assert_int_equal(t->ops.n, n);
	for (size_t i = 0; i < n; i++)
		assert_true(t->ops.shape[i] == (i < 2 ? trace_shape(grid, block) : 0));
}

/* An all-to-all is sends and receives to its kernel's name; PyTorch says what it is. */
static void collectives_are_what_pytorch_calls_them(void **state)
{
	const struct trace *t = read_text(
		*state, "[" KERNEL("500", "5", "1") SPAN("cpu_op", "c10d::alltoall_base_", "9", "90", "100")
				SPAN("user_annotation", "nccl:all_to_all", "9", "100",
	                             "50") SPAN("Operator", "nccl:_all_gather_base", "9", "200", "50")
					SPAN("user_annotation", "nccl:send 0->1", "9", "300", "50")
						SPAN("user_annotation", "gloo:all_reduce", "9", "400", "50") "]");
	const struct trace_comm_calls *c = &t->comm_calls;
	assert_int_equal(c->n, 2);
	assert_string_equal(names_text(t->names, c->name[0]), "nccl:all_to_all");
	assert_string_equal(names_text(t->names, c->name[1]), "nccl:_all_gather_base");
	assert_int_equal(c->start[0], 100001);
	assert_int_equal(c->end[0], 150001);
	assert_int_equal(c->comm[0], 0);
	assert_int_equal(c->bytes[0], 0);
	assert_int_equal(c->rank[0], TRACE_NONE);
	for (size_t i = 0; i < t->ranges.n; i++)
		assert_null(strstr(names_text(t->names, t->ranges.name[i]), "all_to_all"));
}

static void collectives_that_end_before_they_start_are_left_out(void **state)
{
	const struct trace *t = read_text(
		*state, "[" KERNEL("500", "5", "1") SPAN("user_annotation", "nccl:all_to_all", "9", "100", "-1")
				SPAN("user_annotation", "nccl:all_reduce", "9", "200", "50") "]");
	assert_int_equal(t->comm_calls.n, 1);
	assert_int_equal(t->comm_calls.start[0], 200001);
	assert_int_equal(t->rows[ROWS_RANGES].dropped, 1);
}

/* Kernels of newer traces say which collective of which process group they are, and how many elements: each is linked
 * to its launch, in PyTorch's annotation or not. Bytes as NCCL counts them, by hand. */
static void kernels_say_their_collective(void **state)
{
#define SAYS(name, type, in, more) "'Collective name': '" name "', 'dtype': '" type "', 'In msg nelems': " in ", " more
#define GROUP(name, ranks) "'Process Group Name': '" name "', 'Process Group Ranks': '" ranks "', 'Group size': 4"
	static const struct {
		const char *arguments, *name;
		int64_t bytes;
		int group; /* equal numbers, equal communicators; 0: none */
	} kernels[] = {
		{SAYS("allreduce", "BFloat16", "1000", GROUP("0", "[0, 1, 2, 3]")), "ncclAllReduce", 2000, 1},
		{SAYS("_allgather_base", "Float", "10", "'Out msg nelems': 40, " GROUP("0", "[0, 1, 2, 3]")),
	         "ncclAllGather", 40, 1},
		{SAYS("_reduce_scatter_base", "Float", "40", "'Out msg nelems': 10, " GROUP("1", "[0, 1, 2, 3]")),
	         "ncclReduceScatter", 40, 2},
		{SAYS("all_to_all", "Half", "400",
	              "'In split size': '[]', 'Out split size': '[]', " GROUP("1", "[0, 2, 4, 6]")),
	         "ncclAllToAll", 200, 3},
		{SAYS("all_to_allv", "Half", "400", "'In split size': '[100, 300, 0, 0]', " GROUP("1", "[0, 2, 4, 6]")),
	         "ncclAllToAll", 0, 3},
		{SAYS("allreduce", "of a later year", "1000", "'x': 0"), "ncclAllReduce", 0, 0},
		{SAYS("allreduce", "Double", "9223372036854775807", "'x': 0"), "ncclAllReduce", 0, 0},
		{SAYS("send", "Float", "10", GROUP("0", "[0, 1, 2, 3]")), NULL, 0, 0},
		{"'Collective name': 7, 'In msg nelems': [1]", NULL, 0, 0},
	};
	static char json[16 * 1024];
	size_t n = sizeof kernels / sizeof *kernels, wanted = 1;
	strcpy(json, "[{'ph': 'X', 'cat': 'user_annotation', 'name': 'nccl:all_reduce', 'pid': 9, 'tid': 9, 'ts': 95, "
	             "'dur': 20}");
	for (size_t i = 0; i < n; i++)
		snprintf(json + strlen(json), sizeof json - strlen(json),
		         ", {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_X', 'pid': 0, 'tid': 7, 'ts': %zu, "
		         "'dur': 1, 'args': {%s, 'correlation': %zu}}, {'ph': 'X', 'cat': 'cuda_runtime', 'name': "
		         "'cudaLaunchKernelExC', 'pid': 9, 'tid': 9, 'ts': %zu, 'dur': 5, 'args': {'correlation': "
		         "%zu}}",
		         100 * i + 150, kernels[i].arguments, 10 + i, 100 * i + 100, 10 + i);
	strcat(json, "]");
	for (char *at = json; (at = strchr(at, '\''));)
		*at = '"';
	const struct trace *t = read_text(*state, json);
	const struct trace_comm_calls *c = &t->comm_calls;
	struct arena arena = {0};
	struct comm_calls calls;
	int64_t comm[4] = {0};
	comm_calls_find(t, &arena, &calls);
	assert_int_equal(t->ops.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct comm_op *of = comm_calls_of(&calls, (uint32_t)i);
		int group = kernels[i].group;
		assert_int_equal(of != NULL, kernels[i].name != NULL);
		if (!of)
			continue;
		uint32_t at = calls.calls[of->first];
		assert_int_equal(of->n, 1);
		assert_string_equal(names_text(t->names, c->name[at]), kernels[i].name);
		assert_int_equal(c->bytes[at], kernels[i].bytes);
		comm[group] = comm[group] ? comm[group] : c->comm[at];
		assert_true(c->comm[at] == comm[group] && (c->comm[at] != 0) == (group != 0));
		wanted++;
	}
	assert_int_equal(c->n, wanted); /* one is the annotation */
	assert_true(comm[1] != comm[2] && comm[1] != comm[3] && comm[2] != comm[3]);
	arena_release(&arena);
}

static void the_users_own_phases_stay_as_they_are(void **state)
{
	const struct trace *t = read_text(
		*state, "[" KERNEL("500", "5", "1") SPAN("Operator", "ProfilerStep #7", "\"9\"", "0.999", "1000")
				SPAN("Operator", "## forward ##", "\"9\"", "110", "90")
					SPAN("Operator", "aten::linear", "\"9\"", "120", "30")
						SPAN("Operator", "detach", "\"9\"", "125", "3")
							SPAN("Operator", "## loss ##", "\"9\"", "210", "50") "]");
	assert_int_equal(t->ranges.n, 3);
	assert_int_equal(t->n_threads, 1);
	assert_int_equal(t->threads[0].tid, 9);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(t->ranges.domain[i], 0);
}

static void a_backward_pass_inside_an_annotation_is_part_of_it(void **state)
{
	const struct trace *t = read_text(
		*state, "[" KERNEL("500", "5", "1") SPAN("user_annotation", "ProfilerStep#7", "9", "100",
	                                                 "1000") SPAN("user_annotation", "my loss", "9", "200", "300")
				SPAN("cpu_op", "autograd::engine::evaluate_function: MulBackward0", "9", "250", "50")
					SPAN("cpu_op", "autograd::engine::evaluate_function: AddBackward0", "9", "600",
	                                     "50") "]");
	const struct range want[] = {{"ProfilerStep#7", "", 100, 1100},
	                             {"my loss", "", 200, 500},
	                             {"backward", "", 600, 650},
	                             {"AddBackward0", "PyTorch operators", 600, 650}};
	assert_ranges(t, want, sizeof want / sizeof *want);
}

static void without_annotations_nothing_is_put_together(void **state)
{
	const struct trace *t =
		read_text(*state, "[" KERNEL("500", "5", "1") SPAN("cpu_op", "aten::linear", "9", "120", "30")
	                                  SPAN("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", "10",
	                                       "300", "50") "]");
	assert_int_equal(t->ranges.n, 0); /* a `backward` would pass for the step */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test_setup_teardown(rows_join_whatever_comes_first, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(bad_rows_are_dropped_and_counted, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(no_duration_is_not_zero, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(a_time_clamped_to_zero_does_not_move_the_start, support_setup,
	                                        support_teardown),
		cmocka_unit_test_setup_teardown(a_step_is_put_together, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(kernels_have_their_launch_shape, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(kernels_say_their_collective, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(collectives_are_what_pytorch_calls_them, support_setup,
	                                        support_teardown),
		cmocka_unit_test_setup_teardown(collectives_that_end_before_they_start_are_left_out, support_setup,
	                                        support_teardown),
		cmocka_unit_test_setup_teardown(the_users_own_phases_stay_as_they_are, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(a_backward_pass_inside_an_annotation_is_part_of_it, support_setup,
	                                        support_teardown),
		cmocka_unit_test_setup_teardown(without_annotations_nothing_is_put_together, support_setup,
	                                        support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
