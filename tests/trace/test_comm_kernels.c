/* Communication kernels of rows that are not held are those of the rows: random ones, packed and unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_trace.h"
#include "trace/again.h"
#include "trace_maker.h"

enum { SEEDS = 200, MOST = 60 };

static const char *const NAMES[] = {"ncclDevKernel_AllReduce", "ncclDevKernel_ReduceScatter", "gemm"};

static int64_t below(struct random *r, int64_t n)
{
	return random_between(r, 0, n - 1);
}

/* Two devices, several streams and threads; some without launch, some nodes of graphs, some ordinary kernels. */
static const struct trace *make(struct maker *m, struct random *d)
{
	const int64_t sizes[] = {1, 300, 100000, INT64_C(5000000000)};
	uint32_t process = maker_process(m, 100), thread[2], device[2];
	for (uint32_t i = 0; i < 2; i++) {
		thread[i] = maker_thread(m, process, 100 + i);
		device[i] = maker_device(m, process, i, TRACE_NONE);
	}
	int64_t at = 0;
	for (uint32_t i = 0, n = (uint32_t)below(d, MOST + 1); i < n; i++) {
		at += below(d, sizes[below(d, 4)]);
		int64_t name = below(d, 3), start = at + below(d, 2000) - 500,
			end = start + below(d, sizes[below(d, 4)]);
		bool launched = below(d, 4) > 0;
		if (launched)
			maker_call(m, thread[below(d, 2)], at, at + 1, "cudaLaunchKernel", CALL_LAUNCH, i + 1);
		size_t row = maker_op(m, device[below(d, 2)], (uint32_t)below(d, 3), name < 2 ? OP_COMM : OP_KERNEL,
		                      start, end, NAMES[name], launched ? i + 1 : 0);
		m->trace->ops.flags[row] = launched && below(d, 5) == 0 ? OPF_GRAPH_NODE : 0;
	}
	return maker_link(m);
}

static void same(const struct comm_kernel *x, const struct comm_kernel *y, const struct time_map *map)
{
	assert_int_equal(x->start, time_map_of(map, y->start));
	assert_int_equal(x->end, time_map_of(map, y->end));
	assert_int_equal(x->launched, time_map_of(map, y->launched));
	assert_int_equal(x->name, y->name);
	assert_int_equal(x->stream, y->stream);
	assert_int_equal(x->device, y->device + 7);
	assert_int_equal(x->thread, y->thread == TRACE_NONE ? TRACE_NONE : y->thread + 5);
}

static void packed_ones_are_those_of_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random d = {seed};
		struct arena arena = {0};
		struct names names;
		struct maker m;
		size_t n, m_rows;
		names_init(&names, &arena);
		maker_init(&m, &arena, &names);
		const struct trace *t = make(&m, &d);
		const struct comm_kernel *rows = comm_kernels_of(t, 0, &arena, &m_rows);
		struct trace_again part[2] = {
			{.first_device = 7, .first_thread = 5, .map = {.offset = below(&d, 1000) - 500}}};
		comm_kernels_pack(t, &arena, &part[0].comm);
		part[0].comm.first = 3;
		const struct trace held = {.again = part, .n_again = 1};
		assert_int_equal(comm_kernels_pieces(t), 1);
		assert_int_equal(comm_kernels_count(t), m_rows);
		assert_int_equal(comm_kernels_count(&held), m_rows);
		const struct comm_kernel *found = comm_kernels_of(&held, 0, &arena, &n);
		assert_int_equal(n, m_rows);
		for (size_t i = 0; i < n; i++) {
			same(&found[i], &rows[i], &part[0].map);
			assert_int_equal(found[i].op, 3 + i);
			assert_int_equal(t->ops.kind[rows[i].op], OP_COMM);
		}
		arena_release(&arena);
	}
}

/* A clock that drifts may put two that begin at nearly the same time on one nanosecond: they are in order all the same.
 */
static void another_clock_leaves_them_in_order(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct names names;
	struct maker m;
	size_t n;
	names_init(&names, &arena);
	maker_init(&m, &arena, &names);
	uint32_t gpu = maker_device(&m, maker_process(&m, 100), 0, TRACE_NONE);
	for (int64_t i = 0; i < 3000; i++)
		maker_op(&m, gpu, 7, OP_COMM, i, i + 3000 - 2 * (i % 2), NAMES[0], 0);
	const struct trace *t = maker_link(&m);
	struct trace_again part = {.map = {.drift = -1e-3}};
	comm_kernels_pack(t, &arena, &part.comm);
	const struct comm_kernel *found = comm_kernels_of(&(struct trace){.again = &part, .n_again = 1}, 0, &arena, &n);
	assert_int_equal(n, 3000);
	for (size_t i = 1; i < n; i++) {
		assert_true(found[i].start > found[i - 1].start ||
		            (found[i].start == found[i - 1].start && found[i].end >= found[i - 1].end));
		assert_int_equal(found[i].op, i);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(packed_ones_are_those_of_rows),
	                                   cmocka_unit_test(another_clock_leaves_them_in_order)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
