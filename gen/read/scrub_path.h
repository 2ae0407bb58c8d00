/* Paths of files within texts: they tell about a machine. Not all that has slashes is one: "forward/backward", "T1/T2",
 * and operators of an ONNX graph, "/backbone/block.0/Conv", are names and stay. A path is what begins with a folder
 * that holds files on common machines ("/home", "/mnt") or in the profile's own metadata, or with '~' (also somebody's,
 * "~bob/"), "//" or a drive's letter, or what ends as names of files do (".py"). */
#ifndef GAPLINE_READ_SCRUB_PATH_H
#define GAPLINE_READ_SCRUB_PATH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* First parts of paths that the metadata holds. */
struct scrub_roots {
	const char *names[200]; /* more are not learned */
	size_t n;
};

static inline bool scrub_path_is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* The first parts of all absolute paths in a text of the metadata; each is looked at as a path. */
void scrub_path_learn(struct scrub_roots *roots, struct arena *arena, const char *bytes, size_t n);

/* What can stand in a part of a path. */
bool scrub_path_is_part(unsigned char c);

/* The length of the folder of the absolute path that begins at `at`; 0 when none begins there: two parts or more, and
 * nothing before it that it could belong to. The last part does not belong to the folder, unless it is a home folder or
 * the path ends with a separator. */
size_t scrub_path_folder(const struct scrub_roots *roots, const char *bytes, size_t n, size_t at);

#endif
