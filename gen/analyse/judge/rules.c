/* The rules: what each looks at, from which size on it speaks, what it would give, what to do. Evidence is behaviour:
 * what threads and devices did, never what the user's ranges are called. */
#include "analyse/judge/diagnosis.h"
#include "analyse/judge/rules_parts.h"

#include "analyse/say.h"

#include <math.h>
#include <string.h>

double rule_period(const struct evidence *e)
{
	return e->side->budget.period;
}

double rule_claim(struct evidence *e, bool (*fits)(const struct cell_key *idle))
{
	struct arena scratch = {0};
	double *by_phase = ARENA_NEW(&scratch, e->facts->n_idle + 1, double), best = 0;
	e->idle = 0;
	e->phase = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		e->claims[i] = !e->takers[i] && fits(&fact->key) && fact->key.once == (e->rule->kind == RULE_ONCE);
		if (!e->claims[i])
			continue;
		e->idle += fact->per_step;
		by_phase[fact->phase_slot] += fact->per_step;
		if (by_phase[fact->phase_slot] > best) {
			best = by_phase[fact->phase_slot];
			e->phase = fact->key.phase;
		}
	}
	arena_release(&scratch);
	return e->idle;
}

bool rule_costs(struct evidence *e, double busy, double least)
{
	e->busy = busy;
	e->amount = e->idle + busy;
	rule_note(e, "cost", FINDING_TIME, e->amount);
	if (e->amount < least * rule_period(e) || e->amount <= 0)
		return false;
	e->per_step = e->amount;
	e->ceiling = rule_period(e) - e->amount;
	return true;
}

void rule_wakes_cold(struct evidence *e)
{
	e->least = fmin(e->ceiling, diagnosis_floor(e->side, e->facts, NULL));
}

void rule_keep_silent(struct evidence *e)
{
	e->per_step = e->ceiling = 0;
}

void rule_blame(struct evidence *e, double calls, const char *kind)
{
	e->calls = calls;
	e->kind_of_call = kind;
}

void rule_note(struct evidence *e, const char *name, enum finding_unit unit, double value)
{
	if (e->n_numbers < FINDING_NUMBERS)
		e->number[e->n_numbers++] = (struct finding_number){name, unit, {value, 0}};
}

double rule_value(const struct evidence *e, const char *name)
{
	for (uint32_t i = 0; i < e->n_numbers; i++)
		if (strcmp(e->number[i].name, name) == 0)
			return e->number[i].value[0];
	return 0;
}

bool rule_is_host_time(enum cause cause)
{
	return cause == CAUSE_HOST_CODE || cause == CAUSE_HOST_BLOCKED || cause == CAUSE_GIL || cause == CAUSE_HANDOVER;
}

const char *rule_digits(const struct evidence *e, double value)
{
	return say_digits(e->arena, value);
}

const char *rule_ms(const struct evidence *e, const char *name)
{
	return rule_digits(e, rule_value(e, name) / 1e6);
}

double rule_share(const struct evidence *e, const char *name)
{
	return 100 * rule_value(e, name) / rule_period(e);
}

const char *rule_in_phase(const struct evidence *e)
{
	return e->phase ? arena_format(e->arena, " in %s", names_text(e->names, e->phase)) : "";
}

const char *rule_a_step(const struct evidence *e)
{
	return e->side->steps.found ? "a step" : "in the run";
}

#define RULE(name) find_##name, tell_##name, advise_##name

/* In the order in which they claim idle time: what a call's name proves, before what the order of events suggests. */
const struct rule rules[] = {
	{"module_load", "Module loading inside the window", RULE_PLAIN, RULE(module)},
	{"alloc_in_step", "Allocation on the critical path", RULE_PLAIN, RULE(alloc)},
	{"lock_contention", "Launching thread waits for a lock", RULE_PLAIN, RULE(lock)},
	{"gil_contention", "Launching thread waits for Python's GIL", RULE_PLAIN, RULE(gil)},
	{"paced", "Paced by a clock or by clients", RULE_PLAIN, RULE(paced)},
	{"managed_memory", "Managed-memory migration", RULE_PLAIN, RULE(managed)},
	{"input_starvation", "Input starvation", RULE_PLAIN, RULE(input)},
	{"host_before_copy", "Host work before a copy to the device", RULE_PLAIN, RULE(before_copy)},
	{"pageable_copies", "Copies from pageable memory", RULE_PLAIN, RULE(pageable)},
	{"serial_copies", "Copies that do not overlap", RULE_PLAIN, RULE(serial_copies)},
	{"host_work", "Host time on the critical path", RULE_PLAIN, RULE(host_work)},
	{"launch_bound", "Launch-bound", RULE_LAUNCH, RULE(launches)},
	{"host_after_sync", "Host time after a synchronisation", RULE_PLAIN, RULE(after_sync)},
	{"sync_every_step", "Synchronisation starves the GPU", RULE_SYNC, RULE(sync)},
	{"comm_exposed", "Communication not overlapped", RULE_PLAIN, RULE(comm)},
	{"pipeline_bubbles", "Pipeline bubbles", RULE_PLAIN, RULE(bubbles)},
	{"straggler", "One device waits for another", RULE_RANKS, RULE(straggler)},
	{"idle_host_code", "The launching thread's own code", RULE_PLAIN, RULE(idle)},
	{"idle_host_blocked", "The launching thread is blocked", RULE_PLAIN, RULE(idle)},
	{"idle_off_cpu", "The launching thread is off the processor", RULE_PLAIN, RULE(idle)},
	{"idle_handover", "Launching threads wait for each other", RULE_PLAIN, RULE(idle)},
	{"idle_sync_return", "Synchronising calls return late", RULE_PLAIN, RULE(idle)},
	{"idle_copy_api", "Copy calls hold up the GPU", RULE_PLAIN, RULE(idle)},
	{"idle_launch_api", "Launch calls hold up the GPU", RULE_PLAIN, RULE(idle)},
	{"idle_other_api", "Other CUDA calls hold up the GPU", RULE_PLAIN, RULE(idle)},
	{"idle_profiler", "The profiler holds up the GPU", RULE_PLAIN, RULE(idle)},
	{"idle_launch_latency", "Launches arrive late", RULE_PLAIN, RULE(idle)},
	{"idle_dispatch", "Gaps between queued operations", RULE_PLAIN, RULE(idle)},
	{"idle_dependency", "Queued work waits", RULE_PLAIN, RULE(idle)},
	{"idle_late_start", "Queued work starts late", RULE_PLAIN, RULE(idle)},
	{"idle_other_process", "Another process uses the GPU", RULE_PLAIN, RULE(idle)},
	{"idle_unattributed", "Idle time without a recorded cause", RULE_PLAIN, RULE(idle)},
	{"one_off_gaps", "Gaps that happened once", RULE_ONCE, RULE(once)},
	{"gpu_bound", "The GPU is the bottleneck", RULE_BOUND, RULE(gpu_bound)},
};
const size_t n_rules = sizeof rules / sizeof *rules;
