/* Findings of a pair of programs as scene_program.h has them. */
#ifndef GAPLINE_TESTS_FINDINGS_PAIR_H
#define GAPLINE_TESTS_FINDINGS_PAIR_H

#include "scene_program.h"

#include <math.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US };

static const struct program healthy = {.kernel = 100 * US, .kernels = 30};

static inline const struct analysis *compare_programs(struct scene *s, struct program baseline, struct program fixed)
{
	const struct trace *a = scene_program(s, &baseline);
	return scene_compare(s, a, scene_program(s, &fixed));
}

static inline const struct finding *finding_of(const struct analysis *a, const char *id, int side)
{
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, id) == 0 &&
		    (a->findings.list[i].side == side || a->findings.list[i].both))
			return &a->findings.list[i];
	return NULL;
}

/* Asserts that the baseline's only finding besides gpu_bound is `id` (NULL: none), at about `ns` a step. */
static inline const struct finding *expect_only(const struct analysis *a, const char *id, double ns)
{
	const struct finding *found = NULL;
	for (uint32_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.list[i];
		if ((f->side != 0 && !f->both) || strcmp(f->id, "gpu_bound") == 0)
			continue;
		if (!id || strcmp(f->id, id) != 0)
			fail_msg("unexpected: %s: %s", f->id, f->text);
		found = f;
	}
	if (!id)
		return NULL;
	assert_non_null(found);
	if (fabs(found->per_step[0] / ns - 1) > 0.03)
		fail_msg("%s costs %.0f ns a step, not %.0f: %s", id, found->per_step[0], ns, found->text);
	return found;
}

#endif
