#include "analysed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
