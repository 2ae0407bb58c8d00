/* The numbers of the rules of evidence in one table; docs/method/verdict.md, "What may be compared with what", says why
 * each is what it is, with its simulation. Logs unless it says otherwise. */
#ifndef GAPLINE_VERDICT_EVIDENCE_H
#define GAPLINE_VERDICT_EVIDENCE_H

#include <math.h>
#include <stdint.h>

/* What the near end of the interval must lie beyond for a direction: of one run per side, of several, and of a short
 * capture; and how much further out than the 95 % half-width, where steps vary much: about 99 % with the ten terms of a
 * run of 60 steps. */
#define LN_FLOOR_ONE log(1.03)
#define LN_FLOOR_SEVERAL log(1.005)
#define LN_FLOOR_SHORT log(1.10)
#define EVIDENCE_SURER 0.4

/* What sides that are not exchangeable may differ by, whatever was fixed, as a half-width: 2.33 √2 times 2.3 %, which
 * sessions differ by (days 2 %, hosts 1 %). */
#define EVIDENCE_APART 0.075

#define EVIDENCE_PAUSE (INT64_C(3600) * 1000000000)    /* ns: a longer pause between two runs parts sessions */
#define EVIDENCE_DAY (INT64_C(20) * 3600 * 1000000000) /* ns: sessions so far apart are of other days */

/* From so many sessions of one side on what they differ by takes the place of APART: Student's t at SESSIONS_SURE, of a
 * mean that one more session is held against. */
enum { EVIDENCE_SESSIONS = 4 };
#define EVIDENCE_SESSIONS_SURE 0.99
#define EVIDENCE_SESSIONS_FAR 1.5 /* times as far from the nearest as two neighbours of them are: too far */

/* Σ (t − t̄)² of the ranks t of all runs over those within the sides: above it the sides were not measured in turns. */
#define EVIDENCE_ENTANGLED 1.5

/* Runs of each side from which on the larger of both variances serves for both: runs that fall into two states are
 * given a false direction in at most 2.5 instead of 2.8 % of the pairs. */
enum { EVIDENCE_SEVERAL = 3 };

/* As many runs as it takes: the first look at so many runs of each side, one more after each further pair, and the
 * last. By runs of each side: how many standard errors of the difference a direction and a gate need, how many the
 * interval that is shown has, and how many times too small a standard error of so few runs may be (in one of ten). The
 * error that is spent by n runs is (n / 15)^1.5 of all: 2 % for directions, 5 % for the interval. */
enum { EVIDENCE_FIRST_LOOK = 4, EVIDENCE_LAST_LOOK = 15, EVIDENCE_FORESEEN = 6 };
#define EVIDENCE_LOOKS                                                                                                 \
	{                                                                                                              \
		{4.225, 3.479, 1.330}, {4.023, 3.367, 1.291}, {3.690, 3.116, 1.264}, {3.427, 2.926, 1.243},            \
			{3.252, 2.779, 1.226}, {3.125, 2.667, 1.213}, {3.015, 2.570, 1.201}, {2.929, 2.494, 1.192},    \
			{2.850, 2.423, 1.183}, {2.784, 2.357, 1.176}, {2.725, 2.303, 1.169}, {2.674, 2.252, 1.164},    \
	}

/* Controls of one and two runs per side: of the GPU time, and of the launches where the GPU waits more than so much of
 * a step for the host, at least this share has to be in common. */
#define EVIDENCE_CONTROLS (1.0 / 3)
#define EVIDENCE_WAITS 0.2

/* What one or two runs per side cannot tell of the state in which they were made, besides what the controls tell:
 * √(STATE² + (STATE_PACE w)² + (STATE_ALONE a)² + (STATE_CODE p)²), with p the log by which the pace moves the speedup,
 * for code between other launches is not held up in just the same way (tests/cmd/check_paces.py), w the smaller share
 * of a step in which the GPU waits for the host, and a what of it is not between launches, of whose pace those tell
 * nothing: a sort on the host took 1.41 times as long in one run, minutes from the other, where launches took 0.9
 * times. Nothing where w and what the GPU's kernels differ by are at most STILL_HOST and STILL_GPU. In quadrature with
 * what steps vary by: of 186 pairs of like runs on four hosts (tests/cmd/check_like_runs.py, check_paces.py) none
 * leaves out 1, and with STATE_PACE .03 some do. One of those runs took 1.9 times as long as another: where launches
 * come further apart than twice, PACE_MOST of a step, the program is another one. */
#define EVIDENCE_STATE 0.03
#define EVIDENCE_STATE_PACE 0.04
#define EVIDENCE_STATE_ALONE 0.35
#define EVIDENCE_PACE_MOST 0.5
#define EVIDENCE_STATE_CODE 0.2
#define EVIDENCE_ARRIVAL                                                                                               \
	20e3 /* ns from a launch to its kernel on an idle GPU: what is more is somebody else's turn                    \
	      */
#define EVIDENCE_STATE_MOST 0.75 /* of a step that all of this takes away */
#define EVIDENCE_STILL_GPU 0.003
#define EVIDENCE_STILL_HOST 0.02

/* Where nothing tells the state, √(APART² + (UNSEEN_PACE w)²) in its place, w being the larger share: such runs fall
 * into states 4 to 6 % apart, and how long the GPU waits differs more. */
#define EVIDENCE_UNSEEN_PACE 0.3

/* Rows of a step: what may move one between two single runs, of the row: a clock the GPU's work, and the host, the link
 * and the scheduler the rest (54 pairs of like runs on an H100: 5 % of 400 rows moved by more). The least part of the
 * step's change that a row must have to be named as its reason, by how many half-widths, and the part of the change
 * that is enough to be explained. */
#define EVIDENCE_ROW_CLOCK 0.03
#define EVIDENCE_ROW_HOST 0.25
#define EVIDENCE_ROW_PART 0.1
#define EVIDENCE_ROW_CLEAR 1.125
#define EVIDENCE_ROW_ENOUGH (2.0 / 3)

/* Nobody is told to make more runs of each side than this, or to record more times as many steps as there are. */
enum { EVIDENCE_WORTHWHILE = 20 };

/* Recordings that cannot be true: shares of the launches of the measured steps that are lost, and of the collectives of
 * two runs that meet; of their recorded time what kernels take without a profiler at least (0.92 was seen), and what
 * recording a node of a graph, and a kernel by itself, may take the GPU, ns. */
#define EVIDENCE_LOST 0.01
#define EVIDENCE_MEETING 0.8
#define EVIDENCE_FASTER_ALONE 0.85
#define EVIDENCE_PER_NODE 2000.0
#define EVIDENCE_PER_LAUNCH 500.0

/* Standard errors by which what the last look will find may differ from what is seen, one way, in one of ten. */
#define EVIDENCE_TENTH 1.2816

#endif
