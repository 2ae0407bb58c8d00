/* Which files of a side are ranks of one run, and which are repeats. Only repeats are independent evidence: ranks taken
 * for repeats make any difference look proven, so that in doubt files count as ranks, and that is said. */
#ifndef GAPLINE_TRACE_RANKS_H
#define GAPLINE_TRACE_RANKS_H

#include "fact/fact.h"
#include "trace/trace.h"

enum ranks_asked { RANKS_TELL, RANKS_ARE_RANKS, RANKS_ARE_REPEATS };

struct ranks_file {
	const struct trace *trace;
	const char *name; /* base name of the file, harmless */
	uint32_t folder;  /* files of one folder that was given have one number; TRACE_NONE: given by itself */

	/* filled: */
	uint32_t run;   /* counted from 0 in the order in which files were given */
	int32_t rank;   /* as the profile or the file's name says; -1: neither does */
	bool named;     /* … it is the name that does */
	uint32_t place; /* among the files of its run: by rank, else by process id where the host is one, else as given
	                 */
	int64_t offset; /* ns to be added to its times: they count from the start of the run's earliest file */
};

struct ranks {
	uint32_t n_runs;
	bool careful;              /* nothing told that files which count as ranks are ranks, or that they are not */
	const struct fact *why;    /* what the files are, and how that was told; NULL: one file */
	const struct fact *reason; /* of it only the latter */
	const struct fact
		*note; /* what a reader has to know about that, or about ranks that are missing; NULL: nothing */
};

/* Files whose recorded times overlap (directly or through others) are ranks of one run; others are repeats. Different
 * jobs, where the profiles say which, are never one run. Where a file has no start time, jobs, names ("rank 3", "run
 * 2") and folders decide. n >= 1; facts come from `arena`. */
struct ranks ranks_tell(struct ranks_file *files, size_t n, enum ranks_asked asked, struct arena *arena);

/* Gives the process of the trace that has GPU work, if there is one such, the number `rank`, if it has none; and all of
 * several that use one GPU, as a rank that was started again does. -1: nobody. */
void ranks_number(struct trace *trace, int32_t rank);

#endif
