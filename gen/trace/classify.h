/* What a name means. Called once per distinct name, not per row. Names come without version suffix. */
#ifndef GAPLINE_TRACE_CLASSIFY_H
#define GAPLINE_TRACE_CLASSIFY_H

#include "trace/trace.h"

/* A kernel of a communication library: NCCL (ncclKernel…, ncclDevKernel…, also inside a longer name), RCCL, NVSHMEM,
 * DeepEP, PyTorch's and vLLM's one-shot/two-shot/custom all-reduce kernels. */
bool classify_comm(const char *kernel);

/* Whether a communication kernel of this name is of an operation that no rank can leave before all have entered:
 * all-reduce, all-gather, reduce-scatter, all-to-all; not broadcast, reduce, send and receive. */
bool classify_synchronising(const char *kernel);

/* A kernel of a loss or an optimizer, as PyTorch, Apex, TensorFlow and hand-written programs name them. */
bool classify_update(const char *kernel);

/* A kernel that looks an input up (an embedding), or picks a result, as PyTorch names them: of such there is one in a
 * pass of a model, and none in a layer. */
bool classify_lookup(const char *kernel);

/* CUDA runtime or driver API. */
enum call_class classify_call(const char *call);

/* True for a copy call that returns only when the copy is done, by its name: cudaMemcpy, cudaMemcpy2D,
 * cudaMemcpyToSymbol, cuMemcpyDtoH, … but not the …Async ones. */
bool classify_call_blocks(const char *call);

enum os_class classify_os(const char *call);

enum overhead_class classify_overhead(const char *name);

/* What names tell of GPU operations, of calls of the operating system and of overheads, while a row's name is still an
 * index of `text`: ids of `names`. `told`: by such an index, 0 at first; it keeps what was told of a name, for rows
 * that are made again. Calls are the caller's, who may have to strip versions; classify_told_calls tells those whose
 * names have none, and keeps it there too. */
void classify_rows(struct trace *trace, const struct names *names, const uint32_t *text, uint32_t *told);
void classify_told_calls(struct trace *trace, const struct names *names, const uint32_t *text, uint32_t *told);

/* The range of a step that gapline adds where a program marks none: from the end of an optimizer's step to the end of
 * the next one, by gen/inject/python while it is recorded, by read/kineto_steps.c of what PyTorch's profiler noted. */
#define STEP_ADDED "gapline: step"
#define OPTIMIZER_ADDED "optimizer" /* while it is recorded, around what an optimizer does */

#endif
