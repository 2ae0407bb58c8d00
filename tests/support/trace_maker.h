/* Builds a struct trace in memory, row by row, for tests: what a reader would have read from a profile.
 *
 *	struct maker m;
 *	maker_init(&m, &arena, &names);
 *	uint32_t process = maker_process(&m, 100), main = maker_thread(&m, process, 100);
 *	uint32_t gpu = maker_device(&m, process, 0, TRACE_NONE);
 *	maker_launch(&m, main, 10, 14, "cudaLaunchKernel", CALL_LAUNCH, 1);
 *	maker_op(&m, gpu, 7, OP_KERNEL, 20, 50, "gemm", 1);
 *	const struct trace *trace = maker_link(&m);
 *
 * Rows may come in any order. A correlation id of 0 joins nothing. Everything lives in the arena. */
#ifndef GAPLINE_TESTS_TRACE_MAKER_H
#define GAPLINE_TESTS_TRACE_MAKER_H

#include "trace/trace.h"

struct maker {
	struct arena *arena;
	struct names *names;
	struct trace *trace;
};

void maker_init(struct maker *m, struct arena *arena, struct names *names);

uint32_t maker_process(struct maker *m, int64_t pid);
uint32_t maker_thread(struct maker *m, uint32_t process, int64_t tid);
uint32_t maker_gpu(struct maker *m, const char *name);

/* `gpu`: from maker_gpu, or TRACE_NONE where the profile does not tell. */
uint32_t maker_device(struct maker *m, uint32_t process, uint32_t ordinal, uint32_t gpu);

/* A GPU op; returns its row, valid until maker_link, so that a test can set bytes, copy kind and flags. */
size_t maker_op(struct maker *m, uint32_t device, uint32_t stream, enum op_kind kind, int64_t start, int64_t end,
                const char *name, uint32_t correlation);

/* Makes an op the node of a graph that the call with this id made; 0: not known. */
void maker_created(struct maker *m, size_t op, uint32_t correlation);

void maker_call(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, enum call_class class,
                uint32_t correlation);

/* A range; domain "" is the default one. */
void maker_range(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, const char *domain,
                 enum range_kind kind);
/* A call of NCCL with a payload, beside its range; see struct trace_comm_calls. */
void maker_comm_call(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, int64_t comm,
                     int64_t bytes, uint32_t peer, uint32_t rank, uint32_t ranks);
void maker_os_call(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, enum os_class class);
void maker_overhead(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name,
                    enum overhead_class class);

/* Waiting for the interpreter's lock, which `holder` has, in `stack` as in maker_sample; NULL: not known. Stretches of
 * a thread must not overlap. */
void maker_gil(struct maker *m, uint32_t thread, int64_t start, int64_t end, uint32_t holder, const char *stack);

/* A slice of time on a processor; those of a thread must not overlap. */
void maker_slice(struct maker *m, uint32_t thread, int64_t start, int64_t end);

/* Device memory that is allocated; levels come by device and time, and those of a device do not overlap. */
void maker_level(struct maker *m, uint32_t device, int64_t start, int64_t end, int64_t bytes);

/* A sample of a thread: functions as they called each other, the outermost first, "main > work"; "" is no stack. A word
 * in brackets is a module without symbols, "?" a frame of which nothing is known, "!" a stack that is broken there. */
void maker_sample(struct maker *m, uint32_t thread, int64_t time, const char *stack);

/* Sorts and joins (trace_link), fills the source; the trace is constant from then on. */
const struct trace *maker_link(struct maker *m);

/* The whole trace with every time multiplied by `factor`, linked; shares names with `trace`. */
const struct trace *maker_scaled(struct arena *arena, const struct trace *trace, int64_t factor);

#endif
