/* The reader of nsys SQLite exports, of every version since 2020. Inside gen/read only; the entry is nsys_read.
 *
 * Nothing here looks at a version number: tables and columns are used where they exist. While tables are read, columns
 * of names hold indices of `strings` (only names that rows use are looked up, once, in StringIds) and threads,
 * processes and devices are numbered in order of appearance; nsys_finish turns all of them into what the trace
 * promises. */
#ifndef GAPLINE_READ_NSYS_H
#define GAPLINE_READ_NSYS_H

#include "base/keymap.h"
#include "read/db.h"
#include "read/read.h"
#include "read/source.h"

struct nsys {
	struct db db;
	const char *path;
	const struct read_wish *wish;
	struct names *names;
	struct arena *arena;
	struct trace *trace;
	struct err *err;

	struct keymap strings; /* see nsys_string and nsys_text */
	uint32_t *string_name; /* by index of strings: the interned name; filled by nsys_read_strings */

	struct keymap processes; /* by globalPid */
	struct keymap threads;   /* by globalTid */
	struct keymap devices;   /* by process << 32 | ordinal */
	uint64_t last_gpu_pid;   /* the device of the row before: last_device, when it is of this process … */
	int64_t last_ordinal;    /* … and has this ordinal */
	uint32_t last_device;    /* index + 1; 0: none yet */

	struct keymap domain_ids; /* of NVTX: ids of any size, numbered */
	struct keymap domains;    /* by process << 32 | number of the id */
	uint32_t *domain_string;  /* by index of domains: index of strings, or TRACE_NONE */
	uint32_t domain_room;
	uint32_t *
		thread_string; /* by thread: the name that the program gave it, as an index of strings, or TRACE_NONE */
	uint32_t thread_room;

	const char **gpu_uuid, **gpu_bus; /* by GPU, "" where not stated: what tells physical GPUs apart */

	int64_t last_time;           /* the latest time in any row that was kept */
	int64_t launcher;            /* process id of gapline between nsys and the program, 0: none */
	enum graph_mode stated_mode; /* that the capture's options name, or GRAPHS_NONE */
};

int nsys_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
              struct arena *arena, struct trace *trace, struct err *err);

/* ---- nsys_events.c: all tables of events ---- */
int nsys_read_events(struct nsys *r, struct source *source);

/* ---- nsys_ops.c: what ran on the GPU ---- */
int nsys_read_ops(struct nsys *r);

/* ---- nsys_host.c: what threads did ---- */
int nsys_read_calls(struct nsys *r);
int nsys_read_ranges(struct nsys *r);
int nsys_read_os_calls(struct nsys *r);
int nsys_read_overheads(struct nsys *r);
int nsys_read_thread_names(struct nsys *r);
int nsys_read_slices(struct nsys *r); /* after all other events: of the threads that they name */

/* ---- nsys_names.c: strings, and everything that waits for them ---- */
int nsys_read_strings(struct nsys *r);
void nsys_finish(struct nsys *r);

/* ---- nsys_info.c: where the profile comes from ---- */
int nsys_read_source(struct nsys *r);
int nsys_read_processes(struct nsys *r);
int nsys_read_ranks(struct nsys *r); /* after nsys_read_processes */
int nsys_read_gpus(struct nsys *r);
int nsys_read_diagnostics(struct nsys *r);

/* ---- nsys_gapline.c: what gapline noted when it captured ---- */
int nsys_read_notes(struct nsys *r);
int nsys_read_gapline(struct nsys *r); /* after nsys_read_gpus */

/* ---- nsys_unprofiled.c: a run of the same program that was not recorded ---- */
int nsys_read_unprofiled(struct nsys *r);

/* Who collected ("cupti", "nsys"), and how graphs were traced ("graph", "node"; others mean nothing). */
void nsys_note_collector(struct nsys *r, const char *collector);
void nsys_note_graph_mode(struct nsys *r, const char *mode);

/* ---- shared (nsys.c) ---- */

/* A name that the profile gives as StringIds.id; an id that cannot be one (NULL as -1, huge) is the unknown name. */
uint32_t nsys_string(struct nsys *r, int64_t id);

/* A name that is at hand. */
uint32_t nsys_text(struct nsys *r, uint32_t name);

/* The same name, where another reader gave the index to `key` (a key of its `strings`); `names`: ids in this one's
 * table by that one's. */
uint32_t nsys_join_string(struct nsys *r, uint64_t key, const uint32_t *names);

/* Empty numberings. */
void nsys_init_numbers(struct nsys *r);

/* Notes the name that the program gave a thread, an index of strings. */
void nsys_name_thread(struct nsys *r, uint32_t thread, uint32_t string);

/* Index of the process or thread, added if it is new. */
uint32_t nsys_process(struct nsys *r, int64_t global_pid);
uint32_t nsys_thread(struct nsys *r, int64_t global_tid);

/* Counts a row that is left out, and n that are kept. */
void nsys_drop(struct nsys *r, const struct scan *scan, enum row_kind kind, const char *reason);
void nsys_keep(struct nsys *r, enum row_kind kind, size_t n);

/* 36 years: differences, doubled too, stay in range. */
static const int64_t NSYS_TIME_FAR = (int64_t)1 << 60;

/* Why a row with these times cannot be used, or NULL. `from_zero`: the row's kind never starts before the capture. */
static inline const char *nsys_time_flaw(int64_t start, int64_t end, bool from_zero)
{
	if (start == 0 && end == 0)
		return "has no timestamp";
	if (end < start)
		return "ends before it starts";
	if (from_zero && start < 0)
		return "starts before the capture";
	if (start < -NSYS_TIME_FAR || end > NSYS_TIME_FAR)
		return "has an impossible timestamp";
	return NULL;
}

/* Why a row's values cannot be used (after all of them were asked for), or NULL. */
static inline const char *nsys_value_flaw(const struct scan *scan)
{
	if (__builtin_expect(!scan->flaws, 1))
		return NULL;
	return scan->flaws & SCAN_WRONG_TYPE ? "holds a value of the wrong type" : "lacks a value";
}

/* arena_grow or arena_trim. */
typedef void *nsys_resize(struct arena *arena, void *old, size_t old_n, size_t n, size_t size);

/* Makes `room` at least `n`; true when the columns must grow to it. */
bool nsys_room(size_t *room, size_t n);

static inline void nsys_seen(struct nsys *r, int64_t time)
{
	r->last_time = time > r->last_time ? time : r->last_time;
}

#endif
