#include "spool_out.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Events go into chunks that one thread fills and the background thread empties; `used` is what the two share. The
 * last chunk of a thread is never freed by the background thread, so the producer needs no lock to go on with it. */
enum { CHUNK_BYTES = 32 << 10, MOST_BYTES = 64 << 20, DEPTHS = 64 };

struct chunk {
	_Atomic(struct chunk *) next; /* set once, when this one is full */
	_Atomic uint32_t used;
	uint32_t written; /* the background thread's */
	uint32_t room, mapped;
	_Alignas(8) char data[];
};

enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_ENDED };

struct thread {
	struct thread *next; /* threads are never freed, but used again */
	_Atomic int state;   /* enum thread_state */
	uint32_t tid;
	volatile sig_atomic_t busy; /* between begin and end: a signal handler must keep out */
	struct chunk *first;        /* the background thread's */
	struct chunk *last;         /* the thread's own */
	_Atomic uint64_t dropped;
	uint32_t depth[DEPTHS];
};

static _Atomic(struct thread *) threads;
static _Atomic size_t mapped;
static _Atomic bool closed;
static pthread_key_t key;
static __thread struct thread *mine;
static __thread uint32_t my_tid;

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static struct chunk *chunk_new(size_t need)
{
	size_t bytes = CHUNK_BYTES;
	if (need + sizeof(struct chunk) > bytes)
		bytes = (need + sizeof(struct chunk) + 4095) / 4096 * 4096;
	if (atomic_fetch_add(&mapped, bytes) + bytes > MOST_BYTES) {
		atomic_fetch_sub(&mapped, bytes);
		return NULL;
	}
	struct chunk *c = map(bytes);
	if (!c) {
		atomic_fetch_sub(&mapped, bytes);
		return NULL;
	}
	c->mapped = (uint32_t)bytes;
	c->room = (uint32_t)(bytes - sizeof *c);
	return c;
}

static void chunk_free(struct chunk *c)
{
	atomic_fetch_sub(&mapped, c->mapped);
	munmap(c, c->mapped);
}

static void thread_ended(void *value)
{
	struct thread *t = value;
	mine = NULL;
	atomic_store(&t->state, THREAD_ENDED);
}

void spool_events_prepare(void)
{
	pthread_key_create(&key, thread_ended);
}

void spool_events_forked(void)
{
	atomic_store(&threads, NULL);
	atomic_store(&mapped, 0);
	atomic_store(&closed, false);
	mine = NULL;
	my_tid = 0;
	pthread_setspecific(key, NULL);
}

void spool_events_close(void)
{
	atomic_store(&closed, true);
}

uint32_t spool_tid(void)
{
	if (!my_tid)
		my_tid = (uint32_t)syscall(SYS_gettid);
	return my_tid;
}

static struct thread *thread_mine(void)
{
	struct thread *t;
	for (t = atomic_load(&threads); t; t = t->next) {
		int unused = THREAD_FREE;
		if (atomic_load_explicit(&t->state, memory_order_relaxed) == THREAD_FREE &&
		    atomic_compare_exchange_strong(&t->state, &unused, THREAD_LIVE))
			break;
	}
	if (!t) {
		t = map(sizeof *t);
		if (!t)
			return NULL;
		atomic_store(&t->state, THREAD_LIVE);
		t->next = atomic_load(&threads);
		while (!atomic_compare_exchange_weak(&threads, &t->next, t))
			;
	}
	t->tid = spool_tid();
	memset(t->depth, 0, sizeof t->depth);
	mine = t;
	pthread_setspecific(key, t);
	return t;
}

uint32_t *spool_depth(uint32_t domain)
{
	struct thread *t = mine;
	return t && domain < DEPTHS ? &t->depth[domain] : NULL;
}

struct spool_event *spool_event_begin(size_t text_bytes)
{
	if (atomic_load_explicit(&closed, memory_order_relaxed))
		return NULL;
	struct thread *t = mine ? mine : thread_mine();
	if (!t)
		return NULL;
	if (t->busy) {
		atomic_fetch_add_explicit(&t->dropped, 1, memory_order_relaxed);
		return NULL;
	}
	t->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	size_t need = sizeof(struct spool_event) + (text_bytes + 7) / 8 * 8;
	struct chunk *c = t->last;
	uint32_t used = c ? atomic_load_explicit(&c->used, memory_order_relaxed) : 0;
	if (!c || c->room - used < need) {
		struct chunk *fresh = chunk_new(need);
		if (!fresh) {
			atomic_fetch_add_explicit(&t->dropped, 1, memory_order_relaxed);
			atomic_signal_fence(memory_order_seq_cst);
			t->busy = 0;
			return NULL;
		}
		if (c)
			atomic_store_explicit(&c->next, fresh, memory_order_release);
		else
			__atomic_store_n(&t->first, fresh, __ATOMIC_RELEASE);
		t->last = c = fresh;
		used = 0;
	}
	struct spool_event *e = (struct spool_event *)(c->data + used);
	e->bytes = (uint32_t)need; /* mapped memory is 0, and nothing of it is used twice */
	return e;
}

void spool_event_end(struct spool_event *event)
{
	struct thread *t = mine;
	struct chunk *c = t->last;
	atomic_store_explicit(&c->used, (uint32_t)((char *)event - c->data) + event->bytes, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = 0;
}

bool spool_event_put(struct spool_event event, const void *text, size_t text_bytes, const void *more, size_t more_bytes)
{
	struct spool_event *e = spool_event_begin(text_bytes + more_bytes);
	if (!e)
		return false;
	event.bytes = e->bytes;
	event.text_bytes = (uint32_t)(text_bytes + more_bytes);
	*e = event;
	if (text_bytes)
		memcpy(e + 1, text, text_bytes);
	if (more_bytes)
		memcpy((char *)(e + 1) + text_bytes, more, more_bytes);
	spool_event_end(e);
	return true;
}

static uint64_t drain(struct thread *t)
{
	bool ended = atomic_load(&t->state) == THREAD_ENDED; /* before its last events are looked for */
	struct chunk *c = __atomic_load_n(&t->first, __ATOMIC_ACQUIRE);
	while (c) {
		struct chunk *next = atomic_load_explicit(&c->next, memory_order_acquire);
		uint32_t used = atomic_load_explicit(&c->used, memory_order_acquire);
		if (used > c->written) {
			spool_thread_seen(t->tid);
			spool_put(SPOOL_EVENTS, t->tid, c->data + c->written, used - c->written, NULL, 0);
			c->written = used;
		}
		if (!next)
			break;
		t->first = next;
		chunk_free(c);
		c = next;
	}
	uint64_t dropped = atomic_exchange(&t->dropped, 0);
	if (ended)
		atomic_store(&t->state, THREAD_FREE);
	return dropped;
}

bool spool_events_pending(void)
{
	for (struct thread *t = atomic_load(&threads); t; t = t->next)
		if (__atomic_load_n(&t->first, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

void spool_events_drain(void)
{
	struct spool_dropped lost = {SPOOL_DROPPED_EVENTS, 0, 0};
	for (struct thread *t = atomic_load(&threads); t; t = t->next)
		if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_FREE)
			lost.count += drain(t);
	if (lost.count)
		spool_put(SPOOL_DROPPED, 0, &lost, sizeof lost, NULL, 0);
}

/* Names of threads, as the system knows them. A name is often set after a thread's first event, so they are looked at
 * again about once a second. */

enum { MOST_THREADS = 1024, NAME_ROOM = 16 };

static struct {
	uint32_t tid;
	char name[NAME_ROOM];
} seen[MOST_THREADS];
static size_t n_seen;
static uint32_t latest; /* most events come from the thread that the one before came from */

static void name_put(size_t i)
{
	char path[64], name[NAME_ROOM + 1];
	snprintf(path, sizeof path, "/proc/self/task/%u/comm", seen[i].tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* it has ended */
	ssize_t n = read(fd, name, NAME_ROOM);
	close(fd);
	if (n <= 0)
		return;
	name[n] = 0;
	name[strcspn(name, "\n")] = 0;
	if (!strcmp(name, seen[i].name))
		return;
	snprintf(seen[i].name, NAME_ROOM, "%.15s", name);
	spool_put(SPOOL_THREAD_NAME, seen[i].tid, seen[i].name, strlen(seen[i].name), NULL, 0);
}

void spool_thread_seen(uint32_t tid)
{
	if (tid == latest)
		return;
	latest = tid;
	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].tid == tid)
			return;
	if (n_seen == MOST_THREADS)
		return;
	seen[n_seen].tid = tid;
	seen[n_seen].name[0] = 0;
	name_put(n_seen++);
}

void spool_threads_look(void)
{
	for (size_t i = 0; i < n_seen; i++)
		name_put(i);
}

void spool_threads_forget(void)
{
	n_seen = 0;
	latest = 0;
}
