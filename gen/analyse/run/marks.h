/* NVTX ranges as marks of steps: the first to propose a loop (run_find_steps). */
#ifndef GAPLINE_ANALYSE_RUN_MARKS_H
#define GAPLINE_ANALYSE_RUN_MARKS_H

#include "analyse/run/fold.h"
#include "analyse/run/steps.h"

/* Proposes a range whose instances are steps: a normalised name (and domain) of a process with at least 5 instances, at
 * least 80 % of which launch GPU work, such that at least 70 % of the GPU time that the process launches from the first
 * to the last was launched, by any thread, while one was open, and that, added up over the processes that have such a
 * range, what is launched from the first to the last is at least half of the GPU time of the profile. The one with the
 * longest total on one thread wins, names whose instances do not overlap on any thread before others. GPU time is the
 * lengths of ops, added up.
 *
 * On several threads of a process only those count that launch GPU work themselves in at least half of their instances;
 * if none does, the one with the longest total. Push/pop ranges inside one of the same name count with the outermost.
 *
 * `wanted` (--step NAME: a range's name, normalised or as written) overrides the choice and may be NULL. out->n is 0
 * when there is no such range; with `wanted` that is an error: -1, and `err` lists ranges that are there. */
int marks_from_ranges(const struct trace *trace, const struct fold *fold, const char *wanted, struct arena *arena,
                      struct step_marks *out, struct err *err);

/* What one part of a run says of it (trace/again.h): the ranges that are steps by all rules above but the half of the
 * GPU time, which is that of all parts. */
struct marks_candidate {
	uint32_t name, domain, written; /* as in struct step_marks */
	int64_t total;                  /* the longest on one thread */
	double stretch;                 /* GPU time launched from the first to the last */
	bool overlap;
	uint8_t grade;             /* enum mark_grade (marks_ranges.h) */
	struct instance *instance; /* n of them; process and thread as the part counts them */
	uint32_t n;
};
struct marks_part {
	double whole; /* GPU time */
	bool added;   /* one of its ranges is a step that gapline added */
	struct marks_candidate *list;
	size_t n;
};
void marks_of_part(const struct trace *trace, const struct fold *fold, struct arena *arena, struct marks_part *out);

/* The one that marks_from_ranges would take of the whole run; NULL: none. Without `share` the half of the GPU time is
 * not asked for. */
const struct marks_candidate *marks_choose(const struct marks_part *parts, size_t n, bool share,
                                           const struct names *names);

/* Proposes the range that is the step of another run, whose steps `like` are: it has to be one by all rules above but
 * the half of the profile's GPU time, which the other run's range holds, and with two instances or more. A fix may make
 * the steps so much shorter that they are less than the program's start-up, and one run of several may have ended
 * early. out->n is 0 where there is no such range. Before run_name_steps of either run. */
void marks_from_range_like(const struct trace *trace, const struct fold *fold, const struct steps *like,
                           struct arena *arena, struct step_marks *out);

#endif
