/* libcuda.so.1, as far as the injected libraries see it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cuda.h"

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

/* ---- contexts, queues and events ---- */

/* A context's device does its work one after the other; all that is kept of the queue is when it will be empty. */
enum { DEVICES = 2, CONTEXTS = 3, EVENTS = 1000, NOT_READY = 600, CAPTURED = 900, NOT_INITIALIZED = 3 };
static struct {
	int active, retained;
	int64_t empty_at;
} contexts[CONTEXTS]; /* the primary ones of both devices, and one that a program made */
static struct {
	int used;
	int64_t over_at;
} events[EVENTS];
static int n_events, captures, broken_captures, uses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current;
static pid_t initialised;

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int setting(const char *name)
{
	const char *value = getenv(name);
	return value ? atoi(value) : 0;
}

static void use(int context)
{
	initialised = getpid();
	contexts[context].active = 1;
	current = context + 1;
}

static void work(int context, int64_t ns)
{
	int64_t *at = &contexts[context].empty_at, begin = now();
	pthread_mutex_lock(&lock);
	if (ns < 0)
		*at = INT64_MAX;
	else if (*at != INT64_MAX)
		*at = (*at > begin ? *at : begin) + ns;
	pthread_mutex_unlock(&lock);
}

static void drain(int context)
{
	int64_t left = contexts[context].empty_at - now();
	while (left > 0) {
		nanosleep(&(struct timespec){left / 1000000000, left % 1000000000}, NULL);
		left = contexts[context].empty_at - now();
	}
}

static int64_t empty_at(int context)
{
	return contexts[context].empty_at;
}

static int capture(int begins)
{
	pthread_mutex_lock(&lock);
	captures += begins ? 1 : -1;
	int broken = broken_captures;
	pthread_mutex_unlock(&lock);
	return broken;
}

static int left(void)
{
	int n = 0;
	usleep(20000); /* the library puts back what it took when it has answered */
	for (int i = 0; i < n_events && i < EVENTS; i++)
		n += events[i].used;
	for (int i = 0; i < CONTEXTS; i++)
		n += contexts[i].retained;
	return n;
}

static int used(void)
{
	return uses;
}

EXPORT const struct fake_driver *fake_driver(void);
const struct fake_driver *fake_driver(void)
{
	static const struct fake_driver table = {use, work, drain, empty_at, capture, left, used};
	return &table;
}

EXPORT int cuDeviceGetCount(int *n);
int cuDeviceGetCount(int *n)
{
	while (setting("FAKE_HANG"))
		pause();
	uses++;
	*n = DEVICES;
	return getpid() == initialised ? 0 : NOT_INITIALIZED;
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = contexts[device].active;
	return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
	if (!contexts[device].active)
		abort(); /* this would make one */
	contexts[device].retained++;
	*context = &contexts[device];
	return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device)
{
	contexts[device].retained--;
	return 0;
}

EXPORT int cuCtxPushCurrent_v2(void *context);
static __thread int pushed;
int cuCtxPushCurrent_v2(void *context)
{
	pushed = current;
	current = (int)((__typeof__(&contexts[0]))context - contexts) + 1;
	return 0;
}

EXPORT int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context)
{
	*context = &contexts[current - 1];
	current = pushed;
	return 0;
}

EXPORT int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context)
{
	*context = current ? &contexts[current - 1] : NULL;
	return 0;
}

EXPORT int cuCtxSynchronize(void);
int cuCtxSynchronize(void)
{
	drain(current - 1);
	return setting("FAKE_RECORD");
}

EXPORT int cuEventCreate(void **event, unsigned flags);
int cuEventCreate(void **event, unsigned flags)
{
	if (!current || flags != 2)
		return 201;
	pthread_mutex_lock(&lock);
	events[n_events].used = 1;
	*event = &events[n_events++];
	pthread_mutex_unlock(&lock);
	return 0;
}

EXPORT int cuEventDestroy_v2(void *event);
int cuEventDestroy_v2(void *event)
{
	((__typeof__(&events[0]))event)->used--;
	return 0;
}

EXPORT int cuEventQuery(void *event);
int cuEventQuery(void *event)
{
	int code = setting("FAKE_QUERY");
	return code ? code : ((__typeof__(&events[0]))event)->over_at > now() ? NOT_READY : 0;
}

#ifndef FAKE_OLD
EXPORT int cuCtxRecordEvent(void *context, void *event);
int cuCtxRecordEvent(void *context, void *event)
{
	int code = setting("FAKE_RECORD");
	pthread_mutex_lock(&lock);
	if (captures > 0) {
		broken_captures++;
		code = CAPTURED;
	}
	((__typeof__(&events[0]))event)->over_at = ((__typeof__(&contexts[0]))context)->empty_at;
	pthread_mutex_unlock(&lock);
	return code;
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode);
int cuThreadExchangeStreamCaptureMode(int *mode)
{
	static __thread int was;
	int is = *mode;
	*mode = was;
	was = is;
	return 0;
}
#endif
