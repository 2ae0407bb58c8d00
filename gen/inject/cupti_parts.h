/* What a reader of the spool has to be told beside CUPTI's records: how long they are, and what they only point to. */
#ifndef GAPLINE_INJECT_CUPTI_PARTS_H
#define GAPLINE_INJECT_CUPTI_PARTS_H

#include "cupti_api.h"

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes sizes, kernel names, names of API calls, devices and thread names that occur in the buffer for the first time,
 * then the buffer itself. By the background thread. */
void records_put(const struct cupti_api *api, uint8_t *buffer, size_t valid);

/* Buffers for CUPTI's records: handed to it empty by the program's threads, taken back full, written and zeroed by the
 * background thread. */

/* CUPTI's two callbacks. When 256 MB wait to be written, or 4096 buffers are out, CUPTI gets none and drops records. */
void CUPTIAPI buffers_request(uint8_t **buffer, size_t *size, size_t *most_records);
void CUPTIAPI buffers_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Calls `write` for every buffer that CUPTI has given back, oldest first, and makes it ready for the next request. By
 * the background thread. */
void buffers_drain(void (*write)(uint8_t *buffer, size_t valid));

/* Makes sure that some zeroed buffers are ready, so that no thread of the program has to make one. */
void buffers_prepare(void);

/* Whether CUPTI holds more of them than a program of some threads needs. */
bool buffers_are_many(void);

/* How often CUPTI got no buffer since this was asked last; each time, one record at least is lost. */
size_t buffers_refused(void);

/* Which of CUPTI's records are of a time that is to be collected: a delay and a duration, cudaProfilerStart and -Stop.
 *
 * CUPTI itself is never switched on or off while the program runs. Whoever does that while another thread is inside a
 * launch, or while the program ends, can take the program down with it; so everything is recorded all the time, and the
 * background thread keeps those buffers that hold something of a window. The edges are rough by a buffer; conversion
 * (capture/convert.h) makes them exact. */

struct spool_library;

/* Reads the environment; `library` must live as long as the process. */
void window_prepare(struct spool_library *library);
bool window_ranged(void); /* cudaProfilerStart and -Stop count */

/* The program called cudaProfilerStart (`open`) or -Stop. By any thread. */
void window_note(bool open);

/* Writes the windows that were noted. By the background thread, before it looks at records that came later. */
void window_put(void);

/* How many windows had no room since this was asked last: nothing is known of them. By the background thread. */
size_t window_lost(void);

/* Whether the record may be of a window; true without any. By the background thread. */
bool window_wants(const CUpti_Activity *record);

/* In a forked child. */
void window_forked(void);

#endif
