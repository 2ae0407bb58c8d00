/* Which of CUPTI's records are of a time that is to be collected: a delay and a duration, cudaProfilerStart and -Stop.
 *
 * CUPTI itself is never switched on or off while the program runs. Whoever does that while another thread is inside a
 * launch, or while the program ends, can take the program down with it; so everything is recorded all the time, and the
 * background thread keeps those buffers that hold something of a window. The edges are rough by a buffer; conversion
 * (capture/convert.h) makes them exact. */
#ifndef GAPLINE_INJECT_CUPTI_WINDOW_H
#define GAPLINE_INJECT_CUPTI_WINDOW_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>

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
