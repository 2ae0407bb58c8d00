/* Changes what consists of numbers of a machine, each at a multiple of its size: an image of memory, a file of structs.
 * Numbers become ends, neighbours, or what stands elsewhere, so that pointers and offsets lead to what is there. */
#include "mutate.h"

#include <string.h>

static void change(struct mutate_random *random, uint8_t *data, size_t n)
{
	size_t width = (size_t)1 << mutate_draw(random, 4), places = n / width;
	if (!places)
		return;
	uint8_t *at = data + mutate_draw(random, places) * width;
	int64_t number = mutate_extreme(random);
	switch (mutate_draw(random, 4)) {
	case 0:
		memmove(at, data + mutate_draw(random, places) * width, width);
		return;
	case 1: { /* a little more or less */
		uint64_t was = 0;
		memcpy(&was, at, width);
		number = (int64_t)(was + mutate_draw(random, 256) - 128);
		break;
	}
	case 2: /* one bit */
		*at ^= (uint8_t)(1 << mutate_draw(random, 8));
		return;
	default:
		break;
	}
	memcpy(at, &number, width);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
	struct mutate_random random = {seed};
	if (!n || mutate_draw(&random, 8) == 0)
		return mutate_bytes(&random, data, n, most);
	for (uint64_t i = 1 + mutate_draw(&random, 6); i > 0; i--)
		change(&random, data, n);
	return n;
}
