/* CUPTI's activity records as they lie in a spool's buffers: which sizes are known, and where the values are. Our own
 * table, so that conversion needs neither CUPTI nor its headers; records_check.c holds it against those headers where
 * the CUDA toolkit is. Newer layouts of a kind only append to older ones, so a kind has one set of offsets, and its
 * size says which values are there (cupti_activity.h and cupti_activity_deprecated.h of CUDA 12.0 to 13.0).
 *
 * Values are copied out: a buffer that a program wrote over need not keep any alignment. */
#ifndef GAPLINE_CAPTURE_RECORDS_H
#define GAPLINE_CAPTURE_RECORDS_H

#include "base/err.h"
#include "capture/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum record_kind { /* CUpti_ActivityKind, those that become rows */
	           RECORD_MEMCPY = 1,
	           RECORD_MEMSET = 2,
	           RECORD_KERNEL = 3,
	           RECORD_DRIVER = 4,
	           RECORD_RUNTIME = 5,
	           RECORD_CONCURRENT_KERNEL = 10,
	           RECORD_OVERHEAD = 17,
	           RECORD_MEMCPY2 = 22, /* between two devices */
	           RECORD_SYNCHRONIZATION = 38,
	           RECORD_GRAPH_TRACE = 51,
	           RECORD_DEVICE_GRAPH_TRACE = 53, /* launched by a kernel */
	           RECORD_KINDS = 64               /* kinds from here on are not used */
};

/* Sizes of the layouts; each layout also has the values of the smaller ones. */
enum {
	KERNEL7_BYTES = 176,
	KERNEL8_BYTES = 200, /* adds localMemoryTotal_v2 */
	KERNEL9_BYTES = 208,
	KERNEL10_BYTES = 216,
	MEMCPY5_BYTES = 88,
	MEMCPY6_BYTES = 96, /* adds copyCount */
	PEER_COPY3_BYTES = 88,
	PEER_COPY4_BYTES = 96,
	MEMSET3_BYTES = 80,
	MEMSET4_BYTES = 88,
	CALL_BYTES = 40,
	SYNC1_BYTES = 40,
	SYNC2_BYTES = 56, /* adds cudaEventSyncId */
	OVERHEAD1_BYTES = 40,
	OVERHEAD2_BYTES = 48, /* adds correlationId */
	OVERHEAD3_BYTES = 56,
	GRAPH1_BYTES = 48,
	GRAPH2_BYTES = 56,
	DEVICE_GRAPH_BYTES = 56
};

enum {                          /* CUpti_ActivityKernel7 to 10 */
       KERNEL_CACHE_CONFIG = 4, /* u8: the high half is the one in effect */
       KERNEL_REGISTERS = 6,    /* u16 */
       KERNEL_START = 16,       /* u64, as all times */
       KERNEL_END = 24,
       KERNEL_DEVICE = 40, /* u32, as all that follow but those noted */
       KERNEL_CONTEXT = 44,
       KERNEL_STREAM = 48,
       KERNEL_GRID = 52,  /* i32[3] */
       KERNEL_BLOCK = 64, /* i32[3] */
       KERNEL_STATIC_SHARED = 76,
       KERNEL_DYNAMIC_SHARED = 80,
       KERNEL_LOCAL_PER_THREAD = 84,
       KERNEL_LOCAL_TOTAL = 88,
       KERNEL_CORRELATION = 92,
       KERNEL_GRID_ID = 96,      /* i64 */
       KERNEL_NAME = 104,        /* pointer */
       KERNEL_LAUNCH_TYPE = 136, /* u8 */
       KERNEL_SHARED_EXECUTED = 140,
       KERNEL_GRAPH_NODE = 144, /* u64 */
       KERNEL_SHARED_LIMIT = 152,
       KERNEL_LOCAL_TOTAL_V2 = 192 /* u64 */
};

enum {                /* CUpti_ActivityMemcpy5 and 6 */
       COPY_KIND = 4, /* u8, as the two kinds of memory */
       COPY_SOURCE_KIND = 5,
       COPY_TARGET_KIND = 6,
       COPY_BYTES = 8, /* u64 */
       COPY_START = 16,
       COPY_END = 24,
       COPY_DEVICE = 32,
       COPY_CONTEXT = 36,
       COPY_STREAM = 40,
       COPY_CORRELATION = 44,
       COPY_GRAPH_NODE = 64, /* u64 */
       COPY_COUNT = 88       /* u64 */
};

enum { /* CUpti_ActivityMemcpyPtoP3 and 4: like the above up to the stream */
       PEER_SOURCE_DEVICE = 44,
       PEER_SOURCE_CONTEXT = 48,
       PEER_TARGET_DEVICE = 52,
       PEER_TARGET_CONTEXT = 56,
       PEER_CORRELATION = 60,
       PEER_GRAPH_NODE = 72 /* u64 */
};

enum { /* CUpti_ActivityMemset3 and 4 */
       SET_VALUE = 4,
       SET_BYTES = 8, /* u64 */
       SET_START = 16,
       SET_END = 24,
       SET_DEVICE = 32,
       SET_CONTEXT = 36,
       SET_STREAM = 40,
       SET_CORRELATION = 44,
       SET_MEMORY_KIND = 50, /* u16 */
       SET_GRAPH_NODE = 64   /* u64 */
};

enum { /* CUpti_ActivityAPI: runtime and driver calls */
       CALL_ID = 4,
       CALL_START = 8,
       CALL_END = 16,
       CALL_PROCESS = 24,
       CALL_THREAD = 28,
       CALL_CORRELATION = 32,
       CALL_RETURNED = 36
};

enum { /* CUpti_ActivitySynchronization and 2 */
       SYNC_TYPE = 4,
       SYNC_START = 8,
       SYNC_END = 16,
       SYNC_CORRELATION = 24,
       SYNC_CONTEXT = 28,
       SYNC_STREAM = 32,
       SYNC_EVENT = 36,
       SYNC_EVENT_SYNC = 40 /* u64 */
};

enum { /* CUpti_ActivityOverhead, 2 and 3 */
       OVERHEAD_KIND = 4,
       OVERHEAD_OBJECT_KIND = 8, /* CUpti_ActivityObjectKind */
       OVERHEAD_PROCESS = 12,    /* when the object is a process or a thread */
       OVERHEAD_THREAD = 16,
       OVERHEAD_START = 24,
       OVERHEAD_END = 32,
       OVERHEAD_CORRELATION = 40
};
enum { RECORD_OBJECT_THREAD = 2 }; /* of enum CUpti_ActivityObjectKind */

enum { /* CUpti_ActivityGraphTrace and 2 */
       GRAPH_CORRELATION = 4,
       GRAPH_START = 8,
       GRAPH_END = 16,
       GRAPH_DEVICE = 24,
       GRAPH_ID = 28,
       GRAPH_CONTEXT = 32,
       GRAPH_STREAM = 36
};

enum { /* CUpti_ActivityDeviceGraphTrace */
       DEVICE_GRAPH_DEVICE = 4,
       DEVICE_GRAPH_START = 8,
       DEVICE_GRAPH_END = 16,
       DEVICE_GRAPH_ID = 24,
       DEVICE_GRAPH_CONTEXT = 36,
       DEVICE_GRAPH_STREAM = 40 /* u64 */
};

/* What a file says about the sizes of its records, by kind; 0: not said. */
struct record_sizes {
	uint32_t bytes[RECORD_KINDS];
};

/* Takes the statements of a SPOOL_RECORD_SIZES block. -1 with `err`: a kind that is needed has a size that is not
 * known here. `path` and `cupti` (its version, as the user knows it) are for the message. */
int record_sizes_add(struct record_sizes *sizes, const struct spool_record_size *stated, size_t n, const char *path,
                     const char *cupti, struct err *err);

/* Walks over a buffer: 1: `record` is the next one, whole, of `kind`; 0: no more; -1: the rest cannot be read, because
 * it is cut off or of a kind without a stated size. */
struct record_walk {
	const unsigned char *at, *end;
	const struct record_sizes *sizes;
	const unsigned char *record;
	uint32_t kind;
};

static inline uint8_t record_u8(const unsigned char *record, int at)
{
	return record[at];
}

static inline uint16_t record_u16(const unsigned char *record, int at)
{
	uint16_t value;
	memcpy(&value, record + at, sizeof value);
	return value;
}

static inline uint32_t record_u32(const unsigned char *record, int at)
{
	uint32_t value;
	memcpy(&value, record + at, sizeof value);
	return value;
}

static inline uint64_t record_u64(const unsigned char *record, int at)
{
	uint64_t value;
	memcpy(&value, record + at, sizeof value);
	return value;
}

static inline int record_next(struct record_walk *w)
{
	size_t left = (size_t)(w->end - w->at);
	if (left == 0)
		return 0;
	if (left < sizeof w->kind)
		return -1;
	w->kind = record_u32(w->at, 0);
	uint32_t bytes = w->kind < RECORD_KINDS ? w->sizes->bytes[w->kind] : 0;
	if (bytes == 0 || bytes > left)
		return -1;
	w->record = w->at;
	w->at += bytes;
	return 1;
}

/* "kernels", "copies", …: what a kind that becomes rows holds; NULL for the others. */
const char *record_kind_name(uint32_t kind);

/* CUPTI's version as people know it, from the number that cuptiGetVersion gives: "13.0.1"; before 13 the CUDA release
 * that the number came with, "12.4". At most 32 bytes, to `text`. */
void record_cupti_version(uint32_t api_version, char text[32]);

#endif
