/* libgapline-cupti.so: what the CUDA driver and NVTX load into the program (CUDA_INJECTION64_PATH and
 * NVTX_INJECTION64_PATH). Without GAPLINE_SPOOL in the environment it does nothing at all. */
#include "cupti_collect.h"
#include "nvtx.h"
#include "nvtx_payload.h"
#include "spool_writer.h"

#include <pthread.h>
#include <stdlib.h>

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
