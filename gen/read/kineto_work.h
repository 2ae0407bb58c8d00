/* What an operator has to do, by the sizes of its inputs: floating-point operations as PyTorch counts them itself in
 * torch.utils.flop_counter (torch/utils/flop_counter.py, v2.5: bmm_flop, conv_flop_count, conv_backward_flop,
 * sdpa_flop_count, sdpa_backward_flop_count). A multiplication and an addition are two; sums of a bias are none, and
 * what a causal mask leaves out counts. One thing is otherwise: of a convolution in groups the gradient of the weights
 * is as much as that of the input; PyTorch counts products between groups, which nobody works out. */
#ifndef GAPLINE_READ_KINETO_WORK_H
#define GAPLINE_READ_KINETO_WORK_H

#include "read/kineto_event.h"

/* The floating-point operations of an operator, as trace_flops; 0: not known. */
int64_t kineto_flops(const struct kineto_event *event);

/* 1 + the bytes that an operator reads and writes at least, each of its inputs and outputs once, of a convolution's
 * gradients for each; 0: not known. Copies into another order, which cuDNN makes of "NCHW", are not among them. */
int64_t kineto_moved(const struct kineto_event *event);

/* The type of an operator's next input: "float", "c10::Half". */
void kineto_note_type(struct kineto_event *event, const char *text, size_t n);

/* Whether the work of an operator of that name depends on inputs that are numbers: of convolutions and sums. */
bool kineto_needs_given(const char *name, size_t n);

/* The next of an operator's inputs, in words: numbers as "[1, 1]", truth values as "[True, False]", else nothing. */
void kineto_note_given(struct kineto_event *event, const char *text, size_t n);

#endif
