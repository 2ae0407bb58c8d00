/* libgapline-launches.so: what the CUDA driver loads into a program for a timed run without ranges
 * (CUDA_INJECTION64_PATH). It counts the calls that launch a kernel or a graph, by any thread, and takes the time at
 * two of them (counting.h): where a recorded run found the ends of two steps. Of CUPTI only the callbacks of
 * these calls, and of those that capture graphs, are used, and nothing is recorded: that costs the program a fraction
 * of what recording does, but not nothing (docs/method/verdict.md, Timed runs).
 *
 * The runtime's launches end in the driver's, so only those are counted. */
#include "counting.h"
#include "cupti_parts.h"
#include "spool_out.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

static const CUpti_CallbackId launches[] = {
	CUPTI_DRIVER_TRACE_CBID_cuLaunch,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
	CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
	CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

/* While a graph is captured, waiting for the devices would break the capture, and with it the program: its captures are
 * counted, too. */
static const CUpti_CallbackId capture_begins[] = {
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
};
static const CUpti_CallbackId capture_ends[] = {
	CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
	CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
};
static _Atomic int captures; /* that are going on */

static struct cupti_api api;
static CUpti_SubscriberHandle subscriber;
static struct stopwatch_page *page; /* of the process that began CUDA: a forked child of it launches nothing */

#define N_OF(list) (sizeof(list) / sizeof *(list))

static bool is_one_of(const CUpti_CallbackId *list, size_t n, CUpti_CallbackId id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

static void CUPTIAPI on_call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *details)
{
	const CUpti_CallbackData *call = details;
	(void)data;
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API)
		return;
	bool ends = call->callbackSite == CUPTI_API_EXIT;
	if (is_one_of(launches, N_OF(launches), id)) {
		if (ends)
			stopwatch_ended(page, atomic_load(&captures) > 0);
	} else if (is_one_of(capture_ends, N_OF(capture_ends), id)) {
		if (ends)
			atomic_fetch_sub(&captures, 1);
	} else if (!ends) { /* before the driver has begun it; one that it refuses is none */
		atomic_fetch_add(&captures, 1);
	} else if (call->functionReturnValue && *(const int *)call->functionReturnValue) {
		atomic_fetch_sub(&captures, 1);
	}
}

static CUptiResult watch(const CUpti_CallbackId *list, size_t n)
{
	CUptiResult result = CUPTI_SUCCESS;
	for (size_t i = 0; result == CUPTI_SUCCESS && i < n; i++)
		result = api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, list[i]);
	return result;
}

static void tell(int code)
{
	atomic_store(&page->code, code);
	atomic_store(&page->problem, STOPWATCH_NO_CUPTI);
}

/* What cupti_find has to say: there is no spool here that could take the words. */
void spool_message(enum spool_severity severity, enum spool_code code, const char *format, ...)
{
	(void)severity;
	(void)code;
	(void)format;
}

static void begin(void)
{
	char other[64] = "";
	struct cupti_subscribe parameters = {sizeof parameters, "gapline", other, sizeof other};
	CUptiResult result;
	if (!stopwatch_prepare())
		return;
	page = stopwatch_mine();
	if (!page)
		return;
	if (cupti_find(&api)) {
		tell(0);
		return;
	}
	result = api.subscribe_v2 ? api.subscribe_v2(&subscriber, on_call, NULL, &parameters)
	                          : api.cuptiSubscribe(&subscriber, on_call, NULL);
	result = result == CUPTI_SUCCESS ? watch(launches, N_OF(launches)) : result;
	/* an older CUPTI does not know the last of these; a capture of which the end is not told is not counted */
	if (result == CUPTI_SUCCESS && watch(capture_ends, N_OF(capture_ends)) == CUPTI_SUCCESS)
		watch(capture_begins, N_OF(capture_begins));
	if (result != CUPTI_SUCCESS)
		tell((int)result);
}

/* By the driver, inside the program's first cuInit. Its result is not looked at. */
int InitializeInjection(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, begin);
	return 1;
}
