/* What NCCL's kernels say of their collective since 2024: libkineto copies it from PyTorch's record_param_comms to the
 * kernel's arguments (output_json.cpp). Older traces have nothing of it, and kineto_phases.c tells less. */
#ifndef GAPLINE_READ_KINETO_COMM_H
#define GAPLINE_READ_KINETO_COMM_H

#include "read/kineto_event.h"

/* Numbers for "Collective name" and bytes of an element for "dtype"; 0: not known. */
uint8_t kineto_collective(const char *text, size_t n);
uint8_t kineto_element_bytes(const char *text, size_t n);

/* Keeps what a kernel says of its collective, by correlation. */
void kineto_comm_keep(struct kineto *k, const struct kineto_event *kernel);

/* Hands what the kernel that `call` launched says of its collective, if it does, to the builder; `range`: the call. */
void kineto_comm_give(struct kineto *k, const struct kineto_span *call, const struct build_range *range);

#endif
