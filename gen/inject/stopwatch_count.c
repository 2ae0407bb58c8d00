#include "counting.h"

#include "capture/stopwatch_page.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waiting until the devices of this process have done what was submitted to them, with a time limit. */

/* Of cuda.h, which is not needed to build this: the driver's functions are looked up in the library that the program
 * has loaded, and their names with _v2 have been the same since CUDA 4. */
enum { NOT_READY = 600, CAPTURE_UNSUPPORTED = 900, EVENT_DISABLE_TIMING = 2, CAPTURE_RELAXED = 2 };
struct driver {
	int (*count)(int *);
	int (*state)(int, unsigned *, int *);
	int (*retain)(void **, int);
	int (*release)(int);
	int (*push)(void *);
	int (*pop)(void **);
	int (*current)(void **);
	int (*event_new)(void **, unsigned);
	int (*event_free)(void *);
	int (*event_query)(void *);
	int (*synchronize)(void);
	int (*record)(void *, void *); /* cuCtxRecordEvent; older drivers lack it: NULL */
	int (*exchange_mode)(int *);   /* likewise */
};

enum { MOST_CONTEXTS = 64, NO_DEVICE = -1 };
static const int64_t SPIN_NS = 20000000; /* for which the wait is a loop without sleeping: most queues are shorter */

struct context {
	void *context, *event;
	int device; /* whose primary context it is, retained; NO_DEVICE: the calling thread's */
};

/* The thread may outlive the wait, so what it uses is never freed. */
static struct wait {
	struct driver driver;
	struct context contexts[MOST_CONTEXTS];
	int n;
	void *callers; /* the calling thread's current context */
	int64_t until;
	_Atomic uint32_t over; /* a futex: 1 when the thread has an answer */
	enum stopwatch_problem problem;
	int code;
	int64_t idle;
	_Atomic bool abandoned;
} waits[2];

static int64_t stopwatch_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool driver_find(struct driver *d)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return false;
	const struct {
		void *to;
		const char *name;
		bool optional;
	} functions[] = {{&d->count, "cuDeviceGetCount", false},
	                 {&d->state, "cuDevicePrimaryCtxGetState", false},
	                 {&d->retain, "cuDevicePrimaryCtxRetain", false},
	                 {&d->release, "cuDevicePrimaryCtxRelease_v2", false},
	                 {&d->push, "cuCtxPushCurrent_v2", false},
	                 {&d->pop, "cuCtxPopCurrent_v2", false},
	                 {&d->current, "cuCtxGetCurrent", false},
	                 {&d->event_new, "cuEventCreate", false},
	                 {&d->event_free, "cuEventDestroy_v2", false},
	                 {&d->event_query, "cuEventQuery", false},
	                 {&d->synchronize, "cuCtxSynchronize", false},
	                 {&d->record, "cuCtxRecordEvent", true},
	                 {&d->exchange_mode, "cuThreadExchangeStreamCaptureMode", true}};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		*(void **)functions[i].to = dlsym(library, functions[i].name);
		if (!*(void **)functions[i].to && !functions[i].optional)
			return false;
	}
	return true;
}

/* ---- on the thread ---- */

static bool fail(struct wait *w, enum stopwatch_problem problem, int code)
{
	if (w->problem == STOPWATCH_FINE) {
		w->problem = problem;
		w->code = code;
	}
	return false;
}

static void add(struct wait *w, void *context, int device)
{
	w->contexts[w->n++] = (struct context){context, NULL, device};
}

static bool find_contexts(struct wait *w)
{
	struct driver *d = &w->driver;
	int n = 0, code = d->count(&n);
	if (code)
		return fail(w, STOPWATCH_REFUSED, code);
	for (int device = 0; device < n && w->n < MOST_CONTEXTS - 1; device++) {
		unsigned flags;
		int active = 0;
		void *context = NULL;
		if (d->state(device, &flags, &active) || !active)
			continue;
		code = d->retain(&context, device);
		if (code)
			return fail(w, STOPWATCH_REFUSED, code);
		add(w, context, device);
		if (context == w->callers)
			w->callers = NULL;
	}
	if (w->callers)
		add(w, w->callers, NO_DEVICE);
	return w->n || fail(w, STOPWATCH_NO_CONTEXT, 0);
}

/* Marks what was submitted to the context so far. */
static int record(struct driver *d, struct context *c)
{
	void *popped;
	int code = d->push(c->context);
	if (code)
		return code;
	code = d->event_new(&c->event, EVENT_DISABLE_TIMING);
	if (!code)
		code = d->record(c->context, c->event);
	d->pop(&popped);
	return code;
}

static int synchronize(struct driver *d, const struct context *c)
{
	void *popped;
	int code = d->push(c->context);
	if (code)
		return code;
	code = d->synchronize();
	d->pop(&popped);
	return code;
}

static void rest(int64_t began)
{
	if (stopwatch_now() - began < SPIN_NS)
		sched_yield();
	else
		nanosleep(&(struct timespec){0, 20000}, NULL);
}

static bool poll_event(struct wait *w, const struct context *c, int64_t began)
{
	int code;
	while ((code = w->driver.event_query(c->event)) == NOT_READY) {
		if (atomic_load(&w->abandoned) || stopwatch_now() >= w->until)
			return fail(w, STOPWATCH_TIME_LIMIT, 0);
		rest(began);
	}
	return !code || fail(w, STOPWATCH_REFUSED, code);
}

static bool drain(struct wait *w)
{
	struct driver *d = &w->driver;
	int64_t began = stopwatch_now();
	bool fine = find_contexts(w);
	for (int i = 0; i < w->n && fine && d->record; i++) {
		int code = record(d, &w->contexts[i]);
		fine = !code || fail(w, STOPWATCH_REFUSED, code);
	}
	for (int i = 0; i < w->n && fine; i++) {
		int code = d->record ? 0 : synchronize(d, &w->contexts[i]);
		fine = code ? fail(w, STOPWATCH_REFUSED, code) : !d->record || poll_event(w, &w->contexts[i], began);
	}
	return fine;
}

static void put_back(struct wait *w)
{
	for (int i = 0; i < w->n; i++) {
		if (w->contexts[i].event)
			w->driver.event_free(w->contexts[i].event);
		if (w->contexts[i].device != NO_DEVICE)
			w->driver.release(w->contexts[i].device);
	}
}

static void *wait_thread(void *of)
{
	struct wait *w = of;
	int mode = CAPTURE_RELAXED; /* a capture elsewhere forbids other threads some calls; not this one, so */
	prctl(PR_SET_NAME, "gapline");
	if (w->driver.exchange_mode)
		w->driver.exchange_mode(&mode);
	if (drain(w))
		w->idle = stopwatch_now();
	atomic_store(&w->over, 1);
	syscall(SYS_futex, &w->over, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	put_back(w);
	return NULL;
}

/* ---- on the program's ---- */

static int start(struct wait *w)
{
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all, before;
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int problem = pthread_create(&thread, &attributes, wait_thread, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return problem;
}

/* False: the time is up. */
static bool answered(struct wait *w)
{
	while (!atomic_load(&w->over)) {
		int64_t left = w->until - stopwatch_now();
		if (left <= 0)
			return false;
		struct timespec timeout = {left / 1000000000, left % 1000000000};
		syscall(SYS_futex, &w->over, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
	}
	return true;
}

static void tell(struct stopwatch_page *page, enum stopwatch_problem problem, int code)
{
	uint32_t fine = STOPWATCH_FINE;
	if (atomic_compare_exchange_strong(&page->problem, &fine, problem))
		atomic_store(&page->code, code);
}

/* By any thread of the program, at the end of a step range; `which` is 0 for the first instant, 1 for the last, each at
 * most once in a process. Fills page->asked, idle and contexts at `which`, or page->problem; never takes much longer
 * than `limit_ns`, whatever the driver does: its functions are called by a thread that is made for it. All contexts are
 * waited for that are the primary one of a device and in use, and the calling thread's own; none is made. */
static void stopwatch_wait(struct stopwatch_page *page, int which, int64_t limit_ns)
{
	struct wait *w = &waits[which];
	int64_t began = stopwatch_now();
	atomic_store(&page->asked[which], began);
	memset(w, 0, sizeof *w); /* a forked child has what its parent left here */
	w->until = began + limit_ns;
	if (!driver_find(&w->driver)) {
		tell(page, STOPWATCH_NO_DRIVER, 0);
		return;
	}
	if (w->driver.current(&w->callers))
		w->callers = NULL;
	int problem = start(w);
	if (problem) {
		tell(page, STOPWATCH_NO_THREAD, problem);
		return;
	}
	if (!answered(w)) {
		atomic_store(&w->abandoned, true);
		tell(page, STOPWATCH_TIME_LIMIT, 0);
		return;
	}
	if (w->problem != STOPWATCH_FINE) {
		tell(page, w->problem, w->code);
		return;
	}
	page->contexts[which] = (uint32_t)w->n;
	/* The program goes on now, which begins the time; it ends when the devices were idle. */
	atomic_store(&page->idle[which], which ? w->idle : stopwatch_now());
}

static char folder[PATH_MAX];
static uint64_t instants[2]; /* counts of what has ended */
static int64_t limit_ns = STOPWATCH_LIMIT_MS * INT64_C(1000000);

/* ---- other threads ---- */

static _Atomic uint32_t begun; /* a futex: 1 when the first instant is over, and the time has begun */

static void begin(void)
{
	atomic_store(&begun, 1);
	syscall(SYS_futex, &begun, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Until then nobody who counts goes on: what other threads did meanwhile would be counted without its time. Where the
 * devices wait for one of them, it is let go at half of the time limit. */
static void hold(void)
{
	for (int64_t until = stopwatch_now() + limit_ns / 2, left; !atomic_load(&begun);) {
		left = until - stopwatch_now();
		if (left <= 0)
			return;
		struct timespec timeout = {left / 1000000000, left % 1000000000};
		syscall(SYS_futex, &begun, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
	}
}

/* ---- the page ---- */

static _Atomic(struct stopwatch_page *) page;
static _Atomic pid_t owner; /* of `page` */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void forked(void)
{
	atomic_store(&page, NULL); /* the parent's, which stays mapped and is left alone */
	atomic_store(&begun, 0);
	pthread_mutex_init(&making, NULL);
}

static struct stopwatch_page *page_map(pid_t pid)
{
	char path[PATH_MAX + 64];
	int fd = -1;
	for (unsigned n = 0; n < 10000 && fd < 0; n++) {
		snprintf(path, sizeof path, "%s/%d-%u" STOPWATCH_ENDING, folder, (int)pid, n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && access(path, F_OK))
			return NULL;
	}
	if (fd < 0)
		return NULL;
	/* Room on the disk first: a mapped page without any is SIGBUS. */
	struct stopwatch_page *p = MAP_FAILED;
	if (!posix_fallocate(fd, 0, sizeof *p))
		p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED) {
		unlink(path);
		return NULL;
	}
	p->version = STOPWATCH_VERSION;
	p->pid = (uint32_t)pid;
	memcpy(p->magic, STOPWATCH_MAGIC, sizeof p->magic);
	return p;
}

/* A child that was made without pthread_atfork's handlers is told by its number. */
struct stopwatch_page *stopwatch_mine(void)
{
	pid_t pid = getpid();
	struct stopwatch_page *p = atomic_load_explicit(&page, memory_order_acquire);
	if (p && atomic_load_explicit(&owner, memory_order_relaxed) == pid)
		return p;
	pthread_mutex_lock(&making);
	p = atomic_load(&page);
	if (!p || atomic_load(&owner) != pid) {
		p = page_map(pid);
		atomic_store(&owner, pid);
		atomic_store(&page, p);
	}
	pthread_mutex_unlock(&making);
	return p;
}

void stopwatch_ended(struct stopwatch_page *p, bool capturing)
{
	if (!p)
		return;
	uint64_t n = atomic_fetch_add(&p->ended, 1) + 1;
	for (int which = 0; which < 2; which++) {
		if (n != instants[which] || atomic_load(&p->problem) != STOPWATCH_FINE)
			continue;
		if (capturing)
			tell(p, STOPWATCH_REFUSED, CAPTURE_UNSUPPORTED);
		else
			stopwatch_wait(p, which, limit_ns);
	}
	if (n == instants[0])
		begin();
	else if (n > instants[0] && !atomic_load_explicit(&begun, memory_order_relaxed))
		hold();
}

/* ---- the beginning ---- */

static bool number_from(const char *name, uint64_t *to)
{
	const char *text = getenv(name);
	char *end;
	unsigned long long value = text ? strtoull(text, &end, 10) : 0;
	if (!value || *end)
		return false;
	*to = value;
	return true;
}

bool stopwatch_prepare(void)
{
	const char *wanted = getenv(STOPWATCH_ENV_FOLDER);
	uint64_t limit_ms;
	if (!wanted || !*wanted || !realpath(wanted, folder) || !number_from(STOPWATCH_ENV_FIRST, &instants[0]) ||
	    !number_from(STOPWATCH_ENV_LAST, &instants[1]))
		return false;
	if (number_from(STOPWATCH_ENV_LIMIT_MS, &limit_ms) && limit_ms < INT64_MAX / 1000000)
		limit_ns = (int64_t)limit_ms * 1000000;
	pthread_atfork(NULL, NULL, forked);
	return true;
}
