#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

void scene_trace_begin(struct scene *s)
{
	maker_init(&s->m, &s->arena, &s->names);
	s->process = maker_process(&s->m, 100);
	s->main = maker_thread(&s->m, s->process, 100);
	s->other = maker_thread(&s->m, s->process, 101);
	s->gpu = maker_device(&s->m, s->process, 0, TRACE_NONE);
	s->trace = NULL;
}

int scene_begin(void **state)
{
	struct scene *s = test_calloc(1, sizeof *s);
	names_init(&s->names, &s->arena);
	scene_trace_begin(s);
	s->warmup = -1;
	*state = s;
	return 0;
}

int scene_end(void **state)
{
	struct scene *s = *state;
	arena_release(&s->arena);
	test_free(s);
	return 0;
}

void scene_kernel(struct scene *s, uint32_t thread, int64_t l0, int64_t l1, int64_t start, int64_t end)
{
	maker_call(&s->m, thread, l0, l1, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, start, end, "gemm", s->correlation);
}

void scene_call(struct scene *s, uint32_t thread, int64_t start, int64_t end, const char *name, enum call_class class)
{
	maker_call(&s->m, thread, start, end, name, class, ++s->correlation);
}

void scene_range(struct scene *s, uint32_t thread, int64_t start, int64_t end, const char *name)
{
	maker_range(&s->m, thread, start, end, name, "", RANGE_PUSH_POP);
}

uint32_t scene_name(struct scene *s, const char *text)
{
	return names_add_text(&s->names, text);
}

const struct side *scene_analyse(struct scene *s)
{
	struct err err = {0};
	if (!s->trace)
		s->trace = maker_link(&s->m);
	struct analyse_run run = {.trace = s->trace, .file = "hand-made"};
	struct analyse_options options = {.step = s->step, .warmup = s->warmup, .gates.max_regression = -1};
	if (analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	return &s->result.side[0];
}

const struct analysis *scene_compare(struct scene *s, const struct trace *baseline, const struct trace *fixed)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = baseline, .file = "baseline"}, {.trace = fixed, .file = "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}
