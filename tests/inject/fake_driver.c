/* libcuda.so.1, as far as the injected library sees it. */
#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);

int cuInit(unsigned flags)
{
	static int done;
	const char *path = getenv("CUDA_INJECTION64_PATH");
	(void)flags;
	if (done++ || !path)
		return 0;
	void *library = dlopen(path, RTLD_NOW);
	int (*begin)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
	return begin ? !begin() : 100;
}

int cuDriverGetVersion(int *version)
{
	const char *said = getenv("FAKE_DRIVER");
	*version = said ? atoi(said) : 13000;
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = 100 * attribute + device;
	return 0;
}
