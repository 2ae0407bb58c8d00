/* Programs that are hard to capture, one a word: `capture-cases tiny 20 300` runs 20 steps of 300 kernels. What each
 * does is in `cases` below; every one prints the median of its step times, and its NVTX ranges are called step_0,
 * step_1, … */
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

static void check(cudaError_t result, int line)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "capture-cases: line %d: %s\n", line, cudaGetErrorString(result));
	exit(1);
}
#define CHECK(call) check((call), __LINE__)

static double now_ms()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

__global__ void add(float *x)
{
	x[threadIdx.x] += 1;
}

__global__ void scale(float *x)
{
	x[threadIdx.x] *= 1.5f;
}

/* Runs for `us` microseconds. */
__global__ void spin(float *x, int us)
{
	long long begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do {
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	} while (now - begin < us * 1000LL);
	x[threadIdx.x] += 1;
}

struct plan {
	int steps, kernels, us;
};

/* Calls `step` once for every step, in a range of its own. */
template <typename F> static void steps(const plan &p, F step)
{
	std::vector<double> took;
	for (int i = 0; i < p.steps; i++) {
		char name[32];
		snprintf(name, sizeof name, "step_%d", i);
		double begin = now_ms();
		nvtxRangePushA(name);
		step(i);
		nvtxRangePop();
		took.push_back(now_ms() - begin);
	}
	std::sort(took.begin(), took.end());
	printf("%.4f ms a step\n", took.empty() ? 0 : took[took.size() / 2]);
	fflush(stdout);
}

static float *memory(size_t bytes = 4096)
{
	float *x;
	CHECK(cudaMalloc(&x, bytes));
	CHECK(cudaMemset(x, 0, bytes));
	return x;
}

static void launch_all(const plan &p, float *x, cudaStream_t s)
{
	for (int k = 0; k < p.kernels; k++) {
		if (p.us)
			spin<<<1, 32, 0, s>>>(x, p.us);
		else if (k % 2)
			add<<<1, 32, 0, s>>>(x);
		else
			scale<<<1, 32, 0, s>>>(x);
	}
}

static void tiny(const plan &p)
{
	float *x = memory();
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	steps(p, [&](int) {
		launch_all(p, x, s);
		CHECK(cudaStreamSynchronize(s));
	});
}

static void lagging(const plan &p)
{
	float *x = memory();
	steps(p, [&](int) { launch_all(p, x, 0); });
	CHECK(cudaDeviceSynchronize());
}

static void killed(const plan &p)
{
	float *x = memory();
	/* 0.6 s of work, then the end: what a killed process had done is known to the millisecond. */
	double begin = now_ms();
	for (int i = 0; now_ms() - begin < 600; i++) {
		nvtxRangePushA("step");
		launch_all(p, x, 0);
		CHECK(cudaDeviceSynchronize());
		nvtxRangePop();
	}
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("killed at %lld\n", t.tv_sec * 1000000000LL + t.tv_nsec);
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

static void killed_lagging(const plan &p)
{
	float *x = memory();
	double begin = now_ms();
	while (now_ms() - begin < 600)
		launch_all(p, x, 0);
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("killed at %lld\n", t.tv_sec * 1000000000LL + t.tv_nsec);
	fflush(stdout);
	kill(getpid(), SIGKILL);
}

static void underscore_exit(const plan &p)
{
	tiny(p);
	_exit(0);
}

static void crash(const plan &p)
{
	tiny(p);
	*(volatile int *)8 = 1;
}

static void graph(const plan &p)
{
	float *x = memory();
	cudaStream_t s;
	cudaGraph_t captured;
	cudaGraphExec_t ready;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	launch_all(p, x, s);
	CHECK(cudaStreamEndCapture(s, &captured));
	CHECK(cudaGraphInstantiate(&ready, captured, 0));
	steps(p, [&](int) {
		CHECK(cudaGraphLaunch(ready, s));
		CHECK(cudaStreamSynchronize(s));
	});
}

static void streams(const plan &p)
{
	enum { STREAMS = 4, BYTES = 1 << 20 };
	cudaStream_t s[STREAMS];
	cudaEvent_t done[STREAMS];
	float *x[STREAMS], *host;
	CHECK(cudaHostAlloc(&host, BYTES, cudaHostAllocDefault));
	nvtxDomainHandle_t domain = nvtxDomainCreateA("copies");
	nvtxStringHandle_t upload = nvtxDomainRegisterStringA(domain, "upload");
	nvtxEventAttributes_t a = {};
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = upload;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff3366ff;
	for (int i = 0; i < STREAMS; i++) {
		CHECK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
		x[i] = memory(BYTES);
	}
	std::vector<char> pageable(BYTES);
	steps(p, [&](int) {
		nvtxDomainRangePushEx(domain, &a);
		for (int i = 0; i < STREAMS; i++)
			CHECK(cudaMemcpyAsync(x[i], host, BYTES, cudaMemcpyHostToDevice, s[i]));
		nvtxDomainRangePop(domain);
		std::vector<std::thread> threads;
		for (int i = 0; i < STREAMS; i++)
			threads.emplace_back([&, i] {
				launch_all(p, x[i], s[i]);
				CHECK(cudaEventRecord(done[i], s[i]));
			});
		for (std::thread &t : threads)
			t.join();
		for (int i = 1; i < STREAMS; i++)
			CHECK(cudaStreamWaitEvent(s[0], done[i], 0));
		CHECK(cudaMemcpyAsync(x[0], x[1], BYTES, cudaMemcpyDeviceToDevice, s[0]));
		CHECK(cudaEventRecord(done[0], s[0]));
		CHECK(cudaEventSynchronize(done[0]));
		CHECK(cudaMemcpy(pageable.data(), x[0], BYTES, cudaMemcpyDeviceToHost));
	});
}

/* The driver's own launch, as JAX, Triton and CuPy do it. */
static void driver(const plan &p)
{
	float *x = memory();
	cudaFunction_t function;
	CHECK(cudaGetFuncBySymbol(&function, (const void *)add));
	void *arguments[] = {&x};
	steps(p, [&](int) {
		for (int k = 0; k < p.kernels; k++)
			cuLaunchKernel((CUfunction)function, 1, 1, 1, 32, 1, 1, 0, 0, arguments, NULL);
		cuStreamSynchronize(0);
	});
}

static void child(const plan &p)
{
	nvtxMarkA("before the fork");
	if (fork() == 0) {
		tiny(p);
		exit(0);
	}
	wait(NULL);
}

/* Children of a process that uses CUDA must not use it, but may annotate and end in any way. */
static void workers(const plan &p)
{
	float *x = memory();
	steps(p, [&](int i) {
		if (i % 4 == 0 && fork() == 0) {
			nvtxRangePushA("worker");
			usleep(20000);
			nvtxRangePop();
			if (i % 8)
				_exit(0);
			exit(0);
		}
		launch_all(p, x, 0);
		CHECK(cudaDeviceSynchronize());
	});
	while (wait(NULL) > 0)
		;
}

static void range(const plan &p)
{
	float *x = memory();
	steps(p, [&](int i) {
		if (i == p.steps / 3)
			cudaProfilerStart();
		launch_all(p, x, 0);
		CHECK(cudaDeviceSynchronize());
		if (i == 2 * p.steps / 3)
			cudaProfilerStop();
	});
}

/* Many short windows while four threads launch without a pause. */
static void ranges(const plan &p)
{
	enum { THREADS = 4 };
	std::atomic<bool> over{false};
	std::vector<std::thread> threads;
	for (int i = 0; i < THREADS; i++)
		threads.emplace_back([&] {
			cudaStream_t s;
			CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
			float *x = memory();
			while (!over) {
				launch_all(p, x, s);
				CHECK(cudaStreamSynchronize(s));
			}
		});
	float *x = memory();
	steps(p, [&](int i) {
		if (i % 4 == 1)
			cudaProfilerStart();
		launch_all(p, x, 0);
		CHECK(cudaStreamSynchronize(0));
		if (i % 4 == 2)
			cudaProfilerStop();
	});
	over = true;
	for (std::thread &t : threads)
		t.join();
}

static void none(const plan &p)
{
	steps(p, [](int) { usleep(1000); });
}

static const struct {
	const char *name, *what;
	void (*run)(const plan &);
	plan usual;
} cases[] = {
	{"tiny", "many short kernels", tiny, {20, 300, 0}},
	{"lagging", "the GPU is always behind", lagging, {20, 300, 20}},
	{"killed", "dies by SIGKILL in the middle", killed, {0, 50, 0}},
	{"killed-lagging", "the same while the GPU is behind", killed_lagging, {0, 50, 20}},
	{"_exit", "ends by _exit", underscore_exit, {20, 50, 0}},
	{"crash", "dies by SIGSEGV", crash, {20, 50, 0}},
	{"graph", "a CUDA graph a step", graph, {20, 50, 0}},
	{"streams", "four streams, copies, events, threads", streams, {20, 10, 0}},
	{"driver", "launches by the driver API", driver, {20, 50, 0}},
	{"child", "CUDA is begun in a forked child", child, {20, 50, 0}},
	{"workers", "forks children while it uses CUDA", workers, {20, 50, 0}},
	{"range", "cudaProfilerStart and -Stop around the middle third", range, {21, 50, 0}},
	{"ranges", "many such windows while other threads launch", ranges, {200, 50, 0}},
	{"none", "never calls CUDA", none, {20, 0, 0}},
};

int main(int argc, char **argv)
{
	for (auto &c : cases) {
		if (argc < 2 || strcmp(argv[1], c.name))
			continue;
		plan p = c.usual;
		if (argc > 2)
			p.steps = atoi(argv[2]);
		if (argc > 3)
			p.kernels = atoi(argv[3]);
		if (argc > 4)
			p.us = atoi(argv[4]);
		c.run(p);
		return 0;
	}
	fprintf(stderr, "usage: capture-cases CASE [STEPS [KERNELS [MICROSECONDS]]]\n");
	for (auto &c : cases)
		fprintf(stderr, "  %-16s%s\n", c.name, c.what);
	return 2;
}
