/* CUDA and NVTX for a Python program, as fake_cuda.h offers them: it loads this with ctypes. */
#include "fake_cuda.h"
#include "lock_wait.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuda_begin(void);
EXPORT void cuda_run(long ns);
EXPORT void cuda_graph(int what, long node, long original);
EXPORT void pause_native(long ns);
EXPORT long waited(void);
EXPORT void range_push(const char *name);
EXPORT void range_pop(void);

static const struct fake *fake;

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

/* Launches a kernel of so many ns and waits for its end. */
void cuda_run(long ns)
{
	unsigned long start = now() + 4000, end = start + (unsigned long)ns;
	if (fake)
		fake->launch("work", start, end);
	while (now() < end)
		;
}

/* What happens around a graph: enum fake_graph. */
void cuda_graph(int what, long node, long original)
{
	if (fake)
		fake->graph((enum fake_graph)what, (uintptr_t)node, (uintptr_t)original);
}

/* Native code of so many ns. */
void pause_native(long ns)
{
	unsigned long end = now() + (unsigned long)ns;
	while (now() < end)
		;
	lock_wait_begin();
}

/* ns since that ended in which the thread was not kept waiting for a processor. Whoever comes back from there to an
 * interpreter whose lock others hold waited for that so long. */
long waited(void)
{
	return (long)lock_wait_ns();
}

void range_push(const char *name)
{
	nvtxRangePushA(name);
}

void range_pop(void)
{
	nvtxRangePop();
}
