/* A copy of a profile that can be shared: what the analysis and nsys's own reports use stays as it is, and what tells
 * about a machine and its people (environment, host, user, paths, command lines, other processes, and every table and
 * column that scrub_parts.h does not name) is not in it. The copy is a new database, so that nothing of the original
 * is left in free pages.
 *
 * Names that a result shows (ranges, kernels, threads) stay; where one holds a file's absolute path, or the host or
 * user that the profile's metadata names, that part is masked (scrub_text.c), and the result differs in that name. */
#ifndef GAPLINE_READ_SCRUB_H
#define GAPLINE_READ_SCRUB_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scrub_request {
	const char *path;        /* an SQLite export of nsys or a profile of gapline's, plain or packed; or run.json */
	const char *const *hide; /* more words to mask */
	size_t n_hide;
	bool keep_stacks; /* samples of threads too: which functions they were in, the modules' base names, and names of
	                     threads that others waited for */
	struct meter *meter; /* counts bytes of the file; NULL: not wanted */
};

struct scrub_copy {
	unsigned char *bytes; /* an SQLite database, or run.json; scrub_release gives it back */
	size_t n;
	size_t masked; /* different texts that are not what they were */
	bool is_run;   /* of run.json, whose texts no result shows */
	/* What is not in it. Names of tables are borrowed from the arena. */
	const char **left_out; /* tables, but for nsys's enumerations */
	size_t n_left_out;
	/* rows of kept tables; `events`: of other sources than the GPU's counters */
	int64_t options, processes, threads, diagnostics, events, strings;
};

/* 0, or -1 with `err`: the file is of another format, cannot be read (in the words of a report, which would not read it
 * either), or is too large to copy. The input is never written to. Needs memory for about twice the copy. */
int scrub_profile(const struct scrub_request *request, struct arena *arena, struct scrub_copy *copy, struct err *err);

void scrub_release(struct scrub_copy *copy);

#endif
