/* Events of the program's threads on their way to the background thread. */
#ifndef GAPLINE_INJECT_SPOOL_EVENTS_H
#define GAPLINE_INJECT_SPOOL_EVENTS_H

#include "inject/spool_writer.h"

#include <stdint.h>

uint32_t spool_tid(void); /* of the calling thread, remembered */

/* Room for an event of the calling thread with `text_bytes` after it; type, sizes and text are the caller's to fill,
 * the rest is 0. NULL: nothing can be recorded (memory is used up, the process is ending, or a signal handler
 * interrupted this very function), which is counted. By any thread; spool_event_end must follow. */
struct spool_event *spool_event_begin(size_t text_bytes);
void spool_event_end(struct spool_event *event);

/* An event of the calling thread, with the bytes of `text` and behind them those of `more` (NULL with 0: none). Sizes
 * in `event` are set here, all else is the caller's. False: it could not be recorded, as above. */
bool spool_event_put(struct spool_event event, const void *text, size_t text_bytes, const void *more,
                     size_t more_bytes);

/* How many push/pop ranges of a domain are open on the calling thread: counts them for NVTX's return values. NULL for
 * domains beyond the first few. */
uint32_t *spool_depth(uint32_t domain);

/* ---- for spool_writer ---- */

/* Once in a process, before anything else. */
void spool_events_prepare(void);
/* In a forked child: the events of the parent's threads are the parent's to write. */
void spool_events_forked(void);
/* No more events from now on. By any thread. */
void spool_events_close(void);
/* Is there anything to write? */
bool spool_events_pending(void);
/* Writes what has come since the last time, thread by thread. By one thread at a time. */
void spool_events_drain(void);

/* Names of threads in a spool. */

/* Makes sure that the name of the thread `tid` is in the file, as far as it is known. */
void spool_thread_seen(uint32_t tid);

/* Writes the names that have changed. */
void spool_threads_look(void);
void spool_threads_forget(void);

#endif
