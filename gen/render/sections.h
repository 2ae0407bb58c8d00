/* The sections of the page, each filled from what the analysis says, and what other outputs say of the same in words
 * or in the JSON. `unit`: of the times in them. All words are the arena's, in plain UTF-8. */
#ifndef GAPLINE_RENDER_SECTIONS_H
#define GAPLINE_RENDER_SECTIONS_H

#include "analyse/analysis.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "render/page.h"

/* The first screen: what happened, on which runs it rests, why, and what next; of one profile how long a step takes,
 * and what would pay. */
void card_fill(const struct analysis *analysis, struct page *page);

/* Which file is of which run and rank, and what says so: a fold, where a side has several files. */
void files_fill(const struct analysis *analysis, struct page *page);

/* What lies before the first step: a bar of each side on one scale, and its parts in a table; left out where no profile
 * says what the programs did then. */
void startup_fill(const struct analysis *analysis, struct page *page);

/* Step times: the picture, the table, and the runs. */
void step_times_fill(const struct analysis *a, struct unit unit, struct page *page);
bool step_times_several(const struct analysis *a); /* a side has more than one recorded run */

/* Several devices beside each other, with a picture of their steps. */
void ranks_fill(const struct analysis *analysis, struct unit unit, struct page *page);

/* How fast the GPUs ran: the table of the environment. */
void clocks_fill(const struct analysis *analysis, struct page *page);

/* "SM 1755 (1710 to 1980) MHz, …, 64 °C (40 samples under load); held back by: power cap in 60.0 %"; "" when nothing is
 * known. */
const char *clocks_words(const struct clocks *clocks, struct arena *arena);

/* Hardware counters of the GPUs; nothing without samples. The JSON: the member "metrics" of a device. */
void hardware_fill(const struct analysis *analysis, struct page *page);
void hardware_json(const struct analysis *analysis, const struct metrics *metrics, struct json *json);

/* "While it is busy, its SMs are active 88.3 % of the time, …": a sentence; "" without samples. */
const char *hardware_words(const struct metrics *metrics, struct arena *arena);

/* "33 % of the time not sampled", of the share that is `known` (0 to 1); NULL: less than half a percent is missing. */
const char *hardware_missing(double known, struct arena *arena);

/* What the host was doing while the GPU waited: tables of functions and their picture; gone where neither side has
 * samples. The JSON: the key `functions`. */
void functions_fill(const struct analysis *analysis, struct unit unit, struct page *page);
void functions_json(const struct analysis *analysis, struct json *json);

/* How many samples there are, and what is not known of them; "" where there are none. */
const char *functions_said(const struct analysis *analysis, int side, struct arena *arena);

/* What Nsight Compute measured of the kernels. Without a report of it there is nothing but the command that makes one,
 * where the GPU is the bottleneck. The JSON: the member "kernels_inside". */
void inside_fill(const struct analysis *analysis, struct unit unit, struct page *page);
void inside_json(const struct analysis *analysis, struct json *json);

/* What stands below the tables of operators, with their roofline, and of modules: for how much of the GPU's time what
 * is known. */
void known_operators_fill(const struct analysis *analysis, struct page *page);
void known_modules_fill(const struct analysis *analysis, struct page *page);

/* How it was measured and how much of the kernels' time that is: a sentence or two. */
/* That it did not measure the kernel that explains the change; "" where it did. */
const char *inside_missing(const struct analysis *analysis, struct arena *arena);

const char *inside_coverage(const struct analysis *analysis, struct arena *arena);

/* "SM 41.2 %, memory 88.0 %, DRAM 85.1 %, occupancy 93.0 % limited by registers; stalls: long scoreboard 61 %"; a dash
 * for what is not known. Of a kernel that was measured. */
const char *inside_numbers(const struct kernel_inside *kernel, struct arena *arena);

/* "relu(float *), 16384×1×1 by 256×1×1". */
const char *inside_name(const struct analysis *analysis, const struct kernel_pair *pair, unsigned most,
                        struct arena *arena);

/* What is in CUDA graphs that were traced whole, estimated; nothing where no run has their nodes. The JSON: the member
 * "graphs_inside". */
void graphs_fill(const struct analysis *analysis, struct unit unit, struct page *page);
void graphs_json(const struct analysis *analysis, struct json *json);

/* "Baseline, graph 2, 1 per step, measured"; and the name of a part of it, as it is shown. */
const char *graphs_title(const struct analysis *analysis, int side, const struct graph_inside *graph,
                         struct arena *arena);
const char *graphs_name(const struct analysis *analysis, const struct graph_share *share, enum graph_share_of of,
                        struct arena *arena);

/* The tables: both sides joined, baseline, fixed and change. Long ones have the exact sum of what they do not show at
 * first, and then those rows, which a reader opens. tables_begin comes first: how much room there is for such rows,
 * which the tables after it share in their order. */
void tables_begin(const struct analysis *analysis, struct page *page);
void tables_budget(const struct analysis *analysis, struct unit unit, struct page *page);
void tables_phases(const struct analysis *analysis, struct unit unit, struct page *page);
void tables_idle(const struct analysis *analysis, struct unit unit, struct page *page);
void tables_work(const struct analysis *analysis, struct unit unit, struct page *page); /* kernels, API, copies */

/* A cell of a table that sorts: what it says, and the number that it is sorted by, of any unit that its column shares.
 */
void tables_number(struct scope *scope, const char *name, const char *text, double number);

/* A change's cell: text, and a class for its direction. */
void tables_change(struct scope *scope, const char *name, const char *text, double change);

/* Where a side's steps come from, in words: what was found, how much of the GPU's work it is, what lies before it. All
 * results are arena texts in plain UTF-8. */

/* "steps found from the repeating sequence of 547 GPU operations, 60 times, 97 % of the GPU's work", and where that is
 * so "; 24 shorter repetitions were taken as one step"; for steps that are ranges "97 % of the GPU's work". */
const char *evidence_of(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* Whether its steps are those that gapline told by the optimizers'. */
bool evidence_by_optimizer(const struct analysis *analysis, const struct side *side);

/* "step_#: 24 steps, 3 left out as warm-up, 21 measured; 98.1 % of the GPU's work", of all runs of a side. */
const char *evidence_steps(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* "gemm + softmax: 200 × 4.11 ms, 61 % of the GPU's work, judged". */
const char *evidence_loop(const struct analysis *analysis, const struct loop_result *loop, struct arena *arena);

/* All loops of a side in one line. */
const char *evidence_loops(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* The start-up with the three parts that are longest: "3.29 -> 3.27 s: before CUDA 2.10 -> 2.08 s, module load, JIT
 * 0.40
 * -> 0.41 s, …"; NULL where no side knows it. */
const char *evidence_startup(const struct analysis *analysis, struct arena *arena);

#endif
