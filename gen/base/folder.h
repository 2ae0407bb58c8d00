/* Folders that gapline makes for itself. */
#ifndef GAPLINE_BASE_FOLDER_H
#define GAPLINE_BASE_FOLDER_H

#include "base/arena.h"
#include "base/err.h"

/* A new, empty, private folder beside the file `path`, hidden, on the same file system, so that what is made in it can
 * be renamed to `path`. NULL with `err`. */
const char *folder_beside(const char *path, struct arena *arena, struct err *err);

/* A folder that folder_beside made for `path` in a process that was killed before it could remove it, or that kept it:
 * ours, and locked by nobody. NULL: there is none, or it cannot be told (a file system without locks). Where there are
 * several, the one whose name comes first. */
const char *folder_left(const char *path, struct arena *arena);

/* The folder, made by folder_beside, stays when this process ends, also where memory runs out. */
void folder_keep(const char *path);

/* Removes the folder and all that is in it, links not followed. What cannot be removed stays. */
void folder_remove(const char *path);

#endif
