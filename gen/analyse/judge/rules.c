/* The rules: what each looks at, from which size on it speaks, what it would give, what to do. Evidence is behaviour:
 * what threads and devices did, never what the user's ranges are called. */
#include "analyse/judge/diagnosis.h"
#include "analyse/judge/rules_parts.h"

#include <math.h>
#include <string.h>

double rule_period(const struct evidence *e)
{
	return e->side->budget.period;
}

double rule_claim(struct evidence *e, bool (*fits)(const struct cell_key *idle))
{
	ARENA_LOCAL(scratch);
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
	return e->idle;
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
		return (union fact_value){.text = e->kind_of_call};
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
	{FACT_module_load, RULE_PLAIN, find_module, NULL, PLACE_IDLE},
	{FACT_alloc_in_step, RULE_PLAIN, find_alloc, tell_alloc, PLACE_IDLE},
	{FACT_lock_contention, RULE_PLAIN, find_lock, NULL, PLACE_IDLE},
	{FACT_gil_contention, RULE_PLAIN, find_gil, NULL, PLACE_IDLE},
	{FACT_paced, RULE_PLAIN, find_paced, NULL, PLACE_IDLE},
	{FACT_managed_memory, RULE_PLAIN, find_managed, tell_managed, PLACE_COPIES},
	{FACT_input_starvation, RULE_PLAIN, find_input, tell_input, PLACE_IDLE},
	{FACT_host_before_copy, RULE_PLAIN, find_before_copy, NULL, PLACE_IDLE},
	{FACT_pageable_copies, RULE_PLAIN, find_pageable, NULL, PLACE_COPIES},
	{FACT_serial_copies, RULE_PLAIN, find_serial_copies, NULL, PLACE_COPIES},
	{FACT_host_work, RULE_PLAIN, find_host_work, NULL, PLACE_IDLE},
	{FACT_launch_bound, RULE_LAUNCH, find_launches, tell_launches, PLACE_IDLE},
	{FACT_host_after_sync, RULE_PLAIN, find_after_sync, NULL, PLACE_IDLE},
	{FACT_sync_every_step, RULE_SYNC, find_sync, NULL, PLACE_IDLE},
	{FACT_comm_exposed, RULE_PLAIN, find_comm, NULL, PLACE_COMM},
	{FACT_pipeline_bubbles, RULE_PLAIN, find_bubbles, tell_bubbles, PLACE_IDLE},
	{FACT_straggler, RULE_RANKS, find_straggler, tell_straggler, PLACE_COMM},
	{FACT_idle_host_code, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_host_blocked, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_off_cpu, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_handover, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_sync_return, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_copy_api, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_launch_api, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_other_api, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_profiler, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_launch_latency, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_dispatch, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_dependency, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_late_start, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_other_process, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_idle_unattributed, RULE_PLAIN, find_idle, NULL, PLACE_IDLE},
	{FACT_one_off_gaps, RULE_ONCE, find_once, tell_once, PLACE_IDLE},
	{FACT_gpu_bound, RULE_BOUND, find_gpu_bound, tell_gpu_bound, PLACE_KERNELS},
};
const size_t n_rules = sizeof rules / sizeof *rules;
