/* Names, types and order of the columns are nsys's: other tools know them. */
#include "capture/profile.h"

#define OP_COLUMNS                                                                                                     \
	"start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "        \
	"greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER"

const struct profile_layout PROFILE_LAYOUTS[PROFILE_TABLES] = {
	[PROFILE_STRINGS] = {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"},
	[PROFILE_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL", OP_COLUMNS
                            ", demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, "
                            "launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX "
                            "INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT "
                            "NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT "
                            "NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, "
                            "localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, "
                            "graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER"},
	[PROFILE_COPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY", OP_COLUMNS
                          ", bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, "
                          "srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, "
                          "dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, "
                          "virtualAddress INTEGER, copyCount INTEGER"},
	[PROFILE_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET",
                            OP_COLUMNS ", value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, "
                                       "memKind INTEGER"},
	[PROFILE_GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                           OP_COLUMNS ", graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL"},
	[PROFILE_GRAPH_NODE] = {"CUDA_GRAPH_NODE_EVENTS",
                                "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
                                "globalTid INTEGER, nameId INTEGER NOT NULL, graphNodeId INTEGER NOT NULL, "
                                "originalGraphNodeId INTEGER, callchainId INTEGER"},
	[PROFILE_CALL] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                          "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
                          "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, "
                          "returnValue INTEGER NOT NULL, callchainId INTEGER"},
	[PROFILE_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                          OP_COLUMNS ", deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, "
                                     "eventId INTEGER NOT NULL, eventSyncId INTEGER"},
	[PROFILE_MEMORY] = {"CUDA_GPU_MEMORY_USAGE_EVENTS",
                            "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
                            "contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, "
                            "bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, "
                            "name TEXT, correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER, "
                            "localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, "
                            "localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER, "
                            "importedMemoryPoolProcessId INTEGER"},
	/* Of a later layout (2025.5): the one before keeps CUPTI's overheads by their names only, and so cannot tell
         * the profiler's own from the program's loading and compiling. */
	[PROFILE_OVERHEAD] = {"CUPTI_ACTIVITY_KIND_OVERHEAD",
                              "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid "
                              "INTEGER, correlationId INTEGER, nameId INTEGER, overheadType INTEGER NOT NULL"},
	[PROFILE_NVTX] = {"NVTX_EVENTS",
                          "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
                          "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, "
                          "textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, "
                          "doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, "
                          "jsonTextId INTEGER, jsonText TEXT, binaryData TEXT"},
	[PROFILE_SCHEMA] = {"NVTX_PAYLOAD_SCHEMAS", "domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, "
                                                    "flags INTEGER, numEntries INTEGER, payloadSize INTEGER, "
                                                    "alignTo INTEGER"},
	[PROFILE_SCHEMA_ENTRY] = {"NVTX_PAYLOAD_SCHEMA_ENTRIES",
                                  "domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, "
                                  "flags INTEGER, type INTEGER, name TEXT, description TEXT, "
                                  "arrayOrUnionDetail INTEGER, offset INTEGER"},
	[PROFILE_OSRT] = {"OSRT_API", "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
                                      "globalTid INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
                                      "nestingLevel INTEGER, callchainId INTEGER NOT NULL"},
	[PROFILE_SAMPLE] = {"COMPOSITE_EVENTS", "id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER, "
                                                "threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL"},
	/* Without nsys's key (id, stackDepth), which would take as much room as the rows. */
	[PROFILE_STACK] = {"SAMPLING_CALLCHAINS",
                           "id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, "
                           "kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, "
                           "originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL"},
	/* With two columns of ours, and without nsys's key. */
	[PROFILE_CALLCHAIN] = {"CUDA_CALLCHAINS",
                               "id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, "
                               "unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL, line INTEGER, "
                               "library INTEGER"},
	/* Ours: capture/annotate.h. */
	[PROFILE_GIL] = {"GAPLINE_GIL", "start INTEGER NOT NULL, globalTid INTEGER NOT NULL, waits INTEGER NOT NULL, "
                                        "holder INTEGER, sampleId INTEGER, switches INTEGER"},
	[PROFILE_THREAD_NAMES] = {"ThreadNames", "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER"},
	[PROFILE_PROCESSES] = {"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"},
	/* Ours: capture/annotate.h. */
	[PROFILE_RANK] = {"GAPLINE_RANK", "globalPid INTEGER NOT NULL, rank INTEGER NOT NULL"},
	[PROFILE_GPU] = {"TARGET_INFO_GPU",
                         "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, "
                         "l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, "
                         "smCount INTEGER, pwGpuId INTEGER, uuid TEXT, luid INTEGER, chipName TEXT, cuDevice INTEGER, "
                         "ctxswDevPath TEXT, ctrlDevPath TEXT, revision INTEGER, nodeMask INTEGER, constantMemory "
                         "INTEGER, maxIPC INTEGER, maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, "
                         "maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, "
                         "threadsPerWarp INTEGER, asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, "
                         "maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, maxBlockDimY INTEGER, maxBlockDimZ "
                         "INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER, computeMajor "
                         "INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER"},
	[PROFILE_CUDA_DEVICE] = {"TARGET_INFO_CUDA_DEVICE",
                                 "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL"},
	[PROFILE_SYSTEM] = {"TARGET_INFO_SYSTEM_ENV",
                            "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, "
                            "nameEnum INTEGER NOT NULL, value TEXT NOT NULL"},
	[PROFILE_START_TIME] = {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT"},
	[PROFILE_ANALYSIS] = {"ANALYSIS_DETAILS",
                              "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, "
                              "stopTime INTEGER NOT NULL"},
	[PROFILE_DIAGNOSTIC] = {"DIAGNOSTIC_EVENT",
                                "timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, "
                                "severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER"},
	[PROFILE_CAPTURE_DATA] = {"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT"},
	[PROFILE_EXPORT_DATA] = {"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"},
};

/* What the numbers in our tables mean, in nsys's words: its reports join with these tables. Grouped by table. */
const struct profile_enum PROFILE_ENUMS[] = {
	{"ENUM_NSYS_EVENT_TYPE", 33, "NvtxCategory", "NvtxCategory"},
	{"ENUM_NSYS_EVENT_TYPE", 34, "NvtxMark", "NvtxMark"},
	{"ENUM_NSYS_EVENT_TYPE", 39, "NvtxThread", "NvtxThread"},
	{"ENUM_NSYS_EVENT_TYPE", 59, "NvtxPushPopRange", "NvtxPushPopRange"},
	{"ENUM_NSYS_EVENT_TYPE", 60, "NvtxStartEndRange", "NvtxStartEndRange"},
	{"ENUM_NSYS_EVENT_TYPE", 75, "NvtxDomainCreate", "NvtxDomainCreate"},
	{"ENUM_NSYS_EVENT_CLASS", 0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
	{"ENUM_NSYS_EVENT_CLASS", 1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
	{"ENUM_NSYS_EVENT_CLASS", 3, "TRACE_PROCESS_EVENT_TSP_OVERHEAD", "TSP overhead"},
	{"ENUM_NSYS_EVENT_CLASS", 27, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"},
	{"ENUM_NSYS_EVENT_CLASS", 77, "TRACE_PROCESS_EVENT_CUDA_GRAPH_NODE_CREATION", "CUDA graph node creation"},
	{"ENUM_CUDA_MEMCPY_OPER", 0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
	{"ENUM_CUDA_MEMCPY_OPER", 1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
	{"ENUM_CUDA_MEMCPY_OPER", 2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
	{"ENUM_CUDA_MEMCPY_OPER", 3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
	{"ENUM_CUDA_MEMCPY_OPER", 4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
	{"ENUM_CUDA_MEMCPY_OPER", 5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
	{"ENUM_CUDA_MEMCPY_OPER", 6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
	{"ENUM_CUDA_MEMCPY_OPER", 7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
	{"ENUM_CUDA_MEMCPY_OPER", 8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
	{"ENUM_CUDA_MEMCPY_OPER", 9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
	{"ENUM_CUDA_MEMCPY_OPER", 10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
	{"ENUM_CUDA_MEMCPY_OPER", 11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
	{"ENUM_CUDA_MEMCPY_OPER", 12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
	{"ENUM_CUDA_MEMCPY_OPER", 13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
	{"ENUM_CUDA_MEM_KIND", 0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
	{"ENUM_CUDA_MEM_KIND", 1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
	{"ENUM_CUDA_MEM_KIND", 2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
	{"ENUM_CUDA_MEM_KIND", 3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
	{"ENUM_CUDA_MEM_KIND", 4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
	{"ENUM_CUDA_MEM_KIND", 5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
	{"ENUM_CUDA_MEM_KIND", 6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
	{"ENUM_CUDA_MEM_KIND", 7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
	{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", 0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
	{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", 1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
	{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", 2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
	{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", 3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
	{"ENUM_CUDA_FUNC_CACHE_CONFIG", 0, "CU_FUNC_CACHE_PREFER_NONE", "None"},
	{"ENUM_CUDA_FUNC_CACHE_CONFIG", 1, "CU_FUNC_CACHE_PREFER_SHARED", "Shared"},
	{"ENUM_CUDA_FUNC_CACHE_CONFIG", 2, "CU_FUNC_CACHE_PREFER_L1", "L1"},
	{"ENUM_CUDA_FUNC_CACHE_CONFIG", 3, "CU_FUNC_CACHE_PREFER_EQUAL", "Equal"},
	{"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", 0, "CUDA_SHARED_MEM_LIMIT_DEFAULT", "Default"},
	{"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", 1, "CUDA_SHARED_MEM_LIMIT_OPTIN", "Opt in"},
	{"ENUM_CUPTI_SYNC_TYPE", 0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
	{"ENUM_CUPTI_SYNC_TYPE", 1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
	{"ENUM_CUPTI_SYNC_TYPE", 2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
	{"ENUM_CUPTI_SYNC_TYPE", 3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
	{"ENUM_CUPTI_SYNC_TYPE", 4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 1, "CUPTI_ACTIVITY_OVERHEAD_UNKNOWN", "Unknown"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 2, "CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER", "JIT compiler"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 3, "CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 4, "CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 5, "CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE", "Resource"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 6, "CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Module loading"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 7, "CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 8, "CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 9, "CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST", "Buffer request"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", 10, "CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT", "UVM initialisation"},
	{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", 1, "Info", "Info"},
	{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", 2, "Warning", "Warning"},
	{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", 3, "Error", "Error"},
	{"ENUM_DIAGNOSTIC_SOURCE_TYPE", 1, "Injection", "Injection"},
	{"ENUM_DIAGNOSTIC_SOURCE_TYPE", 3, "Analysis", "Analysis"},
	{"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", 1, "TargetTimestamp", "Target timestamp"},
};

const size_t PROFILE_N_ENUMS = sizeof PROFILE_ENUMS / sizeof *PROFILE_ENUMS;
