/* Samples of threads are held, and the rows that they are looked at with are not: a run gone through part by part says
 * what it says with all of its rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "analysed.h"
#include "draws.h"
#include "random_trace.h"
#include "read/digest.h"
#include "trace/again.h"
#include "trace/files.h"

#include <string.h>

/* A random trace whose threads are sampled, and that says what those did that held the lock. */
static struct trace *sampled_trace(unsigned seed, struct names *names, struct arena *arena)
{
	static const char *const stacks[] = {"main > load", "main > load > parse", "main > step", "main",
	                                     "start > wait"};
	enum { STACKS = sizeof stacks / sizeof *stacks };
	struct random random = {.state = seed};
	struct random_shape shape = {.length = 20000, .causal = true, .steps = true, .processes = 2, .max_calls = 60};
	struct maker m;
	maker_init(&m, arena, names);
	random_trace(&m, &shape, &random);
	struct trace *t = m.trace;
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		for (int64_t at = random_between(&random, 0, 2000); at < 20000;
		     at += 10 + random_between(&random, 0, 5))
			maker_sample(&m, thread, at, stacks[random_between(&random, 0, STACKS - 1)]);
	for (size_t i = 0; i < t->gil.n; i++)
		t->gil.stack[i] = t->samples.stack[(size_t)random_between(&random, 0, (int64_t)t->samples.n - 1)];
	t->source.sample_ns = seed % 2 ? 12 : 0;
	maker_link(&m);
	return t;
}

static char *json_of_sampled(unsigned seed, bool again, struct arena *arena)
{
	enum { FILES = 3 };
	struct names *names = ARENA_NEW(arena, 1, struct names);
	struct analyse_run runs[2];
	names_init(names, arena);
	for (unsigned side = 0; side < 2; side++) {
		struct merge_part parts[FILES];
		struct trace *whole = ARENA_NEW(arena, 1, struct trace);
		for (unsigned i = 0; i < FILES; i++) {
			struct names *own = ARENA_NEW(arena, 1, struct names);
			struct trace *packed = ARENA_NEW(arena, 1, struct trace);
			names_init(own, arena);
			struct trace *t = sampled_trace(seed * 6 + side * 3 + i, own, arena);
			t->source.sample_ns = seed % 2 ? 12 : 0; /* one sampler */
			assert_true(digest_hold(t, arena, names, arena, packed));
			parts[i] = (struct merge_part){.trace = packed, .map = {.offset = 500 * i}};
		}
		trace_merge(parts, FILES, whole, arena);
		assert_int_equal(whole->n_again, FILES);
		if (!again)
			again_load(whole, 0, FILES, AGAIN_ALL, arena, whole);
		runs[side] = (struct analyse_run){whole, "a"};
	}
	return analysed_json(runs, NULL, names, arena);
}

static void test_samples(void **state)
{
	(void)state;
	const unsigned seeds = draws_each(60);
	size_t with_functions = 0;
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct arena arena = {0};
		const char *whole = json_of_sampled(seed, false, &arena), *parts = json_of_sampled(seed, true, &arena);
		size_t at = 0;
		while (whole[at] && whole[at] == parts[at])
			at++;
		if (whole[at] || parts[at])
			fail_msg("seed %u: …%.300s… became …%.300s…", seed, whole + (at > 200 ? at - 200 : 0),
			         parts + (at > 200 ? at - 200 : 0));
		with_functions += strstr(whole, "\"parse\"") != NULL;
		arena_release(&arena);
	}
	assert_true(with_functions > seeds / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
