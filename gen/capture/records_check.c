/* Holds the table of records.h against NVIDIA's headers, when the CUDA toolkit is there to build with. No code. */
#include "capture/records.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cupti.h>

#define SIZE(record, bytes) _Static_assert(sizeof(record) == (bytes), #record)
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define PLACE(record, member, at) _Static_assert(offsetof(record, member) == (at), #record "." #member)

SAME(RECORD_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(RECORD_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(RECORD_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(RECORD_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(RECORD_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(RECORD_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(RECORD_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(RECORD_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(RECORD_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(RECORD_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 130000 /* the headers of CUDA 12.4 lack it */
SAME(RECORD_DEVICE_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
#endif
SAME(RECORD_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);

#define KERNEL(record)                                                                                                 \
	PLACE(record, cacheConfig, KERNEL_CACHE_CONFIG);                                                               \
	PLACE(record, registersPerThread, KERNEL_REGISTERS);                                                           \
	PLACE(record, start, KERNEL_START);                                                                            \
	PLACE(record, end, KERNEL_END);                                                                                \
	PLACE(record, deviceId, KERNEL_DEVICE);                                                                        \
	PLACE(record, contextId, KERNEL_CONTEXT);                                                                      \
	PLACE(record, streamId, KERNEL_STREAM);                                                                        \
	PLACE(record, gridX, KERNEL_GRID);                                                                             \
	PLACE(record, gridZ, KERNEL_GRID + 8);                                                                         \
	PLACE(record, blockX, KERNEL_BLOCK);                                                                           \
	PLACE(record, blockZ, KERNEL_BLOCK + 8);                                                                       \
	PLACE(record, staticSharedMemory, KERNEL_STATIC_SHARED);                                                       \
	PLACE(record, dynamicSharedMemory, KERNEL_DYNAMIC_SHARED);                                                     \
	PLACE(record, localMemoryPerThread, KERNEL_LOCAL_PER_THREAD);                                                  \
	PLACE(record, localMemoryTotal, KERNEL_LOCAL_TOTAL);                                                           \
	PLACE(record, correlationId, KERNEL_CORRELATION);                                                              \
	PLACE(record, gridId, KERNEL_GRID_ID);                                                                         \
	PLACE(record, name, KERNEL_NAME);                                                                              \
	PLACE(record, launchType, KERNEL_LAUNCH_TYPE);                                                                 \
	PLACE(record, sharedMemoryExecuted, KERNEL_SHARED_EXECUTED);                                                   \
	PLACE(record, graphNodeId, KERNEL_GRAPH_NODE);                                                                 \
	PLACE(record, shmemLimitConfig, KERNEL_SHARED_LIMIT)

SIZE(CUpti_ActivityKernel7, KERNEL7_BYTES);
KERNEL(CUpti_ActivityKernel7);
SIZE(CUpti_ActivityKernel8, KERNEL8_BYTES);
KERNEL(CUpti_ActivityKernel8);
PLACE(CUpti_ActivityKernel8, localMemoryTotal_v2, KERNEL_LOCAL_TOTAL_V2);
SIZE(CUpti_ActivityKernel9, KERNEL9_BYTES);
KERNEL(CUpti_ActivityKernel9);
PLACE(CUpti_ActivityKernel9, localMemoryTotal_v2, KERNEL_LOCAL_TOTAL_V2);

#define COPY(record)                                                                                                   \
	PLACE(record, copyKind, COPY_KIND);                                                                            \
	PLACE(record, srcKind, COPY_SOURCE_KIND);                                                                      \
	PLACE(record, dstKind, COPY_TARGET_KIND);                                                                      \
	PLACE(record, bytes, COPY_BYTES);                                                                              \
	PLACE(record, start, COPY_START);                                                                              \
	PLACE(record, end, COPY_END);                                                                                  \
	PLACE(record, deviceId, COPY_DEVICE);                                                                          \
	PLACE(record, contextId, COPY_CONTEXT);                                                                        \
	PLACE(record, streamId, COPY_STREAM)
#define PLAIN_COPY(record)                                                                                             \
	COPY(record);                                                                                                  \
	PLACE(record, correlationId, COPY_CORRELATION);                                                                \
	PLACE(record, graphNodeId, COPY_GRAPH_NODE)
#define PEER_COPY(record)                                                                                              \
	COPY(record);                                                                                                  \
	PLACE(record, srcDeviceId, PEER_SOURCE_DEVICE);                                                                \
	PLACE(record, srcContextId, PEER_SOURCE_CONTEXT);                                                              \
	PLACE(record, dstDeviceId, PEER_TARGET_DEVICE);                                                                \
	PLACE(record, dstContextId, PEER_TARGET_CONTEXT);                                                              \
	PLACE(record, correlationId, PEER_CORRELATION);                                                                \
	PLACE(record, graphNodeId, PEER_GRAPH_NODE)

SIZE(CUpti_ActivityMemcpy5, MEMCPY5_BYTES);
PLAIN_COPY(CUpti_ActivityMemcpy5);
SIZE(CUpti_ActivityMemcpyPtoP3, PEER_COPY3_BYTES);
PEER_COPY(CUpti_ActivityMemcpyPtoP3);
SIZE(CUpti_ActivityMemcpyPtoP4, PEER_COPY4_BYTES);
PEER_COPY(CUpti_ActivityMemcpyPtoP4);

#define SET(record)                                                                                                    \
	PLACE(record, value, SET_VALUE);                                                                               \
	PLACE(record, bytes, SET_BYTES);                                                                               \
	PLACE(record, start, SET_START);                                                                               \
	PLACE(record, end, SET_END);                                                                                   \
	PLACE(record, deviceId, SET_DEVICE);                                                                           \
	PLACE(record, contextId, SET_CONTEXT);                                                                         \
	PLACE(record, streamId, SET_STREAM);                                                                           \
	PLACE(record, correlationId, SET_CORRELATION);                                                                 \
	PLACE(record, memoryKind, SET_MEMORY_KIND);                                                                    \
	PLACE(record, graphNodeId, SET_GRAPH_NODE)

SIZE(CUpti_ActivityMemset3, MEMSET3_BYTES);
SET(CUpti_ActivityMemset3);
SIZE(CUpti_ActivityMemset4, MEMSET4_BYTES);
SET(CUpti_ActivityMemset4);

SIZE(CUpti_ActivityAPI, CALL_BYTES);
PLACE(CUpti_ActivityAPI, cbid, CALL_ID);
PLACE(CUpti_ActivityAPI, start, CALL_START);
PLACE(CUpti_ActivityAPI, end, CALL_END);
PLACE(CUpti_ActivityAPI, processId, CALL_PROCESS);
PLACE(CUpti_ActivityAPI, threadId, CALL_THREAD);
PLACE(CUpti_ActivityAPI, correlationId, CALL_CORRELATION);
PLACE(CUpti_ActivityAPI, returnValue, CALL_RETURNED);

#define SYNC(record)                                                                                                   \
	PLACE(record, type, SYNC_TYPE);                                                                                \
	PLACE(record, start, SYNC_START);                                                                              \
	PLACE(record, end, SYNC_END);                                                                                  \
	PLACE(record, correlationId, SYNC_CORRELATION);                                                                \
	PLACE(record, contextId, SYNC_CONTEXT);                                                                        \
	PLACE(record, streamId, SYNC_STREAM);                                                                          \
	PLACE(record, cudaEventId, SYNC_EVENT)

#define OVERHEAD(record)                                                                                               \
	PLACE(record, overheadKind, OVERHEAD_KIND);                                                                    \
	PLACE(record, objectKind, OVERHEAD_OBJECT_KIND);                                                               \
	PLACE(record, objectId.pt.processId, OVERHEAD_PROCESS);                                                        \
	PLACE(record, objectId.pt.threadId, OVERHEAD_THREAD);                                                          \
	PLACE(record, start, OVERHEAD_START);                                                                          \
	PLACE(record, end, OVERHEAD_END)

SIZE(CUpti_ActivityOverhead, OVERHEAD1_BYTES);
OVERHEAD(CUpti_ActivityOverhead);
SIZE(CUpti_ActivityOverhead2, OVERHEAD2_BYTES);
OVERHEAD(CUpti_ActivityOverhead2);
PLACE(CUpti_ActivityOverhead2, correlationId, OVERHEAD_CORRELATION);
SIZE(CUpti_ActivityOverhead3, OVERHEAD3_BYTES);
OVERHEAD(CUpti_ActivityOverhead3);
PLACE(CUpti_ActivityOverhead3, correlationId, OVERHEAD_CORRELATION);

#define GRAPH(record)                                                                                                  \
	PLACE(record, correlationId, GRAPH_CORRELATION);                                                               \
	PLACE(record, start, GRAPH_START);                                                                             \
	PLACE(record, end, GRAPH_END);                                                                                 \
	PLACE(record, deviceId, GRAPH_DEVICE);                                                                         \
	PLACE(record, graphId, GRAPH_ID);                                                                              \
	PLACE(record, contextId, GRAPH_CONTEXT);                                                                       \
	PLACE(record, streamId, GRAPH_STREAM)

SIZE(CUpti_ActivityGraphTrace, GRAPH1_BYTES);
GRAPH(CUpti_ActivityGraphTrace);
SIZE(CUpti_ActivityGraphTrace2, GRAPH2_BYTES);
GRAPH(CUpti_ActivityGraphTrace2);

#if CUPTI_API_VERSION >= 130000
SIZE(CUpti_ActivityDeviceGraphTrace, DEVICE_GRAPH_BYTES);
PLACE(CUpti_ActivityDeviceGraphTrace, deviceId, DEVICE_GRAPH_DEVICE);
PLACE(CUpti_ActivityDeviceGraphTrace, start, DEVICE_GRAPH_START);
PLACE(CUpti_ActivityDeviceGraphTrace, end, DEVICE_GRAPH_END);
PLACE(CUpti_ActivityDeviceGraphTrace, graphId, DEVICE_GRAPH_ID);
PLACE(CUpti_ActivityDeviceGraphTrace, contextId, DEVICE_GRAPH_CONTEXT);
PLACE(CUpti_ActivityDeviceGraphTrace, streamId, DEVICE_GRAPH_STREAM);
#endif

SIZE(CUpti_ActivitySynchronization, SYNC1_BYTES);
SYNC(CUpti_ActivitySynchronization);

#if CUPTI_API_VERSION >= 130000
SIZE(CUpti_ActivityKernel10, KERNEL10_BYTES);
KERNEL(CUpti_ActivityKernel10);
PLACE(CUpti_ActivityKernel10, localMemoryTotal_v2, KERNEL_LOCAL_TOTAL_V2);
SIZE(CUpti_ActivityMemcpy6, MEMCPY6_BYTES);
PLAIN_COPY(CUpti_ActivityMemcpy6);
PLACE(CUpti_ActivityMemcpy6, copyCount, COPY_COUNT);
SIZE(CUpti_ActivitySynchronization2, SYNC2_BYTES);
SYNC(CUpti_ActivitySynchronization2);
PLACE(CUpti_ActivitySynchronization2, cudaEventSyncId, SYNC_EVENT_SYNC);
#endif
#endif
