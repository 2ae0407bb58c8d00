/* Input files and what they begin with, whole reads and writes; and bytes as a gzip file (the other way:
 * base/unpack.h). */
#ifndef GAPLINE_BASE_FILE_H
#define GAPLINE_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { FILE_HEAD_BYTES = 512 };

/* The beginning of a file: enough to tell what it is. */
struct file_head {
	unsigned char data[FILE_HEAD_BYTES];
	size_t n;     /* bytes in `data`: all there are when size < FILE_HEAD_BYTES */
	int64_t size; /* of the whole file */
};

/* Bytes in memory that file_release gives back. */
struct file_bytes {
	unsigned char *data;
	size_t n;
};

/* The name in a path: what is behind its last slash. */
const char *file_name(const char *path);

/* Opens the regular file at `path` for reading. The descriptor; -1: missing, unreadable, a directory or no regular
 * file. */
int file_open(const char *path, int64_t *size, struct err *err);

/* Reads up to n bytes; fewer only at the end of the file. -1 with errno. */
ssize_t file_read(int fd, void *data, size_t n);

/* Adds a regular file to `to`, which is cut off soon behind its first `most` bytes. -1: missing, unreadable, a
 * directory or no regular file. */
int file_add(struct buf *to, const char *path, size_t most, struct err *err);

/* Writes n bytes; all of them, or -1 with errno. */
int file_write(int fd, const void *data, size_t n);

/* Reads the head of the regular file at `path`. -1: as above, or the file cannot be read. */
int file_look(const char *path, struct file_head *head, struct err *err);

/* The same of an open file, wherever it is read: `found` becomes what it was before anything of it was read. */
int file_head_of(int fd, const char *path, struct file_head *head, struct stat *found, struct err *err);

/* Packs n bytes as `gzip -n` does: with neither a name nor a time, so that equal bytes give equal bytes. -1: out of
 * memory. */
int file_pack(const void *data, size_t n, struct file_bytes *packed, struct err *err);

void file_release(struct file_bytes *bytes);

/* Pointers of Git LFS: small texts that stand for files which were not fetched
 * (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). Whatever takes a file may be given one. */

bool pointer_is(const struct file_head *head);

/* "PATH: INSIDE a pointer of Git LFS …", with the command that fetches the file; `inside`: "is ", or what it is packed
 * in. Returns -1. */
int pointer_refuse(const char *path, const char *inside, struct err *err);

#endif
