#include "capture/kernel_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* kernel_names.tsv: mangled name, what nsys or cu++filt made of it, nsys's short name (empty: not known). */
static void names_are_those_of_nsys(void **state)
{
	(void)state;
	FILE *file = fopen(TESTS_DIR "/capture/kernel_names.tsv", "r");
	assert_non_null(file);
	struct arena arena = {0};
	char *line = NULL;
	size_t room = 0, rows = 0, shorts = 0, wrong = 0;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		char *demangled = strchr(line, '\t');
		assert_non_null(demangled);
		*demangled++ = '\0';
		char *own = strchr(demangled, '\t');
		assert_non_null(own);
		*own++ = '\0';
		const char *have = kernel_name_demangled(&arena, line), *have_own = kernel_name_short(&arena, line);
		rows++;
		shorts += *own != '\0';
		if (strcmp(have, demangled) || (*own && strcmp(have_own, own))) {
			wrong++;
			print_message("%s\n  want %s | %s\n  have %s | %s\n", line, demangled, own, have, have_own);
		}
	}
	free(line);
	fclose(file);
	arena_release(&arena);
	print_message("%zu names, %zu of them with short names\n", rows, shorts);
	assert_true(rows > 400 && shorts > 200);
	assert_int_equal(wrong, 0);
}

static void what_is_not_understood_stays_as_it_is(void **state)
{
	(void)state;
	static const char *const names[] = {
		"",
		"main",
		"ampere_sgemm_64x32_sliced1x4_nt",
		"triton_poi_fused_add_0",
		"_Z",
		"_Zfoo",
		"_Z3fo",
		"_Z1fS_",
		"_Z1fiE",
		"_ZL3foov",
		"_ZTV1A",
		"_Z1fIiEvS9_",
		"_Z1f\xff",
		"_Z0v",
		"_Z99999999999999999999f",
		"_ZN1AE_",
	};
	struct arena arena = {0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_ptr_equal(kernel_name_demangled(&arena, names[i]), names[i]);
		assert_ptr_equal(kernel_name_short(&arena, names[i]), names[i]);
	}
	arena_release(&arena);
}

static char *repeated(const char *before, const char *what, size_t times, const char *after)
{
	char *text = malloc(strlen(before) + times * strlen(what) + strlen(after) + 1), *at = stpcpy(text, before);
	while (times--)
		at = stpcpy(at, what);
	strcpy(at, after);
	return text;
}

/* Every way to nest, as deep as a name may be long: refused, without using up the stack. */
static void depth_is_bounded(void **state)
{
	(void)state;
	static const char *const nests[] = {"P",    "PK",  "PF", "M",  "Dp", "A1_",  "1fI",   "N",      "Z",    "J",
	                                    "XngX", "Xng", "ng", "DT", "LP", "1aUl", "sr1aI", "1BclZ1", "d0_Z", "cv"};
	struct arena arena = {0};
	for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
		static const char *const starts[] = {"_Z", "_Z1f", "_Z1fI", "_Z1fIX", "_ZN"};
		for (size_t j = 0; j < sizeof starts / sizeof *starts; j++) {
			char *name = repeated(starts[j], nests[i], 60000 / strlen(nests[i]), "i");
			assert_ptr_equal(kernel_name_demangled(&arena, name), name);
			free(name);
		}
	}
	arena_release(&arena);
}

/* "S_", "S0_", … "SZ_", "S10_" */
static char *back_reference(char *at, size_t index)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	*at++ = 'S';
	for (size_t power = 36 * 36, rest = index - 1; index && power; rest %= power, power /= 36)
		if (rest >= power || index - 1 >= power || power == 1)
			*at++ = digits[rest / power];
	*at++ = '_';
	*at = '\0';
	return at;
}

/* The text doubles with every step; in the chain the tree gets deep without deep nesting. */
static void growth_is_bounded(void **state)
{
	(void)state;
	struct arena arena = {0};
	static char doubling[1000] = "_Z1f1AIiiE", chain[40000] = "_Z1fPi";
	char *at = doubling + strlen(doubling);
	for (size_t i = 1; i <= 10; i++) {
		at = stpcpy(at, "S_I");
		at = back_reference(back_reference(at, i), i);
		at = stpcpy(at, "E");
	}
	assert_int_equal(strncmp(kernel_name_demangled(&arena, doubling), "f(A<int, int>, A<A<int, int>, A<", 32), 0);
	for (size_t i = 11; i <= 40; i++) {
		at = stpcpy(at, "S_I");
		at = back_reference(back_reference(at, i), i);
		at = stpcpy(at, "E");
	}
	assert_ptr_equal(kernel_name_demangled(&arena, doubling), doubling);

	at = chain + strlen(chain);
	for (size_t i = 0; i < 100; i++)
		at = back_reference(stpcpy(at, "P"), i);
	assert_int_equal(strncmp(kernel_name_demangled(&arena, chain), "f(int *, int **, int ***, int ****", 34), 0);
	for (size_t i = 100; i < 5000; i++)
		at = back_reference(stpcpy(at, "P"), i);
	assert_ptr_equal(kernel_name_demangled(&arena, chain), chain);

	char *longest = repeated("_Z60000", "a", 60000, "v");
	assert_int_equal(strlen(kernel_name_demangled(&arena, longest)), 60002);
	assert_int_equal(strlen(kernel_name_short(&arena, longest)), 60000);
	free(longest);
	char *longer = repeated("_Z70000", "a", 70000, "v");
	assert_ptr_equal(kernel_name_demangled(&arena, longer), longer);
	free(longer);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_nsys),
		cmocka_unit_test(what_is_not_understood_stays_as_it_is),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(growth_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
