/* The input pipeline of training-step without a GPU: the fault's size must not show in what it delivers. */
#include "../training-step/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 128, PICTURES = 256 };

static int failures;

static void expect(int truth, const char *what)
{
	printf("%s: %s\n", truth ? "ok" : "FAILED", what);
	failures += !truth;
}

/* Mean and mean square of the pixels: augmented pictures are centred and neither flat nor wild. */
static void pixels_expect(const float *pixels)
{
	double sum = 0, squares = 0;
	size_t n = (size_t)BATCH * PICTURE_SIZE;

	for (size_t i = 0; i < n; i++) {
		sum += pixels[i];
		squares += (double)pixels[i] * pixels[i];
	}
	expect(fabs(sum / n) < 0.1, "pixels are centred");
	expect(squares / n > 0.3 && squares / n < 3, "pixels have a variance of about 1");
}

/*
 * Processor time is what the rounds are for. A busy machine adds to it, too, by caches that others empty: the least of
 * five batches of this thread is held against.
 */
static double cpu_ms_least(struct data *d, unsigned rounds, char *batch)
{
	double least = INFINITY;

	data_filter(d, rounds);
	for (int i = 0; i < 5; i++) {
		struct timespec from, to;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		data_batch(d, 3, BATCH, batch);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		least = fmin(least, (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) * 1e-6);
	}
	return least;
}

int main(void)
{
	size_t bytes = data_batch_bytes(BATCH);
	char *plain = malloc(bytes), *other = malloc(bytes);
	struct data d;
	double none, many;

	data_init(&d, PICTURES, 1);
	data_batch(&d, 3, BATCH, plain);
	pixels_expect((const float *)plain);

	data_filter(&d, 17);
	data_batch(&d, 3, BATCH, other);
	expect(memcmp(plain, other, bytes) == 0, "17 rounds of the filter give the same batch as none");
	data_filter(&d, 5);
	data_batch(&d, 3, BATCH, other);
	expect(memcmp(plain, other, bytes) == 0, "5 rounds give the same batch as none");
	data_batch(&d, 4, BATCH, other);
	expect(memcmp(plain, other, bytes) != 0, "another index gives another batch");
	d.rounds--;
	data_batch(&d, 3, BATCH, other);
	d.rounds++;
	expect(memcmp(plain, other, bytes) != 0, "a round left out shows");

	none = cpu_ms_least(&d, 0, other);
	many = cpu_ms_least(&d, 400, other);
	printf("a batch of %d takes %.3f ms without filter, %.3f ms with 400 rounds\n", BATCH, none, many);
	expect(many > 2 * none, "rounds cost time");
	data_calibrate(&d, 0, BATCH, other);
	expect(d.rounds == 0, "no fault asked for: no rounds");
	data_calibrate(&d, 5, BATCH, other);
	expect(d.rounds > 0, "a fault of 5 ms takes rounds");
	data_release(&d);

	data_init(&d, PICTURES, 2);
	data_batch(&d, 3, BATCH, other);
	expect(memcmp(plain, other, bytes) != 0, "another seed gives other pictures");
	data_release(&d);
	free(plain);
	free(other);
	return failures > 0;
}
