/* Scenes with steps, for the tests of what a step is. */
#ifndef GAPLINE_TESTS_SCENE_STEPS_H
#define GAPLINE_TESTS_SCENE_STEPS_H

#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "name" with a number in it. */
static inline const char *numbered(struct scene *s, const char *format, int number)
{
	char text[128];
	snprintf(text, sizeof text, format, number);
	return arena_copy(&s->arena, text, strlen(text));
}

/* A kernel launched by a call of 5 ns at `launch`. */
static inline void kernel(struct scene *s, uint32_t thread, int64_t launch, int64_t start, int64_t end)
{
	scene_kernel(s, thread, launch, launch + 5, start, end);
}

/* The range that is the step; what repeats where none is one is not asked for here. */
static inline void step_expect(struct scene *s, const struct side *side, const char *name)
{
	assert_string_equal(steps_by_ranges(side->steps.origin) ? names_text(&s->names, side->steps.name) : "(none)",
	                    name);
}

/* `n` plain steps of 1000: range [1000 i, 1000 i + 900), one kernel [+200, +800) launched at +100. `format` may hold
 * a %d for the step's number. */
static inline void steps_plain(struct scene *s, int n, const char *format)
{
	for (int i = 0; i < n; i++) {
		int64_t t = 1000 * (int64_t)i;
		scene_range(s, s->main, t, t + 900, numbered(s, format, i));
		kernel(s, s->main, t + 100, t + 200, t + 800);
	}
}

#endif
