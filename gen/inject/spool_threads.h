/* Names of threads: the inside of spool_writer. */
#ifndef GAPLINE_INJECT_SPOOL_THREADS_H
#define GAPLINE_INJECT_SPOOL_THREADS_H

/* Writes the names that have changed. */
void spool_threads_look(void);
void spool_threads_forget(void);

#endif
