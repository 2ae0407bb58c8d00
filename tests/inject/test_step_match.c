/* Which texts are instances of a normalised name. */
#include "inject/step_match.c" /* of a library that is loaded into programs, not of libgapline */

#include "steps/fold.h"
#include "trace/again.h"
#include "trace_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_match(void **state)
{
	static const struct {
		const char *name, *text;
		bool matches;
	} cases[] = {
		{"step", "step", true},
		{"step", "step ", false},
		{"step", "ste", false},
		{"step", "", false},
		{"", "", true},
		{"step_#", "step_0", true},
		{"step_#", "step_1234567890123", true},
		{"step_#", "step_0x1f", true},
		{"step_#", "step_0x", false},
		{"step_#", "step_", false},
		{"step_#", "step_x", false},
		{"step_#", "step_12b", false},
		{"#xg", "0xg", true},
		{"# of #", "3 of 17", true},
		{"# of #", "3 of", false},
		{"iter#", "iter#12", true}, /* a number behind '#' is dropped */
		{"iter#", "iter12", true},
		{"iter#", "iter#", true},
		{"iter#", "iter", false},
		{"a#1", "a#1", true}, /* … unless it means something */
		{"a#1", "a#2", false},
		{"a#1", "a51", false},
		{"layer_1", "layer_1", true},
		{"layer_1", "layer_2", false},
		{"aten::add", "aten::add, seq = 2868, op_id = 28669", true}, /* lists are cut */
		{"aten::add", "aten::add, seq=2868", false},
		{"a, b", "a, b, c = 4", true},
		{"a, b", "a, b", true},
		{"step #", "step 7, lr = 0.1", true},
		{"\xc3\xa9#",
	         "\xc3\xa9"
	         "1",
	         true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (step_match(cases[i].name, cases[i].text, strlen(cases[i].text)) != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].name, cases[i].text);
}

/* The text ends where it is said to, whatever comes behind. */
static void test_length(void **state)
{
	(void)state;
	assert_true(step_match("step_#", "step_12", 6));
	assert_false(step_match("step_#", "step_12", 5));
	assert_false(step_match("a", "a, b = ", 5));
	assert_true(step_match("a", "a, b = ", 7));
}

/* The names are made by another piece of code: a text matches the name that it was given, and no other. */
static void test_names_as_they_are_made(void **state)
{
	static const char *const once[] = {"step_%d",  "iter#%d",  "epoch %d of 9", "%d",
	                                   "0x%x: go", "f(%d, 0)", "load, n = %d",  "batch%d/shard%d"};
	static const char *const often[] = {"h2d", "d2h", "layer_1", "layer_2", "a#1", "conv2d_3x3", "step_"};
	struct arena arena = {0};
	struct names names;
	struct maker m;
	struct fold fold;
	int64_t t = 0;
	(void)state;
	names_init(&names, &arena);
	maker_init(&m, &arena, &names);
	uint32_t thread = maker_thread(&m, maker_process(&m, 1), 1);
	for (int i = 0; i < 40; i++, t += 10) {
		for (size_t k = 0; k < sizeof once / sizeof *once; k++)
			maker_range(&m, thread, t, t + 1, arena_format(&arena, once[k], i, i), "", RANGE_PUSH_POP);
		for (size_t k = 0; k < 5 * sizeof often / sizeof *often; k++)
			maker_range(&m, thread, t, t + 1, often[k % (sizeof often / sizeof *often)], "",
			            RANGE_PUSH_POP);
	}
	const struct trace *trace = maker_link(&m);
	struct fold_counts counts = {0};
	uint32_t n;
	const struct again_ranges *ranges = again_count_ranges(trace, &arena, &n);
	fold_count(trace->names, ranges, n, 0, &arena, &counts);
	fold_decide(&counts, &names, 40, &arena, &fold);
	size_t folded = 0;
	for (size_t i = 0; i < trace->ranges.n; i += 7)
		for (size_t k = 0; k < trace->ranges.n; k += 5) {
			const char *text = names_text(&names, trace->ranges.name[i]);
			uint32_t mine = fold.of[trace->ranges.name[i]], other = fold.of[trace->ranges.name[k]];
			folded += strchr(names_text(&names, other), '#') != NULL;
			if (step_match(names_text(&names, other), text, strlen(text)) != (mine == other))
				fail_msg("'%s' is '%s', not '%s'", text, names_text(&names, mine),
				         names_text(&names, other));
		}
	assert_true(folded > 1000);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_match), cmocka_unit_test(test_length),
	                                   cmocka_unit_test(test_names_as_they_are_made)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
