#include "py.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* The lock's struct, the same since 3.9: the switch interval in us, the last holder, whether it is locked, the number
 * of switches; then a condition variable and a mutex of those who wait for it, and another pair on which who was asked
 * to give it up waits until somebody has taken it. */
enum {
	INTERVAL = 0,
	HOLDER = 8,
	LOCKED = 16,
	SWITCHES = 24,
	HEAD_BYTES = 32,
	GIL_BYTES = HEAD_BYTES + 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t))
};

enum { INTERPRETER_WORDS = 128, INTERPRETER_BYTES = 1 << 20 };

static bool head_read(uintptr_t address, struct py_gil *gil, uint64_t *interval)
{
	unsigned char head[HEAD_BYTES];
	int locked;
	if (!address || address % 8 || !py_read(address, head, sizeof head))
		return false;
	memcpy(&locked, head + LOCKED, sizeof locked);
	*interval = py_word(head + INTERVAL);
	*gil = (struct py_gil){.address = address,
	                       .holder = py_word(head + HOLDER),
	                       .switches = py_word(head + SWITCHES),
	                       .locked = locked == 1};
	return locked == 0 || locked == 1;
}

static bool is_thread(const struct py_runtime *py, uintptr_t address)
{
	struct py_walk walk = {0};
	struct py_thread t;
	while (py_thread_next(py, &walk, &t))
		if (t.address == address)
			return true;
	return false;
}

static bool is_gil(const struct py_runtime *py, uintptr_t address)
{
	enum { LONGEST_US = 1000000000 };
	struct py_gil gil;
	uint64_t interval;
	return head_read(address, &gil, &interval) && interval >= 1 && interval <= LONGEST_US &&
	       is_thread(py, gil.holder);
}

/* Between minor releases of 3.12 the pointer to the lock moved; the lock itself lies inside the first interpreter. */
static bool search(struct py_runtime *py, uintptr_t interpreter)
{
	uint64_t words[INTERPRETER_WORDS];
	if (!py_read(interpreter, words, sizeof words))
		return false;
	for (uint32_t i = 1; i < INTERPRETER_WORDS; i++)
		if (words[i] > interpreter + sizeof words && words[i] - interpreter < INTERPRETER_BYTES &&
		    is_gil(py, words[i])) {
			py->layout.interpreter_gil = i * (uint32_t)sizeof *words;
			return true;
		}
	return false;
}

bool py_gil_find(struct py_runtime *py)
{
	struct py_layout *l = &py->layout;
	struct py_walk walk = {0};
	struct py_thread t;
	uint64_t gil;
	py->has_gil = false;
	if (!py_thread_next(py, &walk, &t))
		return false;
	if (l->runtime_gil)
		py->has_gil = is_gil(py, py->runtime + l->runtime_gil);
	else if (l->interpreter_gil)
		py->has_gil = py_read(walk.interpreter + l->interpreter_gil, &gil, sizeof gil) && is_gil(py, gil);
	else
		py->has_gil = search(py, walk.interpreter);
	return py->has_gil;
}

bool py_gil_read(const struct py_runtime *py, uintptr_t interpreter, struct py_gil *gil)
{
	const struct py_layout *l = &py->layout;
	uint64_t address = py->runtime + l->runtime_gil, interval;
	if (!py->has_gil)
		return false;
	if (!l->runtime_gil && !py_read(interpreter + l->interpreter_gil, &address, sizeof address))
		return false;
	return head_read(address, gil, &interval);
}

/* "202 0x7f12a4 0x189 …": the number of the call that it is blocked in, and what it was given; "running", or "-1 …"
 * outside of any call. */
enum py_gil_wait py_gil_waits(const struct py_gil *gil, uint32_t tid)
{
	char text[64], *end;
	if (!py_task_file(tid, "syscall", text, sizeof text))
		return PY_GIL_UNKNOWN;
	if (*text < '0' || *text > '9' || strtol(text, &end, 10) != SYS_futex)
		return PY_GIL_NOT;
	uint64_t at = strtoull(end, NULL, 16);
	return at >= gil->address + HEAD_BYTES && at < gil->address + GIL_BYTES ? PY_GIL_WAITS : PY_GIL_NOT;
}
