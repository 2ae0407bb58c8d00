/* Was the diagnosis right (docs/method/analysis.md, Diagnosis)? */
#ifndef GAPLINE_ANALYSE_JUDGE_DIAGNOSIS_H
#define GAPLINE_ANALYSE_JUDGE_DIAGNOSIS_H

#include "analyse/judge/findings.h"

/* The step if everything that is resolved were perfectly fixed, never above the ceiling of any one of them; and how
 * much of the gain that explains. `resolved`: n findings of the baseline. */
struct diagnosis diagnosis_judge(const struct evidence *const *resolved, size_t n, const struct findings_input *in);

/* The least that a step takes when the host is not waited for: the GPU's work, and the waiting that is none of the
 * host's doing. `without`: by index into the idle facts, what is claimed by others anyway; may be NULL. */
double diagnosis_floor(const struct side *side, const struct side_facts *facts, const bool *without);

#endif
