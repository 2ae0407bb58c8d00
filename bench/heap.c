#include "heap.h"

#include <malloc.h>
#include <stdlib.h>

/* glibc's own entry points, for programs that replace malloc
 * (https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html). */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void __libc_free(void *p);

static size_t now, most, ground;

static void *count(void *p)
{
	now += p ? malloc_usable_size(p) : 0;
	if (now > most)
		most = now;
	return p;
}

static void discount(void *p)
{
	size_t bytes = p ? malloc_usable_size(p) : 0;
	now -= bytes < now ? bytes : now; /* blocks of memalign and the like were not counted */
}

void *malloc(size_t bytes)
{
	return count(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t size)
{
	return count(__libc_calloc(n, size));
}

void *realloc(void *old, size_t bytes)
{
	discount(old);
	return count(__libc_realloc(old, bytes));
}

void free(void *p)
{
	discount(p);
	__libc_free(p);
}

void heap_begin(void)
{
	ground = most = now;
}

size_t heap_peak(void)
{
	return most - ground;
}
