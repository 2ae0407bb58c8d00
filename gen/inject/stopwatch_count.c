#include "stopwatch_count.h"

#include "stopwatch_wait.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char folder[PATH_MAX];
static uint64_t instants[2]; /* counts of what has ended */
static int64_t limit_ns = STOPWATCH_LIMIT_MS * INT64_C(1000000);

/* ---- the page ---- */

static _Atomic(struct stopwatch_page *) page;
static _Atomic pid_t owner; /* of `page` */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void forked(void)
{
	atomic_store(&page, NULL); /* the parent's, which stays mapped and is left alone */
	pthread_mutex_init(&making, NULL);
}

static struct stopwatch_page *page_map(pid_t pid)
{
	char path[PATH_MAX + 64];
	int fd = -1;
	for (unsigned n = 0; n < 10000 && fd < 0; n++) {
		snprintf(path, sizeof path, "%s/%d-%u" STOPWATCH_ENDING, folder, (int)pid, n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && access(path, F_OK))
			return NULL;
	}
	if (fd < 0)
		return NULL;
	/* Room on the disk first: a mapped page without any is SIGBUS. */
	struct stopwatch_page *p = MAP_FAILED;
	if (!posix_fallocate(fd, 0, sizeof *p))
		p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED) {
		unlink(path);
		return NULL;
	}
	p->version = STOPWATCH_VERSION;
	p->pid = (uint32_t)pid;
	memcpy(p->magic, STOPWATCH_MAGIC, sizeof p->magic);
	return p;
}

/* A child that was made without pthread_atfork's handlers is told by its number. */
struct stopwatch_page *stopwatch_mine(void)
{
	pid_t pid = getpid();
	struct stopwatch_page *p = atomic_load_explicit(&page, memory_order_acquire);
	if (p && atomic_load_explicit(&owner, memory_order_relaxed) == pid)
		return p;
	pthread_mutex_lock(&making);
	p = atomic_load(&page);
	if (!p || atomic_load(&owner) != pid) {
		p = page_map(pid);
		atomic_store(&owner, pid);
		atomic_store(&page, p);
	}
	pthread_mutex_unlock(&making);
	return p;
}

void stopwatch_ended(struct stopwatch_page *p)
{
	if (!p)
		return;
	uint64_t n = atomic_fetch_add(&p->ended, 1) + 1;
	for (int which = 0; which < 2; which++)
		if (n == instants[which] && atomic_load(&p->problem) == STOPWATCH_FINE)
			stopwatch_wait(p, which, limit_ns);
}

/* ---- the beginning ---- */

static bool number_from(const char *name, uint64_t *to)
{
	const char *text = getenv(name);
	char *end;
	unsigned long long value = text ? strtoull(text, &end, 10) : 0;
	if (!value || *end)
		return false;
	*to = value;
	return true;
}

bool stopwatch_prepare(void)
{
	const char *wanted = getenv(STOPWATCH_ENV_FOLDER);
	uint64_t limit_ms;
	if (!wanted || !*wanted || !realpath(wanted, folder) || !number_from(STOPWATCH_ENV_FIRST, &instants[0]) ||
	    !number_from(STOPWATCH_ENV_LAST, &instants[1]))
		return false;
	if (number_from(STOPWATCH_ENV_LIMIT_MS, &limit_ms) && limit_ms < INT64_MAX / 1000000)
		limit_ns = (int64_t)limit_ms * 1000000;
	pthread_atfork(NULL, NULL, forked);
	return true;
}
