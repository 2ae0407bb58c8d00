/* Where a finished profile goes: to the name that the user gave, with what stands in it filled in
 * (capture/command.h). */
#ifndef GAPLINE_CAPTURE_PLACE_H
#define GAPLINE_CAPTURE_PLACE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* The name with 0 for the process, which is known later: what folders are made beside. NULL with `err`: everything that
 * can be known to be wrong with the name before the program has run for nothing. */
const char *place_name(const char *pattern, bool replace, struct arena *arena, struct err *err);

/* Renames `profile`, which lies on the same file system. Without `replace`, a name that is taken by now, by a process
 * with the same number in another container, is left alone, and the profile is kept under a name beside it: then *other
 * is the name that was meant, else NULL. The name that it has; NULL with `err`. */
const char *place_profile(const char *profile, const char *pattern, pid_t pid, bool replace, const char **other,
                          struct arena *arena, struct err *err);

#endif
