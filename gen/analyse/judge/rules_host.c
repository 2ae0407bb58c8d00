/* Rules on the host: calls that hold the launching thread up, its own time, its waiting for the GPU. What a thread does
 * outside of calls is its own code or its sleep: only scheduler rows would tell which. */
#include "analyse/judge/diagnosis.h"
#include "analyse/judge/rules_parts.h"

#include <math.h>
#include <string.h>

static const double HARDLY_ANY = 0.05; /* a step */

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

const char *tell_module(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "Loading or compiling code in the measured window leaves the GPU idle for %s ms %s (%.1f "
	                    "%%)%s.",
	                    rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"), rule_in_phase(e));
}

const char *advise_module(const struct evidence *e)
{
	(void)e;
	return "Load modules before the loop (CUDA_MODULE_LOADING=EAGER), keep them loaded, cache compiled code.";
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

const char *tell_alloc(const struct evidence *e)
{
	bool one = fabs(rule_value(e, "calls") - 1) < 0.005;
	return arena_format(e->arena, "%s %s %s on the launching thread %s the GPU idle for %s ms (%.1f %%)%s.",
	                    rule_digits(e, rule_value(e, "calls")),
	                    one ? "allocation or free" : "allocations and frees", rule_a_step(e),
	                    one ? "leaves" : "leave", rule_ms(e, "cost"), rule_share(e, "cost"), rule_in_phase(e));
}

const char *advise_alloc(const struct evidence *e)
{
	(void)e;
	return "Allocate once and reuse, or take memory from a pool (cudaMallocAsync).";
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

const char *tell_lock(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "The launching thread waits for a lock while the GPU is idle: %s ms %s (%.1f %%)%s.",
	                    rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"), rule_in_phase(e));
}

const char *advise_lock(const struct evidence *e)
{
	(void)e;
	return "Do not share the lock with other threads while launching, or launch from a process of its own.";
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

/* Whom it waits for, and what that one does, samples tell (functions_words.c). */
const char *tell_gil(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "The GPU waits %s ms %s (%.1f %%) while the launching thread waits for Python's global "
	                    "interpreter lock (GIL)%s, which another thread holds.",
	                    rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"), rule_in_phase(e));
}

const char *advise_gil(const struct evidence *e)
{
	(void)e;
	return "Do the other thread's work in a process of its own, or in native code that releases the lock; a thread "
	       "that asks for it waits for up to sys.getswitchinterval() each time, 5 ms unless it was set.";
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
	uint32_t most = 0;
	double longest = 0;
	e->idle = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		e->claims[i] = fact->key.cause == CAUSE_HOST_BLOCKED && !fact->key.once && !e->takers[i] &&
		               is_pacing(names_text(e->names, fact->key.call));
		if (!e->claims[i])
			continue;
		e->idle += fact->per_step;
		if (fact->per_step <= longest)
			continue;
		longest = fact->per_step;
		most = fact->key.call;
		e->phase = fact->key.phase;
	}
	e->kind_of_call = names_text(e->names, most);
	rule_note(e, "period", FINDING_TIME, rule_period(e));
	rule_costs(e, 0, MANY);
	e->ceiling = 0;
}

const char *tell_paced(const struct evidence *e)
{
	return arena_format(
		e->arena,
		"The launching thread sleeps in %s%s for %s ms %s (%.0f %%) while the GPU has nothing to do: "
		"the program waits for its clock or its clients, and its speed is not the GPU's.",
		e->kind_of_call, rule_in_phase(e), rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"));
}

const char *advise_paced(const struct evidence *e)
{
	(void)e;
	return "Judge the work between the waits: with more clients, without the clock, or by the GPU's own time.";
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

const char *tell_input(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "The GPU waits %s ms %s (%.0f %%) while the host prepares input%s; then a copy to the "
	                    "device ends the gap.",
	                    rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"), rule_in_phase(e));
}

const char *advise_input(const struct evidence *e)
{
	(void)e;
	return "Prepare the next batch in worker processes or a producer thread while the GPU works on this one.";
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

const char *tell_before_copy(const struct evidence *e)
{
	return arena_format(
		e->arena,
		"The GPU waits %s ms %s (%.0f %%)%s while the host works on data it read back, or waits for "
		"a peer; then a copy to the device ends the gap.",
		rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"), rule_in_phase(e));
}

const char *advise_before_copy(const struct evidence *e)
{
	(void)e;
	return "Do this work on the GPU, exchange from device memory (CUDA-aware MPI, NCCL), or let the GPU do other "
	       "work meanwhile.";
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

const char *tell_host_work(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "The launching thread is in its own code, or asleep (not recorded)%s, while the GPU has "
	                    "nothing to do: %s ms %s (%.0f %%), in gaps of more than a millisecond.",
	                    rule_in_phase(e), rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"));
}

const char *advise_host_work(const struct evidence *e)
{
	(void)e;
	return "Move this work to another thread, or do it while the GPU is busy; a CPU profiler shows what it is.";
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

/* What the host did meanwhile may have been a lock. */
static const char *with_lock(const struct evidence *e, const char *advice)
{
	if (e->side->source.has_os_calls)
		return advice;
	return arena_format(e->arena,
	                    "%s Whether the host worked or was blocked meanwhile, by a lock perhaps, was not recorded: "
	                    "--trace cuda,nvtx,osrt tells.",
	                    advice);
}

/* With both sides at hand, and the same synchronisations on both, the host's time behind them is what differs. */
void find_after_sync(struct evidence *e)
{
	if (e->same_syncs)
		e->host = rule_claim(e, fits_after_sync);
	rule_costs(e, 0, CONSIDERABLE);
}

const char *tell_after_sync(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "When the host comes back from waiting for the GPU, the launching thread is in its own "
	                    "code, or asleep (not recorded)%s, for %s ms %s (%.0f %%) before it launches again. Both "
	                    "sides synchronise alike: this time is what differs.",
	                    rule_in_phase(e), rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"));
}

const char *advise_after_sync(const struct evidence *e)
{
	return with_lock(e, "Do this work on another thread or before the synchronisation, or do not wait there.");
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

const char *tell_sync(const struct evidence *e)
{
	double times = rule_value(e, "synchronisations");
	bool once = fabs(times - 1) < 0.005;
	return arena_format(
		e->arena,
		"The host waits for the GPU %s%s %s; when it comes back, the GPU has nothing to do for %s ms "
		"(%.0f %%).",
		once ? "once" : rule_digits(e, times), once ? "" : " times", rule_a_step(e), rule_ms(e, "cost"),
		rule_share(e, "cost"));
}

const char *advise_sync(const struct evidence *e)
{
	return with_lock(e, "Read results back later or asynchronously (events, pinned memory) so that the host runs "
	                    "ahead.");
}
