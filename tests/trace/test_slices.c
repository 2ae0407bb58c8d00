/* Slices from the scheduler's events, against a state machine over every nanosecond. */
#include "trace/slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONG = 64, THREADS = 3 };

/* What is said of [t, t + 1): '.' nothing, '+' on, '-' off. */
static void said_by(const struct trace_slices *s, uint32_t thread, char *said)
{
	memset(said, '.', LONG);
	int64_t last_end = -1;
	for (size_t i = 0; i < s->n; i++) {
		if (s->thread[i] != thread)
			continue;
		assert_true(s->start[i] <= s->end[i] && s->start[i] >= last_end);
		for (int64_t t = last_end; last_end >= 0 && t < s->start[i]; t++)
			said[t] = '-';
		for (int64_t t = s->start[i]; t < s->end[i]; t++)
			said[t] = '+';
		last_end = s->end[i];
	}
}

/* By the definition: off only between an event that takes the thread off and the next one, if that puts it on. */
static void expected(const struct slice_events *e, uint32_t thread, char *want)
{
	memset(want, '.', LONG);
	for (int64_t t = 0; t < LONG; t++) {
		int before = -1, after = -1;
		for (size_t i = 0; i < e->n; i++)
			if (e->thread[i] == thread && e->time[i] <= t && (before < 0 || e->time[i] >= e->time[before]))
				before = (int)i;
		for (size_t i = e->n; i-- > 0;)
			if (e->thread[i] == thread && e->time[i] > t && (after < 0 || e->time[i] <= e->time[after]))
				after = (int)i;
		if (before >= 0 && after >= 0)
			want[t] = !e->in[before] && e->in[after] ? '-' : '+';
	}
}

static void slices_are_what_the_events_say(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 3000; round++) {
		struct arena arena = {0};
		struct slice_events events = {0};
		struct trace_slices slices;
		int n = rand() % 20;
		for (int i = 0; i < n; i++)
			slices_note(&events, &arena, rand() % LONG, (uint32_t)(rand() % THREADS), rand() % 2);
		slices_build(&events, THREADS, &arena, &slices);
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			char said[LONG], want[LONG];
			said_by(&slices, thread, said);
			expected(&events, thread, want);
			assert_memory_equal(said, want, LONG);
		}
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(slices_are_what_the_events_say)};
	return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
