/* A stand-in for the CUDA driver (libcuda.so.1) and CUPTI (libcupti.so.13), for tests on machines without a GPU. The
 * driver loads the library that CUDA_INJECTION64_PATH names, as the real one does; CUPTI hands out records that a test
 * program orders through the fake_* functions below. What it answers is set by the environment:
 *
 *	FAKE_DRIVER      version of the driver: 13000
 *	FAKE_CUPTI       version of CUPTI: 130001
 *	FAKE_SUBSCRIBE   result of subscribing: 0
 *	FAKE_OTHER       who is subscribed already
 *	FAKE_REFUSE      an activity kind that cannot be enabled (53: graphs that kernels launch)
 *	FAKE_NO_CALLBACK  a resource callback that cannot be enabled
 *	FAKE_DROPPED     records said to be dropped, once
 *	FAKE_EXACT       records are as long as CUPTI 13.0 makes them; else some lengths are this fake's own
 *
 *	FAKE_RECORD      what cuCtxRecordEvent returns, or cuCtxSynchronize where the driver is an old one
 *	FAKE_QUERY       what cuEventQuery returns
 *	FAKE_HANG        cuDeviceGetCount never returns
 *
 * CUPTI's functions end the process if they are called in a forked child; the driver's answer that it is not
 * initialised there. A primary context that would be made by being asked for ends the process. */
#ifndef GAPLINE_TESTS_FAKE_CUDA_H
#define GAPLINE_TESTS_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

/* What happens around a graph: its capture begins; a call is captured, which makes the node `node`; it is instantiated,
 * which makes `node` as a copy of `original`; it is launched, and the kernel of the next launch is `node`. Or a graph
 * is instantiated that has the graph of `original` as its child, FAKE_CHILDREN times: `node` and those behind it are
 * the copies, which get other numbers while it becomes ready. Every second one is destroyed then, as it copies memory.
 */
enum fake_graph { FAKE_BEGIN, FAKE_CAPTURE, FAKE_INSTANTIATE, FAKE_REPLAY, FAKE_CHILD };
enum { FAKE_CHILDREN = 300 };

struct fake {
	/* One launch: a runtime call and its kernel, written into the calling program's buffer. */
	void (*launch)(const char *kernel, uint64_t start, uint64_t end);
	/* Gets a buffer as CUPTI does; NULL when the library declines. */
	void *(*buffer)(void);
	/* Calls the subscriber: cuProfilerStart (1) or -Stop (0). */
	void (*profiler)(int start);
	/* What the driver calls around a launch: the subscriber, if it wants cuLaunchKernel, as it begins and as it
	 * ends. */
	void (*launched)(void);
	/* The same of a call that begins a stream's capture (1), or ends it (0). */
	void (*captures)(int begins);
	/* Graphs, with the calls and callbacks that belong to it. Nodes are small numbers, and not what CUPTI calls
	 * them.
	 */
	void (*graph)(enum fake_graph what, uintptr_t node, uintptr_t original);
	/* A call that allocates device memory, or frees it, where that is recorded. */
	void (*memory)(int freed, uint64_t address, uint64_t bytes);
	/* Kinds that are on, as text: "5 4 1 …", in the order in which they were enabled. */
	const char *(*kinds)(void);
	/* The record sizes of this fake. */
	uint32_t kernel_bytes, api_bytes;
};

/* The driver's side: queues that only know when they will be empty. Contexts 0 and 1 are the primary ones of the two
 * devices, 2 is one that the program made. */
struct fake_driver {
	void (*use)(int context);              /* makes it active, and the calling thread's */
	void (*work)(int context, int64_t ns); /* submits work; < 0: that never ends */
	void (*drain)(int context);            /* what the program's own synchronisation does */
	int64_t (*empty_at)(int context);      /* on CLOCK_MONOTONIC, ns: when all that was submitted is done */
	int (*capture)(int begins);            /* a graph capture begins or ends; returns how many were broken so far */
	int (*left)(void);                     /* events and references to contexts that were not given back */
	int (*uses)(void);                     /* calls of cuDeviceGetCount */
};

#endif
