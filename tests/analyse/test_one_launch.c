/* Programs of a few launches, in which nothing repeats: a run is its span, and kernels are compared one to one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/words.h"
#include "scene.h"

enum { US = 1000, READ_BACK = 5000 * US };

/* One launch of `length`, and unified memory that the host reads back for 5 ms after it: no call launches that. */
static const struct trace *trace_of(struct scene *s, int64_t length, int64_t start)
{
	scene_trace_begin(s);
	maker_call(&s->m, s->main, start, start + 2 * US, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, start + 5 * US, start + 5 * US + length, "vectorAdd(float *)",
	         s->correlation);
	int64_t end = start + 5 * US + length;
	size_t op = maker_op(&s->m, s->gpu, 7, OP_COPY, end + US, end + READ_BACK, "[Unified Memory]", 0);
	s->m.trace->ops.flags[op] |= OPF_MANAGED;
	return maker_link(&s->m);
}

/* 2310 and 66 us of one kernel are 35 times; with what the host reads back, 7.3 and 5.1 ms, they were 1.4. */
static void test_vector_add(void **state)
{
	struct scene *s = *state;
	struct err err = {0};
	struct analysis a;
	const struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
	const struct analyse_run runs[2] = {{trace_of(s, 2310 * US, 0), "1"}, {trace_of(s, 66 * US, 0), "2"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &options, &s->names, &s->arena, &a, &err))
		fail_msg("%s", err.text);
	assert_false(a.side[0].steps.found || a.verdict.has_interval);
	assert_float_equal(a.side[0].headline.step, 2310 * US, 0.5);
	assert_float_equal(a.side[1].headline.step, 66 * US, 0.5);
	assert_string_equal(words_once(&a, &s->arena),
	                    "vectorAdd 2.310 \xE2\x86\x92 0.0660 ms (35.0\xC3\x97), once per side.");
}

/* There is no other side to compare it with. */
static void test_one_profile(void **state)
{
	struct scene *s = *state;
	struct err err = {0};
	struct analysis a;
	const struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
	const struct analyse_run run = {trace_of(s, 2310 * US, 0), "1"};
	if (analyse_one(&run, &options, &s->names, &s->arena, &a, &err))
		fail_msg("%s", err.text);
	assert_string_equal(words_once(&a, &s->arena), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {SCENE(test_vector_add), SCENE(test_one_profile)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
