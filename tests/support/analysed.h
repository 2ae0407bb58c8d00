/* What a test of whole analyses needs: memory, names and the result. Use with cmocka, as its state or a part of it:
 *
 *	cmocka_unit_test_setup_teardown(test, analysed_begin, analysed_end)
 */
#ifndef GAPLINE_TESTS_ANALYSED_H
#define GAPLINE_TESTS_ANALYSED_H

#include "analyse/analyse.h"

struct analysed {
	struct arena arena;
	struct names names;
	struct analysis result;
};

/* The state is a struct analysed, or a larger struct that begins with one. */
int analysed_begin(void **state);
int analysed_begin_in(void **state, size_t bytes);
int analysed_end(void **state);

/* The report of runs[0] as baseline beside runs[1], as JSON in `arena`; where the analysis fails, its error. `step`:
 * --step NAME, or NULL. */
char *analysed_json(const struct analyse_run runs[2], const char *step, struct names *names, struct arena *arena);

#endif
