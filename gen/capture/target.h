/* The program between nsys and the target: gapline itself, started again. nsys starts the target in a session of its
 * own, puts pipes in front of its output and turns its end into a number. So gapline has nsys start
 *
 *	gapline --target NOTES DESCRIPTORS -- COMMAND…
 *
 * which gives the target the descriptors that gapline itself has (nsys's own words stay apart from the target's), waits
 * for it, and notes in the file NOTES what became of it. */
#ifndef GAPLINE_CAPTURE_TARGET_H
#define GAPLINE_CAPTURE_TARGET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TARGET_ARGUMENT "--target"

enum { TARGET_DESCRIPTORS = 3 }; /* standard input, output and error */

/* What to put in front of the target's command, and the descriptors that have to stay open until it has started. */
struct target_plan {
	const char **argv;
	int fds[TARGET_DESCRIPTORS];
};

/* `fds` are duplicated; target_release closes the duplicates. */
void target_plan(struct target_plan *plan, const char *self, const char *notes, const int fds[TARGET_DESCRIPTORS],
                 const char *const *command, struct arena *arena);
void target_release(struct target_plan *plan);

/* The notes. */
struct target_notes {
	pid_t pid, group; /* 0: it was never started */
	pid_t launcher;   /* gapline between nsys and the target */
	bool own_output;  /* it has the descriptors; else its output goes where nsys lets it go */
	bool ended;       /* then `status` is waitpid's */
	int status;
	int problem;              /* errno, when it could not be started */
	int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};
void target_read_notes(const char *notes, struct target_notes *out);

/* The main of `gapline --target …`: argv[0] is TARGET_ARGUMENT. Returns what the target returned. */
int target_main(int argc, char **argv);

#endif
