#include "native.h"

#include "py.h"
#include "spool_events.h"
#include "spool_writer.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 16, KEPT_MOST = 256 };

/* How long an answer is waited for: a thread that has a processor gives it in a few microseconds. */
static const int64_t SPIN_NS = 15000, WAIT_NS = 60000, NAP_NS = 15000;
/* How long a thread that holds signals back is not asked, and one of which a question has cut a call short: at first,
 * each time twice as long, and at most. How often the place of a stack is looked up. */
static const int64_t LEFT_ALONE_NS = 20000000, SPARED_NS = 100000000, SPARED_MOST_NS = 10000000000,
		     LOOK_NS = 1000000000;

/* A thread, with the samples that wait for an answer: all of the same stack. */
struct asked {
	uint32_t tid;
	int64_t seen, left_alone, spared, looked;
	uintptr_t low, high; /* its stack */
	uint64_t question;
	uint32_t n, n_times; /* functions; samples */
	bool cut;
	uint32_t number[PY_DEPTH_MOST];
	int64_t time[KEPT_MOST];
};

static bool wanted;
static _Atomic bool lost; /* the program has taken the signal for itself */
static uintptr_t interpreter;
static struct asked threads[THREADS_MOST];
static _Atomic uint64_t n_waiting, n_running, n_late, n_missed, n_moved, n_unknown, n_interrupted;

static void count(_Atomic uint64_t *what, uint64_t n)
{
	atomic_fetch_add_explicit(what, n, memory_order_relaxed);
}

void native_prepare(void)
{
	const char *is = getenv(SPOOL_ENV_NATIVE);
	wanted = is && *is == '1';
}

bool native_begin(void)
{
	struct native_answer self;
	static const char *const names[] = {"_PyEval_EvalFrameDefault", "Py_Initialize"};
	if (!wanted)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names && !interpreter; i++)
		interpreter = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
	const char *why = NULL;
	if (native_where((uint32_t)syscall(SYS_gettid), &self) == NATIVE_UNKNOWN)
		why = "the kernel does not say whether a thread waits (/proc/self/task/TID/syscall)";
	else if (!interpreter)
		why = "it cannot be told where the interpreter ends";
	else if (!native_ask_begin())
		why = "the program uses SIGURG itself";
	if (!why)
		return true;
	spool_message(SPOOL_WARNING, SPOOL_CODE_OTHER, "native frames were not sampled (--trace native): %s", why);
	wanted = false;
	return false;
}

/* ---- into the spool ---- */

static bool module_put(uint32_t number, uint64_t inode, const char *path)
{
	const struct spool_event event = {
		.time = spool_now(), .type = SPOOL_MODULE, .text = SPOOL_UTF8, .id = number, .payload = inode};
	return spool_event_put(event, path, strlen(path), NULL, 0);
}

static void put(uint8_t type, uint32_t tid, int64_t time, bool cut, const void *data, size_t bytes)
{
	spool_event_put((struct spool_event){.time = time, .type = type, .category = cut, .id = tid}, data, bytes, NULL,
	                0);
}

static void put_kept(struct asked *t, const struct spool_native_frame *frames, uint32_t n)
{
	for (uint32_t i = 0; i < t->n_times; i++) {
		if (n)
			put(SPOOL_NATIVE, t->tid, t->time[i], false, frames, n * sizeof *frames);
		put(SPOOL_SAMPLE, t->tid, t->time[i], t->cut, t->number, t->n * sizeof *t->number);
	}
	t->n_times = 0;
}

/* ---- frames ---- */

/* Whether an instruction that calls ends at `address`. */
static bool follows_call(uintptr_t address)
{
#if defined __x86_64__
	unsigned char b[7];
	if (!py_read(address - sizeof b, b, sizeof b))
		return false;
	if (b[2] == 0xE8)
		return true;
	for (size_t at = 0; at < 6; at++) /* FF /2, with what belongs to its address behind it */
		if (b[at] == 0xFF && (b[at + 1] >> 3 & 7) == 2)
			return true;
	return false;
#else
	uint32_t code;
	return py_read(address - sizeof code, &code, sizeof code) &&
	       (code >> 26 == 0x25 || (code & 0xFFFFFC1F) == 0xD63F0000);
#endif
}

/* Adds the frame; false: the stack ends before it. */
static bool frame_add(struct spool_native_frame *frames, uint32_t *n, uintptr_t address, bool back, int64_t now)
{
	uint64_t offset, unused;
	uint32_t module = native_module(address, now, &offset, module_put);
	if (!module || module == native_module(interpreter, now, &unused, module_put))
		return false;
	frames[(*n)++] = (struct spool_native_frame){offset, module, back};
	return true;
}

/* How many frames the answer has, the innermost first. */
static uint32_t frames_of(const struct native_answer *a, bool waits, struct spool_native_frame *frames)
{
	int64_t now = spool_now();
	uint64_t offset;
	uint32_t n = 0;
	if (native_answering(a) || !native_module(a->pc, now, &offset, module_put)) {
		count(&n_unknown, 1);
		return 0;
	}
	if (!frame_add(frames, &n, a->pc, waits, now))
		return 0;
	for (uint32_t i = 0; i < a->n && follows_call(a->back[i]); i++)
		if (!frame_add(frames, &n, a->back[i], true, now))
			break;
	return n;
}

/* Where the thread's own stack is: the memory of which its thread-local block is the end, or the first thread's. */
static void look_for_stack(struct asked *t, const struct native_answer *a, int64_t now)
{
	uintptr_t low, high;
	bool first;
	if ((a->sp >= t->low && a->sp < t->high) || now - t->looked < LOOK_NS)
		return;
	t->looked = now;
	t->low = t->high = 0;
	if (!native_memory(a->sp, &low, &high, &first))
		return;
	if (!first && (a->pointer <= a->sp || a->pointer >= high))
		return;
	t->low = low;
	t->high = first ? high : a->pointer;
}

/* ---- samples ---- */

static struct asked *asked_of(uint32_t tid, int64_t now)
{
	struct asked *oldest = threads;
	for (uint32_t i = 0; i < THREADS_MOST; i++) {
		if (threads[i].tid == tid) {
			threads[i].seen = now;
			return &threads[i];
		}
		if (threads[i].seen < oldest->seen)
			oldest = &threads[i];
	}
	count(&n_missed, oldest->n_times);
	put_kept(oldest, NULL, 0);
	*oldest = (struct asked){.tid = tid, .seen = now, .looked = now - LOOK_NS};
	return oldest;
}

/* Whether the question has harmed: then the thread is not asked for a while. */
static void look_for_harm(struct asked *t, const struct native_answer *a)
{
	if (!native_interrupted(a))
		return;
	count(&n_interrupted, 1);
	t->spared = !t->spared ? SPARED_NS : t->spared < SPARED_MOST_NS / 2 ? 2 * t->spared : SPARED_MOST_NS;
	t->left_alone = spool_now() + t->spared;
}

static void settle(struct asked *t, const struct native_answer *a)
{
	struct spool_native_frame frames[NATIVE_DEPTH_MOST + 1];
	look_for_harm(t, a);
	look_for_stack(t, a, spool_now());
	put_kept(t, frames, frames_of(a, false, frames));
}

/* Waits for the answer for as long as a thread takes that has a processor. */
static bool answered_soon(uint64_t question, struct native_answer *a)
{
	int64_t begun = spool_now();
	for (;;) {
		if (native_answered(question, a))
			return true;
		int64_t waited = spool_now() - begun;
		if (waited > WAIT_NS)
			return false;
		if (waited > SPIN_NS)
			syscall(SYS_nanosleep, &(struct timespec){0, NAP_NS}, NULL);
	}
}

static bool is_same(const struct asked *t, const uint32_t *number, uint32_t n, bool cut)
{
	return t->n == n && t->cut == cut && !memcmp(t->number, number, n * sizeof *number);
}

/* Asks a thread that runs, for the sample that is kept. */
static void ask(struct asked *t, const struct py_runtime *py, const struct py_thread *thread,
                const struct py_stack *stack, int64_t time)
{
	struct native_answer a;
	if (!native_ask_holds()) {
		if (!atomic_exchange(&lost, true))
			spool_message(SPOOL_WARNING, SPOOL_CODE_OTHER,
			              "native frames were sampled only until the program took SIGURG for itself");
		count(&n_missed, 1);
		put_kept(t, NULL, 0);
		return;
	}
	count(&n_running, 1);
	t->question = native_ask(t->tid, t->low, t->high);
	bool soon = t->question && answered_soon(t->question, &a), still = py_stack_still(py, thread, stack);
	if (soon && still) {
		settle(t, &a);
		return;
	}
	if (soon)
		look_for_harm(t, &a);
	if (still && t->question && !native_held_back(t->tid))
		return; /* kept */
	if (still) {
		t->left_alone = time + LEFT_ALONE_NS;
		count(&n_missed, 1);
	} else
		count(&n_moved, 1);
	put_kept(t, NULL, 0);
}

void native_take(const struct py_runtime *py, const struct py_thread *thread, const struct py_stack *stack,
                 const uint32_t *number, uint32_t tid, int64_t time)
{
	struct asked *t = asked_of(tid, time);
	struct spool_native_frame frames[NATIVE_DEPTH_MOST + 1];
	struct native_answer a;
	if (t->n_times && native_answered(t->question, &a)) {
		count(&n_late, t->n_times);
		settle(t, &a);
	} else if (t->n_times && t->n_times < KEPT_MOST && is_same(t, number, stack->n, stack->cut)) {
		t->time[t->n_times++] = time;
		return;
	} else {
		count(&n_missed, t->n_times);
		put_kept(t, NULL, 0);
	}
	t->n = stack->n;
	t->cut = stack->cut;
	memcpy(t->number, number, stack->n * sizeof *number);
	t->time[t->n_times++] = time;
	switch (native_where(tid, &a)) {
	case NATIVE_WAITS:
		count(&n_waiting, 1);
		if (py_stack_still(py, thread, stack)) {
			put_kept(t, frames, frames_of(&a, true, frames));
			return;
		}
		count(&n_moved, 1);
		break;
	case NATIVE_RUNS:
		if (!atomic_load(&lost) && time >= t->left_alone) {
			ask(t, py, thread, stack, time);
			return;
		}
		count(&n_missed, 1);
		break;
	case NATIVE_UNKNOWN:
		count(&n_unknown, 1);
		break;
	}
	put_kept(t, NULL, 0);
}

void native_flush(int64_t before)
{
	for (uint32_t i = 0; i < THREADS_MOST; i++)
		if (threads[i].n_times && threads[i].seen < before) {
			count(&n_missed, threads[i].n_times);
			put_kept(&threads[i], NULL, 0);
		}
}

bool native_counted(struct spool_native_sampled *c)
{
	*c = (struct spool_native_sampled){.waiting = atomic_exchange(&n_waiting, 0),
	                                   .running = atomic_exchange(&n_running, 0),
	                                   .late = atomic_exchange(&n_late, 0),
	                                   .missed = atomic_exchange(&n_missed, 0),
	                                   .moved = atomic_exchange(&n_moved, 0),
	                                   .unknown = atomic_exchange(&n_unknown, 0),
	                                   .interrupted = atomic_exchange(&n_interrupted, 0)};
	return c->waiting || c->running || c->late || c->missed || c->moved || c->unknown || c->interrupted;
}

void native_forked(void)
{
	struct spool_native_sampled unused;
	memset(threads, 0, sizeof threads);
	atomic_store(&lost, false);
	native_counted(&unused);
	native_maps_forget();
}
