/* What a device does in the steps of its rank (gen/charge/rank_steps.h), worked out by hand. */
#include "charge/rank_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Each instant is the first that fits of computing, communicating and copying, whichever began first. */
static void what_runs_beside_something_counts_once(void **state)
{
	(void)state;
	int64_t start[] = {0, 50, 120, 310, 320}, end[] = {100, 150, 200, 400, 350};
	uint8_t kind[] = {OP_KERNEL, OP_COMM, OP_COPY, OP_COPY, OP_COMM};
	struct trace_device devices[] = {{.first_op = 0, .n_ops = 5}};
	struct trace t = {
		.ops = {.n = 5, .start = start, .end = end, .kind = kind}, .devices = devices, .n_devices = 1};
	struct device_run device = {.device = 0};
	struct charge charge = {.devices = &device, .n_devices = 1};
	struct run run = {.trace = &t, .charge = &charge, .steps = {.n = 3}, .window = {.warmup = 1, .n_steps = 2}};
	const int64_t ends[] = {0, 300, 420};
	double part[RANK_PARTS][2] = {0};
	double *rows[RANK_PARTS];
	for (int p = 0; p < RANK_PARTS; p++)
		rows[p] = part[p];
	rank_steps_divide(&run, 0, ends, rows);
	static const double want[2][4] = {{100, 50, 50, 100}, {0, 30, 60, 30}};
	for (int k = 0; k < 2; k++) {
		assert_true(part[RANK_COMPUTE][k] == want[k][0]);
		assert_true(part[RANK_MOVING][k] == want[k][1]);
		assert_true(part[RANK_COPY][k] == want[k][2]);
		assert_true(part[RANK_IDLE][k] == want[k][3]);
		assert_true(part[RANK_WAITING][k] == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_runs_beside_something_counts_once)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
