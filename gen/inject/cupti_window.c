#include "cupti_parts.h"

#include "cupti_api.h"
#include "spool_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Records reach us a few ticks after their time, in any order: calls that long after a window still may be waited for.
 * Windows that are closer together than that are one, as far as buffers go. */
enum { MOST_NOTED = 1 << 16, LATE_NS = 250 * 1000 * 1000 };

static struct spool_library *library;
static bool ranged, limited;

/* From the threads that call cudaProfilerStart and -Stop to the background thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those threads among themselves */
static struct spool_window noted[MOST_NOTED];
static _Atomic unsigned n_noted, n_put;
static _Atomic size_t n_lost;

/* The background thread's own. */
static struct {
	int64_t open, close;
} spans[2];                  /* the newest one and the one before; empty: close <= open */
static uint32_t first, last; /* correlations of the calls in any window so far; last is 0: none */

void window_prepare(struct spool_library *of)
{
	const char *range = getenv(SPOOL_ENV_RANGE);
	library = of;
	ranged = range && !strcmp(range, "cudaProfilerApi");
	limited = ranged || spool_time_limited();
	atomic_store(&of->shut, ranged);
}

bool window_ranged(void)
{
	return ranged;
}

void window_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	atomic_store(&n_noted, 0);
	atomic_store(&n_put, 0);
	atomic_store(&n_lost, 0);
	memset(spans, 0, sizeof spans);
	first = last = 0;
	if (library)
		atomic_store(&library->shut, ranged);
}

void window_note(bool open)
{
	pthread_mutex_lock(&lock);
	unsigned n = atomic_load(&n_noted);
	/* A window that is opened must have room for its end. */
	unsigned waiting = n - atomic_load(&n_put);
	if (atomic_load(&library->shut) == open) {
		if (waiting + (open ? 2 : 1) <= MOST_NOTED) {
			noted[n % MOST_NOTED] = (struct spool_window){open, 2, spool_now()};
			atomic_store(&n_noted, n + 1);
			atomic_store(&library->shut, !open);
		} else
			atomic_fetch_add(&n_lost, 1);
	}
	pthread_mutex_unlock(&lock);
	if (waiting == MOST_NOTED / 2)
		spool_hurry();
}

size_t window_lost(void)
{
	return atomic_exchange(&n_lost, 0);
}

static void span(const struct spool_window *w)
{
	if (!w->open) {
		spans[0].close = w->time;
		return;
	}
	if (spans[0].close <= spans[0].open || w->time - spans[0].close > LATE_NS) {
		spans[1] = spans[0];
		spans[0].open = w->time;
	}
	spans[0].close = INT64_MAX;
}

void window_put(void)
{
	for (unsigned n = atomic_load(&n_put); n != atomic_load(&n_noted); n++) {
		struct spool_window w = noted[n % MOST_NOTED];
		atomic_store(&n_put, n + 1);
		span(&w);
		spool_put(SPOOL_WINDOW, 0, &w, sizeof w, NULL, 0);
	}
}

static bool touches(int64_t start, int64_t end, int64_t late)
{
	if (!spool_time_touches(start - late, end))
		return false;
	bool in = !ranged;
	for (size_t i = 0; !in && i < sizeof spans / sizeof *spans; i++)
		in = spans[i].open < spans[i].close && end >= spans[i].open && start - late < spans[i].close;
	return in;
}

static bool wants_call(const CUpti_ActivityAPI *call)
{
	int64_t start = (int64_t)call->start;
	if (touches(start, start, 0)) {
		if (!last || call->correlationId < first)
			first = call->correlationId;
		if (call->correlationId > last)
			last = call->correlationId;
	}
	return touches(start, (int64_t)call->end, LATE_NS);
}

/* What was launched in a window may run long after it. */
static bool wants_op(uint64_t start, uint64_t end, uint32_t correlation)
{
	return touches((int64_t)start, (int64_t)end, LATE_NS) || (last && correlation >= first && correlation <= last);
}

#define WANTS_OP(type, record)                                                                                         \
	wants_op(((const type *)(record))->start, ((const type *)(record))->end,                                       \
	         ((const type *)(record))->correlationId)

bool window_wants(const CUpti_Activity *record)
{
	if (!limited)
		return true;
	switch ((int)record->kind) {
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return wants_call((const CUpti_ActivityAPI *)record);
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		return WANTS_OP(CUpti_ActivityKernel9, record);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return WANTS_OP(CUpti_ActivityMemcpy5, record);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return WANTS_OP(CUpti_ActivityMemcpyPtoP4, record);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return WANTS_OP(CUpti_ActivityMemset4, record);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return WANTS_OP(CUpti_ActivityGraphTrace, record);
	case CUPTI_DEVICE_GRAPH: {
		const struct cupti_device_graph *g = (const struct cupti_device_graph *)record;
		return touches((int64_t)g->start, (int64_t)g->end, LATE_NS);
	}
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
		const CUpti_ActivitySynchronization *s = (const CUpti_ActivitySynchronization *)record;
		return touches((int64_t)s->start, (int64_t)s->end, LATE_NS);
	}
	default:
		return false;
	}
}
