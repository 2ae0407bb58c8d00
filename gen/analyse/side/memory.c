#include "analyse/side/memory.h"

static const char *const why[] = {
	[MEMORY_NOT_SEEN] = ("allocations of device memory were not recorded (nsys profile --cuda-memory-usage=true) "
                             "for every GPU of every run"),
	[MEMORY_EARLIER] =
		("some device memory was there before allocations were recorded, so the peak is not known (record "
                 "the program from its start)"),
	[MEMORY_NO_PLACE] =
		("the program allocated managed memory, or memory of an unknown kind, which may be on the GPU "
                 "or on the host"),
	[MEMORY_DAMAGED] = "rows of the table of allocations make no sense, so the peak is not known",
	[MEMORY_NO_START] = ("nothing in the profile tells that recording began before the program's first allocation, "
                             "as where a window of it was recorded: memory from before would be missing (record the "
                             "program from its start, with nsys profile, and export all tables)"),
	[MEMORY_NO_END] =
		"some device memory was given back with its context, or by unmapping it, and the profile does "
		"not say how much of it and when",
};

struct side_memory memory_build(const struct run *runs, size_t n)
{
	struct side_memory out = {.known = n > 0};
	for (size_t r = 0; r < n; r++)
		for (uint32_t d = 0; d < runs[r].trace->n_devices; d++) {
			const struct trace_device *device = &runs[r].trace->devices[d];
			if (device->memory == MEMORY_SEEN) {
				out.peak = device->memory_peak > out.peak ? device->memory_peak : out.peak;
			} else if (out.known) {
				out.known = false;
				out.why = why[device->memory];
			}
		}
	if (!out.known)
		out.peak = 0;
	return out;
}
