/* CUDA and NVTX for a Python program, as fake_cuda.h offers them: it loads this with ctypes. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuda_begin(void);
EXPORT void cuda_run(long ns);
EXPORT void pause_native(long ns);
EXPORT long waited(void);
EXPORT void range_push(const char *name);
EXPORT void range_pop(void);

static const struct fake *fake;
static unsigned long returned;
static long delayed;

static unsigned long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000000000ul + (unsigned long)t.tv_nsec;
}

int cuda_begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
	if (!init || init(0))
		return -1;
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	if (cupti)
		fake = ((const struct fake *(*)(void))dlsym(cupti, "fake_cupti"))();
	return 0;
}

/* ns that the thread could have run and had no processor, ever; 0 where the kernel does not say. */
static long delay(void)
{
	char text[96] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	const char *second = n > 0 ? strchr(text, ' ') : NULL;
	if (fd >= 0)
		close(fd);
	return second ? atol(second) : 0;
}

/* Launches a kernel of so many ns and waits for its end. */
void cuda_run(long ns)
{
	unsigned long start = now() + 4000, end = start + (unsigned long)ns;
	if (fake)
		fake->launch("work", start, end);
	while (now() < end)
		;
}

/* Native code of so many ns. */
void pause_native(long ns)
{
	unsigned long end = now() + (unsigned long)ns;
	while (now() < end)
		;
	delayed = delay();
	returned = now();
}

/* ns since that ended in which the thread was not kept waiting for a processor. Whoever comes back from there to an
 * interpreter whose lock others hold waited for that so long. */
long waited(void)
{
	long since = (long)(now() - returned);
	return since - (delay() - delayed);
}

void range_push(const char *name)
{
	nvtxRangePushA(name);
}

void range_pop(void)
{
	nvtxRangePop();
}
