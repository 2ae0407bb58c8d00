/* What is said of runs in which nothing repeats: that a few operations are busy from the first to the last is no
 * bottleneck, that kernels of few blocks leave most of the GPU idle, and a clock that one side's tool does not record
 * is no other GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "said.h"
#include "same/doubts.h"
#include "scene.h"

#include <string.h>

enum { US = 1000, KERNEL = 500 * US };

/* `n` kernels of which none is like another, each launched when the one before is done. */
static const struct trace *run_of(struct scene *s, int n)
{
	scene_trace_begin(s);
	for (int i = 0; i < n; i++) {
		const int64_t t = i * (KERNEL + 4 * US);
		const char *name = arena_format(&s->arena, "kernel_%c%c", 'a' + i % 26, 'a' + i / 26);
		maker_call(&s->m, s->main, t, t + 2 * US, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
		maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 4 * US, t + 4 * US + KERNEL, name, s->correlation);
	}
	return maker_link(&s->m);
}

static bool finds(const struct analysis *a, const char *id)
{
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, id) == 0)
			return true;
	return false;
}

/* From its first operation to its last a run of few is busy, whatever the program waits for. */
static void few_operations_are_no_bottleneck(void **state)
{
	for (int n = 9; n <= 10; n++) {
		const struct trace *t = run_of(*state, n);
		const struct analysis *a = scene_compare(*state, t, t);
		assert_false(a->side[0].steps.found);
		assert_int_equal(finds(a, "gpu_bound"), n == 10);
	}
}

/* Ten kernels of so many blocks, each of `threads`, on so many SMs (0: not recorded); `beside`: another stream runs the
 * same meanwhile. */
static struct trace *ten_kernels(struct scene *s, int64_t length, int64_t blocks, int64_t threads, int64_t sms,
                                 bool beside)
{
	struct trace *made = ARENA_NEW(&s->arena, 1, struct trace);
	scene_trace_begin(s);
	for (int i = 0; i < 10; i++)
		for (int stream = 7; stream <= 7 + beside; stream++) {
			const int64_t t = i * (length + 4 * US);
			const char *name = arena_format(&s->arena, "kernel_%c%d", 'a' + i, stream);
			maker_call(&s->m, s->main, t, t + 2 * US, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
			maker_op(&s->m, s->gpu, (uint32_t)stream, OP_KERNEL, t + 4 * US, t + 4 * US + length, name,
			         s->correlation);
		}
	*made = *maker_link(&s->m);
	made->gpus = ARENA_NEW(&s->arena, 1, struct trace_gpu);
	made->n_gpus = 1;
	made->gpus[0] = (struct trace_gpu){.name = made->ops.name[0], .sm_count = sms};
	for (uint32_t d = 0; d < made->n_devices; d++)
		made->devices[d].gpu = 0;
	for (size_t i = 0; i < made->ops.n; i++)
		made->ops.bytes[i] = trace_launch(blocks, threads);
	return made;
}

/* Whether it is said that blocks or threads are few. */
static bool says_few_of(struct scene *s, int64_t blocks, int64_t threads, int64_t sms, bool beside)
{
	const struct trace *made = ten_kernels(s, KERNEL, blocks, threads, sms, beside);
	const struct analysis *a = scene_compare(s, made, made);
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, "gpu_bound") == 0) {
			const bool few = strstr(a->findings.list[i].text, "A block runs on one SM");
			assert_int_equal(few, !strstr(a->findings.list[i].text, "so only faster kernels help"));
			return few && strstr(a->findings.list[i].advice, "Launch more blocks");
		}
	fail();
	return false;
}

static bool says_few(struct scene *s, int64_t blocks, int64_t sms, bool beside)
{
	return says_few_of(s, blocks, 0, sms, beside);
}

/* 64 blocks of one warp are a warp for every second SM. */
static void few_threads_leave_the_gpu_idle(void **state)
{
	assert_true(says_few_of(*state, 64, 32, 132, false));
	assert_true(says_few_of(*state, 33 * 4, 32, 132, false)); /* a warp on each SM, three quarters without */
	assert_false(says_few_of(*state, 33 * 4, 33, 132, false));
	assert_false(says_few_of(*state, 64, 128, 132, false));
	assert_false(says_few_of(*state, 64, 32, 0, false)); /* nobody knows how many SMs */
}

/* The first difference of kernels that take three times as long with other threads in as many blocks. */
static const char *difference(struct scene *s, int64_t before, int64_t after)
{
	const struct trace *baseline = ten_kernels(s, KERNEL, 64, before, 132, false);
	struct trace *fixed = ten_kernels(s, 3 * KERNEL, 64, after, 132, false);
	fixed->ops.end[0] -= KERNEL / 2; /* no one ratio of all */
	const struct analysis *a = scene_compare(s, baseline, fixed);
	assert_true(a->comparison.differences.n > 0);
	return said(a->comparison.differences.list[0], a->names);
}

static void threads_of_a_block_are_told(void **state)
{
	const char *said = difference(*state, 256, 1);
	if (!strstr(said, "10 kernels run with another number of threads per block") || !strstr(said, ", 256 → 1)."))
		fail_msg("%s", said);
	assert_null(strstr(difference(*state, 256, 256), "threads per block"));
	assert_null(strstr(difference(*state, 256, 0), "threads per block")); /* not recorded */
	assert_non_null(strstr(difference(*state, 256, 0), "more work, another block size, slower code"));
	assert_non_null(strstr(difference(*state, 256, 256), "more work, slower code"));
	assert_int_equal(trace_launch(64, 1 << 20), 64); /* no GPU has such a block: its grid is known all the same */
}

/* A quarter of the SMs and less, or four blocks where nobody knows how many SMs there are. */
static void few_blocks_leave_the_gpu_idle(void **state)
{
	assert_true(says_few(*state, 1, 108, false));
	assert_true(says_few(*state, 27, 108, false));
	assert_false(says_few(*state, 28, 108, false));
	assert_false(says_few(*state, 0, 108, false)); /* not recorded */
	assert_true(says_few(*state, 4, 0, false));
	assert_false(says_few(*state, 5, 0, false));
	assert_false(says_few(*state, 1, 108, true)); /* side by side they may fill it */
}

/* Kernels that take turns on two streams, and leave half of the SMs and more, could run at once. */
static void streams_that_take_turns(void **state)
{
	for (int64_t blocks = 66; blocks <= 67; blocks++)
		for (int streams = 1; streams <= 2; streams++) {
			struct trace *made = ten_kernels(*state, KERNEL, blocks, 256, 132, false);
			for (size_t i = 0; i < made->ops.n; i++)
				made->ops.stream[i] = streams == 2 && i % 2 ? 8 : 7;
			const struct analysis *a = scene_compare(*state, made, made);
			for (uint32_t i = 0; i < a->findings.n; i++) {
				const struct finding *f = &a->findings.list[i];
				const bool turns = streams == 2 && blocks == 66;
				if (strcmp(f->id, "gpu_bound") != 0)
					continue;
				assert_int_equal(strstr(f->text, "on 2 streams, and on average 1.00 run at once") !=
				                         NULL,
				                 turns);
				assert_int_equal(strstr(f->text, "so only faster kernels help") == NULL, turns);
				assert_int_equal(strstr(f->advice, "Let the streams run at once") != NULL, turns);
			}
			assert_true(finds(a, "gpu_bound"));
		}
}

/* Two clocks that are recorded and differ are other GPUs. */
static void an_unknown_clock_is_no_other_gpu(void **state)
{
	static const int64_t clocks[][2] = {
		{0, 1980000000}, {1980000000, 0}, {1980000000, 1980000000}, {1755000000, 1980000000}};
	struct scene *s = *state;
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		const struct trace *t[2];
		for (int side = 0; side < 2; side++) {
			struct trace *made = ARENA_NEW(&s->arena, 1, struct trace);
			*made = *run_of(s, 48);
			made->gpus = ARENA_NEW(&s->arena, 1, struct trace_gpu);
			made->n_gpus = 1;
			made->gpus[0] = (struct trace_gpu){.name = made->ops.name[0], .clock_hz = clocks[i][side]};
			for (uint32_t d = 0; d < made->n_devices; d++)
				made->devices[d].gpu = 0;
			t[side] = made;
		}
		assert_int_equal(scene_compare(s, t[0], t[1])->conditions.other_gpus, i == 3);
	}
}

/* Rows of a kind on one side only: options that differ, unless that side was asked for them, too. */
static void what_was_recorded_of_one_side_only(void **state)
{
	struct scene *s = *state;
	struct trace_source a = trace_source_unknown(), b = a;
	assert_int_equal(conditions_options(&a, &b, false, &s->arena).n, 0);
	a.has_ranges = b.has_os_calls = true;
	struct facts options = conditions_options(&a, &b, false, &s->arena);
	assert_int_equal(options.n, 2);
	assert_string_equal(
		said(options.list[0], NULL),
		"Only the fixed side has operating-system calls. Capture both sides with the same options.");
	assert_string_equal(said(options.list[1], NULL),
	                    "Only the baseline has NVTX ranges. Capture both sides with the "
	                    "same options.");
	assert_int_equal(conditions_options(&a, &b, true, &s->arena).n, 1); /* operators */
	a.traced = b.traced = "cuda,nvtx,osrt";
	assert_int_equal(conditions_options(&a, &b, false, &s->arena).n, 0);
	a.has_ranges = a.has_os_calls = b.has_os_calls = false; /* neither has any, though one was asked for them */
	a.traced = "";
	assert_int_equal(conditions_options(&a, &b, false, &s->arena).n, 0);
	a.has_ranges = b.has_os_calls = true;
	a.traced = "cuda,nvtx,osrt";
	b.traced = "cuda,osrt";
	assert_int_equal(conditions_options(&a, &b, false, &s->arena).n, 1);
	b.traced = "cuda,nvtx2,osrt"; /* a word that begins alike */
	assert_int_equal(conditions_options(&a, &b, false, &s->arena).n, 1);
	assert_int_equal(conditions_options(&b, &a, false, &s->arena).n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(few_operations_are_no_bottleneck), SCENE(few_blocks_leave_the_gpu_idle),
		SCENE(few_threads_leave_the_gpu_idle),   SCENE(threads_of_a_block_are_told),
		SCENE(streams_that_take_turns),          SCENE(what_was_recorded_of_one_side_only),
		SCENE(an_unknown_clock_is_no_other_gpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
