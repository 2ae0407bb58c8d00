/* What a GPU can do at most, by its data sheet: no profile says it, and clocks alone do not tell it. */
#ifndef GAPLINE_ANALYSE_SIDE_PEAKS_H
#define GAPLINE_ANALYSE_SIDE_PEAKS_H

#include "trace/trace.h"

/* Floating-point operations (of FLOP_INT8 integer ones) per ns of the tensor cores, of dense matrices and summed up in
 * 32 bits, at the boost clock. `model`: the GPU's name as CUDA has it. 0: not known, also of single and double
 * precision, which run on tensor cores or beside them. */
double peak_flops(const char *model, enum flop_format format);

/* Bytes per ns of device memory; 0: not known. */
double peak_bytes(const char *model);

#endif
