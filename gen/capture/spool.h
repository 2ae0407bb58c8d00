/* The spool: what the libraries inside the program write while it runs (gen/inject), and what becomes a profile
 * afterwards (capture/convert.h). It is made for the writer: records as they come, no index, nothing parsed; a file
 * that ends anywhere is usable up to its last whole block.
 *
 * A capture has a spool folder of its own. Every process writes files of its own into it, one for each library that is
 * loaded into it: `PID-cuda-N.spool` (CUPTI and NVTX) and `PID-osrt-N.spool` (blocking calls of the host); N counts
 * from 0 and tells the programs apart that ran under one PID one after the other (exec, PID reuse), or a forked child
 * that has the same PID in another namespace. A process that has nothing to say writes no file.
 *
 * A file is one struct spool_header, then blocks: a struct spool_block and its payload, padded with zeros to a multiple
 * of 8 bytes. All numbers are in the machine's byte order; all times are nanoseconds of the clock that the header
 * names. Blocks are written whole by one thread, in the order in which they were made; a name comes before the block
 * that needs it, except that strings and domains may be used by another thread's events earlier in the file.
 *
 * gapline tells the libraries what to do by the environment; the names are below. */
#ifndef GAPLINE_CAPTURE_SPOOL_H
#define GAPLINE_CAPTURE_SPOOL_H

#include <stdint.h>

/* A file that gapline makes in the folder, with zeros: what a process that cannot write its spool writes over them.
 * There is room for that where there is none for a file. */
#define SPOOL_FAILED "failed"
struct spool_failed {
	int32_t error; /* errno; 0: none failed */
	uint32_t pid;
};

#define SPOOL_MAGIC "GLSPOOL" /* with its NUL: the first eight bytes */
enum { SPOOL_VERSION = 1 };

/* ---- the environment ---- */

#define SPOOL_ENV_FOLDER "GAPLINE_SPOOL"        /* the spool folder; without it the libraries do nothing at all */
#define SPOOL_ENV_CUPTI "GAPLINE_CUPTI"         /* paths of CUPTI libraries to try first, separated by ':' */
#define SPOOL_ENV_GRAPHS "GAPLINE_GRAPH_TRACE"  /* enum graph_trace by name; "auto" where it is not set */
#define SPOOL_ENV_START "GAPLINE_START_NS"      /* collect from this CLOCK_MONOTONIC time on; absent: from the start */
#define SPOOL_ENV_STOP "GAPLINE_STOP_NS"        /* … until this one; absent: to the end */
#define SPOOL_ENV_RANGE "GAPLINE_CAPTURE_RANGE" /* "cudaProfilerApi": collect between cudaProfilerStart and -Stop */
#define SPOOL_ENV_OSRT_NS "GAPLINE_OSRT_NS"     /* shortest blocking call of the host to record; absent: 50000 */
#define SPOOL_ENV_SAMPLE_NS "GAPLINE_SAMPLE_NS" /* between two samples of Python's frames; absent: none are taken */
#define SPOOL_ENV_NATIVE "GAPLINE_NATIVE"       /* "1": with what the innermost Python function has called */
#define SPOOL_ENV_MEMORY "GAPLINE_MEMORY"       /* "1": with allocations of device memory */

/* CUDA graphs: a launch is one operation, or each of their nodes. Auto: whole, but by node in a program of XLA (JAX,
 * TensorFlow), which CUPTI takes down otherwise. */
enum graph_trace { GRAPH_TRACE_AUTO, GRAPH_TRACE_WHOLE, GRAPH_TRACE_NODE };

/* ---- the file ---- */

enum spool_clock { SPOOL_MONOTONIC = 1, SPOOL_REALTIME = 2 }; /* clock_gettime; REALTIME when CUPTI takes no other */

struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t clock; /* enum spool_clock */
	uint32_t pid;   /* as the process sees itself */
	uint32_t parent;
	uint32_t writer;      /* thread id of the background thread: its own calls are not the program's; 0: none */
	uint32_t reserved;    /* 0 */
	int64_t monotonic_ns; /* both clocks, read together when the file was begun */
	int64_t realtime_ns;
};

enum spool_block_type {
	SPOOL_CUPTI = 1,    /* struct spool_cupti: which CUPTI, before the first buffer */
	SPOOL_RECORD_SIZES, /* struct spool_record_size[]: sizes of kinds met for the first time, before their buffer */
	SPOOL_BUFFER,       /* CUPTI activity records exactly as CUPTI returned them; pointers in them mean nothing but
	                     * as keys of SPOOL_KERNEL_NAME */
	SPOOL_KERNEL_NAME,  /* uint64_t: value of the record's `name`, then the mangled name; holds from here on, until
	                     * another name comes for the same value */
	SPOOL_CALLBACK_NAMES, /* struct spool_callback[] with texts: names of API calls by domain and callback id */
	SPOOL_EVENTS,         /* struct spool_event[] of the thread `tid` of the block, by time */
	SPOOL_DEVICE,         /* struct spool_device */
	SPOOL_DRIVER,         /* text: version of the NVIDIA driver, "580.159.04" */
	SPOOL_PROGRAM,        /* text: base name of the program */
	SPOOL_THREAD_NAME,    /* text: name of the thread `tid` of the block; a later one replaces it */
	SPOOL_DROPPED,        /* struct spool_dropped */
	SPOOL_MESSAGE,        /* struct spool_message: something that the user should know */
	SPOOL_WINDOW,         /* struct spool_window: collection was started or stopped while the program ran */
	SPOOL_END,            /* int64_t: time at which the process ended in an orderly way; always last. Without it the
	                       * process was killed, crashed or called _exit */
	SPOOL_SAMPLED,        /* struct spool_sampled */
	SPOOL_NATIVE_SAMPLED, /* struct spool_native_sampled */
	SPOOL_RANK /* int64_t: the process's number in a parallel job, as its launcher says (base/launcher.h) */
};

struct spool_block {
	uint32_t type;  /* enum spool_block_type; unknown types are skipped */
	uint32_t tid;   /* thread that the block is about, as gettid; 0: none */
	uint64_t bytes; /* of the payload, without padding */
};

struct spool_cupti {
	uint32_t api_version; /* cuptiGetVersion: 24, 130001, … */
	uint32_t cuda_driver; /* cuDriverGetVersion: 13000; 0 unknown */
	uint32_t graphs;      /* 1: graph launches are traced whole; 2: node by node */
	uint32_t calls;       /* 1: runtime calls; 3: driver calls too, but for those made inside runtime calls, which
	                       * CUPTI leaves out by itself. Calls that only ask for something are left out */
};

/* CUPTI's records differ between its versions and carry no length, so the library states what it saw: every record of
 * this kind has this size in this process. */
struct spool_record_size {
	uint32_t kind; /* CUpti_ActivityKind */
	uint32_t size; /* bytes */
};

struct spool_callback {
	uint32_t domain; /* CUpti_CallbackDomain: 1 driver, 2 runtime */
	uint32_t id;     /* CUpti_CallbackId */
	uint32_t bytes;  /* of this entry with its text, a multiple of 8 */
	uint32_t text_bytes;
	/* text: "cudaLaunchKernel_v7000" */
};

struct spool_device {
	uint32_t ordinal; /* as this process counts: deviceId of records */
	uint32_t sm_count;
	uint64_t memory_bytes;
	uint64_t memory_bandwidth; /* bytes a second, 0 unknown */
	uint64_t clock_hz;         /* highest SM clock */
	uint32_t compute_major, compute_minor;
	uint32_t pci_domain, pci_bus, pci_device;
	uint8_t uuid[16];
	uint32_t name_bytes;
	/* text: "NVIDIA H200" */
};

enum spool_dropped_what { SPOOL_DROPPED_CUPTI = 1, SPOOL_DROPPED_EVENTS = 2 }; /* CUPTI's records; NVTX or OS events */
struct spool_dropped {
	uint32_t what;
	uint32_t reserved;
	uint64_t count; /* since the last such block */
};

enum spool_severity { SPOOL_INFO = 1, SPOOL_WARNING = 2, SPOOL_ERROR = 3 }; /* ERROR: nothing could be collected */
struct spool_message {
	uint32_t severity;
	uint32_t code; /* enum spool_code */
		       /* text: one sentence, for people: what happened and what to do */
};
enum spool_code {
	SPOOL_CODE_OTHER = 0,
	SPOOL_CODE_NO_CUPTI,      /* no CUPTI was found */
	SPOOL_CODE_CUPTI_TOO_OLD, /* what was found does not fit the driver or lacks a function */
	SPOOL_CODE_CUPTI_TAKEN,   /* another tool uses CUPTI in this process */
	SPOOL_CODE_CUPTI_FAILED,  /* CUPTI refused something; the text says what and why */
	SPOOL_CODE_NO_PYTHON      /* a process that was to be sampled has no CPython */
};

struct spool_window {
	uint32_t open; /* 1: collection began, 0: it ended */
	uint32_t why;  /* 1: time (delay, duration), 2: cudaProfilerStart or -Stop */
	int64_t time;
};

/* Samples of Python's frames since the last such block. */
struct spool_sampled {
	uint64_t every_ns; /* the mean distance of two samples that was asked for */
	uint64_t taken;    /* samples that are events */
	uint64_t torn;     /* … that are not: what was read made no sense, four times */
	uint64_t moved;    /* of `taken`: the thread called or returned while it was read, four times */
};

/* Looking for what Python's functions had called, since the last such block; all but the last are samples. */
struct spool_native_sampled {
	uint64_t waiting;     /* the thread waited in the kernel, which said where */
	uint64_t running;     /* it was asked */
	uint64_t late;        /* it answered when it ran again: once for all samples until then */
	uint64_t missed;      /* it did not answer, because it holds the signal back */
	uint64_t moved;       /* its innermost Python frame was another one then */
	uint64_t unknown;     /* where it was is no code of a file */
	uint64_t interrupted; /* calls of the program that returned EINTR because of a question */
};

/* ---- events ---- */

enum spool_event_type {
	SPOOL_PUSH = 1, /* NVTX push/pop range begins */
	SPOOL_POP,      /* … ends: the newest open one of this thread and domain */
	SPOOL_START,    /* start/end range begins; `id` names it */
	SPOOL_STOP,     /* … ends, on whichever thread; `id` */
	SPOOL_MARK,
	SPOOL_DOMAIN,      /* `domain` is created; text: its name */
	SPOOL_STRING,      /* text is registered as `string` of `domain` */
	SPOOL_NAME_THREAD, /* text names the OS thread `id` */
	SPOOL_CATEGORY,    /* text names `category` of `domain` */
	SPOOL_OS_CALL,     /* a blocking call of the host: from `time` to `payload`; text: the function's name */
	SPOOL_FUNCTION,    /* Python function `id` of this file; text: its qualified name, NUL, base name of its file;
	                    * of the program's own files with the line where the function begins, "train.py:12"; `category`
	                    * 1: it is PyTorch's, Triton's or Python's own */
	SPOOL_SAMPLE,      /* Python frames of the thread `id` at `time`; text: uint32_t[], functions, innermost first;
	                    * `category` 1: outer frames were left out. Its own block is of the sampling thread */
	SPOOL_SCHEMA,  /* NVTX payloads with `id` are laid out in `domain` as struct spool_schema_entry[] in the text
	                * says; `category`: type of the schema, `payload`: bytes of such a payload, 0 not said, `string`:
	                * largest alignment of an entry, 0: each one's own */
	SPOOL_PAYLOAD, /* payloads of the range `id`, 0: of the one that is innermost on this thread in `domain`; text:
	                * uint64_t: how many; of each, three more: schema, bytes, and where they are in the text */
	SPOOL_MODULE,  /* module `id` of this file; text: its path, payload: its inode */
	SPOOL_NATIVE,  /* struct spool_native_frame[]: what the innermost function of the next SPOOL_SAMPLE, of the
	                * same `id` and `time`, had called, innermost first */
	SPOOL_LOCK,    /* what a sample of the thread `id` at `time` said of the interpreter's lock; `payload`: enum
	                * spool_gil << 32 | thread that held it, 0: none, or not known; text: uint64_t, how often it had
	                * changed hands before that was looked at */
	SPOOL_HOLDER,  /* as SPOOL_SAMPLE, of the thread `id` that held the lock for which the thread of the next
	                * SPOOL_LOCK waited, which has the same `time` */
	SPOOL_PYTHON_THREAD, /* text: what Python calls the thread `id` or, where that is not known, what the system
	                      * calls it; goes before SPOOL_THREAD_NAME, and a later one replaces it */
	SPOOL_NODE /* node `id` of a CUDA graph was made, or, where `payload` is not 0, is a copy of the node `payload`;
	            * both may be said of one, then it is a copy. So is a node of a child graph of what it was before it
	            * was moved into the graph that was instantiated. Text: struct spool_frame[], where in Python its
	            * thread was, innermost first; `category` 1: there were more */
};

/* Whether a thread that was sampled waited for the global interpreter lock. */
enum spool_gil { SPOOL_GIL_NOT = 1, SPOOL_GIL_WAITS };

enum spool_text { SPOOL_NO_TEXT, SPOOL_UTF8, SPOOL_WIDE, SPOOL_REGISTERED }; /* WIDE: wchar_t */

/* One event; 56 bytes and its text, padded to a multiple of 8. */
struct spool_event {
	int64_t time;
	uint32_t bytes;        /* of the whole event, a multiple of 8 */
	uint8_t type;          /* enum spool_event_type */
	uint8_t text;          /* enum spool_text; SPOOL_REGISTERED: the text is the string `string` of `domain` */
	uint16_t payload_type; /* nvtxPayloadType_t, 0: none */
	uint32_t domain;       /* of this process; 0: the default domain */
	uint32_t category;     /* 0: none */
	uint32_t color;        /* ARGB, when has_color */
	uint32_t has_color;
	uint64_t id;
	uint32_t string;     /* registered string, counted from 1 within the process; 0: none */
	uint32_t text_bytes; /* without padding */
	uint64_t payload;    /* bits of the payload; SPOOL_OS_CALL: the end. The text follows */
};

/* An entry of a payload's layout, as NVTX has it, and its name. */
struct spool_schema_entry {
	uint64_t flags, type, detail;
	uint64_t offset;     /* 0 of an entry that is not the first: where alignment puts it */
	uint32_t bytes;      /* of the entry with its name, a multiple of 8 */
	uint32_t name_bytes; /* without padding; the name follows */
};

struct spool_frame {
	uint32_t function, line; /* its number; 0: not known */
};

struct spool_native_frame {
	uint64_t offset; /* in the module's file */
	uint32_t module; /* its number */
	uint32_t back;   /* 1: where something returns to, and not where it is */
};

_Static_assert(sizeof(struct spool_header) == 48, "the file format");
_Static_assert(sizeof(struct spool_block) == 16, "the file format");
_Static_assert(sizeof(struct spool_event) == 56, "the file format");
_Static_assert(sizeof(struct spool_schema_entry) == 40, "the file format");

#endif
