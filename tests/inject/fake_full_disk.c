/* Preloaded: spools cannot be created, or not be written any more after FAKE_ROOM writes. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	size_t n = strlen(path);
	va_list arguments;
	va_start(arguments, flags);
	unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
	va_end(arguments);
	if (!getenv("FAKE_ROOM") && flags & O_CREAT && n > 6 && !strcmp(path + n - 6, ".spool")) {
		errno = ENOSPC;
		return -1;
	}
	return real(path, flags, mode);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	static int written;
	ssize_t (*real)(int, const struct iovec *, int) =
		(ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
	const char *room = getenv("FAKE_ROOM");
	if (room && written++ >= atoi(room)) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, parts, n);
}
