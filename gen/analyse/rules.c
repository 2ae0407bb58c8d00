/* The rules: what each looks at, from which size on it speaks, what it would give, what to do. Evidence is behaviour:
 * what threads and devices did, never what the user's ranges are called. */
#include "analyse/findings.h"

#include <math.h>
#include <string.h>

static const double SMALL = 0.01;        /* of a step: from here on a rule speaks … */
static const double CONSIDERABLE = 0.03; /* … and where the evidence is only circumstantial */
static const double MANY = 0.05;

static double ms(double ns)
{
	return ns / 1e6;
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

/* Sum of the idle time that `claims` takes, and the phase that has most of it. */
static double claimed(struct evidence *e, bool (*claims)(const struct evidence *e, const struct cell_key *idle))
{
	double sum = 0, best = 0;
	e->phase = 0;
	for (uint32_t i = 0; i < e->facts->n_idle; i++) { /* sorted by cause, then phase: add up a phase over causes */
		if (!claims(e, &e->facts->idle[i].key))
			continue;
		sum += e->facts->idle[i].per_step;
	}
	for (uint32_t p = 0; p < e->side->n_phases; p++) {
		double of_phase = 0;
		for (uint32_t i = 0; i < e->facts->n_idle; i++)
			if (e->facts->idle[i].key.phase == e->side->phases[p].name && claims(e, &e->facts->idle[i].key))
				of_phase += e->facts->idle[i].per_step;
		if (of_phase > best) {
			best = of_phase;
			e->phase = e->side->phases[p].name;
		}
		if (p == 64) /* phases are ranked by cost: the one that matters is among the first */
			break;
	}
	return sum;
}

static bool is_host_time(enum cause cause)
{
	return cause == CAUSE_HOST_CODE || cause == CAUSE_HOST_BLOCKED || cause == CAUSE_HANDOVER;
}

/* ---- input starvation: the GPU waits while the host makes the next input, which a copy to the device then brings ----
 */

static bool input_evidence(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->input && is_host_time(idle->cause) && !idle->mutex;
}

static bool input_claims(const struct evidence *e, const struct cell_key *idle)
{
	return input_evidence(e, idle) ||
	       (e->phase && idle->phase == e->phase && is_host_time(idle->cause) && !idle->mutex);
}

static void find_input(struct evidence *e)
{
	double seen = claimed(e, input_evidence);
	if (seen < CONSIDERABLE * period(e))
		return;
	uint32_t phase = e->phase;
	e->per_step = claimed(e, input_claims);
	e->phase = phase;
	e->ceiling = period(e) - e->per_step;
	e->text = arena_format(e->arena,
	                       "The GPU waits %.3g ms %s (%.0f %%) while the host prepares input%s, then a copy to the "
	                       "device ends the gap.",
	                       ms(e->per_step), a_step(e), share(e, e->per_step), in_phase(e));
	e->advice = "Prepare the next batch in worker processes or a producer thread while the GPU works on this one.";
}

/* ---- copies ---- */

static bool copy_api_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->cause == CAUSE_COPY_API;
}

static double pageable_busy(const struct evidence *e)
{
	return e->facts->copy_pageable;
}

static void find_pageable(struct evidence *e)
{
	if (e->facts->pageable_copies <= 0)
		return;
	double calls = claimed(e, copy_api_claims), cost = calls + e->facts->copy_pageable;
	if (cost < SMALL * period(e))
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text = arena_format(
		e->arena,
		"%.3g copies %s move %.3g MB from or to pageable memory: %.3g ms in which nothing else runs "
		"on the GPU, and %.3g ms of idle time inside the copy calls.",
		e->facts->pageable_copies, a_step(e), e->facts->pageable_bytes / 1e6, ms(e->facts->copy_pageable),
		ms(calls));
	e->advice = "Use pinned memory (cudaMallocHost, pin_memory=True) and asynchronous copies.";
}

static double serial_busy(const struct evidence *e)
{
	double rest = e->side->budget.copy_exposed - e->facts->copy_pageable - e->facts->copy_managed;
	return rest > 0 ? rest : 0;
}

static void find_serial_copies(struct evidence *e)
{
	double cost = serial_busy(e);
	if (cost < SMALL * period(e) || e->side->budget.compute <= 0)
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text =
		arena_format(e->arena,
	                     "Copies and memsets run alone on the GPU for %.3g ms %s (%.1f %%), with no kernel beside "
	                     "them.",
	                     ms(cost), a_step(e), share(e, cost));
	e->advice = "Copy on a second stream while kernels run, with events for the order.";
}

/* ---- synchronisation ---- */

static bool sync_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->opened == OPENED_SYNC && idle->cause != CAUSE_DISPATCH && idle->cause != CAUSE_DEPENDENCY &&
	       idle->cause != CAUSE_MANAGED_MEMORY && idle->cause != CAUSE_OTHER_PROCESS &&
	       idle->cause != CAUSE_UNATTRIBUTED;
}

static void find_sync(struct evidence *e)
{
	double cost = claimed(e, sync_claims);
	if (e->facts->blocking_syncs < 0.9 || cost < CONSIDERABLE * period(e))
		return;
	e->per_step = cost;
	if (e->side->steps_found)
		e->ceiling = fmax(e->side->busy, e->facts->host_work);
	e->text = arena_format(
		e->arena,
		"The host waits for the GPU %.3g times %s; after it comes back the GPU has nothing to do for "
		"%.3g ms (%.0f %%).",
		e->facts->blocking_syncs, a_step(e), ms(cost), share(e, cost));
	e->advice = "Read results back later or asynchronously (events, pinned memory) so that the host runs ahead.";
}

/* ---- launches ---- */

static bool launch_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return !idle->blocked && !idle->input &&
	       (idle->cause == CAUSE_LAUNCH_API || idle->cause == CAUSE_HOST_CODE || idle->cause == CAUSE_OTHER_API ||
	        idle->cause == CAUSE_LAUNCH_LATENCY);
}

static double launch_cost(struct evidence *e)
{
	double cost = claimed(e, launch_claims);
	bool many = e->facts->launch_calls >= 20;
	return many && cost >= MANY * period(e) ? cost : 0;
}

static double launch_ceiling(const struct evidence *e, double cost)
{
	return fmax(e->side->busy, period(e) - cost) + e->facts->launch_call;
}

static void find_launches(struct evidence *e)
{
	double cost = launch_cost(e);
	if (cost <= 0)
		return;
	e->per_step = cost;
	e->ceiling = launch_ceiling(e, cost);
	e->text = arena_format(
		e->arena,
		"%.0f launches %s of kernels that run %.3g µs (median), while a launch call takes %.3g µs: "
		"the GPU waits %.3g ms (%.0f %%) for the host to launch.",
		e->facts->launch_calls, a_step(e), e->facts->kernel_median / 1e3, e->facts->launch_call / 1e3, ms(cost),
		share(e, cost));
	e->advice = "Launch less: a CUDA graph, fused kernels, larger batches, torch.compile.";
}

static void find_graph(struct evidence *e)
{
	double cost = launch_cost(e);
	if (cost <= 0 || e->facts->steady_launches < 0.9 || e->side->launches < 20)
		return;
	e->per_step = cost;
	e->ceiling = launch_ceiling(e, cost);
	e->text = arena_format(
		e->arena,
		"%.0f %% of the steps launch the same number of kernels (%.0f): what is launched one by one "
		"can be one graph launch.",
		100 * e->facts->steady_launches, e->side->launches);
	e->advice = "Capture the step in a CUDA graph (cudaStreamBeginCapture, torch.cuda.CUDAGraph).";
}

/* ---- host calls that hold up the launching thread ---- */

static bool alloc_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->cause == CAUSE_ALLOC;
}

static void find_alloc(struct evidence *e)
{
	double cost = claimed(e, alloc_claims);
	if (cost < SMALL * period(e))
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text = arena_format(e->arena,
	                       "%.3g allocations and frees %s on the launching thread leave the GPU idle for %.3g ms "
	                       "(%.1f %%)%s.",
	                       e->facts->alloc_calls, a_step(e), ms(cost), share(e, cost), in_phase(e));
	e->advice = "Allocate once and reuse, or take memory from a pool (cudaMallocAsync).";
}

static bool module_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->cause == CAUSE_MODULE_LOAD;
}

static void find_module(struct evidence *e)
{
	double cost = claimed(e, module_claims);
	if (cost < SMALL * period(e))
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text = arena_format(e->arena,
	                       "Loading or compiling code in the measured window leaves the GPU idle for %.3g ms %s "
	                       "(%.1f %%)%s.",
	                       ms(cost), a_step(e), share(e, cost), in_phase(e));
	e->advice = "Load modules before the loop (CUDA_MODULE_LOADING=EAGER), keep them loaded, cache compiled code.";
}

static bool lock_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->cause == CAUSE_HOST_BLOCKED && idle->mutex;
}

static void find_lock(struct evidence *e)
{
	double cost = claimed(e, lock_claims);
	if (cost < SMALL * period(e))
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text = arena_format(e->arena,
	                       "The launching thread waits for a lock while the GPU is idle: %.3g ms %s (%.1f %%)%s.",
	                       ms(cost), a_step(e), share(e, cost), in_phase(e));
	e->advice = "Do not share the lock with other threads while launching, or launch from a process of its own.";
}

static bool managed_claims(const struct evidence *e, const struct cell_key *idle)
{
	(void)e;
	return idle->cause == CAUSE_MANAGED_MEMORY;
}

static double managed_busy(const struct evidence *e)
{
	return e->facts->copy_managed;
}

static void find_managed(struct evidence *e)
{
	double cost = claimed(e, managed_claims) + e->facts->copy_managed;
	if (cost < SMALL * period(e))
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text = arena_format(e->arena, "%.3g unified-memory migrations %s hold the GPU up for %.3g ms (%.1f %%).",
	                       e->facts->managed_copies, a_step(e), ms(cost), share(e, cost));
	e->advice = "Prefetch with cudaMemPrefetchAsync, or use explicit copies.";
}

/* ---- several devices ---- */

static double comm_busy(const struct evidence *e)
{
	return e->facts->comm_min;
}

static void find_comm(struct evidence *e)
{
	double cost = comm_busy(e);
	if (cost < SMALL * period(e))
		return;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text = arena_format(
		e->arena,
		"Communication runs for %.3g ms %s (%.1f %%) without a computing kernel beside it, on every "
		"device.",
		ms(cost), a_step(e), share(e, cost));
	e->advice = "Overlap it with the backward pass: reduce gradients in buckets as they become ready.";
}

static double straggler_busy(const struct evidence *e)
{
	return e->side->budget.comm_exposed - e->facts->comm_min;
}

static void find_straggler(struct evidence *e)
{
	double cost = straggler_busy(e);
	if (e->side->n_devices < 2 || cost < CONSIDERABLE / 2 * period(e))
		return;
	uint32_t last = 0;
	for (uint32_t d = 1; d < e->side->n_devices; d++)
		if (e->side->devices[d].budget.comm_exposed < e->side->devices[last].budget.comm_exposed)
			last = d;
	e->per_step = cost;
	e->ceiling = period(e) - cost;
	e->text =
		arena_format(e->arena,
	                     "Devices wait for the slowest one in their collectives: %.3g ms %s in the mean (%.1f %%); "
	                     "the one that waits least is device %u of process %lld.",
	                     ms(cost), a_step(e), share(e, cost), e->side->devices[last].ordinal,
	                     (long long)e->side->devices[last].process);
	e->advice = "Balance the work: equal batches and sequence lengths, the same input speed on every rank.";
}

/* ---- nothing left to fix at this level ---- */

static void find_gpu_bound(struct evidence *e)
{
	const struct budget *b = &e->side->budget;
	if (b->compute < 0.9 * b->period)
		return;
	e->per_step = b->compute;
	e->text = arena_format(e->arena,
	                       "Kernels run for %.3g of %.3g ms %s (%.0f %%): the GPU is the bottleneck, and nothing "
	                       "around it can make this much faster.",
	                       ms(b->compute), ms(b->period), a_step(e), share(e, b->compute));
	e->advice = "Go to the kernels: precision, fusion, memory access (Nsight Compute).";
}

const struct rule rules[] = {
	{"input_starvation", "Input starvation", find_input, input_claims, NULL},
	{"pageable_copies", "Copies from pageable memory", find_pageable, copy_api_claims, pageable_busy},
	{"serial_copies", "Copies that do not overlap", find_serial_copies, NULL, serial_busy},
	{"sync_every_step", "Synchronisation every step", find_sync, sync_claims, NULL},
	{"launch_bound", "Launch-bound", find_launches, launch_claims, NULL},
	{"graph_opportunity", "Graph opportunity", find_graph, launch_claims, NULL},
	{"alloc_in_step", "Allocation inside the step", find_alloc, alloc_claims, NULL},
	{"module_load", "Module loading inside the window", find_module, module_claims, NULL},
	{"lock_contention", "Launching thread waits for a lock", find_lock, lock_claims, NULL},
	{"managed_memory", "Managed-memory migration", find_managed, managed_claims, managed_busy},
	{"comm_exposed", "Communication not overlapped", find_comm, NULL, comm_busy},
	{"straggler", "One device waits for another", find_straggler, NULL, straggler_busy},
	{"gpu_bound", "The GPU is the bottleneck", find_gpu_bound, NULL, NULL},
};
const size_t n_rules = sizeof rules / sizeof *rules;

bool rule_is_sync(const struct rule *rule)
{
	return rule->find == find_sync;
}
bool rule_is_launch(const struct rule *rule)
{
	return rule->find == find_launches || rule->find == find_graph;
}
bool rule_is_input(const struct rule *rule)
{
	return rule->find == find_input;
}
