/* Workspaces are allocated and freed in every step. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/clock.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "diagnostics.h"

enum { MAX_WORKSPACES = 1024 };

static float **workspace;
static float *means; /* device: one number a workspace */

/* What a step needs its workspaces for: a smoothed copy of the field in each, and the mean of that. */
static void queue_step(struct run *run)
{
	run_simulate(run);
	phase_begin("diagnose");
	for (int k = 0; k < run->work; k++)
		diagnose(run->reaction.u[run->reaction.now], k + 1, workspace[k], &means[k], run->stream);
	phase_end();
}

static void allocate_all(int n)
{
	for (int k = 0; k < n; k++)
		CUDA_CHECK(cudaMalloc((void **)&workspace[k], WORKSPACE_BYTES));
}

static void free_all(int n)
{
	for (int k = 0; k < n; k++)
		CUDA_CHECK(cudaFree(workspace[k]));
}

static double allocation_ms(void *unused, int work)
{
	double start = clock_ms();

	(void)unused;
	allocate_all(work);
	free_all(work);
	return clock_ms() - start;
}

static int calibrate_allocations(struct run *run)
{
	int work;

	workspace = memory_array(MAX_WORKSPACES, sizeof(*workspace));
	work = calibrate(run->options->fault_ms, 4, MAX_WORKSPACES, allocation_ms, NULL);
	free(workspace);
	return work;
}

/* ---- baseline: from the driver and back to it ---- */

static void step_baseline(struct run *run, int i)
{
	phase_begin("workspace");
	run_fault_begin(run, i);
	allocate_all(run->work);
	run_fault_end(run, i);
	phase_end();
	queue_step(run);
	run_read(run, i);
	phase_begin("cleanup");
	run_fault_begin(run, i);
	free_all(run->work);
	run_fault_end(run, i);
	phase_end();
}

/* ---- fixed: from a pool that keeps what is given back ---- */

static void step_fixed(struct run *run, int i)
{
	phase_begin("workspace");
	run_fault_begin(run, i);
	for (int k = 0; k < run->work; k++)
		CUDA_CHECK(cudaMallocAsync((void **)&workspace[k], WORKSPACE_BYTES, run->stream));
	run_fault_end(run, i);
	phase_end();
	queue_step(run);
	phase_begin("cleanup");
	for (int k = 0; k < run->work; k++)
		CUDA_CHECK(cudaFreeAsync(workspace[k], run->stream));
	phase_end();
	run_read(run, i);
}

static void prepare(struct run *run)
{
	uint64_t keep = UINT64_MAX;
	cudaMemPool_t pool;

	if (run->work > MAX_WORKSPACES)
		run->work = MAX_WORKSPACES;
	workspace = memory_array(MAX_WORKSPACES, sizeof(*workspace));
	CUDA_CHECK(cudaMalloc((void **)&means, MAX_WORKSPACES * sizeof(*means)));
	if (run->options->variant == 0)
		return;
	CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

static void finish(struct run *run)
{
	float *host = memory_array(MAX_WORKSPACES, sizeof(*host));

	CUDA_CHECK(cudaMemcpy(host, means, (size_t)run->work * sizeof(*host), cudaMemcpyDeviceToHost));
	for (int k = 0; k < run->work; k++) {
		if (!(host[k] > 0 && host[k] < 1.5f))
			run_wrong(run, "the mean of a smoothed field is out of bounds");
	}
	run->hash = hash_bytes(run->hash, host, (size_t)run->work * sizeof(*host));
	CUDA_CHECK(cudaFree(means));
	free(host);
	free(workspace);
}

static const struct pair pair = {
	.name = "alloc-in-loop",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step",
                 "workspaces a step"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.calibrate = calibrate_allocations,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
