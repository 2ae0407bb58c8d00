/* libgapline-launches.so: what the CUDA driver loads into a program for a timed run without ranges
 * (CUDA_INJECTION64_PATH). It counts the calls that launch a kernel or a graph, by any thread, and takes the time at
 * two of them (stopwatch_count.h): where a recorded run found the ends of two steps. Of CUPTI only the callbacks of
 * these calls are used, and nothing is recorded: that costs the program a fraction of what recording does, but not
 * nothing (docs/method/verdict.md, Timed runs).
 *
 * The runtime's launches end in the driver's, so only those are counted. */
#include "cupti_api.h"
#include "spool_writer.h"
#include "stopwatch_count.h"

#include <pthread.h>
#include <stdatomic.h>

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

static struct cupti_api api;
static CUpti_SubscriberHandle subscriber;
static struct stopwatch_page *page; /* of the process that began CUDA: a forked child of it launches nothing */

static void CUPTIAPI on_launch(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *details)
{
	const CUpti_CallbackData *call = details;
	(void)data;
	(void)id;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && call->callbackSite == CUPTI_API_EXIT)
		stopwatch_ended(page);
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
	result = api.subscribe_v2 ? api.subscribe_v2(&subscriber, on_launch, NULL, &parameters)
	                          : api.cuptiSubscribe(&subscriber, on_launch, NULL);
	for (size_t i = 0; result == CUPTI_SUCCESS && i < sizeof launches / sizeof *launches; i++)
		result = api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launches[i]);
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
