/* Writing a spool (capture/spool.h) from inside somebody else's program. Each of the two libraries has its own copy of
 * this, with its own file and its own background thread.
 *
 * The program's threads only append events to memory of their own: no lock, no system call but an mmap for every few
 * hundred events. The background thread looks every SPOOL_TICK_MS, writes what has come, and lets the library do its
 * own work (`tick`). Everything else here may be called by the background thread only, unless it says otherwise.
 *
 * A forked child has nothing of it: no thread, no file. Its first event makes new ones. */
#ifndef GAPLINE_INJECT_SPOOL_OUT_H
#define GAPLINE_INJECT_SPOOL_OUT_H

#include "capture/spool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Twice this and a little is what a killed program loses: CUPTI sets a buffer aside at one flush and returns it at the
 * next one (seen with CUPTI 13.0: 103 ms at a period of 50). */
enum { SPOOL_TICK_MS = 30 };

struct spool_library {
	const char *name;        /* in the file's name: "cuda" */
	void (*begun)(void);     /* by the background thread, when the file is there; may be NULL */
	void (*tick)(bool last); /* by the background thread, before events are written; may be NULL */
	void (*forked)(void);    /* in a forked child, by its only thread; may be NULL */
	_Atomic bool shut;       /* collection is off for another reason than time: outside of a capture range */
};

/* Reads the environment. False: this process is not to be captured, and nothing else here may be called. `library` must
 * live as long as the process. Call it again as often as you like. */
bool spool_prepare(struct spool_library *library);

/* Starts the background thread if there is none. By any thread; 0, or -1 when it cannot be started. It may allocate
 * memory, so not from a signal handler or an allocator. */
int spool_start(void);

/* Ends the background thread after a last tick, writes SPOOL_END and closes the file. From then on nothing is recorded.
 * By any thread, at exit; does nothing in a process that never had anything to say. */
void spool_finish(void);

/* Has the background thread work at once instead of at its next tick. By any thread; does not block. */
void spool_hurry(void);

int64_t spool_now(void);                             /* CLOCK_MONOTONIC, the clock of all our spools */
bool spool_window(int64_t time);                     /* is `time` within what is to be collected? By any thread. */
bool spool_time_limited(void);                       /* is there a time outside of which nothing is to be collected? */
bool spool_time_touches(int64_t start, int64_t end); /* is anything from `start` to `end` within that time? */
bool spool_is_writer(void);                          /* is this the background thread? */

/* A block of the file: `head` and then `rest`. */
void spool_put(uint32_t type, uint32_t tid, const void *head, size_t head_bytes, const void *rest, size_t rest_bytes);

/* Something that the user should know. By any thread, before the file is there too; starts nothing. */
void spool_message(enum spool_severity severity, enum spool_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Events of the program's threads on their way to the background thread. */

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
