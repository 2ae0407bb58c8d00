/* The four driver calls that the pair needs. They are looked up when the program runs, so that it starts, and says what
 * is missing, where there is no driver to link with. */
#ifndef MODULE_LOAD_DRIVER_H
#define MODULE_LOAD_DRIVER_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/check.h"

struct driver {
	CUresult (*module_load_data)(CUmodule *module, const void *image);
	CUresult (*module_get_function)(CUfunction *function, CUmodule module, const char *name);
	CUresult (*module_unload)(CUmodule module);
	CUresult (*launch_kernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
	                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
	                          CUstream stream, void **arguments, void **extra);
};
extern struct driver driver;

/* Fills `driver`, or ends the program with EXIT_GPU. */
void driver_open(void);

#define DRIVER_CHECK(call)                                                                                             \
	do {                                                                                                           \
		CUresult status_ = (call);                                                                             \
		if (status_ != CUDA_SUCCESS) {                                                                         \
			fprintf(stderr, "%s:%d: %s: CUresult %d\n", __FILE__, __LINE__, #call, (int)status_);          \
			exit(EXIT_GPU);                                                                                \
		}                                                                                                      \
	} while (0)

#endif
