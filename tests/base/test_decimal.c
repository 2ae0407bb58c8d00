/* Numbers as bytes, each against what printf makes of it. */
#include "base/format.h"
#include "draws.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state_of_random = 1;

static uint64_t random_bits(void)
{
	state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
	return state_of_random >> 11;
}

/* Coordinates, times, ties and their neighbours, whole numbers, and any double there is. */
static double random_number(void)
{
	static const double unit[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.25, 0.125, 1, 10, 1e6};
	double value = (double)(random_bits() % 2000001) * unit[random_bits() % 13];
	switch (random_bits() % 6) {
	case 0:
		value = nextafter(value, 0);
		break;
	case 1:
		value = nextafter(value, INFINITY);
		break;
	case 2:
		value += (double)(random_bits() % 1000) * 1e-9;
		break;
	case 3: {
		uint64_t bits = random_bits() << 11 | random_bits() >> 42;
		memcpy(&value, &bits, sizeof value);
		break;
	}
	default:
		break;
	}
	return random_bits() % 3 ? value : -value;
}

static void trim(char *text)
{
	char *end = text + strlen(text);
	while (end[-1] == '0')
		*--end = 0;
	if (end[-1] == '.')
		end[-1] = 0;
	if (strcmp(text, "-0") == 0)
		strcpy(text, "0");
}

static void short_ones_are_printfs(void **state)
{
	(void)state;
	char mine[DECIMAL_ROOM], theirs[DECIMAL_ROOM];
	for (int round = 0; round < draws(1000000); round++) {
		double value = random_number();
		int digits = 1 + (int)(random_bits() % 9);
		snprintf(theirs, sizeof theirs, "%.*g", digits, value);
		size_t n = decimal_short(mine, value, digits);
		assert_string_equal(mine, theirs);
		assert_int_equal(n, strlen(theirs));
	}
}

static void fixed_ones_are_printfs(void **state)
{
	(void)state;
	char mine[DECIMAL_ROOM], theirs[DECIMAL_ROOM];
	for (int round = 0; round < draws(1000000); round++) {
		double value = random_number();
		int decimals = (int)(random_bits() % 10);
		if (fabs(value) < 1e15) {
			snprintf(theirs, sizeof theirs, "%.*f", decimals, value);
			if (decimals)
				trim(theirs);
			else if (strcmp(theirs, "-0") == 0)
				strcpy(theirs, "0");
		} else {
			snprintf(theirs, sizeof theirs, "%.17g", value);
		}
		size_t n = decimal_fixed(mine, value, decimals);
		assert_string_equal(mine, theirs);
		assert_int_equal(n, strlen(theirs));
	}
}

static void exact_ones_are_the_shortest_that_come_back(void **state)
{
	(void)state;
	char mine[DECIMAL_ROOM], theirs[DECIMAL_ROOM];
	for (int round = 0; round < draws(1000000); round++) {
		/* half of them as the JSON has them: nanoseconds, in milliseconds */
		double value =
			round % 2 ? random_number() : (double)(int64_t)(random_bits() >> random_bits() % 53) / 1e6;
		if (!isfinite(value))
			continue;
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(theirs, sizeof theirs, "%.*g", digits, value);
			if (strtod(theirs, NULL) == value)
				break;
		}
		size_t n = decimal_exact(mine, value);
		assert_string_equal(mine, theirs);
		assert_int_equal(n, strlen(theirs));
	}
}

static void integers_are_printfs(void **state)
{
	(void)state;
	char mine[DECIMAL_ROOM], theirs[DECIMAL_ROOM];
	static const int64_t edge[] = {0, 1, -1, 9, 10, -10, 99, 100, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < 100000; i++) {
		int64_t value = i < 10 ? edge[i] : (int64_t)(random_bits() << 11) >> random_bits() % 64;
		snprintf(theirs, sizeof theirs, "%lld", (long long)value);
		size_t n = decimal_integer(mine, value);
		assert_string_equal(mine, theirs);
		assert_int_equal(n, strlen(theirs));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_ones_are_printfs),
		cmocka_unit_test(fixed_ones_are_printfs),
		cmocka_unit_test(exact_ones_are_the_shortest_that_come_back),
		cmocka_unit_test(integers_are_printfs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
