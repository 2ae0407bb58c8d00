/* Rules on the host: calls that hold the launching thread up, its own time, its waiting for the GPU. What a thread does
 * outside of calls is its own code or its sleep: only scheduler rows would tell which. */
#include "analyse/judge/diagnosis.h"
#include "analyse/judge/rules_parts.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

static const double HARDLY_ANY = 0.05; /* a step */
static const double VARIES = 0.01;     /* of a step: work that differs by so much from step to step tells … */
static const double STEADY = 0.25;     /* … whether they begin at one pace: that differs by so little of it … */
enum {
	PACED_LEAST = 8,  /* … over so many, … */
	PACED_STEPS = 64, /* … of so many steps together, where single ones are not known */
};

/* ---- calls that hold up the launching thread ---- */

static bool fits_module(const struct cell_key *idle)
{
	return idle->cause == CAUSE_MODULE_LOAD;
}

void find_module(struct evidence *e)
{
	rule_blame(e, e->facts->work.module_calls, "calls");
	rule_note(e, "calls", FINDING_COUNT, e->facts->work.module_calls);
	e->host = rule_claim(e, fits_module);
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

static bool fits_gil(const struct cell_key *idle)
{
	return idle->cause == CAUSE_GIL;
}

void find_gil(struct evidence *e)
{
	rule_claim(e, fits_gil);
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

/* How far apart the 10 % and 90 % quantiles of n numbers are, whose order is left changed. */
static double spread_of(double *list, uint32_t n)
{
	double high = sort_select(list, n, n - 1 - n / 10);
	return high - sort_select(list, n, n / 10);
}

/* By block, a step: how long the devices work, and how long it takes. */
static void sum_blocks(const struct run_table *run, double *work, double *all)
{
	for (uint32_t i = 0; i < run->n_columns; i++)
		for (uint32_t b = 0; b < run->n_blocks && b < run->column[i].n; b++) {
			double ns = (double)run->column[i].ns[b] / run->n_devices /
			            step_table_steps(run->n_steps, run->block, b);
			all[b] += ns;
			work[b] += run->column[i].kind != PART_IDLE ? ns : 0;
		}
}

/* Whether steps begin at one pace though their work varies: from the end of a step but for its work to that of the next
 * one. Of blocks, whose ends alone are known, many steps together take as long whatever they work. */
static bool keeps_pace(const struct run_table *run, struct arena *scratch)
{
	uint32_t join = run->block > 1 ? (PACED_STEPS - 1) / run->block + 1 : 1, n = 0;
	double *work = ARENA_NEW(scratch, run->n_blocks + 1, double),
	       *all = ARENA_NEW(scratch, run->n_blocks + 1, double);
	double length = 0;
	sum_blocks(run, work, all);
	for (uint32_t b = 0; b + join <= run->n_blocks; b += join, n++) {
		double sum[2] = {0};
		for (uint32_t i = b; i < b + join; i++) {
			sum[0] += work[i] / join;
			sum[1] += all[i] / join;
		}
		work[n] = sum[0];
		all[n] = sum[1];
		length += sum[1];
	}
	if (n < PACED_LEAST)
		return false;
	for (uint32_t i = n - 1; i && run->block == 1; i--)
		all[i] += work[i - 1] - work[i];
	double pace = spread_of(all + 1, n - 1), varies = spread_of(work, n);
	return varies >= VARIES * length / n && pace <= STEADY * varies;
}

/* Whether all runs of the side do. */
static bool side_keeps_pace(const struct evidence *e)
{
	struct arena scratch = {0};
	bool keeps = e->side->steps.found && e->facts->n_runs;
	for (size_t r = 0; r < e->facts->n_runs && keeps; r++)
		keeps = keeps_pace(&e->facts->runs[r], &scratch);
	arena_release(&scratch);
	return keeps;
}

/* The calls' names are interned, and cells have no table of names at hand: what fits is found name by name. */
void find_paced(struct evidence *e)
{
	uint32_t most = 0;
	double longest = 0;
	bool keeps = side_keeps_pace(e);
	e->idle = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		const struct cell_key *key = &fact->key;
		bool sleeps = key->cause == CAUSE_HOST_BLOCKED && is_pacing(names_text(e->names, key->call));
		bool steady = keeps && key->cause == CAUSE_HOST_CODE && key->lasting;
		e->claims[i] = (sleeps || steady) && !key->once && !e->takers[i];
		if (!e->claims[i])
			continue;
		e->idle += fact->per_step;
		if (fact->per_step <= longest)
			continue;
		longest = fact->per_step;
		most = fact->key.call;
		e->phase = fact->key.phase;
	}
	e->kind_of_call = most ? names_text(e->names, most) : NULL;
	rule_note(e, "period", FINDING_TIME, rule_period(e));
	rule_costs(e, 0, MANY);
	e->ceiling = 0;
}

const struct fact *tell_paced(const struct evidence *e)
{
	return FACT_NEW(e->arena, paced, e->side_no, RULE_COSTS(e), .phase = e->phase,
	                .by = e->kind_of_call ? "call" : "steps", .call = e->kind_of_call);
}

/* ---- input starvation: the GPU waits while the host makes the next input, which a copy to the device then brings ----
 */

static bool fits_input(const struct cell_key *idle)
{
	return idle->input && rule_is_host_time(idle->cause);
}

void find_input(struct evidence *e)
{
	e->host = rule_claim(e, fits_input);
	rule_note(e, "input", FINDING_BYTES, e->side->counts.bytes_h2d);
	rule_costs(e, 0, CONSIDERABLE);
}

/* ---- host work before a copy: the host works on what it read back, and hands that to the device ---- */

static bool fits_before_copy(const struct cell_key *idle)
{
	return idle->returned && rule_is_host_time(idle->cause);
}

void find_before_copy(struct evidence *e)
{
	e->host = rule_claim(e, fits_before_copy);
	rule_note(e, "read_back", FINDING_BYTES, e->side->counts.bytes_d2h);
	rule_costs(e, 0, CONSIDERABLE);
}

/* ---- the thread's own time ---- */

/* A gap of a millisecond is not a launch that came late: the host was at something of its own. */
static bool fits_host_work(const struct cell_key *idle)
{
	return idle->lasting && idle->opened != OPENED_SYNC && rule_is_host_time(idle->cause);
}

void find_host_work(struct evidence *e)
{
	e->host = rule_claim(e, fits_host_work);
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
	return idle->opened == OPENED_SYNC && rule_is_host_time(idle->cause);
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
	if (e->facts->work.blocking_syncs < 0.9)
		rule_keep_silent(e);
	else if (e->side->steps.found)
		e->ceiling = fmax(diagnosis_floor(e->side, e->facts, NULL), e->facts->host_work);
}
