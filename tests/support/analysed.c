#include "analysed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/render.h"

int analysed_begin_in(void **state, size_t bytes)
{
	struct analysed *s = test_calloc(1, bytes);
	names_init(&s->names, &s->arena);
	*state = s;
	return 0;
}

int analysed_begin(void **state)
{
	return analysed_begin_in(state, sizeof(struct analysed));
}

int analysed_end(void **state)
{
	struct analysed *s = *state;
	arena_release(&s->arena);
	test_free(s);
	return 0;
}

char *analysed_json(const struct analyse_run runs[2], const char *step, struct names *names, struct arena *arena)
{
	struct analyse_options options = {.warmup = -1, .step = step, .gates.max_regression = -1};
	struct analysis analysis;
	struct buf json = {0};
	struct err err;
	int result = analyse_pair(&runs[0], 1, &runs[1], 1, &options, names, arena, &analysis, &err);
	if (result < 0)
		return arena_format(arena, "%s", err.text);
	assert_int_equal(render_json(&analysis, &json, &err), 0);
	char *copy = arena_copy(arena, json.data, json.n);
	buf_release(&json);
	return copy;
}
