/* Columns of all versions of nsys since 2020 together, by the DDL in the exports; the reader (nsys_*.c), nsys stats and
 * other tools use them. */
#include "read/scrub_parts.h"

#include <ctype.h>
#include <string.h>

#define OP "start end deviceId contextId greenContextId streamId correlationId globalPid "
#define CALL "start end eventClass globalTid correlationId @nameId "
#define OPENMP CALL "eventKind "
#define ENUM(name)                                                                                                     \
	{                                                                                                              \
		"ENUM_" name, SCRUB_ALL, "id $name $label"                                                             \
	}

const struct scrub_table SCRUB_TABLES[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL", SCRUB_EVENTS,
         OP "@demangledName @shortName @mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX "
            "blockY blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId "
            "sharedMemoryExecuted graphNodeId graphId sharedMemoryLimitConfig clusterX clusterY clusterZ "
            "clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters sharedMemoryRequestedPercentage "
            "qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone"},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", SCRUB_EVENTS, OP "graphId graphExecId"},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", SCRUB_EVENTS,
         OP "bytes copyKind deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId "
            "migrationCause graphNodeId virtualAddress copyCount"},
	{"CUPTI_ACTIVITY_KIND_MEMSET", SCRUB_EVENTS, OP "value bytes graphNodeId memKind"},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", SCRUB_EVENTS, OP "deprecatedSyncType syncType eventId eventSyncId"},
	{"CUPTI_ACTIVITY_KIND_CUDA_EVENT", SCRUB_EVENTS, OP "eventId timestamp eventSyncId"},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", SCRUB_EVENTS, CALL "returnValue callchainId"},
	{"CUPTI_ACTIVITY_KIND_OVERHEAD", SCRUB_EVENTS, CALL "overheadType"},
	{"PROFILER_OVERHEAD", SCRUB_EVENTS, "start end globalTid correlationId @nameId returnValue overheadType"},
	{"NVTX_EVENTS", SCRUB_EVENTS,
         "start end eventType rangeId category color $text globalTid endGlobalTid @textId domainId uint64Value "
         "int64Value %doubleValue uint32Value int32Value %floatValue =jsonText =binaryData"},
	{"OSRT_API", SCRUB_EVENTS, CALL "returnValue nestingLevel callchainId"},
	{"CUDA_GRAPH_EVENTS", SCRUB_EVENTS, CALL "graphId originalGraphId graphExecId graphNodeId originalGraphNodeId"},
	{"CUDA_GRAPH_NODE_EVENTS", SCRUB_EVENTS, CALL "graphNodeId originalGraphNodeId callchainId"},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", SCRUB_EVENTS,
         "start globalPid deviceId contextId address pc bytes memKind memoryOperationType $name correlationId "
         "localMemoryPoolAddress localMemoryPoolReleaseThreshold localMemoryPoolSize localMemoryPoolUtilizedSize "
         "importedMemoryPoolAddress importedMemoryPoolProcessId"},
	{"CUDA_UM_CPU_PAGE_FAULT_EVENTS", SCRUB_EVENTS, "start globalPid address"},
	{"CUDA_UM_GPU_PAGE_FAULT_EVENTS", SCRUB_EVENTS,
         "start end globalPid deviceId address numberOfPageFaults faultAccessType"},
	{"CUBLAS_EVENTS", SCRUB_EVENTS, CALL},
	{"CUDNN_EVENTS", SCRUB_EVENTS, CALL},
	{"CUPTI_ACTIVITY_KIND_OPENACC_DATA", SCRUB_EVENTS,
         "start end @nameId globalTid eventKind DeviceType lineNo cuDeviceId cuContextId cuStreamId bytes"},
	{"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", SCRUB_EVENTS,
         "start end @nameId globalTid eventKind DeviceType lineNo cuDeviceId cuContextId cuStreamId numGangs "
         "numWorkers vectorLength @kernelName"},
	{"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", SCRUB_EVENTS,
         "start end @nameId globalTid eventKind DeviceType lineNo cuDeviceId cuContextId cuStreamId"},
	{"OPENMP_EVENT_KIND_PARALLEL", SCRUB_EVENTS, OPENMP "parallelId parentTaskId"},
	{"OPENMP_EVENT_KIND_SYNC_REGION", SCRUB_EVENTS, OPENMP "parallelId taskId kind"},
	{"OPENMP_EVENT_KIND_SYNC_REGION_WAIT", SCRUB_EVENTS, OPENMP "parallelId taskId kind"},
	{"OPENMP_EVENT_KIND_TASK", SCRUB_EVENTS, OPENMP "parallelId taskId kind"},
	{"OPENMP_EVENT_KIND_WORKSHARE", SCRUB_EVENTS, OPENMP "kind parallelId taskId count"},
	{"MPI_RANKS", SCRUB_EVENTS, "globalTid rank"},
	{"MPI_COLLECTIVES_EVENTS", SCRUB_EVENTS,
         "start end globalTid @textId commHandle rootRank size recvSize requestHandle"},
	{"MPI_P2P_EVENTS", SCRUB_EVENTS, "start end globalTid @textId commHandle tag remoteRank size requestHandle"},
	{"MPI_START_WAIT_EVENTS", SCRUB_EVENTS, "start end globalTid @textId requestHandle"},
	{"MPI_OTHER_EVENTS", SCRUB_EVENTS, "start end globalTid @textId"},
	{"GPU_METRICS", SCRUB_ALL, "rawTimestamp timestamp typeId metricId %value"},
	{"GENERIC_EVENTS", SCRUB_SAMPLES, "genericEventId rawTimestamp timestamp typeId {data"},

	{"TARGET_INFO_GPU_METRICS", SCRUB_ALL, "typeId sourceId $typeName metricId $metricName"},
	{"TARGET_INFO_GPU", SCRUB_ALL,
         "vmId id deviceId $name +busLocation isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount "
         "#uuid $chipName cuDevice revision constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock "
         "maxShmemPerBlockOptin maxShmemPerSm maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm "
         "maxBlocksPerSm maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ "
         "computeMajor computeMinor smMajor smMinor"},
	{"TARGET_INFO_CUDA_GPU", SCRUB_ALL,
         "vmId $name +pciBusId globalMemoryBandwidth globalMemorySize constantMemorySize l2CacheSize "
         "numThreadsPerWarp coreClockRate numMemcpyEngines numMultiprocessors maxIPC maxWarpsPerMultiprocessor "
         "maxBlocksPerMultiprocessor maxRegistersPerBlock maxSharedMemoryPerBlock maxThreadsPerBlock maxBlockDimX "
         "maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeCapabilityMajor "
         "computeCapabilityMinor deviceId pid maxSharedMemoryPerMultiprocessor maxRegistersPerMultiprocessor"},
	{"TARGET_INFO_CUDA_DEVICE", SCRUB_ALL, "gpuId cudaId pid #uuid numMultiprocessors"},
	{"TARGET_INFO_CUDA_CONTEXT_INFO", SCRUB_ALL,
         "nullStreamId hwId vmId processId deviceId contextId parentContextId isGreenContext numMultiprocessors "
         "numTpcs"},
	{"TARGET_INFO_CUDA_NULL_STREAM", SCRUB_ALL, "streamId hwId vmId processId deviceId contextId"},
	{"TARGET_INFO_CUDA_STREAM", SCRUB_ALL, "streamId hwId vmId processId contextId priority flag"},
	{"TARGET_INFO_NVTX_CUDA_DEVICE", SCRUB_ALL, "$name hwId vmId deviceId"},
	{"TARGET_INFO_NVTX_CUDA_CONTEXT", SCRUB_ALL, "$name hwId vmId processId deviceId contextId"},
	{"TARGET_INFO_NVTX_CUDA_STREAM", SCRUB_ALL, "$name hwId vmId processId deviceId contextId streamId"},
	{"TARGET_INFO_SESSION_START_TIME", SCRUB_ALL, "utcEpochNs +utcTime"},
	{"TARGET_INFO_SYSTEM_ENV", SCRUB_OPTIONS, "globalVid $name nameEnum $value"},
	{"ANALYSIS_DETAILS", SCRUB_ALL, "globalVid duration startTime stopTime"},
	{"GAPLINE_GIL", SCRUB_HOLDERS, "start globalTid waits holder sampleId switches"}, /* ours: capture/annotate.h */
	{"PROCESSES", SCRUB_PROCESSES, "globalPid pid !name"},
	{"SCHED_EVENTS", SCRUB_THREADS, "start cpu isSchedIn globalTid threadState threadBlock"},
	{"COMPOSITE_EVENTS", SCRUB_LOOKS, "id start cpu threadState globalTid cpuCycles"},
	{"SAMPLING_CALLCHAINS", SCRUB_STACKS,
         "id @symbol &module kernelMode thumbCode unresolved specialEntry unwindMethod stackDepth"},
	{"CUDA_CALLCHAINS", SCRUB_CHAINS, "id @symbol &module unresolved stackDepth line library"},
	{"ThreadNames", SCRUB_THREADS, "@nameId priority globalTid"},
	{"DIAGNOSTIC_EVENT", SCRUB_DIAGNOSTICS, "timestamp timestampType source severity $text globalPid"},
	{"META_DATA_EXPORT", SCRUB_OPTIONS, "$name $value"},
	{"META_DATA_CAPTURE", SCRUB_OPTIONS, "$name $value"},
	{"EXPORT_META_DATA", SCRUB_OPTIONS, "$name $value"},

	/* ours: capture/annotate.h */
	{"GAPLINE_CAPTURE", SCRUB_OPTIONS, "$name $value"},
	{"GAPLINE_JOB", SCRUB_OPTIONS, "$name $value"},
	{"GAPLINE_RANK", SCRUB_ALL, "globalPid rank"},
	{"GAPLINE_GPU", SCRUB_ALL, "gpu #uuid +bus $name max_sm_mhz others"},
	{"GAPLINE_GPU_STATE", SCRUB_ALL, "time gpu sm_mhz memory_mhz power_mw temperature_c busy_percent throttle"},
	{"GAPLINE_STOPWATCH", SCRUB_ALL, "start time steps process $unused $step launches looked"},
	{"GAPLINE_ENERGY", SCRUB_ALL, "start #uuid mj"},
	{"GAPLINE_UNPROFILED", SCRUB_ALL, "start end thread $name"},

	ENUM("CUDA_DEV_MEM_EVENT_OPER"),
	ENUM("CUDA_FUNC_CACHE_CONFIG"),
	ENUM("CUDA_KERNEL_LAUNCH_TYPE"),
	ENUM("CUDA_KRENEL_LAUNCH_TYPE"), /* as 2022.4 spells it */
	ENUM("CUDA_MEMCPY_OPER"),
	ENUM("CUDA_MEMPOOL_OPER"),
	ENUM("CUDA_MEMPOOL_TYPE"),
	ENUM("CUDA_MEM_KIND"),
	ENUM("CUDA_SHARED_MEM_LIMIT_CONFIG"),
	ENUM("CUDA_UNIF_MEM_ACCESS_TYPE"),
	ENUM("CUDA_UNIF_MEM_MIGRATION"),
	ENUM("CUPTI_OVERHEAD_TYPE"),
	ENUM("CUPTI_STREAM_TYPE"),
	ENUM("CUPTI_SYNC_TYPE"),
	ENUM("DIAGNOSTIC_SEVERITY_LEVEL"),
	ENUM("DIAGNOSTIC_SOURCE_TYPE"),
	ENUM("DIAGNOSTIC_TIMESTAMP_SOURCE"),
	ENUM("NSYS_EVENT_CLASS"),
	ENUM("NSYS_EVENT_TYPE"),
	ENUM("OPENACC_DEVICE"),
	ENUM("OPENACC_EVENT_KIND"),
	ENUM("OPENMP_EVENT_KIND"),
	ENUM("OPENMP_SYNC_REGION"),
	ENUM("OPENMP_TASK_FLAG"),
	ENUM("OPENMP_WORK"),

	{"StringIds", SCRUB_STRINGS, "id $value"},
};

const size_t SCRUB_N_TABLES = sizeof SCRUB_TABLES / sizeof *SCRUB_TABLES;

/* Of an export; of a capture; of the system; gapline's own; a rank, and how many there are (base/launcher.h). */
static const char option_names[] =
	"EXPORT_CONFIG_TIME_SHIFT EXPORT_PARAM_LAZY EXPORT_PARAM_TIME_NORMALIZE EXPORT_PARAM_TIME_SHIFT "
	"EXPORT_PRODUCT_* EXPORT_SCHEMA_VERSION* "
	"CAPTURE_EVENT_TYPE COLLECT_* CUDA_FLUSH_* CUDA_GRAPH_TRACE_OPTIONS:* CUDA_SKIP_SOME_API_CALLS "
	"CUDA_TRACE_SCOPE OS_RUNTIME_OPTIONS:* RUN_DURATION_MS START_DELAY_MS START_TRIGGER STOP_TRIGGER "
	"CudaDriverVersion NvDriverVersion "
	"begins collector complete cupti dropped dropped_events gapline gpu_state graphs launcher ranges_ns "
	"sample_ns samples_torn trace "
	"RANK OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK MV2_COMM_WORLD_RANK SLURM_PROCID WORLD_SIZE "
	"OMPI_COMM_WORLD_SIZE PMI_SIZE MV2_COMM_WORLD_SIZE SLURM_NTASKS";

/* Of names that begin so, the rest is the file's choice: nsys's are words in capitals, and a token or a name is not. */
bool scrub_option_is_harmless(const char *name)
{
	static const char words[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	for (const char *at = option_names; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		size_t n = strcspn(at, "* ");
		if (!strncmp(name, at, n) && (at[n] == '*' ? !name[n + strspn(name + n, words)] : !name[n]))
			return true;
	}
	return false;
}

bool scrub_is_plain(const char *text, size_t n, const char *also)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !(text[i] && strchr(also, text[i])))
			return false;
	return n <= 64;
}
