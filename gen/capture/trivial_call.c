#include "capture/trivial_call.h"

#include <stdlib.h>
#include <string.h>

static const char *const CALLS[] = {
	/* sorted */
	"cuCtxGetApiVersion",
	"cuCtxGetCacheConfig",
	"cuCtxGetCurrent",
	"cuCtxGetDevice",
	"cuCtxGetFlags",
	"cuCtxGetId",
	"cuCtxGetLimit",
	"cuCtxGetSharedMemConfig",
	"cuCtxGetStreamPriorityRange",
	"cuCtxSetCurrent",
	"cuDeviceCanAccessPeer",
	"cuDeviceGet",
	"cuDeviceGetAttribute",
	"cuDeviceGetByPCIBusId",
	"cuDeviceGetCount",
	"cuDeviceGetLuid",
	"cuDeviceGetName",
	"cuDeviceGetP2PAttribute",
	"cuDeviceGetPCIBusId",
	"cuDeviceGetProperties",
	"cuDeviceGetUuid",
	"cuDevicePrimaryCtxGetState",
	"cuDeviceTotalMem",
	"cuDriverGetVersion",
	"cuFuncGetAttribute",
	"cuFuncSetAttribute",
	"cuFuncSetCacheConfig",
	"cuGetErrorName",
	"cuGetErrorString",
	"cuOccupancyMaxActiveBlocksPerMultiprocessor",
	"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
	"cuPointerGetAttribute",
	"cuPointerGetAttributes",
	"cuStreamGetCtx",
	"cuStreamGetDevice",
	"cuStreamGetFlags",
	"cuStreamGetId",
	"cuStreamGetPriority",
	"cudaDeviceCanAccessPeer",
	"cudaDeviceGetAttribute",
	"cudaDeviceGetByPCIBusId",
	"cudaDeviceGetCacheConfig",
	"cudaDeviceGetLimit",
	"cudaDeviceGetP2PAttribute",
	"cudaDeviceGetPCIBusId",
	"cudaDeviceGetSharedMemConfig",
	"cudaDeviceGetStreamPriorityRange",
	"cudaDriverGetVersion",
	"cudaFuncGetAttributes",
	"cudaFuncSetAttribute",
	"cudaFuncSetCacheConfig",
	"cudaGetDevice",
	"cudaGetDeviceCount",
	"cudaGetDeviceFlags",
	"cudaGetErrorName",
	"cudaGetErrorString",
	"cudaGetLastError",
	"cudaGetSymbolAddress",
	"cudaGetSymbolSize",
	"cudaHostGetDevicePointer",
	"cudaHostGetFlags",
	"cudaOccupancyMaxActiveBlocksPerMultiprocessor",
	"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
	"cudaPeekAtLastError",
	"cudaPointerGetAttributes",
	"cudaRuntimeGetVersion",
	"cudaSetDevice",
	"cudaStreamGetDevice",
	"cudaStreamGetFlags",
	"cudaStreamGetId",
	"cudaStreamGetPriority",
};

struct name {
	const char *text;
	size_t n;
};

static int compare(const void *key, const void *entry)
{
	const struct name *name = key;
	const char *call = *(const char *const *)entry;
	int order = strncmp(name->text, call, name->n);
	return order ? order : -(int)(call[name->n] != 0);
}

/* Length without suffixes of versions and of the per-thread default stream: "_v3020", "_ptsz_v7000". */
static size_t base_length(const char *name, size_t n)
{
	const char *underscore = n ? memchr(name, '_', n) : NULL;
	return underscore ? (size_t)(underscore - name) : n;
}

bool trivial_call(const char *name, size_t n)
{
	struct name key = {name, base_length(name, n)};
	return key.n && bsearch(&key, CALLS, sizeof CALLS / sizeof *CALLS, sizeof *CALLS, compare);
}
