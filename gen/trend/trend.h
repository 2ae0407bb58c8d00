/* Results over commits: what each commit's step took, and where that changed. */
#ifndef GAPLINE_TREND_TREND_H
#define GAPLINE_TREND_TREND_H

#include "analyse/analysis.h"
#include "trend/changes.h"

/* Changes of less are not told, whatever the noise: what a step takes also depends on where memory happens to lie. */
#define TREND_LEAST 0.01

enum { TREND_LEARNING = 50 }; /* commits at one level, from which on four at another one are proven */

enum trend_part { TREND_COMPUTE, TREND_COMM, TREND_COPY, TREND_IDLE, TREND_PARTS };

struct trend_phase {
	const char *name;
	double cost; /* ns a step */
};

/* What one commit's runs say. Times are ns a step; of a run where there are no steps. */
struct trend_commit {
	const char *name;
	bool has_time;
	int64_t time; /* seconds since 1970 */
	uint32_t runs;
	bool stopwatch;           /* `step` is of the runs without a profiler, else of the recorded ones */
	double step;              /* mean over runs, … */
	double least, most;       /* … of which these are the shortest and the longest */
	double part[TREND_PARTS]; /* of the recorded step: they add up to it */
	double energy;            /* J a step, of the runs without a profiler; 0: not known */
	struct trend_phase *phases;
	uint32_t n_phases;
	const char *driver; /* "" where it is not known */
	const char *unused; /* why its profiles say nothing; else NULL. Nothing below its time is filled then */
	const char *note;   /* what else its reader has to know; NULL: nothing */
	const char *like;   /* GPUs, step and way of measuring: only commits that agree in it are compared */
};

/* A change of level, in numbers that a reader asks for; `at` and `found` of struct change are places in the series. */
struct trend_change {
	struct change change;
	double before, after;                     /* medians of the levels, ns a step */
	double part[2][TREND_PARTS];              /* medians of the parts, before and after */
	const char *phase;                        /* the one whose cost changed most in the change's direction; NULL */
	double phase_before, phase_after;         /* medians of what it costs */
	const char *driver_before, *driver_after; /* where the driver changed between the two commits; else NULL */
};

/* Energy of those commits that say it. */
struct trend_energy {
	uint32_t *commit; /* indices into trend.commits, in order */
	size_t n;
	struct changes changes;
	double level; /* median since the last change, J a step */
};

/* Commits that can be compared. */
struct trend_series {
	const char *like;
	uint32_t *commit; /* indices into trend.commits, in order */
	size_t n;
	struct trend_change *changes;
	size_t n_changes;
	double noise; /* relative spread about the levels; 0: not known */
	double drift; /* of the last level, a share from one commit to the next; 0: none */
	double level; /* median of the last level, ns a step; where it drifts, as at the last commit */
	size_t since; /* the place at which it begins */
	struct trend_energy energy;
};

/* The latest two commits as a report judges them, where too few are there for a change of the level. */
struct trend_pair {
	const char *before, *after;
	const char *result;     /* "faster" …, as in a report's JSON */
	const char *said;       /* the verdict in words, or why there is none */
	double speedup, lo, hi; /* NAN: there is none */
};

struct trend {
	const char *title;                  /* NULL: none */
	double least;                       /* changes of less are not told, a share */
	const struct trend_commit *commits; /* in their order */
	size_t n_commits;
	struct trend_series *series;   /* the one of the latest commit first */
	const struct trend_pair *last; /* of the first series; NULL: the levels say it, or there is one commit */
	size_t n_series;
};

/* What an analysis of one side says of a commit, or why it proves nothing (`unused`); `commit` has its name and time.
 * Texts are copied. */
void trend_measure(const struct analysis *one, struct arena *arena, struct trend_commit *commit);

/* Puts commits together that can be compared, and finds their changes of `least` (a share, 0.01) and more. */
struct trend trend_build(const struct trend_commit *commits, size_t n, double least, struct arena *arena);

#endif
