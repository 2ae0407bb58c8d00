/* Cells of idle time: whatever differs in a key makes another cell, and the order has cause, phase and call first. */
#include "charge/charge.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* One key for each member, which differs from the first in that alone. */
static const struct cell_key KEYS[] = {
	{.cause = CAUSE_HOST_CODE},
	{.lasting = true},
	{.pageable = true},
	{.input = true},
	{.blocked = true},
	{.mutex = true},
	{.alloc = true},
	{.once = true},
	{.opened = 1},
	{.opened = 2},
	{.call = 1},
	{.call = 0xffffffff},
	{.phase = 1},
	{.phase = 70000},
	{.cause = CAUSE_ALLOC},
};
enum { N_KEYS = sizeof KEYS / sizeof *KEYS };

static void every_member_tells_cells_apart(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct cells cells = {.arena = &arena};
	for (int round = 0; round < 3; round++)
		for (uint32_t i = 0; i < N_KEYS; i++)
			cells_add(&cells, &KEYS[i], 1 << i);
	assert_int_equal(cells.n, N_KEYS);
	for (uint32_t i = 0; i < N_KEYS; i++)
		assert_int_equal(cells.cell[i].ns, 3 << i);
	arena_release(&arena);
}

static void keys_are_listed_in_their_order(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_KEYS; i++)
		for (uint32_t k = 0; k < N_KEYS; k++)
			assert_int_equal(cell_compare(&KEYS[i], &KEYS[k]), i < k ? -1 : i > k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_tells_cells_apart),
		cmocka_unit_test(keys_are_listed_in_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
