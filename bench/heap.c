/* Counts the heap of the program that it is linked to, exactly: malloc, calloc, realloc and free stand before glibc's.
 * At the end the most bytes that were allocated at once go to the file that GAPLINE_HEAP_PEAK names. */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* glibc's own entry points, for programs that replace malloc
 * (https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html). */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void __libc_free(void *p);

static atomic_size_t now, most;

static void *count(void *p)
{
	size_t bytes = p ? malloc_usable_size(p) : 0, sum = atomic_fetch_add(&now, bytes) + bytes;
	size_t before = atomic_load(&most);
	while (sum > before && !atomic_compare_exchange_weak(&most, &before, sum))
		;
	return p;
}

static void discount(void *p)
{
	atomic_fetch_sub(&now, p ? malloc_usable_size(p) : 0);
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
	void *p = __libc_realloc(old, bytes);
	if (p || !bytes)
		return count(p);
	count(old);
	return NULL;
}

void free(void *p)
{
	discount(p);
	__libc_free(p);
}

__attribute__((destructor)) static void say_peak(void)
{
	const char *path = getenv("GAPLINE_HEAP_PEAK");
	size_t peak = atomic_load(&most);
	FILE *out = path ? fopen(path, "w") : NULL;
	if (!out)
		return;
	fprintf(out, "%zu\n", peak);
	fclose(out);
}
