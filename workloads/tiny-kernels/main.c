/* Hundreds of short kernels, each launched by the host. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/clock.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "operators.h"

enum { PLAN_SUBSTEPS = 3000, MAX_OPERATORS = 8192 };

static struct operators operators;  /* on the device */
static struct operator_plan *plans; /* of all operators: what planning them one by one gives */
static struct stopwatch watch;
static double gpu_ms; /* what the operators of a step take when none has to be waited for */

/* What a framework does before it launches an operator, the same again in every step: here the host works out its rates
 * from a model of its own. */
static struct operator_plan plan_operator(int k)
{
	double u = 0.5 + 0.4 * (k % 16) / 16, v = 0.25;

	reaction_react(&u, &v, PLAN_SUBSTEPS);
	return (struct operator_plan){.feed = (float)(0.03 + 0.01 * u), .kill = (float)(0.06 + 0.005 * v)};
}

static void launch_all(cudaStream_t stream, int n)
{
	for (int k = 0; k < n; k++)
		operators_launch(&operators, plans[k], stream);
}

static void plan_and_launch_all(cudaStream_t stream, int n)
{
	for (int k = 0; k < n; k++)
		operators_launch(&operators, plan_operator(k), stream);
}

/* After the operators were queued: the rest of the step, and what the GPU took for them beyond what they need. */
static void finish_step(struct run *run, int i)
{
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	run_simulate(run);
	run_read(run, i);
	run->fault_ms[i] = stopwatch_ms(&watch) - gpu_ms;
}

static void begin_operators(struct run *run)
{
	phase_begin("operators");
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
}

/* ---- baseline: plan, launch, plan, launch … ---- */

static void step_baseline(struct run *run, int i)
{
	begin_operators(run);
	plan_and_launch_all(run->stream, run->work);
	finish_step(run, i);
}

/* ---- fixed: planned and captured once, launched as one graph ---- */

static cudaGraphExec_t graph;

static void step_fixed(struct run *run, int i)
{
	begin_operators(run);
	if (graph != NULL)
		CUDA_CHECK(cudaGraphLaunch(graph, run->stream));
	finish_step(run, i);
}

static void capture(struct run *run)
{
	cudaGraph_t captured;

	CUDA_CHECK(cudaStreamBeginCapture(run->stream, cudaStreamCaptureModeThreadLocal));
	launch_all(run->stream, run->work);
	CUDA_CHECK(cudaStreamEndCapture(run->stream, &captured));
	CUDA_CHECK(cudaGraphInstantiateWithFlags(&graph, captured, 0));
	CUDA_CHECK(cudaGraphDestroy(captured));
}

/* ---- fused: one kernel does what all operators do ---- */

static void step_fused(struct run *run, int i)
{
	begin_operators(run);
	operators_launch_fused(&operators, run->work, run->stream);
	finish_step(run, i);
}

/* ---- */

/* The GPU's own time for `n` operators: launches alone are quicker than these kernels, so that they queue up. */
static double operators_ms(struct run *run, void (*launch)(cudaStream_t stream, int n), int n)
{
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	launch(run->stream, n);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	return stopwatch_ms(&watch);
}

static double queued_ms(struct run *run, int n)
{
	enum { TIMES = 5 };
	double values[TIMES];

	for (int i = 0; i < TIMES; i++)
		values[i] = operators_ms(run, launch_all, n);
	return clock_median(values, TIMES);
}

static double wasted_ms(void *context, int work)
{
	struct run *run = context;

	return operators_ms(run, plan_and_launch_all, work) - operators_ms(run, launch_all, work);
}

static void setup(struct run *run)
{
	plans = memory_array(MAX_OPERATORS, sizeof(*plans));
	for (int k = 0; k < MAX_OPERATORS; k++)
		plans[k] = k < 16 ? plan_operator(k) : plans[k % 16];
	operators_init(&operators, plans, MAX_OPERATORS, run->options->seed);
	stopwatch_init(&watch);
}

static void teardown(void)
{
	stopwatch_release(&watch);
	operators_release(&operators);
	free(plans);
}

static int calibrate_operators(struct run *run)
{
	int work;

	setup(run);
	work = calibrate(run->options->fault_ms, 64, MAX_OPERATORS, wasted_ms, run);
	teardown();
	return work;
}

static void prepare(struct run *run)
{
	if (run->work > MAX_OPERATORS)
		run->work = MAX_OPERATORS;
	setup(run);
	gpu_ms = queued_ms(run, run->work);
	operators_reset(&operators, run->options->seed);
	if (run->options->variant == 1 && run->work > 0)
		capture(run);
}

static void finish(struct run *run)
{
	run->hash = operators_hash(&operators, run->hash);
	if (graph != NULL)
		CUDA_CHECK(cudaGraphExecDestroy(graph));
	teardown();
}

static const struct pair pair = {
	.name = "tiny-kernels",
	.text = {(const char *const[]){"baseline", "fixed", "fused", NULL},
                 "sweeps of the simulation a step, beside the operators", "operators a step"},
	.defaults = {.steps = 60, .warmup = 10, .size = 1, .fault_ms = 2, .seed = 1},
	.calibrate = calibrate_operators,
	.prepare = prepare,
	.step = {step_baseline, step_fixed, step_fused},
	.finish = finish,
};
PAIR_MAIN(pair)
