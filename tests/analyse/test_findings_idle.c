/* Every cause of idle time that takes a large part of a step has a finding of its own, and a small one has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <string.h>

enum { US = 1000, MS = 1000 * US, STEPS = 40, KERNELS = 10 };

/* A step: ten kernels of 100 µs, or `tiny` ones of 4 µs, each launched in a call of so many ns, each start so much
 * after it is due. */
struct program {
	int64_t launch; /* ns of each launch call */
	int64_t code;   /* ns of the host's own after each of them */
	int waits;      /* for all that was launched, in a step, evenly */
	int64_t late;   /* ns from the end of a kernel to the start of the next, which was queued before */
	int64_t second; /* stream of every other kernel */
	int64_t paging; /* ns in which unified memory is brought while a kernel runs */
	int tiny;
	int instantiates; /* of a graph, each 600 µs, in one of so many steps; 0: in none */
};

static const struct analysis *show(struct scene *s, const struct program *p)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	int64_t host = 0, gpu = 0;
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		int64_t begin = host + US;
		host = begin + i % 3 * US;
		if (p->instantiates && i % p->instantiates == 0) {
			scene_call(s, s->main, host, host + 600 * US, "cudaGraphInstantiate_v10000", CALL_OTHER);
			host += 600 * US;
		}
		for (int k = 0; k < (p->tiny ? p->tiny : KERNELS); k++) {
			maker_call(&s->m, s->main, host, host + p->launch, "cudaLaunchKernel", CALL_LAUNCH,
			           ++s->correlation);
			const int64_t due = host + p->launch + 2 * US;
			const int64_t start = gpu + p->late > due ? gpu + p->late : due;
			host += p->launch + p->code;
			gpu = start + (p->tiny ? 4 : 100) * US;
			maker_op(&s->m, s->gpu, k % 2 ? (uint32_t)p->second : 7, OP_KERNEL, start, gpu, "gemm",
			         s->correlation);
			if (p->waits && k % (p->tiny / p->waits) == 0) {
				maker_call(&s->m, s->main, host, gpu > host ? gpu : host + US, "cudaStreamSynchronize",
				           CALL_SYNC, 0);
				host = gpu > host ? gpu : host + US;
			}
			if (!p->paging)
				continue;
			size_t op = maker_op(&s->m, s->gpu, 0, OP_COPY, start + US, start + US + p->paging,
			                     "[CUDA memcpy Unified Host-to-Device]", 0);
			s->m.trace->ops.copy[op] = COPY_UM_H2D;
			s->m.trace->ops.flags[op] = OPF_MANAGED;
		}
		scene_range(s, s->main, begin, host, "step");
	}
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run run = {.trace = maker_link(&s->m), .file = "profile"};
	if (analyse_one(&run, &defaults, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static const struct finding *idle_finding(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strncmp(a->findings.list[i].id, "idle_", 5) == 0)
			return &a->findings.list[i];
	return NULL;
}

static const struct finding *find(const struct analysis *a, const char *id)
{
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, id) == 0)
			return &a->findings.list[i];
	return NULL;
}

/* Kernels of 100 µs that may wait for pages for 60, or 2: nobody knows how long they do, and little is not said. */
static void test_pages_of_kernels(void **state)
{
	struct program much = {.launch = 2 * US, .second = 7, .paging = 60 * US}, little = much;
	little.paging = 2 * US;
	const struct analysis *a = show(*state, &much);
	const struct finding *f = find(a, "managed_memory");
	assert_non_null(f);
	assert_false(f->has_ceiling);
	assert_non_null(strstr(f->text, "overlap kernels for 0.6 ms"));
	assert_non_null(strstr(find(a, "gpu_bound")->text, "waiting for pages of unified memory"));
	a = show(*state, &little);
	assert_null(find(a, "managed_memory"));
	assert_non_null(strstr(find(a, "gpu_bound")->text, "so only faster kernels help"));
}

/* A busy GPU with a thousand kernels of 4 µs or more in a step: their number is the fault. */
static void test_short_kernels(void **state)
{
	struct program many = {.launch = 2 * US, .second = 7, .tiny = 1200}, few = many, long_ones = many;
	few.tiny = 900;
	long_ones.tiny = 0;
	const struct program *const programs[] = {&many, &few, &long_ones};
	for (size_t i = 0; i < 3; i++) {
		const struct finding *f = find(show(*state, programs[i]), "gpu_bound");
		assert_non_null(f);
		assert_int_equal(strstr(f->advice, "Fuse the short kernels, or compile") != NULL, i == 0);
		assert_int_equal(strstr(f->text, "1200 kernels of at most 10 µs take 4.8 ms of it.") != NULL, i == 0);
	}
}

/* Calls of 200 µs before kernels of 100 µs: half of the step. */
static void test_launch_calls(void **state)
{
	const struct finding *f = idle_finding(show(*state, &(struct program){.launch = 200 * US, .second = 7}));
	assert_non_null(f);
	assert_string_equal(f->id, "idle_launch_api");
	assert_float_equal(f->per_step[0], KERNELS * 100 * US, 40 * US);
	assert_non_null(strstr(f->text, "(50 %)"));
	assert_true(f->has_ceiling);
	assert_null(idle_finding(show(*state, &(struct program){.launch = 135 * US, .second = 7})));
}

/* Graphs that are made anew in each step are named, with what to do instead; now and then one is made in any program.
 */
static void test_graphs_made_anew(void **state)
{
	static const char advice[] = "anew, for 0.6 ms per step: instantiate once, then update (cudaGraphExecUpdate)";
	const struct finding *f =
		idle_finding(show(*state, &(struct program){.instantiates = 1, .launch = 100 * US, .second = 7}));
	assert_non_null(f);
	assert_string_equal(f->id, "idle_other_api");
	if (!strstr(f->advice, advice))
		fail_msg("%s", f->advice);
	f = idle_finding(show(*state, &(struct program){.instantiates = 2, .launch = 200 * US, .second = 7}));
	assert_non_null(f);
	assert_null(strstr(f->advice, "anew"));
}

/* What a launch costs may be a graph's to save; what a program does for 250 µs between two of them is its own. */
static void test_host_code_between_launches(void **state)
{
	struct program program = {.launch = 5 * US, .second = 7, .tiny = 30, .code = 150 * US};
	const struct analysis *a = show(*state, &program);
	assert_non_null(find(a, "launch_bound"));
	assert_null(find(a, "idle_host_code"));
	program.code = 250 * US;
	a = show(*state, &program);
	assert_null(find(a, "launch_bound"));
	assert_float_equal(find(a, "idle_host_code")->per_step[0], 30 * 250 * US, 200 * US);
}

/* A step that waits for results amid its launches fits no one graph. */
static void test_launches_amid_waits(void **state)
{
	for (int waits = 1; waits < 4; waits += 2) {
		struct program program = {.launch = 5 * US, .second = 7, .tiny = 300, .code = 10 * US, .waits = waits};
		const struct finding *f = find(show(*state, &program), "launch_bound");
		assert_non_null(f);
		assert_int_equal(strstr(f->text, "one graph may") != NULL, waits == 1);
	}
}

static void test_queued_work(void **state)
{
	struct program wait = {.launch = 5 * US, .late = 80 * US, .second = 8};
	const struct finding *f = idle_finding(show(*state, &wait));
	assert_non_null(f);
	assert_string_equal(f->id, "idle_dependency");
	assert_float_equal(f->per_step[0], KERNELS * 80 * US, 20 * US);
	assert_false(f->has_ceiling); /* the other stream's work may have to be done */
	wait.second = 7;              /* nothing to depend on */
	f = idle_finding(show(*state, &wait));
	assert_non_null(f);
	assert_string_equal(f->id, "idle_late_start");
	wait.late = 35 * US;
	assert_null(idle_finding(show(*state, &wait)));
}

/* A loader between the program's own steps, in gapline's step, which begins before it and ends in the next one. */
static void the_added_step_is_no_phase(void **state)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	struct scene *s = *state;
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		const int64_t t = i * 3 * MS, work = t + 2 * MS;
		scene_range(s, s->main, t, work - 10 * US, "data_load");
		scene_range(s, s->main, work, t + 3 * MS - 20 * US, "step");
		scene_range(s, s->main, t - 100 * US, t + 3 * MS - 110 * US, "gapline: step");
		for (int k = 0; k < KERNELS; k++) {
			maker_call(&s->m, s->main, work + (k + 1) * US, work + (k + 1) * US + 500, "cudaLaunchKernel",
			           CALL_LAUNCH, ++s->correlation);
			maker_op(&s->m, s->gpu, 7, OP_KERNEL, work + (k * 80 + 5) * US, work + (k + 1) * 80 * US,
			         "gemm", s->correlation);
		}
	}
	struct err err = {0};
	struct analysis *a = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run run = {.trace = maker_link(&s->m), .file = "profile"};
	if (analyse_one(&run, &defaults, &s->names, &s->arena, a, &err))
		fail_msg("%s", err.text);
	assert_string_equal(names_text(a->names, a->side[0].steps.name), "step");
	assert_string_equal(names_text(a->names, a->side[0].budget.rows[0].phase), "data_load");
}

int main(void)
{
	const struct CMUnitTest tests[] = {SCENE(test_short_kernels),       SCENE(test_launch_calls),
	                                   SCENE(test_graphs_made_anew),    SCENE(test_pages_of_kernels),
	                                   SCENE(test_queued_work),         SCENE(test_host_code_between_launches),
	                                   SCENE(test_launches_amid_waits), SCENE(the_added_step_is_no_phase)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
