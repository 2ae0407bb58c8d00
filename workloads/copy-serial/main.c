/* Copies and kernels take turns on one stream. See README.md. */
#include "../common/check.h"
#include "../common/ensemble.h"
#include "../common/pair.h"
#include "../common/phase.h"

static struct ensemble ensemble;
static struct stopwatch watch; /* around what the simulation waits for */

static int calibrate_copy(struct run *run)
{
	return ensemble_calibrate(run->options->fault_ms, true, run->stream, run->options->seed);
}

static void finish_step(struct run *run, int i)
{
	phase_begin("assimilate");
	ensemble_use(&ensemble, i % ENSEMBLES, &run->reaction, run->stream);
	phase_end();
	run_simulate(run);
	run_read(run, i);
	run->fault_ms[i] = stopwatch_ms(&watch);
}

/* ---- baseline: everything on one stream ---- */

static void step_baseline(struct run *run, int i)
{
	const int e = i % ENSEMBLES;

	phase_begin("h2d");
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	CUDA_CHECK(cudaMemcpyAsync(ensemble.device[e], ensemble.host[e], ensemble.bytes, cudaMemcpyHostToDevice,
	                           run->stream));
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	finish_step(run, i);
}

/* ---- fixed: the next copy has a stream of its own, and events keep the order ---- */

static cudaStream_t copy;
static cudaEvent_t copied[ENSEMBLES];

/* The step that used this buffer last is over: the host has read its residual. */
static void queue_copy(int i)
{
	const int e = i % ENSEMBLES;

	CUDA_CHECK(cudaMemcpyAsync(ensemble.device[e], ensemble.host[e], ensemble.bytes, cudaMemcpyHostToDevice, copy));
	CUDA_CHECK(cudaEventRecord(copied[e], copy));
}

static void step_fixed(struct run *run, int i)
{
	phase_begin("h2d");
	if (i == 0)
		queue_copy(0);
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	CUDA_CHECK(cudaStreamWaitEvent(run->stream, copied[i % ENSEMBLES], 0));
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	if (i + 1 < run->options->steps)
		queue_copy(i + 1);
	phase_end();
	finish_step(run, i);
}

static void prepare(struct run *run)
{
	ensemble_init(&ensemble, run->work, true, run->options->seed);
	stopwatch_init(&watch);
	CUDA_CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
	for (int e = 0; e < ENSEMBLES; e++)
		CUDA_CHECK(cudaEventCreateWithFlags(&copied[e], cudaEventDisableTiming));
}

static void finish(struct run *run)
{
	(void)run;
	for (int e = 0; e < ENSEMBLES; e++)
		CUDA_CHECK(cudaEventDestroy(copied[e]));
	CUDA_CHECK(cudaStreamDestroy(copy));
	stopwatch_release(&watch);
	ensemble_release(&ensemble);
}

static const struct pair pair = {
	.name = "copy-serial",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step, at least",
                 "frames that are copied in a step"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.outlast = true,
	.calibrate = calibrate_copy,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
