/* What the wrappers of blocking calls share. A wrapper calls the real function, and when that took long enough, an
 * event says so. Most are a row each, in which the parameters stand twice, passed on and declared:
 *
 *	OSRT_CALL(int, fsync, (fd), int fd)
 *
 * Cancellation and errors are the real function's: nothing is held while it runs, and errno is left as it was. */
#ifndef GAPLINE_INJECT_OSRT_H
#define GAPLINE_INJECT_OSRT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* The C library's own function; `version` where several exist under one name, else NULL. Ends the process where there
 * is none: nobody can call what does not exist. */
void *osrt_real(const char *name, const char *version);

/* The time now if calls of this thread are to be recorded, else 0. */
int64_t osrt_begin(void);

/* The call that began at `begin` has returned. `may_start`: this is a place where a thread may be created, no
 * lock of an allocator and no signal handler. errno is kept. */
void osrt_end(int64_t begin, const char *name, bool may_start);

/* Loads a pointer once: two threads that do it at the same time load the same. */
#define OSRT_REAL(name, version)                                                                                       \
	__extension__({                                                                                                \
		__typeof__(&name) f_ = __atomic_load_n(&real_##name, __ATOMIC_RELAXED);                                \
		if (!f_) {                                                                                             \
			f_ = (__typeof__(&name))osrt_real(#name, version);                                             \
			__atomic_store_n(&real_##name, f_, __ATOMIC_RELAXED);                                          \
		}                                                                                                      \
		f_;                                                                                                    \
	})

/* Calls the real function and notes how long it took, as a call of `noted`. */
#define OSRT_NOTED(type, name, version, noted, arguments, may_start)                                                   \
	__typeof__(&name) real_ = OSRT_REAL(name, version);                                                            \
	int64_t begin_ = osrt_begin();                                                                                 \
	type result_ = real_ arguments;                                                                                \
	if (begin_)                                                                                                    \
		osrt_end(begin_, noted, may_start);                                                                    \
	return result_

/* A wrapper, whole: the arguments that it passes on, and then its parameters. */
#define OSRT_WRAPPER(type, name, version, noted, may_start, arguments, ...)                                            \
	static __typeof__(&name) real_##name;                                                                          \
	EXPORT type name(__VA_ARGS__)                                                                                  \
	{                                                                                                              \
		OSRT_NOTED(type, name, version, noted, arguments, may_start);                                          \
	}

#define OSRT_CALL(type, name, arguments, ...) OSRT_WRAPPER(type, name, NULL, #name, true, arguments, __VA_ARGS__)

/* Where no thread may be started. */
#define OSRT_CALL_QUIET(type, name, arguments, ...) OSRT_WRAPPER(type, name, NULL, #name, false, arguments, __VA_ARGS__)

#endif
