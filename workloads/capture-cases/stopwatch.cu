/* Programs that are hard to take the time of, one a word: `stopwatch-cases ahead 20 200`: 20 steps of warm-up, 200 in
 * all. With a third number the queue is drained where a stopwatch does it, at the end of the warm-up and of the last
 * step, and the time between is printed: "own NS". Ranges are called step. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>

static void check(int result, int line)
{
	if (!result)
		return;
	fprintf(stderr, "stopwatch-cases: line %d: CUDA error %d\n", line, result);
	exit(1);
}
#define CHECK(call) check((int)(call), __LINE__)

static long long now_ns()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Runs for `us` microseconds, or until *stop. */
__global__ void spin(int us, volatile int *stop)
{
	long long begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do {
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	} while (stop ? !*stop : now - begin < us * 1000LL);
}

__global__ void nothing()
{
}

static int warmup, n_steps;
static bool has_clock, drains = true;
static long long began;

static void mark(int done)
{
	if (!has_clock || (done != warmup && done != n_steps))
		return;
	CHECK(cuCtxSynchronize());
	if (done == warmup)
		began = now_ns();
	else
		printf("own %lld\n", now_ns() - began);
}

template <typename F> static void steps(F step)
{
	for (int i = 0; i < n_steps; i++) {
		nvtxRangePushA("step");
		step(i);
		nvtxRangePop();
		mark(i + 1);
	}
	if (drains)
		CHECK(cudaDeviceSynchronize());
	fflush(stdout);
}

static cudaStream_t stream()
{
	cudaStream_t s;
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

/* The host is done at once. */
static void ahead()
{
	cudaStream_t s = stream();
	steps([&](int) { spin<<<1, 1, 0, s>>>(500, nullptr); });
}

static void behind()
{
	cudaStream_t s = stream();
	steps([&](int) {
		long long until = now_ns() + 500000;
		spin<<<1, 1, 0, s>>>(100, nullptr);
		while (now_ns() < until)
			;
	});
}

/* Many short kernels, the host runs ahead until the queue is full. */
static void short_kernels()
{
	cudaStream_t s = stream();
	steps([&](int) {
		for (int k = 0; k < 200; k++)
			nothing<<<1, 1, 0, s>>>();
	});
}

/* What launching takes is what a step takes. */
static void launches()
{
	cudaStream_t s = stream();
	steps([&](int) {
		for (int k = 0; k < 100; k++) {
			nothing<<<1, 1, 0, s>>>();
			if (k % 10 == 9)
				CHECK(cudaStreamSynchronize(s));
		}
	});
}

/* A step ends on one of two streams that nobody joins. */
static void two_streams()
{
	cudaStream_t s = stream(), t = stream();
	steps([&](int i) {
		spin<<<1, 1, 0, s>>>(100, nullptr);
		spin<<<1, 1, 0, t>>>(400 + i % 3, nullptr);
	});
}

/* A context that is not the device's primary one. */
static void own_context()
{
	CUcontext context;
	CUdevice device;
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
	CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
	CHECK(cuCtxCreate(&context, 0, device));
#endif
	cudaStream_t s = stream();
	steps([&](int) { spin<<<1, 1, 0, s>>>(500, nullptr); });
}

/* Another thread captures graphs all the time, in the mode that forbids most. */
static void captures()
{
	cudaStream_t s = stream();
	std::atomic<bool> over{false};
	std::atomic<int> good{0}, broken{0};
	std::thread other([&] {
		cudaStream_t mine = stream();
		while (!over) {
			cudaGraph_t graph = nullptr;
			CHECK(cudaStreamBeginCapture(mine, cudaStreamCaptureModeThreadLocal));
			for (int k = 0; k < 50; k++)
				nothing<<<1, 1, 0, mine>>>();
			usleep(2000);
			if (cudaStreamEndCapture(mine, &graph) == cudaSuccess) {
				good++;
				CHECK(cudaGraphDestroy(graph));
			} else {
				broken++;
				cudaGetLastError();
			}
		}
	});
	drains = false; /* it would break the captures */
	steps([&](int) {
		spin<<<1, 1, 0, s>>>(500, nullptr);
		CHECK(cudaStreamSynchronize(s));
	});
	over = true;
	other.join();
	printf("captured %d, broken %d\n", good.load(), broken.load());
}

/* One capture in the warm-up, as torch.compile makes it, and its graph replayed. */
static void replays()
{
	cudaStream_t s = stream();
	cudaGraph_t graph;
	cudaGraphExec_t exec = nullptr;
	steps([&](int i) {
		if (i == 3) {
			CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
			for (int k = 0; k < 100; k++)
				nothing<<<1, 1, 0, s>>>();
			spin<<<1, 1, 0, s>>>(200, nullptr);
			CHECK(cudaStreamEndCapture(s, &graph));
			CHECK(cudaGraphInstantiate(&exec, graph, 0));
		}
		if (exec)
			CHECK(cudaGraphLaunch(exec, s));
		else
			spin<<<1, 1, 0, s>>>(400, nullptr);
	});
}

/* A kernel that runs until the program ends; in the recorded run, where it would be all of the GPU's time, for a while.
 */
static void persistent()
{
	cudaStream_t s = stream(), t = stream();
	int *stop;
	CHECK(cudaHostAlloc(&stop, sizeof *stop, cudaHostAllocMapped));
	*stop = !getenv("GAPLINE_STOPWATCH");
	spin<<<1, 1, 0, t>>>(0, stop);
	has_clock = false;
	for (int i = 0; i < n_steps; i++) {
		nvtxRangePushA("step");
		spin<<<1, 1, 0, s>>>(500, nullptr);
		CHECK(cudaStreamSynchronize(s));
		nvtxRangePop();
	}
	*stop = 1;
	CHECK(cudaDeviceSynchronize());
	puts("went on");
}

/* A host function that takes its time, as a logger does. */
static void host_function()
{
	cudaStream_t s = stream();
	steps([&](int i) {
		spin<<<1, 1, 0, s>>>(400, nullptr);
		if (i % 10 == 9)
			CHECK(cudaLaunchHostFunc(
				s, [](void *) { usleep(1000); }, nullptr));
	});
}

static void forks()
{
	cudaStream_t s = stream();
	has_clock = false;
	steps([&](int i) {
		spin<<<1, 1, 0, s>>>(300, nullptr);
		if (i == n_steps / 2 && !fork()) {
			for (int k = 0; k < n_steps; k++) {
				nvtxRangePushA("step");
				nvtxRangePop();
			}
			_exit(0);
		}
	});
	wait(nullptr);
	puts("went on");
}

/* Two processes on one GPU, each with its steps; one begins a third of a second later. */
static void lags()
{
	pid_t child = fork();
	if (!child)
		usleep(333000);
	has_clock = has_clock && !child;
	cudaStream_t s = stream();
	steps([&](int) {
		long long until = now_ns() + 500000;
		spin<<<1, 1, 0, s>>>(100, nullptr);
		while (now_ns() < until)
			;
	});
	if (!child)
		exit(0); /* what was recorded of it is written then */
	int status = 1;
	wait(&status);
	puts(status ? "the other one failed" : "went on");
}

/* Ends in the middle, and says that all is well. */
static void leaves()
{
	cudaStream_t s = stream();
	has_clock = false;
	steps([&](int i) {
		spin<<<1, 1, 0, s>>>(300, nullptr);
		if (i == n_steps * 3 / 4 && getenv("GAPLINE_STOPWATCH"))
			_exit(0);
	});
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} cases[] = {{"ahead", ahead},
	             {"behind", behind},
	             {"short_kernels", short_kernels},
	             {"launches", launches},
	             {"two_streams", two_streams},
	             {"own_context", own_context},
	             {"captures", captures},
	             {"replays", replays},
	             {"persistent", persistent},
	             {"host_function", host_function},
	             {"forks", forks},
	             {"lags", lags},
	             {"leaves", leaves}};
	if (argc < 4)
		return 2;
	warmup = atoi(argv[2]);
	n_steps = atoi(argv[3]);
	has_clock = argc > 4;
	for (auto &c : cases)
		if (!strcmp(c.name, argv[1])) {
			c.run();
			return 0;
		}
	return 2;
}
