/* CUPTI as found at run time: never linked, because a process must not get a second one, and because the one that fits
 * the program is known only when it runs. */
#ifndef GAPLINE_INJECT_CUPTI_API_H
#define GAPLINE_INJECT_CUPTI_API_H

#include <cupti.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without these there is no collection. cuptiActivityRegisterTimestampCallback is the youngest (CUDA 11.8). */
#define CUPTI_NEEDED(X)                                                                                                \
	X(cuptiActivityDisable)                                                                                        \
	X(cuptiActivityEnable)                                                                                         \
	X(cuptiActivityFlushAll)                                                                                       \
	X(cuptiActivityGetNextRecord)                                                                                  \
	X(cuptiActivityGetNumDroppedRecords)                                                                           \
	X(cuptiActivityRegisterCallbacks)                                                                              \
	X(cuptiActivityRegisterTimestampCallback)                                                                      \
	X(cuptiActivitySetAttribute)                                                                                   \
	X(cuptiEnableCallback)                                                                                         \
	X(cuptiGetCallbackName)                                                                                        \
	X(cuptiGetResultString)                                                                                        \
	X(cuptiGetVersion)                                                                                             \
	X(cuptiSetThreadIdType)                                                                                        \
	X(cuptiSubscribe)

/* As cuptiSubscribe_v2 (since CUDA 12.9 or so) wants it; ours, so that older headers can build this. */
struct cupti_subscribe {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_name_bytes;
};

/* The head of CUpti_ActivityDeviceGraphTrace (CUDA 13), and its kind; ours for the same reason. */
enum { CUPTI_DEVICE_GRAPH = 53 };
struct cupti_device_graph {
	uint32_t kind, device;
	uint64_t start, end;
};

struct cupti_api {
	void *library; /* NULL: none was found */
	char path[PATH_MAX];
	uint32_t version; /* cuptiGetVersion */
	uint32_t driver;  /* cuDriverGetVersion: 13000; 0: no driver answered */
#define CUPTI_MEMBER(name) __typeof__(&name) name;
	CUPTI_NEEDED(CUPTI_MEMBER)
#undef CUPTI_MEMBER
	/* Not in every version; NULL then. */
	CUptiResult (*silence_runtime)(CUpti_CallbackId, uint8_t enable); /* cuptiActivityEnableRuntimeApi */
	CUptiResult (*silence_driver)(CUpti_CallbackId, uint8_t enable);
	CUptiResult (*trace_device_graphs)(uint8_t enable); /* cuptiActivityEnableDeviceGraph */
	CUptiResult (*graph_node_id)(CUgraphNode, uint64_t *id);
	CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *, struct cupti_subscribe *);
};

/* Opens the CUPTI that fits: the one that the process has loaded, the ones that GAPLINE_CUPTI names, the one that
 * belongs to the program's CUDA runtime, then what the system has, newest first but none newer than the driver.
 * 0; -1: none, and a message says why and what to do. */
int cupti_find(struct cupti_api *api);

/* Whether the process has a library loaded whose file's name begins so. */
bool cupti_is_loaded(const char *prefix);

/* A function of the driver, which is loaded when CUDA runs; NULL otherwise. */
void *cupti_driver_function(const char *name);

#endif
