/* Stretches of waiting for the interpreter's lock from what samples say, worked out by hand. */
#include "trace/gil_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { EVERY = 100 };

struct calls {
	uint32_t n;
	int64_t start[8], end[8]; /* of thread 0 */
};

/* "start-end:holder/stack …" of the stretches that looks at two threads give; thread 2 is unknown. */
static void stretches(const struct gil_look *look, size_t n, const struct calls *calls, const char *want)
{
	struct arena arena = {0};
	struct gil_looks looks = {0};
	uint32_t first[3] = {0, calls->n, calls->n};
	struct trace t = {.n_threads = 2,
	                  .calls = {.n = calls->n, .start = (int64_t *)calls->start, .end = (int64_t *)calls->end},
	                  .first_call = first};
	const uint32_t thread[] = {0, 1, TRACE_NONE};
	char said[512] = "";
	for (size_t i = 0; i < n; i++)
		gil_note(&looks, &arena, &look[i]);
	gil_build(&looks, thread, EVERY, &arena, &t);
	for (size_t i = 0; i < t.gil.n; i++)
		snprintf(said + strlen(said), sizeof said - strlen(said), "%s%u:%lld-%lld:%u/%u", i ? " " : "",
		         t.gil.thread[i], (long long)t.gil.start[i], (long long)t.gil.end[i], t.gil.holder[i],
		         t.gil.stack[i]);
	assert_string_equal(said, want);
	assert_int_equal(t.first_gil[2], t.gil.n);
	arena_release(&arena);
}
#define STRETCHES(calls, want, ...)                                                                                    \
	stretches((const struct gil_look[]){__VA_ARGS__},                                                              \
	          sizeof((const struct gil_look[]){__VA_ARGS__}) / sizeof(struct gil_look), calls, want)
#define NOT(time, thread)                                                                                              \
	{                                                                                                              \
		time, thread, TRACE_NONE, 0, false                                                                     \
	}
#define WAITS(time, thread, holder, stack)                                                                             \
	{                                                                                                              \
		time, thread, holder, stack, true                                                                      \
	}

static const struct calls none = {0};

static void test_two_agree(void **state)
{
	(void)state;
	STRETCHES(&none, "", NOT(0, 0), WAITS(100, 0, 1, 5), NOT(200, 0));
	STRETCHES(&none, "0:50-150:1/5 0:150-260:1/6", NOT(0, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 6),
	          NOT(320, 0));
	/* the first and the last that there are reach as far as samples are apart */
	STRETCHES(&none, "0:50-150:1/5 0:150-250:1/5", WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5));
	/* looks at another thread lie between them */
	STRETCHES(&none, "0:50-150:1/0 0:150-250:1/0 1:-50-50:0/0 1:50-150:0/0", WAITS(0, 1, 0, 0), WAITS(100, 0, 1, 0),
	          WAITS(100, 1, 0, 0), WAITS(200, 0, 1, 0));
	/* too far apart to agree on what lies between them */
	STRETCHES(&none, "", WAITS(0, 0, 1, 5), WAITS(100 * EVERY + 1, 0, 1, 5));
	STRETCHES(&none, "0:-50-5000:1/5 0:5000-10050:1/5", WAITS(0, 0, 1, 5), WAITS(100 * EVERY, 0, 1, 5));
}

static void test_holder(void **state)
{
	(void)state;
	/* not known, or of a thread of which nothing is: the thread itself, and nothing is said of what it did */
	STRETCHES(&none, "0:50-150:0/0 0:150-250:0/0", WAITS(100, 0, TRACE_NONE, 0), WAITS(200, 0, 2, 7));
	STRETCHES(&none, "", WAITS(100, 2, 1, 0), WAITS(200, 2, 1, 0));
}

/* What is inside a call is known, so a look in there says nothing of the time outside. */
static void test_calls(void **state)
{
	(void)state;
	const struct calls around = {2, {0, 290}, {60, 400}};
	STRETCHES(&around, "0:60-150:1/5 0:150-290:1/5", NOT(20, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5),
	          NOT(300, 0));
	const struct calls nested = {4, {0, 10, 290, 300}, {90, 40, 400, 310}};
	STRETCHES(&nested, "0:90-150:1/5 0:150-290:1/5", NOT(20, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5),
	          NOT(300, 0));
	/* a call before the look before: the waiting began half way */
	const struct calls before = {1, {0}, {10}};
	STRETCHES(&before, "0:60-150:1/5 0:150-250:1/5", NOT(20, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5),
	          NOT(300, 0));
	/* inside a call that goes on, with one that is over in it */
	const struct calls inside = {1, {50}, {500}}, within = {2, {10, 65}, {500, 80}};
	STRETCHES(&inside, "0:60-150:1/5 0:150-250:1/5", NOT(20, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5),
	          NOT(300, 0));
	STRETCHES(&within, "0:60-150:1/5 0:150-250:1/5", NOT(20, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5),
	          NOT(300, 0));
	/* a call behind the next look: the waiting ended half way */
	const struct calls behind = {1, {350}, {400}};
	STRETCHES(&behind, "0:60-150:1/5 0:150-250:1/5", NOT(20, 0), WAITS(100, 0, 1, 5), WAITS(200, 0, 1, 5),
	          NOT(300, 0));
	/* nothing is left of a look that another one at the same time follows, where a call ends */
	const struct calls ending = {1, {20}, {100}};
	STRETCHES(&ending, "0:100-150:1/6", NOT(0, 0), WAITS(100, 0, 1, 5), WAITS(100, 0, 1, 6), NOT(200, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_agree), cmocka_unit_test(test_holder),
	                                   cmocka_unit_test(test_calls)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
