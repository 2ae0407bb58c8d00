/* What the page's script draws: the lanes of both sides' timelines to the nanosecond, as JSON, deflated (zlib) and in
 * base64. The script reads it, and the page works without either.
 *
 *     {"names": ["…", …], "keys": [view_key, …],
 *      "palette": [{"class", "colour", "ink", "label", "striped", "marks" (a path, or null), "cause"}, …], "unit":
 * "step", "no_phase": "(between phases)", "outside": " between phases", "inside": " in " (what stands behind a cause),
 *      "opened": ["…", …], "saving": "3 steps take …" or null, "shorter": side,
 *      "sides": [{"label", "length", "boundary": [ns, …], "steps": [["step 12: 24.22 ms", "24.22 ms"], …], "least",
 *                 "lanes": [{"kind": "phases|calls|stream|copies|gaps", "label", "device",
 *                            "start": [ns since the segment before, …], "length": [ns, …], "which": [palette, …],
 *                            "name": [place in names from 1 on, 0: none, …], "phase": […], "call": […], "stream": […],
 *                            "wait": [ns from launch to start, −1: unknown, …], "launch": [ns inside the launch, …],
 *                            "group": [gap, …], "many": [segments joined into one, …], "busy": [ns of them, …]}, …],
 *                 "gaps": [{"device", "start", "length", "opened"}: columns likewise, …]}, …]}
 *
 * Columns that would hold one value only are that value. Where all segments would be too much, neighbours shorter than
 * `least` ns are joined. */
#ifndef GAPLINE_RENDER_DATA_H
#define GAPLINE_RENDER_DATA_H

#include "analyse/analysis.h"
#include "base/buf.h"
#include "base/err.h"

/* Appends to `out`. At most DATA_MOST characters. */
enum { DATA_MOST = 550 * 1024 };
int data_write(const struct analysis *analysis, struct buf *out, struct err *err);

#endif
