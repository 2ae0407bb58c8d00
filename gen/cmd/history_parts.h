/* The parts of `gapline history`. */
#ifndef GAPLINE_CMD_HISTORY_PARTS_H
#define GAPLINE_CMD_HISTORY_PARTS_H

#include "analyse/analyse.h"
#include "base/output.h"
#include "cmd/result.h"
#include "cmd/saving.h"

enum { HISTORY_HTML, HISTORY_JSON, HISTORY_OUTPUTS };

struct history {
	const char *db, *commit, *time, *title;
	const char *paths[HISTORY_OUTPUTS]; /* NULL: not asked for */
	double least;                       /* percent; 0: as usual */
	bool force, quiet;
	struct analyse_options analysis;
	struct result result; /* of add; report has a document of its own */
	struct output out;
	struct saving saving;
};

/* "2026-11-22T09:14:53+01:00" (RFC 3339; git's %cI) or "1795335293" -> seconds since 1970. -1 with `err`. */
int history_time(const char *text, int64_t *seconds, struct err *err);

/* Reads all commits, writes what was asked for and prints the changes. An enum cmd_status; what goes wrong is printed.
 */
int history_report(struct history *h);

#endif
