/* Any profile -> struct trace. The only code that knows a file format. Formats are told apart by content, never by file
 * name. The input is never written to, and no file ever appears beside it. */
#ifndef GAPLINE_READ_READ_H
#define GAPLINE_READ_READ_H

#include "base/buf.h"
#include "base/meter.h"
#include "trace/trace.h"

/* Reads the profile at `path` into `*trace` (zeroed by the callee); texts go to `names`, memory comes from `arena`,
 * which must outlive the trace. On return the trace is linked (trace_link).
 *
 * 0, or -1 with `err`: the file is missing, unreadable, of a kind that cannot be read here (an .nsys-rep says how to
 * export it; a PyTorch trace, an ncu report or a truncated file is named as such), damaged (SQLite's error code is
 * checked to the end of every loop), or holds nothing at all to analyse (no GPU op: says what the file does hold, what
 * the usual reason is and how to capture again). */
int read_profile(const char *path, struct names *names, struct arena *arena, struct trace *trace, struct err *err);

/* What is wanted beyond that. */
/* Kinds of tables in an export of nsys. */
enum { READ_CALLS = 1, READ_OPS = 2, READ_HOST = 4 };

struct read_wish {
	unsigned only;       /* tables of these kinds, and nothing but them and names: the others' rows are not in the
	                      * trace, whatever the file holds. 0: all. Formats other than nsys's are read whole */
	bool details;        /* the columns that trace.h calls "on request", as far as the format has them */
	bool joined;         /* ops.correlation and calls.correlation are not asked for and may be NULL: the trace is
	                      * neither shown event by event nor merged with others */
	bool without_gpu;    /* a profile in which nothing ran on a GPU is no error */
	bool again;          /* rows that can be had again later need not be held: trace.again may be set */
	struct meter *meter; /* counts the bytes of the profile's file that are dealt with; NULL: not wanted */
};

int read_profile_with(const char *path, const struct read_wish *wish, struct names *names, struct arena *arena,
                      struct trace *trace, struct err *err);

/* One of several profiles to read. */
struct read_input {
	const char *path;
	struct trace *trace;
	const unsigned char *digest; /* not NULL: no file but the bytes of a digest, packed or not; `path` is its name
	                              */
	size_t digest_bytes;
	bool beside; /* others of its side are read beside it: it may be a rank of their run */
	struct arena
		*memory; /* empty: the trace lives in it and can be given back alone; NULL: it lives with the others */
};

/* Appends the command that exports an nsys report, whose name ends with `whole` behind `path`: "" or ".nsys-rep"; names
 * are words of a shell. */
void read_export_command(struct buf *to, const char *path, const char *whole);

/* Whether it is named like an nsys report. */
bool read_is_report(const char *path);

/* Reads `n` profiles side by side, on all processors, as read_profile_with does one after the other: the result is the
 * same, down to the ids of names. -1 with the `err` of the first that fails. */
int read_profiles(const struct read_input *inputs, size_t n, const struct read_wish *wish, struct names *names,
                  struct arena *arena, struct err *err);

#endif
