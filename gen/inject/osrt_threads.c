/* Waiting for other threads. */
#include "osrt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Locks may be taken anywhere, inside allocators too: a wait for one never starts our thread. */
#define CALL_LOCKED(type, name, arguments) OSRT_VERSIONED(type, name, NULL, arguments, false)

/* Conditions of before 2002 have another layout and the same names. */
#ifdef __x86_64__
#define CONDITION "GLIBC_2.3.2"
#else
#define CONDITION NULL
#endif

/* ---- conditions ---- */

static __typeof__(&pthread_cond_wait) real_pthread_cond_wait;
EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	OSRT_VERSIONED(int, pthread_cond_wait, CONDITION, (c, m), true);
}

static __typeof__(&pthread_cond_timedwait) real_pthread_cond_timedwait;
EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	OSRT_VERSIONED(int, pthread_cond_timedwait, CONDITION, (c, m, until), true);
}

static __typeof__(&pthread_cond_clockwait) real_pthread_cond_clockwait;
EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	OSRT_CALL(int, pthread_cond_clockwait, (c, m, clock, until));
}

/* ---- locks ---- */

static __typeof__(&pthread_mutex_trylock) real_pthread_mutex_trylock;
static __typeof__(&pthread_mutex_lock) real_pthread_mutex_lock;
EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	/* Nearly every lock is free; then no clock is read. */
	int taken = OSRT_REAL(pthread_mutex_trylock, NULL)(m);
	if (taken != EBUSY)
		return taken;
	CALL_LOCKED(int, pthread_mutex_lock, (m));
}

static __typeof__(&pthread_mutex_timedlock) real_pthread_mutex_timedlock;
EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	CALL_LOCKED(int, pthread_mutex_timedlock, (m, until));
}

static __typeof__(&pthread_rwlock_rdlock) real_pthread_rwlock_rdlock;
EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	CALL_LOCKED(int, pthread_rwlock_rdlock, (l));
}

static __typeof__(&pthread_rwlock_wrlock) real_pthread_rwlock_wrlock;
EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	CALL_LOCKED(int, pthread_rwlock_wrlock, (l));
}

static __typeof__(&pthread_rwlock_timedrdlock) real_pthread_rwlock_timedrdlock;
EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
	CALL_LOCKED(int, pthread_rwlock_timedrdlock, (l, until));
}

static __typeof__(&pthread_rwlock_timedwrlock) real_pthread_rwlock_timedwrlock;
EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
	CALL_LOCKED(int, pthread_rwlock_timedwrlock, (l, until));
}

/* ---- semaphores, barriers, threads ---- */

static __typeof__(&sem_wait) real_sem_wait;
EXPORT int sem_wait(sem_t *s)
{
	OSRT_CALL(int, sem_wait, (s));
}

static __typeof__(&sem_timedwait) real_sem_timedwait;
EXPORT int sem_timedwait(sem_t *s, const struct timespec *until)
{
	OSRT_CALL(int, sem_timedwait, (s, until));
}

static __typeof__(&sem_clockwait) real_sem_clockwait;
EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	OSRT_CALL(int, sem_clockwait, (s, clock, until));
}

static __typeof__(&pthread_barrier_wait) real_pthread_barrier_wait;
EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	OSRT_CALL(int, pthread_barrier_wait, (b));
}

static __typeof__(&pthread_join) real_pthread_join;
EXPORT int pthread_join(pthread_t thread, void **value)
{
	OSRT_CALL(int, pthread_join, (thread, value));
}

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
