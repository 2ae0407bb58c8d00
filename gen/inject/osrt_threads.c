/* Waiting for other threads. */
#include "osrt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Conditions of before 2002 have another layout and the same names. */
#ifdef __x86_64__
#define CONDITION "GLIBC_2.3.2"
#else
#define CONDITION NULL
#endif

/* ---- conditions ---- */

OSRT_WRAPPER(int, pthread_cond_wait, CONDITION, "pthread_cond_wait", true, (c, m), pthread_cond_t *c,
             pthread_mutex_t *m)
OSRT_WRAPPER(int, pthread_cond_timedwait, CONDITION, "pthread_cond_timedwait", true, (c, m, until), pthread_cond_t *c,
             pthread_mutex_t *m, const struct timespec *until)
OSRT_CALL(int, pthread_cond_clockwait, (c, m, clock, until), pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
          const struct timespec *until)

/* ---- locks ---- */

/* They may be taken anywhere, inside allocators too: a wait for one never starts our thread. */
static __typeof__(&pthread_mutex_trylock) real_pthread_mutex_trylock;
static __typeof__(&pthread_mutex_lock) real_pthread_mutex_lock;
EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	/* Nearly every lock is free; then no clock is read. */
	int taken = OSRT_REAL(pthread_mutex_trylock, NULL)(m);
	if (taken != EBUSY)
		return taken;
	OSRT_NOTED(int, pthread_mutex_lock, NULL, "pthread_mutex_lock", (m), false);
}

OSRT_CALL_QUIET(int, pthread_mutex_timedlock, (m, until), pthread_mutex_t *m, const struct timespec *until)
OSRT_CALL_QUIET(int, pthread_rwlock_rdlock, (l), pthread_rwlock_t *l)
OSRT_CALL_QUIET(int, pthread_rwlock_wrlock, (l), pthread_rwlock_t *l)
OSRT_CALL_QUIET(int, pthread_rwlock_timedrdlock, (l, until), pthread_rwlock_t *l, const struct timespec *until)
OSRT_CALL_QUIET(int, pthread_rwlock_timedwrlock, (l, until), pthread_rwlock_t *l, const struct timespec *until)

/* ---- semaphores, barriers, threads ---- */

OSRT_CALL(int, sem_wait, (s), sem_t *s)
OSRT_CALL(int, sem_timedwait, (s, until), sem_t *s, const struct timespec *until)
OSRT_CALL(int, sem_clockwait, (s, clock, until), sem_t *s, clockid_t clock, const struct timespec *until)
OSRT_CALL(int, pthread_barrier_wait, (b), pthread_barrier_t *b)
OSRT_CALL(int, pthread_join, (thread, value), pthread_t thread, void **value)

/* ---- futexes without a library around them ---- */

/* The C library passes six arguments on, however many there are; so does this. */
static __typeof__(&syscall) real_syscall;
EXPORT long syscall(long number, ...)
{
	long a[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	__typeof__(&syscall) real = OSRT_REAL(syscall, NULL);
	if (number != SYS_futex)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	int operation = (int)a[1] & FUTEX_CMD_MASK;
	bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI;
	int64_t begin = waits ? osrt_begin() : 0;
	long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (begin)
		osrt_end(begin, "futex", false);
	return result;
}
