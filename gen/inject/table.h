/* Memory of a sampler's tables in the program that is measured: megabytes that cost nothing until they are written to,
 * and never the program's own allocator, in whose calls a sample may be taken. */
#ifndef GAPLINE_INJECT_TABLE_H
#define GAPLINE_INJECT_TABLE_H

#include <stddef.h>
#include <sys/mman.h>

/* `bytes` of zeros, the caller's until table_unmap; NULL: there is no memory. */
static inline void *table_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* Gives a table back; NULL is none. In a child after fork it is the parent's copy, of which nothing was written to. */
static inline void table_unmap(void *table, size_t bytes)
{
	if (table)
		munmap(table, bytes);
}

#endif
