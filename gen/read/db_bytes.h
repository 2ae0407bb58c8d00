/* A whole database as bytes. */
#ifndef GAPLINE_READ_DB_BYTES_H
#define GAPLINE_READ_DB_BYTES_H

#include <sqlite3.h>
#include <stddef.h>

/* The main database of a connection, as its file would be; sqlite3_free gives it back. NULL: it does not fit into
 * memory, or is larger than SQLite copies at once (2 GB). */
unsigned char *db_bytes(sqlite3 *db, size_t *n);

#endif
