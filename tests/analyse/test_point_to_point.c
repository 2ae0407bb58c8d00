/* Sends and receives: who waits for whom, worked out by hand. */
#include "charge/collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct collective_op op(uint32_t rank, uint32_t step, int64_t start, int64_t end)
{
	return (struct collective_op){.start = start,
	                              .end = end,
	                              .launched = start,
	                              .rank = rank,
	                              .step = step,
	                              .point = true,
	                              .arrived = start,
	                              .partner = UINT32_MAX};
}

static struct transfer sends(uint32_t from, uint32_t to, uint32_t kernel)
{
	return (struct transfer){.comm = 5, .from = from, .to = to, .send = true, .op = kernel};
}
static struct transfer receives(uint32_t to, uint32_t from, uint32_t kernel)
{
	return (struct transfer){.comm = 5, .from = from, .to = to, .send = false, .op = kernel};
}

static void expect(const struct collective_op *o, bool matched, int64_t arrived, uint32_t partner)
{
	assert_true(o->matched == matched);
	assert_int_equal(o->arrived, arrived);
	assert_int_equal(o->partner, partner);
}

/* Rank 1 receives from rank 0 twice in a step; it is there first, then last. */
static void the_kth_send_is_of_the_kth_receive(void **state)
{
	(void)state;
	struct collective_op ops[] = {op(0, 3, 100, 150), op(0, 3, 300, 390), op(1, 3, 20, 155), op(1, 3, 340, 395)};
	struct transfer transfers[] = {receives(1, 0, 3), sends(0, 1, 1), receives(1, 0, 2), sends(0, 1, 0)};
	point_to_point_match(ops, 4, transfers, 4, 10);
	expect(&ops[0], true, 100, UINT32_MAX);
	expect(&ops[1], true, 340, 1);
	expect(&ops[2], true, 100, 0);
	expect(&ops[3], true, 340, UINT32_MAX);
}

/* What fits into NCCL's buffers is sent without the partner; nothing is received before it is sent. */
static void a_send_may_end_first_and_a_receive_may_not(void **state)
{
	(void)state;
	struct collective_op buffered[] = {op(0, 0, 10, 20), op(1, 0, 100, 110)};
	struct transfer of_buffered[] = {sends(0, 1, 0), receives(1, 0, 1)};
	point_to_point_match(buffered, 2, of_buffered, 2, 5);
	expect(&buffered[0], true, 10, UINT32_MAX);
	expect(&buffered[1], true, 100, UINT32_MAX);
	struct collective_op never[] = {op(0, 0, 100, 110), op(1, 0, 10, 20)};
	struct transfer of_never[] = {sends(0, 1, 0), receives(1, 0, 1)};
	point_to_point_match(never, 2, of_never, 2, 5);
	expect(&never[0], true, 100, UINT32_MAX);
	expect(&never[1], false, 10, UINT32_MAX);
	/* clocks that are 85 ns apart may show it so */
	struct collective_op near[] = {op(0, 0, 100, 110), op(1, 0, 10, 20)};
	struct transfer of_near[] = {sends(0, 1, 0), receives(1, 0, 1)};
	point_to_point_match(near, 2, of_near, 2, 85);
	expect(&near[1], true, 10, UINT32_MAX);
}

/* One kernel that sends to one rank and receives from another waits for the later of the two. */
static void a_kernel_of_several_transfers_waits_for_the_last(void **state)
{
	(void)state;
	struct collective_op ops[] = {op(1, 0, 100, 500), op(0, 0, 250, 500), op(2, 0, 400, 500)};
	struct transfer transfers[] = {sends(1, 2, 0), receives(1, 0, 0), sends(0, 1, 1), receives(2, 1, 2)};
	point_to_point_match(ops, 3, transfers, 4, 10);
	expect(&ops[0], true, 400, 2);
	expect(&ops[1], true, 250, UINT32_MAX);
	expect(&ops[2], true, 400, UINT32_MAX);
}

/* Where a partner's kernel is missing nothing is said of the others of that step and pair. */
static void what_lacks_a_partner_is_not_matched(void **state)
{
	(void)state;
	struct collective_op ops[] = {op(0, 0, 100, 150), op(0, 0, 300, 350), op(1, 0, 20, 155), op(0, 1, 500, 550),
	                              op(1, 1, 450, 555)};
	struct transfer transfers[] = {sends(0, 1, 0), sends(0, 1, 1), receives(1, 0, 2), sends(0, 1, 3),
	                               receives(1, 0, 4)};
	point_to_point_match(ops, 5, transfers, 5, 10);
	for (int i = 0; i < 3; i++)
		expect(&ops[i], false, ops[i].start, UINT32_MAX);
	expect(&ops[4], true, 500, 0);
}

/* Clocks of two hosts that are not known: what a kernel is longer than its partner's it waited. */
static void without_clocks_lengths_tell(void **state)
{
	(void)state;
	struct collective_op ops[] = {op(0, 0, 100, 150), op(1, 0, 5020, 5155)};
	struct transfer transfers[] = {sends(0, 1, 0), receives(1, 0, 1)};
	point_to_point_match(ops, 2, transfers, 2, -1);
	expect(&ops[0], true, 100, UINT32_MAX);
	expect(&ops[1], true, 5105, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kth_send_is_of_the_kth_receive),
		cmocka_unit_test(a_send_may_end_first_and_a_receive_may_not),
		cmocka_unit_test(a_kernel_of_several_transfers_waits_for_the_last),
		cmocka_unit_test(what_lacks_a_partner_is_not_matched),
		cmocka_unit_test(without_clocks_lengths_tell),
	};
	return cmocka_run_group_tests_name("point_to_point", tests, NULL, NULL);
}
