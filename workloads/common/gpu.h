/* The device that a workload runs on. */
#ifndef WORKLOADS_COMMON_GPU_H
#define WORKLOADS_COMMON_GPU_H

/* Selects device 0 and copies its name, at most `size` bytes with the NUL, into `name`. Where there is no usable GPU:
 * a message on stderr that begins with `program`, and exit status EXIT_GPU. */
void gpu_open(const char *program, char *name, int size);

#endif
