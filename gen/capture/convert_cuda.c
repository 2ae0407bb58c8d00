/* CUPTI's records -> rows. */
#include "base/words.h"
#include "capture/convert.h"
#include "capture/kernel_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Which CUDA calls a profile leaves out: those that only ask for a number or set one, take a fraction of a microsecond
 * and come by the thousand (PyTorch asks cudaGetDevice twice a launch). nsys leaves them out by default
 * (CUDA_SKIP_SOME_API_CALLS), and profiles of both collectors are to show the same calls. The list: what nsys 2025.3
 * does not show of programs that CUPTI saw make these calls, and calls of the same nature. */

static const char CALLS[] =
	"cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetId cuCtxGetLimit "
	"cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxSetCurrent cuDeviceCanAccessPeer cuDeviceGet "
	"cuDeviceGetAttribute cuDeviceGetByPCIBusId cuDeviceGetCount cuDeviceGetLuid cuDeviceGetName "
	"cuDeviceGetP2PAttribute cuDeviceGetPCIBusId cuDeviceGetProperties cuDeviceGetUuid cuDevicePrimaryCtxGetState "
	"cuDeviceTotalMem cuDriverGetVersion cuFuncGetAttribute cuFuncSetAttribute cuFuncSetCacheConfig "
	"cuGetErrorName cuGetErrorString cuOccupancyMaxActiveBlocksPerMultiprocessor "
	"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuPointerGetAttribute cuPointerGetAttributes "
	"cuStreamGetCtx cuStreamGetDevice cuStreamGetFlags cuStreamGetId cuStreamGetPriority cudaDeviceCanAccessPeer "
	"cudaDeviceGetAttribute cudaDeviceGetByPCIBusId cudaDeviceGetCacheConfig cudaDeviceGetLimit "
	"cudaDeviceGetP2PAttribute cudaDeviceGetPCIBusId cudaDeviceGetSharedMemConfig "
	"cudaDeviceGetStreamPriorityRange cudaDriverGetVersion cudaFuncGetAttributes cudaFuncSetAttribute "
	"cudaFuncSetCacheConfig cudaGetDevice cudaGetDeviceCount cudaGetDeviceFlags cudaGetErrorName "
	"cudaGetErrorString cudaGetLastError cudaGetSymbolAddress cudaGetSymbolSize cudaHostGetDevicePointer "
	"cudaHostGetFlags cudaOccupancyMaxActiveBlocksPerMultiprocessor "
	"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaPeekAtLastError cudaPointerGetAttributes "
	"cudaRuntimeGetVersion cudaSetDevice cudaStreamGetDevice cudaStreamGetFlags cudaStreamGetId "
	"cudaStreamGetPriority";

/* Whether the call is one of them. `name` as CUPTI gives it, with suffixes of versions and of the per-thread default
 * stream: "cudaGetDevice_v3020", "cuDeviceTotalMem_v2", "_ptsz_v7000". */
static bool trivial_call(const char *name, size_t n)
{
	const char *underscore = n ? memchr(name, '_', n) : NULL;
	n = underscore ? (size_t)(underscore - name) : n;
	return n && words_have(CALLS, name, n, strncmp);
}

enum { CLASS_RUNTIME = 0, CLASS_DRIVER = 1, CLASS_OVERHEAD = 3 }; /* nsys's ENUM_NSYS_EVENT_CLASS */
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2 };                   /* CUpti_CallbackDomain */

enum { MEMORY_OF_POOLS = 7 }; /* columns of the stream and of pools */
enum { TRIVIAL = -1 };        /* instead of a name: the call is left out */

static const uint64_t CALLBACK_DOMAIN = (uint64_t)1 << 32;

/* ---- names ---- */

static int64_t string_of(struct file *f, const char *text)
{
	return profile_string(&f->convert->profile, text, strlen(text));
}

void convert_kernel_name(struct file *f, const unsigned char *payload, size_t n)
{
	uint64_t value;
	if (n < sizeof value)
		return;
	memcpy(&value, payload, sizeof value);
	uint32_t i = KEYMAP_ADD(&f->arena, &f->kernels, value, f->kernel_names);
	ARENA_LOCAL(scratch);
	const char *mangled = arena_copy(&scratch, (const char *)payload + sizeof value, n - sizeof value);
	f->kernel_names[i] = (struct kernel_names){.demangled = string_of(f, kernel_name_demangled(&scratch, mangled)),
	                                           .short_name = string_of(f, kernel_name_short(&scratch, mangled)),
	                                           .mangled = string_of(f, mangled)};
}

static struct kernel_names kernel_names(struct file *f, uint64_t value)
{
	uint32_t i = keymap_find(&f->kernels, value);
	if (i != UINT32_MAX)
		return f->kernel_names[i];
	int64_t unknown = string_of(f, "[unknown kernel]");
	return (struct kernel_names){unknown, unknown, 0};
}

static void name_callback(struct file *f, uint64_t key, const char *text, size_t n)
{
	uint32_t i = KEYMAP_ADD(&f->arena, &f->callbacks, key, f->callback_name);
	f->callback_name[i] = trivial_call(text, n) ? TRIVIAL : profile_string(&f->convert->profile, text, n);
}

void convert_callback_names(struct file *f, const unsigned char *payload, size_t n)
{
	for (size_t at = 0; n - at >= sizeof(struct spool_callback);) {
		struct spool_callback callback;
		memcpy(&callback, payload + at, sizeof callback);
		const char *text = (const char *)payload + at + sizeof callback;
		if (callback.bytes < sizeof callback || callback.bytes > n - at ||
		    callback.text_bytes > callback.bytes - sizeof callback) {
			f->convert->result->skipped++;
			return;
		}
		name_callback(f, callback.domain * CALLBACK_DOMAIN | callback.id, text, callback.text_bytes);
		at += callback.bytes;
	}
}

static int64_t callback_name(struct file *f, uint64_t domain, uint32_t id)
{
	uint64_t key = domain * CALLBACK_DOMAIN | id;
	uint32_t i = keymap_find(&f->callbacks, key);
	if (i == UINT32_MAX) {
		char text[64];
		int n = snprintf(text, sizeof text, "[%s call %u]", domain == DOMAIN_DRIVER ? "driver" : "runtime", id);
		name_callback(f, key, text, (size_t)n);
		i = keymap_find(&f->callbacks, key);
	}
	return f->callback_name[i];
}

/* ---- what all kinds share ---- */

static int64_t correlation_of(struct file *f, uint32_t raw)
{
	struct process *p = f->process;
	int64_t correlation = p->correlation_base + raw;
	p->last_correlation = correlation > p->last_correlation ? correlation : p->last_correlation;
	return raw ? correlation : PROFILE_NULL;
}

/* When a record was, on the profile's clock; false, and counted, when it makes no sense. */
static bool times_of(struct file *f, const unsigned char *r, int start_at, int end_at, int64_t *start, int64_t *end)
{
	bool good = convert_times(f, record_u64(r, start_at), record_u64(r, end_at), start, end);
	f->convert->result->skipped += !good;
	return good;
}

/* Which numbers of a record are where; of what runs on the GPU. */
struct op_places {
	int start, end, device, context, stream, correlation;
};
#define PLACES(kind, correlation)                                                                                      \
	{                                                                                                              \
		kind##_START, kind##_END, kind##_DEVICE, kind##_CONTEXT, kind##_STREAM, correlation                    \
	}
enum { NO_CALL = -1 }; /* instead of the place of a correlation: a kernel launched it */

/* Begins a row with the columns that ops share; false when the record makes no sense. */
static bool begin_op(struct file *f, enum profile_table table, const unsigned char *r, const struct op_places *at)
{
	struct profile *p = &f->convert->profile;
	int64_t start, end;
	if (!times_of(f, r, at->start, at->end, &start, &end))
		return false;
	bool launched = at->correlation != NO_CALL;
	uint32_t correlation = launched ? record_u32(r, at->correlation) : 0;
	if (launched ? !convert_launched_in_window(f, correlation) : !convert_in_window(f, start))
		return false;
	int64_t stream = launched ? record_u32(r, at->stream) : (int64_t)record_u64(r, at->stream);
	profile_begin(p, table);
	PROFILE_INTS(p, start, end, record_u32(r, at->device), record_u32(r, at->context),
	             0 /* no green context, as nsys has it: the record does not say */, stream,
	             launched ? correlation_of(f, correlation) : 0, convert_global_pid(f->header.pid));
	f->convert->result->ops++;
	return true;
}

/* CUPTI counts memory kinds from 1 with 0 for unknown, nsys from 0 with 7 for unknown. */
static int64_t memory_kind(uint32_t cupti)
{
	return cupti >= 1 && cupti <= 7 ? (int64_t)cupti - 1 : 7;
}

/* ---- one kind each ---- */

static void write_kernel(struct file *f, const unsigned char *r)
{
	static const struct op_places places = PLACES(KERNEL, KERNEL_CORRELATION);
	struct profile *p = &f->convert->profile;
	struct kernel_names names = kernel_names(f, record_u64(r, KERNEL_NAME));
	if (!begin_op(f, PROFILE_KERNEL, r, &places))
		return;
	uint8_t launch = record_u8(r, KERNEL_LAUNCH_TYPE); /* CUpti_ActivityLaunchType; nsys has 0 for unknown */
	PROFILE_INTS(p, names.demangled, names.short_name, profile_said(names.mangled), launch <= 2 ? launch + 1 : 0,
	             record_u8(r, KERNEL_CACHE_CONFIG) >> 4, record_u16(r, KERNEL_REGISTERS));
	for (int i = 0; i < 6; i++) /* grid and block lie beside each other */
		profile_int(p, (int32_t)record_u32(r, KERNEL_GRID + 4 * i));
	bool wide = f->sizes.bytes[record_u32(r, 0)] >= KERNEL8_BYTES;
	PROFILE_INTS(p, (int32_t)record_u32(r, KERNEL_STATIC_SHARED), (int32_t)record_u32(r, KERNEL_DYNAMIC_SHARED),
	             record_u32(r, KERNEL_LOCAL_PER_THREAD),
	             wide ? (int64_t)record_u64(r, KERNEL_LOCAL_TOTAL_V2) : record_u32(r, KERNEL_LOCAL_TOTAL),
	             (int64_t)record_u64(r, KERNEL_GRID_ID), record_u32(r, KERNEL_SHARED_EXECUTED),
	             profile_said((int64_t)record_u64(r, KERNEL_GRAPH_NODE)), record_u32(r, KERNEL_SHARED_LIMIT));
	profile_end(p);
}

static void write_copy(struct file *f, const unsigned char *r)
{
	const bool peer = record_u32(r, 0) == RECORD_MEMCPY2;
	static const struct op_places places = PLACES(COPY, COPY_CORRELATION),
				      peer_places = PLACES(COPY, PEER_CORRELATION);
	struct profile *p = &f->convert->profile;
	if (!begin_op(f, PROFILE_COPY, r, peer ? &peer_places : &places))
		return;
	PROFILE_INTS(p, (int64_t)record_u64(r, COPY_BYTES), record_u8(r, COPY_KIND), PROFILE_NULL,
	             memory_kind(record_u8(r, COPY_SOURCE_KIND)), memory_kind(record_u8(r, COPY_TARGET_KIND)));
	for (int at = PEER_SOURCE_DEVICE; at <= PEER_TARGET_CONTEXT; at += 4)
		profile_int_or_null(p, peer, record_u32(r, at));
	bool counted = !peer && f->sizes.bytes[RECORD_MEMCPY] >= MEMCPY6_BYTES;
	PROFILE_INTS(p, PROFILE_NULL, profile_said((int64_t)record_u64(r, peer ? PEER_GRAPH_NODE : COPY_GRAPH_NODE)),
	             PROFILE_NULL, counted ? (int64_t)record_u64(r, COPY_COUNT) : PROFILE_NULL);
	profile_end(p);
}

static void write_memset(struct file *f, const unsigned char *r)
{
	static const struct op_places places = PLACES(SET, SET_CORRELATION);
	struct profile *p = &f->convert->profile;
	if (!begin_op(f, PROFILE_MEMSET, r, &places))
		return;
	PROFILE_INTS(p, record_u32(r, SET_VALUE), (int64_t)record_u64(r, SET_BYTES),
	             profile_said((int64_t)record_u64(r, SET_GRAPH_NODE)), memory_kind(record_u16(r, SET_MEMORY_KIND)));
	profile_end(p);
}

/* The graph that was instantiated is not known: CUPTI tells only which one ran. */
static void write_one_graph(struct file *f, const unsigned char *r, const struct op_places *places, int id)
{
	struct profile *p = &f->convert->profile;
	if (!begin_op(f, PROFILE_GRAPH, r, places))
		return;
	PROFILE_INTS(p, 0, record_u32(r, id));
	profile_end(p);
}

static void write_graph(struct file *f, const unsigned char *r)
{
	static const struct op_places places = PLACES(GRAPH, GRAPH_CORRELATION);
	write_one_graph(f, r, &places, GRAPH_ID);
}

/* A row like those of other graphs, and as nsys writes it: work of the GPU that no call launched, in a stream of
 * CUPTI's with a number beyond 32 bits. */
static void write_device_graph(struct file *f, const unsigned char *r)
{
	static const struct op_places places = PLACES(DEVICE_GRAPH, NO_CALL);
	write_one_graph(f, r, &places, DEVICE_GRAPH_ID);
}

static void write_call(struct file *f, const unsigned char *r)
{
	const bool driver = record_u32(r, 0) == RECORD_DRIVER;
	struct profile *p = &f->convert->profile;
	uint32_t tid = record_u32(r, CALL_THREAD), correlation = record_u32(r, CALL_CORRELATION);
	int64_t start, end;
	if (keymap_find(&f->process->writers, tid) != UINT32_MAX)
		return;
	if (!times_of(f, r, CALL_START, CALL_END, &start, &end) || !convert_in_window(f, start))
		return;
	int64_t name = callback_name(f, driver ? DOMAIN_DRIVER : DOMAIN_RUNTIME, record_u32(r, CALL_ID));
	if (name == TRIVIAL || (driver && convert_in_runtime_call(f, tid, start, end)))
		return;
	PROFILE_ROW(p, PROFILE_CALL, start, end, driver ? CLASS_DRIVER : CLASS_RUNTIME,
	            convert_global_tid(f->header.pid, tid), correlation_of(f, correlation), name,
	            record_u32(r, CALL_RETURNED), PROFILE_NULL);
	f->convert->result->calls++;
}

static void write_sync(struct file *f, const unsigned char *r)
{
	struct profile *p = &f->convert->profile;
	uint32_t context = record_u32(r, SYNC_CONTEXT), correlation = record_u32(r, SYNC_CORRELATION);
	int64_t start, end;
	if (!times_of(f, r, SYNC_START, SYNC_END, &start, &end) || !convert_in_window(f, start))
		return;
	uint32_t known = keymap_find(&f->contexts, context);
	int64_t device = known != UINT32_MAX ? f->context_device[known] : 0; /* the record does not say */
	bool paired = f->sizes.bytes[RECORD_SYNCHRONIZATION] >= SYNC2_BYTES;
	PROFILE_ROW(p, PROFILE_SYNC, start, end, device, context, PROFILE_NULL, record_u32(r, SYNC_STREAM),
	            correlation_of(f, correlation), convert_global_pid(f->header.pid), PROFILE_NULL,
	            record_u32(r, SYNC_TYPE), record_u32(r, SYNC_EVENT),
	            paired ? (int64_t)record_u64(r, SYNC_EVENT_SYNC) : PROFILE_NULL);
}

/* As nsys writes it; of pools it does not say more. */
static void write_memory(struct file *f, const unsigned char *r)
{
	enum { ALLOCATED = 1, FREED = 2 };
	struct profile *p = &f->convert->profile;
	const uint32_t operation = record_u32(r, MEMORY_OPERATION), correlation = record_u32(r, MEMORY_CORRELATION);
	int64_t time, same;
	if (!times_of(f, r, MEMORY_TIME, MEMORY_TIME, &time, &same) || !convert_in_window(f, time))
		return;
	profile_begin(p, PROFILE_MEMORY);
	PROFILE_INTS(p, time, convert_global_pid(f->header.pid), record_u32(r, MEMORY_DEVICE_ID),
	             record_u32(r, MEMORY_CONTEXT), (int64_t)record_u64(r, MEMORY_ADDRESS), 0,
	             (int64_t)record_u64(r, MEMORY_BYTES), memory_kind(record_u32(r, MEMORY_OF_KIND)),
	             operation == ALLOCATED ? 0
	             : operation == FREED   ? 1
	                                    : (int64_t)operation,
	             PROFILE_NULL, correlation_of(f, correlation));
	profile_null(p, MEMORY_OF_POOLS);
	profile_end(p);
}

/* CUpti_ActivityOverheadKind, 1 or n << 16, as nsys numbers them; and their names. */
static int overhead_type(uint32_t kind, const char **name)
{
	static const char *const names[] = {
		NULL,
		"Unknown",
		"JIT compiler",
		"CUPTI Buffer flush",
		"CUPTI Instrumentation",
		"CUPTI Resource Management",
		"Module loading",
		"Lazy function loading",
		"Command buffer full",
		"CUPTI Buffer request",
		"CUPTI UVM initialisation",
	};
	uint32_t type = kind == 1 ? 2 : (kind & 0xFFFF) == 0 && kind != 0 ? (kind >> 16) + 2 : 1;
	type = type < sizeof names / sizeof *names ? type : 1;
	*name = names[type];
	return (int)type;
}

static void write_overhead(struct file *f, const unsigned char *r)
{
	struct profile *p = &f->convert->profile;
	uint32_t tid = record_u32(r, OVERHEAD_OBJECT_KIND) == RECORD_OBJECT_THREAD ? record_u32(r, OVERHEAD_THREAD) : 0;
	int64_t start, end;
	if (keymap_find(&f->process->writers, tid) != UINT32_MAX)
		return;
	if (!times_of(f, r, OVERHEAD_START, OVERHEAD_END, &start, &end) || !convert_in_window(f, start))
		return;
	bool tells = f->sizes.bytes[RECORD_OVERHEAD] >= OVERHEAD2_BYTES;
	uint32_t correlation = tells ? record_u32(r, OVERHEAD_CORRELATION) : 0;
	const char *name;
	int type = overhead_type(record_u32(r, OVERHEAD_KIND), &name);
	int64_t string = string_of(f, name);
	PROFILE_ROW(p, PROFILE_OVERHEAD, start, end, CLASS_OVERHEAD, convert_global_tid(f->header.pid, tid),
	            correlation_of(f, correlation), string, type);
}

void convert_buffer(struct file *f, const unsigned char *payload, size_t n)
{
	static void (*const write[RECORD_KINDS])(struct file *, const unsigned char *) = {
		[RECORD_KERNEL] = write_kernel,
		[RECORD_CONCURRENT_KERNEL] = write_kernel,
		[RECORD_MEMCPY] = write_copy,
		[RECORD_MEMCPY2] = write_copy,
		[RECORD_MEMSET] = write_memset,
		[RECORD_GRAPH_TRACE] = write_graph,
		[RECORD_DEVICE_GRAPH_TRACE] = write_device_graph,
		[RECORD_RUNTIME] = write_call,
		[RECORD_DRIVER] = write_call,
		[RECORD_SYNCHRONIZATION] = write_sync,
		[RECORD_OVERHEAD] = write_overhead,
		[RECORD_MEMORY] = write_memory,
	};
	struct record_walk w = {.at = payload, .end = payload + n, .sizes = &f->sizes};
	int more;
	while ((more = record_next(&w)) > 0)
		if (w.kind < RECORD_KINDS && write[w.kind])
			write[w.kind](f, w.record);
	if (more < 0) /* the program wrote over it, or CUPTI left something that we were not told about */
		f->convert->result->skipped++;
}
