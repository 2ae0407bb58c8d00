/* nsys reports among the inputs: an nsys that is found makes of each the export that can be read. */
#ifndef GAPLINE_CMD_INPUTS_EXPORT_H
#define GAPLINE_CMD_INPUTS_EXPORT_H

#include "base/arena.h"
#include "base/err.h"
#include "cmd/inputs.h"
#include "trace/ncu.h"

/* Says unless `quiet` what was passed over, then exports every nsys report of `n` sides that inputs_find left (one with
 * a younger export beside it is none of them) with `nsys export`, and says so on stderr unless `quiet`: a line each,
 * and how far it is on a terminal. Exports go to $TMPDIR, else /var/tmp or /tmp, and have no name any more once they
 * are made, so that nothing is left however the command ends; a signal meanwhile ends nsys, removes what it wrote and
 * ends gapline. Reports are left as they are where no nsys is found, and so is a file that is only named like one (a
 * pointer of Git LFS, an empty file): reading it says what to do. CMD_DONE, or CMD_BAD_PROFILE with `err`: it cannot be
 * exported; with nsys's words, and the command to try. */
int inputs_export(struct inputs *sides, size_t n, bool quiet, struct arena *arena, struct err *err);

/* The same before they are read: then `progress` has begun, for the caller to end. */
struct progress;
int inputs_begin(struct inputs *sides, size_t n, bool quiet, struct progress *progress, struct arena *arena,
                 struct err *err);

/* A report of Nsight Compute that the user named. */

/* Reads the CSV at `path`; one that only ncu can read (.ncu-rep) through an ncu on PATH. -1 with `err`, which says the
 * command to run where there is none. */
int ncu_input_read(const char *path, struct names *names, struct arena *arena, struct ncu_report *report,
                   struct err *err);

#endif
