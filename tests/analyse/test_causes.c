/* One hand-made trace for each cause of idle time (docs/method/analysis.md, Causes), with the split worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_idle.h"

#include <math.h>

/* Most traces end like this: the GPU runs A on [1000, 2000), then idles until B starts at 5000; B's launch is
 * [4900, 4950), so r = 50, far below the limit of 10 us that holds where fewer than 20 launches measure it. A was
 * launched on [900, 950). */
static void kernels_a_b(struct scene *s)
{
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
}

/* All of the first device's gaps were opened by this. */
static void opened_expect(struct scene *s, enum opened opened)
{
	const struct budget *budget = &s->result.side[0].devices[0].budget;
	assert_true(budget->n_rows > 0);
	for (uint32_t i = 0; i < budget->n_rows; i++)
		for (uint32_t k = 0; k < OPENED_COUNT; k++)
			assert_int_equal(llround(budget->rows[i].opened[k]),
			                 k == opened ? llround(budget->rows[i].per_step) : 0);
}

/* ---- N came late: what the thread was doing r earlier ---- */

static void test_host_code(void **state)
{
	/* Gap [2000, 5000) is charged to what main did on [1950, 4950): host code in load until 4000, in forward until
	 * 4900, then the launch. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_range(s, s->main, 100, 4000, "load");
	scene_range(s, s->main, 4000, 6000, "forward");
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 2050, NULL}, {CAUSE_HOST_CODE, "forward", 900, NULL},
	       {CAUSE_LAUNCH_API, "forward", 50, NULL});
}

static void test_host_blocked(void **state)
{
	/* On [1950, 4950): read 2500-4000 and ioctl 4200-4300 block; the row names the longer one. Before A the same
	 * thread sat in write for 800 ns: no idle time of the window, so it names nothing. */
	struct scene *s = *state;
	kernels_a_b(s);
	maker_os_call(&s->m, s->main, 50, 850, "write", OS_OTHER);
	maker_os_call(&s->m, s->main, 2500, 4000, "read", OS_OTHER);
	maker_os_call(&s->m, s->main, 4200, 4300, "ioctl", OS_OTHER);
	EXPECT(s, 0, {CAUSE_HOST_BLOCKED, NULL, 1600, "read"}, {CAUSE_HOST_CODE, NULL, 1350, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_mutex_is_no_handover(void **state)
{
	/* Another launching thread exists and computes, but main waits for a lock, not for a signal: blocked. */
	struct scene *s = *state;
	scene_kernel(s, s->other, 800, 850, 1000, 1100);
	kernels_a_b(s);
	maker_os_call(&s->m, s->main, 2500, 4000, "pthread_mutex_lock", OS_MUTEX);
	EXPECT(s, 0, {CAUSE_HOST_BLOCKED, NULL, 1500, "pthread_mutex_lock"}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_wait_alone(void **state)
{
	/* A thread that waits while the process has no other launching thread (101 launches nothing) is blocked. */
	struct scene *s = *state;
	scene_call(s, s->other, 2600, 3000, "cudaMalloc", CALL_ALLOC);
	kernels_a_b(s);
	maker_os_call(&s->m, s->main, 2500, 4000, "pthread_cond_wait", OS_WAIT);
	EXPECT(s, 0, {CAUSE_HOST_BLOCKED, NULL, 1500, "pthread_cond_wait"}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_handover(void **state)
{
	/* main waits 2500-4000 for another launching thread, whose state counts: 2500-2600 its code, 2600-3000 an
	 * allocation, 3000-3200 its code, 3200-3300 a mutex (blocked there), 3300-3500 its code, 3500-3800 it waits as
	 * well (handover), 3800-4000 its code. Host code: 100 + 200 + 200 + 200, main's own 550 + 900. */
	struct scene *s = *state;
	scene_kernel(s, s->other, 800, 850, 1000, 1100);
	kernels_a_b(s);
	scene_range(s, s->main, 100, 6000, "backward");
	scene_range(s, s->other, 100, 6000, "elsewhere"); /* the piece stays in main's phase */
	maker_os_call(&s->m, s->main, 2500, 4000, "pthread_cond_wait", OS_WAIT);
	scene_call(s, s->other, 2600, 3000, "cudaMalloc", CALL_ALLOC);
	maker_os_call(&s->m, s->other, 3200, 3300, "pthread_mutex_lock", OS_MUTEX);
	maker_os_call(&s->m, s->other, 3500, 3800, "sem_wait", OS_WAIT);
	EXPECT(s, 0, {CAUSE_HANDOVER, "backward", 300, NULL}, {CAUSE_ALLOC, "backward", 400, NULL},
	       {CAUSE_HOST_BLOCKED, "backward", 100, "pthread_mutex_lock"}, {CAUSE_HOST_CODE, "backward", 2150, NULL},
	       {CAUSE_LAUNCH_API, "backward", 50, NULL});
}

static void test_sync_and_latency(void **state)
{
	/* main is inside a synchronisation when the gap opens at 2000: the last r = 50 ns are the launch's way, the
	 * rest is charged without a shift: 300 until the call returns, 2600 of host code, 50 of the launch call. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 960, 2300, "cudaStreamSynchronize", CALL_SYNC);
	scene_range(s, s->main, 100, 4800, "load");
	scene_range(s, s->main, 4800, 6000, "forward");
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, "load", 300, NULL}, {CAUSE_HOST_CODE, "load", 2500, NULL},
	       {CAUSE_HOST_CODE, "forward", 100, NULL}, {CAUSE_LAUNCH_API, "forward", 50, NULL},
	       {CAUSE_LAUNCH_LATENCY, "forward", 50, NULL});
	opened_expect(s, OPENED_SYNC);
}

static void test_sync_ended_in_time(void **state)
{
	/* A synchronisation that returned exactly when the gap opened (a stale event, say) does not count: half-open.
	 */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 960, 2000, "cudaEventSynchronize", CALL_SYNC);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 50, NULL}, {CAUSE_HOST_CODE, NULL, 2900, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_sync_that_something_covers(void **state)
{
	/* The profiler flushes its buffers on [1990, 2100) of the synchronisation [960, 2300): main is inside the
	 * synchronising call at 2000 all the same, so the launch's way is latency and nothing is shifted. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 960, 2300, "cudaStreamSynchronize", CALL_SYNC);
	maker_overhead(&s->m, s->main, 1990, 2100, "CUPTI: Buffer flush", OVERHEAD_PROFILER);
	EXPECT(s, 0, {CAUSE_PROFILER, NULL, 100, NULL}, {CAUSE_SYNC_RETURN, NULL, 200, NULL},
	       {CAUSE_HOST_CODE, NULL, 2600, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL},
	       {CAUSE_LAUNCH_LATENCY, NULL, 50, NULL});
}

static void test_sync_inside_a_free(void **state)
{
	/* cudaFree [960, 2300) synchronises inside, [970, 2200): a synchronising call is open at 2000, though the
	 * allocation is the stronger name for what main does until 2300. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 960, 2300, "cudaFree", CALL_ALLOC);
	scene_call(s, s->main, 970, 2200, "cuCtxSynchronize", CALL_SYNC);
	EXPECT(s, 0, {CAUSE_ALLOC, NULL, 300, NULL}, {CAUSE_HOST_CODE, NULL, 2600, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL}, {CAUSE_LAUNCH_LATENCY, NULL, 50, NULL});
}

static void test_queued_work_is_not_opened_by_a_sync(void **state)
{
	/* The host launches four kernels, then waits for the last in a synchronisation [1000, 40000). The GPU's own
	 * 500 between one kernel and the next (launched long before: r > 10000) are dispatch; no gap was opened by the
	 * host's coming back, as it had launched everything before and came back after. */
	struct scene *s = *state;
	for (int64_t i = 0; i < 4; i++)
		scene_kernel(s, s->main, 100 + 10 * i, 105 + 10 * i, 20000 + 5500 * i, 25000 + 5500 * i);
	scene_call(s, s->main, 1000, 40000, "cudaStreamSynchronize", CALL_SYNC);
	EXPECT(s, 0, {CAUSE_DISPATCH, NULL, 1500, NULL});
	opened_expect(s, OPENED_WAITING);
}

static void test_blocking_copies(void **state)
{
	/* A read-back into pageable memory blocks, though its name says Async. The copy runs on [1500, 2000) right
	 * after a kernel; its call returns at 2400. It is no synchronisation: charged by what main did 50 earlier, 450
	 * copy call, 2500 host code, 50 launch. But the host waited in it and came back, which is what opened the gap.
	 */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 1500);
	maker_call(&s->m, s->main, 960, 2400, "cudaMemcpyAsync", CALL_COPY, ++s->correlation);
	size_t copy = maker_op(&s->m, s->gpu, 7, OP_COPY, 1500, 2000, "[CUDA memcpy Device-to-Host]", s->correlation);
	s->m.trace->ops.copy[copy] = COPY_D2H;
	s->m.trace->ops.flags[copy] = OPF_PAGEABLE;
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	EXPECT(s, 0, {CAUSE_COPY_API, NULL, 450, NULL}, {CAUSE_HOST_CODE, NULL, 2500, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
	opened_expect(s, OPENED_SYNC);
	assert_int_equal(llround(s->result.side[0].devices[0].budget.copy_exposed), 500);
}

static void test_copy_synchronous_by_name(void **state)
{
	/* A read-back by cudaMemcpy, into pinned memory: synchronous by its name. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 1500);
	maker_call(&s->m, s->main, 960, 2400, "cudaMemcpy", CALL_COPY, ++s->correlation);
	size_t copy = maker_op(&s->m, s->gpu, 7, OP_COPY, 1500, 2000, "[CUDA memcpy Device-to-Host]", s->correlation);
	s->m.trace->ops.copy[copy] = COPY_D2H;
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 400, NULL}, {CAUSE_HOST_CODE, NULL, 2500, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL}, {CAUSE_LAUNCH_LATENCY, NULL, 50, NULL});
}

static void test_copy_to_device_does_not_block(void **state)
{
	/* A pageable copy to the device by an Async call returns when the data is staged: copy_api, no synchronisation.
	 * Instants [1950, 4950): 450 of the copy call, 2500 host code, 50 launch. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 1500);
	maker_call(&s->m, s->main, 960, 2400, "cudaMemcpyAsync", CALL_COPY, ++s->correlation);
	size_t copy = maker_op(&s->m, s->gpu, 7, OP_COPY, 1500, 2000, "[CUDA memcpy Host-to-Device]", s->correlation);
	s->m.trace->ops.copy[copy] = COPY_H2D;
	s->m.trace->ops.flags[copy] = OPF_PAGEABLE;
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
	EXPECT(s, 0, {CAUSE_COPY_API, NULL, 450, NULL}, {CAUSE_HOST_CODE, NULL, 2500, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
	opened_expect(s, OPENED_DRY);
}

static void test_copy_api(void **state)
{
	/* Two copy calls on [1950, 4950): 3000-3400 and 4000-4100; their copies run inside other kernels' time. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 3000, 3400, "cudaMemcpyAsync", CALL_COPY);
	scene_call(s, s->main, 4000, 4100, "cudaMemsetAsync", CALL_COPY);
	EXPECT(s, 0, {CAUSE_COPY_API, NULL, 500, NULL}, {CAUSE_HOST_CODE, NULL, 2450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_launch_api(void **state)
{
	/* Launch-bound: calls of 200 back to back, each kernel 20 long starting 30 after its call returned. Kernels at
	 * 230, 430, 630, 830; three gaps of 180, charged to t - 30: launch calls only. */
	struct scene *s = *state;
	for (int i = 0; i < 4; i++)
		scene_kernel(s, s->main, 200 * i, 200 * i + 200, 200 * i + 230, 200 * i + 250);
	EXPECT(s, 0, {CAUSE_LAUNCH_API, NULL, 540, NULL});
}

static void test_alloc(void **state)
{
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 2500, 3500, "cudaMalloc", CALL_ALLOC);
	scene_call(s, s->main, 3600, 3700, "cudaHostRegister", CALL_ALLOC);
	EXPECT(s, 0, {CAUSE_ALLOC, NULL, 1100, NULL}, {CAUSE_HOST_CODE, NULL, 1850, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_module_load(void **state)
{
	/* By a call 2500-2700, by the profiler's row for the program's own dlopen 3000-3300, and nested in a launch
	 * 4900-4950: from 4905 to 4945 the module loading is the stronger one. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 2500, 2700, "cuModuleLoadData", CALL_MODULE);
	maker_overhead(&s->m, s->main, 3000, 3300, "dlopen(libcudnn.so)", OVERHEAD_MODULE_LOAD);
	scene_call(s, s->main, 4905, 4945, "cuLibraryLoadData", CALL_MODULE);
	EXPECT(s, 0, {CAUSE_MODULE_LOAD, NULL, 540, NULL}, {CAUSE_HOST_CODE, NULL, 2450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 10, NULL});
}

static void test_other_api(void **state)
{
	/* The strongest of nested calls counts, wherever it is in the nest: an outer cudaEventRecord 2500-3500 with an
	 * allocation 2600-2700 inside; an outer allocation 3600-3800 with a cudaGetDevice 3650-3700 inside. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 2500, 3500, "cudaEventRecord", CALL_OTHER);
	scene_call(s, s->main, 2600, 2700, "cudaMalloc", CALL_ALLOC);
	scene_call(s, s->main, 3600, 3800, "cudaFree", CALL_ALLOC);
	scene_call(s, s->main, 3650, 3700, "cudaGetDevice", CALL_OTHER);
	EXPECT(s, 0, {CAUSE_OTHER_API, NULL, 900, NULL}, {CAUSE_ALLOC, NULL, 300, NULL},
	       {CAUSE_HOST_CODE, NULL, 1750, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_profiler(void **state)
{
	/* The profiler's own overhead 2400-2800 wins over the call 2500-3000 that it interrupts; on another thread it
	 * does not count. */
	struct scene *s = *state;
	kernels_a_b(s);
	maker_overhead(&s->m, s->main, 2400, 2800, "CUPTI: Buffer flush", OVERHEAD_PROFILER);
	maker_overhead(&s->m, s->other, 3000, 4000, "CUPTI: Buffer flush", OVERHEAD_PROFILER);
	scene_call(s, s->main, 2500, 3000, "cudaMalloc", CALL_ALLOC);
	EXPECT(s, 0, {CAUSE_PROFILER, NULL, 400, NULL}, {CAUSE_ALLOC, NULL, 200, NULL},
	       {CAUSE_HOST_CODE, NULL, 2350, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

/* ---- N had been waiting ---- */

static void test_dispatch(void **state)
{
	/* B was launched on [5000, 5010) and starts at 30500, 500 after A ends: r = 25490 > limit, the gap is short. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 5000, 5010, 30500, 31000);
	scene_range(s, s->main, 4000, 6000, "forward");
	scene_range(s, s->main, 29000, 31000, "optimizer"); /* not where the launch was */
	EXPECT(s, 0, {CAUSE_DISPATCH, "forward", 500, NULL});
	opened_expect(s, OPENED_WAITING);
}

static void test_dispatch_up_to_the_limit(void **state)
{
	/* A gap of exactly the limit is the GPU's own still, one of 1 ns more a late start: there is one stream only.
	 */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 5000, 5010, 40000, 41000);
	scene_kernel(s, s->main, 5020, 5030, 51001, 52000);
	EXPECT(s, 0, {CAUSE_DISPATCH, NULL, 10000, NULL}, {CAUSE_LATE_START, NULL, 10001, NULL});
}

static void test_late_up_to_the_limit(void **state)
{
	/* r of exactly the limit is late: instants count 10000 earlier, 990 code and 10 of the call. With 1 ns more the
	 * op had been waiting since before the gap, which is short: dispatch. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 20990, 21000, 31000, 32000);
	scene_kernel(s, s->main, 22989, 22999, 33000, 34000);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 990, NULL}, {CAUSE_LAUNCH_API, NULL, 10, NULL},
	       {CAUSE_DISPATCH, NULL, 1000, NULL});
}

static void test_dependency(void **state)
{
	/* The same with a gap of 15000: longer than the limit of 10000, so it waited for something: another stream. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 5000, 5010, 45000, 46000);
	scene_range(s, s->main, 4000, 6000, "forward");
	maker_op(&s->m, s->gpu, 8, OP_KERNEL, 25000, 26000, "other", 0);
	EXPECT(s, 0, {CAUSE_DEPENDENCY, "forward", 15000, NULL});
}

/* 40 kernels, each launched while this GPU idles and started 4 ms later, when another one has what it needs, but for
 * each fifth, which starts 5 µs later: most launches wait for the other GPU, and how long they do is no launch's
 * latency. */
static void test_waits_for_another_gpu(void **state)
{
	struct scene *s = *state;
	const int64_t tenth = 100000; /* of a millisecond: the oracle looks at each nanosecond */
	for (int k = 0; k < 40; k++) {
		const int64_t from = k * 5 * tenth, start = from + (k % 5 ? 4 * tenth : 1100 + 5000);
		maker_call(&s->m, s->main, from + 1000, from + 1100, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
		maker_op(&s->m, s->gpu, 7, OP_KERNEL, start, from + 5 * tenth, arena_format(&s->arena, "kernel %d", k),
		         s->correlation);
	}
	maker_op(&s->m, s->gpu, 8, OP_KERNEL, 4 * tenth, 4 * tenth + 10, "other", 0);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 32 * 1000 + 7 * 6000, NULL}, {CAUSE_LAUNCH_API, NULL, 39 * 100, NULL},
	       {CAUSE_DEPENDENCY, NULL, 32 * (4 * tenth - 1100), NULL});
}

static void test_late_start(void **state)
{
	/* The same with one stream, and nothing that it could wait for. A migration of managed memory is no stream. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 5000, 5010, 45000, 46000);
	scene_range(s, s->main, 4000, 6000, "forward");
	size_t op = maker_op(&s->m, s->gpu, 0, OP_COPY, 25000, 26000, "[CUDA memcpy Unified Host-to-Device]", 0);
	s->m.trace->ops.flags[op] = OPF_MANAGED;
	EXPECT(s, 0, {CAUSE_LATE_START, "forward", 15000, NULL});
}

static void test_dependency_on_an_event(void **state)
{
	/* One stream, but an event that it waits for. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_call(s, s->main, 4960, 4970, "cudaStreamWaitEvent", CALL_OTHER);
	scene_kernel(s, s->main, 5000, 5010, 45000, 46000);
	EXPECT(s, 0, {CAUSE_DEPENDENCY, NULL, 15000, NULL});
}

static void test_dependency_in_a_graph(void **state)
{
	/* Nodes of a graph wait for each other, whatever stream they are shown on. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	size_t op = maker_op(&s->m, s->gpu, 7, OP_KERNEL, 45000, 46000, "node", s->correlation);
	s->m.trace->ops.flags[op] = OPF_GRAPH_NODE;
	EXPECT(s, 0, {CAUSE_DEPENDENCY, NULL, 15000, NULL});
}

static void test_dependency_on_another_device(void **state)
{
	struct scene *s = *state;
	uint32_t second = maker_device(&s->m, s->process, 1, TRACE_NONE);
	scene_kernel(s, s->main, 4900, 4950, 20000, 30000);
	scene_kernel(s, s->main, 5000, 5010, 45000, 46000);
	maker_op(&s->m, second, 7, OP_KERNEL, 20000, 46000, "peer", 0);
	EXPECT(s, 0, {CAUSE_DEPENDENCY, NULL, 15000, NULL});
}

static void test_off_the_processor(void **state)
{
	/* The thread is on a processor on [0, 2500) and [3500, 6000): in the gap [2000, 4000), which its launch
	 * [3900, 3950) ends with a latency of 50, it is off on [2500, 3500), and in a call of the system on
	 * [3000, 3200) of it. Before its first slice and after its last nothing is known. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 3900, 3950, 4000, 5000);
	maker_slice(&s->m, s->main, 0, 2500);
	maker_slice(&s->m, s->main, 3500, 6000);
	maker_os_call(&s->m, s->main, 3000, 3200, "read", OS_OTHER);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2500 - 1950 + 400, NULL}, {CAUSE_OFF_CPU, NULL, 800, NULL},
	       {CAUSE_HOST_BLOCKED, NULL, 200, "read"}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_late_start_after_launch(void **state)
{
	/* B's launch [31500, 32000) is inside the gap [30000, 45000), r = 13000 > 10000: before 32000 the host counts
	 * (1500 code in load, 500 launch in forward), from then on B waited. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 19900, 19950, 20000, 30000);
	scene_kernel(s, s->main, 31500, 32000, 45000, 46000);
	scene_range(s, s->main, 20000, 31500, "load");
	scene_range(s, s->main, 31500, 33000, "forward");
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 1500, NULL}, {CAUSE_LAUNCH_API, "forward", 500, NULL},
	       {CAUSE_LATE_START, "forward", 13000, NULL});
}

static void test_started_before_return(void **state)
{
	/* B starts at 5000, inside its launch call [2500, 6000): no shift. 500 host code, 2500 launch. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 2500, 6000, 5000, 7000);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 500, NULL}, {CAUSE_LAUNCH_API, NULL, 2500, NULL});
}

static void test_started_when_returned(void **state)
{
	/* r = 0 is not late either, also after a synchronisation: no launch_latency, nothing shifted. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_call(s, s->main, 960, 2300, "cudaStreamSynchronize", CALL_SYNC);
	scene_kernel(s, s->main, 4900, 5000, 5000, 6000);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 300, NULL}, {CAUSE_HOST_CODE, NULL, 2600, NULL},
	       {CAUSE_LAUNCH_API, NULL, 100, NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_host_code),
		SCENE(test_host_blocked),
		SCENE(test_mutex_is_no_handover),
		SCENE(test_wait_alone),
		SCENE(test_handover),
		SCENE(test_sync_and_latency),
		SCENE(test_sync_ended_in_time),
		SCENE(test_sync_that_something_covers),
		SCENE(test_sync_inside_a_free),
		SCENE(test_queued_work_is_not_opened_by_a_sync),
		SCENE(test_blocking_copies),
		SCENE(test_copy_synchronous_by_name),
		SCENE(test_copy_to_device_does_not_block),
		SCENE(test_copy_api),
		SCENE(test_launch_api),
		SCENE(test_alloc),
		SCENE(test_module_load),
		SCENE(test_other_api),
		SCENE(test_profiler),
		SCENE(test_dispatch),
		SCENE(test_dispatch_up_to_the_limit),
		SCENE(test_late_up_to_the_limit),
		SCENE(test_dependency),
		SCENE(test_waits_for_another_gpu),
		SCENE(test_late_start),
		SCENE(test_dependency_on_an_event),
		SCENE(test_dependency_in_a_graph),
		SCENE(test_dependency_on_another_device),
		SCENE(test_off_the_processor),
		SCENE(test_late_start_after_launch),
		SCENE(test_started_before_return),
		SCENE(test_started_when_returned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
