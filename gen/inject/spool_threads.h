/* Names of threads in a spool. */
#ifndef GAPLINE_INJECT_SPOOL_THREADS_H
#define GAPLINE_INJECT_SPOOL_THREADS_H

#include <stdint.h>

/* Makes sure that the name of the thread `tid` is in the file, as far as it is known. */
void spool_thread_seen(uint32_t tid);

/* Writes the names that have changed. */
void spool_threads_look(void);
void spool_threads_forget(void);

#endif
