/* The launching thread waits for a lock that a worker holds while it works. See README.md. */
#include "../common/frames.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/pair.h"
#include "../common/phase.h"
#include "../common/thread.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* What the two threads share. In each step the launching thread hands a result over, and the worker files it. Both
 * watch the counters instead of sleeping, so that a step waits for the lock and for no wake-up beside it. */
static struct {
	pthread_t thread;
	atomic_int given, taken; /* results to file; those with which the worker has begun */
	pthread_mutex_t lock;
	bool locks; /* the fault: the worker keeps the lock while it works */
	bool stop;
	int rounds;
	float result;
	int settings;  /* under the lock: read by the launching thread before each step */
	uint64_t hash; /* of what was filed */
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER, .hash = 1};

static void file_away(uint8_t *picture, float result, int rounds)
{
	uint8_t filtered[FRAME_PIXELS];

	memcpy(picture, &result, sizeof(result));
	memcpy(filtered, picture, sizeof(filtered));
	frame_filter_on(filtered, rounds);
	desk.hash = hash_bytes(desk.hash, filtered + FRAME_PIXELS / 2, FRAME_EDGE);
}

static void wait_until(const atomic_int *counter, int reached)
{
	while (atomic_load(counter) < reached)
		sched_yield();
}

static void *work(void *argument)
{
	uint8_t *picture = argument;

	for (int n = 1;; n++) {
		float result;

		wait_until(&desk.given, n);
		if (desk.stop)
			return NULL;
		result = desk.result;
		if (desk.locks)
			pthread_mutex_lock(&desk.lock);
		atomic_store(&desk.taken, n);
		phase_begin("file");
		file_away(picture, result, desk.rounds);
		phase_end();
		if (desk.locks)
			pthread_mutex_unlock(&desk.lock);
	}
}

/* The same in both variants: what differs is whether the worker has the lock. */
static void step(struct run *run, int i)
{
	int sweeps;

	if (i > 0) {
		phase_begin("report");
		desk.result = run->residual[i - 1];
		atomic_store(&desk.given, i);
		wait_until(&desk.taken, i);
		phase_end();
	}
	phase_begin("settings");
	run_fault_begin(run, i);
	pthread_mutex_lock(&desk.lock);
	sweeps = desk.settings;
	pthread_mutex_unlock(&desk.lock);
	run_fault_end(run, i);
	phase_end();
	run->sweeps = sweeps;
	run_simulate(run);
	run_read(run, i);
}

static int calibrate_work(struct run *run)
{
	return frame_filter_calibrate(run->options->fault_ms, run->options->seed);
}

static uint8_t *picture;

static void prepare(struct run *run)
{
	picture = memory_array(FRAME_PIXELS, 1);
	frame_draw(picture, run->options->seed, 0);
	desk.locks = run->options->variant == 0;
	desk.rounds = run->work;
	desk.settings = run->sweeps;
	thread_start(&desk.thread, work, picture);
}

static void finish(struct run *run)
{
	desk.stop = true;
	atomic_fetch_add(&desk.given, 1);
	pthread_join(desk.thread, NULL);
	run->hash = hash_bytes(run->hash, &desk.hash, sizeof(desk.hash));
	free(picture);
}

static const struct pair pair = {
	.name = "host-lock",
	.text = {(const char *const[]){"baseline", "fixed", NULL}, "sweeps of the simulation a step, at least",
                 "rounds of the picture's filter"},
	.defaults = {.steps = 60, .warmup = 10, .size = 12, .fault_ms = 2, .seed = 1},
	.outlast = true,
	.calibrate = calibrate_work,
	.prepare = prepare,
	.step = {step, step},
	.finish = finish,
};
PAIR_MAIN(pair)
