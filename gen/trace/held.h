/* What a profile knows of the device memory that a process had allocated on a GPU: how much at every time, and of its
 * peak, who allocated it. */
#ifndef GAPLINE_TRACE_HELD_H
#define GAPLINE_TRACE_HELD_H

#include <stddef.h>
#include <stdint.h>

enum memory_known {
	MEMORY_NOT_SEEN, /* no allocation was recorded */
	MEMORY_SEEN,     /* all that was recorded adds up to a peak */
	MEMORY_EARLIER,  /* some was there before its allocation could be recorded */
	MEMORY_NO_PLACE, /* some may be on the device or on the host: managed memory, or of a kind that is not known */
	MEMORY_DAMAGED,  /* rows that make no sense */
	MEMORY_NO_START, /* nothing tells that recording began before the first allocation could be made */
	MEMORY_NO_END,   /* some was given back, and nothing says which or when: with a context, or unmapped */
	MEMORY_ALLOCATOR /* what PyTorch's caching allocator had handed out at most while it was recorded */
};

/* Of the peak: what was allocated in ranges of a name, the innermost of their thread; in PyTorch's operators of a name,
 * the outermost. */
enum held_by { HELD_BY_RANGE, HELD_BY_OPERATOR, HELD_BYS };
enum { HELD_MOST = 3 };
struct trace_held {
	int64_t bytes; /* 0: there is no such part */
	uint32_t name;
};

/* An allocation that was there at the peak. */
struct held_allocation {
	int64_t born, bytes;
	uint32_t process, thread; /* thread TRACE_NONE: the one of the process that was inside a CUDA call then */
	uint32_t in_operator;     /* 0: in none, or not known */
};

/* Device memory that was allocated, of the devices of which it is known at all times: by device and time, each level
 * from when it began until the next one does; for an instant where both are one. Before the first one nothing was. */
struct trace_levels {
	size_t n;
	int64_t *start, *end, *bytes;
	uint32_t *device; /* index into trace.devices */
};

struct trace;

/* Fills `held` of the device, the largest parts first, from all that was there, n of them, which it sorts. What was
 * allocated in no range, or in no operator, is in no part. Ranges and calls are in their order. Allocations that are
 * more than the device's memory_peak contradict it: there is no part then. */
void held_at_peak(struct trace *trace, uint32_t device, struct held_allocation *list, size_t n);

/* Adds a level behind those that there are, for which there is room (columns_resize). */
void held_add_level(struct trace *trace, uint32_t device, int64_t start, int64_t end, int64_t bytes);

/* The most bytes that were there at once in [start, end) on a device of the process; 0: none, or not known. */
int64_t held_most(const struct trace *trace, uint32_t process, int64_t start, int64_t end);

#endif
