/* Which work is the program's where threads and processes share a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_steps.h"

#include <math.h>

/* Four threads hold a request each, while another one launches what is asked of all: each request counts. */
static void requests_of_threads_that_launch_nothing(void **state)
{
	struct scene *s = *state;
	uint32_t handler[4];
	for (int h = 0; h < 4; h++)
		handler[h] = maker_thread(&s->m, s->process, 300 + h);
	for (int64_t t = 0; t < 20000; t += 1000) {
		for (int h = 0; h < 4; h++)
			scene_range(s, handler[h], t + h, t + 900, "request");
		kernel(s, s->main, t + 100, t + 200, t + 800);
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "request");
	assert_in_range(side->runs[0].n_steps, 77, 80); /* those of the first end have no period */
	assert_true(fabs(side->headline.step - 250) < 5);
}

/* Another process on the GPU has ranges of the same name, of a shorter step: by other kernels it is another program,
 * and by the same ones a worker. As many of them, or on another GPU, are of the job. */
static void ranges_of_another_program(void **state)
{
	struct scene *s = *state;
	static const struct {
		const char *kernel;
		int64_t every;
		bool same_gpu;
		uint32_t ranks, least, most; /* of a step; steps */
	} cases[] = {{"crypto", 400, true, 1, 20, 20},
	             {"gemm", 400, true, 1, 65, 70},
	             {"crypto", 1000, true, 2, 20, 20},
	             {"crypto", 400, false, 1, 65, 70}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		scene_trace_begin(s);
		uint32_t gpu = maker_gpu(&s->m, "NVIDIA H200"), second = maker_gpu(&s->m, "NVIDIA H200");
		uint32_t process = maker_process(&s->m, 200), thread = maker_thread(&s->m, process, 200), id = 0;
		uint32_t device = maker_device(&s->m, process, 0, cases[i].same_gpu ? gpu : second);
		s->m.trace->devices[s->gpu].gpu = gpu;
		for (int64_t t = 0; t < 20000; t += 1000) {
			scene_range(s, s->main, t, t + 900, "step");
			kernel(s, s->main, t + 100, t + 200, t + 800);
			s->m.trace->ops.name[s->m.trace->ops.n - 1] = names_add(&s->names, "gemm", 4);
		}
		for (int64_t t = 50; t < 20000; t += cases[i].every) {
			scene_range(s, thread, t, t + 90, "step");
			maker_call(&s->m, thread, t + 10, t + 15, "cudaLaunchKernel", CALL_LAUNCH, ++id);
			maker_op(&s->m, device, 7, OP_KERNEL, t + 20, t + 80, cases[i].kernel, id);
		}
		const struct side *side = scene_analyse(s);
		const uint32_t n = side->runs[0].n_steps;
		if (n < cases[i].least || n > cases[i].most || side->steps.ranks != cases[i].ranks)
			fail_msg("case %zu: %u steps of %u ranks", i, n, side->steps.ranks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(requests_of_threads_that_launch_nothing),
		SCENE(ranges_of_another_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
