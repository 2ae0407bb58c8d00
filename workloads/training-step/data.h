/* The input pipeline: labelled pictures, stored under a filter, decoded and augmented on the CPU batch by batch.
 *
 * A picture is PICTURE_ROWS x PICTURE_COLUMNS bytes. In storage the Up filter of PNG (each row minus the row above) has
 * been applied `rounds` times, and decoding undoes it as often: rounds set the CPU time of a batch, while the pixels
 * that come out never depend on them. So the fault can have any size on any machine, and both variants, and all fault
 * sizes, train on the very same bytes. */
#ifndef TRAINING_STEP_DATA_H
#define TRAINING_STEP_DATA_H

#include <stddef.h>
#include <stdint.h>

enum { PICTURE_ROWS = 16, PICTURE_COLUMNS = 32, PICTURE_SIZE = PICTURE_ROWS * PICTURE_COLUMNS, PICTURE_CLASSES = 16 };

struct data {
	uint8_t *stored; /* `count` filtered pictures */
	uint8_t *labels; /* `count` classes */
	int count;
	int rounds; /* of the filter */
	uint64_t seed;
};

/* Draws `count` pictures: a pattern for each class under noise, so that a network can learn to tell them apart. No
 * filter yet (rounds 0). Out of memory ends the program. */
void data_init(struct data *d, int count, uint64_t seed);
void data_release(struct data *d);

/* Stores the pictures under `rounds` rounds of the filter instead of the present number. */
void data_filter(struct data *d, int rounds);

/* Finds, by timing data_batch, the rounds with which a batch takes `target_ms`, and stores the pictures so; 0 rounds
 * where even these take longer. `scratch` has room for one batch. */
void data_calibrate(struct data *d, double target_ms, int batch, void *scratch);

/* Bytes of one batch: `batch` pictures of floats, then `batch` labels of 32 bits; one copy brings all of it to the
 * GPU. */
size_t data_batch_bytes(int batch);

/* Decodes and augments (mirrored, shifted, brightness, contrast) the pictures of batch `index` into `out`. Depends on
 * the seed, the index and the batch size alone. */
void data_batch(const struct data *d, int64_t index, int batch, void *out);

#endif
