/* Where threads are while the GPU waits, and where its work is launched: in which module, by the ranges around modules'
 * forward passes, and at which lines of the program, by the Python functions that PyTorch's profiler noted (with_stack:
 * those of 0.1 ms and more, shorter ones count for their callers) or gapline sampled. */
#ifndef GAPLINE_CHARGE_PLACES_H
#define GAPLINE_CHARGE_PLACES_H

#include "base/keymap.h"
#include "steps/steps.h"

/* Time by place. A place is the name of a module, of the innermost one, or of a line: of every function that is open,
 * each once. Modules that the profiler noted are called "nn.Module: GPT/Block", and lines as it calls them,
 * "train.py(12): step". */
struct place_sum {
	int64_t ns;
	uint32_t depth;   /* how many functions call it, the most: 0 of modules */
	uint32_t samples; /* how many samples that is of; 0: it is not sampled */
};
struct place_sums {
	struct keymap keys;    /* of << 32 | line << 31 | name; `of` is the caller's */
	struct place_sum *sum; /* by index of keys */
};
void place_sums_init(struct place_sums *sums, struct arena *arena);

/* The same in `arena`, to be read. */
struct place_sums place_sums_keep(const struct place_sums *sums, struct arena *arena);

static inline uint32_t place_key_of(uint64_t key)
{
	return (uint32_t)(key >> 32);
}
static inline bool place_key_line(uint64_t key)
{
	return key >> 31 & 1;
}
static inline uint32_t place_key_name(uint64_t key)
{
	return key & 0x7fffffff;
}

struct places;

/* NULL: the trace says nothing of that. A thread on which nothing says where it is, as that of PyTorch's backward,
 * works for its process's step thread, and is where that one is. `arena` holds what is made, also by the functions
 * below. */
struct places *places_begin(const struct trace *trace, const struct steps *steps, struct arena *arena);

/* Adds the time of a thread from `start` to `end`, with sign −1 takes it back. */
void places_add(struct places *places, struct place_sums *sums, uint32_t of, uint32_t thread, int64_t start,
                int64_t end, int sign);

/* Adds `ns` of what call `call` launches, of which the module is known (0: it is not); the name 0 gets all of it. */
void places_add_launched(struct places *places, struct place_sums *sums, uint32_t of, uint32_t call, uint32_t module,
                         int64_t ns);

#endif
