#include "mutate.h"

#include <string.h>

/* libFuzzer's own, where it is linked. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);

/* Multiplier and increment of Knuth's MMIX. */
uint64_t mutate_draw(struct mutate_random *random, uint64_t limit)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return limit ? (random->state >> 20) % limit : 0;
}

int64_t mutate_extreme(struct mutate_random *random)
{
	static const int64_t ends[] = {-1,        0,         1,         2,         3,          255,
	                               256,       65535,     INT32_MAX, INT32_MIN, UINT32_MAX, 1LL << 32,
	                               INT64_MAX, INT64_MIN, 1LL << 62, 1000000};
	return ends[mutate_draw(random, sizeof ends / sizeof *ends)];
}

size_t mutate_bytes(struct mutate_random *random, uint8_t *data, size_t n, size_t most)
{
	if (LLVMFuzzerMutate)
		return LLVMFuzzerMutate(data, n, most);
	for (uint64_t i = 1 + mutate_draw(random, 6); n && i-- > 0;)
		data[mutate_draw(random, n)] = (uint8_t)mutate_draw(random, 256);
	if (n > 1 && mutate_draw(random, 4) == 0)
		n -= mutate_draw(random, n);
	return n;
}
