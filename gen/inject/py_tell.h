/* What is told of Python's frames and threads, beside the stacks themselves (py_stack.h): functions, lines, names of
 * threads, and who has the interpreter's lock. */
#ifndef GAPLINE_INJECT_PY_TELL_H
#define GAPLINE_INJECT_PY_TELL_H

#include "py_stack.h"

/* ---- py_names.c ---- */

/* Functions by number: what a code object says becomes text once, and a number from then on. Of a function only its
 * qualified name and the base name of its file are taken. Bounded memory, whatever a program compiles while it runs. */

enum { PY_NAME_CHARACTERS = 160, PY_NAME_ROOM = 2 * (4 * PY_NAME_CHARACTERS + 1) + 16 };

/* Says that function `number` (from 1) has this name and file; false: it could not be noted, and is asked again.
 * `library`: it is PyTorch's, Triton's or Python's own. */
typedef bool py_named(uint32_t number, const char *name, const char *file, bool library);

/* The number of the function, 0: its name could not be read, or there are too many functions. By one thread only. */
uint32_t py_name(const struct py_runtime *py, const struct py_code *code, py_named *named);

/* Forgets all: in a forked child. */
void py_names_forget(void);

/* ---- py_line.c ---- */

/* Which line of its file a Python frame is at. */

/* The line of the instruction at the address `at` of a function, as the interpreter counts them; 0: not known, or what
 * is there is of no line. Of a frame whose thread runs meanwhile it may be another one by then. By one thread at a
 * time. */
uint32_t py_line(const struct py_runtime *py, const struct py_code *code, uintptr_t at);

/* ---- py_thread_name.c ---- */

/* What Python's threading module calls a thread: `_name` of the Thread object, which is the first argument of the
 * outermost function of every thread that the module starts. Until 3.13 the system does not know that name; later ones
 * hand it its first 15 bytes. Read from outside like everything else (py_memory.h); nothing is asked. */

enum { PY_THREAD_NAME_CHARACTERS = 80, PY_THREAD_NAME_ROOM = 4 * PY_THREAD_NAME_CHARACTERS + 1 };

/* The name of the thread with this stack, which was just read; of a longer one the beginning. False: threading did not
 * start it, or its name could not be read. */
bool py_thread_name(const struct py_runtime *py, const struct py_stack *stack, char name[PY_THREAD_NAME_ROOM]);

/* ---- py_gil.c ---- */

/* CPython's global interpreter lock (GIL), read from outside: who holds it, and whether a thread waits for it. Nothing
 * is taken and nobody is asked: the lock's struct is copied (py_memory.h), and what a thread is blocked in is what the
 * kernel says of it (/proc/self/task/TID/syscall): a futex inside that struct. A thread that released the lock and
 * sleeps, reads, or is inside CUDA waits for something else. */

/* The lock of one interpreter, copied. */
struct py_gil {
	uintptr_t address;
	uintptr_t holder;  /* the thread's struct; the last one's where it is not locked */
	uint64_t switches; /* counts how often another thread took it than the one before */
	bool locked;
};

/* Finds where interpreters keep their lock, which is the runtime's before 3.12, and looks whether it is one: its last
 * holder is a thread that is there. False: it is not found, and py_gil_read always fails. */
bool py_gil_find(struct py_runtime *py);

/* Copies the lock that the threads of the interpreter at this address take. */
bool py_gil_read(const struct py_runtime *py, uintptr_t interpreter, struct py_gil *gil);

enum py_gil_wait {
	PY_GIL_UNKNOWN, /* the kernel does not say */
	PY_GIL_NOT,     /* it runs, or waits for something else */
	PY_GIL_WAITS
};

/* Whether the thread waits for the lock at this moment. */
enum py_gil_wait py_gil_waits(const struct py_gil *gil, uint32_t tid);

#endif
