/* Functions by number: what a code object says becomes text once, and a number from then on. Of a function only its
 * qualified name and the base name of its file are taken. Bounded memory, whatever a program compiles while it runs. */
#ifndef GAPLINE_INJECT_PY_NAMES_H
#define GAPLINE_INJECT_PY_NAMES_H

#include "py_stack.h"

enum { PY_NAME_CHARACTERS = 160, PY_NAME_ROOM = 2 * (4 * PY_NAME_CHARACTERS + 1) + 16 };

/* Says that function `number` (from 1) has this name and file; false: it could not be noted, and is asked again.
 * `library`: it is PyTorch's, Triton's or Python's own. */
typedef bool py_named(uint32_t number, const char *name, const char *file, bool library);

/* The number of the function, 0: its name could not be read, or there are too many functions. By one thread only. */
uint32_t py_name(const struct py_runtime *py, const struct py_code *code, py_named *named);

/* Forgets all: in a forked child. */
void py_names_forget(void);

#endif
