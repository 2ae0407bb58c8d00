/* Two files of one run -> one trace. */
#include "trace/columns.h"
#include "trace/files.h"
#include "trace_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One rank: process 100 on both hosts, which launches a kernel with the same correlation id, and a GPU with `gpu_id`.
 */
static struct trace *rank(struct arena *arena, struct names *names, uint64_t host, uint64_t gpu_id, int64_t length)
{
	struct maker m;
	maker_init(&m, arena, names);
	uint32_t process = maker_process(&m, 100), thread = maker_thread(&m, process, 100);
	uint32_t gpu = maker_gpu(&m, "GPU"), device = maker_device(&m, process, 0, gpu);
	m.trace->gpus[gpu].id = gpu_id;
	m.trace->processes[process].host = m.trace->source.host = host;
	maker_call(&m, thread, 10, 20, "cudaLaunchKernel", CALL_LAUNCH, 1);
	maker_call(&m, thread, 30, 40, "cudaDeviceSynchronize", CALL_SYNC, 0);
	maker_op(&m, device, 7, OP_KERNEL, 25, 25 + length, "gemm", 1);
	maker_range(&m, thread, 5, 50, "step", "", RANGE_PUSH_POP);
	maker_os_call(&m, thread, 30, 39, "poll", OS_OTHER);
	m.trace->rows[ROWS_KERNELS] = (struct trace_count){2, 1};
	m.trace->dropped = ARENA_NEW(arena, 1, struct trace_dropped);
	m.trace->dropped[0] = (struct trace_dropped){ROWS_KERNELS, "kernels", "ends before it starts", 1};
	m.trace->n_dropped = 1;
	maker_link(&m);
	m.trace->source.started = 1000 - length;
	return m.trace;
}

static void hosts_with_one_process_id_stay_apart(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct names names;
	struct trace out;
	names_init(&names, &arena);
	struct trace *a = rank(&arena, &names, 1, 11, 60), *b = rank(&arena, &names, 2, 22, 70);
	trace_merge((struct merge_part[]){{a, {.offset = 10}, NULL}, {b, {0}, NULL}}, 2, &out, &arena);
	assert_int_equal(out.n_processes, 2);
	assert_int_equal(out.n_threads, 2);
	assert_int_equal(out.n_devices, 2);
	assert_int_equal(out.n_gpus, 2);
	assert_int_equal(out.ops.n, 2);
	assert_int_equal(out.n_unlaunched, 0);
	for (uint32_t d = 0; d < 2; d++) {
		uint32_t op = out.devices[d].first_op, call = out.ops.launch[op], thread = out.calls.thread[call];
		int64_t offset = d == 0 ? 10 : 0;
		assert_int_equal(out.devices[d].n_ops, 1);
		assert_int_equal(out.devices[d].process, d);
		assert_int_equal(out.devices[d].gpu, d);
		assert_int_equal(out.threads[thread].process, d);
		assert_int_equal(out.ops.start[op], 25 + offset);
		assert_int_equal(out.ops.end[op], 25 + offset + 60 + 10 * d);
		assert_int_equal(out.calls.start[call], 10 + offset);
		assert_int_equal(out.ranges.start[out.first_range[thread]], 5 + offset);
		assert_int_equal(out.os_calls.end[out.first_os_call[thread]], 39 + offset);
		assert_int_equal(out.calls.waits[call + 1], 1);
		assert_true(out.processes[d].host == d + 1);
	}
	assert_int_equal(out.first_time, 5);
	assert_int_equal(out.last_time, 95);
	assert_int_equal(out.rows[ROWS_KERNELS].read, 4);
	assert_int_equal(out.rows[ROWS_KERNELS].dropped, 2);
	assert_int_equal(out.n_dropped, 1);
	assert_int_equal(out.dropped[0].rows, 2);
	assert_true(out.source.host == 0); /* there are two */
	assert_true(out.source.started == 930);
	arena_release(&arena);
}

static void a_run_begins_and_ends_with_its_files(void **state)
{
	/* When its first program was started, if that is known of all; when a range last began or ended in any. */
	(void)state;
	static const int64_t began[][3] = {{-7, -40, -40}, {-40, -7, -40}, {-7, TRACE_NO_TIME, TRACE_NO_TIME}};
	struct arena arena = {0};
	struct names names;
	names_init(&names, &arena);
	for (size_t i = 0; i < sizeof began / sizeof *began; i++) {
		struct trace out, *file[] = {rank(&arena, &names, 1, 11, 60), rank(&arena, &names, 2, 22, 70)};
		for (int k = 0; k < 2; k++)
			file[k]->source.began = began[i][k];
		file[0]->ranges.last_time = 50;
		file[1]->ranges.last_time = 40 + (int64_t)i * 40;
		trace_merge((struct merge_part[]){{file[0], {0}, NULL}, {file[1], {0}, NULL}}, 2, &out, &arena);
		assert_true(out.source.began == began[i][2]);
		assert_int_equal(out.ranges.last_time, i ? 40 + (int64_t)i * 40 : 50);
	}
	arena_release(&arena);
}

static void one_gpu_of_two_files_is_one(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct names names;
	struct trace out;
	names_init(&names, &arena);
	trace_merge((struct merge_part[]){{rank(&arena, &names, 1, 33, 60), {0}, NULL},
	                                  {rank(&arena, &names, 1, 33, 60), {0}, NULL}},
	            2, &out, &arena);
	assert_int_equal(out.n_gpus, 1);
	assert_int_equal(out.devices[1].gpu, 0);
	assert_true(out.source.host == 1);
	/* without an identity they stay two: a guess could make two ranks share a GPU */
	trace_merge((struct merge_part[]){{rank(&arena, &names, 1, 0, 60), {0}, NULL},
	                                  {rank(&arena, &names, 1, 0, 60), {0}, NULL}},
	            2, &out, &arena);
	assert_int_equal(out.n_gpus, 2);
	assert_int_equal(out.devices[1].gpu, 1);
	arena_release(&arena);
}

/* Columns that only some files have are in none of the merged ones, rather than half filled. */
static void columns_that_one_file_lacks_are_lacking(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct names names;
	struct trace out;
	names_init(&names, &arena);
	struct trace *a = rank(&arena, &names, 1, 0, 60), *b = rank(&arena, &names, 1, 0, 60);
	a->calls.full_name = ARENA_NEW(&arena, a->calls.n, uint32_t);
	trace_merge((struct merge_part[]){{a, {0}, NULL}, {b, {0}, NULL}}, 2, &out, &arena);
	assert_null(out.calls.full_name);
	arena_release(&arena);
}

/* It was looked for waits for Python's lock where it was in every file. */
static void the_lock_was_looked_at_in_all_files(void **state)
{
	(void)state;
	for (int looked = 0; looked < 4; looked++) {
		struct arena arena = {0};
		struct names names;
		struct trace out;
		names_init(&names, &arena);
		struct trace *a = rank(&arena, &names, 1, 0, 60), *b = rank(&arena, &names, 1, 0, 60);
		a->source.has_lock = looked & 1;
		b->source.has_lock = looked & 2;
		trace_merge((struct merge_part[]){{a, {0}, NULL}, {b, {0}, NULL}}, 2, &out, &arena);
		assert_int_equal(out.source.has_lock, looked == 3);
		arena_release(&arena);
	}
}

/* Parts that live in memory of their own: the first one's is taken over, the others' is gone, and with it nothing that
 * the merged trace needs. */
static void what_is_kept_outlives_the_parts(void **state)
{
	(void)state;
	struct arena arena = {0}, memory[2] = {{0}, {0}};
	struct names names;
	struct trace out, *part[2];
	names_init(&names, &arena);
	for (uint64_t i = 0; i < 2; i++)
		part[i] = rank(&memory[i], &names, 1 + i, 11 * (1 + i), 60 + 10 * (int64_t)i);
	struct trace *b = part[1];
	part[0]->source.incomplete = "";
	part[0]->source.others = 3;
	b->source.others = 1;
	b->source.incomplete = arena_format(&memory[1], "the node %s", "went away");
	b->dropped[0].where = arena_format(&memory[1], "%s", "A TABLE");
	b->dropped[0].reason = arena_format(&memory[1], "%s", "for a reason");
	b->stopwatch = ARENA_NEW(&memory[1], 1, struct trace_stopwatch);
	b->stopwatch[0] = (struct trace_stopwatch){.steps = 9,
	                                           .step = arena_format(&memory[1], "%s", "train_step"),
	                                           .unused = arena_format(&memory[1], "%s", "it was late")};
	b->n_stopwatch = 1;
	b->n_metrics = 1;
	b->metrics = ARENA_NEW(&memory[1], 1, struct trace_metrics);
	b->metrics[0] = (struct trace_metrics){.gpu = 0, .n = 3, .time = ARENA_NEW(&memory[1], 3, int64_t)};
	b->metrics[0].time[2] = 77;
	b->metrics[0].value[METRIC_TENSOR] = ARENA_NEW(&memory[1], 3, uint8_t);
	b->metrics[0].value[METRIC_TENSOR][2] = 42;
	trace_merge((struct merge_part[]){{part[0], {0}, &memory[0]}, {b, {.offset = 5}, &memory[1]}}, 2, &out, &arena);
	assert_true(!memory[0].blocks && !memory[1].blocks);
	assert_string_equal(out.source.incomplete, "the node went away");
	assert_int_equal(out.source.others, 3);
	assert_int_equal(out.n_dropped, 2);
	assert_string_equal(out.dropped[1].where, "A TABLE");
	assert_string_equal(out.dropped[1].reason, "for a reason");
	assert_int_equal(out.n_stopwatch, 1);
	assert_string_equal(out.stopwatch[0].step, "train_step");
	assert_string_equal(out.stopwatch[0].unused, "it was late");
	assert_int_equal(out.n_metrics, 1);
	assert_int_equal(out.metrics[0].gpu, 1);
	assert_int_equal(out.metrics[0].time[2], 82);
	assert_int_equal(out.metrics[0].value[METRIC_TENSOR][2], 42);
	assert_null(out.metrics[0].value[METRIC_SM_ACTIVE]);
	assert_int_equal(out.ops.n, 2);
	assert_int_equal(out.n_unlaunched, 0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_with_one_process_id_stay_apart),
		cmocka_unit_test(a_run_begins_and_ends_with_its_files),
		cmocka_unit_test(one_gpu_of_two_files_is_one),
		cmocka_unit_test(columns_that_one_file_lacks_are_lacking),
		cmocka_unit_test(the_lock_was_looked_at_in_all_files),
		cmocka_unit_test(what_is_kept_outlives_the_parts),
	};
	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
