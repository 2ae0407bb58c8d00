/* What GPU ops are called: a kernel's name as people say it, and the kind of work that an op is. */
#ifndef GAPLINE_STEPS_OP_NAMES_H
#define GAPLINE_STEPS_OP_NAMES_H

#include "trace/trace.h"

/* A kernel's name without what it returns, template and arguments: what people call it. Returns its length; *text moves
 * to its begin. Names in [brackets], those of copies, memsets and graphs, stay whole. */
size_t op_words_short(const char **text);

/* A family that a kernel's name says it is of ("gemm kernels"), else its own name as above. In `arena`, or constant. */
const char *op_words_kernel(const char *name, struct arena *arena);

/* The kind of op `i`: its kernel's, as above; of a copy its direction ("copies to the device"). In `arena`, or
 * constant. */
const char *op_words_kind(const struct trace *trace, size_t i, struct arena *arena);

/* Kernels that a program makes anew while it runs, under names that it counts: spec0, spec1, … */

/* By name id: of a kernel that is another version of one before it the name of the first, else the name itself.
 * Versions have names that differ in the number at the end, each is launched only after the one before, over as many
 * blocks, and takes as long. Variants that a program tries out take another time, and kernels of one step come in
 * turns. */
uint32_t *op_versions(const struct trace *trace, struct arena *arena);

/* What an op is: kernels by name, the rest by their kind, and which way copies go. */
struct work_kind {
	uint32_t name;
	uint8_t kind, copy, flags;
};
struct work_kinds {
	struct work_kind *list; /* in order of the ops */
	uint32_t n;
};
enum { WORK_KINDS = (OP_MEMSET + 1) * 32 }; /* of what is no kernel */

static inline struct work_kind work_kind_at(const struct trace_ops *ops, size_t i)
{
	return (struct work_kind){ops->name[i], ops->kind[i], ops->copy[i], ops->flags[i]};
}

/* Below WORK_KINDS, of what is no kernel. */
static inline uint32_t work_kind_number(const struct work_kind *op)
{
	return op->kind * 32u + (op->copy & 15u) * 2 + ((op->flags & OPF_MANAGED) != 0);
}

/* The kinds of a trace's ops, each once, in `arena`. */
struct work_kinds work_kinds_of(const struct trace *trace, struct arena *arena);

#endif
