#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum { UNDO_MOST = 8 };

static bool limited, lowered; /* by memory_limit; to less than there was */
static void (*undos[UNDO_MOST])(void);
static size_t n_undos;

void memory_undo(void (*undo)(void))
{
	for (size_t i = 0; i < n_undos; i++)
		if (undos[i] == undo)
			return;
	if (n_undos == UNDO_MOST)
		abort();
	undos[n_undos++] = undo;
}

#define PROBLEM "out of memory"

const char *memory_problem(void)
{
	return lowered ? PROBLEM "; --memory-limit has to be higher"
	               : PROBLEM "; end other programs, or take a machine that has more";
}

static const char *frame[3] = {"gapline: ", "; ", "\n"};

void memory_frame(const char *const texts[3])
{
	memcpy(frame, texts, sizeof frame);
}

void memory_exhausted(void)
{
	static atomic_flag ending = ATOMIC_FLAG_INIT;
	static _Thread_local bool mine;
	const char *advice = memory_problem() + strlen(PROBLEM "; ");
	const struct iovec line[] = {{(void *)frame[0], strlen(frame[0])},
	                             {(void *)PROBLEM, strlen(PROBLEM)},
	                             {(void *)frame[1], strlen(frame[1])},
	                             {(void *)advice, strlen(advice)},
	                             {(void *)frame[2], strlen(frame[2])}};
	if (mine)
		_exit(MEMORY_STATUS); /* what is undone found no memory either */
	while (atomic_flag_test_and_set(
		&ending)) /* one thread says it; what the others have begun ends with the process */
		pause();
	mine = true;
	ssize_t said = writev(STDERR_FILENO, line, sizeof line / sizeof *line); /* stdio may want memory */
	(void)said;
	memory_unlimited(); /* the limit was for the work, and that has ended */
	for (size_t i = n_undos; i-- > 0;)
		undos[i]();
	_exit(MEMORY_STATUS);
}

void *memory_take(size_t n)
{
	void *p = malloc(n ? n : 1);
	if (!p)
		memory_exhausted();
	return p;
}

void *memory_take_zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);
	if (!p)
		memory_exhausted();
	return p;
}

void *memory_resize(void *old, size_t n)
{
	void *p = realloc(old, n ? n : 1);
	if (!p)
		memory_exhausted();
	return p;
}

void memory_large(void *p, size_t n)
{
	enum { LEAST = 4 << 20 }; /* bytes: what is not touched of the last page is little beside that */
	if (n < LEAST)
		return;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)p + page - 1) / page * page;
	(void)madvise((void *)first, (n - (first - (uintptr_t)p)) / page * page, MADV_HUGEPAGE);
}

char *memory_copy(const char *text)
{
	size_t n = strlen(text) + 1;
	return memcpy(memory_take(n), text, n);
}

size_t memory_print(char *text, size_t room, const char *format, va_list args)
{
	int n = vsnprintf(text, room, format, args);
	if (n < 0)
		memory_exhausted();
	return (size_t)n;
}

static struct rlimit before;

int memory_limit(uint64_t bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_DATA, &limit))
		return -1;
	before = limit;
	limited = true;
	lowered = bytes < limit.rlim_cur;
	if (lowered)
		limit.rlim_cur = bytes;
	return setrlimit(RLIMIT_DATA, &limit);
}

void memory_unlimited(void)
{
	if (limited)
		(void)setrlimit(RLIMIT_DATA, &before);
}
