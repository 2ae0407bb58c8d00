/* Gradients are reduced only when all of them are there. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/collective.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "gradient.h"

/* Seven buckets of eight units and, last, one of one unit: the first layer of a network, whose gradient comes last, is
 * small, and nothing is left to hide it behind. */
enum { BUCKETS = 8, UNITS = 57, UNIT = 1024, MAX_WORK = 32768 };

static struct collective nccl;
static float *gradient; /* device: all buckets, one after the other */
static struct stopwatch watch;
static cudaEvent_t ready[BUCKETS], reduced;

static size_t bucket_start(int bucket, int work)
{
	return (size_t)bucket * 8 * UNIT * (size_t)work;
}

static size_t bucket_length(int bucket, int work)
{
	return (size_t)(bucket < BUCKETS - 1 ? 8 : 1) * UNIT * (size_t)work;
}

static size_t gradient_bytes(int work)
{
	return (size_t)UNITS * UNIT * (size_t)work * sizeof(float);
}

/* A layer's part of the backward pass, at the end of which its gradient is there. */
static void queue_layer(struct run *run, int bucket)
{
	int from = run->sweeps * bucket / BUCKETS, to = run->sweeps * (bucket + 1) / BUCKETS;

	reaction_advance(&run->reaction, to - from, run->stream);
	gradient_of(run->reaction.u[run->reaction.now], run->reaction.edge * run->reaction.edge,
	            gradient + bucket_start(bucket, run->work), bucket_length(bucket, run->work), run->stream);
}

static void queue_reduce(int bucket, int work, cudaStream_t stream)
{
	float *part = gradient + bucket_start(bucket, work);

	NCCL_CHECK(ncclAllReduce(part, part, bucket_length(bucket, work), ncclFloat, ncclSum, nccl.comm, stream));
}

static void finish_step(struct run *run, int i)
{
	phase_begin("update");
	reaction_nudge(&run->reaction, gradient, run->stream);
	phase_end();
	run_read(run, i);
	run->fault_ms[i] = stopwatch_ms(&watch);
}

/* ---- baseline: first all of the backward pass, then all collectives ---- */

static void step_baseline(struct run *run, int i)
{
	phase_begin("backward");
	for (int b = 0; b < BUCKETS; b++)
		queue_layer(run, b);
	phase_end();
	phase_begin("allreduce");
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	for (int b = 0; b < BUCKETS; b++)
		queue_reduce(b, run->work, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	finish_step(run, i);
}

/* ---- fixed: each bucket as soon as it is there, beside the rest of the backward pass ---- */

static void step_fixed(struct run *run, int i)
{
	phase_begin("backward");
	for (int b = 0; b < BUCKETS; b++) {
		queue_layer(run, b);
		CUDA_CHECK(cudaEventRecord(ready[b], run->stream));
		CUDA_CHECK(cudaStreamWaitEvent(nccl.stream, ready[b], 0));
		queue_reduce(b, run->work, nccl.stream);
	}
	phase_end();
	phase_begin("allreduce");
	CUDA_CHECK(cudaEventRecord(reduced, nccl.stream));
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	CUDA_CHECK(cudaStreamWaitEvent(run->stream, reduced, 0));
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	finish_step(run, i);
}

/* ---- */

static double reduce_ms(void *context, int work)
{
	struct run *run = context;
	static int present;
	double mine, other;

	if (work != present) {
		CUDA_CHECK(cudaFree(gradient));
		CUDA_CHECK(cudaMalloc((void **)&gradient, gradient_bytes(work)));
		CUDA_CHECK(cudaMemset(gradient, 0, gradient_bytes(work)));
		CUDA_CHECK(cudaDeviceSynchronize());
		present = work;
	}
	ranks_swap(&run->ranks, 0); /* both are here */
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	for (int b = 0; b < BUCKETS; b++)
		queue_reduce(b, work, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	mine = stopwatch_ms(&watch);
	other = ranks_swap(&run->ranks, mine);
	return mine < other ? mine : other;
}

static int calibrate_gradient(struct run *run)
{
	int work;

	collective_open(&nccl, &run->ranks);
	stopwatch_init(&watch);
	work = calibrate_together(&run->ranks, run->options->fault_ms, 64, MAX_WORK, reduce_ms, run);
	CUDA_CHECK(cudaFree(gradient));
	stopwatch_release(&watch);
	collective_close(&nccl);
	return work;
}

static void prepare(struct run *run)
{
	/* at least as much as the update takes a frame from */
	run->work = run->work < 2 ? 2 : run->work > MAX_WORK ? MAX_WORK : run->work;
	collective_open(&nccl, &run->ranks);
	stopwatch_init(&watch);
	CUDA_CHECK(cudaMalloc((void **)&gradient, gradient_bytes(run->work)));
	for (int b = 0; b < BUCKETS; b++)
		CUDA_CHECK(cudaEventCreateWithFlags(&ready[b], cudaEventDisableTiming));
	CUDA_CHECK(cudaEventCreateWithFlags(&reduced, cudaEventDisableTiming));
	ranks_swap(&run->ranks, 0); /* both begin together */
}

/* Both ranks hold the same sums; what a step waited for collectives is what the quicker rank waited, the rest is
 * waiting for the other rank. */
static void finish(struct run *run)
{
	const size_t bytes = gradient_bytes(run->work);
	const int steps = run->options->steps;
	float *host = memory_array(1, bytes);
	double *other = memory_array(steps, sizeof(*other));
	uint64_t mine, theirs;

	CUDA_CHECK(cudaMemcpy(host, gradient, bytes, cudaMemcpyDeviceToHost));
	mine = hash_bytes(HASH_START, host, bytes < 1 << 24 ? bytes : 1 << 24);
	if (run->ranks.rank != 0) {
		ranks_send(&run->ranks, &mine, sizeof(mine));
		ranks_send(&run->ranks, run->fault_ms, (size_t)steps * sizeof(*run->fault_ms));
	} else {
		ranks_receive(&run->ranks, &theirs, sizeof(theirs));
		ranks_receive(&run->ranks, other, (size_t)steps * sizeof(*other));
		if (mine != theirs)
			run_wrong(run, "the ranks hold different sums");
		for (int i = 0; i < steps; i++)
			run->fault_ms[i] = other[i] < run->fault_ms[i] ? other[i] : run->fault_ms[i];
	}
	run->hash = hash_bytes(run->hash, &mine, sizeof(mine));
	for (int b = 0; b < BUCKETS; b++)
		CUDA_CHECK(cudaEventDestroy(ready[b]));
	CUDA_CHECK(cudaEventDestroy(reduced));
	CUDA_CHECK(cudaFree(gradient));
	stopwatch_release(&watch);
	collective_close(&nccl);
	free(host);
	free(other);
}

static const struct pair pair = {
	.name = "nccl-serial",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step, at least",
                 "size of the gradients, 57 Ki numbers each"},
	.defaults = {.steps = 60, .warmup = 10, .size = 16, .fault_ms = 2, .seed = 1},
	.gpus = 2,
	.outlast = true,
	.calibrate = calibrate_gradient,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
