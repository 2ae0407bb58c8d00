/* The file that a profile lies in, packed or not. */
#ifndef GAPLINE_READ_SOURCE_H
#define GAPLINE_READ_SOURCE_H

#include "base/file.h"
#include "base/meter.h"
#include "base/unpack.h"

#include <stdbool.h>

struct source {
	enum packing packing;
	struct file_head head; /* the beginning of what is in it; see unpack_look */
	bool sqlite;           /* begins as a SQLite database does (https://www.sqlite.org/fileformat2.html) */
	int unpacked;          /* a packed database: descriptor of it, unpacked, without a name; else -1 */
	struct meter whole, unpacking, reading; /* reading: for db_meter */
};

static const char SOURCE_SQLITE[] = "SQLite format 3"; /* its NUL belongs to it */

/* Looks at the file, and unpacks it when it is a packed database. `meter` (may be NULL) counts bytes of the file. 0, or
 * -1 with `err`: missing, unreadable, no regular file; damaged or cut off. source_close in any case. */
int source_open(struct source *source, const char *path, struct meter *meter, struct err *err);

/* Takes it that the file was read: the rest of its bytes counts as done. */
void source_close(struct source *source);

#endif
