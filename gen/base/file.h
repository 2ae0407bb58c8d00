/* Input files: what they begin with, and a gzip file's contents; and the other way, bytes as a gzip file. */
#ifndef GAPLINE_BASE_FILE_H
#define GAPLINE_BASE_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

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

/* Reads the head of the regular file at `path`. -1: missing, unreadable, a directory or no regular file. */
int file_look(const char *path, struct file_head *head, struct err *err);

/* The same for bytes in memory. */
void file_look_bytes(const struct file_bytes *bytes, struct file_head *head);

/* Unpacks the gzip file at `path` (all its members) into memory. -1: unreadable, damaged, or cut off. */
int file_unpack(const char *path, struct file_bytes *bytes, struct err *err);

/* Packs n bytes as `gzip -n` does: with neither a name nor a time, so that equal bytes give equal bytes. -1: out of
 * memory. */
int file_pack(const void *data, size_t n, struct file_bytes *packed, struct err *err);

void file_release(struct file_bytes *bytes);

#endif
