/* Findings on copies: alone on the GPU, from pageable memory, on either side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings_pair.h"
#include "said.h"

static void test_serial_copies(void **state)
{
	/* A pinned copy of 400 µs in the kernels' stream: nothing beside it. */
	struct program slow = healthy;
	slow.copy = 400 * US;
	const struct finding *f = expect_only(compare_programs(*state, slow, healthy), "serial_copies", 400 * US);
	assert_non_null(strstr(f->text, "run alone on the GPU for 0.4 ms per step"));
	assert_int_equal(f->status, FINDING_RESOLVED);
	/* a copy engine that has 4 ms to do, and kernels that take 3: beside each other they take 4 */
	slow.copy = 4 * MS;
	f = finding_of(compare_programs(*state, slow, healthy), "serial_copies", 0);
	assert_float_equal(f->ceiling_step, 4 * MS, 100 * US);
}

static void test_pageable_copies(void **state)
{
	struct program slow = healthy;
	slow.copy = 400 * US;
	slow.pageable = true;
	const struct finding *f = expect_only(compare_programs(*state, slow, healthy), "pageable_copies", 400 * US);
	assert_non_null(strstr(f->text, "1 copy per step moves 8 MB"));
	/* what the host does for 2 ms before it reads back is no copy's doing */
	slow.host = 2 * MS;
	slow.sync = true;
	const struct trace *a = scene_program(*state, &slow);
	for (size_t i = 0; i < a->ops.n; i++)
		if (a->ops.kind[i] == OP_COPY)
			a->ops.copy[i] = COPY_D2H;
	f = finding_of(scene_compare(*state, a, scene_program(*state, &healthy)), "pageable_copies", 0);
	assert_non_null(f);
	assert_in_range(f->per_step[0], 390 * US, 600 * US);
}

/* Copies that ran alone from pageable memory and do so from pinned memory, for half as long: nothing new. */
static void test_copies_that_were_pageable(void **state)
{
	struct program slow = healthy, fast = healthy;
	slow.copy = 800 * US;
	slow.pageable = true;
	fast.copy = 400 * US;
	const struct analysis *a = compare_programs(*state, slow, fast);
	const struct finding *f = finding_of(a, "serial_copies", 1);
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_REDUCED);
	assert_non_null(strstr(f->text, "Baseline: 0.8 ms per step"));
	assert_null(strstr(f->text, "for other calls"));
	assert_int_equal(finding_of(a, "pageable_copies", 0)->status, FINDING_RESOLVED);
}

/* A memset cannot be moved away from what needs it. */
static void test_memsets_are_no_copies(void **state)
{
	struct program slow = healthy;
	slow.copy = 400 * US;
	const struct trace *a = scene_program(*state, &slow);
	for (size_t i = 0; i < a->ops.n; i++)
		if (a->ops.kind[i] == OP_COPY)
			a->ops.kind[i] = OP_MEMSET;
	expect_only(scene_compare(*state, a, scene_program(*state, &healthy)), NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_serial_copies),
		SCENE(test_pageable_copies),
		SCENE(test_copies_that_were_pageable),
		SCENE(test_memsets_are_no_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
