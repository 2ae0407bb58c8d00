/* Buffers for CUPTI's records: handed to it empty by the program's threads, taken back full, written and zeroed by the
 * background thread. */
#ifndef GAPLINE_INJECT_CUPTI_BUFFERS_H
#define GAPLINE_INJECT_CUPTI_BUFFERS_H

#include <cupti.h>
#include <stdint.h>

/* CUPTI's two callbacks. When the most memory that may be in flight is used up, CUPTI gets no buffer and counts the
 * records that it drops. */
void CUPTIAPI buffers_request(uint8_t **buffer, size_t *size, size_t *most_records);
void CUPTIAPI buffers_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Calls `write` for every buffer that CUPTI has given back, oldest first, and makes it ready for the next request. By
 * the background thread. */
void buffers_drain(void (*write)(uint8_t *buffer, size_t valid));

/* Makes sure that some zeroed buffers are ready, so that no thread of the program has to make one. */
void buffers_prepare(void);

#endif
