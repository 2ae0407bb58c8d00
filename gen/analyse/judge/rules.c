/* The rules: what each looks at, from which size on it speaks, what it would give, what to do. Evidence is behaviour:
 * what threads and devices did, never what the user's ranges are called. */
#include "analyse/judge/findings.h"
#include "analyse/say.h"

#include <math.h>
#include <string.h>

static const double SMALL = 0.01;        /* of a step: from here on a rule speaks … */
static const double CONSIDERABLE = 0.03; /* … and where the evidence is only circumstantial */
static const double MANY = 0.05;
enum { MANY_LAUNCHES = 20 }; /* a step */

static const char *digits(const struct evidence *e, double value)
{
	return say_digits(e->arena, value);
}

static const char *ms(const struct evidence *e, double ns)
{
	return digits(e, ns / 1e6);
}

static double period(const struct evidence *e)
{
	return e->side->budget.period;
}

static double share(const struct evidence *e, double ns)
{
	return 100 * ns / period(e);
}

static const char *in_phase(const struct evidence *e)
{
	return e->phase ? arena_format(e->arena, " in %s", names_text(e->names, e->phase)) : "";
}

static const char *a_step(const struct evidence *e)
{
	return e->side->steps_found ? "a step" : "in the run";
}

/* Claims the idle time that `fits`, unless an earlier finding has it; sets the phase with most of it. */
static double claim(struct evidence *e, bool (*fits)(const struct cell_key *idle))
{
	double *by_phase = ARENA_NEW(e->arena, e->side->n_phases + 1, double), best = 0;
	e->idle = 0;
	e->phase = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		const struct idle_fact *fact = &e->facts->idle[i];
		e->claims[i] = !e->taken[i] && fits(&fact->key);
		if (!e->claims[i])
			continue;
		e->idle += fact->per_step;
		by_phase[fact->phase_rank] += fact->per_step;
		if (by_phase[fact->phase_rank] > best) {
			best = by_phase[fact->phase_rank];
			e->phase = fact->key.phase;
		}
	}
	return e->idle;
}

/* Gives up claims in phases that have less than `least` of them. */
static double drop_small_phases(struct evidence *e, double least)
{
	double *by_phase = ARENA_NEW(e->arena, e->side->n_phases + 1, double);
	for (uint32_t i = 0; i < e->facts->n_idle; i++)
		if (e->claims[i])
			by_phase[e->facts->idle[i].phase_rank] += e->facts->idle[i].per_step;
	e->idle = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) {
		e->claims[i] = e->claims[i] && by_phase[e->facts->idle[i].phase_rank] >= least;
		if (e->claims[i])
			e->idle += e->facts->idle[i].per_step;
	}
	return e->idle;
}

/* What it costs is what was claimed of idle time, and `busy` of the busy parts; the ceiling is the step without it.
 * Whether that is at least `least` of a step. */
static bool costs(struct evidence *e, double busy, double least)
{
	e->busy = busy;
	e->amount = e->idle + busy;
	if (e->amount < least * period(e) || e->amount <= 0)
		return false;
	e->per_step = e->amount;
	e->ceiling = period(e) - e->amount;
	return true;
}

/* For what has a cost but is not the matter: the amount stays known, for the comparison with the other side. */
static bool keep_silent(struct evidence *e)
{
	e->per_step = e->ceiling = 0;
	return false;
}

static bool is_host_time(enum cause cause)
{
	return cause == CAUSE_HOST_CODE || cause == CAUSE_HOST_BLOCKED || cause == CAUSE_HANDOVER;
}

/* ---- host calls that hold up the launching thread ---- */

static bool fits_alloc(const struct cell_key *idle)
{
	return idle->cause == CAUSE_ALLOC;
}

/* What the finding blames, whether it costs something or not. */
static void blame(struct evidence *e, double calls, const char *kind)
{
	e->calls = calls;
	e->kind_of_call = kind;
}

static void find_alloc(struct evidence *e)
{
	blame(e, e->facts->alloc_calls, "calls");
	claim(e, fits_alloc);
	if (!costs(e, 0, SMALL))
		return;
	e->text = arena_format(e->arena,
	                       "%s allocations and frees %s on the launching thread leave the GPU idle for %s ms "
	                       "(%.1f %%)%s.",
	                       digits(e, e->facts->alloc_calls), a_step(e), ms(e, e->idle), share(e, e->idle),
	                       in_phase(e));
	e->advice = "Allocate once and reuse, or take memory from a pool (cudaMallocAsync).";
}

static bool fits_module(const struct cell_key *idle)
{
	return idle->cause == CAUSE_MODULE_LOAD;
}

static void find_module(struct evidence *e)
{
	blame(e, e->facts->module_calls, "calls");
	claim(e, fits_module);
	if (!costs(e, 0, SMALL))
		return;
	e->text = arena_format(e->arena,
	                       "Loading or compiling code in the measured window leaves the GPU idle for %s ms %s "
	                       "(%.1f %%)%s.",
	                       ms(e, e->idle), a_step(e), share(e, e->idle), in_phase(e));
	e->advice = "Load modules before the loop (CUDA_MODULE_LOADING=EAGER), keep them loaded, cache compiled code.";
}

static bool fits_lock(const struct cell_key *idle)
{
	return idle->cause == CAUSE_HOST_BLOCKED && idle->mutex;
}

static void find_lock(struct evidence *e)
{
	claim(e, fits_lock);
	if (!costs(e, 0, SMALL))
		return;
	e->text = arena_format(e->arena,
	                       "The launching thread waits for a lock while the GPU is idle: %s ms %s (%.1f %%)%s.",
	                       ms(e, e->idle), a_step(e), share(e, e->idle), in_phase(e));
	e->advice = "Do not share the lock with other threads while launching, or launch from a process of its own.";
}

static bool fits_managed(const struct cell_key *idle)
{
	return idle->cause == CAUSE_MANAGED_MEMORY;
}

static void find_managed(struct evidence *e)
{
	blame(e, e->facts->managed_copies, "migrations");
	claim(e, fits_managed);
	if (!costs(e, e->facts->copy_managed, SMALL))
		return;
	e->text =
		arena_format(e->arena, "%s unified-memory migrations %s hold the GPU up for %s ms (%.1f %%).",
	                     digits(e, e->facts->managed_copies), a_step(e), ms(e, e->per_step), share(e, e->per_step));
	e->advice = "Prefetch with cudaMemPrefetchAsync, or use explicit copies.";
}

/* ---- input starvation: the GPU waits while the host makes the next input, which a copy to the device then brings ----
 */

static bool fits_input(const struct cell_key *idle)
{
	return idle->input && is_host_time(idle->cause);
}

static void find_input(struct evidence *e)
{
	claim(e, fits_input);
	drop_small_phases(e, SMALL * period(e));
	if (!costs(e, 0, CONSIDERABLE))
		return;
	e->text = arena_format(e->arena,
	                       "The GPU waits %s ms %s (%.0f %%) while the host prepares input%s; then a copy to the "
	                       "device ends the gap.",
	                       ms(e, e->idle), a_step(e), share(e, e->idle), in_phase(e));
	e->advice = "Prepare the next batch in worker processes or a producer thread while the GPU works on this one.";
}

/* ---- copies ---- */

static bool fits_pageable(const struct cell_key *idle)
{
	return idle->pageable && (idle->cause == CAUSE_COPY_API || idle->cause == CAUSE_OTHER_API ||
	                          idle->cause == CAUSE_SYNC_RETURN || is_host_time(idle->cause));
}

static void find_pageable(struct evidence *e)
{
	/* without kernels there is nothing to hide the copies behind: pinned ones would take their time too */
	double hidden = e->side->budget.compute > 0 ? e->facts->copy_pageable : 0;
	blame(e, e->facts->pageable_copies, "copies");
	if (e->facts->pageable_copies <= 0)
		return;
	claim(e, fits_pageable);
	if (!costs(e, hidden, SMALL))
		return;
	bool one = fabs(e->facts->pageable_copies - 1) < 1e-6;
	e->text = arena_format(
		e->arena,
		"%s %s %s %s %s from or to pageable memory: %s ms in which nothing else runs on the GPU, and "
		"%s ms of idle time before them.",
		say_count(e->arena, e->facts->pageable_copies), one ? "copy" : "copies", a_step(e),
		one ? "moves" : "move", say_bytes(e->arena, e->facts->pageable_bytes), ms(e, e->facts->copy_pageable),
		ms(e, e->idle));
	e->advice = "Use pinned memory (cudaMallocHost, pin_memory=True) and asynchronous copies.";
}

static void find_serial_copies(struct evidence *e)
{
	double cost = e->side->budget.copy_exposed - e->facts->copy_pageable - e->facts->copy_managed;
	if (e->side->budget.compute <= 0 || !costs(e, cost, CONSIDERABLE))
		return;
	e->text = arena_format(
		e->arena, "Copies and memsets run alone on the GPU for %s ms %s (%.1f %%), with no kernel beside them.",
		ms(e, cost), a_step(e), share(e, cost));
	e->advice = "Copy on a second stream while kernels run, with events for the order.";
}

/* ---- launches ---- */

static bool is_host_side(enum cause cause)
{
	return cause == CAUSE_LAUNCH_API || cause == CAUSE_OTHER_API || is_host_time(cause);
}

/* A gap of a millisecond is not a launch that came late: the host was busy with something of its own. */
static bool fits_host_work(const struct cell_key *idle)
{
	return idle->lasting && idle->opened != OPENED_SYNC && is_host_time(idle->cause);
}

static void find_host_work(struct evidence *e)
{
	claim(e, fits_host_work);
	drop_small_phases(e, SMALL * period(e));
	if (!costs(e, 0, CONSIDERABLE))
		return;
	e->text =
		arena_format(e->arena,
	                     "The launching thread is busy with host work%s while the GPU has nothing to do: %s ms %s "
	                     "(%.0f %%), in gaps of more than a millisecond.",
	                     in_phase(e), ms(e, e->idle), a_step(e), share(e, e->idle));
	e->advice =
		"Move this work to another thread, or do it while the GPU is busy; a CPU profiler shows what it is.";
}

static bool fits_launch(const struct cell_key *idle)
{
	return !idle->blocked && !idle->lasting && is_host_side(idle->cause) && idle->cause != CAUSE_HOST_BLOCKED;
}

static bool claim_launches(struct evidence *e, bool many)
{
	blame(e, e->facts->launch_calls, "launches");
	claim(e, fits_launch);
	if (!costs(e, 0, MANY) || !many)
		return keep_silent(e);
	e->ceiling = fmax(e->side->busy, period(e) - e->idle) + e->facts->launch_call;
	return true;
}

static void find_launches(struct evidence *e)
{
	if (!claim_launches(e, e->facts->launch_calls >= MANY_LAUNCHES))
		return;
	e->text = arena_format(e->arena,
	                       "%.0f launches %s of kernels that run %s µs (median), while a launch call takes %s µs: "
	                       "the GPU waits %s ms (%.0f %%) for the host to launch.",
	                       e->facts->launch_calls, a_step(e), digits(e, e->facts->kernel_median / 1e3),
	                       digits(e, e->facts->launch_call / 1e3), ms(e, e->idle), share(e, e->idle));
	e->advice = "Launch less: a CUDA graph, fused kernels, larger batches, torch.compile.";
}

static void find_graph(struct evidence *e)
{
	if (!claim_launches(e, e->facts->launch_calls >= MANY_LAUNCHES && e->facts->steady_launches >= 0.9))
		return;
	e->text =
		arena_format(e->arena,
	                     "%.0f %% of the steps launch the same number of kernels, with %.0f launch calls: what is "
	                     "launched one by one can be one graph launch.",
	                     100 * e->facts->steady_launches, e->facts->launch_calls);
	e->advice = "Capture the step in a CUDA graph (cudaStreamBeginCapture, torch.cuda.CUDAGraph).";
}

/* ---- synchronisation ---- */

static bool fits_sync(const struct cell_key *idle)
{
	return idle->opened == OPENED_SYNC && idle->cause != CAUSE_DISPATCH && idle->cause != CAUSE_DEPENDENCY &&
	       idle->cause != CAUSE_MANAGED_MEMORY && idle->cause != CAUSE_OTHER_PROCESS &&
	       idle->cause != CAUSE_UNATTRIBUTED;
}

static bool fits_after_sync(const struct cell_key *idle)
{
	return idle->opened == OPENED_SYNC && is_host_time(idle->cause);
}

/* What the host did meanwhile may have been a lock. */
static const char *advise(const struct evidence *e, const char *advice)
{
	if (e->side->source.has_os_calls)
		return advice;
	return arena_format(e->arena,
	                    "%s Whether the host worked or was blocked meanwhile, by a lock perhaps, was not recorded: "
	                    "--trace cuda,nvtx,osrt tells.",
	                    advice);
}

/* With both sides at hand, and the same synchronisations on both, the host's work behind them is what differs. */
static void find_after_sync(struct evidence *e)
{
	if (!e->same_syncs)
		return;
	claim(e, fits_after_sync);
	if (!costs(e, 0, CONSIDERABLE))
		return;
	e->text =
		arena_format(e->arena,
	                     "When the host comes back from waiting for the GPU, the launching thread is busy%s for "
	                     "%s ms %s (%.0f %%) before it launches again. Both sides synchronise alike: this work is "
	                     "what differs.",
	                     in_phase(e), ms(e, e->idle), a_step(e), share(e, e->idle));
	e->advice = advise(e, "Do this work on another thread or before the synchronisation, or do not wait there.");
}

static void find_sync(struct evidence *e)
{
	claim(e, fits_sync);
	if (!costs(e, 0, CONSIDERABLE) || e->facts->blocking_syncs < 0.9) {
		keep_silent(e);
		return;
	}
	if (e->side->steps_found)
		e->ceiling = fmax(e->ceiling, e->facts->host_work);
	bool once = fabs(e->facts->blocking_syncs - 1) < 0.005;
	e->text =
		arena_format(e->arena,
	                     "The host waits for the GPU %s%s %s; when it comes back, the GPU has nothing to do for %s "
	                     "ms (%.0f %%).",
	                     once ? "once" : digits(e, e->facts->blocking_syncs), once ? "" : " times", a_step(e),
	                     ms(e, e->idle), share(e, e->idle));
	e->advice = advise(
		e, "Read results back later or asynchronously (events, pinned memory) so that the host runs ahead.");
}

/* ---- several devices ---- */

static void find_comm(struct evidence *e)
{
	double cost = e->facts->comm_min;
	if (!costs(e, cost, SMALL))
		return;
	e->text = arena_format(e->arena,
	                       "Communication runs for %s ms %s (%.1f %%) without a computing kernel beside it, on "
	                       "every communicating "
	                       "device.",
	                       ms(e, cost), a_step(e), share(e, cost));
	e->advice = "Overlap it with the backward pass: reduce gradients in buckets as they become ready.";
}

static void find_straggler(struct evidence *e)
{
	if (e->facts->ranks < 2 || !costs(e, e->facts->comm_mean - e->facts->comm_min, 2 * SMALL))
		return;
	uint32_t last = TRACE_NONE;
	for (uint32_t d = 0; d < e->side->n_devices; d++)
		if (e->facts->communicates[d] &&
		    (last == TRACE_NONE ||
		     e->side->devices[d].budget.comm_exposed < e->side->devices[last].budget.comm_exposed))
			last = d;
	e->text = arena_format(e->arena,
	                       "Devices wait for the slowest one in their collectives: %s ms %s in the mean (%.1f %%); "
	                       "the one that waits least is device %u of process %lld.",
	                       ms(e, e->amount), a_step(e), share(e, e->amount), e->side->devices[last].ordinal,
	                       (long long)e->side->devices[last].process);
	e->advice = "Balance the work: equal batches and sequence lengths, the same input speed on every rank.";
}

/* ---- nothing left to fix at this level ---- */

static void find_gpu_bound(struct evidence *e)
{
	const struct budget *b = &e->side->budget;
	e->amount = b->compute;
	if (b->compute < 0.9 * b->period)
		return;
	e->per_step = b->compute;
	e->text = arena_format(e->arena,
	                       "Kernels run for %s of %s ms %s (%.0f %%): the GPU is the bottleneck, and nothing "
	                       "around it can make this much faster.",
	                       ms(e, b->compute), ms(e, b->period), a_step(e), share(e, b->compute));
	e->advice = "Go to the kernels: precision, fusion, memory access (Nsight Compute).";
}

/* In the order in which they claim idle time: what a call's name proves, before what the order of events suggests. */
const struct rule rules[] = {
	{"module_load", "Module loading inside the window", RULE_PLAIN, find_module},
	{"alloc_in_step", "Allocation on the critical path", RULE_PLAIN, find_alloc},
	{"lock_contention", "Launching thread waits for a lock", RULE_PLAIN, find_lock},
	{"managed_memory", "Managed-memory migration", RULE_PLAIN, find_managed},
	{"input_starvation", "Input starvation", RULE_INPUT, find_input},
	{"pageable_copies", "Copies from pageable memory", RULE_PLAIN, find_pageable},
	{"serial_copies", "Copies that do not overlap", RULE_PLAIN, find_serial_copies},
	{"host_work", "Host work on the critical path", RULE_INPUT, find_host_work},
	{"launch_bound", "Launch-bound", RULE_LAUNCH, find_launches},
	{"graph_opportunity", "Graph opportunity", RULE_LAUNCH, find_graph},
	{"host_after_sync", "Host work after a synchronisation", RULE_INPUT, find_after_sync},
	{"sync_every_step", "Synchronisation starves the GPU", RULE_SYNC, find_sync},
	{"comm_exposed", "Communication not overlapped", RULE_PLAIN, find_comm},
	{"straggler", "One device waits for another", RULE_PLAIN, find_straggler},
	{"gpu_bound", "The GPU is the bottleneck", RULE_BOUND, find_gpu_bound},
};
const size_t n_rules = sizeof rules / sizeof *rules;
