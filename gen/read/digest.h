/* A profile as small as a report allows: `gapline digest` writes it where the profile was written, and a report takes
 * it wherever it takes profiles. docs/reference/digest.md is the format.
 *
 * A digest holds what happened, not what was made of it: the rows that the analysis looks at, with their times, in
 * columns that were made small. What is said of a digest is therefore what is said of its profile, to the digit, by
 * this gapline and by every later one: also a new way to find steps finds them in an old digest. Left out are rows that
 * no report can tell from missing ones, and what `gapline stats` asks for beyond that. */
#ifndef GAPLINE_READ_DIGEST_H
#define GAPLINE_READ_DIGEST_H

#include "base/buf.h"
#include "base/file.h"
#include "read/read.h"
#include "read/source.h"

#include <stdbool.h>

enum { DIGEST_VERSION = 1 };

/* Whether a file that begins so is a digest, of any version. */
bool digest_recognise(const struct file_head *head);

/* read_profile_with of a digest (read/read.h). Besides: a digest of a later version, and one that is asked for details,
 * are errors. */
int digest_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err);

/* The same of the `n` bytes of such a file, packed or not, wherever they were kept; `path` is for messages. */
int digest_read_bytes(const char *path, const unsigned char *bytes, size_t n, const struct read_wish *wish,
                      struct names *names, struct arena *arena, struct trace *trace, struct err *err);

/* The same of `n` bytes that were unpacked already, `at` which begin with the digest's first line; `path` is for
 * messages. Nothing of `bytes` is referred to afterwards. */
int digest_decode(const char *path, const unsigned char *bytes, size_t n, struct names *names, struct arena *arena,
                  struct trace *trace, struct err *err);

/* The same with rows in an arena of their own; `ids`: what the digest's names became, by their number in it, and what
 * was told of them (classify_rows), in `things`. */
struct digest_memory {
	struct arena *things, *rows;
	struct buf *again; /* may be NULL: gets what digest_decode_again takes */
};
struct digest_names {
	uint32_t *id, *told, n;
};
int digest_decode_apart(const char *path, const unsigned char *bytes, size_t n, struct names *names,
                        const struct digest_memory *memory, struct trace *trace, struct digest_names *ids,
                        struct err *err);

/* Says in `err` that bytes follow the end of a digest, packed or not: nothing that gapline wrote. Returns -1. */
int digest_refuse_behind(const char *path, struct err *err);

/* Of what digest_decode_apart made for it: processes, threads, GPUs, devices and the kinds of rows that are asked for
 * (1 << enum columns_of each), not linked. */
void digest_decode_again(const unsigned char *bytes, size_t n, unsigned rows, struct names *names,
                         const struct digest_names *ids, struct arena *arena, struct trace *trace);

/* Leaves out of a linked trace what no report can tell from missing rows: of operating-system calls those that lie
 * inside a CUDA call of their thread, whose time is the CUDA call's, and with the scheduler's rows those of threads
 * that neither launch anything nor carry a range. A thread's first call stays: recording began then at the latest. And
 * all samples. The trace is linked again. Returns how many rows went. */
size_t digest_reduce(struct trace *trace, struct arena *arena);

/* Appends the digest of a linked trace, not packed yet: the same bytes for the same trace. */
void digest_encode(const struct trace *trace, struct buf *to);

/* What the file of a digest holds: `data`, n bytes of one of the buffers below, which digest_release gives back. */
struct digest_made {
	const unsigned char *data;
	size_t n;
	size_t rows;     /* of all kinds */
	size_t left_out; /* by digest_reduce */
	struct buf bytes;
	struct file_bytes packed; /* empty: they stay as they are */
};

/* Reduces, encodes, reads what was made again, and packs it where that will be believed. 0, or -1 with `err`;
 * digest_release in any case. */
int digest_make(const char *name, struct trace *trace, struct arena *arena, struct digest_made *made, struct err *err);
void digest_release(struct digest_made *made);

/* Packs a linked trace in memory, as a digest, and leaves in `out` what a report needs of it at all times, samples of
 * threads too: its other rows can be made again (trace/again.h). `whole` is reduced, but for its samples; `out` refers
 * to nothing of it, has its names in `names` and lives in `arena`. False: that would lose something, or the
 * GPU's counters were sampled, which are looked at beside all other rows, and `out` is nothing; a report still says the
 * same of `whole`. */
bool digest_hold(struct trace *whole, struct arena *of_whole, struct names *names, struct arena *arena,
                 struct trace *out);

/* The CRC-32 that a digest ends with, of everything before it. */
uint32_t digest_checksum(const void *bytes, size_t n);

#endif
