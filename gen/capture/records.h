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
	           RECORD_MEMORY = 49,
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
	DEVICE_GRAPH_BYTES = 56,
	MEMORY2_BYTES = 112, /* all have what is read here */
	MEMORY3_BYTES = 120,
	MEMORY4_BYTES = 128
};

/* Where the values of a record are: their name here, their place, and what NVIDIA's record calls them. X(record, name,
 * at, member) makes an enum of them here, and holds them against that record in records_check.c. */
#define KERNEL_VALUES(X, record) /* CUpti_ActivityKernel7 to 10. Times are u64; what is not noted is u32. */           \
	X(record, KERNEL_CACHE_CONFIG, 4, cacheConfig)     /* u8: the high half is the one in effect */                \
	X(record, KERNEL_REGISTERS, 6, registersPerThread) /* u16 */                                                   \
	X(record, KERNEL_START, 16, start)                                                                             \
	X(record, KERNEL_END, 24, end)                                                                                 \
	X(record, KERNEL_DEVICE, 40, deviceId)                                                                         \
	X(record, KERNEL_CONTEXT, 44, contextId)                                                                       \
	X(record, KERNEL_STREAM, 48, streamId)                                                                         \
	X(record, KERNEL_GRID, 52, gridX)   /* i32[3] */                                                               \
	X(record, KERNEL_BLOCK, 64, blockX) /* i32[3] */                                                               \
	X(record, KERNEL_STATIC_SHARED, 76, staticSharedMemory)                                                        \
	X(record, KERNEL_DYNAMIC_SHARED, 80, dynamicSharedMemory)                                                      \
	X(record, KERNEL_LOCAL_PER_THREAD, 84, localMemoryPerThread)                                                   \
	X(record, KERNEL_LOCAL_TOTAL, 88, localMemoryTotal)                                                            \
	X(record, KERNEL_CORRELATION, 92, correlationId)                                                               \
	X(record, KERNEL_GRID_ID, 96, gridId)          /* i64 */                                                       \
	X(record, KERNEL_NAME, 104, name)              /* pointer */                                                   \
	X(record, KERNEL_LAUNCH_TYPE, 136, launchType) /* u8 */                                                        \
	X(record, KERNEL_SHARED_EXECUTED, 140, sharedMemoryExecuted)                                                   \
	X(record, KERNEL_GRAPH_NODE, 144, graphNodeId) /* u64 */                                                       \
	X(record, KERNEL_SHARED_LIMIT, 152, shmemLimitConfig)
#define ANY_COPY_VALUES(X, record) /* what CUpti_ActivityMemcpy5 and 6, CUpti_ActivityMemcpyPtoP3 and 4 share */       \
	X(record, COPY_KIND, 4, copyKind) /* u8, as the two kinds of memory */                                         \
	X(record, COPY_SOURCE_KIND, 5, srcKind)                                                                        \
	X(record, COPY_TARGET_KIND, 6, dstKind)                                                                        \
	X(record, COPY_BYTES, 8, bytes) /* u64 */                                                                      \
	X(record, COPY_START, 16, start)                                                                               \
	X(record, COPY_END, 24, end)                                                                                   \
	X(record, COPY_DEVICE, 32, deviceId)                                                                           \
	X(record, COPY_CONTEXT, 36, contextId)                                                                         \
	X(record, COPY_STREAM, 40, streamId)
#define COPY_VALUES(X, record) /* of the former */                                                                     \
	X(record, COPY_CORRELATION, 44, correlationId)                                                                 \
	X(record, COPY_GRAPH_NODE, 64, graphNodeId) /* u64 */
#define PEER_VALUES(X, record)                      /* of the latter */                                                \
	X(record, PEER_SOURCE_DEVICE, 44, srcDeviceId)                                                                 \
	X(record, PEER_SOURCE_CONTEXT, 48, srcContextId)                                                               \
	X(record, PEER_TARGET_DEVICE, 52, dstDeviceId)                                                                 \
	X(record, PEER_TARGET_CONTEXT, 56, dstContextId)                                                               \
	X(record, PEER_CORRELATION, 60, correlationId)                                                                 \
	X(record, PEER_GRAPH_NODE, 72, graphNodeId) /* u64 */
#define SET_VALUES(X, record)                       /* CUpti_ActivityMemset3 and 4 */                                  \
	X(record, SET_VALUE, 4, value)                                                                                 \
	X(record, SET_BYTES, 8, bytes) /* u64 */                                                                       \
	X(record, SET_START, 16, start)                                                                                \
	X(record, SET_END, 24, end)                                                                                    \
	X(record, SET_DEVICE, 32, deviceId)                                                                            \
	X(record, SET_CONTEXT, 36, contextId)                                                                          \
	X(record, SET_STREAM, 40, streamId)                                                                            \
	X(record, SET_CORRELATION, 44, correlationId)                                                                  \
	X(record, SET_MEMORY_KIND, 50, memoryKind) /* u16 */                                                           \
	X(record, SET_GRAPH_NODE, 64, graphNodeId) /* u64 */
#define CALL_VALUES(X, record)                     /* CUpti_ActivityAPI: runtime and driver calls */                   \
	X(record, CALL_ID, 4, cbid)                                                                                    \
	X(record, CALL_START, 8, start)                                                                                \
	X(record, CALL_END, 16, end)                                                                                   \
	X(record, CALL_THREAD, 28, threadId)                                                                           \
	X(record, CALL_CORRELATION, 32, correlationId)                                                                 \
	X(record, CALL_RETURNED, 36, returnValue)
#define SYNC_VALUES(X, record) /* CUpti_ActivitySynchronization and 2 */                                               \
	X(record, SYNC_TYPE, 4, type)                                                                                  \
	X(record, SYNC_START, 8, start)                                                                                \
	X(record, SYNC_END, 16, end)                                                                                   \
	X(record, SYNC_CORRELATION, 24, correlationId)                                                                 \
	X(record, SYNC_CONTEXT, 28, contextId)                                                                         \
	X(record, SYNC_STREAM, 32, streamId)                                                                           \
	X(record, SYNC_EVENT, 36, cudaEventId)
#define OVERHEAD_VALUES(X, record) /* CUpti_ActivityOverhead, 2 and 3 */                                               \
	X(record, OVERHEAD_KIND, 4, overheadKind)                                                                      \
	X(record, OVERHEAD_OBJECT_KIND, 8, objectKind)       /* CUpti_ActivityObjectKind */                            \
	X(record, OVERHEAD_THREAD, 16, objectId.pt.threadId) /* when the object is a thread */                         \
	X(record, OVERHEAD_START, 24, start)                                                                           \
	X(record, OVERHEAD_END, 32, end)
#define GRAPH_VALUES(X, record) /* CUpti_ActivityGraphTrace and 2 */                                                   \
	X(record, GRAPH_CORRELATION, 4, correlationId)                                                                 \
	X(record, GRAPH_START, 8, start)                                                                               \
	X(record, GRAPH_END, 16, end)                                                                                  \
	X(record, GRAPH_DEVICE, 24, deviceId)                                                                          \
	X(record, GRAPH_ID, 28, graphId)                                                                               \
	X(record, GRAPH_CONTEXT, 32, contextId)                                                                        \
	X(record, GRAPH_STREAM, 36, streamId)
#define DEVICE_GRAPH_VALUES(X, record) /* CUpti_ActivityDeviceGraphTrace */                                            \
	X(record, DEVICE_GRAPH_DEVICE, 4, deviceId)                                                                    \
	X(record, DEVICE_GRAPH_START, 8, start)                                                                        \
	X(record, DEVICE_GRAPH_END, 16, end)                                                                           \
	X(record, DEVICE_GRAPH_ID, 24, graphId)                                                                        \
	X(record, DEVICE_GRAPH_CONTEXT, 36, contextId)                                                                 \
	X(record, DEVICE_GRAPH_STREAM, 40, streamId)        /* u64 */
#define MEMORY_VALUES(X, record)                            /* CUpti_ActivityMemory2 to 4 */                           \
	X(record, MEMORY_OPERATION, 4, memoryOperationType) /* 1: allocated, 2: freed */                               \
	X(record, MEMORY_OF_KIND, 8, memoryKind)                                                                       \
	X(record, MEMORY_CORRELATION, 12, correlationId)                                                               \
	X(record, MEMORY_ADDRESS, 16, address) /* u64 */                                                               \
	X(record, MEMORY_BYTES, 24, bytes)     /* u64 */                                                               \
	X(record, MEMORY_TIME, 32, timestamp)                                                                          \
	X(record, MEMORY_DEVICE_ID, 52, deviceId)                                                                      \
	X(record, MEMORY_CONTEXT, 56, contextId)

#define RECORD_PLACE(record, name, at, member) name = (at),
enum {
	KERNEL_VALUES(RECORD_PLACE, ) ANY_COPY_VALUES(RECORD_PLACE, ) COPY_VALUES(RECORD_PLACE, )
		PEER_VALUES(RECORD_PLACE, ) SET_VALUES(RECORD_PLACE, ) CALL_VALUES(RECORD_PLACE, )
			SYNC_VALUES(RECORD_PLACE, ) OVERHEAD_VALUES(RECORD_PLACE, ) GRAPH_VALUES(RECORD_PLACE, )
				DEVICE_GRAPH_VALUES(RECORD_PLACE, ) MEMORY_VALUES(RECORD_PLACE, )
	/* what only newer layouts have */
	KERNEL_LOCAL_TOTAL_V2 = 192, /* u64 */
	COPY_COUNT = 88,             /* u64 */
	SYNC_EVENT_SYNC = 40,        /* u64 */
	OVERHEAD_CORRELATION = 40,
	RECORD_OBJECT_THREAD = 2 /* of enum CUpti_ActivityObjectKind */
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
