/* The device that a workload runs on. */
#ifndef WORKLOADS_COMMON_GPU_H
#define WORKLOADS_COMMON_GPU_H

/* Selects device `ordinal` and copies its name, at most `size` bytes with the NUL, into `name`. Where there are not
 * `needed` usable GPUs: one line on stderr that begins with `program` (NULL: nothing), and exit status EXIT_GPU. */
void gpu_open(const char *program, int ordinal, int needed, char *name, int size);

#endif
