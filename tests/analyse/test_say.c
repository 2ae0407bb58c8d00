/* Numbers in sentences: what a person would write, at every size. */
#include "analyse/analysis.h"
#include "result/say.h"
#include "result/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena arena;

static void digits_without_an_exponent(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *text;
	} rows[] = {{0, "0"},           {0.00002, "<0.001"}, {0.00123, "0.00123"},
	            {2.5, "2.5"},       {31.04, "31"},       {999.4, "999"},
	            {999.6, "1000"},    {2143.7, "2144"},    {1234567, "1234567"},
	            {-2143.7, "-2144"}, {12.345, "12.3"},    {1e9, "1000000000"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(say_digits(&arena, rows[i].value), rows[i].text);
}

/* The causes are right; a step that is 24 % longer than predicted is not what was predicted. */
static void what_a_prediction_is(void **state)
{
	(void)state;
	struct diagnosis d = {.result = DIAGNOSIS_CONFIRMED, .combined_ceiling = 1.374e6, .measured = 1.698e6};
	assert_string_equal(diagnosis_said(&d), "longer");
	d.measured = 1.5e6;
	assert_string_equal(diagnosis_said(&d), "confirmed");
	d.measured = 1.19e6;
	assert_string_equal(diagnosis_said(&d), "shorter");
}

static void ordinals(void **state)
{
	(void)state;
	static const struct {
		size_t n;
		const char *text;
	} rows[] = {{2, "2nd"},     {3, "3rd"},     {4, "4th"},    {11, "11th"}, {12, "12th"},
	            {13, "13th"},   {20, "20th"},   {21, "21st"},  {22, "22nd"}, {100, "100th"},
	            {101, "101st"}, {111, "111th"}, {123, "123rd"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(say_ordinal(&arena, rows[i].n), rows[i].text);
}

static void bytes_in_their_unit(void **state)
{
	(void)state;
	static const struct {
		double bytes;
		const char *text;
	} rows[] = {{0, "0 bytes"},     {1, "1 byte"},       {999.4, "999 bytes"}, {999.7, "1000 bytes"},
	            {12500, "12.5 kB"}, {6.29e6, "6.29 MB"}, {2.5e10, "25000 MB"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(say_bytes(&arena, rows[i].bytes), rows[i].text);
}

static void gpus_whose_names_begin_alike(void **state)
{
	(void)state;
	struct names names;
	names_init(&names, &arena);
	uint32_t large = names_add_text(&names, "A100 80GB"), plain = names_add_text(&names, "A100");
	const struct trace_gpu gpus[] = {
		{.name = large}, {.name = plain}, {.name = plain}, {.name = large, .clock_hz = 1410000000}};
	struct say_gpus said = {.text = ""};
	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
		say_gpu(&said, &arena, &names, &gpus[i]);
	assert_string_equal(said.text, "A100 80GB, A100, A100 80GB at up to 1410 MHz");
}

static int release(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_prediction_is),
	                                   cmocka_unit_test(digits_without_an_exponent), cmocka_unit_test(ordinals),
	                                   cmocka_unit_test(bytes_in_their_unit),
	                                   cmocka_unit_test(gpus_whose_names_begin_alike)};
	return cmocka_run_group_tests(tests, NULL, release);
}
