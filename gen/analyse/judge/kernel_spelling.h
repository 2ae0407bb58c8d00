/* One kernel's name as several demanglers spell it. A PyTorch trace has the names of the C++ runtime, everything of
 * NVIDIA those of its own demangler:
 *
 *	void ns::fill<4, ns::f(int)::{lambda(float)#1}, ns::list<char*, 2ul> >(int, ns::list<char*, 2ul>)
 *	void ns::fill<(int)4, ns::f(int)::[lambda(float) (instance 1)], ns::list<char *, (unsigned long)2>>(int, T3)
 */
#ifndef GAPLINE_ANALYSE_JUDGE_KERNEL_SPELLING_H
#define GAPLINE_ANALYSE_JUDGE_KERNEL_SPELLING_H

#include "base/arena.h"

#include <stdbool.h>

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
