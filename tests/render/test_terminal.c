#include "base/format.h"
#include "fixture_analysis.h"
#include "render/render.h"
#include "render/words.h"
#include "said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARROW "\xE2\x86\x92"
#define TIMES "\xC3\x97"

static void print(enum fixture which, const struct look *look, struct arena *arena, struct buf *out)
{
	struct analysis a;
	fixture_analysis(which, arena, &a);
	if (which == FIXTURE_ONE)
		render_side(&a, look, out);
	else
		render_verdict(&a, look, out);
}

static void the_verdict_in_words(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	print(FIXTURE_PAIR, NULL, &arena, &out);
	assert_string_equal(
		out.data,
		"Faster 2.30" TIMES ", 95 % CI 2.22 to 2.38" TIMES ", one run per side\n"
		"  per step    55.64 " ARROW " 24.22 ms\n"
		"              18.0 " ARROW " 41.3 steps per second, GPU busy 43.4 % " ARROW " 99.0 %.\n"
		"  why         GPU waits for host code in data_load: 31.04 " ARROW " 0 ms per step.\n"
		"  prediction  Prediction met: 24.36 ms predicted, 24.22 ms measured. The fixed findings explain 99.6\n"
		"              % of the gain of 32.09 ms.\n"
		"  work        Same work\n"
		"  next        The GPU is almost never idle: make its kernels faster.\n"
		"  caveats     Only one run per side: a different GPU clock would look like a change. More runs of\n"
		"              each side measure that (gapline run --repeat).\n"
		"  gate        Needs ≥ 1.50×; measured 2.30× (2.22 to 2.38): passed.\n"
		"  gapline     " GAPLINE_VERSION "\n");
	buf_release(&out);
	arena_release(&arena);
}

/* The start-up line of a pair that gains 31.42 ms a step, when the fixed side starts later by 2 s of its own. */
static bool says_payback(bool whole, double profiler, double loading, const char *words)
{
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	for (int s = 0; s < 2; s++) {
		struct startup *start = &a.side[s].startup;
		*start = (struct startup){
			.ns = 100e6 + loading, .whole = whole, .row = {{STARTUP_BEFORE_CUDA, 100e6}}, .n_rows = 1};
		if (loading > 0)
			start->row[start->n_rows++] = (struct startup_row){STARTUP_MODULE_LOAD, loading};
	}
	struct startup *later = &a.side[1].startup;
	later->ns += 2000e6 + profiler;
	later->row[0].ns += 2000e6;
	later->row[later->n_rows++] = (struct startup_row){STARTUP_PROFILER, profiler};
	render_verdict(&a, NULL, &out);
	for (char *end = out.data; (end = strstr(end, "\n              "));) /* a wrapped line is one */
		memmove(end, end + 14, strlen(end + 14) + 1);
	bool says = strstr(out.data, words) != NULL;
	buf_release(&out);
	arena_release(&arena);
	return says;
}

static void a_later_start_is_won_back_in_steps(void **state)
{
	/* 2000 ms in steps that are 55.64 - 24.22 = 31.42 ms shorter: 63.7 of them. What the profiler took is not the
	 * fix's, and a profile that saw no start has none to win back. */
	(void)state;
	assert_true(says_payback(true, 1e3, 0, "it takes about 64 steps to win"));
	assert_true(says_payback(true, 900e6, 0, "it takes about 64 steps to win"));
	assert_true(says_payback(false, 900e6, 5e6, "it takes about 64 steps to win"));
	assert_false(says_payback(false, 900e6, 0, "to win"));
}

static void an_inconclusive_one_says_what_it_takes(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	print(FIXTURE_INCONCLUSIVE, NULL, &arena, &out);
	assert_non_null(
		strstr(out.data, "Inconclusive 2.30" TIMES ", measured 6 and 21 times: too few for an interval\n"));
	assert_non_null(strstr(out.data, "  next        Capture at least 20 measured steps per side.\n"));
	assert_non_null(
		strstr(out.data, "  gate        Needs ≥ 1.50×; inconclusive: too little data for an interval.\n"));
	buf_release(&out);
	arena_release(&arena);
}

static const char *printed(const struct analysis *a, struct buf *out)
{
	out->n = 0;
	render_verdict(a, NULL, out);
	return out->data;
}

static void what_stands_above_is_no_caveat(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_INCONCLUSIVE, &arena, &a);
	const char *reason = say_fact(a.verdict.reasons.list[0], a.names, &arena);
	render_verdict(&a, NULL, &out);
	assert_non_null(strstr(strstr(out.data, "  caveats"), arena_format(&arena, "%.30s", reason)));
	buf_release(&out);
	facts_add(&a.comparison.differences, &arena, a.verdict.reasons.list[0]);
	render_verdict(&a, NULL, &out);
	const char *first = strstr(out.data, arena_format(&arena, "%.30s", reason));
	assert_non_null(first);
	assert_null(strstr(first + 1, arena_format(&arena, "%.30s", reason)));
	buf_release(&out);
	arena_release(&arena);
}

static void the_number_of_runs_is_true(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	assert_int_equal(a.side[0].n_runs, 1);
	for (int s = 0; s < 2; s++) {
		const struct run_result one = a.side[s].runs[0];
		a.side[s].runs = ARENA_NEW(&arena, 2, struct run_result);
		a.side[s].runs[0] = a.side[s].runs[1] = one;
	}
	a.side[0].n_runs = 2;
	assert_non_null(strstr(printed(&a, &out), " to 2.38" TIMES ", only one run of one side\n"));
	a.side[1].n_runs = 2;
	a.verdict.one_run = false;
	assert_non_null(strstr(printed(&a, &out), " to 2.38" TIMES "\n"));
	buf_release(&out);
	arena_release(&arena);
}

/* Of a step and a run no arrow is made, and a GPU that is busy for part of a step that is set aside is said to be. */
static void what_is_no_pair_is_none(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	a.verdict.aside[1] = 1;
	assert_non_null(strstr(printed(&a, &out), "GPU busy 43.4 % " ARROW " 99.0 % (counting the step set aside).\n"));
	a.side[1].steps.found = false;
	assert_non_null(
		strstr(printed(&a, &out),
	               "  measured    55.64 ms per step of the baseline, 24.22 ms per run of the fixed side\n"));
	buf_release(&out);
	arena_release(&arena);
}

static void a_typical_step_has_its_own_line(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	assert_null(strstr(printed(&a, &out), "typical step"));
	const struct fact *typical = FACT_NEW(&arena, typical_step, FACT_NO_SIDE, .speedup = 0.95, .low = 0.92,
	                                      .high = 0.99, .why = fact_that_says(&arena, "Why."));
	a.verdict.reasons = (struct facts){0};
	facts_add(&a.verdict.reasons, &arena, fact_that_says(&arena, "First."));
	facts_add(&a.verdict.reasons, &arena, typical);
	facts_add(&a.verdict.reasons, &arena, fact_that_says(&arena, "Last."));
	a.verdict.typical_line = typical;
	assert_non_null(
		strstr(printed(&a, &out),
	               "\n              By typical steps, the speedup is 0.950\xC3\x97 (0.920 to 0.990). Why.\n"));
	assert_non_null(strstr(out.data, "  caveats     First.\n              Last.\n"));
	buf_release(&out);
	arena_release(&arena);
}

static void a_diagnosis_that_is_not_judged_says_why(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	a.findings.diagnosis.result = DIAGNOSIS_NONE;
	assert_non_null(strstr(printed(&a, &out), "  prediction  Not judged, as no speedup is proven: "));
	assert_non_null(strstr(out.data, "24.36 ms predicted, 24.22 ms measured."));
	a.findings.diagnosis = (struct diagnosis){0};
	assert_null(strstr(printed(&a, &out), "prediction"));
	buf_release(&out);
	arena_release(&arena);
}

/* What is not named has a sentence where its largest part is worth a name; the page says the same of its last line. */
static void the_rest_names_its_largest_part(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	assert_null(strstr(printed(&a, &out), "Everything else"));
	a.waterfall.largest = &(struct waterfall_part){.kind = PART_COPY, .delta = -310000};
	a.waterfall.rest = 1230000;
	const char *text = words_change(&a, &arena);
	assert_non_null(strstr(text, " Everything else (largest part: Copies, not overlapped, \xE2\x88\x92"
	                             "0.31 ms): +1.23 ms per step."));
	buf_release(&out);
	arena_release(&arena);
}

static void clocks_are_one_line(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_ONE, &arena, &a);
	render_side(&a, NULL, &out);
	assert_non_null(strstr(out.data, "\n  clocks      under load (40 samples), SM 1755 (1710 to 1980) MHz, 693 "
	                                 "(612 to 701) W, 64 (58 to 66)\n              \xC2\xB0"
	                                 "C; held back by: power cap in 60 %, heat in 5 %\n"));
	a.side[0].devices[0].clocks.samples = 0;
	out.n = 0;
	render_side(&a, NULL, &out);
	assert_null(strstr(out.data, "clocks"));
	buf_release(&out);
	arena_release(&arena);
}

static void sums_over_gpus_have_no_share(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_DEVICES, &arena, &a);
	a.side[0] = a.side[1]; /* the one with two GPUs */
	render_side(&a, NULL, &out);
	const char *kernels = strstr(out.data, "Kernels and whole graph launches, summed over GPUs, ms per step\n"),
		   *end = kernels ? strstr(kernels, "Findings") : NULL;
	assert_non_null(end);
	for (const char *c = kernels; c < end; c++)
		assert_true(*c != '%');
	buf_release(&out);
	arena_release(&arena);
}

static void lines_fit_and_hold_no_control_characters(void **state)
{
	(void)state;
	for (int i = 0; i < FIXTURE_COUNT; i++) {
		struct arena arena = {0};
		struct buf out = {0};
		print((enum fixture)i, NULL, &arena, &out);
		for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n")) {
			if (format_length(line) > 100)
				fail_msg("%s: %u columns: %s", fixture_name((enum fixture)i), format_length(line),
				         line);
			for (const char *c = line; *c; c++)
				if ((unsigned char)*c < 0x20 || *c == 0x7F)
					fail_msg("%s: control character in: %s", fixture_name((enum fixture)i), line);
		}
		buf_release(&out);
		arena_release(&arena);
	}
}

static void escapes_from_elsewhere_are_stopped(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	struct analysis a;
	fixture_analysis(FIXTURE_PAIR, &arena, &a);
	a.verdict.reasons = (struct facts){0};
	facts_add(&a.verdict.reasons, &arena,
	          fact_that_says(&arena, "\033[2Jgone \xC2\x9B"
	                                 "31m \x7F"));
	render_verdict(&a, NULL, &out);
	assert_non_null(strstr(out.data, "  caveats     ?[2Jgone ?31m ?\n"));
	buf_release(&out);
	arena_release(&arena);
}

static void colour_only_when_asked_for(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf plain = {0}, coloured = {0};
	print(FIXTURE_ONE, NULL, &arena, &plain);
	print(FIXTURE_ONE, &(struct look){true, LOOK_MOST}, &arena, &coloured);
	assert_null(strchr(plain.data, '\033'));
	assert_non_null(strstr(coloured.data, "\033[1mBudget, mean over GPUs, ms per step\033[0m\n"));
	buf_release(&plain);
	buf_release(&coloured);
	arena_release(&arena);
}

static void one_profile(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf out = {0};
	print(FIXTURE_ONE, NULL, &arena, &out);
	assert_non_null(strstr(out.data, "       31.88   56.6 %  GPU idle\n"));
	assert_non_null(strstr(out.data, "       31.04   55.1 %  host code in data_load\n"));
	assert_non_null(strstr(out.data, "        0.36    0.6 %  host code between phases\n"));
	assert_non_null(strstr(out.data, "  and 30 more\n"));
	assert_non_null(strstr(out.data,
	                       "  Input starvation\n    The GPU waits 31.04 ms a step for host code in data_load.\n"));
	buf_release(&out);
	arena_release(&arena);
}

/* The page, the Markdown and the terminal head a result alike; a finding of which nobody knows what became of it has a
 * side. */
static void headings_say_the_same(void **state)
{
	(void)state;
	for (int recorded = 0; recorded < 2; recorded++) {
		static const char *const heading[] = {"Faster 2.30\xC3\x97,", "Faster 2.30\xC3\x97 while profiled,"};
		static const char *const title[] = {"### Faster 2.30\xC3\x97\n",
		                                    "### Faster 2.30\xC3\x97 while profiled\n"};
		struct arena arena = {0};
		struct analysis a;
		struct buf html = {0}, markdown = {0}, terminal = {0};
		struct err err;
		fixture_analysis(FIXTURE_PAIR, &arena, &a);
		a.while_recorded = recorded;
		if (recorded)
			FACT_ADD(&a.verdict.reasons, &arena, recorded_speedup, FACT_NO_SIDE, .unit = "step",
			         .allows = "nothing");
		assert_int_equal(render_html(&a, &html, &err), 0);
		assert_non_null(strstr(html.data, ">2.30\xC3\x97 faster<"));
		assert_int_equal(strstr(html.data, "<li>This is the speedup of the profiled programs.") != NULL,
		                 recorded);
		render_verdict(&a, NULL, &terminal);
		assert_memory_equal(terminal.data, heading[recorded], strlen(heading[recorded]));
		assert_int_equal(render_markdown(&a, &(struct markdown_wish){0}, &markdown, &err), 0);
		assert_memory_equal(markdown.data, title[recorded], strlen(title[recorded]));
		assert_non_null(strstr(markdown.data, "** (in the fixed side): "));
		buf_release(&html);
		buf_release(&markdown);
		buf_release(&terminal);
		arena_release(&arena);
	}
}

/* The words of a text, one blank between them. */
static const char *words_of(struct arena *arena, const char *text)
{
	const char *out = "";
	for (size_t n; *(text += strspn(text, " \n")); text += n) {
		n = strcspn(text, " \n");
		out = arena_format(arena, "%s %.*s", out, (int)n, text);
	}
	return out;
}

static void narrow_terminals_show_the_same_words(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct buf wide = {0};
	print(FIXTURE_PAIR, NULL, &arena, &wide);
	for (unsigned columns = LOOK_LEAST; columns < LOOK_MOST; columns += 20) {
		struct buf out = {0};
		print(FIXTURE_PAIR, &(struct look){false, columns}, &arena, &out);
		assert_string_equal(words_of(&arena, out.data), words_of(&arena, wide.data));
		const char *line = strchr(out.data, '\n') + 1; /* the heading stays whole */
		for (size_t n; *line; line += n + 1) {
			n = strcspn(line, "\n");
			assert_true(format_length(arena_copy(&arena, line, n)) <= columns);
		}
		buf_release(&out);
	}
	buf_release(&wide);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_in_words),
		cmocka_unit_test(narrow_terminals_show_the_same_words),
		cmocka_unit_test(a_later_start_is_won_back_in_steps),
		cmocka_unit_test(an_inconclusive_one_says_what_it_takes),
		cmocka_unit_test(what_stands_above_is_no_caveat),
		cmocka_unit_test(the_number_of_runs_is_true),
		cmocka_unit_test(what_is_no_pair_is_none),
		cmocka_unit_test(a_typical_step_has_its_own_line),
		cmocka_unit_test(a_diagnosis_that_is_not_judged_says_why),
		cmocka_unit_test(sums_over_gpus_have_no_share),
		cmocka_unit_test(the_rest_names_its_largest_part),
		cmocka_unit_test(clocks_are_one_line),
		cmocka_unit_test(lines_fit_and_hold_no_control_characters),
		cmocka_unit_test(escapes_from_elsewhere_are_stopped),
		cmocka_unit_test(colour_only_when_asked_for),
		cmocka_unit_test(one_profile),
		cmocka_unit_test(headings_say_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
