/* Reads the Python frames of a process's threads as the sampler does, for a test that is written in Python and loads
 * this into itself (ctypes releases the interpreter's lock around every call). */
#include "inject/native.h"
#include "inject/py.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int reader_begin(void);
EXPORT int reader_stack(unsigned tid, char *text, unsigned room);
EXPORT int reader_thread_name(unsigned tid, char *text);
EXPORT unsigned reader_whole(unsigned tid, const char *outermost, unsigned n, unsigned counts[2], char *other);
EXPORT void reader_soak(unsigned long most, int ask);
EXPORT void reader_counts(unsigned long counts[8]);
EXPORT void reader_end(void);
EXPORT double reader_cost(unsigned tid, unsigned n);

static struct py_runtime py;
static struct py_stack stack;
static char names[1 << 16][2][PY_NAME_ROOM / 2];

static bool noted(uint32_t number, const char *name, const char *file, bool library)
{
	(void)library;
	if (number >= sizeof names / sizeof *names)
		return false;
	snprintf(names[number][0], sizeof names[number][0], "%s", name);
	snprintf(names[number][1], sizeof names[number][1], "%s", file);
	return true;
}

/* enum py_found, or -1 where memory cannot be read. */
int reader_begin(void)
{
	return py_memory_allowed() ? (int)py_find(&py) : -1;
}

static bool find(unsigned tid, struct py_thread *t)
{
	struct py_walk walk = {0};
	while (py_thread_next(&py, &walk, t))
		if (py_thread_native(&py, t) == tid)
			return true;
	return false;
}

/* "name file line\n" for each frame, the innermost first: how many there are, or -1 - enum py_read_result. */
int reader_stack(unsigned tid, char *text, unsigned room)
{
	struct py_thread t;
	int64_t time;
	if (!find(tid, &t))
		return -10;
	enum py_read_result result = py_stack_read(&py, &t, &stack, &time);
	if (result != PY_READ)
		return -1 - (int)result;
	size_t at = 0;
	*text = 0;
	for (uint32_t i = 0; i < stack.n && at < room; i++) {
		uint32_t number = py_name(&py, &stack.code[i], noted);
		at += (size_t)snprintf(text + at, room - at, "%s %s %u\n", names[number][0], names[number][1],
		                       py_line(&py, &stack.code[i], stack.at[i]));
	}
	return stack.cut ? -20 : (int)stack.n;
}

/* Reads the stack `n` times, while the thread runs: how often its outermost function had this name. counts: how often
 * there was none (it was dropped, or caught between two calls of the interpreter, without a frame), and how often it
 * had another name, the last of which goes to `other`, of room PY_NAME_ROOM. */
unsigned reader_whole(unsigned tid, const char *outermost, unsigned n, unsigned counts[2], char *other)
{
	struct py_thread t;
	int64_t time;
	unsigned whole = 0;
	for (unsigned i = 0; i < n && find(tid, &t); i++) {
		enum py_read_result result = py_stack_read(&py, &t, &stack, &time);
		if (result != PY_READ) {
			counts[0]++;
			continue;
		}
		const char *name = names[py_name(&py, &stack.code[stack.n - 1], noted)][0];
		bool same = strcmp(name, outermost) == 0;
		whole += same;
		counts[1] += !same;
		if (!same)
			snprintf(other, PY_NAME_ROOM / 2, "%s", name);
	}
	return whole;
}

/* The name of a thread, of room PY_THREAD_NAME_ROOM; 0: it has none that could be read. */
int reader_thread_name(unsigned tid, char *text)
{
	struct py_thread t;
	int64_t time;
	return find(tid, &t) && py_stack_read(&py, &t, &stack, &time) == PY_READ && py_thread_name(&py, &stack, text);
}

/* us to read a thread's stack with its names. */
double reader_cost(unsigned tid, unsigned n)
{
	struct timespec a, b;
	struct py_thread t;
	int64_t time;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (unsigned i = 0; i < n && find(tid, &t) && py_stack_read(&py, &t, &stack, &time) == PY_READ; i++)
		for (uint32_t k = 0; k < stack.n; k++)
			py_name(&py, &stack.code[k], noted);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3) / n;
}

/* ---- without end ---- */

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static pthread_t thread;
static _Atomic int stop;
static _Atomic unsigned long taken, torn, moved, idle, unnamed, limit, waiting, answered, placed;
static bool asking;

static bool module_noted(uint32_t number, uint64_t inode, const char *path)
{
	return number && inode + 1 && *path;
}

/* Asks a thread where it is, with frame pointers followed in its own stack; answers that come late are left. */
static void look(unsigned tid)
{
	static struct {
		unsigned tid;
		uintptr_t low, high;
	} stacks[64];
	struct native_answer a;
	uint64_t offset;
	bool first;
	enum native_where where = native_where(tid, &a);
	if (where == NATIVE_RUNS) {
		size_t at = tid % 64;
		if (stacks[at].tid != tid)
			stacks[at].low = stacks[at].high = 0;
		stacks[at].tid = tid;
		uint64_t question = native_ask(tid, stacks[at].low, stacks[at].high);
		for (int i = 0; question && i < 2000 && !native_answered(question, &a); i++)
			;
		if (!question || !native_answered(question, &a))
			return;
		answered++;
		if (!stacks[at].high && native_memory(a.sp, &stacks[at].low, &stacks[at].high, &first) && !first)
			stacks[at].high = a.pointer > a.sp && a.pointer < stacks[at].high ? a.pointer : 0;
	} else
		waiting += where == NATIVE_WAITS;
	if (where != NATIVE_UNKNOWN)
		placed += native_module(a.pc, now(), &offset, module_noted) != 0;
}

static void *soak(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop) && taken + torn < limit) {
		struct py_walk walk = {0};
		struct py_thread t;
		while (py_thread_next(&py, &walk, &t)) {
			int64_t time;
			enum py_read_result result = py_stack_read(&py, &t, &stack, &time);
			taken += result == PY_READ;
			torn += result == PY_TORN;
			idle += result == PY_IDLE;
			moved += result == PY_READ && stack.moved;
			for (uint32_t i = 0; result == PY_READ && i < stack.n; i++)
				if (!py_name(&py, &stack.code[i], noted)) {
					unnamed++;
					break;
				}
			if (asking)
				look(py_thread_native(&py, &t));
		}
		torn += walk.torn;
	}
	return NULL;
}

/* Reads all threads as often as it can, by a thread of its own. */
void reader_soak(unsigned long most, int ask)
{
	limit = most;
	taken = torn = moved = idle = unnamed = waiting = answered = placed = 0;
	asking = ask && native_ask_begin();
	stop = 0;
	pthread_create(&thread, NULL, soak, NULL);
}

void reader_counts(unsigned long counts[8])
{
	counts[0] = taken;
	counts[1] = torn;
	counts[2] = moved;
	counts[3] = idle;
	counts[4] = unnamed;
	counts[5] = waiting;
	counts[6] = answered;
	counts[7] = placed;
}

void reader_end(void)
{
	stop = 1;
	pthread_join(thread, NULL);
}
