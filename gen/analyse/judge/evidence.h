/* The numbers of the rules of evidence in one table; docs/verdict.md, "What may be compared with what", says why each
 * is what it is, with its simulation. Logs unless it says otherwise. */
#ifndef GAPLINE_ANALYSE_JUDGE_EVIDENCE_H
#define GAPLINE_ANALYSE_JUDGE_EVIDENCE_H

#include <stdint.h>

/* What sides that are not exchangeable may differ by, whatever was fixed, as a half-width: 2.33 √2 times 2.3 %, which
 * sessions differ by (days 2 %, hosts 1 %). */
#define EVIDENCE_APART 0.075

#define EVIDENCE_PAUSE (INT64_C(3600) * 1000000000)    /* ns: a longer pause between two runs parts sessions */
#define EVIDENCE_DAY (INT64_C(20) * 3600 * 1000000000) /* ns: sessions so far apart are of other days */

/* Σ (t − t̄)² of the ranks t of all runs over those within the sides: above it the sides were not measured in turns. */
#define EVIDENCE_ENTANGLED 1.5

/* Runs of each side from which on the larger of both variances serves for both: runs that fall into two states are
 * given a false direction in at most 2.5 instead of 2.8 % of the pairs. */
enum { EVIDENCE_SEVERAL = 3 };

#endif
