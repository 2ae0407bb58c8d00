/* The file that a profile lies in, packed or not. It is opened once, and everything is read through that descriptor:
 * what is judged is the file that its name stood for then. */
#ifndef GAPLINE_READ_SOURCE_H
#define GAPLINE_READ_SOURCE_H

#include "base/file.h"
#include "base/meter.h"
#include "base/unpack.h"

#include <stdbool.h>
#include <sys/stat.h>

struct source {
	enum packing packing;
	struct file_head head; /* the beginning of what is in it; see unpack_begin */
	const char *path;
	int64_t packed_bytes;                   /* of the file itself */
	int fd;                                 /* of the file itself; -1: it was not opened */
	struct stat opened;                     /* the file then */
	struct unpack *behind;                  /* of what is in it, `head` is read; NULL: it is not packed, or taken */
	int plain;                              /* a descriptor of what is in it: `fd`, or what source_unpack made */
	struct meter whole, unpacking, reading; /* reading: for db_meter */
};

static const char SOURCE_SQLITE[] = "SQLite format 3"; /* its NUL belongs to it */

/* Looks at how the file begins, and if it is packed at how what is in it begins. `meter` (may be NULL) counts bytes of
 * the file. 0, or -1 with `err`: missing, unreadable, no regular file; damaged or cut off. source_close in any case. */
int source_open(struct source *source, const char *path, struct meter *meter, struct err *err);

/* Whether it begins as a SQLite database does (https://www.sqlite.org/fileformat2.html). */
bool source_is_sqlite(const struct file_head *head);

/* How much there can be in a packed file. A database says how large it is, but for those of old writers, and what says
 * too much for what it takes packed is not believed: exports shrink to a tenth or a fiftieth, files made to fill a disk
 * to a thousandth and less. */
int64_t source_most(const struct source *source);

/* The contents of a packed file behind `head`; the caller's to close. */
struct unpack *source_behind(struct source *source);

/* The same from their beginning; NULL with `err`. */
struct unpack *source_contents(struct source *source, struct err *err);

/* Unpacks what is packed into a file without a name, for formats that have to go back and forth. 0, or -1 with `err`.
 */
int source_unpack(struct source *source, struct err *err);

/* From here on the file itself is read from its beginning. -1 with `err`. */
int source_rewind(const struct source *source, struct err *err);

/* Whether the file is still what it was when it was opened, by its size and the time of its last change. What Linux
 * before 6.13 calls one time is up to 10 ms. -1 with `err`: somebody wrote to it. */
int source_check(const struct source *source, struct err *err);

/* Takes it that the file was read: the rest of its bytes counts as done. */
void source_close(struct source *source);

#endif
