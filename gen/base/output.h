/* Files that a command writes: whole or not at all. Everything is made in memory first; output_write then writes each
 * file under a temporary name beside its target, has it put on the disk (fsync), checks the close, and renames them
 * only when all are complete. An error or an interrupt leaves the old files as they were and nothing beside them.
 *
 * Where gapline is killed at once (SIGKILL) in the middle of several outputs, those that stand there are all old or all
 * new: the old ones but the first go out of the way (".NAME.PID-0.old", beside them) before the first new one gets its
 * name. Some may be missing then, and hidden files be left; written again, they are all there, and what was left is
 * removed. Several processes may write the same names at once: each name then stands for a whole file of one of them.
 *
 * A path is followed through symbolic links; an existing file keeps its permissions. `-` is standard output; it, pipes
 * and devices get their bytes last, when the files are in place.
 *
 *	output_prepare(&o, path, err)     before any work: says at once what could never be written
 *	o.bytes = …, o.n = …
 *	output_write(&o, 1, err)
 *	output_release(&o)                always, also after an error */
#ifndef GAPLINE_BASE_OUTPUT_H
#define GAPLINE_BASE_OUTPUT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct output {
	const char *path;  /* as given, for messages; borrowed */
	const char *bytes; /* what to write, set by the caller; borrowed */
	size_t n;
	bool secret;        /* for nobody else to read, whatever the umask and the old file say; set by the caller */
	bool standard;      /* goes to standard output, by `-` or by another name of it */
	bool stream;        /* a pipe or device, written in place */
	char *target;       /* where it really goes; NULL for `-` */
	char *temporary;    /* while it is written: beside the target */
	bool placed;        /* the target is the new file */
	bool exchanged;     /* … and `temporary` the old one */
	char *aside;        /* where the old one is meanwhile, when it is out of the way */
	bool exists;        /* then `found` describes it */
	int locks[2];       /* descriptors and 1 of the new and the old file while they are written; 0: none */
	struct stat found;  /* the target as it was */
	struct stat folder; /* the target's folder, when the target is no stream */
};

/* 0, or -1 with `err`: the folder is missing or not writable, the target is a folder or a file that must not be
 * written. Creates nothing. `o` is filled in both cases and needs output_release. */
int output_prepare(struct output *o, const char *path, struct err *err);

/* Whether two prepared outputs would end in one file. */
bool output_same(const struct output *a, const struct output *b);

/* Whether the output would replace the existing file that `input` describes. */
bool output_replaces(const struct output *o, const struct stat *input);

/* The same of the file at `path`, if one is there; NULL is none. */
bool output_replaces_path(const struct output *o, const char *path);

/* Whether a file stands there that nobody said should be replaced: -1 with `err`, which names --force. */
int output_keep(const struct output *o, bool force, struct err *err);

/* Writes `n` prepared outputs. 0, or -1 with `err`: then no file was changed, unless what failed is
 * standard output, a pipe or a device, or a rename on a file system that cannot exchange two names. */
int output_write(struct output *outputs, size_t n, struct err *err);

void output_release(struct output *o);

#endif
