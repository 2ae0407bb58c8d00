/* A program that makes steps on the stand-in for the CUDA driver (fake_cuda.h); check_inject_stopwatch.py knows what it
 * does.
 *
 *	stopwatch_target CASE [STEPS]
 *
 * It prints, for the steps after the 20th to the last (STEPS, 120), what its own clock says with the queues drained at
 * both ends: "own NS", which is what a timed run has to find. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 20, MS = 1000000 };
static const struct fake_driver *cuda;
static int n_steps = 120;

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
	if (!init || init(0))
		exit(4);
	cuda = ((const struct fake_driver *(*)(void))dlsym(driver, "fake_driver"))();
}

static int64_t began;

static void mark(int step)
{
	if (step != WARM && step != n_steps)
		return;
	for (int c = 0; c < 3; c++)
		cuda->drain(c);
	if (step == WARM)
		began = now();
	else
		printf("own %lld\n", (long long)(now() - began));
}

/* The host submits at once and runs ahead, or is what takes the time. */
static void steps(int64_t host, int64_t device, int context)
{
	char name[32];
	for (int i = 1; i <= n_steps; i++) {
		snprintf(name, sizeof name, "step %d", i);
		nvtxRangePushA(name);
		nvtxRangePushA("forward");
		cuda->work(context, device);
		nvtxRangePop();
		if (host)
			nanosleep(&(struct timespec){0, host}, NULL);
		nvtxRangePop();
		mark(i);
	}
}

static void ahead(void)
{
	cuda->use(0);
	steps(0, MS / 2, 0);
}

static void behind(void)
{
	cuda->use(0);
	steps(MS / 2, MS / 10, 0);
}

/* The second device has more to do, on a context that is not the calling thread's. */
static void devices(void)
{
	cuda->use(1);
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		nvtxRangePushA("step");
		cuda->work(0, MS / 10);
		cuda->work(1, MS / 2);
		nvtxRangePop();
		mark(i);
	}
}

/* Four threads make steps of 5 ms each, and the one whose step is the 20th has 100 ms queued: while that is waited for,
 * so many steps of the others end, "passed N". */
static _Atomic int made, over;

static void *make_steps(void *of)
{
	cuda->use(0);
	for (int i; (i = ++made) <= n_steps;) {
		nvtxRangePushA("step 1");
		cuda->work(0, i == WARM ? 100 * MS : MS / 10);
		nanosleep(&(struct timespec){0, 5 * MS}, NULL);
		int before = over;
		int64_t start = now();
		nvtxRangePop();
		if (now() - start > 50 * MS && before < 2 * WARM)
			printf("waited %lld passed %d\n", (long long)(now() - start), over - before);
		over++;
	}
	return of;
}

static void held(void)
{
	pthread_t others[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&others[i], NULL, make_steps, NULL);
	make_steps(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(others[i], NULL);
}

/* A context that is nobody's primary one. */
static void own_context(void)
{
	cuda->use(2);
	steps(0, MS / 2, 2);
}

static void none(void)
{
	for (int i = 1; i <= n_steps; i++) {
		nvtxRangePushA("step 1");
		nvtxRangePop();
	}
}

/* A kernel that never ends is started at step 60. */
static void stuck(void)
{
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		nvtxRangePushA("step 1");
		cuda->work(0, i == 60 ? -1 : MS / 10);
		nvtxRangePop();
	}
	puts("went on");
}

/* A graph is being captured at the end of step 20. */
static void capture(void)
{
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		nvtxRangePushA("step 1");
		if (i == WARM)
			cuda->capture(1);
		nvtxRangePop();
		if (i == WARM)
			printf("broken %d\n", cuda->capture(0));
	}
}

/* Ranges of every kind, in a domain; the default domain has some of the same name. */
static void kinds(void)
{
	nvtxDomainHandle_t other = nvtxDomainCreateA("other"), d = nvtxDomainCreateW(L"train \u00e9");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(d, "step"), wide = nvtxDomainRegisterStringW(d, L"step");
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
		a.messageType = i % 4 == 0   ? NVTX_MESSAGE_TYPE_ASCII
		                : i % 4 == 1 ? NVTX_MESSAGE_TYPE_UNICODE
		                             : NVTX_MESSAGE_TYPE_REGISTERED;
		if (i % 4 == 0)
			a.message.ascii = "step";
		else if (i % 4 == 1)
			a.message.unicode = L"step";
		else
			a.message.registered = i % 4 == 2 ? name : wide;
		nvtxRangePushA("step");
		nvtxDomainRangePushEx(other, &a);
		nvtxRangeId_t id = 0;
		if (i % 3)
			nvtxDomainRangePushEx(d, &a);
		else
			id = nvtxDomainRangeStartEx(d, &a);
		cuda->work(0, MS / 2);
		if (i % 3)
			nvtxDomainRangePop(d);
		else
			nvtxDomainRangeEnd(d, id);
		mark(i);
		nvtxDomainRangePop(other);
		nvtxRangePop();
	}
}

/* What a stopwatch may say that takes the time at the ends of ranges $GAPLINE_STOPWATCH_FIRST and _LAST, however late
 * it is told of the queue's end: from the end of the first's work, or up to where the program goes on after it, to the
 * end of the last's, or to where the program goes on after that. "within NS NS" */
static void bracket(int step)
{
	static int64_t done, on;
	const char *first = getenv("GAPLINE_STOPWATCH_FIRST"), *last = getenv("GAPLINE_STOPWATCH_LAST");
	if (first && step == atoi(first)) {
		done = cuda->empty_at(0);
		on = now();
	} else if (last && step == atoi(last)) {
		printf("within %lld %lld\n", (long long)(cuda->empty_at(0) - on), (long long)(now() - done));
	}
}

static void plain(void)
{
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		nvtxRangeId_t id = 0;
		if (i % 2)
			nvtxRangePushW(L"step");
		else
			id = i % 4 ? nvtxRangeStartA("step") : nvtxRangeStartW(L"step");
		cuda->work(0, MS / 2);
		if (i % 2)
			nvtxRangePop();
		else
			nvtxRangeEnd(id);
		bracket(i);
		mark(i);
	}
}

/* Two threads that make 60 steps each. */
static void *half(void *unused)
{
	(void)unused;
	cuda->use(0);
	for (int i = 0; i < n_steps / 2; i++) {
		nvtxRangePushA("step");
		nanosleep(&(struct timespec){0, MS / 2}, NULL);
		cuda->work(0, MS / 10);
		nvtxRangePop();
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, half, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* Two processes, of which the second begins later and takes longer. */
static void ranks(void)
{
	pid_t child = fork();
	if (!child)
		usleep(50000);
	begin();
	cuda->use(0);
	steps(0, child ? MS / 2 : MS, 0);
	fflush(stdout);
	if (child)
		waitpid(child, NULL, 0);
}

/* Forks at step 60, where CUDA is in use: the child makes steps of its own without it. */
static void forks(void)
{
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		nvtxRangePushA("step");
		cuda->work(0, MS / 2);
		if (i == 60 && !fork()) {
			for (int k = 0; k < 30; k++) {
				nvtxRangePushA("step");
				nvtxRangePop();
			}
			_exit(0);
		}
		nvtxRangePop();
		mark(i);
	}
	wait(NULL);
}

/* No ranges: five launches a step, of which CUPTI's stand-in tells if it was loaded; `more`: seven. In step `captured`
 * a graph is captured. */
static void launch(int a_step, int captured)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	const struct fake *(*get)(void) = library ? (const struct fake *(*)(void))dlsym(library, "fake_cupti") : NULL;
	cuda->use(0);
	for (int i = 1; i <= n_steps; i++) {
		if (i == captured && get) {
			get()->captures(1);
			cuda->capture(1);
		}
		for (int k = 0; k < a_step; k++) {
			cuda->work(0, MS / 2 / a_step);
			if (get)
				get()->launched();
		}
		if (i == captured && get) {
			printf("broken %d\n", cuda->capture(0));
			get()->captures(0);
		}
		mark(i);
	}
}

static void launches(void)
{
	launch(5, 0);
}

static void more_launches(void)
{
	launch(7, 0);
}

static void launches_captured(void)
{
	launch(5, 20);
}

static void leaves(void)
{
	cuda->use(0);
	for (int i = 1; i < 60; i++) {
		nvtxRangePushA("step");
		cuda->work(0, MS / 10);
		nvtxRangePop();
	}
	_exit(0);
}

static void dies(void)
{
	cuda->use(0);
	for (int i = 1; i < 60; i++) {
		nvtxRangePushA("step");
		cuda->work(0, MS / 10);
		nvtxRangePop();
	}
	raise(SIGSEGV);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"ahead", ahead},
	             {"behind", behind},
	             {"devices", devices},
	             {"held", held},
	             {"own_context", own_context},
	             {"none", none},
	             {"stuck", stuck},
	             {"capture", capture},
	             {"kinds", kinds},
	             {"plain", plain},
	             {"threads", threads},
	             {"ranks", ranks},
	             {"forks", forks},
	             {"leaves", leaves},
	             {"dies", dies},
	             {"launches", launches},
	             {"more_launches", more_launches},
	             {"launches_captured", launches_captured}};
	if (argc > 2)
		n_steps = atoi(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			if (cases[i].run != ranks)
				begin();
			cases[i].run();
			printf("left %d, uses %d\n", cuda->left(), cuda->uses());
			return 0;
		}
	return 2;
}
