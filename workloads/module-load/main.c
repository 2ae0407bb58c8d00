/* Modules are loaded and unloaded in every step. See README.md. */
#include "../common/calibrate.h"
#include "../common/check.h"
#include "../common/clock.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "driver.h"

enum { MAX_MODULES = 1024, THREADS = 256 };

extern const unsigned char probe_fatbin[]; /* image.c: probe.cu, compiled */

static struct probe {
	CUmodule module;
	CUfunction function;
} * probes;
static float *sums; /* device: one number a probe */

static void load_all(int n)
{
	for (int k = 0; k < n; k++) {
		DRIVER_CHECK(driver.module_load_data(&probes[k].module, probe_fatbin));
		DRIVER_CHECK(driver.module_get_function(&probes[k].function, probes[k].module, "probe"));
	}
}

static void unload_all(int n)
{
	for (int k = 0; k < n; k++)
		DRIVER_CHECK(driver.module_unload(probes[k].module));
}

/* Probe k sums a part of the field of its own. */
static void queue_step(struct run *run)
{
	run_simulate(run);
	phase_begin("probe");
	for (int k = 0; k < run->work; k++) {
		float *field = run->reaction.u[run->reaction.now], *sum = &sums[k];
		void *arguments[] = {&field, &k, &sum};

		DRIVER_CHECK(driver.launch_kernel(probes[k].function, 1, 1, 1, THREADS, 1, 1, 0, (CUstream)run->stream,
		                                  arguments, NULL));
	}
	phase_end();
}

static double modules_ms(void *unused, int work)
{
	double start = clock_ms();

	(void)unused;
	load_all(work);
	unload_all(work);
	return clock_ms() - start;
}

static int calibrate_modules(struct run *run)
{
	int work;

	driver_open();
	probes = memory_array(MAX_MODULES, sizeof(*probes));
	work = calibrate(run->options->fault_ms, 2, MAX_MODULES, modules_ms, NULL);
	free(probes);
	return work;
}

/* ---- baseline: load, use, unload ---- */

static void step_baseline(struct run *run, int i)
{
	phase_begin("plugins");
	run_fault_begin(run, i);
	load_all(run->work);
	run_fault_end(run, i);
	phase_end();
	queue_step(run);
	run_read(run, i);
	phase_begin("cleanup");
	run_fault_begin(run, i);
	unload_all(run->work);
	run_fault_end(run, i);
	phase_end();
}

/* ---- fixed: loaded before the first step ---- */

static void step_fixed(struct run *run, int i)
{
	queue_step(run);
	run_read(run, i);
}

static void prepare(struct run *run)
{
	if (run->work > MAX_MODULES)
		run->work = MAX_MODULES;
	driver_open();
	probes = memory_array(MAX_MODULES, sizeof(*probes));
	CUDA_CHECK(cudaMalloc((void **)&sums, MAX_MODULES * sizeof(*sums)));
	if (run->options->variant == 1)
		load_all(run->work);
}

static void finish(struct run *run)
{
	float *host = memory_array(MAX_MODULES, sizeof(*host));

	if (run->options->variant == 1)
		unload_all(run->work);
	CUDA_CHECK(cudaMemcpy(host, sums, (size_t)run->work * sizeof(*host), cudaMemcpyDeviceToHost));
	for (int k = 0; k < run->work; k++) {
		if (!(host[k] > 0))
			run_wrong(run, "a probe found nothing");
	}
	run->hash = hash_bytes(run->hash, host, (size_t)run->work * sizeof(*host));
	CUDA_CHECK(cudaFree(sums));
	free(host);
	free(probes);
}

static const struct pair pair = {
	.name = "module-load",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step", "modules a step"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.calibrate = calibrate_modules,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
