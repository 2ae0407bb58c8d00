/* A spool (capture/spool.h) -> a profile: an SQLite file with the tables and columns of an nsys export (2025 layout),
 * so that gapline, nsys stats and everything else that reads those exports read ours. */
#ifndef GAPLINE_CAPTURE_CONVERT_H
#define GAPLINE_CAPTURE_CONVERT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct convert_request {
	const char *spool;    /* the spool folder */
	const char *profile;  /* the file to write; appears whole or not at all, an existing file is replaced */
	int64_t start_ns;     /* CLOCK_MONOTONIC of the profile's time 0 */
	int64_t start_utc_ns; /* the same instant since 1970 */
	int64_t stop_ns;      /* CLOCK_MONOTONIC when the target had ended */
	const char *version;  /* of gapline */
};

/* What became of it, for the messages of the command. Texts are the arena's. */
struct convert_result {
	size_t processes;                     /* with CUDA or NVTX events */
	int64_t ops, calls, ranges, os_calls; /* rows written */
	int64_t dropped;                      /* records that CUPTI or the libraries lost … */
	int64_t dropped_events;     /* … and of these, those of threads: ranges, calls of the host, samples */
	int64_t samples;            /* of Python's frames, rows written … */
	int64_t samples_torn;       /* … and such that could not be read */
	int64_t native_asked;       /* of those that are written or kept: what was called was looked for … */
	int64_t native_missed;      /* … and not found out */
	int64_t native_interrupted; /* calls of the program that looking for it cut short */
	int64_t sample_ns;          /* mean distance of two of them that was asked for, 0: none was */
	int64_t skipped;            /* records that made no sense and were left out */
	size_t incomplete;          /* processes whose spool has no end: killed, crashed, or left by _exit */
	const char *empty;     /* a clause about a process whose spool has no event and no end; NULL: there is none */
	const char *unwritten; /* the same about one that could not write its spool, and why; NULL: there is none */
	const char *cupti;     /* "13.0.1" of the (first) process, "" if none was loaded */
	const char *graphs;    /* "graph" or "node": how CUDA graphs were traced; NULL if no CUPTI was loaded */
	const char **messages; /* what the libraries had to say, each once, worst first */
	size_t n_messages;
	int worst;       /* enum spool_severity of the worst message, 0 if none */
	bool unwritable; /* it failed because the profile could not be written */
};

/* 0; -1 with `err`: the folder cannot be read, a file in it is no spool, the profile cannot be written, or a process's
 * records are of an unknown layout. A spool that ends in the middle of a block is used up to there. A spool folder
 * without any file gives an empty result and no profile: the target never used CUDA or NVTX, or the libraries were not
 * loaded into it. */
int convert_spool(const struct convert_request *request, struct arena *arena, struct convert_result *result,
                  struct err *err);

#endif
