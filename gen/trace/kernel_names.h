/* What a kernel is called where two builds of one program are compared: its name without what changes when the source
 * around it is edited or another variant of it is instantiated.
 *
 *	void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64>(Params)	cutlass::Kernel2
 *	main_145_gpu, main_145_gpu__red (OpenACC: the source line)		main_gpu, main_gpu__red
 *	nvkernel_main_F1L145_2 (OpenMP, nvc)					nvkernel_main
 *	__omp_offloading_10305_a1b2c3_solve_l88 (OpenMP, clang)		__omp_offloading_solve
 *	main$_omp_fn$0 (OpenMP, gcc)						main$_omp_fn
 *	triton_poi_fused_add_12 (the compiler's count of kernels)		triton_poi_fused_add */
#ifndef GAPLINE_TRACE_KERNEL_NAMES_H
#define GAPLINE_TRACE_KERNEL_NAMES_H

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

/* One kernel's name as several demanglers spell it. A PyTorch trace has the names of the C++ runtime, everything of
 * NVIDIA those of its own demangler:
 *
 *	void ns::fill<4, ns::f(int)::{lambda(float)#1}, ns::list<char*, 2ul> >(int, ns::list<char*, 2ul>)
 *	void ns::fill<(int)4, ns::f(int)::[lambda(float) (instance 1)], ns::list<char *, (unsigned long)2>>(int, T3)
 */

/* The function's own name, "fill" of those above: what ncu --kernel-name-base function compares with, and what it calls
 * a kernel with --print-kernel-base function. A name that is no C++ is itself. The result lives in the arena. */
const char *kernel_function(struct arena *arena, const char *name);

/* Equal for all spellings of one kernel, and for nothing else but: parameters that differ where template arguments are
 * the same (they follow from those), "const", and types that a literal is cast to. The result lives in the arena. */
const char *kernel_spelling(struct arena *arena, const char *name);

/* A spelling without the namespaces in it. The result lives in the arena. */
const char *kernel_plain(struct arena *arena, const char *spelling);

/* Whether `less` is the spelling `full` without some of its namespaces: ncu simplifies names, and prints "at::fill<4>"
 * of "at::native::fill<4>". */
bool kernel_spelling_fits(const char *full, const char *less);

/* Whether the name says no more than the function's own: no namespace, template argument or parameter. */
bool kernel_name_is_bare(const char *name);

#endif
