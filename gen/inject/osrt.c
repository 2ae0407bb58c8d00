/* libgapline-osrt.so: preloaded into the program (LD_PRELOAD), it stands in front of the C library's blocking functions
 * and records the calls that take at least GAPLINE_OSRT_NS. Without GAPLINE_SPOOL it only passes calls on. */
#include "osrt.h"
#include "spool_out.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST_NS = 50000 };

static struct spool_library library = {.name = "osrt"};
static int64_t shortest = SHORTEST_NS;
static _Atomic bool on;

void *osrt_real(const char *name, const char *version)
{
	void *f = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (!f)
		f = dlsym(RTLD_NEXT, name);
	if (!f)
		abort();
	return f;
}

int64_t osrt_begin(void)
{
	return atomic_load_explicit(&on, memory_order_relaxed) && !spool_is_writer() ? spool_now() : 0;
}

void osrt_end(int64_t begin, const char *name, bool may_start)
{
	int64_t end = spool_now();
	if (end - begin < shortest || !spool_window(begin))
		return;
	int error = errno;
	const struct spool_event event = {
		.time = begin, .type = SPOOL_OS_CALL, .text = SPOOL_UTF8, .payload = (uint64_t)end};
	if (spool_event_put(event, name, strlen(name), NULL, 0) && may_start)
		spool_start();
	errno = error;
}

__attribute__((constructor)) static void begin(void)
{
	const char *ns = getenv(SPOOL_ENV_OSRT_NS);
	if (!spool_prepare(&library))
		return;
	if (ns && *ns)
		shortest = strtoll(ns, NULL, 10);
	atomic_store(&on, true);
}

/* A preloaded library's destructors run after the program's own exit handlers. */
__attribute__((destructor)) static void end(void)
{
	if (!atomic_exchange(&on, false))
		return;
	spool_finish();
}
