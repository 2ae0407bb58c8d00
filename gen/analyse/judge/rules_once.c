/* What happened once: named by itself, in no ceiling. */
#include "analyse/judge/rules_parts.h"

static bool fits_once(const struct cell_key *idle)
{
	(void)idle;
	return true;
}

/* The longest gap that happened once, and its run; NULL: there is none. */
static const struct once_gap *longest_of(const struct side_facts *facts, const struct run **of, uint32_t *n)
{
	const struct once_gap *longest = NULL;
	*n = 0;
	for (size_t r = 0; r < facts->n_runs; r++)
		for (uint32_t d = 0; d < facts->runs[r].n_devices; d++) {
			const struct device_run *device = &facts->runs[r].devices[d];
			for (uint32_t i = 0; i < device->n_once; i++) {
				const struct once_gap *gap = &device->once[i];
				(*n)++;
				if (longest && gap->end - gap->start <= longest->end - longest->start)
					continue;
				longest = gap;
				*of = &facts->runs[r];
			}
		}
	return longest;
}

void find_once(struct evidence *e)
{
	const struct run *run = NULL;
	uint32_t n = 0;
	const struct once_gap *gap = longest_of(e->facts, &run, &n);
	rule_claim(e, fits_once);
	rule_note(e, "gaps", FINDING_COUNT, n);
	rule_note(e, "longest", FINDING_TIME, gap ? (double)(gap->end - gap->start) : 0);
	rule_note(e, "after", FINDING_TIME, gap ? (double)(gap->start - run->first_op) : 0);
	rule_costs(e, 0, SMALL);
	e->ceiling = 0;
}

const struct fact *tell_once(const struct evidence *e)
{
	const struct run *run = NULL;
	uint32_t n = 0;
	const struct once_gap *gap = longest_of(e->facts, &run, &n);
	if (!gap)
		return NULL;
	bool at_begin = gap->before == TRACE_NONE, at_end = gap->next == TRACE_NONE;
	return FACT_NEW(e->arena, one_off_gaps, e->side_no, .after = rule_value(e, "after"),
	                .longest = rule_value(e, "longest"), .cause = cause_name(gap->cause),
	                .phase = run_marked_phase(run, gap->phase), .at_begin = at_begin,
	                .before = at_begin ? 0 : gap->before, .at_end = at_end, .next = at_end ? 0 : gap->next,
	                .more = n - 1, .unit = rule_unit(e));
}
