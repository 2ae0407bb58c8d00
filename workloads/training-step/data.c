#include "data.h"

#include "../common/clock.h"
#include "../common/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t bytes)
{
	void *p = malloc(bytes);

	if (p == NULL) {
		fprintf(stderr, "out of memory: %zu bytes\n", bytes);
		exit(EXIT_FAILURE);
	}
	return p;
}

void data_init(struct data *d, int count, uint64_t seed)
{
	float pattern[PICTURE_CLASSES][PICTURE_SIZE];
	uint64_t state = random_mix(seed, 1);

	d->stored = allocate((size_t)count * PICTURE_SIZE);
	d->labels = allocate((size_t)count);
	d->count = count;
	d->rounds = 0;
	d->seed = seed;
	for (int c = 0; c < PICTURE_CLASSES; c++) {
		for (int j = 0; j < PICTURE_SIZE; j++)
			pattern[c][j] = 48.0f * (random_float(&state) - 0.5f);
	}
	for (int i = 0; i < count; i++) {
		uint8_t *picture = d->stored + (size_t)i * PICTURE_SIZE;
		int c = (int)(random_next(&state) % PICTURE_CLASSES);

		d->labels[i] = (uint8_t)c;
		for (int j = 0; j < PICTURE_SIZE; j++)
			picture[j] = (uint8_t)(128.0f + pattern[c][j] + 96.0f * (random_float(&state) - 0.5f));
	}
}

void data_release(struct data *d)
{
	free(d->stored);
	free(d->labels);
}

/* One round of the filter on; from the last row, as every row needs the one above as it was. */
static void filter_on(uint8_t *p)
{
	for (int row = PICTURE_ROWS - 1; row > 0; row--) {
		for (int column = 0; column < PICTURE_COLUMNS; column++)
			p[row * PICTURE_COLUMNS + column] -= p[(row - 1) * PICTURE_COLUMNS + column];
	}
}

/* One round of the filter off. */
static void filter_off(uint8_t *p)
{
	for (int row = 1; row < PICTURE_ROWS; row++) {
		for (int column = 0; column < PICTURE_COLUMNS; column++)
			p[row * PICTURE_COLUMNS + column] += p[(row - 1) * PICTURE_COLUMNS + column];
	}
}

void data_filter(struct data *d, int rounds)
{
	for (int i = 0; i < d->count; i++) {
		uint8_t *picture = d->stored + (size_t)i * PICTURE_SIZE;

		for (int r = d->rounds; r < rounds; r++)
			filter_on(picture);
		for (int r = d->rounds; r > rounds; r--)
			filter_off(picture);
	}
	d->rounds = rounds;
}

/* One batch at the present rounds. Its memory is first filled with something else, as it is when a copy to the GPU and
 * a whole step lie between two batches: in a warm cache it would be quicker than it is in training. */
static double batch_ms(const struct data *d, int index, int batch, void *scratch, void *other)
{
	double start;

	memcpy(other, scratch, data_batch_bytes(batch));
	start = clock_ms();
	data_batch(d, index, batch, scratch);
	return clock_ms() - start;
}

void data_calibrate(struct data *d, double target_ms, int batch, void *scratch)
{
	enum { TRIAL = 32, TIMES = 15 };
	double base[TIMES], trial[TIMES], none, some, rounds;
	void *other = allocate(data_batch_bytes(batch));

	/* Turn about, so that a slow moment of the machine falls on both; medians, as a batch may be interrupted. */
	memset(other, 0, data_batch_bytes(batch));
	data_batch(d, 0, batch, scratch);
	for (int i = 0; i < TIMES; i++) {
		data_filter(d, 0);
		base[i] = batch_ms(d, i, batch, scratch, other);
		data_filter(d, TRIAL);
		trial[i] = batch_ms(d, i, batch, scratch, other);
	}
	free(other);
	none = clock_median(base, TIMES);
	some = clock_median(trial, TIMES);
	rounds = some > none ? (target_ms - none) / (some - none) * TRIAL + 0.5 : 0;
	data_filter(d, rounds < 0 ? 0 : rounds > 1e6 ? 1000000 : (int)rounds);
}

size_t data_batch_bytes(int batch)
{
	return (size_t)batch * (PICTURE_SIZE * sizeof(float) + sizeof(int32_t));
}

/* A row turned around: eight bytes at a time, each group turned and put at the other end. */
static void row_mirror(uint8_t *to, const uint8_t *from)
{
	uint64_t groups[PICTURE_COLUMNS / 8], turned[PICTURE_COLUMNS / 8];

	memcpy(groups, from, PICTURE_COLUMNS);
	for (int i = 0; i < PICTURE_COLUMNS / 8; i++)
		turned[PICTURE_COLUMNS / 8 - 1 - i] = __builtin_bswap64(groups[i]);
	memcpy(to, turned, PICTURE_COLUMNS);
}

void data_batch(const struct data *d, int64_t index, int batch, void *out)
{
	float *pixels = out;
	int32_t *labels = (int32_t *)(pixels + (size_t)batch * PICTURE_SIZE);

	for (int i = 0; i < batch; i++) {
		uint64_t state = random_mix(d->seed, (uint64_t)index * 65537 + (uint64_t)i + 2);
		size_t pick = random_next(&state) % (size_t)d->count;
		int shift = (int)(random_next(&state) % 3) - 1;
		bool mirrored = random_next(&state) & 1;
		float contrast = (0.9f + 0.2f * random_float(&state)) / 32.0f;
		float brightness = 0.2f * (random_float(&state) - 0.5f) - 128.0f * contrast;
		float *to = pixels + (size_t)i * PICTURE_SIZE;
		/* One byte more on both sides: a shift takes its edge from the row before or after. */
		uint8_t padded[1 + PICTURE_SIZE + 1], mirror[PICTURE_SIZE];
		uint8_t *picture = padded + 1, *moved = picture + shift;

		padded[0] = padded[PICTURE_SIZE + 1] = 128;
		memcpy(picture, d->stored + pick * PICTURE_SIZE, PICTURE_SIZE);
		for (int r = 0; r < d->rounds; r++)
			filter_off(picture);
		if (mirrored) {
			for (int at = 0; at < PICTURE_SIZE; at += PICTURE_COLUMNS)
				row_mirror(mirror + at, moved + at);
			moved = mirror;
		}
		for (int j = 0; j < PICTURE_SIZE; j++)
			to[j] = contrast * (float)moved[j] + brightness;
		labels[i] = d->labels[pick];
	}
}
