#include "pair.h"

#include "check.h"
#include "clock.h"
#include "gpu.h"
#include "hash.h"
#include "memory.h"
#include "phase.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Sweeps for each millisecond of fault that the simulation must outlast: about two milliseconds on an H200, and more on
 * smaller GPUs. */
enum { SWEEPS_PER_MS = 8 };

/* ---- parts of a step ---- */

void run_simulate(struct run *run)
{
	phase_begin("simulate");
	reaction_advance(&run->reaction, run->sweeps, run->stream);
	phase_end();
}

void run_queue_read(struct run *run, int i)
{
	reaction_residual(&run->reaction, run->stream);
	CUDA_CHECK(cudaMemcpyAsync(&run->residual[i], run->reaction.residual, sizeof(float), cudaMemcpyDeviceToHost,
	                           run->stream));
}

void run_seen(struct run *run, int i)
{
	run->done_ms[i] = clock_ms();
}

void run_read(struct run *run, int i)
{
	phase_begin("residual");
	run_queue_read(run, i);
	CUDA_CHECK(cudaStreamSynchronize(run->stream));
	run_seen(run, i);
	phase_end();
}

void run_fault_begin(struct run *run, int i)
{
	run->fault_ms[i] -= clock_ms();
}

void run_fault_end(struct run *run, int i)
{
	run->fault_ms[i] += clock_ms();
}

void run_wrong(const struct run *run, const char *what)
{
	fprintf(stderr, "%s: %s\n", run->pair->name, what);
	exit(EXIT_WRONG_RESULT);
}

void stopwatch_init(struct stopwatch *w)
{
	CUDA_CHECK(cudaEventCreate(&w->start));
	CUDA_CHECK(cudaEventCreate(&w->stop));
}

void stopwatch_release(struct stopwatch *w)
{
	CUDA_CHECK(cudaEventDestroy(w->start));
	CUDA_CHECK(cudaEventDestroy(w->stop));
}

double stopwatch_ms(const struct stopwatch *w)
{
	float ms;

	CUDA_CHECK(cudaEventSynchronize(w->stop));
	CUDA_CHECK(cudaEventElapsedTime(&ms, w->start, w->stop));
	return ms;
}

/* ---- the whole ---- */

static void check_kernels(const struct run *run)
{
	char text[80];
	double error = reaction_error(run->options->seed, run->stream);

	if (error <= REACTION_TOLERANCE)
		return;
	snprintf(text, sizeof(text), "the simulation is %.2g off from the same on the host", error);
	run_wrong(run, text);
}

/* Adds the residuals and the final state to the hash; both chemicals stay between 0 and 1.5 while all is well. */
static void check_result(struct run *run)
{
	const int cells = run->reaction.edge * run->reaction.edge;
	float *field = memory_array(cells, sizeof(float));

	run->hash = hash_bytes(run->hash, run->residual, (size_t)run->options->steps * sizeof(float));
	for (int k = 0; k < 2; k++) {
		const float *from = k == 0 ? run->reaction.u[run->reaction.now] : run->reaction.v[run->reaction.now];

		CUDA_CHECK(cudaMemcpy(field, from, (size_t)cells * sizeof(float), cudaMemcpyDeviceToHost));
		for (int i = 0; i < cells; i++) {
			if (!(field[i] > -0.01f && field[i] < 1.5f))
				run_wrong(run, "the simulation left its bounds");
		}
		run->hash = hash_bytes(run->hash, field, (size_t)cells * sizeof(float));
	}
	free(field);
}

static void list_print(const char *name, const double *values, int n)
{
	printf(",\"%s\":[", name);
	for (int i = 0; i < n; i++)
		printf("%s%.4f", i > 0 ? "," : "", values[i]);
	printf("]");
}

/* One line of JSON. Times leave the warm-up out; a step lasts from one result that the host saw to the next. The lists
 * have all steps (the first one of steps_ms is 0), so that a reader may choose others. */
static void result_print(const struct run *run, const char *gpu)
{
	const struct options *o = run->options;
	const int n = o->steps - o->warmup;
	double *steps = memory_array(o->steps, sizeof(*steps)), *sorted = memory_array(n, sizeof(*sorted)), fault = 0;

	for (int i = 1; i < o->steps; i++)
		steps[i] = run->done_ms[i] - run->done_ms[i - 1];
	for (int i = 0; i < n; i++) {
		sorted[i] = steps[o->warmup + i];
		fault += run->fault_ms[o->warmup + i] / n;
	}
	printf("{\"workload\":\"%s\",\"variant\":\"%s\",\"gpu\":\"%s\",\"gpus\":%d,\"steps\":%d,\"warmup\":%d,"
	       "\"size\":%d,\"sweeps\":%d,\"fault_ms\":%g,\"fault_work\":%d,\"seed\":%" PRIu64,
	       run->pair->name, run->pair->text.variants[o->variant], gpu, run->ranks.n, o->steps, o->warmup, o->size,
	       run->sweeps, o->fault_ms, run->work, o->seed);
	printf(",\"fault_ms_measured\":%.4f,\"step_ms\":%.4f,\"step_ms_deviation\":%.4f", fault,
	       (run->done_ms[o->steps - 1] - run->done_ms[o->warmup - 1]) / n, clock_deviation(sorted, n));
	printf(",\"step_ms_median\":%.4f", clock_median(sorted, n)); /* sorts */
	printf(",\"step_ms_min\":%.4f,\"step_ms_max\":%.4f,\"result_hash\":\"%016" PRIx64 "\",\"phases\":", sorted[0],
	       sorted[n - 1], run->hash);
	phase_print(stdout);
	list_print("steps_ms", steps, o->steps);
	list_print("faults_ms", run->fault_ms, o->steps);
	puts("}");
	free(steps);
	free(sorted);
}

/* Sets run->work and run->sweeps, the same in all ranks. */
static void measure_out(struct run *run)
{
	const struct pair *pair = run->pair;
	const struct options *o = run->options;
	double least = pair->outlast ? ceil(o->fault_ms * SWEEPS_PER_MS) : 0;

	run->sweeps = o->size > least ? o->size : (int)least;
	if (pair->calibrate == NULL)
		return;
	run->work = o->fault_work >= 0 ? o->fault_work : pair->calibrate(run);
}

/* Rank 0 has the hash of both. */
static void gather_hash(struct run *run)
{
	uint64_t other;

	if (run->ranks.n < 2)
		return;
	if (run->ranks.rank != 0) {
		ranks_send(&run->ranks, &run->hash, sizeof(run->hash));
		return;
	}
	ranks_receive(&run->ranks, &other, sizeof(other));
	run->hash = hash_bytes(run->hash, &other, sizeof(other));
}

int pair_main(const struct pair *pair, int argc, char **argv)
{
	struct options o = pair->defaults;
	struct run run = {.pair = pair, .options = &o, .hash = HASH_START};
	const int gpus = pair->gpus > 1 ? pair->gpus : 1;
	char gpu[256];
	int status;

	options_parse(&o, &pair->text, argc, argv);
	ranks_start(&run.ranks, gpus);
	gpu_open(run.ranks.rank == 0 ? pair->name : NULL, run.ranks.rank, gpus, gpu, sizeof(gpu));
	phase_names(o.neutral_names);
	CUDA_CHECK(cudaStreamCreateWithFlags(&run.stream, cudaStreamNonBlocking));
	CUDA_CHECK(cudaMallocHost((void **)&run.residual, (size_t)o.steps * sizeof(float)));
	run.done_ms = memory_array(o.steps, sizeof(double));
	run.fault_ms = memory_array(o.steps, sizeof(double));
	check_kernels(&run);
	reaction_init(&run.reaction, REACTION_EDGE, o.seed + (uint64_t)run.ranks.rank);
	measure_out(&run);
	if (pair->prepare != NULL)
		pair->prepare(&run);
	CUDA_CHECK(cudaDeviceSynchronize());

	for (int i = 0; i < o.steps; i++) {
		phase_begin("step");
		pair->step[o.variant](&run, i);
		phase_end();
	}
	if (pair->finish != NULL)
		pair->finish(&run);
	CUDA_CHECK(cudaDeviceSynchronize());

	check_result(&run);
	gather_hash(&run);
	status = ranks_finish(&run.ranks);
	if (run.ranks.rank == 0)
		result_print(&run, gpu);
	reaction_release(&run.reaction);
	CUDA_CHECK(cudaFreeHost(run.residual));
	CUDA_CHECK(cudaStreamDestroy(run.stream));
	free(run.done_ms);
	free(run.fault_ms);
	return status;
}
