#include "cupti_buffers.h"

#include "spool_writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* One buffer holds what a thread launches in about 15 ms at full speed (4000 kernels with their calls). CUPTI takes one
 * for every thread and keeps it until the second flush after the thread's end, so a program that starts a thread for
 * every task needs thousands of them, nearly empty: only what is filled takes memory. Long before they run out, the
 * background thread is asked to flush. */
enum { BUFFER_BYTES = 1 << 20, HEAD_BYTES = 64, READY = 3, MOST_READY = 32, MOST = 4096, MANY = 64 };
static const size_t MOST_FILLED = (size_t)256 << 20;

struct buffer {
	struct buffer *next;
	size_t valid;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for a few instructions only */
static struct buffer *ready, *done, **done_end = &done;
static unsigned n_ready, n_all, n_taken; /* n_taken: since the last flush */
static size_t filled;                    /* bytes in `done` */
static _Atomic size_t refused;

static uint8_t *buffer_bytes(struct buffer *b)
{
	return (uint8_t *)b + HEAD_BYTES;
}

static struct buffer *buffer_new(int flags)
{
	void *p = mmap(NULL, HEAD_BYTES + BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
	               0);
	return p == MAP_FAILED ? NULL : p;
}

void CUPTIAPI buffers_request(uint8_t **buffer, size_t *size, size_t *most_records)
{
	struct buffer *b;
	bool make = false, many;
	pthread_mutex_lock(&lock);
	b = filled < MOST_FILLED ? ready : NULL;
	if (b) {
		ready = b->next;
		n_ready--;
	} else if (n_all < MOST && filled < MOST_FILLED) {
		n_all++;
		make = true;
	}
	many = ++n_taken % MANY == 0;
	pthread_mutex_unlock(&lock);
	if (many)
		spool_hurry();
	if (make) {
		b = buffer_new(0);
		if (!b) {
			pthread_mutex_lock(&lock);
			n_all--;
			pthread_mutex_unlock(&lock);
		}
	}
	if (!b)
		atomic_fetch_add(&refused, 1);
	*buffer = b ? buffer_bytes(b) : NULL;
	*size = b ? BUFFER_BYTES : 0;
	*most_records = 0;
}

void CUPTIAPI buffers_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	if (!buffer)
		return;
	struct buffer *b = (struct buffer *)(buffer - HEAD_BYTES);
	b->next = NULL;
	b->valid = valid;
	pthread_mutex_lock(&lock);
	*done_end = b;
	done_end = &b->next;
	filled += valid;
	pthread_mutex_unlock(&lock);
}

static void give(struct buffer *b)
{
	bool keep;
	pthread_mutex_lock(&lock);
	keep = n_ready < MOST_READY;
	if (keep) {
		b->next = ready;
		ready = b;
		n_ready++;
	} else {
		n_all--;
	}
	pthread_mutex_unlock(&lock);
	if (!keep)
		munmap(b, HEAD_BYTES + BUFFER_BYTES);
}

void buffers_drain(void (*write)(uint8_t *buffer, size_t valid))
{
	pthread_mutex_lock(&lock);
	struct buffer *b = done;
	n_taken = 0;
	done = NULL;
	done_end = &done;
	pthread_mutex_unlock(&lock);
	while (b) {
		struct buffer *next = b->next;
		size_t valid = b->valid;
		if (b->valid)
			write(buffer_bytes(b), b->valid);
		memset(buffer_bytes(b), 0, b->valid);
		give(b);
		pthread_mutex_lock(&lock);
		filled -= valid;
		pthread_mutex_unlock(&lock);
		b = next;
	}
}

bool buffers_are_many(void)
{
	pthread_mutex_lock(&lock);
	bool many = n_all > n_ready + MANY;
	pthread_mutex_unlock(&lock);
	return many;
}

size_t buffers_refused(void)
{
	return atomic_exchange(&refused, 0);
}

void buffers_prepare(void)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		bool enough = n_ready >= READY || n_all >= MOST;
		if (!enough)
			n_all++;
		pthread_mutex_unlock(&lock);
		if (enough)
			return;
		struct buffer *b = buffer_new(MAP_POPULATE);
		if (b) {
			give(b);
			continue;
		}
		pthread_mutex_lock(&lock);
		n_all--;
		pthread_mutex_unlock(&lock);
		return;
	}
}
