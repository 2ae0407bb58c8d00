/* What Nsight Compute measured of the kernels: section and picture of the page, for machines, for a terminal. Without a
 * report of it there is nothing but the command that makes one, where the GPU is the bottleneck. */
#ifndef GAPLINE_RENDER_INSIDE_H
#define GAPLINE_RENDER_INSIDE_H

#include "analyse/analysis.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "render/page.h"

/* The section of the page, and the commands below its table of kernels. */
void inside_fill(const struct analysis *analysis, struct unit unit, struct page *page);

/* The member "kernels_inside" of the document; nothing without reports and commands. */
void inside_json(const struct analysis *analysis, struct json *json);

/* How it was measured and how much of the kernels' time that is: a sentence or two. */
const char *inside_coverage(const struct analysis *analysis, struct arena *arena);

/* "SM 41.2 %, memory 88.0 %, DRAM 85.1 %, occupancy 93.0 % limited by registers; stalls: long scoreboard 61 %"; a dash
 * for what is not known. Of a kernel that was measured. */
const char *inside_numbers(const struct kernel_inside *kernel, struct arena *arena);

/* "relu(float *), 16384×1×1 by 256×1×1". */
const char *inside_name(const struct analysis *analysis, const struct kernel_pair *pair, unsigned most,
                        struct arena *arena);

#endif
