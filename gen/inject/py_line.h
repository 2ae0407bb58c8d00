/* Which line of its file a Python frame is at. */
#ifndef GAPLINE_INJECT_PY_LINE_H
#define GAPLINE_INJECT_PY_LINE_H

#include "py_stack.h"

/* The line of the instruction at the address `at` of a function, as the interpreter counts them; 0: not known, or what
 * is there is of no line. Of a frame whose thread runs meanwhile it may be another one by then. By one thread at a
 * time. */
uint32_t py_line(const struct py_runtime *py, const struct py_code *code, uintptr_t at);

#endif
