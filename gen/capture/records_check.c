/* Holds the table of records.h against NVIDIA's headers, when the CUDA toolkit is there to build with. No code. */
#include "capture/records.h"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cupti.h>

#define SIZE(record, bytes) _Static_assert(sizeof(record) == (bytes), #record)
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define PLACE(record, name, at, member) _Static_assert(offsetof(record, member) == (at), #record "." #member);

SAME(RECORD_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(RECORD_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(RECORD_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(RECORD_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(RECORD_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(RECORD_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(RECORD_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(RECORD_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(RECORD_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(RECORD_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(RECORD_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 130000 /* the headers of CUDA 12.4 lack it */
SAME(RECORD_DEVICE_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
#endif
SAME(RECORD_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);

#define LAYOUT(VALUES, record, bytes)                                                                                  \
	SIZE(record, bytes);                                                                                           \
	VALUES(PLACE, record)
#define PLAIN_VALUES(X, record) ANY_COPY_VALUES(X, record) COPY_VALUES(X, record)
#define BETWEEN_VALUES(X, record) ANY_COPY_VALUES(X, record) PEER_VALUES(X, record)

LAYOUT(KERNEL_VALUES, CUpti_ActivityKernel7, KERNEL7_BYTES)
LAYOUT(KERNEL_VALUES, CUpti_ActivityKernel8, KERNEL8_BYTES)
LAYOUT(KERNEL_VALUES, CUpti_ActivityKernel9, KERNEL9_BYTES)
PLACE(CUpti_ActivityKernel8, , KERNEL_LOCAL_TOTAL_V2, localMemoryTotal_v2)
PLACE(CUpti_ActivityKernel9, , KERNEL_LOCAL_TOTAL_V2, localMemoryTotal_v2)
PLACE(CUpti_ActivityKernel9, , KERNEL_GRID + 8, gridZ)
PLACE(CUpti_ActivityKernel9, , KERNEL_BLOCK + 8, blockZ)
LAYOUT(PLAIN_VALUES, CUpti_ActivityMemcpy5, MEMCPY5_BYTES)
LAYOUT(BETWEEN_VALUES, CUpti_ActivityMemcpyPtoP3, PEER_COPY3_BYTES)
LAYOUT(BETWEEN_VALUES, CUpti_ActivityMemcpyPtoP4, PEER_COPY4_BYTES)
LAYOUT(SET_VALUES, CUpti_ActivityMemset3, MEMSET3_BYTES)
LAYOUT(SET_VALUES, CUpti_ActivityMemset4, MEMSET4_BYTES)
LAYOUT(CALL_VALUES, CUpti_ActivityAPI, CALL_BYTES)
LAYOUT(OVERHEAD_VALUES, CUpti_ActivityOverhead, OVERHEAD1_BYTES)
LAYOUT(OVERHEAD_VALUES, CUpti_ActivityOverhead2, OVERHEAD2_BYTES)
LAYOUT(OVERHEAD_VALUES, CUpti_ActivityOverhead3, OVERHEAD3_BYTES)
PLACE(CUpti_ActivityOverhead2, , OVERHEAD_CORRELATION, correlationId)
PLACE(CUpti_ActivityOverhead3, , OVERHEAD_CORRELATION, correlationId)
LAYOUT(GRAPH_VALUES, CUpti_ActivityGraphTrace, GRAPH1_BYTES)
LAYOUT(GRAPH_VALUES, CUpti_ActivityGraphTrace2, GRAPH2_BYTES)
LAYOUT(SYNC_VALUES, CUpti_ActivitySynchronization, SYNC1_BYTES)
LAYOUT(MEMORY_VALUES, CUpti_ActivityMemory2, MEMORY2_BYTES)
LAYOUT(MEMORY_VALUES, CUpti_ActivityMemory3, MEMORY3_BYTES)
SAME(1, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
SAME(2, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);

#if CUPTI_API_VERSION >= 130000
LAYOUT(KERNEL_VALUES, CUpti_ActivityKernel10, KERNEL10_BYTES)
LAYOUT(MEMORY_VALUES, CUpti_ActivityMemory4, MEMORY4_BYTES)
PLACE(CUpti_ActivityKernel10, , KERNEL_LOCAL_TOTAL_V2, localMemoryTotal_v2)
LAYOUT(PLAIN_VALUES, CUpti_ActivityMemcpy6, MEMCPY6_BYTES)
PLACE(CUpti_ActivityMemcpy6, , COPY_COUNT, copyCount)
LAYOUT(SYNC_VALUES, CUpti_ActivitySynchronization2, SYNC2_BYTES)
PLACE(CUpti_ActivitySynchronization2, , SYNC_EVENT_SYNC, cudaEventSyncId)
LAYOUT(DEVICE_GRAPH_VALUES, CUpti_ActivityDeviceGraphTrace, DEVICE_GRAPH_BYTES)
#endif
#endif
