/* What the copy that ends a gap brings: a step's input, a later one's, or what the host made of what it read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <string.h>

enum { US = 1000, MS = 1000 * US, STEPS = 48, FRAME = 1 << 20 };

/* A step: a copy to the device, a kernel, a read-back that ends the GPU's work, and host work behind it. */
struct program {
	int64_t back;     /* bytes that are read back; 0: a wait alone */
	bool after;       /* a kernel runs behind the read-back */
	bool ahead;       /* the copy is in a stream of its own, and the kernel begins while it runs */
	const char *call; /* that the host is in meanwhile; NULL: its own code */
};

static int64_t gpu(struct scene *s, int64_t t, enum op_kind kind, enum copy_kind copy, int64_t bytes, uint32_t stream,
                   int64_t length)
{
	const bool kernel = kind == OP_KERNEL;
	maker_call(&s->m, s->main, t, t + 2 * US, kernel ? "cudaLaunchKernel" : "cudaMemcpyAsync",
	           kernel ? CALL_LAUNCH : CALL_COPY, ++s->correlation);
	size_t row = maker_op(&s->m, s->gpu, stream, kind, t + 4 * US, t + 4 * US + length, kernel ? "k" : "copy",
	                      s->correlation);
	s->m.trace->ops.copy[row] = copy;
	s->m.trace->ops.bytes[row] = bytes;
	return t + 4 * US + length;
}

static const struct trace *run_of(struct scene *s, const struct program *p)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		const int64_t begin = t, copied = gpu(s, t, OP_COPY, COPY_H2D, FRAME, p->ahead ? 9 : 7, 100 * US);
		t = gpu(s, p->ahead ? t + 10 * US : copied, OP_KERNEL, 0, 0, 7, 400 * US);
		if (p->back)
			t = gpu(s, t, OP_COPY, COPY_D2H, p->back, 7, 50 * US);
		if (p->after)
			t = gpu(s, t, OP_KERNEL, 0, 0, 7, 50 * US);
		scene_call(s, s->main, t - US, t + 4 * US, "cudaStreamSynchronize", CALL_SYNC);
		t += 5 * US;
		if (p->call)
			maker_os_call(&s->m, s->main, t, t + 900 * US, p->call, OS_OTHER);
		t += 900 * US + i % 5;
		scene_range(s, s->main, begin, t, "step");
		t += US;
	}
	return maker_link(&s->m);
}

static const struct finding *find(struct scene *s, const struct program *p, const char *id)
{
	const struct trace *t = run_of(s, p);
	const struct analysis *a = scene_compare(s, t, t);
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, id) == 0)
			return &a->findings.list[i];
	return NULL;
}

/* Steps are marked: what ends one's work is worked on before the next one's copy, as far as no kernel ran since. */
static void what_ended_the_step_before_is_no_input(void **state)
{
	assert_non_null(find(*state, &(struct program){.back = FRAME}, "host_before_copy"));
	assert_null(find(*state, &(struct program){.back = FRAME}, "input_starvation"));
	assert_non_null(find(*state, &(struct program){.back = 4}, "input_starvation")); /* a loss */
	assert_non_null(find(*state, &(struct program){.back = FRAME, .after = true}, "input_starvation"));
}

/* A copy beside which another stream's kernels begin is of a later step: what the host does before it holds those up.
 * Without a read-back it may be that input all the same, and so it is where the host waits for who makes it. */
static void a_later_steps_input_is_there_in_time(void **state)
{
	assert_non_null(find(*state, &(struct program){.back = 4, .ahead = true}, "host_before_copy"));
	assert_null(find(*state, &(struct program){.back = 4, .ahead = true}, "input_starvation"));
	assert_non_null(find(*state, &(struct program){.ahead = true}, "input_starvation"));
	const struct program fed = {.back = 4, .ahead = true, .call = "pthread_cond_wait"};
	const struct finding *f = find(*state, &fed, "input_starvation");
	assert_non_null(f);
	assert_non_null(strstr(f->advice, "use more threads"));
	f = find(*state, &(struct program){.back = 4, .call = "read"}, "input_starvation");
	assert_non_null(f);
	assert_null(strstr(f->advice, "use more threads"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(what_ended_the_step_before_is_no_input),
		SCENE(a_later_steps_input_is_there_in_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
