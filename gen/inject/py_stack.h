/* The Python frames of a thread that runs, read from outside (py_memory.h): the interpreter is not asked, its lock is
 * not taken, and no thread is stopped.
 *
 * The thread may call and return meanwhile. Its frames lie one behind the other in a few blocks, which are copied at
 * once, in a microsecond; afterwards it is looked whether the innermost frame is still the same one, and if it is not,
 * all of it is read again, a few times. Where the thread never stands still for so long, what lies inside the frame
 * that is the innermost one afterwards is left out: it is certain to have returned. Every pointer on the way has to
 * lead to what it should: a frame within the blocks and below the one that it called, a code object of the type of code
 * objects. A stack that does not hold is read again, and then given up, which is counted. */
#ifndef GAPLINE_INJECT_PY_STACK_H
#define GAPLINE_INJECT_PY_STACK_H

#include "py_layout.h"

enum { PY_DEPTH_MOST = 256 }; /* frames; of a deeper stack the innermost ones, and `cut` */

/* What a function's code object says of it. */
struct py_code {
	uintptr_t address, file, qualname, lines;
	uint32_t line; /* its first */
};

struct py_stack {
	uint32_t n;
	bool cut;
	bool moved;                         /* the thread never stood still */
	uintptr_t top;                      /* its innermost frame afterwards: an address */
	uintptr_t outermost;                /* the frame of the last function; 0: not known, or `cut` */
	struct py_code code[PY_DEPTH_MOST]; /* the innermost first */
	uintptr_t at[PY_DEPTH_MOST];        /* the instruction that each is at: an address */
};

enum py_read_result {
	PY_READ,
	PY_IDLE, /* it has no Python frames */
	PY_TORN  /* what was read makes no sense */
};

/* A thread as the interpreter knows it, copied. */
struct py_thread {
	uintptr_t address;
	unsigned char bytes[PY_THREAD_BYTES];
};

/* Goes through the threads of all interpreters: `at` is 0 before the first. False: there are no more, or the list makes
 * no sense. */
struct py_walk {
	uintptr_t interpreter, next;
	unsigned steps;
	bool begun, torn;
};
bool py_thread_next(const struct py_runtime *py, struct py_walk *walk, struct py_thread *thread);

uint32_t py_thread_native(const struct py_runtime *py, const struct py_thread *thread); /* as gettid */

/* Fills `stack`. By one thread of the process only. `time`: CLOCK_MONOTONIC at which it was so. */
enum py_read_result py_stack_read(const struct py_runtime *py, const struct py_thread *thread, struct py_stack *stack,
                                  int64_t *time);

/* Whether the thread's innermost frame is still the one that it was when `stack` had been read. */
bool py_stack_still(const struct py_runtime *py, const struct py_thread *thread, const struct py_stack *stack);

/* The text at an address as UTF-8 with its NUL, the last `most` characters of it or, if !tail, the first ones. False:
 * there is none that could be read. `room` of `text` is at least 4 * most + 1. */
bool py_text_read(const struct py_runtime *py, uintptr_t address, bool tail, uint32_t most, char *text);

#endif
