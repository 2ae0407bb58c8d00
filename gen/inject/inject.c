/* libgapline-cupti.so: what the CUDA driver and NVTX load into the program (CUDA_INJECTION64_PATH and
 * NVTX_INJECTION64_PATH). Without GAPLINE_SPOOL in the environment it does nothing at all. */
#include "cupti_api.h"
#include "cupti_parts.h"
#include "graph_nodes.h"
#include "nvtx.h"
#include "py.h"
#include "spool_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Collecting with CUPTI. */

static struct cupti_api api;
static CUpti_SubscriberHandle subscriber;
static enum graph_trace graphs;
static bool by_node; /* what auto came to */
static bool with_memory;

static _Atomic bool begun;  /* CUPTI was set up in this process or in one that it was forked from */
static _Atomic bool usable; /* … and can be used: false in a forked child */
static bool announced;      /* SPOOL_CUPTI is in the file */

static _Atomic bool has_graphs; /* one was made that can be launched; asked where gives_unfinished_graphs alone */

/* With both kinds of calls on, CUPTI itself leaves out the driver calls that the runtime makes. */
static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_RUNTIME,     CUPTI_ACTIVITY_KIND_DRIVER,          CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,     CUPTI_ACTIVITY_KIND_MEMSET,          CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMORY2,
};

/* Calls that only ask for something are not recorded, as nsys does not: PyTorch makes thirty of them for every launch.
 * cuKernelGetName is not the program's at all: the runtime of CUDA 13 calls it at every launch that is watched. */
static const CUpti_CallbackId silent_runtime[] = {
	CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
	CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetStreamPriorityRange_v5050,
	CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaFuncSetAttribute_v9000,
	CUPTI_RUNTIME_TRACE_CBID_cudaGetSymbolAddress_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000,
	CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000,
	CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000,
};
static const CUpti_CallbackId silent_driver[] = {
	CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
	CUPTI_DRIVER_TRACE_CBID_cuDeviceGet,
	CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount,
	CUPTI_DRIVER_TRACE_CBID_cuDeviceGetName,
	CUPTI_DRIVER_TRACE_CBID_cuDeviceGetUuid,
	CUPTI_DRIVER_TRACE_CBID_cuDeviceTotalMem_v2,
	CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
	CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetLimit,
	CUPTI_DRIVER_TRACE_CBID_cuKernelGetName,
	CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute,
	CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttributes,
	CUPTI_DRIVER_TRACE_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessor,
	CUPTI_DRIVER_TRACE_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
};

/* Before anything else: reads the environment. */
static void collect_prepare(struct spool_library *library)
{
	const char *how = getenv(SPOOL_ENV_GRAPHS);
	graphs = how && !strcmp(how, "node")    ? GRAPH_TRACE_NODE
	         : how && !strcmp(how, "graph") ? GRAPH_TRACE_WHOLE
	                                        : GRAPH_TRACE_AUTO;
	by_node = graphs == GRAPH_TRACE_NODE;
	const char *memory = getenv(SPOOL_ENV_MEMORY);
	with_memory = memory && !strcmp(memory, "1");
	window_prepare(library);
	sampler_prepare();
}

static void failed(enum spool_severity severity, const char *what, CUptiResult result)
{
	const char *why = NULL;
	if (api.cuptiGetResultString(result, &why) != CUPTI_SUCCESS || !why)
		why = "unknown error";
	spool_message(severity, SPOOL_CODE_CUPTI_FAILED, "CUPTI refused %s: %s (%d)%s", what, why, (int)result,
	              result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
	                              result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
	                      ? "; the administrator has to allow profiling (NVreg_RestrictProfilingToAdminUsers=0)"
	                      : "");
}

/* Once, while the driver initialises itself; they stay on to the end (cupti_parts.h says why). */
static void activities_on(void)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if ((kinds[i] == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && by_node) ||
		    (kinds[i] == CUPTI_ACTIVITY_KIND_MEMORY2 && !with_memory))
			continue;
		CUptiResult result = api.cuptiActivityEnable(kinds[i]);
		if (result == CUPTI_SUCCESS)
			continue;
		bool kernels = kinds[i] == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
		failed(kernels ? SPOOL_ERROR : SPOOL_WARNING,
		       kernels ? "to record kernels" : "to record some activities", result);
	}
	/* After the kinds, which would turn them on again. */
	for (size_t i = 0; api.silence_runtime && i < sizeof silent_runtime / sizeof *silent_runtime; i++)
		api.silence_runtime(silent_runtime[i], 0);
	for (size_t i = 0; api.silence_driver && i < sizeof silent_driver / sizeof *silent_driver; i++)
		api.silence_driver(silent_driver[i], 0);
}

/* Only the driver's calls are subscribed to: the runtime's end in them. */
static void CUPTIAPI on_call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *details)
{
	const CUpti_CallbackData *call = details;
	(void)data;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED && !by_node)
		atomic_store(&has_graphs, true);
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && atomic_load(&usable))
		graph_nodes_resource(id, details);
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API || !atomic_load(&usable))
		return;
	graph_nodes_call(id, call->callbackSite == CUPTI_API_ENTER);
	if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart && call->callbackSite == CUPTI_API_EXIT)
		window_note(true);
	else if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop && call->callbackSite == CUPTI_API_ENTER)
		window_note(false);
}

/* CUPTI 12.2 to 12.5 (seen; 12.0 and 13.0 not, 18 is what 12.0 says of itself) give out the record of a graph that
 * still runs when they are flushed, without its times, and never again. */
static bool gives_unfinished_graphs(void)
{
	return !by_node && api.version > 18 && api.version < 130000;
}

/* JAX and TensorFlow make their steps graphs with copies in them, and update those. CUPTI 13.0 takes such a program
 * down when graphs are traced whole and it gives records back, asked for them or not; node by node it does not
 * (docs/guide/capture.md has the counts). */
static bool is_xla(void)
{
	static const char *const libraries[] = {"xla_", "libjax", "_jax.", "_XLAC", "libtensorflow"};
	/* JAX initialises CUDA, to count devices, before it loads xla_cuda_plugin.so. */
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (cupti_is_loaded(libraries[i]))
			return true;
	return false;
}

/* Before the first activity is on. What is loaded later changes nothing: kinds are not switched while a program runs
 * (cupti_parts.h). */
static void choose_graphs(void)
{
	if (by_node || !is_xla())
		return;
	by_node = graphs == GRAPH_TRACE_AUTO;
	if (by_node)
		spool_message(
			SPOOL_INFO, SPOOL_CODE_OTHER,
			"JAX or TensorFlow is loaded, so CUDA graphs were recorded node by node: CUPTI takes such "
			"programs down when it records them whole");
}

/* Who made the nodes of graphs, where they are seen one by one. */
static void watch_nodes(void)
{
	CUptiResult result = by_node ? graph_nodes_watch(&api, subscriber) : CUPTI_SUCCESS;
	if (result != CUPTI_SUCCESS)
		failed(SPOOL_WARNING,
		       "to say who makes the nodes of CUDA graphs, which count for the phase of their replay", result);
}

/* Where XLA's graphs are traced whole, because that was asked for or because CUDA was there before XLA. */
static void warn_of_xla(bool last)
{
	static unsigned ticks;
	static bool warned;
	if (by_node || warned || (ticks++ % 16 && !last) || !is_xla())
		return;
	warned = true;
	spool_message(SPOOL_INFO, SPOOL_CODE_OTHER,
	              "CUDA graphs were recorded whole in a program that loads JAX or TensorFlow, which can take it "
	              "down: --cuda-graph-trace node cannot");
}

/* ---- the beginning ---- */

static uint64_t CUPTIAPI timestamp(void)
{
	return (uint64_t)spool_now();
}

static int subscribe(void)
{
	char other[64] = ""; /* "CUPTI for NAME"; NAME is "<not provided>" for those who use the older function */
	struct cupti_subscribe parameters = {sizeof parameters, "gapline", other, sizeof other};
	CUptiResult result = api.subscribe_v2 ? api.subscribe_v2(&subscriber, on_call, NULL, &parameters)
	                                      : api.cuptiSubscribe(&subscriber, on_call, NULL);
	if (result == CUPTI_SUCCESS)
		return 0;
	bool named = other[0] && !strchr(other, '<');
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		spool_message(
			SPOOL_ERROR, SPOOL_CODE_CUPTI_TAKEN,
			"Another tool already uses CUPTI in this process%s%s%s, so no GPU work was recorded: run the "
			"program without it (a profiler or debugger around it, or a profiler that it starts itself)",
			named ? " (" : "", named ? other : "", named ? ")" : "");
	else
		failed(SPOOL_ERROR, "to be used", result);
	return -1;
}

static int set_up_cupti(void)
{
	CUptiResult result;
	uint8_t yes = 1;
	size_t size = sizeof yes;
	if (subscribe())
		return -1;
	/* Graphs that kernels launch are GPU work like any other. And CUPTI then notes times in a way that costs less:
	 * a graph of 300 nodes is 14 % slower than without a profiler instead of 29 %, and every kernel's time is 66 ns
	 * shorter, to the nanosecond what nsys says, which does the same (H200, CUPTI 13.0; docs/guide/capture.md).
	 * CUPTI wants it before CUDA is initialised. Times in the host's memory would be worse: kernels 0.2 µs too
	 * long. */
	if (api.trace_device_graphs && (result = api.trace_device_graphs(1)) != CUPTI_SUCCESS)
		failed(SPOOL_WARNING, "to record graphs that kernels launch", result);
	/* Our buffers come zeroed, which saves the program's threads doing so. Older versions do not know it. */
	api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &yes);
	api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	if ((result = api.cuptiActivityRegisterTimestampCallback(timestamp)) != CUPTI_SUCCESS ||
	    (result = api.cuptiActivityRegisterCallbacks(buffers_request, buffers_complete)) != CUPTI_SUCCESS) {
		failed(SPOOL_ERROR, "to be used", result);
		return -1;
	}
	if ((result = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE)) != CUPTI_SUCCESS)
		failed(SPOOL_WARNING, "to describe the devices", result);
	if (window_ranged()) {
		api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
		                        CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
		api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
		                        CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
	}
	if (gives_unfinished_graphs())
		api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
	return 0;
}

/* Finds CUPTI and begins to collect, or leaves a message that says why not. Called while the driver initialises itself,
 * by the thread that does so. */
static void collect_begin(void)
{
	if (atomic_exchange(&begun, true))
		return;
	if (cupti_find(&api) || set_up_cupti())
		return;
	buffers_prepare();
	choose_graphs();
	watch_nodes();
	activities_on();
	atomic_store(&usable, true);
}

/* In a forked child, where CUPTI must not be touched. */
static void collect_forked(void)
{
	atomic_store(&usable, false);
	announced = false;
	window_forked();
	sampler_forked();
}

/* ---- the background thread's part ---- */

static void driver_put(void)
{
	char text[64];
	int fd = open("/sys/module/nvidia/version", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	spool_put(SPOOL_DRIVER, 0, text, strcspn(text, "\n"), NULL, 0);
}

static void announce(void)
{
	struct spool_cupti what = {api.version, api.driver, by_node ? 2 : 1, 3};
	spool_put(SPOOL_CUPTI, 0, &what, sizeof what, NULL, 0);
	driver_put();
	announced = true;
}

static void put(uint8_t *buffer, size_t valid)
{
	/* Before every buffer: what it holds of a window came after the window was noted. */
	window_put();
	records_put(&api, buffer, valid);
}

/* Whether to ask CUPTI for what is done so far; full buffers come by themselves. Where asking loses graphs, and there
 * are some, it is done at the end and when threads keep many buffers. */
static bool may_flush(bool last)
{
	return last || !atomic_load(&has_graphs) || buffers_are_many();
}

/* The background thread's part: what CUPTI has returned goes into the spool. */
static void collect_tick(bool last)
{
	size_t dropped = 0, refused;
	if (!atomic_load(&usable))
		return;
	if (!announced)
		announce();
	warn_of_xla(last);
	window_put();
	sampler_tick(last);
	buffers_prepare();
	if (may_flush(last))
		api.cuptiActivityFlushAll(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
	buffers_drain(put);
	if (api.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) != CUPTI_SUCCESS)
		dropped = 0;
	refused = buffers_refused(); /* in case CUPTI does not count them */
	dropped = dropped < refused ? refused : dropped;
	dropped += window_lost(); /* one record of each at least */
	if (dropped) {
		struct spool_dropped lost = {SPOOL_DROPPED_CUPTI, 0, dropped};
		spool_put(SPOOL_DROPPED, 0, &lost, sizeof lost, NULL, 0);
	}
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);
EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(unsigned table));
EXPORT int InitializeInjectionNvtxExtension(struct payload_module *module);

static struct spool_library library = {.name = "cuda", .tick = collect_tick, .forked = collect_forked};

static void set_up(void)
{
	collect_prepare(&library);
	/* Registered while CUDA or NVTX begins, so it runs before either is torn down. */
	atexit(spool_finish);
}

static bool wanted(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (!spool_prepare(&library))
		return false;
	pthread_once(&once, set_up);
	return true;
}

/* By the driver, inside the program's first cuInit. Its result is not looked at. */
int InitializeInjection(void)
{
	if (wanted()) {
		collect_begin();
		spool_start();
	}
	return 1;
}

/* By every copy of NVTX in the process, at its first call. 0: NVTX lets go of this library and does nothing. */
int InitializeInjectionNvtx2(const void *(*get_table)(unsigned table))
{
	return wanted() && nvtx_inject(get_table);
}

/* By every copy of each of NVTX's extensions, at its first call. 0: the extension does nothing. */
int InitializeInjectionNvtxExtension(struct payload_module *module)
{
	return wanted() && nvtx_inject_payloads(module);
}
