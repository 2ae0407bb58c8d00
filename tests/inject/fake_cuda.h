/* A stand-in for the CUDA driver (libcuda.so.1) and CUPTI (libcupti.so.13), for tests on machines without a GPU. The
 * driver loads the library that CUDA_INJECTION64_PATH names, as the real one does; CUPTI hands out records that a test
 * program orders through the fake_* functions below. What it answers is set by the environment:
 *
 *	FAKE_DRIVER      version of the driver: 13000
 *	FAKE_CUPTI       version of CUPTI: 130001
 *	FAKE_SUBSCRIBE   result of subscribing: 0
 *	FAKE_OTHER       who is subscribed already
 *	FAKE_REFUSE      an activity kind that cannot be enabled (53: graphs that kernels launch)
 *	FAKE_DROPPED     records said to be dropped, once
 *	FAKE_EXACT       records are as long as CUPTI 13.0 makes them; else some lengths are this fake's own
 *
 * CUPTI's functions end the process if they are called in a forked child. */
#ifndef GAPLINE_TESTS_FAKE_CUDA_H
#define GAPLINE_TESTS_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct fake {
	/* One launch: a runtime call and its kernel, written into the calling program's buffer. */
	void (*launch)(const char *kernel, uint64_t start, uint64_t end);
	/* Gets a buffer as CUPTI does; NULL when the library declines. */
	void *(*buffer)(void);
	/* Calls the subscriber: cuProfilerStart (1) or -Stop (0). */
	void (*profiler)(int start);
	/* Kinds that are on, as text: "5 4 1 …", in the order in which they were enabled. */
	const char *(*kinds)(void);
	/* The record sizes of this fake. */
	uint32_t kernel_bytes, api_bytes;
};

#endif
