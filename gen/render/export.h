/* Runs as an SQLite database: steps, gaps, kernels, copies, calls, ranges and what is said of them, many runs in one
 * file. The tables are in docs/reference/export.md.
 *
 *	export_begin(&e, &err)
 *	export_run(&e, &analysis, &run, &err)    for each run, whose analysis has its side's events
 *	export_end(&e, &err)                     then e.bytes and e.n
 *	export_release(&e)                       always */
#ifndef GAPLINE_RENDER_EXPORT_H
#define GAPLINE_RENDER_EXPORT_H

#include "analyse/analysis.h"
#include "base/err.h"

#include <sqlite3.h>

enum export_table {
	EXPORT_NAMES,
	EXPORT_RUNS,
	EXPORT_FILES,
	EXPORT_DEVICES,
	EXPORT_STEPS,
	EXPORT_PHASES,
	EXPORT_PHASE_SPANS,
	EXPORT_GAPS,
	EXPORT_KERNELS,
	EXPORT_COPIES,
	EXPORT_CALLS,
	EXPORT_RANGES,
	EXPORT_COLLECTIVES,
	EXPORT_RANKS,
	EXPORT_FINDINGS,
	EXPORT_FACTS,
	EXPORT_TABLES
};
extern const char *const export_table_names[EXPORT_TABLES];

struct export_run {
	const struct side_file *files; /* of the run, its ranks */
	uint32_t n_files;
};

struct export
{
	sqlite3 *db;
	sqlite3_stmt *insert[EXPORT_TABLES];
	sqlite3_stmt *find_name;
	int64_t rows[EXPORT_TABLES];
	int64_t run; /* of the run at hand, from 1 */
	int failed;  /* SQLite's first error; SQLITE_OK: none */
	unsigned char *bytes;
	size_t n;
};

int export_begin(struct export *e, struct err *err);
int export_run(struct export *e, const struct analysis *analysis, const struct export_run *run, struct err *err);
int export_end(struct export *e, struct err *err);
void export_release(struct export *e);

#endif
