/* Samples of the Python frames of the threads that call CUDA (py_stack.h), by a thread of our own, into the spool. */
#ifndef GAPLINE_INJECT_PY_SAMPLER_H
#define GAPLINE_INJECT_PY_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Before anything else: reads the environment. */
void sampler_prepare(void);

/* The thread `tid` calls CUDA: it is sampled from now on, if Python knows it. By the background thread. */
void sampler_thread_seen(uint32_t tid);

/* Starts the sampling thread, once it is wanted and there is an interpreter; `last`: ends it. By the background thread,
 * at each of its ticks. */
void sampler_tick(bool last);

/* In a forked child, which has no such thread; it gets one where it uses CUDA itself. */
void sampler_forked(void);

#endif
