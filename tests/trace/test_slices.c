/* Slices from the scheduler's events, against a state machine over every nanosecond. */
#include "trace/samples.h"

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

/* By the definition: off only between an event that takes the thread off and the next one, if that puts it on. Of
 * several at one instant nobody knows the order; a thread goes on and off in turns, so what there is more of decides
 * where it is then, and as much of both changes nothing. */
static void expected(const struct slice_events *e, uint32_t thread, char *want)
{
	memset(want, '.', LONG);
	int in[LONG] = {0}, out[LONG] = {0};
	for (size_t i = 0; i < e->n; i++)
		if (e->thread[i] == thread)
			(e->in[i] ? in : out)[e->time[i]]++;
	bool on = false;
	for (int64_t t = 0, next, first = -1; t < LONG; t++) {
		on = in[t] == out[t] ? on : in[t] > out[t];
		first = first < 0 && (in[t] || out[t]) ? t : first;
		for (next = t + 1; next < LONG && !in[next] && !out[next];)
			next++;
		if (first >= 0 && next < LONG)
			want[t] = !on && in[next] ? '-' : '+';
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
