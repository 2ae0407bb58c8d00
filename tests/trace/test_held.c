/* Who allocated the peak of device memory: ranges and calls of two threads, worked out by hand. The most in a stretch
 * of time: looked up instant by instant. */
#include "random.h"
#include "trace/held.h"
#include "trace_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(const struct trace *t, int k, const char *range, int64_t bytes)
{
	const struct trace_held *held = &t->devices[0].held[HELD_BY_RANGE][k];
	assert_string_equal(names_text(t->names, held->name), range);
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

	struct held_allocation list[] = {{5, 1, process, main, 0},    {25, 10, process, main, 0},
	                                 {35, 100, process, main, 0}, {55, 1000, process, main, 0},
	                                 {45, 2, process, main, 0},   {150, 5000, process, main, 0},
	                                 {30, 200, process, main, 0}, {55, 40, process, aside, 0}};
	t->devices[0].memory_peak = 1353; /* what ranges hold of these, exactly */
	held_at_peak(t, 0, list, sizeof list / sizeof *list);
	expect(t, 0, "backward", 1000);
	expect(t, 1, "forward", 300); /* at 30 attention has ended */
	expect(t, 2, "loader", 40);   /* the step's own 3 and attention's 10 are less, and 5000 are of no range */

	/* Which thread it was, calls tell: 68 is behind the driver's call and inside the runtime's. */
	struct held_allocation by_call[] = {
		{68, 7, process, TRACE_NONE, 0}, {81, 5, process, TRACE_NONE, 0}, {95, 9, process, TRACE_NONE, 0}};
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

enum { DEVICES = 3, UNTIL = 40 };

/* What there is at every instant of one device at least, and what was there for an instant only. */
struct levels {
	int64_t at[DEVICES][UNTIL], instant[DEVICES][UNTIL];
};

static void add_levels(struct maker *m, uint32_t gpu, uint64_t *random, struct levels *out)
{
	int64_t at = (int64_t)(random_bits(random) % 5);
	while (at < UNTIL) {
		int64_t end = at + (int64_t)(random_bits(random) % 4), bytes = (int64_t)(random_bits(random) % 100);
		end = end < UNTIL ? end : UNTIL;
		maker_level(m, gpu, at, end, bytes);
		if (at == end && bytes > out->instant[gpu][at])
			out->instant[gpu][at] = bytes;
		for (int64_t t = at; t < end; t++)
			out->at[gpu][t] = bytes;
		at = end + (end == at && random_bits(random) % 2);
	}
}

static void the_most_is_that_of_every_instant(void **state)
{
	struct arena arena = {0};
	struct names names;
	uint64_t random = 3;
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct maker m;
		struct levels of = {0};
		names_init(&names, &arena);
		maker_init(&m, &arena, &names);
		uint32_t process[2] = {maker_process(&m, 100), maker_process(&m, 200)};
		for (uint32_t d = 0; d < DEVICES; d++) /* the first process has the first device and the last one */
			add_levels(&m, maker_device(&m, process[d == 1], d, TRACE_NONE), &random, &of);
		for (int64_t from = 0; from < UNTIL; from++)
			for (int64_t to = from + 1; to <= UNTIL; to++)
				for (uint32_t p = 0; p < 2; p++) {
					int64_t most = 0;
					for (int64_t t = from; t < to; t++)
						for (uint32_t d = p; d < DEVICES; d += p ? DEVICES : 2) {
							most = of.at[d][t] > most ? of.at[d][t] : most;
							most = of.instant[d][t] > most ? of.instant[d][t] : most;
						}
					assert_int_equal(held_most(m.trace, process[p], from, to), most);
				}
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_of_the_innermost_range),
	                                   cmocka_unit_test(the_most_is_that_of_every_instant)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
