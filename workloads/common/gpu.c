#include "gpu.h"

#include "check.h"

void gpu_open(const char *program, int ordinal, int needed, char *name, int size)
{
	struct cudaDeviceProp properties;
	int devices = 0;
	cudaError_t status = cudaGetDeviceCount(&devices);

	if (status != cudaSuccess || devices == 0) {
		if (program != NULL)
			fprintf(stderr, "%s: no CUDA GPU to run on: %s\n", program,
			        status != cudaSuccess ? cudaGetErrorString(status) : "the driver lists no device");
		exit(EXIT_GPU);
	}
	if (devices < needed) {
		if (program != NULL)
			fprintf(stderr, "%s: needs %d CUDA GPUs, and there %s %d\n", program, needed,
			        devices == 1 ? "is" : "are", devices);
		exit(EXIT_GPU);
	}
	CUDA_CHECK(cudaSetDevice(ordinal));
	CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
	snprintf(name, (size_t)size, "%s", properties.name);
}
