#include "trace/classify.h"

#include "base/words.h"

#include <string.h>

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool holds_one_of(const char *text, const char *const list[])
{
	for (; *list; list++)
		if (strcasestr(text, *list))
			return true;
	return false;
}

bool classify_comm(const char *kernel)
{
	static const char *const parts[] = {
#define COMM_KERNEL(part) part,
#define COMM_TOGETHER(part)
#include "trace/comm_kernels.def"
#undef COMM_KERNEL
#undef COMM_TOGETHER
		NULL};
	return holds_one_of(kernel, parts);
}

bool classify_synchronising(const char *kernel)
{
	static const char *const parts[] = {
#define COMM_KERNEL(part)
#define COMM_TOGETHER(part) part,
#include "trace/comm_kernels.def"
#undef COMM_KERNEL
#undef COMM_TOGETHER
		NULL};
	return holds_one_of(kernel, parts);
}

/* Runtime calls of ROCm and of Moore Threads' GPUs are CUDA's by another prefix: hipMemcpyAsync, musaMemcpyAsync. */
static enum call_class classify_prefixed(const char *call, size_t prefix)
{
	char text[128] = "cuda";
	strncat(text, call + prefix, sizeof text - sizeof "cuda");
	if (strstr(call, "LaunchKernel") || strstr(call, "GraphLaunch"))
		return CALL_LAUNCH;
	return strncmp(call + prefix, "Module", 6) == 0 ? CALL_MODULE : classify_call(text);
}

/* Calls for Intel's GPUs: of SYCL's runtimes (urEnqueueKernelLaunch, piEnqueueKernelLaunch) and of Level Zero
 * (zeCommandListAppendLaunchKernel). */
static bool is_sycl(const char *call)
{
	size_t n = strcspn(call, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return call[n] && words_have("ur pi piext ze zes", call, n, strncmp);
}

static enum call_class classify_sycl(const char *call)
{
	static const char *const words[][3] = {
		[CALL_LAUNCH] = {"KernelLaunch", "LaunchKernel", "LaunchCooperativeKernel"},
		[CALL_COPY] = {"Memcpy", "Fill", "MemoryCopy"},
		[CALL_SYNC] = {"Finish", "EventWait", "Synchronize"},
		[CALL_ALLOC] = {"Alloc", "Free", "MemBufferCreate"},
		[CALL_MODULE] = {"ModuleCreate", "ProgramBuild", "ProgramLink"},
	};
	for (enum call_class class = CALL_LAUNCH; class <= CALL_MODULE; class ++)
		for (size_t i = 0; i < sizeof *words / sizeof **words; i++)
			if (strstr(call, words[class][i]))
				return class;
	return CALL_OTHER;
}

bool classify_update(const char *kernel)
{
	static const char *const parts[] = {"multi_tensor_apply", "optimizer",     "adam",         "sgd",
	                                    "nll_loss",           "cross_entropy", "crossentropy", NULL};
	return holds_one_of(kernel, parts);
}

bool classify_lookup(const char *kernel)
{
	static const char *const parts[] = {"gather", "embedding", "indexSelect", "argmax", "multinomial", NULL};
	return holds_one_of(kernel, parts);
}

enum call_class classify_call(const char *call)
{
	if (begins(call, "hip"))
		return classify_prefixed(call, strlen("hip"));
	if (begins(call, "musa"))
		return classify_prefixed(call, strlen("musa"));
	if (is_sycl(call))
		return classify_sycl(call);
	static const char module[] =
		"cuModuleLoad cuModuleUnload cuLibraryLoad cuLibraryUnload cuLink cudaLibraryLoad cudaLibraryUnload";
	static const char alloc[] =
		"cudaMalloc cudaFree cudaHostAlloc cudaHostRegister cudaHostUnregister cuMemAlloc cuMemFree "
		"cuMemHostAlloc cuMemHostRegister cuMemHostUnregister cuMemCreate cuMemMap cuMemUnmap cuMemRelease "
		"cuMemSetAccess cuMemAddress cuArrayCreate cuArrayDestroy cuArray3DCreate cuMipmappedArrayCreate "
		"cudaMemPoolTrim cuMemPoolTrim cudaMemPoolCreate cuMemPoolCreate cudaMemPoolDestroy "
		"cuMemPoolDestroy";
	static const char copy[] = "cudaMemcpy cuMemcpy cudaMemset cuMemset cudaMemPrefetch cuMemPrefetch";
	static const char launch[] = "cudaLaunch cuLaunch cudaGraphLaunch cuGraphLaunch";
	if (words_begin(module, call))
		return CALL_MODULE;
	if (words_begin(alloc, call))
		return CALL_ALLOC;
	if (begins(call, "cu") && strstr(call, "Synchronize"))
		return CALL_SYNC;
	if (words_begin(copy, call))
		return CALL_COPY;
	if (words_begin(launch, call) && !strstr(call, "HostFunc")) /* a host function is not GPU work */
		return CALL_LAUNCH;
	return CALL_OTHER;
}

bool classify_call_blocks(const char *call)
{
	/* Between devices the plain calls return at once as well (CUDA runtime API, "API synchronization behavior"). */
	static const char *const device_only[] = {"Peer", "DtoD", "DtoA", "AtoD", "AtoA", "ArrayToArray", NULL};
	if (!(begins(call, "cudaMemcpy") || begins(call, "cuMemcpy") || begins(call, "hipMemcpy") ||
	      begins(call, "musaMemcpy")) ||
	    strstr(call, "Async"))
		return false;
	for (const char *const *part = device_only; *part; part++)
		if (strstr(call, *part))
			return false;
	return true;
}

enum os_class classify_os(const char *call)
{
	static const char wait[] =
		"pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_join pthread_timedjoin_np "
		"pthread_clockjoin_np pthread_barrier_wait sem_wait sem_timedwait sem_clockwait cnd_wait "
		"cnd_timedwait thrd_join futex";
	static const char mutex[] =
		"pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock pthread_spin_lock "
		"pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock "
		"pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock mtx_lock mtx_timedlock";
	static const char output[] =
		"write writev pwrite pwrite64 pwritev pwritev64 fwrite fflush fsync fdatasync msync "
		"syncfs send sendto sendmsg sendmmsg sendfile sendfile64";
	if (begins(call, "MPI_"))
		return OS_PEER;
	const size_t n = strlen(call);
	return words_have(wait, call, n, strncmp)     ? OS_WAIT
	       : words_have(mutex, call, n, strncmp)  ? OS_MUTEX
	       : words_have(output, call, n, strncmp) ? OS_OUTPUT
	                                              : OS_OTHER;
}

enum overhead_class classify_overhead(const char *name)
{
	if (begins(name, "dlopen") || begins(name, "dlclose") || strstr(name, "JIT") || strcasestr(name, "compil") ||
	    strcasestr(name, "module load") || strcasestr(name, "function load"))
		return OVERHEAD_MODULE_LOAD;
	return OVERHEAD_PROFILER;
}

/* What was told of a name, by the rows that have it: a byte each, with the first bit. */
enum told { TOLD_OP, TOLD_OS, TOLD_OVERHEAD, TOLD_CALL };

#define CLASS_OF(of, name, classify)                                                                                   \
	__extension__({                                                                                                \
		enum { SHIFT = 8 * (of), SEEN = 128 };                                                                 \
		uint32_t of_name = told[name];                                                                         \
		if (!(of_name >> SHIFT & SEEN))                                                                        \
			of_name = told[name] |= (uint32_t)(SEEN | classify(names_text(names, text[name]))) << SHIFT;   \
		of_name >> SHIFT &(SEEN - 1);                                                                          \
	})

void classify_rows(struct trace *t, const struct names *names, const uint32_t *text, uint32_t *told)
{
	const struct trace_ops ops = t->ops; /* what bytes are written to might be the trace itself */
	for (size_t i = 0; i < ops.n; i++)
		if (ops.kind[i] == OP_KERNEL && CLASS_OF(TOLD_OP, ops.name[i], classify_comm))
			ops.kind[i] = OP_COMM;
	for (size_t i = 0; i < t->os_calls.n; i++)
		t->os_calls.class[i] = (uint8_t)CLASS_OF(TOLD_OS, t->os_calls.name[i], classify_os);
	for (size_t i = 0; i < t->overheads.n; i++)
		if (CLASS_OF(TOLD_OVERHEAD, t->overheads.name[i], classify_overhead) == OVERHEAD_MODULE_LOAD)
			t->overheads.class[i] = OVERHEAD_MODULE_LOAD;
}

void classify_told_calls(struct trace *t, const struct names *names, const uint32_t *text, uint32_t *told)
{
	const struct trace_calls calls = t->calls;
	for (size_t i = 0; i < calls.n; i++)
		calls.class[i] = (uint8_t)CLASS_OF(TOLD_CALL, calls.name[i], classify_call);
}
