/* What the structure-aware mutators share. A mutator knows its format: what it makes has sound checksums, headers and
 * sizes, so that the damage gets as far as what reads the contents.
 *
 * libFuzzer calls LLVMFuzzerCustomMutator where a target has one; fuzz_replay.c does the same, so that mutators run
 * with any compiler. The same bytes and seed give the same result. */
#ifndef GAPLINE_TESTS_MUTATE_H
#define GAPLINE_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Changes `n` bytes at `data`, where there is room for `most`; the new number of bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

struct mutate_random {
	uint64_t state;
};

/* 0 … limit − 1; 0 when limit is 0. */
uint64_t mutate_draw(struct mutate_random *random, uint64_t limit);

/* A number at an end of what fits somewhere, or a small one. */
int64_t mutate_extreme(struct mutate_random *random);

/* Bytes changed anywhere: as libFuzzer does it where it is there. */
size_t mutate_bytes(struct mutate_random *random, uint8_t *data, size_t n, size_t most);

#endif
