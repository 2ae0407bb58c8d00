/* Host memory that is there or ends the program. */
#ifndef WORKLOADS_COMMON_MEMORY_H
#define WORKLOADS_COMMON_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* `n` zeroed elements of `size` bytes; free releases them. */
static inline void *memory_array(int n, size_t size)
{
	void *p = calloc(n > 0 ? (size_t)n : 1, size);

	if (p == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	return p;
}

#endif
