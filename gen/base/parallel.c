#include "base/parallel.h"

#include "base/arena.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { THREADS_MAX = 64 };

struct job {
	void (*work)(void *context, size_t i);
	void *context;
	size_t n;
	size_t width; /* of each thread */
	atomic_size_t next;
};

/* Processors for what this thread divides; 0: all that there are. */
static _Thread_local size_t own_width;

static void *take(void *argument)
{
	struct job *job = argument;
	size_t before = own_width;
	own_width = job->width;
	for (size_t i; (i = atomic_fetch_add(&job->next, 1)) < job->n;)
		job->work(job->context, i);
	own_width = before;
	return NULL;
}

static void *take_and_end(void *argument)
{
	take(argument);
	arena_end_thread();
	return NULL;
}

static size_t processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (size_t)n;
}

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

void parallel_alone_begin(void)
{
	pthread_mutex_lock(&alone);
}

void parallel_alone_end(void)
{
	pthread_mutex_unlock(&alone);
}

size_t parallel_width(void)
{
	return own_width ? own_width : processors();
}

void parallel_each(size_t n, void (*work)(void *context, size_t i), void *context)
{
	struct job job = {.work = work, .context = context, .n = n};
	pthread_t threads[THREADS_MAX];
	size_t width = parallel_width(), wanted = width < n ? width : n, started = 0;
	job.width = wanted ? width / wanted : 1;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started + 1 < wanted && pthread_create(&threads[started], NULL, take_and_end, &job) == 0)
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	take(&job); /* also all of it, when no thread could be started */
	while (started)
		pthread_join(threads[--started], NULL);
}
