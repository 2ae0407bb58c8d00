#include "py.h"

#include "native.h"
#include "spool_events.h"
#include "spool_writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, JOIN_S = 2, TICKS_PATIENCE = 100 /* 3 s */, SOON = 4 };

static const int64_t NAP_NS = 20000000; /* the longest time in which the thread does not look whether to end */

static int64_t every; /* ns; 0: no samples */
static struct py_runtime py;
static pthread_t thread;
static bool started, given_up; /* the background thread's */
static bool native;            /* what they call is looked for, too */
static unsigned ticks;
static _Atomic bool stop;
static _Atomic uint32_t wanted[MOST_THREADS]; /* thread ids; 0: free */
static bool waited[MOST_THREADS],
	again[MOST_THREADS]; /* by place in `wanted`: for the lock; since the last look only */
static _Atomic uint64_t taken, torn, moved;

void sampler_prepare(void)
{
	const char *ns = getenv(SPOOL_ENV_SAMPLE_NS);
	every = ns && *ns ? strtoll(ns, NULL, 10) : 0;
	if (every < 0)
		every = 0;
	native_prepare();
}

void sampler_thread_seen(uint32_t tid)
{
	static unsigned latest;
	if (!every || atomic_load_explicit(&wanted[latest], memory_order_relaxed) == tid)
		return;
	unsigned room = MOST_THREADS;
	for (unsigned i = 0; i < MOST_THREADS; i++) {
		uint32_t is = atomic_load_explicit(&wanted[i], memory_order_relaxed);
		if (is == tid) {
			latest = i;
			return;
		}
		if (!is && room == MOST_THREADS)
			room = i;
	}
	if (room < MOST_THREADS)
		atomic_store(&wanted[room], tid);
}

/* The thread's place, MOST_THREADS: it is not wanted. */
static unsigned wanted_at(uint32_t tid)
{
	unsigned i = 0;
	while (i < MOST_THREADS && atomic_load_explicit(&wanted[i], memory_order_relaxed) != tid)
		i++;
	return i;
}

/* Places of threads that have ended are for others. */
static void forget_ended(void)
{
	for (unsigned i = 0; i < MOST_THREADS; i++) {
		uint32_t tid = atomic_load(&wanted[i]);
		if (tid && syscall(SYS_tgkill, getpid(), tid, 0))
			atomic_store(&wanted[i], 0);
	}
}

/* ---- samples ---- */

/* Whether the frames are in the spool; false: a name could not be read, or there is no memory. */
static bool frames_put(enum spool_event_type type, const struct py_thread *t, int64_t time,
                       const struct py_stack *stack)
{
	uint32_t number[PY_DEPTH_MOST], tid = py_thread_native(&py, t);
	for (uint32_t i = 0; i < stack->n; i++)
		if (!(number[i] = here_function(&py, &stack->code[i])))
			return false;
	if (native && type == SPOOL_SAMPLE)
		native_take(&py, t, stack, number, tid, time);
	else
		spool_event_put(
			(struct spool_event){.time = time, .type = (uint8_t)type, .category = stack->cut, .id = tid},
			number, stack->n * sizeof *number, NULL, 0);
	return true;
}

static bool thread_at(uintptr_t address, struct py_thread *t)
{
	struct py_walk walk = {0};
	while (py_thread_next(&py, &walk, t))
		if (t->address == address)
			return true;
	return false;
}

/* What the system calls a thread, unless that is the program's own name, which every thread is born with. */
static bool name_by_system(uint32_t tid, char *name, size_t room)
{
	char text[2][32];
	for (int i = 0; i < 2; i++) {
		if (!py_task_file(i ? tid : 0, "comm", text[i], sizeof text[i]))
			return false;
		text[i][strcspn(text[i], "\n")] = 0;
	}
	snprintf(name, room, "%s", text[1]);
	return *name && strcmp(text[0], text[1]) != 0;
}

/* Threads that held the lock, and what they are called; looked at about once a second, for names change, and sooner
 * where none was found. */
static const int64_t LASTS_NS = 1000000000, AGAIN_NS = 20000000;
static struct holder {
	uint32_t tid;
	uintptr_t thread;
	int64_t looked;
	char name[PY_THREAD_NAME_ROOM];
} holders[MOST_THREADS];

/* The holder's place if it is to be looked at, else NULL. */
static struct holder *holder_due(uint32_t tid, uintptr_t address, int64_t time)
{
	struct holder *h = &holders[tid % MOST_THREADS];
	if (h->tid == tid && h->thread == address && time - h->looked < LASTS_NS)
		return NULL;
	if (h->tid != tid || h->thread != address)
		*h = (struct holder){tid, address, time, ""};
	h->looked = time;
	return h;
}

static void name_put(struct holder *h, const char *name)
{
	size_t n = strlen(name);
	const struct spool_event event = {
		.time = h->looked, .type = SPOOL_PYTHON_THREAD, .text = SPOOL_UTF8, .id = h->tid};
	if (strcmp(h->name, name) != 0 && spool_event_put(event, name, n, NULL, 0))
		memcpy(h->name, name, n + 1);
}

/* The lock changes hands while one looks: what its holder does, and who it is, is told only if it was the same one all
 * the time. */
static void holder_put(uintptr_t interpreter, const struct py_gil *gil, const struct py_thread *of, int64_t time)
{
	static struct py_stack stack;
	struct py_gil after;
	char name[PY_THREAD_NAME_ROOM];
	int64_t read;
	if (py_stack_read(&py, of, &stack, &read) != PY_READ)
		return;
	struct holder *h = holder_due(py_thread_native(&py, of), of->address, time);
	bool named = h && (py_thread_name(&py, &stack, name) || name_by_system(h->tid, name, sizeof name));
	if (!py_gil_read(&py, interpreter, &after) || after.switches != gil->switches || after.holder != gil->holder) {
		if (h)
			h->looked = 0;
		return;
	}
	if (named)
		name_put(h, name);
	else if (h)
		h->looked = time - LASTS_NS + AGAIN_NS; /* it may just have begun */
	frames_put(SPOOL_HOLDER, of, time, &stack);
}

/* Who holds the lock, and whether the thread waits for it; of the holder of a lock that is waited for also the frames:
 * into the spool, if it is known. */
static enum py_gil_wait gil_look(uintptr_t interpreter, const struct py_thread *of, int64_t time)
{
	struct py_gil gil;
	struct py_thread holder;
	uint32_t tid = py_thread_native(&py, of), held_by = 0, count[2];
	if (!py_gil_read(&py, interpreter, &gil))
		return PY_GIL_UNKNOWN;
	memcpy(count, &gil.switches, sizeof count); /* before it is looked whether the thread waits: see SPOOL_LOCK */
	bool own = gil.locked && gil.holder == of->address;
	enum py_gil_wait waits = own ? PY_GIL_NOT : py_gil_waits(&gil, tid);
	if (waits == PY_GIL_UNKNOWN || (!own && !py_gil_read(&py, interpreter, &gil)))
		return PY_GIL_UNKNOWN;
	if (own)
		held_by = tid;
	else if (gil.locked && gil.holder != of->address && thread_at(gil.holder, &holder))
		held_by = py_thread_native(&py, &holder);
	if (held_by && waits == PY_GIL_WAITS)
		holder_put(interpreter, &gil, &holder, time);
	uint64_t state = waits == PY_GIL_WAITS ? SPOOL_GIL_WAITS : SPOOL_GIL_NOT;
	spool_event_put(
		(struct spool_event){.time = time, .type = SPOOL_LOCK, .id = tid, .payload = state << 32 | held_by},
		count, sizeof count, NULL, 0);
	return waits;
}

static void sample_all(struct py_stack *stack)
{
	struct py_walk walk = {0};
	struct py_thread t;
	memset(again, 0, sizeof again);
	while (py_thread_next(&py, &walk, &t)) {
		uint32_t tid = py_thread_native(&py, &t);
		unsigned at = tid ? wanted_at(tid) : MOST_THREADS;
		int64_t time;
		if (at == MOST_THREADS)
			continue;
		enum py_read_result result = py_stack_read(&py, &t, stack, &time);
		if (result == PY_IDLE)
			time = spool_now();
		if (result != PY_TORN) { /* one that runs nothing of Python yet may wait until it is let in */
			bool waits = gil_look(walk.interpreter, &t, time) == PY_GIL_WAITS;
			again[at] = waits && !waited[at];
			waited[at] = waits;
		}
		if (result == PY_IDLE)
			continue;
		if (result == PY_TORN || !frames_put(SPOOL_SAMPLE, &t, time, stack))
			atomic_fetch_add(&torn, 1);
		else
			atomic_fetch_add(&taken, 1);
		if (result == PY_READ && stack->moved)
			atomic_fetch_add(&moved, 1);
	}
	if (walk.torn)
		atomic_fetch_add(&torn, 1);
}

/* Of a thread that began to wait for the lock, one look more, soon: two have to agree that it waits, and of a short
 * wait there may be only one at the usual distance. */
static void look_again(void)
{
	struct py_walk walk = {0};
	struct py_thread t;
	while (py_thread_next(&py, &walk, &t)) {
		uint32_t tid = py_thread_native(&py, &t);
		unsigned at = tid ? wanted_at(tid) : MOST_THREADS;
		if (at < MOST_THREADS && again[at])
			waited[at] = gil_look(walk.interpreter, &t, spool_now()) == PY_GIL_WAITS;
	}
}

static bool any_again(void)
{
	bool any = false;
	for (unsigned i = 0; i < MOST_THREADS; i++)
		any = any || again[i];
	return any;
}

/* ---- the thread ---- */

/* The time to the next sample, a tenth more or less: a program that does the same thing every millisecond must not meet
 * every sample at the same place. */
static int64_t distance(void)
{
	static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return every - every / 10 + (int64_t)(state % (uint64_t)(every / 5 + 1));
}

/* By the system call itself: gapline's other library looks at the C library's functions. */
static void sleep_until(int64_t time)
{
	while (!atomic_load(&stop)) {
		int64_t now = spool_now(), until = time - now > NAP_NS ? now + NAP_NS : time;
		struct timespec t = {until / 1000000000, until % 1000000000};
		if (now >= time)
			return;
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void *sample(void *unused)
{
	static struct py_stack stack;
	(void)unused;
	prctl(PR_SET_NAME, "gapline");
	prctl(PR_SET_TIMERSLACK, 1000);
	int64_t next = spool_now(), cleaned = next;
	while (!atomic_load(&stop)) {
		int64_t now = spool_now();
		if (spool_window(now)) {
			here_lock();
			sample_all(&stack);
			here_unlock();
			if (any_again()) {
				sleep_until(now + every / SOON);
				here_lock();
				if (!atomic_load(&stop) && spool_window(spool_now()))
					look_again();
				here_unlock();
			}
		}
		next += distance();
		if (next < now) /* it was not let run: samples that were missed are not made up for */
			next = now + distance();
		if (now - cleaned > 1000000000) {
			forget_ended();
			native_flush(cleaned);
			cleaned = now;
		}
		sleep_until(next);
	}
	native_flush(INT64_MAX);
	return NULL;
}

/* Whether the interpreter is laid out as believed: its threads are threads of this process, and a stack of theirs leads
 * to functions with names. */
static bool name_ok(uint32_t number, const char *name, const char *file, bool library)
{
	(void)number;
	(void)library;
	return *name && *file;
}

static bool fits(void)
{
	static struct py_stack stack;
	struct py_walk walk = {0};
	struct py_thread t;
	bool good = false;
	while (py_thread_next(&py, &walk, &t)) {
		uint32_t tid = py_thread_native(&py, &t);
		int64_t time;
		if (tid && !syscall(SYS_tgkill, getpid(), tid, 0) && py_stack_read(&py, &t, &stack, &time) == PY_READ &&
		    py_name(&py, &stack.code[stack.n - 1], name_ok))
			good = true;
	}
	py_names_forget(); /* nobody was told those numbers */
	return good;
}

static void give_up_for(enum spool_code code, const char *why)
{
	given_up = true;
	spool_message(SPOOL_WARNING, code, "Python was not sampled (--trace py): %s", why);
}

static void give_up(const char *why)
{
	give_up_for(SPOOL_CODE_OTHER, why);
}

static void find_gil(void)
{
	struct py_gil gil = {0};
	if (!py_gil_find(&py)) {
		spool_message(
			SPOOL_WARNING, SPOOL_CODE_OTHER,
			"This CPython keeps its interpreter lock (GIL) in another way than its version says: waiting "
			"for it counts as a thread's own code");
	} else if (py_gil_waits(&gil, spool_tid()) == PY_GIL_UNKNOWN) {
		py.has_gil = false;
		spool_message(
			SPOOL_WARNING, SPOOL_CODE_OTHER,
			"This kernel does not tell what a thread is blocked in (/proc/self/task/TID/syscall): waiting "
			"for Python's interpreter lock (GIL) counts as a thread's own code");
	}
}

static void start(void)
{
	if (!py_memory_allowed()) {
		give_up("this container or kernel forbids process_vm_readv; allow it (docker run --cap-add SYS_PTRACE, "
		        "or another seccomp profile)");
		return;
	}
	switch (py_find(&py)) {
	case PY_NONE:
		if (++ticks == TICKS_PATIENCE)
			give_up_for(SPOOL_CODE_NO_PYTHON, "there is no CPython in this process");
		return;
	case PY_UNKNOWN:
		give_up("this version of CPython is not known to gapline; 3.11 to 3.15 are");
		return;
	case PY_FREE_THREADS:
		give_up("this CPython has no global interpreter lock, which is not known to gapline");
		return;
	case PY_FOUND:
		break;
	}
	if (!fits()) {
		if (++ticks == TICKS_PATIENCE)
			give_up("this CPython keeps its threads in another way than its version says");
		return;
	}
	find_gil();
	here_begin(&py);
	native = native_begin();
	started = !pthread_create(&thread, NULL, sample, NULL); /* with all signals blocked, as the caller's are */
	if (!started)
		give_up("no thread could be started");
}

void sampler_tick(bool last)
{
	if (!every)
		return;
	if (!started && !given_up && !last)
		start();
	if (!started && !given_up && last)
		give_up_for(SPOOL_CODE_NO_PYTHON,
		            "no CPython that could be read was found in this process while it ran");
	if (started) {
		struct spool_native_sampled looked;
		struct spool_sampled sampled = {(uint64_t)every, atomic_exchange(&taken, 0), atomic_exchange(&torn, 0),
		                                atomic_exchange(&moved, 0)};
		if (last) {
			struct timespec limit;
			atomic_store(&stop, true);
			clock_gettime(CLOCK_REALTIME, &limit);
			limit.tv_sec += JOIN_S;
			pthread_timedjoin_np(thread, NULL, &limit);
		}
		if (sampled.taken || sampled.torn)
			spool_put(SPOOL_SAMPLED, 0, &sampled, sizeof sampled, NULL, 0);
		if (native_counted(&looked))
			spool_put(SPOOL_NATIVE_SAMPLED, 0, &looked, sizeof looked, NULL, 0);
	}
}

void sampler_forked(void)
{
	started = given_up = false;
	ticks = 0;
	atomic_store(&stop, false);
	for (unsigned i = 0; i < MOST_THREADS; i++)
		atomic_store(&wanted[i], 0);
	memset(holders, 0, sizeof holders);
	atomic_store(&taken, 0);
	atomic_store(&torn, 0);
	atomic_store(&moved, 0);
	here_forked();
	native_forked();
}
