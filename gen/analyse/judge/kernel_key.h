/* What a kernel is called where two builds of one program are compared: its name without what changes when the source
 * around it is edited or another variant of it is instantiated.
 *
 *	void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64>(Params)	cutlass::Kernel2
 *	main_145_gpu, main_145_gpu__red (OpenACC: the source line)		main_gpu, main_gpu__red
 *	nvkernel_main_F1L145_2 (OpenMP, nvc)					nvkernel_main
 *	__omp_offloading_10305_a1b2c3_solve_l88 (OpenMP, clang)		__omp_offloading_solve
 *	main$_omp_fn$0 (OpenMP, gcc)						main$_omp_fn
 *	triton_poi_fused_add_12 (the compiler's count of kernels)		triton_poi_fused_add */
#ifndef GAPLINE_ANALYSE_JUDGE_KERNEL_KEY_H
#define GAPLINE_ANALYSE_JUDGE_KERNEL_KEY_H

#include "base/arena.h"

#include <stdbool.h>

/* Never fails: a name that is understood in no other way is its own key. The result lives in the arena, or is `name`.
 */
const char *kernel_key(struct arena *arena, const char *name);

/* Whether kernels of that name only set, copy or convert values, or take a loss's scale from its gradients (PyTorch's
 * GradScaler): a program that runs fewer of them may not have needed them. */
bool kernel_key_fills(const char *name);

/* Whether the name of a kernel says that it works on numbers of 16 bits. */
bool kernel_key_halves(const char *name);

/* Whether it is a copy as a node of a graph that CUDA makes with a kernel (memcpy32_post). */
bool kernel_key_copies(const char *name);

#endif
