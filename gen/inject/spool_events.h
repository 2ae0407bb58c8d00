/* Events of the program's threads on their way to the background thread: the inside of spool_writer. */
#ifndef GAPLINE_INJECT_SPOOL_EVENTS_H
#define GAPLINE_INJECT_SPOOL_EVENTS_H

#include <stdbool.h>

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

#endif
