/* Preloaded, makes reading and writing take time, so that a test can do something in the middle: SLOW_READ and
 * SLOW_WRITE are microseconds a call. Writes of less than SLOW_LEAST bytes (4096 without it), as those of messages,
 * stay as fast as they are. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

enum { LARGE = 4096 };

static void wait_as(const char *name)
{
	const char *microseconds = getenv(name);
	if (microseconds)
		usleep((useconds_t)atoi(microseconds));
}

ssize_t write(int fd, const void *data, size_t n)
{
	ssize_t (*next)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	const char *least = getenv("SLOW_LEAST");
	if (n >= (least ? (size_t)atoi(least) : LARGE))
		wait_as("SLOW_WRITE");
	return next(fd, data, n);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
	ssize_t (*next)(int, void *, size_t, off64_t) =
		(ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
	wait_as("SLOW_READ");
	return next(fd, data, n, at);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
	return pread64(fd, data, n, at);
}
