/* Who records what a program does: nsys, or gapline's own library, which is loaded into the program and asks CUPTI
 * (gen/inject); and who only looks at the clock (capture/stopwatch.h). The first two give a profile in nsys's SQLite
 * layout; which of them was used is written into it, because two profiles compare only when the same one made them. */
#ifndef GAPLINE_CAPTURE_COLLECTOR_H
#define GAPLINE_CAPTURE_COLLECTOR_H

#include "base/arena.h"
#include "base/err.h"
#include "capture/python_ranges.h"
#include "capture/spool.h"
#include "capture/stopwatch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

extern const char *const graph_trace_names[]; /* of enum graph_trace: "auto", "graph", "node", NULL */

enum collector_kind { COLLECTOR_AUTO, COLLECTOR_NSYS, COLLECTOR_CUPTI };

/* What to record; the same for both sides. */
struct capture_options {
	bool nvtx, osrt;   /* beside CUDA: NVTX ranges, blocking calls of the host */
	int64_t sample_ns; /* mean distance of two samples of Python's frames, 0: none */
	bool memory;       /* allocations of device memory */
	bool native;       /* with what Python's functions call */
	enum graph_trace graphs;
	double delay,
		duration; /* seconds: recorded is [delay, delay + duration) after the start; duration 0: to the end */
	bool profiler_range;    /* only between cudaProfilerStart and cudaProfilerStop */
	int kill;               /* signal for the program when the duration is over; 0: it goes on unrecorded */
	enum ranges_how ranges; /* NVTX ranges added to PyTorch programs */
};

struct collector;

/* One capture, as a collector sees it. The first part is the caller's. */
struct collector_job {
	const struct collector *collector;
	const struct capture_options *options;
	const char *const *command;        /* the program, ends with NULL */
	const char *folder;                /* absolute; for whatever files it needs, removed afterwards */
	const char *profile;               /* to be written, in `folder`; not by collector_stopwatch, */
	const struct stopwatch_plan *plan; /* which does as this says; else NULL */
	const char *version;               /* of gapline */
	int input, output[2];              /* the program's standard input, output and error */
	struct arena *arena;

	/* from collector_type.prepare: what to start */
	const char *const *argv;
	const char *const *environment;
	int log;    /* descriptor for the output of what is started; −1: the program's own */
	void *open; /* the collector's own */

	/* when it has ended */
	int64_t start_ns; /* CLOCK_MONOTONIC of the start; `finish` makes it the profile's time 0 */
	int64_t stop_ns;
	int64_t ran_ns; /* how long the program itself ran; `learn` makes it exact */
	int64_t start_utc_ns;
	bool cut_short;    /* gapline ended the program: the duration was over */
	int ended_with;    /* status (waitpid) of what was started */
	int status;        /* status of the program itself; `learn` sets it */
	pid_t pid;         /* of the program, likewise; 0: it could not be started */
	pid_t launcher;    /* gapline's own process among the profiled ones; 0: none */
	bool status_known; /* false: it never ran, or nobody was left to tell */

	/* what became of it, from `finish` */
	const char *graphs;              /* "graph" or "node": how it really traced; "auto": not known yet */
	const char *cupti;               /* version, "" unknown */
	int64_t dropped, dropped_events; /* records lost, as in convert_result */
	int64_t sample_ns, samples_torn; /* as in convert_result */
	struct python_ranges ranges;
	size_t incomplete;             /* processes whose records end in the middle */
	struct stopwatch_result timed; /* collector_stopwatch only */
	bool unwritable;               /* `finish` failed because a file could not be written, … */
	const char
		*recorded; /* … and this one in `folder` holds what was recorded, for the tool that wrote it; or NULL */
	const char **messages; /* a sentence each, for people */
	size_t n_messages;
};

struct collector_type {
	const char *name;

	/* Looks for what it needs and fills collector.tool, .version. -1 with `err`: what is missing and what to do. */
	int (*find)(struct collector *collector, struct err *err);

	/* Whether it can do what is asked for. -1 with `err`. */
	int (*check)(const struct collector *collector, const struct capture_options *options, struct err *err);

	/* Fills argv, environment and log of the job. -1 with `err`. */
	int (*prepare)(struct collector_job *job, struct err *err);

	/* The program's group, when it is not the one that was started; 0: not known (yet), or the same. */
	pid_t (*group)(const struct collector_job *job);

	/* After the end: the program's pid and status. */
	void (*learn)(struct collector_job *job);

	/* Writes job->profile. -1 with `err`: there is none, and why. */
	int (*finish)(struct collector_job *job, struct err *err);

	/* Closes what `prepare` opened; always called. */
	void (*release)(struct collector_job *job);
};

struct collector {
	const struct collector_type *type;
	const char *tool;    /* path of nsys, or of the library */
	const char *version; /* of nsys; "" for our own */
	const char *why;     /* a sentence: why this one */
	unsigned abilities;  /* the type's own */
	struct arena *arena;
};

extern const struct collector_type collector_nsys, collector_cupti, collector_stopwatch;

/* Chooses for all the `n` commands that are to be compared. -1 with `err`: there is none, or not the one asked for. */
int collector_choose(struct collector *collector, enum collector_kind kind, const char *const *const *commands,
                     size_t n, struct arena *arena, struct err *err);

/* The one that timed runs take, whoever records the others. */
void collector_for_stopwatch(struct collector *collector, struct arena *arena);

/* Adds a message. */
void collector_say(struct collector_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For collectors that start the program themselves: `group` and `learn` of struct collector_type. */
pid_t collector_no_group(const struct collector_job *job);
void collector_learn(struct collector_job *job);

/* What a short nsys command prints, standard error included, as far as 256 KiB go; into the file `log`, which stays,
 * where that is not NULL. It is ended after `timeout_ms` (< 0: never). `status`: waitpid's. NULL with `err`. */
const char *collector_ask(const char *const *argv, const char *log, int timeout_ms, struct arena *arena, int *status,
                          struct err *err);

#endif
