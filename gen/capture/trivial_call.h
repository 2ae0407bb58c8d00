/* Which CUDA calls a profile leaves out: those that only ask for a number or set one, take a fraction of a microsecond
 * and come by the thousand (PyTorch asks cudaGetDevice twice a launch). nsys leaves them out by default
 * (CUDA_SKIP_SOME_API_CALLS), and profiles of both collectors are to show the same calls. The list: what nsys 2025.3
 * does not show of programs that CUPTI saw make these calls, and calls of the same nature. */
#ifndef GAPLINE_CAPTURE_TRIVIAL_CALL_H
#define GAPLINE_CAPTURE_TRIVIAL_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the call is one of them. `name` as CUPTI gives it: "cudaGetDevice_v3020", "cuDeviceTotalMem_v2". */
bool trivial_call(const char *name, size_t n);

#endif
