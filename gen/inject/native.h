/* Where a thread of this process is: the registers and return addresses that it has at one instant.
 *
 * A thread that waits in the kernel is not touched: /proc/self/task/TID/syscall says where it is. One that runs is
 * asked by a signal, whose handler notes its registers and the return addresses that its frame pointers lead to, calls
 * nothing, and returns; the thread is held up for as long as that takes. The signal is SIGURG, which is ignored where
 * nobody wants it, so that a program that is started in this one's place (exec) is not harmed by one that is under way.
 * A program that wants SIGURG for itself keeps it.
 *
 * Between the look and the signal the thread may have begun a call that waits; that returns EINTR then where the kernel
 * does not begin it anew (SA_RESTART). Such answers are known by their registers, so that they can be counted. */
#ifndef GAPLINE_INJECT_NATIVE_H
#define GAPLINE_INJECT_NATIVE_H

#include "capture/spool.h"
#include "py.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_DEPTH_MOST = 32 };

struct native_answer {
	uintptr_t pc, sp;
	uintptr_t pointer; /* the thread's own: its C library's block of thread-local memory */
	uint64_t result;   /* what a call that has just returned has given */
	uint32_t n;        /* return addresses, the innermost first: none is checked */
	uintptr_t back[NATIVE_DEPTH_MOST];
};

enum native_where {
	NATIVE_UNKNOWN, /* the kernel does not say, or the thread is gone */
	NATIVE_RUNS,    /* on a processor, in the kernel or not, or waits for one */
	NATIVE_WAITS    /* in the kernel: pc and sp of the answer are filled, the rest is 0 */
};
enum native_where native_where(uint32_t tid, struct native_answer *answer);

/* Installs the handler. False: the program has one of its own. */
bool native_ask_begin(void);

/* Whether the handler is still there: the program may install one of its own at any time. */
bool native_ask_holds(void);

/* Asks the thread; `low` and `high`: its stack, as far as it is certain to be there for as long as the thread; frame
 * pointers are followed within it only (0, 0: not at all). The number of the question; 0: it could not be asked. By one
 * thread only. */
uint64_t native_ask(uint32_t tid, uintptr_t low, uintptr_t high);

/* Whether the question was answered. A question is forgotten when 64 others have been asked. */
bool native_answered(uint64_t question, struct native_answer *answer);

/* Whether the thread holds our signal back; also when that cannot be told. */
bool native_held_back(uint32_t tid);

/* Whether the thread was inside the handler of an earlier question, where it can lose its processor. */
bool native_answering(const struct native_answer *answer);

/* Whether the signal took the thread out of a call, which returns EINTR then. */
bool native_interrupted(const struct native_answer *answer);

/* What lies where in this process: addresses of code -> a file and a place in it. From /proc/self/maps, which is read
 * again where an address is met that was not there; nothing of the loader is called and none of its locks taken. */

/* Says that module `number` (from 1) is this file; false: it could not be noted, and is asked again. */
typedef bool native_module_named(uint32_t number, uint64_t inode, const char *path);

/* The module of code at `address` and its place in the file; 0: none is known. By one thread only. */
uint32_t native_module(uintptr_t address, int64_t now, uint64_t *offset, native_module_named *named);

/* The memory of which `address` is a part: from where to where. `stack`: the kernel calls it the first thread's stack.
 * False: it is not known. */
bool native_memory(uintptr_t address, uintptr_t *low, uintptr_t *high, bool *stack);

/* Forgets all: in a forked child. */
void native_maps_forget(void);

/* Native frames of samples: what the innermost Python function had called when it was sampled, down to where the thread
 * was. Frames of the interpreter itself and what lies outside of them are left out: Python's own frames
 * say those better.
 *
 * The thread is asked after its Python frames were read, and only if its innermost Python frame is the same after the
 * answer are the two one sample. A thread that has no processor answers late: when it runs again, before it goes on. So
 * its samples are kept until then, and all of them are where the answer says. */

/* Before anything else: reads the environment. */
void native_prepare(void);

/* Begins, if it is wanted. False: samples are Python's alone (a message says why, if it was wanted). */
bool native_begin(void);

/* Puts the sample into the spool, now or later. `number`: of its functions, the innermost first. */
void native_take(const struct py_runtime *py, const struct py_thread *thread, const struct py_stack *stack,
                 const uint32_t *number, uint32_t tid, int64_t time);

/* Puts what is still kept into the spool, of threads that were not seen since `before`. */
void native_flush(int64_t before);

/* What was counted since this was asked last. By the background thread; false: nothing. */
bool native_counted(struct spool_native_sampled *counts);

/* In a forked child. */
void native_forked(void);

#endif
