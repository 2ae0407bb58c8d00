/* SQLite on a descriptor instead of a path: for files without a name, and for those whose name may come to stand for
 * another. Read-only, and taken not to change. */
#ifndef GAPLINE_READ_DB_VFS_H
#define GAPLINE_READ_DB_VFS_H

#include <sqlite3.h>
#include <stddef.h>

const char *db_vfs(void);

/* A whole database as bytes. */

/* The main database of a connection, as its file would be; sqlite3_free gives it back. NULL: it does not fit into
 * memory, or is larger than SQLite copies at once (2 GB). */
unsigned char *db_bytes(sqlite3 *db, size_t *n);

#endif
