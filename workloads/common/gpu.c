#include "gpu.h"

#include "check.h"

void gpu_open(const char *program, char *name, int size)
{
	struct cudaDeviceProp properties;
	int devices = 0;
	cudaError_t status = cudaGetDeviceCount(&devices);

	if (status != cudaSuccess || devices == 0) {
		fprintf(stderr, "%s: no CUDA GPU to run on: %s\n", program,
		        status != cudaSuccess ? cudaGetErrorString(status) : "the driver lists no device");
		exit(EXIT_GPU);
	}
	CUDA_CHECK(cudaSetDevice(0));
	CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
	snprintf(name, (size_t)size, "%s", properties.name);
}
