/* What holds a kernel up, in words: memory or SMs first, then why warps wait, then what usually helps. */
#ifndef GAPLINE_ANALYSE_JUDGE_NCU_WORDS_H
#define GAPLINE_ANALYSE_JUDGE_NCU_WORDS_H

#include "analyse/kernels_result.h"
#include "base/arena.h"

/* Fills text and advice. */
void ncu_words(struct kernel_pair *pair, struct arena *arena);

#endif
