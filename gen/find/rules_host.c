/* Rules on the host: calls that hold the launching thread up, its own time, its waiting for the GPU. What a thread does
 * outside of calls is its own code or its sleep: only scheduler rows would tell which. */
#include "find/rules_parts.h"

#include <math.h>
#include <string.h>

static const double HARDLY_ANY = 0.05; /* a step */
static const double EACH_STEP = 0.9;   /* synchronisations a step: what comes more seldom is no cost of theirs */

/* ---- calls that hold up the launching thread ---- */

void find_module(struct evidence *e)
{
	rule_blame(e, e->facts->work.module_calls, "calls");
	rule_note(e, "calls", FINDING_COUNT, e->facts->work.module_calls);
	e->host = rule_claim(e, NULL);
	rule_costs(e, 0, SMALL);
}

static bool fits_alloc(const struct cell_key *idle)
{
	return idle->cause == CAUSE_ALLOC || idle->alloc;
}

void find_alloc(struct evidence *e)
{
	rule_blame(e, e->facts->work.alloc_calls, "calls");
	rule_note(e, "calls", FINDING_COUNT, e->facts->work.alloc_calls);
	rule_note(e, "in_calls", FINDING_TIME, e->facts->work.alloc_time);
	rule_claim(e, fits_alloc);
	e->host = e->facts->work.alloc_time;
	if (!rule_costs(e, 0, SMALL) || e->facts->work.blocking_syncs > HARDLY_ANY || !e->side->steps.found)
		return;
	/* nothing else makes the host wait for the GPU: without these calls it would run ahead all the time */
	double free = fmax(diagnosis_floor(e->side, e->facts, NULL), e->facts->host_work - e->facts->work.alloc_time);
	e->ceiling = fmin(e->ceiling, free);
}

/* The call in which most of that time goes by; 0: none has half of it. */
static uint32_t longest_alloc(const struct evidence *e)
{
	const struct api_result *most = NULL;
	double all = 0;
	for (uint32_t i = 0; i < e->side->n_api; i++) {
		const struct api_result *api = &e->side->api[i];
		if (cause_of_call[api->class] != CAUSE_ALLOC)
			continue;
		all += api->per_step;
		most = !most || api->per_step > most->per_step ? api : most;
	}
	return most && most->per_step > all / 2 ? most->name : 0;
}

const struct fact *tell_alloc(const struct evidence *e)
{
	const uint32_t call = longest_alloc(e);
	return FACT_NEW(e->arena, alloc_in_step, e->side_no, RULE_COSTS(e), .calls = rule_value(e, "calls"),
	                .call = call, .pool = strncmp(names_text(e->names, call), "cudaMallocAsync", 15) == 0);
}

static bool fits_lock(const struct cell_key *idle)
{
	return idle->cause == CAUSE_HOST_BLOCKED && idle->mutex;
}

void find_lock(struct evidence *e)
{
	rule_claim(e, fits_lock);
	if (rule_costs(e, 0, SMALL))
		rule_wakes_cold(e);
}

void find_gil(struct evidence *e)
{
	rule_claim(e, NULL);
	if (rule_costs(e, 0, SMALL))
		rule_wakes_cold(e);
}

/* ---- paced: nobody waits for the GPU here ---- */

/* Sleeping until a time, or until a client has something to say. Not poll and read: producers are waited for so. */
static bool is_pacing(const char *call)
{
	static const char *const calls[] = {"nanosleep",   "clock_nanosleep", "usleep", "sleep",   "epoll_wait",
	                                    "epoll_pwait", "epoll_pwait2",    "accept", "accept4", "timerfd_read"};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

/* The calls' names are interned, and cells have no table of names at hand: what fits is found name by name. */
void find_paced(struct evidence *e)
{
	rule_claim(e, NULL);
	for (uint32_t i = 0; i < e->facts->n_idle; i++)
		e->claims[i] = e->claims[i] && is_pacing(names_text(e->names, e->facts->idle[i].key.call));
	rule_sum(e);
	rule_note(e, "period", FINDING_TIME, rule_period(e));
	rule_costs(e, 0, MANY);
	e->pauses = true;
	e->ceiling = 0;
}

/* ---- input starvation: the GPU waits while the host makes the next input, which a copy to the device then brings ----
 */

static bool fits_input(const struct cell_key *idle)
{
	return idle->input && cause_is_host(idle->cause);
}

/* Whether the call waits for another thread or process to have something ready. */
static bool waits_for_others(const char *call)
{
	static const char *const calls[] = {"pthread_cond_", "sem_", "poll", "ppoll", "select", "pselect"};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strncmp(call, calls[i], strlen(calls[i])) == 0)
			return true;
	return false;
}

void find_input(struct evidence *e)
{
	double producer = 0;
	e->host = rule_claim(e, fits_input);
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		if (e->claims[i] && fact->key.call && waits_for_others(names_text(e->names, fact->key.call)))
			producer += fact->per_step;
	}
	rule_note(e, "input", FINDING_BYTES, e->side->counts.bytes_h2d);
	rule_note(e, "producer", FINDING_TIME, producer);
	rule_costs(e, 0, CONSIDERABLE);
}

const struct fact *tell_input(const struct evidence *e)
{
	return FACT_NEW(e->arena, input_starvation, e->side_no, RULE_COSTS(e), .phase = e->phase,
	                .os_calls = e->side->source.has_os_calls, .producer = rule_value(e, "producer") > e->idle / 2);
}

/* ---- host work before a copy: the host works on what it read back, and hands that to the device ---- */

static bool fits_before_copy(const struct cell_key *idle)
{
	return idle->returned && cause_is_host(idle->cause);
}

void find_before_copy(struct evidence *e)
{
	e->host = rule_claim(e, fits_before_copy);
	rule_note(e, "read_back", FINDING_BYTES, e->side->counts.bytes_d2h);
	rule_costs(e, 0, CONSIDERABLE);
}

/* ---- the thread's own time ---- */

/* A gap of a millisecond is not a launch that came late: the host was at something of its own. */
static bool fits_pause(const struct cell_key *idle)
{
	return idle->lasting && cause_is_host(idle->cause);
}

static bool fits_host_work(const struct cell_key *idle)
{
	return fits_pause(idle) && idle->opened != OPENED_SYNC;
}

void find_host_work(struct evidence *e)
{
	const bool seldom = e->facts->work.blocking_syncs < EACH_STEP;
	e->host = rule_claim(e, seldom ? fits_pause : fits_host_work);
	e->pauses = true;
	rule_costs(e, 0, CONSIDERABLE);
}

/* ---- synchronisation ---- */

static bool fits_sync(const struct cell_key *idle)
{
	return idle->opened == OPENED_SYNC && idle->cause != CAUSE_DISPATCH && idle->cause != CAUSE_DEPENDENCY &&
	       idle->cause != CAUSE_LATE_START && idle->cause != CAUSE_MANAGED_MEMORY &&
	       idle->cause != CAUSE_OTHER_PROCESS && idle->cause != CAUSE_UNATTRIBUTED;
}

static bool fits_after_sync(const struct cell_key *idle)
{
	return idle->opened == OPENED_SYNC && cause_is_host(idle->cause);
}

/* With both sides at hand, and the same synchronisations on both, the host's time behind them is what differs. */
void find_after_sync(struct evidence *e)
{
	if (e->same_syncs)
		e->host = rule_claim(e, fits_after_sync);
	rule_costs(e, 0, CONSIDERABLE);
}

void find_sync(struct evidence *e)
{
	rule_claim(e, fits_sync);
	rule_note(e, "synchronisations", FINDING_COUNT, e->facts->work.blocking_syncs);
	rule_note(e, "host_work", FINDING_TIME, e->facts->host_work);
	if (!rule_costs(e, 0, CONSIDERABLE))
		return;
	if (e->facts->work.blocking_syncs < EACH_STEP)
		rule_keep_silent(e);
	else if (e->side->steps.found)
		e->ceiling = fmax(diagnosis_floor(e->side, e->facts, NULL), e->facts->host_work);
}

/* ---- launches: the GPU waits for the host, kernel by kernel ---- */

static const double STEADY = 0.9;      /* of the steps launch the same number of kernels */
static const double AMID = 2;          /* synchronisations a step: one may be at its end */
static const double NO_LAUNCH = 200e3; /* ns for which the GPU waits for a launch: the host does something else */

static bool fits_launch(const struct cell_key *idle)
{
	bool host = idle->cause == CAUSE_LAUNCH_API || idle->cause == CAUSE_OTHER_API ||
	            idle->cause == CAUSE_HOST_CODE || idle->cause == CAUSE_GIL || idle->cause == CAUSE_HANDOVER;
	return !idle->blocked && !idle->lasting && host;
}

void find_launches(struct evidence *e)
{
	const struct side_facts *f = e->facts;
	rule_blame(e, f->work.launch_calls, "launches");
	rule_note(e, "launches", FINDING_COUNT, f->work.launch_calls);
	rule_note(e, "launch_call", FINDING_TIME, f->work.launch_call);
	e->host = fmax(rule_claim(e, fits_launch), (f->work.launch_calls - 1) * f->work.launch_call);
	bool much = rule_costs(e, 0, MANY);
	rule_note(e, "kernel", FINDING_TIME, f->work.kernel_median);
	rule_note(e, "steady_steps", FINDING_SHARE, f->work.steady_launches);
	if (!much)
		return;
	if (f->work.launch_calls >= MANY_LAUNCHES && e->idle < NO_LAUNCH * f->work.launch_calls)
		e->ceiling = fmin(rule_period(e), fmax(e->side->busy, rule_period(e) - e->idle) + f->work.launch_call);
	else
		rule_keep_silent(e);
}

/* Whether one graph may hold the step: as many launches each time, and no wait for a result amid them. */
static bool fits_a_graph(const struct evidence *e)
{
	return rule_value(e, "steady_steps") >= STEADY && e->facts->work.blocking_syncs < AMID;
}

const struct fact *tell_launches(const struct evidence *e)
{
	return FACT_NEW(e->arena, launch_bound, e->side_no, RULE_COSTS(e), .launches = rule_value(e, "launches"),
	                .kernel = rule_value(e, "kernel"), .launch_call = rule_value(e, "launch_call"),
	                .steady = fits_a_graph(e), .steady_steps = rule_value(e, "steady_steps"));
}
