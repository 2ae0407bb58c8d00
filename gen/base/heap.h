/* A binary heap in an array of the caller's: the item that comes before all others stands first. */
#ifndef GAPLINE_BASE_HEAP_H
#define GAPLINE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether item `a` comes before item `b`: a strict order, and for the result to be determined a total one. */
typedef bool heap_before(const void *a, const void *b, const void *context);

/* Adds a copy of `item`, of `size` bytes, to the `n` items at `items`; there must be room for it. Inlined, so that
 * `size` and `before` are known where it is called. */
__attribute__((always_inline)) static inline void heap_push(void *items, size_t n, size_t size, const void *item,
                                                            heap_before *before, const void *context)
{
	char *at = items;
	size_t i = n;
	for (; i && before(item, at + (i - 1) / 2 * size, context); i = (i - 1) / 2)
		memcpy(at + i * size, at + (i - 1) / 2 * size, size);
	memcpy(at + i * size, item, size);
}

/* Takes the first of the `n` items at `items` away; n > 0. */
__attribute__((always_inline)) static inline void heap_pop(void *items, size_t n, size_t size, heap_before *before,
                                                           const void *context)
{
	char *at = items;
	const char *last = at + --n * size;
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(at + (child + 1) * size, at + child * size, context))
			child++;
		if (!before(at + child * size, last, context))
			break;
		memcpy(at + i * size, at + child * size, size);
	}
	if (i < n)
		memcpy(at + i * size, last, size);
}

#endif
