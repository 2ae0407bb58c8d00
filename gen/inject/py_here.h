/* Where in Python the calling thread is, for what it does just now: its frames, read as the sampler reads those of
 * other threads (py_stack.h), with the lines that they are at. It is inside a call, so its frames stand still. */
#ifndef GAPLINE_INJECT_PY_HERE_H
#define GAPLINE_INJECT_PY_HERE_H

#include "capture/spool.h"
#include "py_stack.h"

/* From now on frames are read of `py`, which the caller keeps. Until then, and in a forked child, there are none. */
void here_begin(const struct py_runtime *py);
void here_forked(void);

/* The frames of the calling thread, the innermost first, with their functions in the spool: how many, at most `most`;
 * 0: it is in none, or nothing could be read. By any thread but the sampler's. `cut`: there are more. */
size_t here_frames(struct spool_frame *frames, size_t most, bool *cut);

/* Around all that reads stacks and names, which is done by one thread at a time. */
void here_lock(void);
void here_unlock(void);

/* The number of a function, which is in the spool by then; 0: it is not. Locked. */
uint32_t here_function(const struct py_runtime *py, const struct py_code *code);

#endif
