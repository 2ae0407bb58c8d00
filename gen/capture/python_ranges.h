/* NVTX ranges for a PyTorch program that has none: a Python module (gen/inject/python) that Python finds by itself when
 * it starts, because its folder is first on PYTHONPATH. It undoes that at once and waits for torch; a program without
 * torch runs as ever. */
#ifndef GAPLINE_CAPTURE_PYTHON_RANGES_H
#define GAPLINE_CAPTURE_PYTHON_RANGES_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* RANGES_AUTO: for commands that are Python programs by their first line or name (python3, torchrun, a script that
 * begins with #! and python). RANGES_PYTORCH: for any command: what it starts may be one. RANGES_MODULES: likewise, and
 * of every module, which costs time in each call of one. */
enum ranges_how { RANGES_AUTO, RANGES_PYTORCH, RANGES_MODULES, RANGES_NONE };

/* Whether the program gets them. -1 with `err`: they were asked for by name, and the module is not here. */
int python_ranges_wanted(enum ranges_how how, const char *const *command, bool *wanted, struct arena *arena,
                         struct err *err);

/* `environment` (ends with NULL; may be NULL) with what makes Python find the module. `folder` is for the file in which
 * its processes say what they did. `modules`: ranges of every module, too. */
const char *const *python_ranges_environment(const char *const *environment, const char *folder, bool modules,
                                             struct arena *arena);

/* What the processes said; all 0 when there was nothing to add ranges to. */
struct python_ranges {
	int64_t steps;     /* of all processes */
	int64_t own_ns;    /* what adding the ranges took, by the module's own clock */
	const char *error; /* why one stopped adding them, harmless text; NULL: none did */
};
void python_ranges_read(const char *folder, struct arena *arena, struct python_ranges *out);

#endif
