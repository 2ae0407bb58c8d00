/* Operators and modules that ranges tell: those of XLA, which JAX and TensorFlow compile to, and modules of PyTorch
 * programs to which gapline added ranges. Pure. */
#ifndef GAPLINE_TRACE_OWNERS_H
#define GAPLINE_TRACE_OWNERS_H

#include "trace/trace.h"

/* What stands before a module's path in the name of the range around its forward pass (`--annotate modules`,
 * gen/inject/python): "gapline: module GPT.layers.*.attn". */
#define MODULE_ADDED "gapline: module "

/* Takes MODULE_ADDED off the names of ranges: such a range is called as its module. Before rows are ordered. Returns by
 * id which names are modules', from `arena`; NULL: none is. */
const bool *owners_name_modules(struct trace *trace, struct arena *arena);

/* XLA opens a range around everything that it launches for an operation of its own, "Thunk:#hlo_op=fusion.3#", or with
 * the place in the program that the operation comes from, "Thunk:#name=jit(step)/mlp/dot_general,hlo_op=fusion.3#", and
 * more behind a comma (openxla/xla, xla/backends/gpu/runtime/annotation.cc). Calls inside get it as calls.in_operator,
 * and the place as calls.in_module: of such ranges the innermost. Calls in ranges of modules, which `is_module` tells,
 * get the innermost one's as calls.in_module. A trace that has operators is left as it is. `trace` is linked; the names
 * and, from `arena`, the columns are added. */
void owners_give(struct trace *trace, const bool *is_module, struct arena *arena);

/* The first `n` characters of a module's path without their last part: so many, 0: it is in no other. Parts are divided
 * by '/' (PyTorch's profiler, torch.compile, XLA), in paths without any by '.' (MODULE_ADDED), where no part is a
 * number: XLA numbers operations so. */
size_t owners_around(const char *path, size_t n);

#endif
