/* The host waits for every step's result before it goes on. See README.md. */
#include "../common/check.h"
#include "../common/frames.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"

#include <string.h>

/* What the host does with a result: it is written into a picture of the run, which is filtered for a file. */
static uint8_t *picture, *filtered;

static void record(struct run *run, int i)
{
	phase_begin("report");
	memcpy(picture + (size_t)i * sizeof(float) % FRAME_PIXELS, &run->residual[i], sizeof(float));
	memcpy(filtered, picture, FRAME_PIXELS);
	frame_filter_on(filtered, run->work);
	run->hash = hash_bytes(run->hash, filtered + FRAME_PIXELS / 2, FRAME_EDGE);
	phase_end();
}

static int calibrate_record(struct run *run)
{
	return frame_filter_calibrate(run->options->fault_ms, run->options->seed);
}

/* ---- baseline: read, record, and only then queue the next step ---- */

static void step_baseline(struct run *run, int i)
{
	run_simulate(run);
	run_read(run, i);
	run_fault_begin(run, i);
	record(run, i);
	run_fault_end(run, i);
}

/* ---- fixed: queue the next step, then read and record the one before, which no GPU waits for ---- */

static cudaEvent_t done[2];

static void read_late(struct run *run, int i)
{
	phase_begin("residual");
	CUDA_CHECK(cudaEventSynchronize(done[i % 2]));
	run_seen(run, i);
	phase_end();
	record(run, i);
}

static void step_fixed(struct run *run, int i)
{
	run_simulate(run);
	phase_begin("residual");
	run_queue_read(run, i);
	CUDA_CHECK(cudaEventRecord(done[i % 2], run->stream));
	phase_end();
	if (i > 0)
		read_late(run, i - 1);
}

static void prepare(struct run *run)
{
	picture = memory_array(FRAME_PIXELS, 1);
	filtered = memory_array(FRAME_PIXELS, 1);
	frame_draw(picture, run->options->seed, 0);
	for (int i = 0; i < 2; i++)
		CUDA_CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
}

static void finish(struct run *run)
{
	if (run->options->variant == 1)
		read_late(run, run->options->steps - 1);
	for (int i = 0; i < 2; i++)
		CUDA_CHECK(cudaEventDestroy(done[i]));
	free(picture);
	free(filtered);
}

static const struct pair pair = {
	.name = "sync-every-step",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step, at least",
                 "rounds of the picture's filter"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.outlast = true,
	.calibrate = calibrate_record,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
