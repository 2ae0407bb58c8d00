/* The reader of nsys SQLite exports, of every version since 2020. Inside gen/read only; the entry is nsys_read.
 *
 * Nothing here looks at a version number: tables and columns are used where they exist. Rows go to a builder
 * (trace/build.h), which names, numbers and checks; only names that rows use are looked up, once, in StringIds. */
#ifndef GAPLINE_READ_NSYS_H
#define GAPLINE_READ_NSYS_H

#include "read/db.h"
#include "read/read.h"
#include "read/source.h"
#include "trace/build.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>

struct nsys {
	struct db db;
	const char *path;
	const struct read_wish *wish;
	struct build build;
	struct names *names; /* these three are the builder's */
	struct arena *arena;
	struct trace *trace;
	struct err *err;

	const char **gpu_uuid, **gpu_bus; /* by GPU, "" where not stated: what tells physical GPUs apart */
	int64_t *gpu_number;              /* by GPU: the id in TARGET_INFO_GPU; -1: none */
	int64_t launcher;                 /* process id of gapline between nsys and the program, 0: none */
	bool own_collector;               /* gapline's own collector wrote the rows, not nsys */
	struct nsys_peak {                /* what PyTorch's allocator handed out at most, as a mark says it */
		int64_t pid, device, bytes;
	} * peaks;
	size_t n_peaks, room_peaks;
	struct nsys_made { /* of which module a kernel is that torch.compile made, as a mark says it */
		int64_t pid;
		const char *name, *module;
	} * made;
	size_t n_made, room_made;
};

int nsys_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
              struct arena *arena, struct trace *trace, struct err *err);

/* Whether a file is known as an export by having a table of this name, with others. A copy has to have it, too, be it
 * empty, or nobody knows what it is a copy of. */
bool nsys_is_mark(const char *table);

/* ---- nsys_ops.c: all tables of events ---- */
int nsys_read_events(struct nsys *r, struct source *source);

/* ---- nsys_host.c: what threads did ---- */
int nsys_read_calls(struct nsys *r);
int nsys_read_failures(struct nsys *r); /* source.incomplete: calls failed, so that kernels did not run */
int nsys_read_ranges(struct nsys *r);
int nsys_read_os_calls(struct nsys *r);
int nsys_read_overheads(struct nsys *r);
int nsys_read_thread_names(struct nsys *r); /* after all events */
int nsys_read_switches(struct nsys *r);

/* ---- nsys_samples.c: what they were executing ---- */
int nsys_read_samples(struct nsys *r);

int nsys_read_strings(struct nsys *r);

/* ---- nsys_info.c: where the profile comes from ---- */
int nsys_read_source(struct nsys *r);
int nsys_read_processes(struct nsys *r);
int nsys_read_gpus(struct nsys *r); /* after build_finish */
int nsys_read_diagnostics(struct nsys *r);

/* ---- nsys_ranks.c: when it began, on which host, as which rank of which job ---- */
int nsys_read_ranks(struct nsys *r);  /* after nsys_read_processes, before build_finish */
void nsys_give_ranks(struct nsys *r); /* after it */

uint64_t nsys_gpu_id(const struct nsys *r, const char *uuid, const char *bus); /* for trace_gpu.id */

/* ---- nsys_gapline.c: what gapline noted when it captured ---- */
int nsys_read_notes(struct nsys *r);
int nsys_read_gapline(struct nsys *r); /* after nsys_read_gpus */

/* ---- nsys_metrics.c: hardware counters of the GPUs ---- */
int nsys_read_metrics(struct nsys *r); /* after nsys_read_gpus */

/* ---- nsys_memory.c: memory of the GPUs that was allocated ---- */
int nsys_read_memory(struct nsys *r); /* after nsys_read_processes and build_finish */

/* ---- nsys_kernels.c: of which modules kernels are that torch.compile made ---- */
void nsys_read_kernel(struct nsys *r, int64_t pid, const char *mark, size_t n); /* what else it says is passed over */
void nsys_give_kernels(struct nsys *r);                                         /* after build_finish */

/* ---- nsys_gapline.c: runs of the same program whose time was taken ---- */
int nsys_read_stopwatch(struct nsys *r);

/* Who collected ("cupti", "nsys"), and how graphs were traced ("graph", "node"; others mean nothing). */
void nsys_note_collector(struct nsys *r, const char *collector);
void nsys_note_graph_mode(struct nsys *r, const char *mode);

/* ---- shared ---- */

/* globalTid: its low 24 bits are the thread's id, the next 24 the process's; without the thread's it is a globalPid. */
static const uint64_t NSYS_THREAD_BITS = 0xFFFFFF;

static inline uint64_t nsys_process_key(int64_t global)
{
	return (uint64_t)global & ~NSYS_THREAD_BITS;
}

static inline int64_t nsys_pid(int64_t global)
{
	return (int64_t)((uint64_t)global >> 24 & 0xFFFFFF);
}

static inline struct build_thread nsys_thread(int64_t global_tid)
{
	return (struct build_thread){.key = (uint64_t)global_tid,
	                             .process = nsys_process_key(global_tid),
	                             .pid = nsys_pid(global_tid),
	                             .tid = (int64_t)((uint64_t)global_tid & NSYS_THREAD_BITS)};
}

/* Why a row's values cannot be used (after all of them were asked for), or NULL. */
static inline const char *nsys_value_flaw(const struct scan *scan)
{
	if (__builtin_expect(!scan->flaws, 1))
		return NULL;
	return scan->flaws & SCAN_WRONG_TYPE ? "holds a value of the wrong type" : "lacks a value";
}

/* scan_open_numbers, and tells the builder where the rows are from. */
int nsys_scan_numbers(struct nsys *r, struct scan *scan, const char *table, const char *const *columns, int n_columns,
                      int first_number);

static inline int nsys_scan(struct nsys *r, struct scan *scan, const char *table, const char *const *columns,
                            int n_columns)
{
	return nsys_scan_numbers(r, scan, table, columns, n_columns, n_columns);
}

/* A sample of hardware counters as nsys exported it before 2023, a JSON object in GENERIC_EVENTS.data:
 * {"SMs Active": "40", "Tensor Active": "3"}; and which counters are known, by their names. */

/* The counter that a name of `n` bytes means, as nsys's documentation lists them ("GPU Metrics"). METRIC_COUNT: another
 * one, or in a unit that is no percentage: "[Avg Warps per Cycle]". */
enum metric metric_of_name(const char *name, size_t n);

/* One known counter of a sample: what it is called, and its number as it is written. Neither ends with a NUL. */
struct metric_value {
	enum metric metric;
	const char *name, *number;
	size_t name_n, number_n;
	double value;
};

/* Calls `found` for each known counter with a number, in the order of the text. Returns whether the text is one JSON
 * value and not nested too deep; where it is not, what `found` was told counts for nothing. */
bool metric_sample_read(const char *text, size_t n, void (*found)(void *context, const struct metric_value *value),
                        void *context);

/* What NVTX ranges of NCCL say of a collective: their payloads, as nsys exports them.
 *
 * `nsys export --include-blobs=true` writes a range's payloads into NVTX_EVENTS.binaryData: their number, then for each
 * one the id of its layout, its size and where in the bytes it stands, eight bytes each; the payloads follow. Layouts
 * are in NVTX_PAYLOAD_SCHEMA_ENTRIES. `--include-json=true` writes the same as text, {"NCCL communicator ID":…}, into
 * jsonText. (Both seen of nsys 2025.3 with NCCL 2.28.) What is read are the entries that NCCL calls "NCCL communicator
 * ID", "Message size [bytes]", "Peer rank", "Root", "No. of ranks" and "Rank" (NCCL's
 * src/include/nvtx_payload_schemas.h); payloads without the first one are somebody else's. */

enum payload_entry { PAYLOAD_COMM, PAYLOAD_BYTES, PAYLOAD_PEER, PAYLOAD_RANKS, PAYLOAD_RANK, PAYLOAD_ENTRIES };

/* A layout: where the entries stand, and how many bytes they have; 0: it has no such entry. */
struct payload_layout {
	uint64_t id;
	uint16_t at[PAYLOAD_ENTRIES];
	uint8_t size[PAYLOAD_ENTRIES];
	bool contradicted; /* two processes have another layout by this id */
};

struct payloads {
	struct payload_layout *list;
	size_t n, room;
};

/* The layouts, from `arena`. -1 with the database's err: the table is damaged. */
int payloads_read(struct db *db, struct arena *arena, struct payloads *out);

/* What the row at hand says: `binary` and `json` are its columns for the two. False: nothing of NCCL. Values of a wrong
 * type, and bytes that do not fit their layout, say nothing. */
bool payloads_of_row(const struct payloads *payloads, struct scan *scan, int binary, int json, int64_t domain,
                     struct build_comm_call *out);

/* The two forms. */
bool payloads_of_bytes(const struct payloads *payloads, const unsigned char *bytes, size_t n,
                       struct build_comm_call *out);
bool payloads_of_json(const char *text, size_t n, struct build_comm_call *out);

/* Binds what a payload says, as text and nothing else of it, to a parameter of a statement; NULL where it is nothing of
 * NCCL. SQLite's result. */
int payloads_bind(const struct payloads *payloads, sqlite3_value *value, sqlite3_stmt *to, int parameter);

#endif
