/* A program that uses CUDA, or what fake_cuda.h offers as such; check_inject_cupti.py knows what its spool has to hold.
 *
 *	cuda_target CASE [LIBRARY]    LIBRARY: a CUPTI that the process has loaded before */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct fake *fake;
static const struct fake_driver *cuda;

static void begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
	if (!init || init(0)) {
		fputs("cuInit failed\n", stderr);
		exit(1);
	}
	cuda = ((const struct fake_driver *(*)(void))dlsym(driver, "fake_driver"))();
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	if (cupti)
		fake = ((const struct fake *(*)(void))dlsym(cupti, "fake_cupti"))();
}

static void launches(void)
{
	for (int i = 0; i < 10000; i++)
		fake->launch(i % 2 ? "odd" : "even", 1000 + 10u * (unsigned)i, 1005 + 10u * (unsigned)i);
}

/* A module is unloaded and another one's kernel gets the same place for its name. */
static void names(void)
{
	static char name[] = "first_kernel";
	fake->launch(name, 1, 2);
	usleep(100000);
	strcpy(name, "second");
	fake->launch(name, 3, 4);
	usleep(100000);
	fake->launch(name, 5, 6);
}

/* A module is unloaded before anybody looked at the name of its kernel. */
static void unloaded(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(page, "gone");
	fake->launch(page, 1, 2);
	munmap(page, 4096);
	fake->launch("there", 3, 4);
}

static void forks(void)
{
	fake->launch("parent", 1, 2);
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			usleep(100000);
			if (i == 1)
				_exit(0);
			exit(0);
		}
	int status, bad = 0;
	while (wait(&status) > 0)
		bad += status != 0;
	fake->launch("parent", 3, 4);
	printf("bad children: %d\n", bad);
}

static void killed(void)
{
	for (int i = 0;; i++) {
		fake->launch("alive", 1, 2);
		usleep(1000);
	}
}

static void range(void)
{
	fake->launch("before", 1, 2);
	fake->profiler(0);
	fake->profiler(1);
	fake->launch("inside", 3, 4);
	fake->profiler(0);
	fake->launch("between", 5, 6);
	fake->profiler(1);
	fake->launch("again", 7, 8);
	fake->profiler(0);
	fake->launch("after", 9, 10);
}

/* Windows close together, and work that goes on beside them. */
static void *launch_on(void *over)
{
	while (!atomic_load((_Atomic int *)over)) {
		fake->launch("beside", 1, 2);
		usleep(200);
	}
	return NULL;
}

static void ranges(void)
{
	static _Atomic int over;
	pthread_t thread;
	pthread_create(&thread, NULL, launch_on, &over);
	for (int i = 0; i < 1000; i++) {
		fake->profiler(1);
		fake->launch("inside", 3, 4);
		fake->profiler(0);
		usleep(i % 100 ? 100 : 20000);
	}
	atomic_store(&over, 1);
	pthread_join(thread, NULL);
}

/* Prints how many there were. */
static void flood(void)
{
	enum { RANGES = 100000 };
	for (int i = 0; i < RANGES; i++) {
		fake->profiler(1);
		fake->profiler(0);
	}
	printf("%d\n", RANGES);
}

static void slow(void)
{
	for (int i = 0; i < 90; i++) {
		fake->launch("slow", 1, 2);
		usleep(10000);
	}
}

static void hog(void)
{
	int n = 0;
	while (n < 100000 && fake->buffer())
		n++;
	printf("%d buffers\n", n);
}

static void nothing(void)
{
	printf("CUPTI %s\n", fake ? "is loaded" : "is not loaded");
}

static void kinds(void)
{
	printf("%s\n", fake->kinds());
}

/* A library is loaded when CUDA is there, as by a program that imports JAX after it used the GPU. */
static void later(void)
{
	fake->launch("before", 1, 2);
	usleep(100000); /* the background thread looked */
	if (!dlopen(getenv("FAKE_LATER"), RTLD_NOW))
		exit(3);
	fake->launch("after", 3, 4);
	kinds();
}

/* Work with real times, in ranges; prints each kernel's. Runs without CUPTI, too. */
static void make_steps(unsigned wait_us)
{
	cuda->use(0);
	for (int i = 0; i < 60; i++) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + 100000;
		const char *name = i % 2 ? "odd" : "even";
		if (i % 3 == 0)
			nvtxRangePushA("step");
		if (fake)
			fake->launch(name, start, start + 20000 + (unsigned)i);
		printf("%s %llu %llu\n", name, (unsigned long long)start,
		       (unsigned long long)start + 20000 + (unsigned)i);
		usleep(wait_us);
		if (i % 3 == 2)
			nvtxRangePop();
	}
}

/* A graph that is the whole step is captured in ranges: nodes 1 and 2. */
static void capture_steps(void)
{
	static const char *const phases[] = {"forward", "backward"};
	cuda->use(0);
	fake->graph(FAKE_BEGIN, 0, 0);
	for (unsigned k = 0; k < 2; k++) {
		nvtxRangePushA(phases[k]);
		fake->graph(FAKE_CAPTURE, 1 + k, 0);
		nvtxRangePop();
	}
}

/* The kernels of its nodes take 40, 20 and 10 us. */
static void replay_steps(const uintptr_t *nodes, size_t n)
{
	static const uint64_t node_ns[] = {40000, 20000, 10000};
	for (int i = 0; i < 20; i++) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + 100000;
		nvtxRangePushA("step");
		for (size_t k = 0; k < n; k++) {
			fake->graph(FAKE_REPLAY, nodes[k], 0);
			fake->launch(k % 2 ? "odd" : "even", start, start + node_ns[k]);
			start += node_ns[k];
		}
		usleep(300);
		nvtxRangePop();
	}
}

/* It is instantiated: nodes 11 and 12 are copies of 1 and 2. */
static void graph(void)
{
	nvtxRangePushA("set up");
	capture_steps();
	for (unsigned k = 0; k < 2; k++)
		fake->graph(FAKE_INSTANTIATE, 11 + k, 1 + k);
	nvtxRangePop();
	replay_steps((const uintptr_t[]){11, 12}, 2);
}

/* Its nodes are those of children of two graphs: one's kernel is the last of its copies, the other's is the first. Node
 * 11 is a copy of 1 that is no child's. */
static void child_graphs(void)
{
	nvtxRangePushA("set up");
	capture_steps();
	for (unsigned k = 0; k < 2; k++)
		fake->graph(FAKE_CHILD, 1000 * (1 + k), 1 + k);
	fake->graph(FAKE_INSTANTIATE, 11, 1);
	nvtxRangePop();
	replay_steps((const uintptr_t[]){1000 + FAKE_CHILDREN - 1, 2000, 11}, 3);
}

static void steps(void)
{
	make_steps(300);
}

static void longer_steps(void)
{
	make_steps(900);
}

/* 64 + 256 MB, then 128 in the place of the 64: at most 384 at once. Not every free says how much. */
static void memory(void)
{
	enum { MB = 1 << 20 };
	fake->memory(0, 0x10000000, 64 * MB);
	fake->memory(0, 0x20000000, 256 * MB);
	fake->memory(1, 0x10000000, 0);
	make_steps(150);
	fake->memory(0, 0x10000000, 128 * MB);
	fake->memory(1, 0x10000000, 128 * MB);
	make_steps(150);
	fake->memory(1, 0x20000000, 256 * MB);
}

/* A server: requests on threads, a prefill and some tokens each. Notes of each request when it began, had its first
 * token, its last one, was over and began its prefill, as the times right before and after the range was told; prints
 * all at the end. */
enum { SERVERS = 4, REQUESTS_MOST = 10000, TIMES = 10 };
struct served {
	uint64_t time[TIMES];
	unsigned tokens;
};
static struct served served[SERVERS][REQUESTS_MOST / SERVERS];
static unsigned served_each;

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void begin_range(const char *name, uint64_t *time)
{
	time[0] = clock_ns();
	nvtxRangePushA(name);
	time[1] = clock_ns();
}

static void end_range(uint64_t *time)
{
	time[0] = clock_ns();
	nvtxRangePop();
	time[1] = clock_ns();
}

static void compute(const char *kernel, unsigned us)
{
	uint64_t now = clock_ns();
	fake->launch(kernel, now, now + 5000);
	usleep(us);
}

static void *serve(void *list)
{
	unsigned seed = 1 + (unsigned)((struct served(*)[REQUESTS_MOST / SERVERS]) list - served);
	struct served *all = list;
	cuda->use(0);
	for (unsigned i = 0; i < served_each; i++) {
		struct served *s = &all[i];
		uint64_t ignored[2];
		s->tokens = (unsigned)rand_r(&seed) % 4;
		begin_range("request", &s->time[0]);
		begin_range("prefill", &s->time[8]);
		compute("gemm", rand_r(&seed) % 40 ? 50 + (unsigned)rand_r(&seed) % 200 : 2000);
		end_range(&s->time[2]);
		for (unsigned t = 0; t < s->tokens; t++) {
			begin_range("decode", ignored);
			compute("gemv", 20 + (unsigned)rand_r(&seed) % 100);
			end_range(&s->time[4]);
		}
		end_range(&s->time[6]);
	}
	return NULL;
}

static void serves(unsigned requests)
{
	pthread_t thread[SERVERS];
	served_each = requests / SERVERS;
	for (int i = 0; i < SERVERS; i++)
		pthread_create(&thread[i], NULL, serve, served[i]);
	for (int i = 0; i < SERVERS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < SERVERS; i++)
		for (unsigned k = 0; k < served_each; k++) {
			printf("%u", served[i][k].tokens);
			for (int t = 0; t < TIMES; t++)
				printf(" %llu", (unsigned long long)served[i][k].time[t]);
			printf("\n");
		}
}

static void server(void)
{
	serves(REQUESTS_MOST);
}

static void short_server(void)
{
	serves(REQUESTS_MOST / 10);
}

static void child(void)
{
	/* CUDA is begun in the child, which is how it has to be with fork. */
	if (!fork()) {
		begin();
		launches();
		exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"launches", launches},
	             {"names", names},
	             {"forks", forks},
	             {"killed", killed},
	             {"range", range},
	             {"ranges", ranges},
	             {"flood", flood},
	             {"unloaded", unloaded},
	             {"slow", slow},
	             {"hog", hog},
	             {"kinds", kinds},
	             {"nothing", nothing},
	             {"child", child},
	             {"steps", steps},
	             {"memory", memory},
	             {"later", later},
	             {"longer_steps", longer_steps},
	             {"graph", graph},
	             {"child_graphs", child_graphs},
	             {"server", server},
	             {"short_server", short_server}};
	if (argc > 2 && !dlopen(argv[2], RTLD_NOW))
		return 3;
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			if (cases[i].run != child)
				begin();
			cases[i].run();
			return 0;
		}
	return 2;
}
