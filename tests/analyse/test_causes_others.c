/* Causes of gaps that no launch explains: nothing in the profile, no op, somebody else's op. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_idle.h"

#include <math.h>

/* ---- no launch in the profile, no op, somebody else's op ---- */

static void test_managed_memory(void **state)
{
	/* A migration that no call launched ends the gap [2000, 2600); the kernel after it is late by 50. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	size_t op = maker_op(&s->m, s->gpu, 0, OP_COPY, 2600, 2700, "[CUDA memcpy Unified Host-to-Device]", 0);
	s->m.trace->ops.copy[op] = COPY_UM_H2D;
	s->m.trace->ops.flags[op] = OPF_MANAGED;
	scene_kernel(s, s->main, 2900, 2950, 3000, 4000);
	/* The second gap [2700, 3000) is charged to [2650, 2950): 250 host code, 50 launch. */
	EXPECT(s, 0, {CAUSE_MANAGED_MEMORY, NULL, 600, NULL}, {CAUSE_HOST_CODE, NULL, 250, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_unattributed(void **state)
{
	/* The launch of the kernel at 2600 is not in the profile, nor that of the copy at 2800 whose correlation id
	 * exists in another process only. */
	struct scene *s = *state;
	uint32_t stranger = maker_process(&s->m, 200), thread = maker_thread(&s->m, stranger, 200);
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, 2600, 2700, "gemm", 0);
	maker_op(&s->m, s->gpu, 7, OP_COPY, 2800, 2900, "[CUDA memcpy Host-to-Device]", 77);
	maker_call(&s->m, thread, 2750, 2760, "cudaMemcpyAsync", CALL_COPY, 77);
	EXPECT(s, 0, {CAUSE_UNATTRIBUTED, NULL, 700, NULL});
}

static void test_edges_of_the_window(void **state)
{
	/* A second GPU in a window [1000, 6000) that the first one makes: its leading idle [1000, 3000) is a gap that
	 * ends with its op at 3000 (r = 100, charged to [900, 2900)): 50 A's launch call 900-950, 1890 host code, 60
	 * of its own launch call. What follows its last op, [3500, 6000), nobody can explain. */
	struct scene *s = *state;
	uint32_t second = maker_device(&s->m, s->process, 1, TRACE_NONE);
	scene_kernel(s, s->main, 900, 950, 1000, 6000);
	maker_call(&s->m, s->main, 2840, 2900, "cudaLaunchKernel", CALL_LAUNCH, 50);
	maker_op(&s->m, second, 7, OP_KERNEL, 3000, 3500, "gemm", 50);
	EXPECT(s, 1, {CAUSE_HOST_CODE, NULL, 1890, NULL}, {CAUSE_LAUNCH_API, NULL, 110, NULL},
	       {CAUSE_UNATTRIBUTED, NULL, 2500, NULL});
}

static void test_other_process(void **state)
{
	/* Two processes on one physical GPU. The second one's kernel [2500, 4000) fills half of our gap [2000, 5000):
	 * 1500 other_process; the rest as ever: [1950, 2450) and [3950, 4950) of main: 1450 host code, 50 launch. The
	 * second process sees us on [1000, 2000) and from 5000 on; between 2000 and 2500 its host code (shifted by
	 * r = 20: [1980, 2480)): 460, launch 40; before us, nothing: the window begins at 1000. After
	 * its last op [4000, 5000) is unattributed. */
	struct scene *s = *state;
	uint32_t gpu = maker_gpu(&s->m, "GPU"), stranger = maker_process(&s->m, 200);
	uint32_t thread = maker_thread(&s->m, stranger, 200), theirs = maker_device(&s->m, stranger, 0, gpu);
	s->m.trace->devices[s->gpu].gpu = gpu;
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	maker_call(&s->m, thread, 2440, 2480, "cudaLaunchKernel", CALL_LAUNCH, 1);
	maker_op(&s->m, theirs, 7, OP_KERNEL, 2500, 4000, "gemm", 1);
	EXPECT(s, 0, {CAUSE_OTHER_PROCESS, NULL, 1500, NULL}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
	EXPECT(s, 1, {CAUSE_OTHER_PROCESS, NULL, 2000, NULL}, {CAUSE_HOST_CODE, NULL, 460, NULL},
	       {CAUSE_LAUNCH_API, NULL, 40, NULL}, {CAUSE_UNATTRIBUTED, NULL, 1000, NULL});
}

static void test_slices_are_no_dependency(void **state)
{
	/* A gap [30000, 45000) before what was queued on one of two streams, of which another process has 2000: nobody
	 * knows whether the rest is the other stream's or the other process's. */
	struct scene *s = *state;
	uint32_t gpu = maker_gpu(&s->m, "GPU"), stranger = maker_process(&s->m, 200);
	uint32_t theirs = maker_device(&s->m, stranger, 0, gpu);
	s->m.trace->devices[s->gpu].gpu = gpu;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 5000, 5010, 45000, 46000);
	maker_op(&s->m, s->gpu, 8, OP_KERNEL, 25000, 26000, "other", 0);
	maker_op(&s->m, theirs, 7, OP_KERNEL, 36000, 38000, "gemm", 0);
	EXPECT(s, 0, {CAUSE_OTHER_PROCESS, NULL, 2000, NULL}, {CAUSE_LATE_START, NULL, 13000, NULL});
}

static void test_two_others_at_once(void **state)
{
	/* Four processes on one GPU. While our gap [2000, 5000) lasts, the second runs on [2500, 3500), the third on
	 * [3000, 4000): 1500 other_process, as if one of them ran. The fourth has its own gap [2000, 5000): the same.
	 */
	struct scene *s = *state;
	uint32_t gpu = maker_gpu(&s->m, "GPU"), device[3];
	s->m.trace->devices[s->gpu].gpu = gpu;
	for (uint32_t p = 0; p < 3; p++) {
		uint32_t process = maker_process(&s->m, 200 + p);
		uint32_t thread = maker_thread(&s->m, process, 200 + p);
		device[p] = maker_device(&s->m, process, 0, gpu);
		maker_call(&s->m, thread, 900, 950, "cudaLaunchKernel", CALL_LAUNCH, 1);
		maker_op(&s->m, device[p], 7, OP_KERNEL, 1000, 2000, "gemm", 1);
		if (p == 2) {
			maker_call(&s->m, thread, 4900, 4950, "cudaLaunchKernel", CALL_LAUNCH, 2);
			maker_op(&s->m, device[p], 7, OP_KERNEL, 5000, 6000, "gemm", 2);
		}
	}
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	maker_op(&s->m, device[0], 7, OP_KERNEL, 2500, 3500, "gemm", 0);
	maker_op(&s->m, device[1], 7, OP_KERNEL, 3000, 4000, "gemm", 0);
	EXPECT(s, 0, {CAUSE_OTHER_PROCESS, NULL, 1500, NULL}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
	EXPECT(s, 3, {CAUSE_OTHER_PROCESS, NULL, 1500, NULL}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_unknown_gpus_are_not_shared(void **state)
{
	/* The same without knowing which GPU: nobody can say that they share one. */
	struct scene *s = *state;
	uint32_t stranger = maker_process(&s->m, 200), thread = maker_thread(&s->m, stranger, 200);
	uint32_t theirs = maker_device(&s->m, stranger, 0, TRACE_NONE);
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	maker_call(&s->m, thread, 2440, 2480, "cudaLaunchKernel", CALL_LAUNCH, 1);
	maker_op(&s->m, theirs, 7, OP_KERNEL, 2500, 4000, "gemm", 1);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2950, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

/* What explains the gap [2000, 5000) is what the thread did from 1950 on: of its host code up to 4900 nobody looked at
 * the first 500, and not at what lies before. */
static void test_time_that_nobody_looked_at(void **state)
{
	struct scene *s = *state;
	static int64_t start[] = {1000}, end[] = {2450};
	uint32_t thread[] = {s->main};
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	struct trace *t = (struct trace *)maker_link(&s->m);
	t->source.has_lock = true;
	t->unlooked = (struct trace_unlooked){1, start, end, thread};
	t->first_unlooked = ARENA_NEW(&s->arena, t->n_threads + 1, uint32_t);
	for (uint32_t i = s->main + 1; i <= t->n_threads; i++)
		t->first_unlooked[i] = 1;
	s->trace = t;
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2950, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
	assert_float_equal(s->result.side[0].devices[0].budget.unlooked, 500, 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_managed_memory),
		SCENE(test_unattributed),
		SCENE(test_edges_of_the_window),
		SCENE(test_other_process),
		SCENE(test_slices_are_no_dependency),
		SCENE(test_two_others_at_once),
		SCENE(test_unknown_gpus_are_not_shared),
		SCENE(test_time_that_nobody_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
