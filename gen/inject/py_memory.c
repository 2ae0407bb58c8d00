#include "py_memory.h"

#include <sys/types.h>
#include <unistd.h>

static pid_t self;

bool py_memory_allowed(void)
{
	char from = 1, to = 0;
	self = getpid();
	return py_read((uintptr_t)&from, &to, 1) && to == 1;
}

bool py_read_all(const struct iovec *to, const struct iovec *from, size_t n, size_t bytes)
{
	return process_vm_readv(self, to, n, from, n, 0) == (ssize_t)bytes;
}

bool py_read(uintptr_t from, void *to, size_t n)
{
	struct iovec there = {(void *)from, n}, here = {to, n};
	return py_read_all(&here, &there, 1, n);
}
