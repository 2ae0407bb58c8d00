#include "base/spans.h"

#include "base/search.h"
#include "base/sort.h"

SORT_ORDER(compare_spans, int64_t, ASCENDING(x[0], y[0]))

void spans_join(struct spans *s, int64_t pause)
{
	size_t n = 0;
	SORT(s->at, s->n, compare_spans);
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->at[i][0] - s->at[n - 1][1] <= pause) {
			s->at[n - 1][1] = s->at[i][1] > s->at[n - 1][1] ? s->at[i][1] : s->at[n - 1][1];
			continue;
		}
		s->at[n][0] = s->at[i][0];
		s->at[n++][1] = s->at[i][1];
	}
	s->n = n;
}

bool spans_hold(const struct spans *s, int64_t t, int64_t *until)
{
	size_t i = 0;
	SEARCH(i, s->n, s->at[i][1] <= t);
	if (i == s->n)
		return false;
	bool in = s->at[i][0] <= t;
	int64_t change = s->at[i][in];
	*until = change < *until ? change : *until;
	return in;
}
