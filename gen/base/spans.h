/* Spans of time. */
#ifndef GAPLINE_BASE_SPANS_H
#define GAPLINE_BASE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each [at[i][0], at[i][1]), ns. After spans_join they are sorted and neither overlap nor touch. */
struct spans {
	int64_t (*at)[2];
	size_t n;
};

/* Sorts them; those that are at most `pause` ns apart become one. */
void spans_join(struct spans *spans, int64_t pause);

/* Whether `t` is in one of the joined spans; lowers `until` to where that changes. */
bool spans_hold(const struct spans *spans, int64_t t, int64_t *until);

#endif
