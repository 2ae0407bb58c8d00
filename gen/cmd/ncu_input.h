/* A report of Nsight Compute that the user named. */
#ifndef GAPLINE_CMD_NCU_INPUT_H
#define GAPLINE_CMD_NCU_INPUT_H

#include "base/arena.h"
#include "base/err.h"
#include "trace/ncu.h"

/* Reads the CSV at `path`; one that only ncu can read (.ncu-rep) through an ncu on PATH. -1 with `err`, which says the
 * command to run where there is none. */
int ncu_input_read(const char *path, struct names *names, struct arena *arena, struct ncu_report *report,
                   struct err *err);

#endif
