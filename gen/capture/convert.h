/* A spool (capture/spool.h) -> a profile: an SQLite file with the tables and columns of an nsys export (2025 layout),
 * so that gapline, nsys stats and everything else that reads those exports read ours. */
#ifndef GAPLINE_CAPTURE_CONVERT_H
#define GAPLINE_CAPTURE_CONVERT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/keymap.h"
#include "capture/profile.h"
#include "capture/records.h"
#include "capture/spool_read.h"
#include "trace/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct convert_request {
	const char *spool;    /* the spool folder */
	const char *profile;  /* the file to write; appears whole or not at all, an existing file is replaced */
	int64_t start_ns;     /* CLOCK_MONOTONIC of the profile's time 0 */
	int64_t start_utc_ns; /* the same instant since 1970 */
	int64_t stop_ns;      /* CLOCK_MONOTONIC when the target had ended */
	const char *version;  /* of gapline */
};

/* What became of it, for the messages of the command. Texts are the arena's. */
struct convert_result {
	size_t processes;                     /* with CUDA or NVTX events */
	int64_t ops, calls, ranges, os_calls; /* rows written */
	int64_t dropped;                      /* records that CUPTI or the libraries lost … */
	int64_t dropped_events;     /* … and of these, those of threads: ranges, calls of the host, samples */
	int64_t samples;            /* of Python's frames, rows written … */
	int64_t samples_torn;       /* … and such that could not be read */
	int64_t native_asked;       /* of those that are written or kept: what was called was looked for … */
	int64_t native_missed;      /* … and not found out */
	int64_t native_interrupted; /* calls of the program that looking for it cut short */
	int64_t sample_ns;          /* mean distance of two of them that was asked for, 0: none was */
	int64_t skipped;            /* records that made no sense and were left out */
	size_t incomplete;          /* processes whose spool has no end: killed, crashed, or left by _exit */
	const char *empty;     /* a clause about a process whose spool has no event and no end; NULL: there is none */
	const char *unwritten; /* the same about one that could not write its spool, and why; NULL: there is none */
	const char *cupti;     /* "13.0.1" of the (first) process, "" if none was loaded */
	const char *graphs;    /* "graph" or "node": how CUDA graphs were traced; NULL if no CUPTI was loaded */
	const char **messages; /* what the libraries had to say, each once, worst first */
	size_t n_messages;
	int worst;       /* enum spool_severity of the worst message, 0 if none */
	bool unwritable; /* it failed because the profile could not be written */
};

/* 0; -1 with `err`: the folder cannot be read, a file in it is no spool, the profile cannot be written, or a process's
 * records are of an unknown layout. A spool that ends in the middle of a block is used up to there. A spool folder
 * without any file gives an empty result and no profile: the target never used CUDA or NVTX, or the libraries were not
 * loaded into it. */
int convert_spool(const struct convert_request *request, struct arena *arena, struct convert_result *result,
                  struct err *err);

/* The conversion of a spool, taken apart. Inside gen/capture only; the entry is capture/convert.h.
 *
 * Every file is read twice: first for what must be known before rows can be written (convert_scan.c: registered
 * strings, when a thread was inside a runtime call, which device a context is on), then for the rows (convert_cuda.c,
 * convert_nvtx.c). Calls of the operating system come in a last round (convert.c), because only those of processes
 * that used CUDA or NVTX are kept. */

struct python_function {
	int64_t name, file,
		in; /* StringIds; of what is the program's own `file` has the line where it begins, `in` not */
	bool library;
};

struct thread_name {
	const char *text;
	size_t bytes;
	bool by_python; /* the system's name counts no more */
};

/* All programs that ran under one PID. */
struct process {
	uint32_t pid;
	bool active;   /* used CUDA or NVTX */
	bool complete; /* its last file has an end */
	const char *name;
	size_t name_bytes;
	int64_t rank;          /* its number in a parallel job; -1: nothing tells it */
	struct keymap threads; /* those with a name, by thread id */
	struct thread_name *thread_names;
	struct keymap writers; /* thread ids of the libraries' own threads */
	/* Programs that replace each other under one PID count from the beginning again; these keep their numbers
	 * apart. */
	int64_t correlation_base, last_correlation;
	int64_t domain_base, last_domain;
};

struct gpu {
	struct spool_device device; /* as the first process describes it */
	const char *name;
	size_t name_bytes;
};

struct gpu_use { /* process `pid` counts GPU `gpu` as `ordinal` */
	uint32_t gpu, ordinal, pid;
};

struct message {
	int severity;
	uint32_t code; /* enum spool_code */
	uint32_t text; /* of convert.messages */
	uint32_t pid;
};

struct convert {
	const struct convert_request *request;
	struct convert_result *result;
	struct arena *arena; /* of the result */
	struct arena work;   /* released when the profile is written */
	struct err *err;
	struct profile profile;
	const char **files;
	size_t n_files;
	bool *has_os_calls; /* by file */
	struct keymap pids;
	struct process *processes; /* by index of pids */
	struct gpu *gpus;
	uint32_t n_gpus;
	struct gpu_use *gpu_uses;
	uint32_t n_gpu_uses;
	struct names message_texts; /* made harmless: they go to a terminal */
	struct message *messages;
	uint32_t n_messages;
	char driver[64];
	uint32_t cuda_driver, graphs;
	int64_t n_samples, n_chains; /* of Python: the last one's id */
};

struct interval {
	int64_t start, end;
};

/* Runtime calls of a thread, by start. */
struct thread_calls {
	struct interval *calls;
	size_t n, room, last; /* last: where the last search ended */
	bool unsorted;
};

/* Times of collection, one after the other; none: always. */
struct windows {
	struct interval *all; /* end: INT64_MAX while it is open */
	size_t n, room;
};

struct stack {
	struct interval *open; /* start: the range's; end: its row */
	size_t n, room, closes;
};

/* What is known of one file while its rows are written. */
struct file {
	struct convert *convert;
	struct process *process;
	struct spool_header header;
	const char *path;
	uint64_t shift;     /* added to a time of the file gives one of the profile */
	struct arena arena; /* released with the file */
	char cupti[32];     /* version, "" none yet */
	bool active, os_calls;

	struct record_sizes sizes;
	struct keymap threads; /* with runtime calls */
	struct thread_calls *thread_calls;
	struct keymap contexts;
	uint32_t *context_device;
	struct keymap kernels; /* by the value of `name` */
	struct kernel_names *kernel_names;
	struct keymap callbacks; /* by domain << 32 | id */
	int64_t *callback_name;

	struct keymap strings; /* registered */
	int64_t *string_id;
	struct keymap functions; /* of Python, by their numbers in the file */
	struct python_function *function;
	struct keymap chains; /* of frames that nodes have, by what is in them */
	struct chain *chain;
	struct native *native;           /* what they called; NULL: nothing was said of it */
	struct spool_event holder_event; /* the last SPOOL_HOLDER … */
	int64_t holder_sample;           /* … and the id of its sample, 0: the next sample is not of it */
	struct keymap stacks;            /* of open ranges, by thread << 32 | domain */
	struct stack *stack;
	struct nvtx_halves *halves;
	struct windows windows[2]; /* of time, and of cudaProfilerStart and -Stop: what counts is in both */
	struct keymap launches;    /* correlations of the calls in them */
	int64_t *closes;           /* times at which collection was stopped, sorted */
	size_t n_closes, close_room;
};

struct kernel_names {
	int64_t demangled, short_name, mangled; /* StringIds */
};

/* ---- convert.c ---- */

static inline int64_t convert_global_pid(uint32_t pid)
{
	return (int64_t)1 << 48 | (int64_t)(pid & 0xFFFFFF) << 24;
}

static inline int64_t convert_global_tid(uint32_t pid, uint32_t tid)
{
	return convert_global_pid(pid) | (tid & 0xFFFFFF);
}

/* A time of the file, raw, as one of the profile. */
static inline int64_t convert_time(const struct file *f, uint64_t raw)
{
	return (int64_t)(raw + f->shift);
}

/* Whether times read from the file can be used: none is missing, the order is right, nothing before the capture. */
static inline bool convert_times(const struct file *f, uint64_t raw_start, uint64_t raw_end, int64_t *start,
                                 int64_t *end)
{
	const int64_t far = (int64_t)1 << 60;
	*start = convert_time(f, raw_start);
	*end = convert_time(f, raw_end);
	return raw_start != 0 && raw_end != 0 && *start >= 0 && *end >= *start && *end <= far;
}

/* Walks over the events of a SPOOL_EVENTS block: 1: `event` and `text` are the next one; 0: no more; -1: the rest makes
 * no sense. */
struct event_walk {
	const unsigned char *at, *end;
	struct spool_event event;
	const char *text;
};
int event_next(struct event_walk *walk);

/* ---- convert_scan.c ---- */

/* First reading of the file: fills everything above that the second one needs, and what concerns the whole capture. */
int convert_scan(struct file *f, struct spool_reader *reader, struct err *err);

/* Whether the thread was inside a runtime call from `start` to `end`. */
bool convert_in_runtime_call(struct file *f, uint32_t tid, int64_t start, int64_t end);

bool convert_limited(const struct file *f); /* are there any? */

/* Whether a call that began at `time`, one of the profile, is to become a row. */
bool convert_in_window(const struct file *f, int64_t time);

/* Of every buffer, when all windows are known and there are any: which calls are in them. */
void convert_scan_launches(struct file *f, const unsigned char *payload, size_t n);

/* Whether what a call with this correlation launched is to become a row; 0 is of no call. */
bool convert_launched_in_window(const struct file *f, uint32_t correlation);

/* ---- convert_info.c ---- */
void convert_add_device(struct convert *c, uint32_t pid, const unsigned char *payload, size_t n);
void convert_add_message(struct convert *c, uint32_t pid, int severity, uint32_t code, const char *text, size_t n);
/* When all are known: that a process has no Python is nothing to say where another one was sampled. */
void convert_settle_messages(struct convert *c);
void convert_write_info(struct convert *c);
void convert_list_messages(struct convert *c);

/* ---- convert_cuda.c ---- */
void convert_kernel_name(struct file *f, const unsigned char *payload, size_t n);
void convert_callback_names(struct file *f, const unsigned char *payload, size_t n);
void convert_buffer(struct file *f, const unsigned char *payload, size_t n);

/* ---- convert_nvtx.c ---- */
void convert_string(struct file *f, const struct spool_event *event, const char *text);
void convert_nvtx(struct file *f, uint32_t tid, const unsigned char *payload, size_t n);

/* ---- convert_python.c ---- */
void convert_python(struct file *f, const struct spool_event *event, const char *text); /* a function or a sample */
void convert_sampled(struct convert *c, const unsigned char *payload, size_t n);

/* The id of the frames of a SPOOL_NODE, which are written once however many nodes have them; 0: there are none. */
int64_t convert_node_frames(struct file *f, const struct spool_event *event, const char *frames);

void convert_native(struct file *f, const struct spool_event *event, const char *text); /* a module or frames */

/* Writes the frames that came for the sample `event`, from depth 0 on: how many. */
uint32_t convert_native_frames(struct file *f, const struct spool_event *event, int64_t sample);
void convert_native_sampled(struct convert *c, const unsigned char *payload, size_t n);
void convert_native_say(struct convert *c); /* what the user should know of it; before convert_write_info */

#endif
