/* What happened once: named by itself, in no ceiling. */
#include "analyse/judge/rules_parts.h"

static bool fits_once(const struct cell_key *idle)
{
	(void)idle;
	return true;
}

/* The run with the longest gap that happened once; NULL: there is none. `n`: how many there are. */
static const struct run_table *longest_of(const struct side_facts *facts, uint32_t *n)
{
	const struct run_table *longest = NULL;
	*n = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		*n += run->n_once;
		if (run->n_once &&
		    (!longest || run->once.end - run->once.start > longest->once.end - longest->once.start))
			longest = run;
	}
	return longest;
}

void find_once(struct evidence *e)
{
	uint32_t n = 0;
	const struct run_table *run = longest_of(e->facts, &n);
	rule_claim(e, fits_once);
	rule_note(e, "gaps", FINDING_COUNT, n);
	rule_note(e, "longest", FINDING_TIME, run ? (double)(run->once.end - run->once.start) : 0);
	rule_note(e, "after", FINDING_TIME, run ? (double)(run->once.start - run->first_op) : 0);
	rule_costs(e, 0, SMALL);
	e->ceiling = 0;
}

const struct fact *tell_once(const struct evidence *e)
{
	uint32_t n = 0;
	const struct run_table *run = longest_of(e->facts, &n);
	if (!run)
		return NULL;
	const struct once_gap *gap = &run->once;
	bool at_begin = gap->before == TRACE_NONE, at_end = gap->next == TRACE_NONE;
	return FACT_NEW(e->arena, one_off_gaps, e->side_no, .after = rule_value(e, "after"),
	                .longest = rule_value(e, "longest"), .cause = cause_name(gap->cause), .phase = gap->phase,
	                .at_begin = at_begin, .before = at_begin ? 0 : gap->before, .at_end = at_end,
	                .next = at_end ? 0 : gap->next, .more = n - 1, .unit = rule_unit(e));
}
