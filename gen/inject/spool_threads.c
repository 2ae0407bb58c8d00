/* Names of threads, as the system knows them. A name is often set after a thread's first event, so they are looked at
 * again about once a second. */
#include "spool_threads.h"

#include "spool_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
