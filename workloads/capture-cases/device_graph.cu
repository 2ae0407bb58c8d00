// A graph whose only kernel launches another graph, of ten kernels, from the GPU. What runs there was launched by no
// call.
//
//	nvcc -O2 -std=c++17 -arch=native -rdc=true -o device-graph device_graph.cu -lcudadevrt
//	device-graph [STEPS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t error = (call);                                                                            \
		if (error != cudaSuccess) {                                                                            \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                 \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

__global__ void work(float *x)
{
	float y = x[threadIdx.x];
	for (int i = 0; i < 5000; i++)
		y = y * 1.0001f + 0.5f;
	x[threadIdx.x] = y;
}

__global__ void launch(cudaGraphExec_t graph)
{
	cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
}

int main(int n, char **words)
{
	int steps = n > 1 ? atoi(words[1]) : 20;
	float *x;
	cudaStream_t s;
	cudaGraph_t captured;
	cudaGraphExec_t inner, outer;
	CHECK(cudaMalloc(&x, 32 * sizeof *x));
	CHECK(cudaMemset(x, 0, 32 * sizeof *x));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 10; i++)
		work<<<1, 32, 0, s>>>(x);
	CHECK(cudaStreamEndCapture(s, &captured));
	CHECK(cudaGraphInstantiate(&inner, captured, cudaGraphInstantiateFlagDeviceLaunch));
	CHECK(cudaGraphUpload(inner, s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	launch<<<1, 1, 0, s>>>(inner);
	CHECK(cudaStreamEndCapture(s, &captured));
	CHECK(cudaGraphInstantiate(&outer, captured, 0));
	CHECK(cudaStreamSynchronize(s));
	auto begin = std::chrono::steady_clock::now();
	for (int i = 0; i < steps; i++) {
		CHECK(cudaGraphLaunch(outer, s));
		CHECK(cudaStreamSynchronize(s));
	}
	std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
	printf("%.4f ms a step\n", took.count() / steps);
}
