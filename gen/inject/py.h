/* Reading the process's own memory while its threads change it: the kernel copies, so that what is not there (any more)
 * is an error and never a fault. What was copied may be torn: nothing of it is believed unchecked. */
#ifndef GAPLINE_INJECT_PY_H
#define GAPLINE_INJECT_PY_H

#include "capture/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum { PY_TYPE_AT = 8 }; /* where an object's type stands, after its count of references */

/* Whether the kernel allows it: some containers' filters do not. Before anything else, and in every process. */
bool py_memory_allowed(void);

/* Copies `n` bytes from address `from`. False: not all of them are there. */
bool py_read(uintptr_t from, void *to, size_t n);

/* Copies `n` places at once, in their order; `bytes` of all of them. */
bool py_read_all(const struct iovec *to, const struct iovec *from, size_t n, size_t bytes);

/* The beginning of a file of the kernel's about a thread, 0: about the process. By system calls themselves: gapline's
 * other library looks at the C library's functions. False: nothing could be read. */
bool py_task_file(uint32_t tid, const char *what, char *text, size_t room);

static inline uint64_t py_word(const void *at)
{
	uint64_t word;
	__builtin_memcpy(&word, at, sizeof word);
	return word;
}

/* Where a running CPython keeps what a sampler reads: offsets into its structs. Since 3.13 it publishes them itself
 * (_Py_DebugOffsets, the beginning of _PyRuntime); of 3.11 and 3.12 they are known by version. Either way nothing is
 * believed until the sampler has found real threads, frames, code and names with them. */

/* Bytes that are read of each struct at once; every offset lies within. */
enum { PY_THREAD_BYTES = 320, PY_FRAME_BYTES = 80, PY_CODE_BYTES = 144, PY_TEXT_BYTES = 48 };

/* Where an object keeps the values of its attributes, as long as it needs no dictionary of its own. */
enum py_values {
	PY_VALUES_APART, /* 3.11: a pointer to them stands before the object, another one to its dictionary */
	PY_VALUES_ODD,   /* 3.12: one pointer is either of them; an odd one is to the values, less 1 */
	PY_VALUES_INSIDE /* since 3.13: behind the object's own fields */
};

struct py_layout {
	uint32_t interpreters; /* in _PyRuntime: the first interpreter */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t runtime_gil;     /* in _PyRuntime: the global interpreter lock itself; 0: interpreters have one, … */
	uint32_t interpreter_gil; /* … here in them a pointer to it; 0: not known before it is looked for (py_gil.c) */
	uint32_t thread_next, thread_interpreter, thread_native, thread_chunk;
	uint32_t thread_frame; /* the innermost frame, or with … */
	bool by_cframe;        /* … this a struct on the C stack that holds it, … */
	uint32_t cframe_frame; /* … there */
	uint32_t frame_code, frame_previous, frame_owner;
	uint32_t frame_locals; /* the function's variables, its arguments first */
	uint32_t frame_at;     /* the instruction that it is at: an address */
	uint64_t frame_flags;  /* bits of references in a frame that are no part of the address */
	uint32_t code_file, code_qualname, code_line;
	uint32_t code_lines, code_instructions; /* which line an instruction is of: bytes; the first instruction */
	uint32_t text_length, text_state, text_ascii; /* text_ascii: what stands before the characters */
	uint32_t text_compact;                        /* … before those of a text that is not ASCII */
	uint32_t type_keys;                           /* in a class: names of its objects' attributes */
	enum py_values values;
};

struct py_runtime {
	struct py_layout layout;
	uintptr_t runtime;              /* _PyRuntime */
	uintptr_t code_type, text_type; /* PyCode_Type, PyUnicode_Type */
	uintptr_t bytes_type;           /* PyBytes_Type; 0: there is none */
	uint32_t version;               /* as PY_VERSION_HEX */
	bool has_gil;                   /* its lock was found (py_gil.c) */
};

enum py_found {
	PY_FOUND,
	PY_NONE,        /* there is no CPython in this process (yet) */
	PY_UNKNOWN,     /* there is one of another version; `version` is 0 where it is older than 3.11 */
	PY_FREE_THREADS /* there is one without a global lock */
};

/* Looks for the interpreter in what the process has loaded. Calls nothing of it. */
enum py_found py_find(struct py_runtime *py);

/* The layout of this version, where nothing is published; false: it is not known. */
bool py_layout_of(uint32_t version, struct py_layout *layout);

/* From the first `n` 64-bit words of _PyRuntime. PY_UNKNOWN: they are not what 3.13 to 3.15 publish, or an offset lies
 * beyond what is read. */
enum py_found py_layout_published(const uint64_t *words, size_t n, uint32_t version, struct py_layout *layout);

enum { PY_PUBLISHED_WORDS = 96 };

/* The Python frames of a thread that runs, read from outside: the interpreter is not asked, its lock is
 * not taken, and no thread is stopped.
 *
 * The thread may call and return meanwhile. Its frames lie one behind the other in a few blocks, which are copied at
 * once, in a microsecond; afterwards it is looked whether the innermost frame is still the same one, and if it is not,
 * all of it is read again, a few times. Where the thread never stands still for so long, what lies inside the frame
 * that is the innermost one afterwards is left out: it is certain to have returned. Every pointer on the way has to
 * lead to what it should: a frame within the blocks and below the one that it called, a code object of the type of code
 * objects. A stack that does not hold is read again, and then given up, which is counted. */

enum { PY_DEPTH_MOST = 256 }; /* frames; of a deeper stack the innermost ones, and `cut` */

/* What a function's code object says of it. */
struct py_code {
	uintptr_t address, file, qualname, lines;
	uint32_t line; /* its first */
};

struct py_stack {
	uint32_t n;
	bool cut;
	bool moved;                         /* the thread never stood still */
	uintptr_t top;                      /* its innermost frame afterwards: an address */
	uintptr_t outermost;                /* the frame of the last function; 0: not known, or `cut` */
	struct py_code code[PY_DEPTH_MOST]; /* the innermost first */
	uintptr_t at[PY_DEPTH_MOST];        /* the instruction that each is at: an address */
};

enum py_read_result {
	PY_READ,
	PY_IDLE, /* it has no Python frames */
	PY_TORN  /* what was read makes no sense */
};

/* A thread as the interpreter knows it, copied. */
struct py_thread {
	uintptr_t address;
	unsigned char bytes[PY_THREAD_BYTES];
};

/* Goes through the threads of all interpreters: `at` is 0 before the first. False: there are no more, or the list makes
 * no sense. */
struct py_walk {
	uintptr_t interpreter, next;
	unsigned steps;
	bool begun, torn;
};
bool py_thread_next(const struct py_runtime *py, struct py_walk *walk, struct py_thread *thread);

uint32_t py_thread_native(const struct py_runtime *py, const struct py_thread *thread); /* as gettid */

/* Fills `stack`. By one thread of the process only. `time`: CLOCK_MONOTONIC at which it was so. */
enum py_read_result py_stack_read(const struct py_runtime *py, const struct py_thread *thread, struct py_stack *stack,
                                  int64_t *time);

/* Whether the thread's innermost frame is still the one that it was when `stack` had been read. */
bool py_stack_still(const struct py_runtime *py, const struct py_thread *thread, const struct py_stack *stack);

/* The text at an address as UTF-8 with its NUL, the last `most` characters of it or, if !tail, the first ones. False:
 * there is none that could be read. `room` of `text` is at least 4 * most + 1. */
bool py_text_read(const struct py_runtime *py, uintptr_t address, bool tail, uint32_t most, char *text);

/* What is told of Python's frames and threads, beside the stacks themselves: functions, lines, names of
 * threads, and who has the interpreter's lock. */

/* ---- py_names.c ---- */

/* Functions by number: what a code object says becomes text once, and a number from then on. Of a function only its
 * qualified name and the base name of its file are taken. Bounded memory, whatever a program compiles while it runs. */

enum { PY_NAME_CHARACTERS = 160, PY_NAME_ROOM = 2 * (4 * PY_NAME_CHARACTERS + 1) + 16 };

/* Says that function `number` (from 1) has this name and file; false: it could not be noted, and is asked again.
 * `library`: it is PyTorch's, Triton's or Python's own. */
typedef bool py_named(uint32_t number, const char *name, const char *file, bool library);

/* The number of the function, 0: its name could not be read, or there are too many functions. By one thread only. */
uint32_t py_name(const struct py_runtime *py, const struct py_code *code, py_named *named);

/* Forgets all: in a forked child. */
void py_names_forget(void);

/* ---- py_line.c ---- */

/* Which line of its file a Python frame is at. */

/* The line of the instruction at the address `at` of a function, as the interpreter counts them; 0: not known, or what
 * is there is of no line. Of a frame whose thread runs meanwhile it may be another one by then. By one thread at a
 * time. */
uint32_t py_line(const struct py_runtime *py, const struct py_code *code, uintptr_t at);

/* ---- py_thread_name.c ---- */

/* What Python's threading module calls a thread: `_name` of the Thread object, which is the first argument of the
 * outermost function of every thread that the module starts. Until 3.13 the system does not know that name; later ones
 * hand it its first 15 bytes. Read from outside like everything else; nothing is asked. */

enum { PY_THREAD_NAME_CHARACTERS = 80, PY_THREAD_NAME_ROOM = 4 * PY_THREAD_NAME_CHARACTERS + 1 };

/* The name of the thread with this stack, which was just read; of a longer one the beginning. False: threading did not
 * start it, or its name could not be read. */
bool py_thread_name(const struct py_runtime *py, const struct py_stack *stack, char name[PY_THREAD_NAME_ROOM]);

/* ---- py_gil.c ---- */

/* CPython's global interpreter lock (GIL), read from outside: who holds it, and whether a thread waits for it. Nothing
 * is taken and nobody is asked: the lock's struct is copied, and what a thread is blocked in is what the
 * kernel says of it (/proc/self/task/TID/syscall): a futex inside that struct. A thread that released the lock and
 * sleeps, reads, or is inside CUDA waits for something else. */

/* The lock of one interpreter, copied. */
struct py_gil {
	uintptr_t address;
	uintptr_t holder;  /* the thread's struct; the last one's where it is not locked */
	uint64_t switches; /* counts how often another thread took it than the one before */
	bool locked;
};

/* Finds where interpreters keep their lock, which is the runtime's before 3.12, and looks whether it is one: its last
 * holder is a thread that is there. False: it is not found, and py_gil_read always fails. */
bool py_gil_find(struct py_runtime *py);

/* Copies the lock that the threads of the interpreter at this address take. */
bool py_gil_read(const struct py_runtime *py, uintptr_t interpreter, struct py_gil *gil);

enum py_gil_wait {
	PY_GIL_UNKNOWN, /* the kernel does not say */
	PY_GIL_NOT,     /* it runs, or waits for something else */
	PY_GIL_WAITS
};

/* Whether the thread waits for the lock at this moment. */
enum py_gil_wait py_gil_waits(const struct py_gil *gil, uint32_t tid);

/* Where in Python the calling thread is, for what it does just now: its frames, read as the sampler reads those of
 * other threads, with the lines that they are at. It is inside a call, so its frames stand still. */

/* From now on frames are read of `py`, which the caller keeps. Until then, and in a forked child, there are none. */
void here_begin(const struct py_runtime *py);
void here_forked(void);

/* The frames of the calling thread, the innermost first, with their functions in the spool: how many, at most `most`;
 * 0: it is in none, or nothing could be read. By any thread but the sampler's. `cut`: there are more. */
size_t here_frames(struct spool_frame *frames, size_t most, bool *cut);

/* Around all that reads stacks and names, which is done by one thread at a time. */
void here_lock(void);
void here_unlock(void);

/* The number of a function, which is in the spool by then; 0: it is not. Locked. */
uint32_t here_function(const struct py_runtime *py, const struct py_code *code);

/* Samples of the Python frames of the threads that call CUDA, by a thread of our own, into the spool. */

/* Before anything else: reads the environment. */
void sampler_prepare(void);

/* The thread `tid` calls CUDA: it is sampled from now on, if Python knows it. By the background thread. */
void sampler_thread_seen(uint32_t tid);

/* Starts the sampling thread, once it is wanted and there is an interpreter; `last`: ends it. By the background thread,
 * at each of its ticks. */
void sampler_tick(bool last);

/* In a forked child, which has no such thread; it gets one where it uses CUDA itself. */
void sampler_forked(void);

#endif
