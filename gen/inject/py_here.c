#include "py.h"

#include "spool_events.h"
#include "spool_writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static const struct py_runtime *_Atomic python; /* NULL: there is none that can be read */
static __thread uintptr_t my_state;             /* where Python keeps the thread, as far as was seen */

void here_begin(const struct py_runtime *py)
{
	atomic_store(&python, py);
}

void here_forked(void)
{
	reading = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* a thread that is not here may have held it */
	atomic_store(&python, NULL);
	py_names_forget();
}

void here_lock(void)
{
	pthread_mutex_lock(&reading);
}

void here_unlock(void)
{
	pthread_mutex_unlock(&reading);
}

static bool function_put(uint32_t number, const char *name, const char *file, bool library)
{
	const struct spool_event event = {
		.time = spool_now(), .type = SPOOL_FUNCTION, .text = SPOOL_UTF8, .id = number, .category = library};
	return spool_event_put(event, name, strlen(name) + 1, file, strlen(file));
}

uint32_t here_function(const struct py_runtime *py, const struct py_code *code)
{
	return py_name(py, code, function_put);
}

/* Whether the thread is still where it was the last time, in Python's list of threads: the one before leads to it. */
static bool is_there(const struct py_runtime *py, struct py_thread *t)
{
	enum { BEFORE_AT = 0 };
	const struct py_layout *l = &py->layout;
	uint64_t is = 0;
	t->address = my_state;
	if (!my_state || !py_read(my_state, t->bytes, PY_THREAD_BYTES) || py_thread_native(py, t) != spool_tid())
		return false;
	uintptr_t before = py_word(t->bytes + BEFORE_AT);
	uintptr_t leads =
		before ? before + l->thread_next : py_word(t->bytes + l->thread_interpreter) + l->interpreter_threads;
	return py_read(leads, &is, sizeof is) && is == my_state;
}

/* The stack of the calling thread; of several states that Python has of it, one with frames. */
static bool read_mine(const struct py_runtime *py, struct py_stack *stack)
{
	struct py_walk walk = {0};
	struct py_thread t;
	int64_t time;
	if (is_there(py, &t) && py_stack_read(py, &t, stack, &time) == PY_READ)
		return true;
	my_state = 0;
	while (py_thread_next(py, &walk, &t))
		if (py_thread_native(py, &t) == spool_tid() && py_stack_read(py, &t, stack, &time) == PY_READ) {
			my_state = t.address;
			return true;
		}
	return false;
}

size_t here_frames(struct spool_frame *frames, size_t most, bool *cut)
{
	static struct py_stack stack;
	const struct py_runtime *py = atomic_load(&python);
	size_t n = 0;
	*cut = false;
	if (!py)
		return 0;
	here_lock();
	if (read_mine(py, &stack)) {
		*cut = stack.cut || stack.n > most;
		for (; n < stack.n && n < most; n++) {
			frames[n] = (struct spool_frame){here_function(py, &stack.code[n]),
			                                 py_line(py, &stack.code[n], stack.at[n])};
			if (!frames[n].function)
				break;
		}
		*cut = *cut || n < stack.n;
	}
	here_unlock();
	return n;
}
