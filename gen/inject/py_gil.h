/* CPython's global interpreter lock (GIL), read from outside: who holds it, and whether a thread waits for it. Nothing
 * is taken and nobody is asked: the lock's struct is copied (py_memory.h), and what a thread is blocked in is what the
 * kernel says of it (/proc/self/task/TID/syscall): a futex inside that struct. A thread that released the lock and
 * sleeps, reads, or is inside CUDA waits for something else. */
#ifndef GAPLINE_INJECT_PY_GIL_H
#define GAPLINE_INJECT_PY_GIL_H

#include "py_stack.h"

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
