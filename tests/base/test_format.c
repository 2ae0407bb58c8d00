#include "base/format.h"
#include "render/words.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#define MINUS "\xE2\x88\x92"
#define TIMES "\xC3\x97"
#define DOTS "\xE2\x80\xA6"

static struct arena arena;

static void times_in_the_unit_that_fits(void **state)
{
	(void)state;
	static const struct {
		double ns;
		const char *text;
	} cases[] = {{55642000, "55.64 ms"},      {1136500, "1.137 ms"},     {361000, "0.3610 ms"},
	             {99999, "100.00 \xC2\xB5s"}, {8700, "8.700 \xC2\xB5s"}, {123456789, "123.5 ms"},
	             {4900e6, "4900 ms"},         {70.25e9, "70.25 s"},      {0, "0 ms"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_time(&arena, cases[i].ns), cases[i].text);
}

static void nothing_and_little_differ(void **state)
{
	(void)state;
	struct unit unit = format_unit(55.64e6);
	assert_string_equal(unit.name, "ms");
	assert_int_equal(unit.decimals, 2);
	assert_string_equal(format_number(&arena, unit, 0), "0");
	assert_string_equal(format_number(&arena, unit, 4000), "<0.01");
	assert_string_equal(format_number(&arena, unit, 5001), "0.01");
	assert_string_equal(format_number(&arena, unit, -0.67e6), MINUS "0.67");
	assert_string_equal(format_change(&arena, unit, -31.04e6), MINUS "31.04");
	assert_string_equal(format_change(&arena, unit, 0.12e6), "+0.12");
	assert_string_equal(format_change(&arena, unit, 0), "0");
	assert_string_equal(format_change(&arena, unit, -300), "~0");
	assert_string_equal(format_number(&arena, unit, NAN), "?");
}

static void speedups_show_their_distance_from_one(void **state)
{
	(void)state;
	assert_string_equal(format_times(&arena, 2.2969, 2.2969), "2.30" TIMES);
	assert_string_equal(format_times(&arena, 1.0127, 1.0127), "1.013" TIMES);
	assert_string_equal(format_times(&arena, 0.9872, 0.9872), "0.987" TIMES);
	assert_string_equal(format_times(&arena, 1.2, 1.05), "1.200" TIMES); /* the bound of an interval around 1.05 */
	assert_string_equal(format_times(&arena, 43.21, 43.21), "43.2" TIMES);
	assert_string_equal(format_times(&arena, 0.6284, 0.6284), "0.628" TIMES);
	assert_string_equal(format_times(&arena, 0.16351, 0.1629), "0.164" TIMES);
	assert_string_equal(format_times(&arena, 0.01234, 0.01234), "0.0123" TIMES);
	assert_string_equal(format_times(&arena, 0.1041, 2.28), "0.104" TIMES); /* the bound of a wide interval */
}

static void the_ends_of_an_interval_differ(void **state)
{
	static struct analysis a; /* too large for the stack */
	(void)state;
	a.verdict = (struct verdict){
		.speedup = 1.4384, .lo = 1.4361, .hi = 1.4408, .has_speedup = true, .has_interval = true};
	assert_string_equal(words_interval(&a, &arena), "95 % CI 1.436 to 1.441" TIMES);
	a.verdict.lo = 1.43838;
	a.verdict.hi = 1.43842;
	assert_string_equal(words_interval(&a, &arena), "95 % CI 1.43838 to 1.43842" TIMES);
	a.verdict.lo = a.verdict.hi = 1.4384;
	assert_string_equal(words_interval(&a, &arena), "95 % CI 1.44 to 1.44" TIMES);
}

static void counts_and_bytes(void **state)
{
	(void)state;
	assert_string_equal(format_count(&arena, 302), "302");
	assert_string_equal(format_count(&arena, 5.7142), "5.71");
	assert_string_equal(format_count(&arena, 0.001), "<0.01");
	assert_string_equal(format_count_change(&arena, -42), MINUS "42");
	assert_string_equal(format_count_change(&arena, 1e-12), "0");
	assert_string_equal(format_bytes(&arena, 19267584), "19.3 MB");
	assert_string_equal(format_bytes(&arena, 4), "4 B");
	assert_string_equal(format_bytes(&arena, 999999), "1.00 MB");
	assert_string_equal(format_share(&arena, 0.5718), "57.2 %");
	assert_string_equal(format_share(&arena, 0.0001), "<0.1 %");
}

static void names_lose_their_middles(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned most;
		const char *text;
	} cases[] = {
		{"short", 8, "short"},
		{"void kernel<float, int>(float *)", 32, "void kernel<float, int>(float *)"},
		{"void kernel<std::array<char *, 3ul>, at::native::Functor<float> >(int)", 30,
	         "void kernel<" DOTS ">(int)"},
		{"void kernel<std::array<char *, 3ul>, at::native::Functor<float> >(int)", 50,
	         "void kernel<std::array<char " DOTS "Functor<float> >(int)"},
		{"reduce(at::TensorIterator&, at::Scalar const&, long)", 20, "reduce(" DOTS ")"},
		{"no_brackets_at_all_but_long", 11, "no_br" DOTS "_long"},
		{"a->b->c->d->e->f->g", 9, "a->b" DOTS "f->g"},
		{"<<<<<<<<<<<<<<<<<<<<", 8, "<<<<" DOTS "<<<"},
		{"\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 9,
	         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4" DOTS "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_name(&arena, cases[i].name, cases[i].most), cases[i].text);
}

/* Whatever the name and the room, the result fits, and is whole characters. */
static void names_always_fit(void **state)
{
	(void)state;
	static const char alphabet[][4] = {"<", ">", "(", ")", "-", "a", "b", "\xC3\xA4", "\xE2\x80\xA6", " "};
	uint64_t random = 7;
	for (int round = 0; round < 20000; round++) {
		char name[200] = "";
		random = random * 6364136223846793005u + 1442695040888963407u;
		int n = (int)(random >> 33) % 60;
		for (int i = 0; i < n; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			strcat(name, alphabet[(random >> 33) % 10]);
		}
		unsigned most = 8 + (unsigned)(random >> 40) % 40;
		const char *text = format_name(&arena, name, most);
		if (format_length(text) > most)
			fail_msg("\"%s\" in %u: \"%s\"", name, most, text);
		if (format_length(name) <= most)
			assert_string_equal(text, name);
		for (const char *c = text; *c; c++)
			if ((*c & 0xC0) == 0x80 && (c == text || !(c[-1] & 0x80)))
				fail_msg("\"%s\" splits a character", text);
		arena_release(&arena);
	}
}

static int release(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void kernels_lose_what_nobody_looks_for(void **state)
{
	(void)state;
	static const struct {
		const char *name, *text;
	} cases[] = {
		{"void cudnn::bn_fw_tr<float, 3>(T2, const T1 *)", "cudnn::bn_fw_tr<float, 3>"},
		{"axpy(float *, const float *, int)", "axpy"},
		{"sm90_xmma_gemm_f32f32", "sm90_xmma_gemm_f32f32"},
		{"void at::f<(lambda(int) (instance 1))>(int, T3)", "at::f<(lambda(int) (instance 1))>"},
		{"void (anonymous namespace)::step(int)", "(anonymous namespace)::step"},
		{"operator()", "operator"},
		{"(int)", "(int)"},       /* nothing before it */
		{"void (T)", "void (T)"}, /* nothing but a type */
		{"f)", "f)"},
		{"f(((g)", "f(("},
		{"void ", "void "},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_kernel(&arena, cases[i].name, 60), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(times_in_the_unit_that_fits, release),
		cmocka_unit_test_teardown(nothing_and_little_differ, release),
		cmocka_unit_test_teardown(speedups_show_their_distance_from_one, release),
		cmocka_unit_test_teardown(the_ends_of_an_interval_differ, release),
		cmocka_unit_test_teardown(counts_and_bytes, release),
		cmocka_unit_test_teardown(names_lose_their_middles, release),
		cmocka_unit_test_teardown(names_always_fit, release),
		cmocka_unit_test_teardown(kernels_lose_what_nobody_looks_for, release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
