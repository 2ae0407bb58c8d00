/* What happened once: named by itself, in no ceiling. */
#include "analyse/judge/rules_parts.h"

#include "analyse/say.h"

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

static const char *op_name(const struct evidence *e, uint32_t name)
{
	return name == TRACE_NONE ? "the end of what was captured" : names_text(e->names, name);
}

const char *tell_once(const struct evidence *e)
{
	const struct run *run = NULL;
	uint32_t n = 0;
	const struct once_gap *gap = longest_of(e->facts, &run, &n);
	if (!gap)
		return "";
	uint32_t phase = run_marked_phase(run, gap->phase);
	const char *where = phase ? arena_format(e->arena, " in %s", names_text(e->names, phase)) : "";
	const char *more =
		n > 1 ? arena_format(e->arena, " %u more such %s there.", n - 1, n == 2 ? "gap is" : "gaps are") : "";
	const char *but = e->side->steps.found
	                          ? "This is in the time of a step, but it is not repeated over the steps, and no "
	                            "ceiling counts on it."
	                          : "This is in the time of the run, but no ceiling counts on it.";
	return arena_format(
		e->arena,
		"Once, %s ms after the run's first GPU operation, the GPU waits %s ms (%s%s), between %s and "
		"%s.%s %s",
		rule_ms(e, "after"), rule_ms(e, "longest"), cause_label(gap->cause), where,
		say_short(e->arena, op_name(e, gap->before)), say_short(e->arena, op_name(e, gap->next)), more, but);
}

const char *advise_once(const struct evidence *e)
{
	return e->side->steps.found
	               ? "Leave it out of what is measured (--warmup, a shorter capture), or capture more steps."
	               : "Leave it out of what is measured (a shorter capture).";
}
