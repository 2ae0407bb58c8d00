/* How a kernel was launched, in one number. */
#ifndef GAPLINE_TRACE_LAUNCH_H
#define GAPLINE_TRACE_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/* What the three sizes of a grid or a block make; 0: one is below 1, or they are beyond any GPU. */
static inline int64_t trace_product(const int64_t size[3])
{
	int64_t product;
	bool beyond = __builtin_mul_overflow(size[0], size[1], &product) ||
	              __builtin_mul_overflow(product, size[2], &product);
	return size[0] < 1 || size[1] < 1 || size[2] < 1 || beyond ? 0 : product;
}

/* The blocks of a kernel's grid and the threads of each as struct trace_ops has them, one number below
 * 1 << TRACE_LAUNCH_BITS; 0 of either: not recorded, or a number that no GPU runs. */
enum { TRACE_BLOCKS_BITS = 50, TRACE_LAUNCH_BITS = 61 };
static inline int64_t trace_launch(int64_t blocks, int64_t threads)
{
	if (blocks < 1 || blocks >> TRACE_BLOCKS_BITS)
		return 0;
	return (threads >> (TRACE_LAUNCH_BITS - TRACE_BLOCKS_BITS) ? 0 : threads) << TRACE_BLOCKS_BITS | blocks;
}
static inline int64_t trace_blocks(int64_t launch)
{
	return launch & (((int64_t)1 << TRACE_BLOCKS_BITS) - 1);
}
static inline int64_t trace_threads(int64_t launch)
{
	return launch >> TRACE_BLOCKS_BITS;
}

/* One number for a launch's grid and block (FNV-1a of their six sizes), never 0; 0 where one of them is below 1. */
static inline uint64_t trace_shape(const int64_t grid[3], const int64_t block[3])
{
	uint64_t hash = 0xcbf29ce484222325;
	for (int i = 0; i < 6; i++) {
		int64_t size = i < 3 ? grid[i] : block[i - 3];
		if (size < 1)
			return 0;
		for (int byte = 0; byte < 8; byte++)
			hash = (hash ^ (uint8_t)((uint64_t)size >> 8 * byte)) * 0x100000001b3;
	}
	return hash ? hash : 1;
}

#endif
