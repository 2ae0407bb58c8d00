/* Hand-made traces: a process with a GPU, a main thread that launches and one more thread, and short ways to add what
 * happens to them. Times in nanoseconds. Use with cmocka:
 *
 *	cmocka_unit_test_setup_teardown(test, scene_begin, scene_end)
 */
#ifndef GAPLINE_TESTS_SCENE_H
#define GAPLINE_TESTS_SCENE_H

#include "analyse/analyse.h"
#include "trace_maker.h"

struct scene {
	struct arena arena;
	struct names names;
	struct maker m;
	uint32_t process, gpu, main, other;
	uint32_t correlation;      /* last one used */
	const char *step;          /* --step, NULL: found automatically */
	int warmup;                /* --warmup, -1: found automatically */
	const struct trace *trace; /* linked by the first analysis */
	struct analysis result;
};

int scene_begin(void **state);
int scene_end(void **state);

/* Begins another trace in the scene; names are shared. */
void scene_trace_begin(struct scene *s);

/* A kernel on [start, end) of the GPU, launched by `thread` in a call on [l0, l1). */
void scene_kernel(struct scene *s, uint32_t thread, int64_t l0, int64_t l1, int64_t start, int64_t end);
void scene_call(struct scene *s, uint32_t thread, int64_t start, int64_t end, const char *name, enum call_class class);

/* A push/pop range of the default domain. */
void scene_range(struct scene *s, uint32_t thread, int64_t start, int64_t end, const char *name);

/* The id of a name; 0 for NULL. */
uint32_t scene_name(struct scene *s, const char *text);

/* Analyses the trace; fails the test with the message if that is refused. */
const struct side *scene_analyse(struct scene *s);

/* A test whose state is a scene. */
#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_begin, scene_end)

/* Both traces, a run each, beside each other: the first five steps are warm-up. Fails the test where they cannot be. */
const struct analysis *scene_compare(struct scene *s, const struct trace *baseline, const struct trace *fixed);

#endif
