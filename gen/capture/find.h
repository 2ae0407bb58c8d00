/* What is installed here that can capture. Looks at file names only; loads and runs nothing. Paths are absolute, in the
 * arena. */
#ifndef GAPLINE_CAPTURE_FIND_H
#define GAPLINE_CAPTURE_FIND_H

#include "base/arena.h"

/* The path of this very program. NULL: not known. */
const char *find_self(struct arena *arena);

/* A command as execvp would find it: with a slash as it is, else on PATH. NULL: not there. */
const char *find_on_path(const char *command, struct arena *arena);

/* nsys: the one that $GAPLINE_NSYS names, on PATH, or where NVIDIA's installers put it, newest version first; Nsight
 * Compute brings one, too. NULL: there is none. */
const char *find_nsys(struct arena *arena);

/* A library of gapline that is loaded into programs ("libgapline-cupti.so"): in inject/ beside the program (where it is
 * built), else in ../lib/gapline (where it is installed). NULL: not there. */
const char *find_library(const char *name, struct arena *arena);

/* A CUPTI that the program `command` could use: named by $GAPLINE_CUPTI, on LD_LIBRARY_PATH, in the CUDA toolkit, in a
 * system folder, or in the Python installation that the command belongs to. NULL: none in the usual places, which does
 * not mean that there is none. */
const char *find_cupti(const char *command, struct arena *arena);

#endif
