/* Operators of XLA, which JAX and TensorFlow compile to. Pure. */
#ifndef GAPLINE_TRACE_HLO_H
#define GAPLINE_TRACE_HLO_H

#include "trace/trace.h"

/* XLA opens a range around everything that it launches for an operation of its own, "Thunk:#hlo_op=fusion.3#", or with
 * the place in the program that the operation comes from, "Thunk:#name=jit(step)/mlp/dot_general,hlo_op=fusion.3#", and
 * more behind a comma (openxla/xla, xla/backends/gpu/runtime/annotation.cc). Calls inside get it as calls.in_operator,
 * and the place as calls.in_module: of such ranges the innermost. A trace that has operators is left as it is. `trace`
 * is linked; the names and, from `arena`, the columns are added. */
void hlo_give_operators(struct trace *trace, struct arena *arena);

#endif
