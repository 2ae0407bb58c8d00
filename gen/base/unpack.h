/* Packed input files, and packed bytes: gzip and, where libzstd was there when gapline was built, zstd. They are
 * unpacked piece by piece, at the cost of a buffer and the format's window (gzip 32 KB, zstd 128 MB at most), however
 * long the contents are. */
#ifndef GAPLINE_BASE_UNPACK_H
#define GAPLINE_BASE_UNPACK_H

#include "base/err.h"
#include "base/file.h"
#include "base/meter.h"

#include <stddef.h>
#include <sys/types.h>

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* How the file is packed that begins so. */
enum packing packing_of(const void *head, size_t n);

/* "gzipped", for messages. */
const char *packing_word(enum packing packing);

/* The contents of a packed file, read from their beginning to their end. All members of a gzip file and all frames of a
 * zstd file count. `fd`: the file, opened already; it stays the caller's, and one at a time reads it. Negative: `path`
 * is opened. NULL with `err`: unreadable, packed in no such way, or gapline was built without libzstd. */
struct unpack;
struct unpack *unpack_open(const char *path, int fd, struct err *err);

/* The same of `n` bytes in memory, which are borrowed until unpack_close; `path` is for messages. */
struct unpack *unpack_open_bytes(const char *path, const void *bytes, size_t n, struct err *err);

/* The next n bytes; fewer only at the end. -1 with `err`: unreadable, damaged, or cut off. */
ssize_t unpack_read(struct unpack *unpack, void *data, size_t n, struct err *err);

/* Bytes of the packed file that were used so far. */
int64_t unpack_used(const struct unpack *unpack);

void unpack_close(struct unpack *unpack); /* NULL is nothing to close */

/* unpack_open, and the beginning of the contents, which is read then. `size` is exact when it is less than
 * FILE_HEAD_BYTES, and else that at least. */
struct unpack *unpack_begin(const char *path, int fd, struct file_head *head, struct err *err);

/* Unpacks into a file that has no name, so that nothing is left behind however gapline ends: in the folder that TMPDIR
 * names, else /var/tmp, else /tmp, and in memory only where none of them can be written to. Returns a descriptor, the
 * caller's to close, or -1 with `err`: also when the contents are more than `most` bytes, which a file that was made to
 * fill disks has in very few. `meter` (may be NULL) is filled. */
int unpack_to_file(const char *path, int fd, int64_t most, struct meter *meter, struct err *err);

#endif
