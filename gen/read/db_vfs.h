/* SQLite on a descriptor instead of a path: for files without a name, and for those whose name may come to stand for
 * another. Read-only, and taken not to change. */
#ifndef GAPLINE_READ_DB_VFS_H
#define GAPLINE_READ_DB_VFS_H

/* The name of the VFS (https://www.sqlite.org/vfs.html) whose file names are numbers of descriptors. They are neither
 * closed nor moved, so that several connections, in several threads, can read the same one. NULL when there is no
 * memory for it; SQLite then says that it cannot open the file. */
const char *db_vfs(void);

#endif
