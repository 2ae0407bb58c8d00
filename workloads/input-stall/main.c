/* The next input is prepared on the critical path. See README.md. */
#include "../common/check.h"
#include "../common/frames.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "../common/thread.h"

#include <pthread.h>

enum { FRAMES = 16, WORKERS = 6, SLOTS = 2 * WORKERS };

static struct frames frames;
static float *input[SLOTS]; /* pinned */
static float *frame;        /* on the device */

static int calibrate_decode(struct run *run)
{
	return frames_calibrate(run->options->fault_ms, run->options->seed);
}

static void queue_step(struct run *run, const float *from)
{
	phase_begin("h2d");
	CUDA_CHECK(cudaMemcpyAsync(frame, from, FRAME_PIXELS * sizeof(float), cudaMemcpyHostToDevice, run->stream));
	reaction_nudge(&run->reaction, frame, run->stream);
	phase_end();
	run_simulate(run);
}

/* ---- baseline: decode, copy, simulate, one after the other ---- */

static void step_baseline(struct run *run, int i)
{
	phase_begin("input");
	run_fault_begin(run, i);
	frames_decode(&frames, i, input[0]);
	run_fault_end(run, i);
	phase_end();
	queue_step(run, input[0]);
	run_read(run, i);
}

/* ---- fixed: workers decode ahead while the GPU simulates ---- */

static struct {
	pthread_t thread[WORKERS];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int next;           /* the next frame that a worker takes */
	int consumed;       /* frames whose slot is free again */
	int decoded[SLOTS]; /* the frame that lies in the slot, -1: none */
	int steps;
} ahead = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&ahead.lock);
	while (ahead.next < ahead.steps) {
		int i = ahead.next++;

		while (i >= ahead.consumed + SLOTS)
			pthread_cond_wait(&ahead.changed, &ahead.lock);
		pthread_mutex_unlock(&ahead.lock);
		phase_begin("decode");
		frames_decode(&frames, i, input[i % SLOTS]);
		phase_end();
		pthread_mutex_lock(&ahead.lock);
		ahead.decoded[i % SLOTS] = i;
		pthread_cond_broadcast(&ahead.changed);
	}
	pthread_mutex_unlock(&ahead.lock);
	return NULL;
}

static void step_fixed(struct run *run, int i)
{
	phase_begin("input");
	run_fault_begin(run, i);
	pthread_mutex_lock(&ahead.lock);
	while (ahead.decoded[i % SLOTS] != i)
		pthread_cond_wait(&ahead.changed, &ahead.lock);
	pthread_mutex_unlock(&ahead.lock);
	run_fault_end(run, i);
	phase_end();
	queue_step(run, input[i % SLOTS]);
	run_read(run, i);
	pthread_mutex_lock(&ahead.lock);
	ahead.consumed = i + 1;
	pthread_cond_broadcast(&ahead.changed);
	pthread_mutex_unlock(&ahead.lock);
}

static void prepare(struct run *run)
{
	frames_init(&frames, FRAMES, run->work, run->options->seed);
	CUDA_CHECK(cudaMalloc((void **)&frame, FRAME_PIXELS * sizeof(float)));
	for (int s = 0; s < SLOTS; s++) {
		CUDA_CHECK(cudaMallocHost((void **)&input[s], FRAME_PIXELS * sizeof(float)));
		ahead.decoded[s] = -1;
	}
	ahead.steps = run->options->steps;
	for (int w = 0; run->options->variant == 1 && w < WORKERS; w++)
		thread_start(&ahead.thread[w], work, NULL);
}

static void finish(struct run *run)
{
	for (int w = 0; run->options->variant == 1 && w < WORKERS; w++)
		pthread_join(ahead.thread[w], NULL);
	for (int s = 0; s < SLOTS; s++)
		CUDA_CHECK(cudaFreeHost(input[s]));
	CUDA_CHECK(cudaFree(frame));
	frames_release(&frames);
}

static const struct pair pair = {
	.name = "input-stall",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step",
                 "rounds of the frames' filter"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.calibrate = calibrate_decode,
	.prepare = prepare,
	.step = {step_baseline, step_fixed},
	.finish = finish,
};
PAIR_MAIN(pair)
