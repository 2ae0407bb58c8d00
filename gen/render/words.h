/* The verdict in sentences, for a page and for a terminal alike. All results are arena texts in plain UTF-8. */
#ifndef GAPLINE_RENDER_WORDS_H
#define GAPLINE_RENDER_WORDS_H

#include "analyse/analysis.h"
#include "base/format.h"

const char *words_result(const struct analysis *analysis); /* "Faster" */

/* "2.30× faster: 55.64 -> 24.22 ms per step, 95 % CI 2.22 to 2.38×, one run per side." */
const char *words_verdict(const struct analysis *analysis, struct arena *arena);

/* What differs where the work is different, as the facts of headlines call it: "work", "result", or "no". */
const char *words_differs(const struct analysis *analysis);

/* "0.750× for all steps together": where the steps of one side are more by so much that all of them go the other way
 * than one does; else NULL. */
const struct fact *words_in_all(const struct analysis *analysis, struct arena *arena);

/* "Faster 2.30×", "Faster 3.11× to 10.4× while profiled", "Slower 0.67×, with other work". */
const char *words_heading(const struct analysis *analysis, struct arena *arena);

/* What became of a finding, "resolved"; where that is not known, the side on which it was seen, "in the baseline". */
const char *words_status(const struct finding *finding);
const char *words_side(const struct finding *finding); /* "in the baseline", "in the fixed side", "on both sides" */

/* Whether the ends of the interval are more than 1.3 apart: they are said in the speedup's place. */
bool words_wide(const struct verdict *verdict);

/* Whether no more than an end of the interval is promised, "at least 1.05×": runs ended as soon as it had a direction.
 */
bool words_promises(const struct verdict *verdict);

/* What stands behind the heading: "95 % CI 2.22 to 2.38×", without numbers where it is wide; or why there is none. */
const char *words_interval(const struct analysis *analysis, struct arena *arena);

/* "18.0 -> 41.3 steps per second, GPU busy 43.4 % -> 99.1 %."; of ranks that do nothing but communicate for a while,
 * "GPU computing or copying 41.2 % -> 87.0 %, only communicating or waiting for it 58.1 % -> 12.3 %."; "" where there
 * is nothing to compare */
const char *words_rates(const struct analysis *analysis, struct arena *arena);

/* "vectorAdd 2.31 -> 0.066 ms (34.9x), once per side; ….": the three longest kernels that both sides have, of runs
 * without steps; else "" */
const char *words_once(const struct analysis *analysis, struct arena *arena);

/* Every fact that could turn the result round, a sentence each, the gravest first; but for the work and the conditions,
 * whose differences have a place of their own. Every output shows all of them. */
const char **words_doubts(const struct analysis *analysis, struct arena *arena, size_t *n);

/* "At most 1.12× more: launches in backward."; what would settle an open verdict; what is left to wait for, or that
 * the kernels are left. */
const char *words_next(const struct analysis *analysis, struct arena *arena);

const char *words_no_change(const struct analysis *analysis,
                            struct arena *arena); /* where words_change has nothing to say */

/* A part's name for a reader: "idle: host_code in data_load" -> "idle, host code in data_load". */
const char *words_part(const struct analysis *analysis, struct arena *arena, const struct waterfall_part *part);

/* What was profiled, where the headline is of timed runs: "7.14× while profiled: a step of the baseline takes 64 % more
 * (1.58 -> 2.57 ms), one of the fixed side 6.2 % more (0.339 -> 0.360 ms)."; "" elsewhere. */
const char *words_recorded(const struct analysis *analysis, struct arena *arena);

/* "55.64 -> 24.22 ms per step", of the times */
const struct fact *words_per(const struct analysis *analysis, const char *times, struct arena *arena);

/* A part that explains the change: why_waits, why_idle or why_work. */
const struct fact *words_reason(const struct analysis *analysis, const struct reason *reason, struct arena *arena);

/* Where the slowest steps of a side wait: slowest_steps or slowest_few; NULL: not known, or they are no longer. */
const struct fact *words_slowest(const struct analysis *analysis, uint32_t side, struct arena *arena);

/* What is not named, and its largest part: why_rest. */
const struct fact *words_rest(const struct analysis *analysis, struct arena *arena);

/* What changed most in the verdict's direction: "GPU waits for host code in data_load: 31.04 -> 0 ms per step."; ""
 * when there is no direction. */
const char *words_change(const struct analysis *analysis, struct arena *arena);

/* What an inconclusive result would take: "These runs could have shown a change of 9 %. At
 * least 40 measured steps per side would settle it."; "" if nothing. */
const char *words_more(const struct analysis *analysis, struct arena *arena);

/* What the result was made with and from: "gapline 0.1.0 on NVIDIA H100 80GB HBM3, from 5 timed runs (no profiler) and
 * 1 profiled run per side." */
const char *words_made(const struct analysis *analysis, struct arena *arena);

const char *words_gate(const struct analysis *analysis, struct arena *arena);       /* "" when none was asked for */
const char *words_comparable(const struct analysis *analysis, struct arena *arena); /* "Same work" */

/* That both programs printed the same numbers; "" where they did not, which is a difference, or nobody asked. */
const char *words_same_result(const struct analysis *analysis, struct arena *arena);
const char *words_diagnosis(const struct analysis *analysis, struct arena *arena);

/* "31.04 -> 0.02 ms": both in the unit that fits the larger one, with an arrow U+2192. */
const char *words_pair(struct arena *arena, double before, double after);

#endif
