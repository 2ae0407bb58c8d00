/* Facts, and the words that they become. What the texts of the catalogue are is theirs: here is what the grammar makes
 * of a text, and what a fact must be. */
#include "said.h"
#include "say/template.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena arena;

static void a_fact_is_its_parameters(void **state)
{
	(void)state;
	const struct fact *fact = FACT_NEW(&arena, no_rhythm_yet, 1, .slow = 2, .of = 40, .steps = 64);
	assert_int_equal(fact->id, FACT_no_rhythm_yet);
	assert_int_equal(fact->side, 1);
	assert_int_equal(fact_info[fact->id].n, 3);
	assert_string_equal(fact_info[fact->id].param[1].name, "of");
	assert_int_equal(fact->value[1].count, 40);
	assert_string_equal(
		said(fact, NULL),
		"The fixed side has two slow steps in 40: too few to show a rhythm. About 64 steps would show it.");
	fact = FACT_NEW(&arena, no_rhythm_yet, 0, .slow = 1, .of = 40, .steps = 64);
	assert_string_equal(
		said(fact, NULL),
		"The baseline has one slow step in 40: too few to show a rhythm. About 64 steps would show it.");
}

/* Without a short form the text stands for it; there is no other form. */
static void forms(void **state)
{
	(void)state;
	const struct fact *fact = FACT_NEW(&arena, step_by_step, FACT_NO_SIDE);
	assert_string_equal(say_form(fact, SAY_SHORT, NULL, &arena), say_form(fact, SAY_TEXT, NULL, &arena));
	assert_string_equal(say_form(fact, SAY_ADVICE, NULL, &arena), "");
	assert_null(said(NULL, NULL));
}

/* An optional piece is there only if what it needs is known. */
static void what_is_not_known(void **state)
{
	(void)state;
	assert_string_equal(
		said(FACT_NEW(&arena, could_have_shown, FACT_NO_SIDE, .change = 0.0312, .spread = NAN), NULL),
		"A change below 3 % would not show. Use a quieter machine or more runs.");
	assert_string_equal(
		said(FACT_NEW(&arena, could_have_shown, FACT_NO_SIDE, .change = 0.0012, .spread = 0.061), NULL),
		"A change below 0.1 % would not show: these runs differ by 6 %. Use a quieter machine or more runs.");
	assert_string_equal(
		said(FACT_NEW(&arena, could_have_shown, FACT_NO_SIDE, .change = 0.0312, .halving = 8, .spread = NAN),
	             NULL),
		"A change below 3 % would not show. 8 runs of each side would halve that.");
	assert_string_equal(said(FACT_NEW(&arena, could_have_shown, FACT_NO_SIDE, .change = 0.72, .large = true,
	                                  .times = 1.72, .spread = NAN),
	                         NULL),
	                    "Only a change by 1.72\xC3\x97 or more would show. Use a quieter machine or more runs.");
	assert_string_equal(
		said(FACT_NEW(&arena, machine_state, FACT_NO_SIDE, .gpu = 0.001, .slower_gpu = "none",
	                      .slower_host = "unknown", .allows = "host", .busy = "none", .calls = "none",
	                      .copies = "none"),
	             NULL),
		"Shared work: kernels take as long (0.1 %), launches are too few to compare. The interval allows for "
		"another state of the host.");
}

static const char *slow(double least, double most)
{
	return said(FACT_NEW(&arena, slow_steps, 0, .slow = 3, .of = 90, .least = least, .most = most, .time = 0.004),
	            NULL);
}

static void ranges(void **state)
{
	(void)state;
	assert_non_null(strstr(slow(1.44, 9.9), " are 1.4 to 9.9 times slower (less than 1 % of the time)"));
	assert_non_null(strstr(slow(1.41, 1.44), " are 1.4 times slower"));
	const struct fact *near =
		FACT_NEW(&arena, only_recorded, FACT_NO_SIDE, .result = "faster", .low = 1.0004, .high = 1.0023);
	assert_non_null(strstr(said(near, NULL), " is 1.000 to 1.002."));
}

static const struct fact *cycle_of(size_t n, double first)
{
	struct facts *times = ARENA_NEW(&arena, 1, struct facts);
	for (size_t i = 0; i < n; i++)
		facts_add(times, &arena, FACT_NEW(&arena, cycle_step, FACT_NO_SIDE, .time = first * (double)(i + 1)));
	return FACT_NEW(&arena, cycle, 0, .steps = (int64_t)n, .times = times);
}

static void facts_within_facts(void **state)
{
	(void)state;
	assert_string_equal(
		said(cycle_of(3, 1.5e6), NULL),
		"Steps of the baseline repeat in cycles of 3 (1.5, 3, 4.5 ms); the mean of a cycle counts.");
	assert_true(fact_same(cycle_of(3, 1e6), cycle_of(3, 1e6)));
	assert_false(fact_same(cycle_of(3, 1e6), cycle_of(3, 2e6)));
	assert_false(fact_same(cycle_of(3, 1e6), cycle_of(2, 1e6)));
	assert_false(fact_same(fact_that_says(&arena, "a"), fact_that_says(&arena, "b")));
	assert_true(fact_same(fact_that_says(&arena, "a"), fact_that_says(&arena, arena_copy(&arena, "a", 1))));
}

/* What the build refuses; check_catalogue.py looks whether it does. */
static void wrong_texts(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"{nobody}",          "{slow",        "[{slow}",          "a | b",    "}",
		"{slow:ms}",         "{slow?1=one}", "{slow?one=a|*=b}", "{slow#a}", "{slow#a|b|c}",
		"{side?baseline=a}", "{slow..side}", "{side:amount}",    "{slow?}",  "{}"};
	static const char *const right[] = {"",
	                                    "\\{slow\\}",
	                                    "{slow}{side}",
	                                    "{slow?0=|1=a {of}|*=[{steps}]}",
	                                    "{slow#step|steps}",
	                                    "{slow..of}",
	                                    "{side?baseline=a|*=b}"};
	struct err err;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (template_parse(wrong[i], &fact_info[FACT_no_rhythm_yet], &arena, NULL, &err))
			fail_msg("taken: %s", wrong[i]);
	for (size_t i = 0; i < sizeof right / sizeof *right; i++)
		if (!template_parse(right[i], &fact_info[FACT_no_rhythm_yet], &arena, NULL, &err))
			fail_msg("%s: %s", right[i], err.text);
	bool used[FACT_PARAMS] = {false};
	assert_non_null(template_parse("{of}", &fact_info[FACT_no_rhythm_yet], &arena, used, &err));
	assert_true(!used[0] && used[1] && !used[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fact_is_its_parameters), cmocka_unit_test(forms),
		cmocka_unit_test(what_is_not_known),        cmocka_unit_test(ranges),
		cmocka_unit_test(facts_within_facts),       cmocka_unit_test(wrong_texts),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_release(&arena);
	return failed;
}
