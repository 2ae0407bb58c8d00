/* Who allocated the peak of device memory: ranges and calls of two threads, worked out by hand. */
#include "trace/held.h"
#include "trace_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(const struct trace *t, int k, const char *range, int64_t bytes)
{
	const struct trace_held *held = &t->devices[0].held[k];
	assert_string_equal(names_text(t->names, held->range), range);
	assert_int_equal(held->bytes, bytes);
}

static void parts_are_of_the_innermost_range(void **state)
{
	struct arena arena = {0};
	struct names names;
	struct maker m;
	(void)state;
	names_init(&names, &arena);
	maker_init(&m, &arena, &names);
	uint32_t process = maker_process(&m, 100), other = maker_process(&m, 200);
	uint32_t main = maker_thread(&m, process, 100), aside = maker_thread(&m, process, 101);
	uint32_t stranger = maker_thread(&m, other, 200);
	uint32_t gpu = maker_device(&m, process, 0, TRACE_NONE);
	maker_range(&m, main, 0, 100, "step", "", RANGE_PUSH_POP);
	maker_range(&m, main, 10, 40, "forward", "", RANGE_PUSH_POP);
	maker_range(&m, main, 20, 30, "attention", "", RANGE_PUSH_POP);
	maker_range(&m, main, 50, 90, "backward", "", RANGE_PUSH_POP);
	maker_range(&m, main, 0, 200, "loan", "", RANGE_START_END); /* ranges that overlap freely hold nothing */
	maker_range(&m, aside, 0, 100, "loader", "", RANGE_PUSH_POP);
	maker_range(&m, stranger, 0, 100, "elsewhere", "", RANGE_PUSH_POP);
	maker_call(&m, main, 60, 70, "cudaMalloc", CALL_ALLOC, 1);
	maker_call(&m, main, 61, 65, "cuMemAlloc", CALL_ALLOC, 2);
	maker_call(&m, aside, 80, 82, "cudaMalloc", CALL_ALLOC, 3);
	maker_call(&m, stranger, 60, 90, "cudaMalloc", CALL_ALLOC, 4);
	maker_op(&m, gpu, 7, OP_KERNEL, 20, 50, "gemm", 1);
	struct trace *t = (struct trace *)maker_link(&m);

	struct held_allocation list[] = {{5, 1, process, main},     {25, 10, process, main}, {35, 100, process, main},
	                                 {55, 1000, process, main}, {45, 2, process, main},  {150, 5000, process, main},
	                                 {30, 200, process, main},  {55, 40, process, aside}};
	t->devices[0].memory_peak = 1353; /* what ranges hold of these, exactly */
	held_at_peak(t, 0, list, sizeof list / sizeof *list);
	expect(t, 0, "backward", 1000);
	expect(t, 1, "forward", 300); /* at 30 attention has ended */
	expect(t, 2, "loader", 40);   /* the step's own 3 and attention's 10 are less, and 5000 are of no range */

	/* Which thread it was, calls tell: 68 is behind the driver's call and inside the runtime's. */
	struct held_allocation by_call[] = {
		{68, 7, process, TRACE_NONE}, {81, 5, process, TRACE_NONE}, {95, 9, process, TRACE_NONE}};
	held_at_peak(t, 0, by_call, 3);
	expect(t, 0, "backward", 7);
	expect(t, 1, "loader", 5);
	expect(t, 2, "", 0);            /* in no call */
	t->devices[0].memory_peak = 11; /* less than both */
	held_at_peak(t, 0, by_call, 3);
	expect(t, 0, "", 0);
	t->devices[0].memory_peak = 12;
	held_at_peak(t, 0, by_call, 3);
	expect(t, 1, "loader", 5);
	held_at_peak(t, 0, by_call, 0);
	expect(t, 0, "", 0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_of_the_innermost_range)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
