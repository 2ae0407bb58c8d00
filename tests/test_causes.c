/* One hand-made trace for each cause of idle time (section 3 of the design), with the split worked out by hand, and for
 * the rules around them: the limit, the classes of busy time, phases, ties, clipping. The brute-force model (oracle.h)
 * has to give the same answers, so that the model itself is checked by hand where it matters. Times in nanoseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "oracle.h"
#include "trace_maker.h"

#include <math.h>
#include <string.h>

/* A process with one GPU and a main thread that launches; most tests need no more. */
struct scene {
	struct arena arena;
	struct names names;
	struct maker m;
	uint32_t process, gpu, main;
	uint32_t correlation;
	const struct trace *trace; /* linked by the first analysis */
	const char *step;          /* --step, NULL for none */
	int warmup;
	struct analysis result;
	struct oracle oracle;
};

static int scene_begin(void **state)
{
	struct scene *s = test_calloc(1, sizeof *s);
	names_init(&s->names, &s->arena);
	maker_init(&s->m, &s->arena, &s->names);
	s->process = maker_process(&s->m, 100);
	s->main = maker_thread(&s->m, s->process, 100);
	s->gpu = maker_device(&s->m, s->process, 0, TRACE_NONE);
	s->warmup = -1;
	*state = s;
	return 0;
}

static int scene_end(void **state)
{
	struct scene *s = *state;
	arena_release(&s->arena);
	test_free(s);
	return 0;
}

/* A kernel on [start, end), launched by `thread` in a call on [l0, l1). */
static void kernel(struct scene *s, uint32_t thread, int64_t l0, int64_t l1, int64_t start, int64_t end)
{
	maker_call(&s->m, thread, l0, l1, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, start, end, "gemm", s->correlation);
}

static void call(struct scene *s, uint32_t thread, int64_t start, int64_t end, const char *name, enum call_class class)
{
	maker_call(&s->m, thread, start, end, name, class, ++s->correlation);
}

static void range(struct scene *s, uint32_t thread, int64_t start, int64_t end, const char *name)
{
	maker_range(&s->m, thread, start, end, name, "", RANGE_PUSH_POP);
}

/* Most traces end like this: the GPU runs A on [1000, 2000), then idles until B starts at 5000; B's launch is
 * [4900, 4950), so r = 50, far below the limit of 10 us that holds where fewer than 20 launches measure it. A was
 * launched on [900, 950). */
static void kernels_a_b(struct scene *s)
{
	kernel(s, s->main, 900, 950, 1000, 2000);
	kernel(s, s->main, 4900, 4950, 5000, 6000);
}

struct want {
	enum cause cause;
	const char *phase; /* NULL: none */
	int64_t ns;        /* in the whole window */
	const char *call;  /* host_blocked: the call that is named */
};

static uint32_t name_of(struct scene *s, const char *text)
{
	return text ? names_add_text(&s->names, text) : 0;
}

/* Analyses the scene both ways. */
static const struct device_result *scene_analyse(struct scene *s, uint32_t device)
{
	struct err err = {0};
	if (!s->trace)
		s->trace = maker_link(&s->m);
	struct analyse_run run = {.trace = s->trace, .file = "hand-made"};
	struct analyse_options options = {.step = s->step, .warmup = s->warmup, .max_regression = -1};
	oracle_run(s->trace, s->step, s->warmup < 1 ? 1 : (size_t)s->warmup, &s->arena, &s->oracle);
	if (analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	assert_true(device < s->result.side[0].n_devices);
	return &s->result.side[0].devices[device];
}

static int64_t scene_steps(const struct scene *s)
{
	return s->oracle.steps ? (int64_t)(s->oracle.n_steps - s->oracle.warmup) : 1;
}

static void rows_expect(struct scene *s, uint32_t device, const struct want *wants, size_t n)
{
	const struct device_result *result = scene_analyse(s, device);
	const struct oracle_device *model = &s->oracle.devices[device];
	double steps = (double)scene_steps(s);
	int64_t idle = 0, model_idle = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t phase = name_of(s, wants[i].phase);
		int64_t found = 0, modelled = 0;
		idle += wants[i].ns;
		for (uint32_t k = 0; k < OPENED_COUNT; k++)
			modelled += *oracle_row(&s->oracle, model, wants[i].cause, phase, k);
		for (uint32_t k = 0; k < result->budget.n_rows; k++) {
			const struct idle_row *row = &result->budget.rows[k];
			if (row->cause != wants[i].cause || row->phase != phase)
				continue;
			found += llround(row->per_step * steps);
			assert_string_equal(names_text(&s->names, row->call), wants[i].call ? wants[i].call : "");
		}
		if (found != wants[i].ns || modelled != wants[i].ns)
			fail_msg("%s in %s: analysis %lld, model %lld, by hand %lld", cause_name(wants[i].cause),
			         wants[i].phase ? wants[i].phase : "-", (long long)found, (long long)modelled,
			         (long long)wants[i].ns);
	}
	model_idle = model->total[ORACLE_IDLE];
	assert_int_equal(llround(result->budget.idle * steps), idle);
	assert_int_equal(model_idle, idle);
}

#define EXPECT(s, device, ...)                                                                                         \
	do {                                                                                                           \
		const struct want wants_[] = {__VA_ARGS__};                                                            \
		rows_expect((s), (device), wants_, sizeof wants_ / sizeof wants_[0]);                                  \
	} while (0)

/* ---- N came late: what the thread was doing r earlier ---- */

static void test_host_code(void **state)
{
	/* Gap [2000, 5000) is charged to what main did on [1950, 4950): host code in load until 4000, in forward until
	 * 4900, then the launch. */
	struct scene *s = *state;
	kernels_a_b(s);
	range(s, s->main, 100, 4000, "load");
	range(s, s->main, 4000, 6000, "forward");
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
	uint32_t other = maker_thread(&s->m, s->process, 101);
	kernel(s, other, 800, 850, 1000, 1100);
	kernels_a_b(s);
	maker_os_call(&s->m, s->main, 2500, 4000, "pthread_mutex_lock", OS_MUTEX);
	EXPECT(s, 0, {CAUSE_HOST_BLOCKED, NULL, 1500, "pthread_mutex_lock"}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_wait_alone(void **state)
{
	/* A thread that waits while the process has no other launching thread (101 launches nothing) is blocked. */
	struct scene *s = *state;
	uint32_t other = maker_thread(&s->m, s->process, 101);
	call(s, other, 2600, 3000, "cudaMalloc", CALL_ALLOC);
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
	uint32_t other = maker_thread(&s->m, s->process, 101);
	kernel(s, other, 800, 850, 1000, 1100);
	kernels_a_b(s);
	range(s, s->main, 100, 6000, "backward");
	range(s, other, 100, 6000, "elsewhere"); /* the piece stays in main's phase */
	maker_os_call(&s->m, s->main, 2500, 4000, "pthread_cond_wait", OS_WAIT);
	call(s, other, 2600, 3000, "cudaMalloc", CALL_ALLOC);
	maker_os_call(&s->m, other, 3200, 3300, "pthread_mutex_lock", OS_MUTEX);
	maker_os_call(&s->m, other, 3500, 3800, "sem_wait", OS_WAIT);
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
	call(s, s->main, 960, 2300, "cudaStreamSynchronize", CALL_SYNC);
	range(s, s->main, 100, 4800, "load");
	range(s, s->main, 4800, 6000, "forward");
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, "load", 300, NULL}, {CAUSE_HOST_CODE, "load", 2500, NULL},
	       {CAUSE_HOST_CODE, "forward", 100, NULL}, {CAUSE_LAUNCH_API, "forward", 50, NULL},
	       {CAUSE_LAUNCH_LATENCY, "forward", 50, NULL});
	assert_int_equal(
		*oracle_row(&s->oracle, &s->oracle.devices[0], CAUSE_HOST_CODE, name_of(s, "load"), OPENED_SYNC), 2500);
	for (uint32_t i = 0; i < s->result.side[0].devices[0].budget.n_rows; i++) {
		const struct idle_row *row = &s->result.side[0].devices[0].budget.rows[i];
		assert_int_equal(llround(row->opened[OPENED_SYNC]), llround(row->per_step));
	}
}

static void test_sync_ended_in_time(void **state)
{
	/* A synchronisation that returned exactly when the gap opened (a stale event, say) does not count: half-open.
	 */
	struct scene *s = *state;
	kernels_a_b(s);
	call(s, s->main, 960, 2000, "cudaEventSynchronize", CALL_SYNC);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 50, NULL}, {CAUSE_HOST_CODE, NULL, 2900, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_sync_that_something_covers(void **state)
{
	/* The profiler flushes its buffers on [1990, 2100) of the synchronisation [960, 2300): main is inside the
	 * synchronising call at 2000 all the same, so the launch's way is latency and nothing is shifted. */
	struct scene *s = *state;
	kernels_a_b(s);
	call(s, s->main, 960, 2300, "cudaStreamSynchronize", CALL_SYNC);
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
	call(s, s->main, 960, 2300, "cudaFree", CALL_ALLOC);
	call(s, s->main, 970, 2200, "cuCtxSynchronize", CALL_SYNC);
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
		kernel(s, s->main, 100 + 10 * i, 105 + 10 * i, 20000 + 5500 * i, 25000 + 5500 * i);
	call(s, s->main, 1000, 40000, "cudaStreamSynchronize", CALL_SYNC);
	EXPECT(s, 0, {CAUSE_DISPATCH, NULL, 1500, NULL});
	const struct idle_row *row = &s->result.side[0].devices[0].budget.rows[0];
	assert_int_equal(llround(row->opened[OPENED_WAITING]), 1500);
	assert_int_equal(llround(row->opened[OPENED_SYNC]), 0);
}

static void test_blocking_copies(void **state)
{
	/* A read-back into pageable memory blocks, though its name says Async: [2000, ...) opens inside a
	 * synchronising call. The copy runs on [1500, 2000) right after A (shortened to 1000-1500); the call returns at
	 * 2400. The gap: 400 sync_return, 2500 host code, 50 launch, 50 latency. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 950, 1000, 1500);
	maker_call(&s->m, s->main, 960, 2400, "cudaMemcpyAsync", CALL_COPY, ++s->correlation);
	size_t copy = maker_op(&s->m, s->gpu, 7, OP_COPY, 1500, 2000, "[CUDA memcpy Device-to-Host]", s->correlation);
	s->m.trace->ops.copy[copy] = COPY_D2H;
	s->m.trace->ops.flags[copy] = OPF_PAGEABLE;
	kernel(s, s->main, 4900, 4950, 5000, 6000);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 400, NULL}, {CAUSE_HOST_CODE, NULL, 2500, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL}, {CAUSE_LAUNCH_LATENCY, NULL, 50, NULL});
	assert_int_equal(llround(s->result.side[0].devices[0].budget.copy_exposed), 500);
}

static void test_copy_synchronous_by_name(void **state)
{
	/* A read-back by cudaMemcpy, into pinned memory: synchronous by its name. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 950, 1000, 1500);
	maker_call(&s->m, s->main, 960, 2400, "cudaMemcpy", CALL_COPY, ++s->correlation);
	size_t copy = maker_op(&s->m, s->gpu, 7, OP_COPY, 1500, 2000, "[CUDA memcpy Device-to-Host]", s->correlation);
	s->m.trace->ops.copy[copy] = COPY_D2H;
	kernel(s, s->main, 4900, 4950, 5000, 6000);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 400, NULL}, {CAUSE_HOST_CODE, NULL, 2500, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL}, {CAUSE_LAUNCH_LATENCY, NULL, 50, NULL});
}

static void test_copy_to_device_does_not_block(void **state)
{
	/* A pageable copy to the device by an Async call returns when the data is staged: copy_api, no synchronisation.
	 * Instants [1950, 4950): 450 of the copy call, 2500 host code, 50 launch. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 950, 1000, 1500);
	maker_call(&s->m, s->main, 960, 2400, "cudaMemcpyAsync", CALL_COPY, ++s->correlation);
	size_t copy = maker_op(&s->m, s->gpu, 7, OP_COPY, 1500, 2000, "[CUDA memcpy Host-to-Device]", s->correlation);
	s->m.trace->ops.copy[copy] = COPY_H2D;
	s->m.trace->ops.flags[copy] = OPF_PAGEABLE;
	kernel(s, s->main, 4900, 4950, 5000, 6000);
	EXPECT(s, 0, {CAUSE_COPY_API, NULL, 450, NULL}, {CAUSE_HOST_CODE, NULL, 2500, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_copy_api(void **state)
{
	/* Two copy calls on [1950, 4950): 3000-3400 and 4000-4100; their copies run inside other kernels' time. */
	struct scene *s = *state;
	kernels_a_b(s);
	call(s, s->main, 3000, 3400, "cudaMemcpyAsync", CALL_COPY);
	call(s, s->main, 4000, 4100, "cudaMemsetAsync", CALL_COPY);
	EXPECT(s, 0, {CAUSE_COPY_API, NULL, 500, NULL}, {CAUSE_HOST_CODE, NULL, 2450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_launch_api(void **state)
{
	/* Launch-bound: calls of 200 back to back, each kernel 20 long starting 30 after its call returned. Kernels at
	 * 230, 430, 630, 830; three gaps of 180, charged to t - 30: launch calls only. */
	struct scene *s = *state;
	for (int i = 0; i < 4; i++)
		kernel(s, s->main, 200 * i, 200 * i + 200, 200 * i + 230, 200 * i + 250);
	EXPECT(s, 0, {CAUSE_LAUNCH_API, NULL, 540, NULL});
}

static void test_alloc(void **state)
{
	struct scene *s = *state;
	kernels_a_b(s);
	call(s, s->main, 2500, 3500, "cudaMalloc", CALL_ALLOC);
	call(s, s->main, 3600, 3700, "cudaHostRegister", CALL_ALLOC);
	EXPECT(s, 0, {CAUSE_ALLOC, NULL, 1100, NULL}, {CAUSE_HOST_CODE, NULL, 1850, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_module_load(void **state)
{
	/* By a call 2500-2700, by the profiler's row for the program's own dlopen 3000-3300, and nested in a launch
	 * 4900-4950: from 4905 to 4945 the module loading is the stronger one. */
	struct scene *s = *state;
	kernels_a_b(s);
	call(s, s->main, 2500, 2700, "cuModuleLoadData", CALL_MODULE);
	maker_overhead(&s->m, s->main, 3000, 3300, "dlopen(libcudnn.so)", OVERHEAD_MODULE_LOAD);
	call(s, s->main, 4905, 4945, "cuLibraryLoadData", CALL_MODULE);
	EXPECT(s, 0, {CAUSE_MODULE_LOAD, NULL, 540, NULL}, {CAUSE_HOST_CODE, NULL, 2450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 10, NULL});
}

static void test_other_api(void **state)
{
	/* The strongest of nested calls counts, wherever it is in the nest: an outer cudaEventRecord 2500-3500 with an
	 * allocation 2600-2700 inside; an outer allocation 3600-3800 with a cudaGetDevice 3650-3700 inside. */
	struct scene *s = *state;
	kernels_a_b(s);
	call(s, s->main, 2500, 3500, "cudaEventRecord", CALL_OTHER);
	call(s, s->main, 2600, 2700, "cudaMalloc", CALL_ALLOC);
	call(s, s->main, 3600, 3800, "cudaFree", CALL_ALLOC);
	call(s, s->main, 3650, 3700, "cudaGetDevice", CALL_OTHER);
	EXPECT(s, 0, {CAUSE_OTHER_API, NULL, 900, NULL}, {CAUSE_ALLOC, NULL, 300, NULL},
	       {CAUSE_HOST_CODE, NULL, 1750, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_profiler(void **state)
{
	/* The profiler's own overhead 2400-2800 wins over the call 2500-3000 that it interrupts; on another thread it
	 * does not count. */
	struct scene *s = *state;
	uint32_t other = maker_thread(&s->m, s->process, 101);
	kernels_a_b(s);
	maker_overhead(&s->m, s->main, 2400, 2800, "CUPTI: Buffer flush", OVERHEAD_PROFILER);
	maker_overhead(&s->m, other, 3000, 4000, "CUPTI: Buffer flush", OVERHEAD_PROFILER);
	call(s, s->main, 2500, 3000, "cudaMalloc", CALL_ALLOC);
	EXPECT(s, 0, {CAUSE_PROFILER, NULL, 400, NULL}, {CAUSE_ALLOC, NULL, 200, NULL},
	       {CAUSE_HOST_CODE, NULL, 2350, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

/* ---- N had been waiting ---- */

static void test_dispatch(void **state)
{
	/* B was launched on [5000, 5010) and starts at 30500, 500 after A ends: r = 25490 > limit, the gap is short. */
	struct scene *s = *state;
	kernel(s, s->main, 4900, 4950, 20000, 30000);
	kernel(s, s->main, 5000, 5010, 30500, 31000);
	range(s, s->main, 4000, 6000, "forward");
	range(s, s->main, 29000, 31000, "optimizer"); /* not where the launch was */
	EXPECT(s, 0, {CAUSE_DISPATCH, "forward", 500, NULL});
	assert_int_equal(llround(s->result.side[0].devices[0].budget.rows[0].opened[OPENED_WAITING]), 500);
}

static void test_dependency(void **state)
{
	/* The same with a gap of 15000: longer than the limit of 10000, so it waited for something. */
	struct scene *s = *state;
	kernel(s, s->main, 4900, 4950, 20000, 30000);
	kernel(s, s->main, 5000, 5010, 45000, 46000);
	range(s, s->main, 4000, 6000, "forward");
	EXPECT(s, 0, {CAUSE_DEPENDENCY, "forward", 15000, NULL});
}

static void test_dependency_after_launch(void **state)
{
	/* B's launch [31500, 32000) is inside the gap [30000, 45000), r = 13000 > 10000: before 32000 the host counts
	 * (1500 code in load, 500 launch in forward), from then on B waited. */
	struct scene *s = *state;
	kernel(s, s->main, 19900, 19950, 20000, 30000);
	kernel(s, s->main, 31500, 32000, 45000, 46000);
	range(s, s->main, 20000, 31500, "load");
	range(s, s->main, 31500, 33000, "forward");
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 1500, NULL}, {CAUSE_LAUNCH_API, "forward", 500, NULL},
	       {CAUSE_DEPENDENCY, "forward", 13000, NULL});
}

static void test_started_before_return(void **state)
{
	/* B starts at 5000, inside its launch call [2500, 6000): no shift. 500 host code, 2500 launch. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 950, 1000, 2000);
	kernel(s, s->main, 2500, 6000, 5000, 7000);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 500, NULL}, {CAUSE_LAUNCH_API, NULL, 2500, NULL});
}

static void test_started_when_returned(void **state)
{
	/* r = 0 is not late either, also after a synchronisation: no launch_latency, nothing shifted. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 950, 1000, 2000);
	call(s, s->main, 960, 2300, "cudaStreamSynchronize", CALL_SYNC);
	kernel(s, s->main, 4900, 5000, 5000, 6000);
	EXPECT(s, 0, {CAUSE_SYNC_RETURN, NULL, 300, NULL}, {CAUSE_HOST_CODE, NULL, 2600, NULL},
	       {CAUSE_LAUNCH_API, NULL, 100, NULL});
}

/* ---- no launch in the profile, no op, somebody else's op ---- */

static void test_managed_memory(void **state)
{
	/* A migration that no call launched ends the gap [2000, 2600); the kernel after it is late by 50. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 950, 1000, 2000);
	size_t op = maker_op(&s->m, s->gpu, 0, OP_COPY, 2600, 2700, "[CUDA memcpy Unified Host-to-Device]", 0);
	s->m.trace->ops.copy[op] = COPY_UM_H2D;
	s->m.trace->ops.flags[op] = OPF_MANAGED;
	kernel(s, s->main, 2900, 2950, 3000, 4000);
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
	kernel(s, s->main, 900, 950, 1000, 2000);
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
	kernel(s, s->main, 900, 950, 1000, 6000);
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
	kernels_a_b(s);
	maker_call(&s->m, thread, 2440, 2480, "cudaLaunchKernel", CALL_LAUNCH, 1);
	maker_op(&s->m, theirs, 7, OP_KERNEL, 2500, 4000, "gemm", 1);
	EXPECT(s, 0, {CAUSE_OTHER_PROCESS, NULL, 1500, NULL}, {CAUSE_HOST_CODE, NULL, 1450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 50, NULL});
	EXPECT(s, 1, {CAUSE_OTHER_PROCESS, NULL, 2000, NULL}, {CAUSE_HOST_CODE, NULL, 460, NULL},
	       {CAUSE_LAUNCH_API, NULL, 40, NULL}, {CAUSE_UNATTRIBUTED, NULL, 1000, NULL});
}

static void test_unknown_gpus_are_not_shared(void **state)
{
	/* The same without knowing which GPU: nobody can say that they share one. */
	struct scene *s = *state;
	uint32_t stranger = maker_process(&s->m, 200), thread = maker_thread(&s->m, stranger, 200);
	uint32_t theirs = maker_device(&s->m, stranger, 0, TRACE_NONE);
	kernels_a_b(s);
	maker_call(&s->m, thread, 2440, 2480, "cudaLaunchKernel", CALL_LAUNCH, 1);
	maker_op(&s->m, theirs, 7, OP_KERNEL, 2500, 4000, "gemm", 1);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2950, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

/* ---- the limit ---- */

/* `n` late launches one after the other; gap i is 5000 long and ends `r[i % n_r]` after its launch returned. */
static void late_launches(struct scene *s, int n, const int64_t *r, int n_r)
{
	kernel(s, s->main, 50, 60, 100, 200);
	for (int i = 0; i < n; i++) {
		int64_t start = 5200 + 5100 * (int64_t)i, returned = start - r[i % n_r];
		kernel(s, s->main, returned - 10, returned, start, start + 100);
	}
}

static void limit_expect(struct scene *s, int64_t limit)
{
	const struct device_result *device = scene_analyse(s, 0);
	assert_int_equal(s->oracle.devices[0].limit, limit);
	assert_int_equal(llround(device->limit_ns), limit);
}

static void test_limit_unmeasured(void **state)
{
	const int64_t r[] = {2000};
	late_launches(*state, 19, r, 1);
	limit_expect(*state, 10000); /* 19 are too few to measure */
}

static void test_limit_least(void **state)
{
	const int64_t r[] = {1400};
	late_launches(*state, 20, r, 1);
	limit_expect(*state, 3000); /* 2800 is below the least limit */
}

static void test_limit_median(void **state)
{
	const int64_t r[] = {1800, 2101};
	late_launches(*state, 20, r, 2);
	limit_expect(*state, 3900); /* (1800 + 2101) / 2 = 1950.5, floored, twice */
}

static void test_limit_median_odd(void **state)
{
	const int64_t r[] = {1700, 2100, 2600};
	late_launches(*state, 21, r, 3);
	limit_expect(*state, 4200); /* seven of each: the middle one is 2100 */
}

static void test_limit_ignores_queued(void **state)
{
	/* Twenty late ones with r = 2000; thirty that had been queued before their gap opened do not count. */
	struct scene *s = *state;
	const int64_t r[] = {2000};
	late_launches(s, 20, r, 1);
	for (int i = 0; i < 30; i++)
		kernel(s, s->main, 70 + i, 71 + i, 200000 + 1000 * i, 200500 + 1000 * i);
	limit_expect(s, 4000);
}

/* ---- busy time ---- */

static void test_classes(void **state)
{
	/* A kernel [1000, 2000), communication [1500, 3000), a copy [2500, 4000), a graph [3500, 3800), a memset
	 * [4500, 5000): compute 1000 + 300, communication alone 1000, copies alone 500 + 200 + 500, idle 500. */
	struct scene *s = *state;
	kernel(s, s->main, 900, 910, 1000, 2000);
	static const struct {
		enum op_kind kind;
		int64_t start, end;
	} ops[] = {{OP_COMM, 1500, 3000}, {OP_COPY, 2500, 4000}, {OP_GRAPH, 3500, 3800}, {OP_MEMSET, 4500, 5000}};
	for (int i = 0; i < 4; i++) {
		maker_call(&s->m, s->main, 920 + 10 * i, 925 + 10 * i, "cudaLaunchKernel", CALL_LAUNCH,
		           10 + (uint32_t)i);
		maker_op(&s->m, s->gpu, 8, ops[i].kind, ops[i].start, ops[i].end, "op", 10 + (uint32_t)i);
	}
	const struct budget *budget = &scene_analyse(s, 0)->budget;
	const double parts[] = {budget->compute, budget->comm_exposed, budget->copy_exposed, budget->idle};
	const int64_t by_hand[] = {1300, 1000, 1200, 500};
	for (int i = 0; i < 4; i++) {
		assert_int_equal(llround(parts[i]), by_hand[i]);
		assert_int_equal(s->oracle.devices[0].total[i], by_hand[i]);
	}
	assert_int_equal(llround(budget->period), 4000);
}

static void test_zero_length_ops(void **state)
{
	/* An op of no length in the gap neither fills nor splits it, and does not end it. */
	struct scene *s = *state;
	kernels_a_b(s);
	maker_op(&s->m, s->gpu, 9, OP_KERNEL, 3000, 3000, "gemm", 0);
	maker_op(&s->m, s->gpu, 9, OP_KERNEL, 5000, 5000, "gemm", 0);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2950, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_gap_ends_with_earliest_launched(void **state)
{
	/* Two kernels start at 5000: the one launched first, on 4700-4800 (r = 200), ends the gap: [1800, 4800). */
	struct scene *s = *state;
	kernels_a_b(s);
	kernel(s, s->main, 4700, 4800, 5000, 5500);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2900, NULL}, {CAUSE_LAUNCH_API, NULL, 100, NULL});
}

/* ---- phases ---- */

static int64_t phase_cost(struct scene *s, const char *phase)
{
	uint32_t name = name_of(s, phase);
	const struct side *side = &s->result.side[0];
	int64_t cost = 0;
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name == name)
			cost = llround(side->phases[i].cost * (double)scene_steps(s));
	assert_int_equal(cost, s->oracle.devices[0].cost[name]);
	return cost;
}

/* Six steps of 10000: range [10000 i, 10000 i + 9000), one kernel each on [10000 i + 1000, 10000 i + 2000) launched
 * by main on [.. + 100, .. + 150). Window with one warm-up step: [2000, 52000), five steps. */
static void six_steps(struct scene *s)
{
	for (int64_t t = 0; t < 60000; t += 10000) {
		range(s, s->main, t, t + 9000, "step");
		kernel(s, s->main, t + 100, t + 150, t + 1000, t + 2000);
	}
	s->step = "step";
	s->warmup = 1;
}

static void test_phases_of_a_step(void **state)
{
	/* Each gap [.. 2000, .. 11000) ends 850 after its launch returned, so it is charged to [.. 1150, .. 10150): per
	 * step load [1150, 5000): 3850; a range of another domain around it and one inside do not shatter it; forward
	 * [5000, 9000) with a nested gemm: 4000; after the step nothing is open for 1000; then the next step: 100
	 * before its launch, 50 in it, both without a range. The epoch contains steps: it is no phase. */
	struct scene *s = *state;
	six_steps(s);
	range(s, s->main, 0, 60000, "epoch");
	for (int64_t t = 0; t < 60000; t += 10000) {
		maker_range(&s->m, s->main, t + 1100, t + 8950, "ncclAllReduce", "NCCL", RANGE_PUSH_POP);
		range(s, s->main, t + 1120, t + 5000, "load");
		range(s, s->main, t + 2000, t + 3000, "decode");
		range(s, s->main, t + 5000, t + 9000, "forward");
		range(s, s->main, t + 6000, t + 7000, "gemm_call");
	}
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 5 * 3850, NULL}, {CAUSE_HOST_CODE, "forward", 5 * 4000, NULL},
	       {CAUSE_HOST_CODE, NULL, 5 * 1100, NULL}, {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
	assert_int_equal(phase_cost(s, "load"), 5 * 3850);
	assert_int_equal(phase_cost(s, "forward"), 5 * 4000);
	assert_int_equal(phase_cost(s, NULL), 5 * (1150 + 1000)); /* with the kernels, launched outside any phase */
}

static void test_phase_between_steps(void **state)
{
	/* A range between two steps is a phase of its own: log on [9000, 9500) after every step. */
	struct scene *s = *state;
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000)
		range(s, s->main, t + 9000, t + 9500, "log");
	EXPECT(s, 0, {CAUSE_HOST_CODE, "log", 5 * 500, NULL}, {CAUSE_HOST_CODE, NULL, 5 * 8450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
}

static void test_phase_by_start_end_range(void **state)
{
	/* A start/end range that the step thread starts inside the step is a phase like any other. */
	struct scene *s = *state;
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000)
		maker_range(&s->m, s->main, t + 3000, t + 4000, "load", "", RANGE_START_END);
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 5 * 1000, NULL}, {CAUSE_HOST_CODE, NULL, 5 * 7950, NULL},
	       {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
}

static void test_phase_inherited(void **state)
{
	/* PyTorch's backward: another thread launches the kernel [.. 4000, .. 5000) by a call [.. 3900, .. 3950) while
	 * the step thread is inside backward [.. 3000, .. 5000); the other thread's only ranges belong to another
	 * domain. The kernel's 1000 belong to backward. The gap before it, [.. 2000, .. 4000), is charged to what the
	 * other thread did on [.. 1950, .. 3950), by the step thread's ranges: 1050 code outside a phase, then 900 code
	 * and the launch, 50, in backward. The gap after it, [.. 5000, .. 11000), ends 850 after a launch by main:
	 * [.. 4150, .. 10150): 850 in backward, 5100 outside, 50 launch. */
	struct scene *s = *state;
	uint32_t autograd = maker_thread(&s->m, s->process, 101);
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000) {
		range(s, s->main, t + 3000, t + 5000, "backward");
		maker_range(&s->m, autograd, t + 3800, t + 3990, "cub::Reduce", "CCCL", RANGE_PUSH_POP);
		kernel(s, autograd, t + 3900, t + 3950, t + 4000, t + 5000);
	}
	/* Steps now end at .. 5000: the window is [5000, 55000). */
	EXPECT(s, 0, {CAUSE_HOST_CODE, "backward", 5 * (900 + 850), NULL},
	       {CAUSE_HOST_CODE, NULL, 5 * (1050 + 5100), NULL}, {CAUSE_LAUNCH_API, "backward", 5 * 50, NULL},
	       {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
	assert_int_equal(phase_cost(s, "backward"), 5 * (1000 + 900 + 850 + 50));
}

static void test_phase_of_the_other_thread(void **state)
{
	/* Where the step thread has no phase open, the launching thread's own range counts: prefetch. Gap
	 * [.. 2000, .. 4000) by [.. 1950, .. 3950) of the other thread, prefetch open on [.. 3000, .. 4000). */
	struct scene *s = *state;
	uint32_t producer = maker_thread(&s->m, s->process, 101);
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000) {
		range(s, producer, t + 3000, t + 4000, "prefetch");
		kernel(s, producer, t + 3900, t + 3950, t + 4000, t + 5000);
	}
	EXPECT(s, 0, {CAUSE_HOST_CODE, "prefetch", 5 * 900, NULL}, {CAUSE_LAUNCH_API, "prefetch", 5 * 50, NULL},
	       {CAUSE_HOST_CODE, NULL, 5 * (1050 + 5950), NULL}, {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
	assert_int_equal(phase_cost(s, "prefetch"), 5 * (950 + 1000));
}

static void test_overlapped_communication_costs_nothing(void **state)
{
	/* Communication [2000, 4000) launched in sync_grads runs beside a kernel of backward [1000, 3500): 2000 of GPU
	 * time, 500 of cost. */
	struct scene *s = *state;
	range(s, s->main, 800, 930, "backward");
	range(s, s->main, 930, 990, "sync_grads");
	kernel(s, s->main, 900, 920, 1000, 3500);
	maker_call(&s->m, s->main, 940, 960, "cudaLaunchKernel", CALL_LAUNCH, 90);
	maker_op(&s->m, s->gpu, 8, OP_COMM, 2000, 4000, "ncclDevKernel", 90);
	scene_analyse(s, 0);
	assert_int_equal(phase_cost(s, "backward"), 2500);
	assert_int_equal(phase_cost(s, "sync_grads"), 500);
	for (uint32_t i = 0; i < s->result.side[0].n_phases; i++)
		if (s->result.side[0].phases[i].name == name_of(s, "sync_grads"))
			assert_int_equal(llround(s->result.side[0].phases[i].gpu), 2000);
}

static void test_gap_clipped_to_window(void **state)
{
	/* The window [2000, 52000) ends inside a gap that a kernel after it ends: the causes are those of the whole
	 * gap. A second GPU runs [11500, 11600), launched on [10200, 10210), and [64000, 65000), launched outside any
	 * step on [63900, 63950). Its first gap begins with the window and is late by 1290, so charged to [710, 10210):
	 * 50 of main's launch calls at 10100, 10 of its own, 9440 code. Its second gap is late by 50: by the window's
	 * end that is [11550, 51950) with four launch calls of 50, 40200 code, and nothing unattributed. */
	struct scene *s = *state;
	uint32_t second = maker_device(&s->m, s->process, 1, TRACE_NONE);
	six_steps(s);
	maker_call(&s->m, s->main, 10200, 10210, "cudaLaunchKernel", CALL_LAUNCH, 90);
	maker_op(&s->m, second, 7, OP_KERNEL, 11500, 11600, "gemm", 90);
	maker_call(&s->m, s->main, 63900, 63950, "cudaLaunchKernel", CALL_LAUNCH, 91);
	maker_op(&s->m, second, 7, OP_KERNEL, 64000, 65000, "gemm", 91);
	EXPECT(s, 1, {CAUSE_LAUNCH_API, NULL, 50 + 10 + 200, NULL}, {CAUSE_HOST_CODE, NULL, 9440 + 40200, NULL});
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_begin, scene_end)

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
		SCENE(test_dependency),
		SCENE(test_dependency_after_launch),
		SCENE(test_started_before_return),
		SCENE(test_started_when_returned),
		SCENE(test_managed_memory),
		SCENE(test_unattributed),
		SCENE(test_edges_of_the_window),
		SCENE(test_other_process),
		SCENE(test_unknown_gpus_are_not_shared),
		SCENE(test_limit_unmeasured),
		SCENE(test_limit_least),
		SCENE(test_limit_median),
		SCENE(test_limit_median_odd),
		SCENE(test_limit_ignores_queued),
		SCENE(test_classes),
		SCENE(test_zero_length_ops),
		SCENE(test_gap_ends_with_earliest_launched),
		SCENE(test_phases_of_a_step),
		SCENE(test_phase_between_steps),
		SCENE(test_phase_by_start_end_range),
		SCENE(test_phase_inherited),
		SCENE(test_phase_of_the_other_thread),
		SCENE(test_overlapped_communication_costs_nothing),
		SCENE(test_gap_clipped_to_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
