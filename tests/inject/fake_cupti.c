/* libcupti.so.13, as far as the injected library sees it. Compiled with FAKE_OLD it lacks a function, as old ones do.
 */
#include "fake_cuda.h"

#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
extern const struct fake *fake_cupti(void);

static CUpti_CallbackFunc subscriber;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc timestamp;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer;
static size_t used, room;
static char kinds[256];
static int on[64];
static bool watched[CUPTI_CB_DOMAIN_SIZE][1024]; /* by domain and callback */
static uintptr_t next_node;
static bool moved[4096], gone[4096]; /* nodes */
static _Atomic int launched_any;
static uint32_t correlation = 1;
static pid_t owner, beginner;

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text ? atol(text) : otherwise;
}

static void here(void)
{
	if (!owner)
		owner = getpid();
	if (owner != getpid()) {
		fputs("CUPTI was used in a forked child\n", stderr);
		abort();
	}
}

/* Activities are switched on by the thread that begins CUDA, while it does so, and never again: real ones crash when
 * that happens beside a launch or at the program's end. */
static void not_while_it_runs(void)
{
	here();
	if (correlation > 1 || beginner != gettid()) {
		fputs("CUPTI was switched while the program ran\n", stderr);
		abort();
	}
}

/* A device's record is as long as the header says; kernels and calls have odd lengths that a reader must be told,
 * unless FAKE_EXACT wants those of CUPTI 13.0, which conversion knows. */
static size_t size_of(uint32_t kind)
{
	enum { KERNEL10 = 216, MEMORY4 = 128 }; /* bytes of what the headers of CUDA 12 lack */
	bool exact = getenv("FAKE_EXACT");
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_DEVICE:
		return sizeof(CUpti_ActivityDevice4);
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return exact ? KERNEL10 : sizeof(CUpti_ActivityKernel9) + 24;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return MEMORY4;
	default:
		return sizeof(CUpti_ActivityAPI) + (exact ? 0 : 8);
	}
}

/* FAKE_THREADS: every launch is by a thread of its own, which ends then; its buffer comes back at the second flush. */
struct aside {
	uint8_t *buffer;
	size_t room, used;
	int flushes;
};
static struct aside aside[20000];
static size_t n_aside;

static void put_aside(void)
{
	if (buffer && n_aside < sizeof aside / sizeof *aside)
		aside[n_aside++] = (struct aside){buffer, room, used, 0};
	buffer = NULL;
	used = 0;
}

static void give_back_aside(int last)
{
	size_t kept = 0;
	for (size_t i = 0; i < n_aside; i++)
		if (last || aside[i].flushes++)
			complete(NULL, 0, aside[i].buffer, aside[i].room, aside[i].used);
		else
			aside[kept++] = aside[i];
	n_aside = kept;
}

static void give_back(void)
{
	if (!buffer)
		return;
	uint8_t *b = buffer;
	buffer = NULL;
	complete(NULL, 0, b, room, used);
	used = 0;
}

static void *record(uint32_t kind)
{
	size_t n = size_of(kind);
	if (buffer && used + n > room)
		give_back();
	if (!buffer) {
		size_t most = 1;
		request(&buffer, &room, &most);
		if (!buffer || most)
			return NULL;
	}
	void *r = buffer + used;
	for (size_t i = 0; i < n; i++)
		if (((uint8_t *)r)[i]) {
			fputs("a buffer is not zeroed\n", stderr);
			abort();
		}
	*(uint32_t *)r = kind;
	used += n;
	return r;
}

/* What cuptiGetGraphNodeId makes of a node. */
static uint64_t node_id(uintptr_t node)
{
	return (uint64_t)(moved[node] ? 5 : 3) << 32 | node;
}

static void record_call(CUpti_CallbackId id, uint64_t before)
{
	CUpti_ActivityAPI *a = on[CUPTI_ACTIVITY_KIND_RUNTIME] ? record(CUPTI_ACTIVITY_KIND_RUNTIME) : NULL;
	if (a) {
		a->cbid = id;
		a->start = before;
		a->end = timestamp();
		a->processId = (uint32_t)getpid();
		a->threadId = (uint32_t)gettid();
		a->correlationId = correlation;
	}
	correlation++;
}

static void call_callback(CUpti_CallbackId id, bool enters)
{
	CUpti_CallbackData data = {.callbackSite = enters ? CUPTI_API_ENTER : CUPTI_API_EXIT};
	if (watched[CUPTI_CB_DOMAIN_DRIVER_API][id])
		subscriber(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

static void node_callback(CUpti_CallbackIdResource id, uintptr_t node, uintptr_t original)
{
	CUpti_GraphData graph = {.node = (CUgraphNode)node, .originalNode = (CUgraphNode)original};
	CUpti_ResourceData data = {.resourceDescriptor = &graph};
	if (watched[CUPTI_CB_DOMAIN_RESOURCE][id])
		subscriber(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

/* A copy is made, and then said to be one. */
static void make_copy(uintptr_t node, uintptr_t original)
{
	node_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node, 0);
	node_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, node, original);
}

/* Copies of a child's node move into the graph that is instantiated, and what copies memory is another node then. Of
 * none of them anything is to be asked later. */
static void make_children(uintptr_t node, uintptr_t original)
{
	for (int i = 0; i < FAKE_CHILDREN; i++)
		make_copy(node + i, original);
	for (int i = 0; i < FAKE_CHILDREN; i++) {
		moved[node + i] = true;
		if (i % 2)
			node_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, node + i, 0);
		gone[node + i] = i % 2;
	}
	node_callback(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, 0, 0);
	memset(gone + node, true, FAKE_CHILDREN);
}

static void graph(enum fake_graph what, uintptr_t node, uintptr_t original)
{
	static const CUpti_CallbackId calls[] = {[FAKE_BEGIN] = CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000,
	                                         [FAKE_CAPTURE] = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	                                         [FAKE_INSTANTIATE] =
	                                                 CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v10000,
	                                         [FAKE_CHILD] = CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v10000};
	if (what == FAKE_REPLAY) {
		next_node = node;
		return;
	}
	uint64_t before = timestamp();
	if (what == FAKE_CAPTURE)
		node_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node, 0);
	if (what == FAKE_INSTANTIATE || what == FAKE_CHILD) {
		call_callback(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams, true);
		what == FAKE_CHILD ? make_children(node, original) : make_copy(node, original);
		call_callback(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams, false);
	}
	pthread_mutex_lock(&lock);
	record_call(calls[what], before);
	pthread_mutex_unlock(&lock);
}

static void launch(const char *kernel, uint64_t start, uint64_t end)
{
	if (!launched_any && getenv("FAKE_GRAPH")) /* one is made */
		node_callback(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, 0, 0);
	launched_any = 1;
	pthread_mutex_lock(&lock);
	uint64_t before = timestamp();
	CUpti_ActivityKernel9 *k =
		on[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] ? record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) : NULL;
	if (k) {
		k->name = kernel;
		k->start = start;
		k->end = end;
		k->correlationId = correlation;
		k->graphNodeId = next_node ? node_id(next_node) : 0;
	}
	record_call(next_node ? CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000
	                      : CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	            before);
	next_node = 0;
	bool alone = number("FAKE_THREADS", 0);
	if (alone)
		put_aside();
	pthread_mutex_unlock(&lock);
	if (alone)
		usleep(50);
}

static void memory(int freed, uint64_t address, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	CUpti_ActivityMemory3 *m = on[CUPTI_ACTIVITY_KIND_MEMORY2] ? record(CUPTI_ACTIVITY_KIND_MEMORY2) : NULL;
	if (m) {
		m->memoryOperationType = freed ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
		                               : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
		m->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
		m->correlationId = correlation++;
		m->address = address;
		m->bytes = bytes;
		m->timestamp = timestamp();
		m->processId = (uint32_t)getpid();
	}
	pthread_mutex_unlock(&lock);
}

static void *buffer_take(void)
{
	uint8_t *b = NULL;
	size_t n = 0, most = 0;
	request(&b, &n, &most);
	return b;
}

static void profiler(int start)
{
	call_callback(start ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, !start);
}

static void launched(void)
{
	call_callback(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, true);
	call_callback(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, false);
}

static void captures(int begins)
{
	CUpti_CallbackId id =
		begins ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture;
	call_callback(id, true);
	call_callback(id, false);
}

static const char *kinds_text(void)
{
	return kinds;
}

const struct fake *fake_cupti(void)
{
	static struct fake fake = {launch, buffer_take, profiler, launched, captures, graph, memory, kinds_text, 0, 0};
	fake.kernel_bytes = (uint32_t)size_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	fake.api_bytes = (uint32_t)size_of(CUPTI_ACTIVITY_KIND_RUNTIME);
	return &fake;
}

/* ---- CUPTI ---- */

CUptiResult cuptiGetVersion(uint32_t *version)
{
	*version = (uint32_t)number("FAKE_CUPTI", 130001);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *data)
{
	(void)data;
	here();
	beginner = gettid();
	*handle = (CUpti_SubscriberHandle)&subscriber;
	subscriber = callback;
	return (CUptiResult)number("FAKE_SUBSCRIBE", 0);
}

#ifndef FAKE_OLD
struct parameters {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_name_bytes;
};
/* Under a name of its own: newer headers declare the function with a struct that older ones do not have. */
extern CUptiResult subscribe_v2(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
                                struct parameters *) __asm__("cuptiSubscribe_v2");

CUptiResult subscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *data,
                         struct parameters *parameters)
{
	if (parameters->size != sizeof *parameters)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (getenv("FAKE_OTHER"))
		snprintf(parameters->old_name, parameters->old_name_bytes, "%s", getenv("FAKE_OTHER"));
	return cuptiSubscribe(handle, callback, data);
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
	here();
	timestamp = callback;
	return CUPTI_SUCCESS;
}
#endif

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id)
{
	here();
	(void)handle;
	if (enable && domain == CUPTI_CB_DOMAIN_RESOURCE && id == (CUpti_CallbackId)number("FAKE_NO_CALLBACK", 0))
		return CUPTI_ERROR_INVALID_PARAMETER;
	watched[domain][id] = enable;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc wants,
                                           CUpti_BuffersCallbackCompleteFunc done)
{
	here();
	request = wants;
	complete = done;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	not_while_it_runs();
	if (kind == (CUpti_ActivityKind)number("FAKE_REFUSE", -1))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	pthread_mutex_lock(&lock);
	on[kind] = 1;
	size_t n = strlen(kinds);
	snprintf(kinds + n, sizeof kinds - n, "%d ", (int)kind);
	if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
		CUpti_ActivityDevice4 *d = record(kind);
		d->numMultiprocessors = 132;
		d->coreClockRate = 1980000;
		d->globalMemoryBandwidth = 4800000000;
		d->globalMemorySize = 1ull << 37;
		d->computeCapabilityMajor = 9;
		d->name = "Fake GPU";
		memset(&d->uuid, 0x5a, sizeof d->uuid);
	}
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

/* Shown as the kind of record that it brings. */
CUptiResult cuptiActivityEnableDeviceGraph(uint8_t enable)
{
	enum { DEVICE_GRAPH_TRACE = 53 }; /* which the headers of CUDA 12.4 lack */
	not_while_it_runs();
	if (number("FAKE_REFUSE", -1) == DEVICE_GRAPH_TRACE)
		return CUPTI_ERROR_NOT_SUPPORTED;
	size_t n = strlen(kinds);
	snprintf(kinds + n, sizeof kinds - n, "%s%d ", enable ? "" : "-", DEVICE_GRAPH_TRACE);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	not_while_it_runs();
	on[kind] = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	here();
	if (!flag && launched_any && getenv("FAKE_FORCED_ALONE"))
		abort();
	usleep((unsigned)number("FAKE_FLUSH_US", 0));
	pthread_mutex_lock(&lock);
	give_back_aside(flag != 0);
	give_back();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *start, size_t valid, CUpti_Activity **at)
{
	uint8_t *next = *at ? (uint8_t *)*at + size_of((*at)->kind) : start;
	if (next >= start + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*at = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
	static int said;
	(void)context;
	(void)stream;
	*dropped = said++ ? 0 : (size_t)number("FAKE_DROPPED", 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
	here();
	if (*size != 1 || *(uint8_t *)value != 1)
		abort();
	if (attribute != CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)
		abort();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	static const struct {
		uint32_t id;
		const char *name;
	} known[] = {{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000"},
	             {CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000, "cudaStreamBeginCapture_v10000"},
	             {CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v10000, "cudaGraphInstantiate_v10000"},
	             {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch_v10000"}};
	*name = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known && domain == CUPTI_CB_DOMAIN_RUNTIME_API; i++)
		if (known[i].id == id)
			*name = known[i].name;
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	here();
	if (!node)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (gone[(uintptr_t)node]) {
		fputs("CUPTI was asked about a node that is gone\n", stderr);
		abort();
	}
	*id = node_id((uintptr_t)node);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	*text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
	                                                      : "CUPTI_ERROR_UNKNOWN";
	return CUPTI_SUCCESS;
}
