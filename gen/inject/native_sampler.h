/* Native frames of samples: what the innermost Python function had called when it was sampled, down to where the thread
 * was (native_ask.h). Frames of the interpreter itself and what lies outside of them are left out: Python's own frames
 * say those better.
 *
 * The thread is asked after its Python frames were read, and only if its innermost Python frame is the same after the
 * answer are the two one sample. A thread that has no processor answers late: when it runs again, before it goes on. So
 * its samples are kept until then, and all of them are where the answer says. */
#ifndef GAPLINE_INJECT_NATIVE_SAMPLER_H
#define GAPLINE_INJECT_NATIVE_SAMPLER_H

#include "capture/spool.h"
#include "py_stack.h"

/* Before anything else: reads the environment. */
void native_prepare(void);

/* Begins, if it is wanted. False: samples are Python's alone (a message says why, if it was wanted). */
bool native_begin(void);

/* Puts the sample into the spool, now or later. `number`: of its functions, the innermost first. */
void native_take(const struct py_runtime *py, const struct py_thread *thread, const struct py_stack *stack,
                 const uint32_t *number, uint32_t tid, int64_t time);

/* Puts what is still kept into the spool, of threads that were not seen since `before`. */
void native_flush(int64_t before);

/* What was counted since this was asked last. By the background thread; false: nothing. */
bool native_counted(struct spool_native_sampled *counts);

/* In a forked child. */
void native_forked(void);

#endif
