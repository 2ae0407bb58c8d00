/* A kernel whose neighbouring threads touch memory far apart. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/hash.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "scale.h"

enum { MAX_BANDS = 32768 };

static float *matrix;
static struct stopwatch watch;
static double even_ms; /* what the same takes in the right order */

static double scale_ms(struct run *run, enum scale_order order, int bands)
{
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	scale_matrix(matrix, bands, order, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	return stopwatch_ms(&watch);
}

static void step(struct run *run, int i, enum scale_order order)
{
	run_simulate(run);
	phase_begin("scale");
	CUDA_CHECK(cudaEventRecord(watch.start, run->stream));
	if (run->work > 0)
		scale_matrix(matrix, run->work, order, run->stream);
	CUDA_CHECK(cudaEventRecord(watch.stop, run->stream));
	phase_end();
	run_read(run, i);
	run->fault_ms[i] = stopwatch_ms(&watch) - even_ms;
}

/* ---- baseline: neighbouring threads work on neighbouring rows ---- */

static void step_baseline(struct run *run, int i)
{
	step(run, i, SCALE_ROWS);
}

/* ---- fixed: … on neighbouring columns, which lie side by side in memory ---- */

static void step_fixed(struct run *run, int i)
{
	step(run, i, SCALE_COLUMNS);
}

/* ---- */

static void replace_matrix(struct run *run, int bands)
{
	static int present;

	if (bands == present)
		return;
	CUDA_CHECK(cudaFree(matrix));
	matrix = bands > 0 ? scale_new(bands, run->options->seed) : NULL;
	present = bands;
}

static double lost_ms(void *context, int work)
{
	replace_matrix(context, work);
	return scale_ms(context, SCALE_ROWS, work) - scale_ms(context, SCALE_COLUMNS, work);
}

static int calibrate_bands(struct run *run)
{
	int work;

	stopwatch_init(&watch);
	work = calibrate(run->options->fault_ms, 256, MAX_BANDS, lost_ms, run);
	stopwatch_release(&watch);
	replace_matrix(run, 0);
	return work;
}

static void prepare(struct run *run)
{
	enum { TIMES = 5 };

	if (run->work > MAX_BANDS)
		run->work = MAX_BANDS;
	stopwatch_init(&watch);
	if (run->work == 0)
		return;
	replace_matrix(run, run->work);
	for (int i = 0; i < TIMES; i++) { /* the first one is cold */
		double ms = scale_ms(run, SCALE_COLUMNS, run->work);

		even_ms = i == 0 || ms < even_ms ? ms : even_ms;
	}
	scale_draw(matrix, run->work, run->options->seed);
}

static void finish(struct run *run)
{
	if (run->work > 0) {
		uint64_t sum = scale_checksum(matrix, run->work);

		if (sum == 0)
			run_wrong(run, "the matrix left its bounds");
		run->hash = hash_bytes(run->hash, &sum, sizeof(sum));
	}
	stopwatch_release(&watch);
	replace_matrix(run, 0);
}

static const struct pair pair = {
	.name = "kernel-bound",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step",
                 "bands of the matrix"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.calibrate = calibrate_bands,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
