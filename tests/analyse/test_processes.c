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

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(requests_of_threads_that_launch_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
