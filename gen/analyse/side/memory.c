#include "analyse/side/memory.h"

/* Keys of the words "peak_unknown". */
static const char *const why[] = {
	[MEMORY_NOT_SEEN] = "not_seen", [MEMORY_EARLIER] = "earlier",   [MEMORY_NO_PLACE] = "no_place",
	[MEMORY_DAMAGED] = "damaged",   [MEMORY_NO_START] = "no_start", [MEMORY_NO_END] = "no_end"};

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
