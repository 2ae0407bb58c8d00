/* CUPTI as found at run time: never linked, because a process must not get a second one, and because the one that fits
 * the program is known only when it runs. */
#ifndef GAPLINE_INJECT_CUPTI_PARTS_H
#define GAPLINE_INJECT_CUPTI_PARTS_H

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

/* What a reader of the spool has to be told beside CUPTI's records: how long they are, and what they only point to. */

/* Writes sizes, kernel names, names of API calls, devices and thread names that occur in the buffer for the first time,
 * then the buffer itself. By the background thread. */
void records_put(const struct cupti_api *api, uint8_t *buffer, size_t valid);

/* Buffers for CUPTI's records: handed to it empty by the program's threads, taken back full, written and zeroed by the
 * background thread. */

/* CUPTI's two callbacks. When 256 MB wait to be written, or 4096 buffers are out, CUPTI gets none and drops records. */
void CUPTIAPI buffers_request(uint8_t **buffer, size_t *size, size_t *most_records);
void CUPTIAPI buffers_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Calls `write` for every buffer that CUPTI has given back, oldest first, and makes it ready for the next request. By
 * the background thread. */
void buffers_drain(void (*write)(uint8_t *buffer, size_t valid));

/* Makes sure that some zeroed buffers are ready, so that no thread of the program has to make one. */
void buffers_prepare(void);

/* Whether CUPTI holds more of them than a program of some threads needs. */
bool buffers_are_many(void);

/* How often CUPTI got no buffer since this was asked last; each time, one record at least is lost. */
size_t buffers_refused(void);

/* Which of CUPTI's records are of a time that is to be collected: a delay and a duration, cudaProfilerStart and -Stop.
 *
 * CUPTI itself is never switched on or off while the program runs. Whoever does that while another thread is inside a
 * launch, or while the program ends, can take the program down with it; so everything is recorded all the time, and the
 * background thread keeps those buffers that hold something of a window. The edges are rough by a buffer; conversion
 * (capture/convert.h) makes them exact. */

struct spool_library;

/* Reads the environment; `library` must live as long as the process. */
void window_prepare(struct spool_library *library);
bool window_ranged(void); /* cudaProfilerStart and -Stop count */

/* The program called cudaProfilerStart (`open`) or -Stop. By any thread. */
void window_note(bool open);

/* Writes the windows that were noted. By the background thread, before it looks at records that came later. */
void window_put(void);

/* How many windows had no room since this was asked last: nothing is known of them. By the background thread. */
size_t window_lost(void);

/* Whether the record may be of a window; true without any. By the background thread. */
bool window_wants(const CUpti_Activity *record);

/* In a forked child. */
void window_forked(void);

/* Who makes the nodes of CUDA graphs: what CUPTI says while a program captures, copies and instantiates them becomes
 * events of the spool (SPOOL_NODE). Nothing is asked while a graph runs. */

/* Asks CUPTI to say it, once, before the first graph; `api` lasts as long as the process. Not CUPTI_SUCCESS: nothing
 * will be noted, for this reason. */
CUptiResult graph_nodes_watch(const struct cupti_api *api, CUpti_SubscriberHandle subscriber);

/* What the subscriber is told: of a resource, and of a call of the driver that begins (`enters`) or ends. By the thread
 * that makes the call; other callbacks than those asked for are passed over. */
void graph_nodes_resource(CUpti_CallbackId id, const CUpti_ResourceData *resource);
void graph_nodes_call(CUpti_CallbackId id, bool enters);

#endif
