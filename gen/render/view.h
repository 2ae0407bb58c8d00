/* What several renderers say about an analysis in the same words: names for enums, small choices. */
#ifndef GAPLINE_RENDER_VIEW_H
#define GAPLINE_RENDER_VIEW_H

#include "analyse/analysis.h"
#include "base/buf.h"
#include "base/format.h"

/* A phase's name; id 0 is "(between phases)". */
const char *view_phase(const struct analysis *analysis, uint32_t phase);

/* What stands for a name in the attributes of rows and in the script's data: 12 digits made of its text (48 bits of
 * FNV-1a, in hexadecimal), so that it is the same whatever file the name was read from; "0" for id 0. */
const char *view_key(const struct analysis *analysis, uint32_t id, struct arena *arena);

/* Whether ranges divide either side's steps into phases; if not, everything is between phases, and need not say so. */
bool view_has_phases(const struct analysis *analysis);

/* What stands in front of a phase's name behind a cause: " in ", or " before " where phases are kinds of work. */
const char *view_inside(const struct analysis *analysis, struct arena *arena);

/* What stands behind a cause: " in data_load", " before gemm kernels", " between phases", or "" when nothing is divided
 * into phases. */
const char *view_in_phase(const struct analysis *analysis, uint32_t phase, struct arena *arena);

const char *view_copy_way(uint32_t way);                    /* of enum copy_kind and WAY_MEMSET: */
const char *view_copy_kind(const struct copy_result *copy); /* "h2d", "d2h", …, "memset": the JSON's word */
const char *view_call_class(enum call_class class);         /* "launch", "sync", … */
const char *view_source_kind(enum source_kind kind);        /* "nsys-sqlite", "gapline", "kineto" */
const char *view_graph_mode(enum graph_mode mode);          /* "none", "whole", "by_node" */

/* The unit of the report's tables. */
struct unit view_table_unit(const struct analysis *analysis);

/* A GPU's model; "unknown GPU" where the profile does not say. */
const char *view_gpu(const struct analysis *analysis, const struct device_result *device);

/* The GPUs of a side: "NVIDIA H100 80GB HBM3", "8 GPUs, the first: NVIDIA H100 80GB HBM3". */
const char *view_gpus(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* How a program's steps are marked, as its profile shows. */
enum view_marks {
	VIEW_MARKS_PROFILER, /* prof.step(): a trace of the PyTorch profiler */
	VIEW_MARKS_TORCH,    /* torch.cuda.nvtx: it runs PyTorch's kernels */
	VIEW_MARKS_NVTX      /* nvtxRangePush */
};
enum view_marks view_marks(const struct analysis *analysis, const struct side *side);

/* A side's name where it has one of its own: "baseline: train.py"; else "baseline". */
const char *view_side(const struct side *side, struct arena *arena);

/* "step", or "run" when the side has no steps: what "a …" and "per …" mean for it. */
const char *view_unit(const struct side *side);

/* The unit by which the sides are compared, behind a time: "per step", "per run", or "per token" where a step's items
 * are told; a time of a side in it, of one of its steps; and the unit of numbers like both sides' headlines. */
const char *view_item(const struct analysis *analysis, struct arena *arena); /* "token"; NULL: not told */
const char *view_each(const struct analysis *analysis, struct arena *arena);
double view_time(const struct side *side, double step);
struct unit view_time_unit(const struct analysis *analysis);

/* Whether both sides' times are of a step, or both of a run: else nothing is the change of anything. */
bool view_is_pair(const struct analysis *analysis);

/* What numbers of both sides are of: "per step"; "per step of the baseline, per run of the fixed side". */
const char *view_per(const struct analysis *analysis);

/* What a table shows, by its key: "Phases, ms per step". */
const char *view_caption(const struct analysis *analysis, const char *what, struct unit unit, struct arena *arena);

/* What a table leaves out: "and 7 more". */
const char *view_more(uint64_t n, struct arena *arena);

/* Appends the step tables of both sides as base64 (table/table.h); nothing where there are none, or too much. */
void view_evidence(const struct analysis *analysis, struct buf *to);

#endif
