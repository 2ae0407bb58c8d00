/* What Python's threading module calls a thread: `_name` of the Thread object, which is the first argument of the
 * outermost function of every thread that the module starts. Until 3.13 the system does not know that name; later ones
 * hand it its first 15 bytes. Read from outside like everything else (py_memory.h); nothing is asked. */
#ifndef GAPLINE_INJECT_PY_THREAD_NAME_H
#define GAPLINE_INJECT_PY_THREAD_NAME_H

#include "py_stack.h"

enum { PY_THREAD_NAME_CHARACTERS = 80, PY_THREAD_NAME_ROOM = 4 * PY_THREAD_NAME_CHARACTERS + 1 };

/* The name of the thread with this stack, which was just read; of a longer one the beginning. False: threading did not
 * start it, or its name could not be read. */
bool py_thread_name(const struct py_runtime *py, const struct py_stack *stack, char name[PY_THREAD_NAME_ROOM]);

#endif
