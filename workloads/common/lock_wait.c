#include "lock_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t began, delayed;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ns that the thread could have run and had no processor, ever; 0 where the kernel does not say. */
static int64_t delay(void)
{
	char text[96] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	const char *second = n > 0 ? strchr(text, ' ') : NULL;

	if (fd >= 0)
		close(fd);
	return second ? atoll(second) : 0;
}

void lock_wait_begin(void)
{
	delayed = delay();
	began = now();
}

int64_t lock_wait_ns(void)
{
	int64_t since = now() - began;

	return since - (delay() - delayed);
}
