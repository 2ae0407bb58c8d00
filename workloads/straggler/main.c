/* One of two GPUs gets more work than the other. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/collective.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "samples.h"

#include <string.h>

enum { PER_SIZE = 2048, PER_WORK = 64, MAX_WORK = 100000 };

static struct collective nccl;
static unsigned long long *own, *total; /* device: SAMPLE_SUMS each, of this rank's samples and of all */
static struct stopwatch watch;

/* Rank 0 computes the first `split` of the step's samples, rank 1 the rest. */
static void step(struct run *run, int i, int split, int all)
{
	int first = run->ranks.rank == 0 ? 0 : split, last = run->ranks.rank == 0 ? split : all;

	phase_begin("batch");
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	samples_compute(run->options->seed, i, first, last - first, own, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	phase_begin("allreduce");
	NCCL_CHECK(ncclAllReduce(own, total, SAMPLE_SUMS, ncclUint64, ncclSum, nccl.comm, run->stream));
	phase_end();
	run_read(run, i);
	run->fault_ms[i] = stopwatch_ms(&watch); /* of this rank's samples, until the end */
}

static int fair_share(const struct run *run)
{
	return run->options->size * PER_SIZE + run->work * PER_WORK;
}

/* ---- baseline: rank 0 has `work` more than its share, rank 1 as much less ---- */

static void step_baseline(struct run *run, int i)
{
	step(run, i, fair_share(run) + run->work * PER_WORK, 2 * fair_share(run));
}

/* ---- fixed: half each ---- */

static void step_fixed(struct run *run, int i)
{
	step(run, i, fair_share(run), 2 * fair_share(run));
}

/* ---- */

static double samples_ms(struct run *run, int n)
{
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	samples_compute(run->options->seed, 0, 0, n, own, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	return stopwatch_ms(&watch);
}

static double extra_ms(void *context, int work)
{
	struct run *run = context;
	int least = run->options->size * PER_SIZE;

	return (samples_ms(run, least + 2 * work * PER_WORK) - samples_ms(run, least)) / 2;
}

static void sums_new(void)
{
	CUDA_CHECK(cudaMalloc((void **)&own, SAMPLE_SUMS * sizeof(*own)));
	CUDA_CHECK(cudaMalloc((void **)&total, SAMPLE_SUMS * sizeof(*total)));
	CUDA_CHECK(cudaMemset(own, 0, SAMPLE_SUMS * sizeof(*own)));
	CUDA_CHECK(cudaDeviceSynchronize());
}

static int calibrate_samples(struct run *run)
{
	int work;

	sums_new();
	stopwatch_init(&watch);
	work = calibrate_together(&run->ranks, run->options->fault_ms, 64, MAX_WORK, extra_ms, run);
	stopwatch_release(&watch);
	CUDA_CHECK(cudaFree(own));
	CUDA_CHECK(cudaFree(total));
	return work;
}

static void prepare(struct run *run)
{
	if (run->work > MAX_WORK)
		run->work = MAX_WORK;
	sums_new();
	stopwatch_init(&watch);
	collective_open(&nccl, &run->ranks);
	ranks_swap(&run->ranks, 0); /* both begin together */
}

/* Both ranks hold the same sums; the fault is half of how much longer one of them takes. */
static void finish(struct run *run)
{
	const int steps = run->options->steps;
	unsigned long long host[SAMPLE_SUMS], theirs[SAMPLE_SUMS];
	double *other = memory_array(steps, sizeof(*other));

	CUDA_CHECK(cudaMemcpy(host, total, sizeof(host), cudaMemcpyDeviceToHost));
	if (run->ranks.rank != 0) {
		ranks_send(&run->ranks, host, sizeof(host));
		ranks_send(&run->ranks, run->fault_ms, (size_t)steps * sizeof(*run->fault_ms));
	} else {
		ranks_receive(&run->ranks, theirs, sizeof(theirs));
		ranks_receive(&run->ranks, other, (size_t)steps * sizeof(*other));
		if (memcmp(host, theirs, sizeof(host)) != 0)
			run_wrong(run, "the ranks hold different sums");
		for (int i = 0; i < steps; i++)
			run->fault_ms[i] = (run->fault_ms[i] - other[i]) / 2;
	}
	run->hash = hash_bytes(run->hash, host, sizeof(host));
	CUDA_CHECK(cudaFree(own));
	CUDA_CHECK(cudaFree(total));
	stopwatch_release(&watch);
	collective_close(&nccl);
	free(other);
}

static const struct pair pair = {
	.name = "straggler",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "samples for each rank, 2048 each",
                 "samples too many, 64 each"},
	.defaults = {.steps = 60, .warmup = 10, .size = 24, .fault_ms = 2, .seed = 1},
	.gpus = 2,
	.calibrate = calibrate_samples,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
