/* Stretches of waiting for the interpreter's lock from what samples say, worked out by hand. */
#include "trace/samples.h"

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
	struct trace_thread threads[2] = {{0}, {0}};
	struct trace t = {.n_threads = 2,
	                  .threads = threads,
	                  .n_processes = 1,
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
		time, thread, TRACE_NONE, 0, 0, false                                                                  \
	}
#define WAITS(time, thread, holder, stack)                                                                             \
	{                                                                                                              \
		time, thread, holder, stack, 0, true                                                                   \
	}

/* Of a thread that waits, or not, for thread 1, after so many changes of hands. */
#define AT(time, thread, switches, waits)                                                                              \
	{                                                                                                              \
		time, thread, 1, 5, switches, waits                                                                    \
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
	STRETCHES(&none, "", WAITS(0, 0, 1, 5), WAITS(4 * EVERY + 1, 0, 1, 5));
	STRETCHES(&none, "0:-50-200:1/5 0:200-450:1/5", WAITS(0, 0, 1, 5), WAITS(4 * EVERY, 0, 1, 5));
}

/* Where the lock did not change hands a thread that waits cannot have had it, however long ago the look before was. */
static void test_switches(void **state)
{
	(void)state;
	STRETCHES(&none, "0:-50-5000:1/5 0:5000-10050:1/6", AT(0, 0, 7, true), {10000, 0, 1, 6, 7, true});
	STRETCHES(&none, "", AT(0, 0, 7, true), AT(10000, 0, 8, true));
	STRETCHES(&none, "", AT(0, 0, 0, true), AT(10000, 0, 0, true));
	/* half a distance belongs to each of those that are too far apart */
	STRETCHES(&none, "0:-50-50:1/5 0:50-150:1/5 0:9950-10050:1/5 0:10050-10150:1/5", AT(0, 0, 7, true),
	          AT(100, 0, 7, true), AT(10000, 0, 8, true), AT(10100, 0, 8, true));
	/* it began to wait: nobody knows when */
	STRETCHES(&none, "0:9950-10050:1/5 0:10050-10150:1/5", AT(0, 0, 7, false), AT(10000, 0, 7, true),
	          AT(10100, 0, 7, true));
}

/* "thread:start-end …" of the time from 0 to 20000 in which nobody looked at threads 0 and 1, of one process, or with
 * `apart` of two. */
static void unlooked(bool apart, const struct gil_look *look, size_t n, const char *want)
{
	struct arena arena = {0};
	struct gil_looks looks = {0};
	uint32_t first[4] = {0, 1, 2, 2};
	int64_t start[2] = {0, 0}, end[2] = {1, 1};
	struct trace_thread threads[3] = {{.process = 0}, {.process = apart}, {.process = 0}};
	struct trace t = {.n_threads = 3, /* the third one calls nothing */
	                  .threads = threads,
	                  .n_processes = 1 + apart,
	                  .calls = {.n = 2, .start = start, .end = end},
	                  .first_call = first,
	                  .last_time = 20000};
	const uint32_t thread[] = {0, 1, 2};
	char said[512] = "";
	for (size_t i = 0; i < n; i++)
		gil_note(&looks, &arena, &look[i]);
	gil_build(&looks, thread, EVERY, &arena, &t);
	for (size_t i = 0; i < t.unlooked.n; i++)
		snprintf(said + strlen(said), sizeof said - strlen(said), "%s%u:%lld-%lld", i ? " " : "",
		         t.unlooked.thread[i], (long long)t.unlooked.start[i], (long long)t.unlooked.end[i]);
	assert_string_equal(said, want);
	assert_int_equal(t.first_unlooked[3], t.unlooked.n);
	arena_release(&arena);
}
#define UNLOOKED(apart, want, ...)                                                                                     \
	unlooked(apart, (const struct gil_look[]){__VA_ARGS__},                                                        \
	         sizeof((const struct gil_look[]){__VA_ARGS__}) / sizeof(struct gil_look), want)

static void test_unlooked(void **state)
{
	(void)state;
	/* nobody ever looked: that is said elsewhere */
	unlooked(false, NULL, 0, "");
	/* before the first round, between rounds that are far apart, behind the last one; of both threads */
	UNLOOKED(false, "0:0-950 0:1450-9950 0:10050-20000 1:0-950 1:1450-9950 1:10050-20000", AT(1000, 0, 0, false),
	         AT(1400, 0, 0, true), AT(10000, 0, 0, true));
	/* rounds are of all threads: a look at one says of another without a look that it was none of Python's */
	UNLOOKED(false, "0:1150-19650 1:1150-19650", AT(0, 0, 0, false), AT(400, 1, 0, false), AT(800, 0, 0, false),
	         AT(1100, 1, 0, true), AT(19700, 0, 0, false), AT(20000, 1, 0, false));
	/* what the lock's changes tell, of the thread that was looked at; who began to wait meanwhile tells nothing */
	UNLOOKED(false, "1:50-19950", AT(0, 0, 7, true), AT(20000, 0, 7, true));
	UNLOOKED(false, "1:50-19950", AT(0, 0, 7, false), AT(20000, 0, 7, false));
	UNLOOKED(false, "0:50-19950 1:50-19950", AT(0, 0, 7, false), AT(20000, 0, 7, true));
	UNLOOKED(false, "0:50-19950 1:50-19950", AT(0, 0, 7, true), AT(20000, 0, 8, true));
	/* several holes in between two looks at a thread of which the lock's changes tell */
	UNLOOKED(false, "1:50-9950 1:10050-19950", AT(0, 0, 7, true), AT(10000, 2, 7, true), AT(20000, 0, 7, true));
	/* a process at which nobody looked, beside one at which somebody did */
	UNLOOKED(true, "0:50-19950 1:0-20000", AT(0, 0, 0, true), AT(20000, 0, 0, true));
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
	                                   cmocka_unit_test(test_calls), cmocka_unit_test(test_switches),
	                                   cmocka_unit_test(test_unlooked)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
