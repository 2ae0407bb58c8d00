/* What a workload's exit status says. */
#ifndef WORKLOADS_COMMON_STATUS_H
#define WORKLOADS_COMMON_STATUS_H

/* Exit statuses of all workloads. */
enum {
	EXIT_WRONG_RESULT = 1, /* the program ran, but what it computed is not right */
	EXIT_USAGE = 2,        /* wrong options */
	EXIT_GPU = 3           /* no usable GPU, or a CUDA call failed */
};

#endif
