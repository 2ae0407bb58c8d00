#include "frames.h"

#include "calibrate.h"
#include "clock.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the last row, as every row needs the one above as it was. */
void frame_filter_on(uint8_t *p, int rounds)
{
	for (int r = 0; r < rounds; r++) {
		for (int row = FRAME_EDGE - 1; row > 0; row--) {
			for (int column = 0; column < FRAME_EDGE; column++)
				p[row * FRAME_EDGE + column] -= p[(row - 1) * FRAME_EDGE + column];
		}
	}
}

void frame_filter_off(uint8_t *p, int rounds)
{
	for (int r = 0; r < rounds; r++) {
		for (int row = 1; row < FRAME_EDGE; row++) {
			for (int column = 0; column < FRAME_EDGE; column++)
				p[row * FRAME_EDGE + column] += p[(row - 1) * FRAME_EDGE + column];
		}
	}
}

void frame_draw(uint8_t *frame, uint64_t seed, uint64_t index)
{
	uint64_t state = random_mix(seed, index + 1);
	float wave[FRAME_EDGE], turn = 6.2831853f * (float)(1 + random_next(&state) % 3) / FRAME_EDGE;
	float phase = 6.2831853f * random_float(&state);

	for (int i = 0; i < FRAME_EDGE; i++)
		wave[i] = sinf(turn * (float)i + phase);
	for (int i = 0; i < FRAME_PIXELS; i++) {
		float value = 128 + 50 * (wave[i / FRAME_EDGE] + wave[i % FRAME_EDGE]);

		frame[i] = (uint8_t)(value + 50 * (random_float(&state) - 0.5f));
	}
}

void frame_floats(const uint8_t *frame, float *out)
{
	for (int i = 0; i < FRAME_PIXELS; i++)
		out[i] = (float)frame[i] * (0.5f / 255);
}

void frames_init(struct frames *f, int count, int rounds, uint64_t seed)
{
	f->stored = memory_array(count, FRAME_PIXELS);
	f->count = count;
	f->rounds = rounds;
	for (int i = 0; i < count; i++) {
		frame_draw(f->stored + (size_t)i * FRAME_PIXELS, seed, (uint64_t)i);
		frame_filter_on(f->stored + (size_t)i * FRAME_PIXELS, rounds);
	}
}

void frames_release(struct frames *f)
{
	free(f->stored);
}

void frames_decode(const struct frames *f, int64_t index, float *out)
{
	uint8_t frame[FRAME_PIXELS];

	memcpy(frame, f->stored + (size_t)(index % f->count) * FRAME_PIXELS, sizeof(frame));
	frame_filter_off(frame, f->rounds);
	frame_floats(frame, out);
}

static double decode_ms(void *context, int work)
{
	struct frames *f = context;
	float out[FRAME_PIXELS];
	double start = clock_ms();

	f->rounds = work;
	frames_decode(f, 0, out);
	return clock_ms() - start;
}

int frames_calibrate(double target_ms, uint64_t seed)
{
	struct frames f;
	int rounds;

	frames_init(&f, 1, 0, seed);
	rounds = calibrate(target_ms, 64, FRAME_MAX_ROUNDS, decode_ms, &f);
	frames_release(&f);
	return rounds;
}

static double filter_ms(void *context, int work)
{
	double start = clock_ms();

	frame_filter_on(context, work);
	return clock_ms() - start;
}

int frame_filter_calibrate(double target_ms, uint64_t seed)
{
	uint8_t frame[FRAME_PIXELS];

	frame_draw(frame, seed, 0);
	return calibrate(target_ms, 64, FRAME_MAX_ROUNDS, filter_ms, frame);
}
