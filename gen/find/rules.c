/* The rules: what each looks at, from which size on it speaks, what it would give, what to do. Evidence is behaviour:
 * what threads and devices did, never what the user's ranges are called. */
#include "find/rules_parts.h"

#include <math.h>
#include <string.h>

double rule_period(const struct evidence *e)
{
	return e->side->budget.period;
}

double rule_sum(struct evidence *e)
{
	ARENA_LOCAL(scratch);
	double *by_phase = ARENA_NEW(&scratch, e->facts->n_idle + 1, double), best = 0;
	e->idle = 0;
	e->phase = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		if (!e->claims[i])
			continue;
		e->idle += fact->per_step;
		by_phase[fact->phase_slot] += fact->per_step;
		if (by_phase[fact->phase_slot] > best) {
			best = by_phase[fact->phase_slot];
			e->phase = fact->key.phase;
		}
	}
	return e->idle;
}

double rule_claim(struct evidence *e, bool (*fits)(const struct cell_key *idle))
{
	const bool once = e->rule->kind == RULE_ONCE;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct cell_key *key = &e->facts->idle[i].key;
		const bool fitting = fits ? fits(key) : once || key->cause == e->rule->cause;
		e->claims[i] = fitting && key->once == once && !e->takers[i];
	}
	return rule_sum(e);
}

/* The call that more than half of what is claimed is spent in; NULL: none. */
static const char *longest_call(const struct evidence *e)
{
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		double time = 0;
		for (uint32_t k = 0; k < e->facts->n_idle && e->claims[i]; k++)
			if (e->claims[k] && e->facts->idle[k].key.call == e->facts->idle[i].key.call)
				time += e->facts->idle[k].per_step;
		if (e->facts->idle[i].key.call && time > e->idle / 2)
			return names_text(e->names, e->facts->idle[i].key.call);
	}
	return NULL;
}

static const double MOST_OF_IT = 0.5; /* of what the straggler is longer: so much makes it late */

/* What other devices wait for the straggler, ns a step, as far as the rule claims what it is late by: idle times are
 * means over the devices, and what makes one late makes all of them wait. */
static double waited_for(const struct evidence *e)
{
	const struct ranks_result *ranks = &e->side->ranks;
	const struct straggler *s = &ranks->straggler;
	double claimed = 0;
	if (e->rule->kind != RULE_PLAIN || s->kind == STRAGGLER_NONE || !s->has_reason || s->part != PART_IDLE)
		return 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++)
		if (e->claims[i] &&
		    (s->input ? e->rule->finding == FACT_input_starvation : e->facts->idle[i].key.cause == s->cause))
			claimed += e->facts->idle[i].per_step * e->facts->comm.ranks;
	return claimed >= MOST_OF_IT * s->more ? ranks->waiting * s->share : 0;
}

bool rule_costs(struct evidence *e, double busy, double least)
{
	e->busy = busy;
	e->amount = e->idle + busy;
	rule_note(e, "cost", FINDING_TIME, e->amount);
	if (e->amount < least * rule_period(e) || e->amount <= 0)
		return false;
	e->per_step = e->amount;
	e->waited = waited_for(e);
	e->ceiling = rule_period(e) - e->amount - e->waited;
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

double rule_share(const struct evidence *e)
{
	return e->amount / rule_period(e);
}

const char *rule_unit(const struct evidence *e)
{
	return e->side->steps.found ? "step" : "run";
}

/* A parameter of a fact by its name; else it is the number of the evidence. */
static union fact_value value_of(const struct evidence *e, const char *name)
{
	if (strcmp(name, "share") == 0)
		return (union fact_value){.number = rule_share(e)};
	if (strcmp(name, "unit") == 0)
		return (union fact_value){.text = rule_unit(e)};
	if (strcmp(name, "phase") == 0)
		return (union fact_value){.count = e->phase};
	if (strcmp(name, "call") == 0)
		return (union fact_value){.text = longest_call(e)};
	if (strcmp(name, "os_calls") == 0)
		return (union fact_value){.count = e->side->source.has_os_calls};
	if (strcmp(name, "reads") == 0)
		return (union fact_value){.count = e->side->counts.bytes_d2h > 0};
	const double number = rule_value(e, name);
	return (union fact_value){.number = number > 0 || strcmp(name, "instantiate") != 0 ? number : NAN};
}

const struct fact *rule_fact(const struct evidence *e)
{
	const struct fact_info *info = &fact_info[e->rule->finding];
	union fact_value value[FACT_PARAMS];
	if (e->rule->tell)
		return e->rule->tell(e);
	for (uint32_t i = 0; i < info->n; i++)
		value[i] = value_of(e, info->param[i].name);
	return fact_new(e->arena, e->rule->finding, e->side_no, value, info->n * sizeof *value);
}

/* In the order in which they claim idle time: what a call's name proves, before what the order of events suggests. */
const struct rule rules[] = {
	{FACT_module_load, .find = find_module, .cause = CAUSE_MODULE_LOAD},
	{FACT_alloc_in_step, .find = find_alloc, .tell = tell_alloc},
	{FACT_lock_contention, .find = find_lock},
	{FACT_gil_contention, .find = find_gil, .cause = CAUSE_GIL},
	{FACT_paced, .find = find_paced, .cause = CAUSE_HOST_BLOCKED},
	{FACT_managed_memory, .find = find_managed, .tell = tell_managed, .gpu = PLACE_COPIES,
         .cause = CAUSE_MANAGED_MEMORY},
	{FACT_input_starvation, .find = find_input, .tell = tell_input},
	{FACT_host_before_copy, .find = find_before_copy},
	{FACT_pageable_copies, .find = find_pageable, .gpu = PLACE_COPIES},
	{FACT_serial_copies, .find = find_serial_copies, .gpu = PLACE_COPIES},
	{FACT_host_work, .find = find_host_work},
	{FACT_launch_bound, .kind = RULE_LAUNCH, .find = find_launches, .tell = tell_launches},
	{FACT_host_after_sync, .find = find_after_sync},
	{FACT_sync_every_step, .kind = RULE_SYNC, .find = find_sync},
	{FACT_comm_exposed, .find = find_comm, .gpu = PLACE_COMM},
	{FACT_pipeline_bubbles, .find = find_bubbles, .tell = tell_bubbles, .cause = CAUSE_BUBBLE},
	{FACT_straggler, .kind = RULE_RANKS, .find = find_straggler, .tell = tell_straggler, .gpu = PLACE_COMM},
	{FACT_idle_host_code, .find = find_idle, .cause = CAUSE_HOST_CODE},
	{FACT_idle_host_blocked, .find = find_idle, .cause = CAUSE_HOST_BLOCKED},
	{FACT_idle_off_cpu, .find = find_idle, .cause = CAUSE_OFF_CPU},
	{FACT_idle_handover, .find = find_idle, .cause = CAUSE_HANDOVER},
	{FACT_idle_sync_return, .find = find_idle, .cause = CAUSE_SYNC_RETURN},
	{FACT_idle_copy_api, .find = find_idle, .cause = CAUSE_COPY_API},
	{FACT_idle_launch_api, .find = find_idle, .cause = CAUSE_LAUNCH_API},
	{FACT_idle_other_api, .find = find_idle, .cause = CAUSE_OTHER_API},
	{FACT_idle_profiler, .find = find_idle, .cause = CAUSE_PROFILER, .given = true},
	{FACT_idle_launch_latency, .find = find_idle, .cause = CAUSE_LAUNCH_LATENCY},
	{FACT_idle_dispatch, .find = find_idle, .cause = CAUSE_DISPATCH, .given = true},
	{FACT_idle_dependency, .find = find_idle, .cause = CAUSE_DEPENDENCY, .given = true},
	{FACT_idle_late_start, .find = find_idle, .cause = CAUSE_LATE_START, .given = true},
	{FACT_idle_other_process, .find = find_idle, .cause = CAUSE_OTHER_PROCESS, .given = true},
	{FACT_idle_unattributed, .find = find_idle, .cause = CAUSE_UNATTRIBUTED, .given = true},
	{FACT_one_off_gaps, .kind = RULE_ONCE, .find = find_once, .tell = tell_once},
	{FACT_gpu_bound, .kind = RULE_BOUND, .find = find_gpu_bound, .tell = tell_gpu_bound, .gpu = PLACE_KERNELS},
};
const size_t n_rules = sizeof rules / sizeof *rules;
