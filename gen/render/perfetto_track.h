/* A track of a trace viewer, in which events must nest: what overlaps otherwise goes to further rows of it. */
#ifndef GAPLINE_RENDER_PERFETTO_TRACK_H
#define GAPLINE_RENDER_PERFETTO_TRACK_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRACK_ROWS = 64 }; /* more are no help to a reader, and every event would have to look at all of them */

struct track_row {
	int64_t *end; /* of the events that are open, the outermost first */
	size_t n, room;
};

struct perfetto_track {
	struct arena *arena;
	bool nested; /* what lies within another event is a part of it (calls, ranges); else it only overlaps (GPU work)
	              */
	uint32_t n;
	struct track_row rows[TRACK_ROWS];
};

/* The row for an event, an index; rows begin to be used in their order. Events come sorted by their start, and nested
 * ones that start together with the longest first. TRACK_ROWS: there is none. */
uint32_t perfetto_track_add(struct perfetto_track *track, int64_t start, int64_t end);

#endif
