/* What is left of a capture when gapline itself was killed (SIGKILL, out of memory), or had no room for the profile: a
 *folder of gapline's beside the profile's name (base/folder.h), in it what gapline's library had written of the program
 *(capture/spool.h), and a note of how the capture began. From the two a profile can still be made.
 *
 * The note is the file capture.json of the folder:
 *
 *	{ "schema": "gapline-capture/1", "gapline": "0.1.0", "collector": "cupti", "pid": 4242,
 *	  "start_ns": 81000000000, "start_utc_ns": 1795000000000000000, "trace": "cuda,nvtx", "graphs": "graph",
 *	  "host": "orca17", "job": { "RANK": "0" } }
 *
 * pid: gapline's own; start_ns: CLOCK_MONOTONIC just before the program was started, time 0 of the profile;
 * start_utc_ns: the same instant since 1970; job: variables of the launcher (base/launcher.h). */
#ifndef GAPLINE_CAPTURE_RECOVER_H
#define GAPLINE_CAPTURE_RECOVER_H

#include "capture/capture.h"

/* Puts the note into job->folder, before the program is started; `trace` as in capture/annotate.h. -1 with `err`. */
int recover_note(const struct collector_job *job, const char *trace, struct err *err);

/* What can be done with such a folder that folder_left found for the name `pattern`, as the end of a sentence. */
const char *recover_offer(const char *folder, const char *pattern, struct arena *arena);

/* Lets go of the folder of a capture whose profile could not be written, so that it stays, and says in `err` what makes
 * a profile of it later; false: nothing can. The room that the unfinished profile took is freed. */
bool recover_keep(const struct collector_job *job, const char *pattern, struct err *err);

struct recover_request {
	const char *file; /* the profile, as it was given to the capture that left it: with %q{…}, %p, %h */
	bool replace;     /* an existing file; else it is an error */
	const char *version;
};

/* Makes a profile of what a capture to that name left, and removes the folder. What is missing from it stands in
 * result->complete, and so in the profile. -1 with `err`: nothing was left, it is of another collector, its program
 * still runs, or no profile can be made of it; then the folder stays. */
int capture_recover(const struct recover_request *request, struct arena *arena, struct capture_result *result,
                    struct err *err);

#endif
