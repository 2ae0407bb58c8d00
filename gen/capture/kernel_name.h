/* Names of kernels as nsys shows them. CUPTI gives mangled names only; nsys demangles them in the style of NVIDIA's
 * cu++filt, which differs from the usual one in most names: literals carry their type, "(int)128"; parameters of a
 * function template stay "T1", "T2"; lambdas are "[lambda(int) (instance 1)]"; unnamed namespaces "<unnamed>".
 * Two profiles are compared by these names, so ours must equal nsys's to the byte. Source of the rules: the names in
 * real exports, and cu++filt's answers. Neither libiberty's demangler nor the C++ runtime's can take its place: of 351
 * names of kernels in the exports of the test suite they print 6 alike, and 282 hold "T1" or the like, which they
 * replace by what it stands for. */
#ifndef GAPLINE_CAPTURE_KERNEL_NAME_H
#define GAPLINE_CAPTURE_KERNEL_NAME_H

#include "base/arena.h"

/* "void at::native::elementwise_kernel<(int)128, (int)2, …>(int, T3)". A name that is not mangled, or not understood,
 * or whose text would be absurdly long, is returned as it is (the same pointer); never NULL. */
const char *kernel_name_demangled(struct arena *arena, const char *mangled);

/* The function's own name, without return type, namespaces, template arguments and parameters: "elementwise_kernel". */
const char *kernel_name_short(struct arena *arena, const char *mangled);

#endif
