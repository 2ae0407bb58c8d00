/* A fresh export of nsys's, looked at by the one who had it made: whether it holds any of a GPU's work, what nsys
 * itself had to say, and when its clock began. A report reads the whole of it: read/read.h. */
#ifndef GAPLINE_READ_NSYS_EXPORT_H
#define GAPLINE_READ_NSYS_EXPORT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct nsys_export {
	bool cuda;            /* it has a table of kernels, copies, memsets, graphs or runtime calls */
	int64_t begin_utc_ns; /* its time 0, since 1970; 0: not said */
};

/* Reads the SQLite export at `path`. `said` is called for each of nsys's warnings and errors with the process that it
 * is about (0: none) and n bytes of text, which are nsys's own: hostile, and borrowed until it returns. -1 with `err`:
 * no database, or a damaged one. */
int nsys_export_look(const char *path, struct arena *arena,
                     void (*said)(void *context, uint32_t process, const char *text, size_t n), void *context,
                     struct nsys_export *out, struct err *err);

#endif
