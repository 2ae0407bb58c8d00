/* A lane of a timeline: coloured segments on a time axis, at any density. What is at least a few pixels wide is a
 * rectangle of its own with a hover text; what is at least one pixel wide is drawn at full height; what is narrower is
 * summed up by pixel column, and the height of the column says how much of it is covered, its colour by what most. So
 * nothing wider than a pixel disappears, and the number of elements is bounded by the number of pixels. */
#ifndef GAPLINE_RENDER_LANE_H
#define GAPLINE_RENDER_LANE_H

#include "render/svg.h"

struct segment {
	int64_t start, end;
	int which; /* palette */
	uint32_t name, phase, call;
	uint32_t group; /* labels of gaps join pieces of one gap only */
	uint32_t stream;
	int64_t launch_start, launch_end; /* of the op's launch; both -1: unknown or not an op */
	double level;                     /* of a counter: how high it stands, 0 to 1 */
};

enum lane_kind { LANE_PHASES, LANE_CALLS, LANE_STREAM, LANE_COPIES, LANE_METRIC, LANE_GAPS };

struct lane {
	enum lane_kind kind;
	const char *label;
	const char *note; /* of gaps: idle time a step; of counters: what was not sampled; NULL: nothing */
	uint32_t device;  /* of streams, copies, counters and gaps: index into timeline.devices */
	struct segment *segments;
	uint32_t n;
	bool minor; /* next to nothing happens in it: it would look empty */
	double y, height;
};

/* Where time runs: from `x` on, `px` pixels a nanosecond, cut at `width`. */
struct axis {
	double x, width, px;
	int64_t length; /* what lies outside [0, length) is cut off */
};

/* How many rectangles with hover texts lane_draw would make. */
uint32_t lane_count(const struct lane *lane, const struct axis *axis, double least);

/* Draws into `parent`. `least`: pixels from which on a segment has a hover text. */
void lane_draw(const struct analysis *analysis, const struct lane *lane, const struct axis *axis, double least,
               struct arena *arena, xmlNode *parent);

#endif
