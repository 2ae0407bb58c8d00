/* Rows of a trace of the PyTorch profiler, as text: a launch and the kernel of one correlation. */
#ifndef GAPLINE_TESTS_KINETO_ROWS_H
#define GAPLINE_TESTS_KINETO_ROWS_H

#define CALL(ts, dur, id)                                                                                              \
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": 9, "          \
	"\"ts\": " ts ", \"dur\": " dur ", \"args\": {\"correlation\": " id "}}"
#define KERNEL(ts, dur, id)                                                                                            \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": " ts                 \
	", \"dur\": " dur ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " id "}}"

#endif
