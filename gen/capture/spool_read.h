/* A spool folder and its files (capture/spool.h), read block by block. A spool is written by a program that may be
 * killed at any instant and may write over anything: whatever a file holds, reading it ends, stays within the file and
 * takes no more memory than SPOOL_BLOCK_MAX. */
#ifndef GAPLINE_CAPTURE_SPOOL_READ_H
#define GAPLINE_CAPTURE_SPOOL_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "capture/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SPOOL_BLOCK_MAX = 256 << 20 }; /* payload of a block, in bytes; the libraries write a few MiB at a time */

/* The names of the spool's files in the folder, in the order in which the programs of one PID ran. 0, or -1 with
 * `err`: the folder cannot be read. */
int spool_list(const char *folder, struct arena *arena, const char ***names, size_t *n, struct err *err);

/* Makes SPOOL_FAILED in a new folder. 0, or -1 with `err`. */
int spool_make_failed(const char *folder, struct arena *arena, struct err *err);

/* Which process could not write its spool, and why: a clause. NULL: none said so. */
const char *spool_failure(const char *folder, struct arena *arena);

struct spool_reader {
	FILE *file;
	const char *path;
	struct spool_header header;
	struct spool_block block;
	unsigned char *payload; /* of `block`, aligned for any type */
	size_t room;
	uint64_t left; /* bytes of the file that are not read yet */
	bool ended;    /* SPOOL_END was read: the file is complete */
};

/* Opens the file `name` of the folder. 1: `header` is filled; 0: it was cut off before its header was whole, so it
 * holds nothing; -1 with `err`: it is no spool, one of another version, or unreadable. The path stays with `arena`.
 * Call spool_close in any case. */
int spool_open(struct spool_reader *reader, const char *folder, const char *name, struct arena *arena, struct err *err);

/* The next block. 1: `block` and `payload` are filled; 0: there is none, or it is not whole; -1 with `err`: the file
 * cannot be read. Blocks of types that this version does not know are passed over. */
int spool_next(struct spool_reader *reader, struct err *err);

void spool_close(struct spool_reader *reader);

#endif
