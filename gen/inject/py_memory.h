/* Reading the process's own memory while its threads change it: the kernel copies, so that what is not there (any more)
 * is an error and never a fault. What was copied may be torn: nothing of it is believed unchecked. */
#ifndef GAPLINE_INJECT_PY_MEMORY_H
#define GAPLINE_INJECT_PY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum { PY_TYPE_AT = 8 }; /* where an object's type stands, after its count of references */

/* Whether the kernel allows it: some containers' filters do not. Before anything else, and in every process. */
bool py_memory_allowed(void);

/* Copies `n` bytes from address `from`. False: not all of them are there. */
bool py_read(uintptr_t from, void *to, size_t n);

/* Copies `n` places at once, in their order; `bytes` of all of them. */
bool py_read_all(const struct iovec *to, const struct iovec *from, size_t n, size_t bytes);

/* The beginning of a file of the kernel's about a thread, 0: about the process. By system calls themselves: gapline's
 * other library looks at the C library's functions. False: nothing could be read. */
bool py_task_file(uint32_t tid, const char *what, char *text, size_t room);

static inline uint64_t py_word(const void *at)
{
	uint64_t word;
	__builtin_memcpy(&word, at, sizeof word);
	return word;
}

#endif
