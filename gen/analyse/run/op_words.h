/* What GPU ops are called: a kernel's name as people say it, and the kind of work that an op is. */
#ifndef GAPLINE_ANALYSE_RUN_OP_WORDS_H
#define GAPLINE_ANALYSE_RUN_OP_WORDS_H

#include "trace/trace.h"

/* A kernel's name without what it returns, template and arguments: what people call it. Returns its length; *text moves
 * to its begin. Names in [brackets], those of copies, memsets and graphs, stay whole. */
size_t op_words_short(const char **text);

/* A family that a kernel's name says it is of ("gemm kernels"), else its own name as above. In `arena`, or constant. */
const char *op_words_kernel(const char *name, struct arena *arena);

/* The kind of op `i`: its kernel's, as above; of a copy its direction ("copies to the device"). In `arena`, or
 * constant. */
const char *op_words_kind(const struct trace *trace, size_t i, struct arena *arena);

#endif
