/* The "fix" is slower. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "estimate.h"

enum { MAX_SUBSTEPS = 1000000 };

static float *estimates; /* device: what the error estimate works on */
static struct stopwatch watch;

/* ---- baseline: simulate ---- */

static void step_baseline(struct run *run, int i)
{
	run_simulate(run);
	run_read(run, i);
}

/* ---- "fixed": simulate, and estimate the error with shorter steps, which nobody asked for ---- */

static void step_fixed(struct run *run, int i)
{
	run_simulate(run);
	phase_begin("estimate");
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	estimate_error(&run->reaction, run->work, estimates, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	run_read(run, i);
	run->fault_ms[i] = stopwatch_ms(&watch);
}

/* ---- */

static double estimate_ms(void *context, int work)
{
	struct run *run = context;

	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	estimate_error(&run->reaction, work, estimates, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	return stopwatch_ms(&watch);
}

static void setup(struct run *run)
{
	stopwatch_init(&watch);
	CUDA_CHECK(cudaMalloc((void **)&estimates, estimate_bytes(&run->reaction)));
}

static void teardown(struct run *run)
{
	(void)run;
	stopwatch_release(&watch);
	CUDA_CHECK(cudaFree(estimates));
}

static int calibrate_estimate(struct run *run)
{
	int work;

	setup(run);
	work = calibrate(run->options->fault_ms, 64, MAX_SUBSTEPS, estimate_ms, run);
	teardown(run);
	return work;
}

static const struct pair pair = {
	.name = "regression",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step",
                 "short steps of the estimate"},
	.defaults = {.steps = 60, .warmup = 10, .size = 16, .fault_ms = 0.2, .seed = 1},
	.calibrate = calibrate_estimate,
	.prepare = setup,
	.step = {step_baseline, step_fixed},
	.finish = teardown,
};
PAIR_MAIN(pair)
