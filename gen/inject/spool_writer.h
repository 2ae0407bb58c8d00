/* Writing a spool (capture/spool.h) from inside somebody else's program. Each of the two libraries has its own copy of
 * this, with its own file and its own background thread.
 *
 * The program's threads only append events to memory of their own: no lock, no system call but an mmap for every few
 * hundred events. The background thread looks every SPOOL_TICK_MS, writes what has come, and lets the library do its
 * own work (`tick`). Everything else here may be called by the background thread only, unless it says otherwise.
 *
 * A forked child has nothing of it: no thread, no file. Its first event makes new ones. */
#ifndef GAPLINE_INJECT_SPOOL_WRITER_H
#define GAPLINE_INJECT_SPOOL_WRITER_H

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

#endif
