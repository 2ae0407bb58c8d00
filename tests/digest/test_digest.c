/* Digests of random traces: nothing is lost but what was to be left out, and what was left out changes no result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "analysed.h"
#include "draws.h"
#include "random_trace.h"
#include "read/digest.h"
#include "read/digest_inside.h"

#include <string.h>

enum { BEFORE = 4000000 };

static unsigned traces(void)
{
	return draws_each(400);
}

static struct random_shape shape_of(unsigned seed)
{
	return (struct random_shape){.length = 20000,
	                             .causal = seed % 4 != 0,
	                             .steps = seed % 3 != 0,
	                             .one_domain = seed % 2,
	                             .processes = 1 + (int)seed % 2,
	                             .max_calls = 60};
}

/* A peak, by turns nothing at all, one byte and any number, and none to all of its parts: half of it, a quarter ... */
static void give_peak(struct maker *m, struct trace_device *device, uint32_t turn, struct random *random)
{
	static const char *const ranges[HELD_MOST] = {"held by this", "and that", "and that, too"};
	device->memory_peak = turn % 6 < 2 ? turn % 6 : random_between(random, 2, INT64_C(1) << 50);
	for (uint32_t k = 0; k < turn % (HELD_MOST + 1) && device->memory_peak >> (k + 1); k++)
		device->held[HELD_BY_RANGE][k] =
			(struct trace_held){device->memory_peak >> (k + 1), names_add_text(m->names, ranges[k])};
	if (turn % 2 && device->memory_peak)
		device->held[HELD_BY_OPERATOR][0] =
			(struct trace_held){device->memory_peak, names_add_text(m->names, "aten::linear")};
}

/* A random trace, and what a program does for some milliseconds before it uses the GPU: it calls the system, waits,
 * loads modules, and is on and off the processor. */
static struct trace *make_trace(unsigned seed, struct arena *arena, struct names *names)
{
	static const char *const calls[] = {"read", "open64", "pthread_cond_wait", "pthread_mutex_lock", "mmap"};
	static const enum os_class classes[] = {OS_OTHER, OS_OTHER, OS_WAIT, OS_MUTEX, OS_OTHER};
	struct random random = {.state = seed};
	struct random_shape shape = shape_of(seed);
	struct maker m;
	maker_init(&m, arena, names);
	random_trace(&m, &shape, &random);
	for (uint32_t thread = 0; thread < m.trace->n_threads; thread++) {
		int64_t at = -BEFORE + random_between(&random, 0, 100000);
		for (int i = 0; i < 60; i++) {
			int64_t length = random_between(&random, 0, 60000), which = random_between(&random, 0, 4);
			if (random_chance(&random, 4))
				maker_call(&m, thread, at, at + length, "cuInit", CALL_OTHER, 0);
			else if (random_chance(&random, 4))
				maker_range(&m, thread, at, at + length, "load", "", RANGE_START_END);
			else if (which != 2 || random_chance(&random, 30))
				maker_os_call(&m, thread, at, at + length, calls[which], classes[which]);
			if (random_chance(&random, 10)) /* one in another, or beside it */
				maker_os_call(&m, thread, at + length / 3,
				              at + length / 2 + random_between(&random, 0, 9000), "read", OS_OTHER);
			at += length + (random_chance(&random, 50) ? 0 : random_between(&random, 0, 20000));
			if (random_chance(&random, 20))
				maker_slice(&m, thread, at + 1, at + random_between(&random, 1, 3));
			at += 10;
		}
	}
	for (uint32_t i = 0; seed % 2 && i < m.trace->n_devices; i++) {
		m.trace->devices[i].memory = (seed / 2 + i) % (MEMORY_ALLOCATOR + 1);
		if (m.trace->devices[i].memory == MEMORY_SEEN || m.trace->devices[i].memory == MEMORY_ALLOCATOR)
			give_peak(&m, &m.trace->devices[i], (seed / 2 + i) / (MEMORY_ALLOCATOR + 1), &random);
	}
	return (struct trace *)maker_link(&m);
}

static char *json_of(const struct trace *trace, const struct trace *other, struct names *names, struct arena *arena)
{
	const struct analyse_run runs[] = {{trace, "a"}, {other, "b"}};
	return analysed_json(runs, NULL, names, arena);
}

static void test_nothing_said_changes(void **state)
{
	size_t gone = 0, judged = 0;
	(void)state;
	for (unsigned seed = 1; seed <= traces(); seed++) {
		struct arena arena = {0};
		struct names names;
		names_init(&names, &arena);
		const struct trace *whole = make_trace(seed, &arena, &names);
		const struct trace *other = make_trace(seed + 100000, &arena, &names);
		struct trace *reduced = make_trace(seed, &arena, &names);
		char *before = json_of(whole, other, &names, &arena);
		gone += digest_reduce(reduced, &arena);
		char *after = json_of(reduced, other, &names, &arena);
		judged += before[0] == '{';
		if (strcmp(before, after) != 0) {
			size_t at = 0;
			while (before[at] == after[at])
				at++;
			fail_msg("seed %u: …%.200s… became …%.200s…", seed, before + (at > 100 ? at - 100 : 0),
			         after + (at > 100 ? at - 100 : 0));
		}
		arena_release(&arena);
	}
	assert_true(gone > 40 * (size_t)traces());
	assert_true(judged > traces() / 2);
}

/* A thread that launches nothing reads a file before anything else is recorded: there the start-up begins. */
static struct trace *make_early_reader(struct arena *arena, struct names *names)
{
	struct maker m;
	maker_init(&m, arena, names);
	uint32_t process = maker_process(&m, 100), thread = maker_thread(&m, process, 100);
	uint32_t reader = maker_thread(&m, process, 101), gpu = maker_device(&m, process, 0, TRACE_NONE);
	for (int64_t t = 1000; t < 50000; t += 10000)
		maker_os_call(&m, reader, t, t + 3000, "read", OS_OTHER);
	for (uint32_t i = 0; i < 12; i++) {
		int64_t t = 90000 + 1000 * (int64_t)i;
		maker_range(&m, thread, t, t + 900, "step", "", RANGE_PUSH_POP);
		maker_call(&m, thread, t + 100, t + 105, "cudaLaunchKernel", CALL_LAUNCH, i + 1);
		maker_op(&m, gpu, 7, OP_KERNEL, t + 200, t + 800, "gemm", i + 1);
	}
	return (struct trace *)maker_link(&m);
}

static void test_the_start_stays_where_it_is(void **state)
{
	struct arena arena = {0};
	struct names names;
	(void)state;
	names_init(&names, &arena);
	const struct trace *whole = make_early_reader(&arena, &names), *other = make_trace(3, &arena, &names);
	struct trace *reduced = make_early_reader(&arena, &names);
	assert_int_equal(digest_reduce(reduced, &arena), 4);
	assert_string_equal(json_of(reduced, other, &names, &arena), json_of(whole, other, &names, &arena));
	struct analyse_options options = {.warmup = -1};
	struct analysis alone;
	struct err err;
	assert_int_equal(analyse_one(&(struct analyse_run){reduced, "a"}, &options, &names, &arena, &alone, &err), 0);
	assert_true(alone.side[0].startup.ns == 89000);
	arena_release(&arena);
}

#define SAME(kind, member) assert_memory_equal(a->kind.member, b->kind.member, a->kind.n * sizeof *a->kind.member)

static void test_all_is_read_again(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= traces(); seed++) {
		struct arena arena = {0};
		struct names names, others;
		struct trace read;
		struct buf bytes = {0}, again = {0};
		struct err err = {0};
		names_init(&names, &arena);
		names_init(&others, &arena);
		struct trace *given = make_trace(seed, &arena, &names);
		const struct trace *a = given, *b = &read;
		given->source.lost = 2;
		given->source.lost_events = 1;
		given->source.sample_ns = 2;
		given->source.samples_torn = 3;
		given->source.others = 4;
		given->source.ranges_ns = 5;
		if (seed % 2) /* names have other numbers where there were some before */
			for (const char *const *name = (const char *const[]){"x", "step", "gemm", NULL}; *name; name++)
				names_add_text(&others, *name);
		digest_encode(a, &bytes);
		if (digest_decode("a.digest", (const unsigned char *)bytes.data, bytes.n, &others, &arena, &read, &err))
			fail_msg("seed %u: %s", seed, err.text);
		assert_int_equal(a->ops.n, b->ops.n);
		assert_int_equal(a->calls.n, b->calls.n);
		assert_int_equal(a->ranges.n, b->ranges.n);
		assert_int_equal(a->os_calls.n, b->os_calls.n);
		assert_int_equal(a->overheads.n, b->overheads.n);
		assert_int_equal(a->slices.n, b->slices.n);
		SAME(ops, start);
		SAME(ops, end);
		SAME(ops, launch);
		SAME(ops, bytes);
		SAME(ops, device);
		SAME(ops, stream);
		SAME(ops, correlation);
		SAME(ops, copy);
		SAME(ops, flags);
		SAME(calls, start);
		SAME(calls, end);
		SAME(calls, thread);
		SAME(calls, correlation);
		SAME(ranges, start);
		SAME(ranges, end);
		SAME(ranges, thread);
		SAME(ranges, kind);
		SAME(ranges, clipped);
		SAME(os_calls, start);
		SAME(os_calls, end);
		SAME(overheads, start);
		SAME(overheads, class);
		SAME(slices, start);
		SAME(slices, end);
		assert_int_equal(b->source.lost, 2);
		assert_int_equal(b->source.lost_events, 1);
		assert_int_equal(b->source.sample_ns, 2);
		assert_int_equal(b->source.samples_torn, 3);
		assert_int_equal(b->source.others, 4);
		assert_int_equal(b->source.ranges_ns, 5);
		assert_int_equal(a->n_devices, b->n_devices);
		for (uint32_t i = 0; i < a->n_devices; i++) {
			assert_int_equal(a->devices[i].memory, b->devices[i].memory);
			assert_int_equal(a->devices[i].memory_peak, b->devices[i].memory_peak);
			for (int k = 0; k < HELD_BYS * HELD_MOST; k++) {
				const int by = k / HELD_MOST, at = k % HELD_MOST;
				const struct trace_held x = a->devices[i].held[by][at], y = b->devices[i].held[by][at];
				assert_int_equal(x.bytes, y.bytes);
				assert_string_equal(names_text(&names, x.name), names_text(&others, y.name));
			}
		}
		for (size_t i = 0; i < a->ops.n; i++)
			assert_string_equal(names_text(&names, a->ops.name[i]), names_text(&others, b->ops.name[i]));
		for (size_t i = 0; i < a->ranges.n; i++) {
			assert_string_equal(names_text(&names, a->ranges.name[i]),
			                    names_text(&others, b->ranges.name[i]));
			assert_string_equal(names_text(&names, a->ranges.domain[i]),
			                    names_text(&others, b->ranges.domain[i]));
		}
		digest_encode(b, &again);
		if (!(seed % 2)) /* names stand in the order of their numbers */
			assert_int_equal(bytes.n, again.n);
		buf_release(&bytes);
		buf_release(&again);
		arena_release(&arena);
	}
}

/* Parts of a peak that are more than it together, or of which the largest is not the first, are no digest of ours. */
static void test_parts_of_a_peak_are_parts(void **state)
{
	static const struct {
		int64_t peak, held[2];
		int status;
	} cases[] = {{0, {0}, 0}, {1, {1}, 0}, {9, {5, 4}, 0}, {9, {5, 5}, -1}, {9, {4, 5}, -1}, {0, {1}, -1}};
	(void)state;
	for (size_t n = 0; n < HELD_BYS * sizeof cases / sizeof *cases; n++) {
		const size_t i = n / HELD_BYS, by = n % HELD_BYS;
		struct arena arena = {0};
		struct names names;
		struct trace read;
		struct buf bytes = {0};
		struct err err;
		struct maker m;
		names_init(&names, &arena);
		maker_init(&m, &arena, &names);
		maker_device(&m, maker_process(&m, 100), 0, TRACE_NONE);
		struct trace_device *device = &m.trace->devices[0];
		device->memory = MEMORY_SEEN;
		device->memory_peak = cases[i].peak;
		for (int k = 0; k < 2; k++)
			device->held[by][k] =
				(struct trace_held){cases[i].held[k], names_add_text(&names, k ? "b" : "a")};
		digest_encode(maker_link(&m), &bytes);
		assert_int_equal(
			digest_decode("a", (const unsigned char *)bytes.data, bytes.n, &names, &arena, &read, &err),
			cases[i].status);
		assert_true(!cases[i].status || strstr(err.text, by ? "memory.operators" : "memory.held"));
		buf_release(&bytes);
		arena_release(&arena);
	}
}

/* Numbers at the ends of what they can be. */
static void test_far_times(void **state)
{
	static const int64_t far = (int64_t)1 << 60;
	struct arena arena = {0};
	struct names names;
	struct trace read;
	struct buf bytes = {0};
	struct err err;
	struct maker m;
	(void)state;
	names_init(&names, &arena);
	maker_init(&m, &arena, &names);
	uint32_t process = maker_process(&m, INT64_MAX), thread = maker_thread(&m, process, INT64_MIN);
	uint32_t device = maker_device(&m, process, UINT32_MAX - 1, TRACE_NONE);
	maker_call(&m, thread, -far, far, "cudaLaunchKernel", CALL_LAUNCH, UINT32_MAX);
	size_t copy = maker_op(&m, device, UINT32_MAX, OP_COPY, -far, -far, "copy", UINT32_MAX);
	maker_op(&m, device, 0, OP_KERNEL, far, far, "gemm", 1);
	m.trace->ops.bytes[copy] = ((int64_t)1 << 50) - 1;
	m.trace->processes[0].host = UINT64_MAX;
	m.trace->source.started = INT64_MAX / 2;
	const struct trace *a = maker_link(&m), *b = &read;
	digest_encode(a, &bytes);
	assert_int_equal(digest_decode("a", (const unsigned char *)bytes.data, bytes.n, &names, &arena, &read, &err),
	                 0);
	SAME(ops, start);
	SAME(ops, end);
	SAME(ops, bytes);
	SAME(ops, stream);
	SAME(ops, launch);
	SAME(calls, start);
	SAME(calls, end);
	assert_true(b->processes[0].pid == INT64_MAX && b->processes[0].host == UINT64_MAX);
	assert_true(b->threads[0].tid == INT64_MIN && b->devices[0].ordinal == UINT32_MAX - 1);
	assert_true(b->source.started == INT64_MAX / 2 && b->source.rank == -1);
	buf_release(&bytes);
	arena_release(&arena);
}

/* What is not as it was written is never taken for something else. */
static void test_every_byte_counts(void **state)
{
	struct arena arena = {0};
	struct names names;
	struct buf bytes = {0};
	(void)state;
	names_init(&names, &arena);
	digest_encode(make_trace(7, &arena, &names), &bytes);
	for (size_t i = 0; i < bytes.n; i++) {
		struct arena scratch = {0};
		struct trace read;
		struct err err = {0};
		bytes.data[i] ^= 1 << i % 8;
		assert_int_equal(digest_decode("a.digest", (const unsigned char *)bytes.data, bytes.n, &names, &scratch,
		                               &read, &err),
		                 -1);
		assert_non_null(strstr(err.text, "a.digest: is "));
		assert_int_equal(
			digest_decode("a.digest", (const unsigned char *)bytes.data, i, &names, &scratch, &read, &err),
			-1);
		bytes.data[i] ^= 1 << i % 8;
		arena_release(&scratch);
	}
	buf_release(&bytes);
	arena_release(&arena);
}

/* A digest of an earlier version may call kernels communication, or not, that a later one knows better. */
static void test_names_are_told_anew(void **state)
{
	static const struct {
		const char *name;
		enum op_kind said, is;
	} kernels[] = {{"gemm", OP_COMM, OP_KERNEL},
	               {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", OP_KERNEL, OP_COMM},
	               {"ncclKernel_SendRecv", OP_COMM, OP_COMM},
	               {"graph", OP_GRAPH, OP_GRAPH}};
	enum { KERNELS = sizeof kernels / sizeof *kernels };
	struct arena arena = {0};
	struct names names;
	struct maker m;
	struct trace read;
	struct buf bytes = {0};
	struct err err;
	(void)state;
	names_init(&names, &arena);
	maker_init(&m, &arena, &names);
	uint32_t process = maker_process(&m, 100), thread = maker_thread(&m, process, 100);
	uint32_t device = maker_device(&m, process, 0, maker_gpu(&m, "GPU"));
	for (int i = 0; i < KERNELS; i++)
		maker_op(&m, device, 7, kernels[i].said, 1000 * i, 1000 * i + 500, kernels[i].name, 0);
	maker_os_call(&m, thread, 0, 500, "pthread_mutex_lock", OS_OTHER);
	maker_overhead(&m, thread, 600, 700, "Lazy function loading", OVERHEAD_PROFILER);
	maker_link(&m);
	digest_encode(m.trace, &bytes);
	assert_int_equal(digest_decode("a", (const unsigned char *)bytes.data, bytes.n, &names, &arena, &read, &err),
	                 0);
	assert_int_equal(read.ops.n, KERNELS);
	for (int i = 0; i < KERNELS; i++)
		assert_int_equal(read.ops.kind[i], kernels[i].is);
	assert_int_equal(read.os_calls.class[0], OS_MUTEX);
	assert_int_equal(read.overheads.class[0], OVERHEAD_MODULE_LOAD);
	buf_release(&bytes);
	arena_release(&arena);
}

/* What is made anew of a trace's rows: launches, and what names mean. */
static bool is_made_anew(int rows, const struct column *column)
{
	return (column->origin != COLUMN_READ && column->origin != COLUMN_SOME) ||
	       rows == ROWS_OF_SAMPLES /* left out: digest_reduce */ ||
	       (rows == ROWS_OF_GIL && column->at == offsetof(struct trace_gil, stack)) ||
	       (rows == ROWS_OF_OPS && (column->at == offsetof(struct trace_ops, launch) ||
	                                column->at == offsetof(struct trace_ops, creator))) ||
	       (rows == ROWS_OF_CALLS && column->at == offsetof(struct trace_calls, class)) ||
	       (rows == ROWS_OF_OS_CALLS && column->at == offsetof(struct trace_os_calls, class));
}

static void test_every_column_is_there(void **state)
{
	(void)state;
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		for (size_t c = 0; c < COLUMNS[rows].n; c++) {
			const struct column *column = &COLUMNS[rows].column[c];
			if (!column->kept && !is_made_anew(rows, column))
				fail_msg("column %zu of rows %d stands in no digest: gen/trace/columns.c", c, rows);
		}
}

/* A program that does the very same thing millions of times shrinks to less than a hundredth, which no reader believes
 * of a file: its digest stays unpacked, and is read. Not where every byte is watched: there it would take a minute. */
static void test_what_would_not_be_believed_stays_unpacked(void **state)
{
	(void)state;
#ifndef __SANITIZE_ADDRESS__
	enum { OPS = 7 << 19 };
	struct arena arena = {0}, other = {0};
	struct names names;
	struct maker m;
	struct digest_made made;
	struct trace again;
	struct err err = {0};
	names_init(&names, &arena);
	maker_init(&m, &arena, &names);
	uint32_t process = maker_process(&m, 100);
	uint32_t thread = maker_thread(&m, process, 100), device = maker_device(&m, process, 0, TRACE_NONE);
	maker_call(&m, thread, 0, 1, "cudaLaunchKernel", CALL_LAUNCH, 1);
	for (int64_t i = 0; i < OPS; i++)
		maker_op(&m, device, 7, OP_KERNEL, 10 + 100 * i, 60 + 100 * i, "gemm", 1);
	assert_int_equal(digest_make("same", (struct trace *)maker_link(&m), &arena, &made, &err), 0);
	assert_true(made.bytes.n > 32 << 20 && made.packed.n == 0);
	names_init(&names, &other);
	const struct read_wish wish = {0};
	if (digest_read_bytes("same", made.data, made.n, &wish, &names, &other, &again, &err))
		fail_msg("%s", err.text);
	assert_int_equal(again.ops.n, OPS);
	digest_release(&made);
	arena_release(&other);
	arena_release(&arena);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_said_changes),
		cmocka_unit_test(test_the_start_stays_where_it_is),
		cmocka_unit_test(test_all_is_read_again),
		cmocka_unit_test(test_parts_of_a_peak_are_parts),
		cmocka_unit_test(test_far_times),
		cmocka_unit_test(test_names_are_told_anew),
		cmocka_unit_test(test_every_column_is_there),
		cmocka_unit_test(test_every_byte_counts),
		cmocka_unit_test(test_what_would_not_be_believed_stays_unpacked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
