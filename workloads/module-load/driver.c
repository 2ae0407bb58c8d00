#include "driver.h"

#include <dlfcn.h>
#include <string.h>

struct driver driver;

static void look_up(void *library, const char *name, void *function, size_t size)
{
	void *found = library != NULL ? dlsym(library, name) : NULL;

	if (found == NULL) {
		fprintf(stderr, "libcuda.so.1 has no %s\n", name);
		exit(EXIT_GPU);
	}
	memcpy(function, &found, size);
}

void driver_open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	look_up(library, "cuModuleLoadData", &driver.module_load_data, sizeof(driver.module_load_data));
	look_up(library, "cuModuleGetFunction", &driver.module_get_function, sizeof(driver.module_get_function));
	look_up(library, "cuModuleUnload", &driver.module_unload, sizeof(driver.module_unload));
	look_up(library, "cuLaunchKernel", &driver.launch_kernel, sizeof(driver.launch_kernel));
}
