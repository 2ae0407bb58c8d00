/* Work for the host whose size can be set and whose result proves that it was done: measured frames of FRAME_EDGE x
 * FRAME_EDGE bytes, kept under a filter.
 *
 * The filter is the Up filter of PNG (each row minus the row above), applied `rounds` times; taking it off gives the
 * frame back to the bit. Rounds are what sets the time, and frames that come out never depend on them. */
#ifndef WORKLOADS_COMMON_FRAMES_H
#define WORKLOADS_COMMON_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAME_EDGE = 256, FRAME_PIXELS = FRAME_EDGE * FRAME_EDGE, FRAME_MAX_ROUNDS = 1000000 };

/* Puts the filter on, or takes it off, `rounds` times, in place. */
void frame_filter_on(uint8_t *frame, int rounds);
void frame_filter_off(uint8_t *frame, int rounds);

/* Frame number `index`: smooth waves under noise. */
void frame_draw(uint8_t *frame, uint64_t seed, uint64_t index);

/* The frame as numbers from 0 to 0.5. */
void frame_floats(const uint8_t *frame, float *out);

/* A store of frames under the filter, that is read frame by frame. */
struct frames {
	uint8_t *stored;
	int count, rounds;
};

/* Draws `count` frames and stores them under `rounds` rounds. Out of memory ends the program. */
void frames_init(struct frames *f, int count, int rounds, uint64_t seed);
void frames_release(struct frames *f);

/* Frame `index` (they come round again after `count`) without its filter, as FRAME_PIXELS numbers. */
void frames_decode(const struct frames *f, int64_t index, float *out);

/* The rounds with which frames_decode takes `target_ms` on this machine … */
int frames_calibrate(double target_ms, uint64_t seed);
/* … and those with which frame_filter_on does. */
int frame_filter_calibrate(double target_ms, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
