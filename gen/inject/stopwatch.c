/* libgapline-stopwatch.so: what NVTX loads into a program for a timed run (NVTX_INJECTION64_PATH). It counts the
 * ends of one step range (counting.h). Nothing is recorded, and CUDA's own interfaces for profilers are
 * neither used nor loaded. Without GAPLINE_STOPWATCH in the environment it does nothing at all.
 *
 * A range is known again at its end without memory: by a bit in the handle that NVTX keeps for us, or, for push and
 * pop, in a stack of bits of the thread. */
#include "counting.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

/* behind it */
#include "nvtx_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(unsigned table));

enum { MOST_NAME = 1024, LONGEST_TEXT = 4096, MOST_DEPTH = 1024, ATTRIBUTES_BYTES = 48, MATCHES = 1 };

static char step[MOST_NAME], domain[MOST_NAME];
static bool wanted;

/* ---- which ranges are steps ---- */

static bool is_step(const char *text)
{
	return text && step_match(step, text, strnlen(text, LONGEST_TEXT));
}

/* As UTF-8; what is too long for a name is none. */
static const char *narrow(const wchar_t *text, char *to, size_t room)
{
	size_t n = 0;
	for (; text && *text && n + 5 < room; text++) {
		uint32_t c = (uint32_t)*text;
		if (c < 0x80) {
			to[n++] = (char)c;
			continue;
		}
		int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
		to[n++] = (char)((0xff00 >> (more + 1) & 0xff) | c >> (6 * more));
		while (more--)
			to[n++] = (char)(0x80 | (c >> (6 * more) & 0x3f));
	}
	to[n] = 0;
	return text && !*text ? to : NULL;
}

static bool is_step_wide(const wchar_t *text)
{
	char utf8[LONGEST_TEXT];
	return is_step(narrow(text, utf8, sizeof utf8));
}

static bool in_domain(const void *handle)
{
	return handle ? (uintptr_t)handle & MATCHES : !*domain;
}

static bool is_step_ex(const void *handle, const nvtxEventAttributes_t *a)
{
	if (!in_domain(handle) || !a || a->size < ATTRIBUTES_BYTES)
		return false;
	switch (a->messageType) {
	case NVTX_MESSAGE_TYPE_ASCII:
		return is_step(a->message.ascii);
	case NVTX_MESSAGE_TYPE_UNICODE:
		return is_step_wide(a->message.unicode);
	case NVTX_MESSAGE_TYPE_REGISTERED:
		return (uintptr_t)a->message.registered & MATCHES;
	default:
		return false;
	}
}

static _Atomic uint64_t n_handles;

static uint64_t handle(bool matches)
{
	return (atomic_fetch_add(&n_handles, 1) + 1) << 1 | (matches ? MATCHES : 0);
}

/* ---- ranges ---- */

/* Ranges of the step's domain that are open on this thread, and which of them are steps. */
static __thread uint32_t depth;
static __thread uint8_t steps[MOST_DEPTH / 8];

static int push(const void *of, bool matches)
{
	if (!in_domain(of))
		return NVTX_NO_PUSH_POP_TRACKING;
	if (depth < MOST_DEPTH) {
		uint8_t bit = (uint8_t)(1 << depth % 8);
		steps[depth / 8] = (uint8_t)(matches ? steps[depth / 8] | bit : steps[depth / 8] & ~bit);
	}
	return (int)depth++;
}

static int pop(const void *of)
{
	if (!in_domain(of) || !depth)
		return NVTX_NO_PUSH_POP_TRACKING;
	depth--;
	int level = (int)depth;
	if (depth < MOST_DEPTH && steps[depth / 8] >> depth % 8 & 1)
		stopwatch_ended(stopwatch_mine(), false);
	return level;
}

static void end(uint64_t id)
{
	if (id & MATCHES)
		stopwatch_ended(stopwatch_mine(), false);
}

NVTX_ON(CORE_RangePushA, int, (const char *s), return push(NULL, in_domain(NULL) && is_step(s)))
NVTX_ON(CORE_RangePushW, int, (const wchar_t *s), return push(NULL, in_domain(NULL) && is_step_wide(s)))
NVTX_ON(CORE_RangePushEx, int, (const nvtxEventAttributes_t *a), return push(NULL, is_step_ex(NULL, a)))
NVTX_ON(CORE_RangePop, int, (void), return pop(NULL))
NVTX_ON(CORE_RangeStartA, nvtxRangeId_t, (const char *s), return handle(in_domain(NULL) && is_step(s)))
NVTX_ON(CORE_RangeStartW, nvtxRangeId_t, (const wchar_t *s), return handle(in_domain(NULL) && is_step_wide(s)))
NVTX_ON(CORE_RangeStartEx, nvtxRangeId_t, (const nvtxEventAttributes_t *a), return handle(is_step_ex(NULL, a)))
NVTX_ON(CORE_RangeEnd, void, (nvtxRangeId_t id), end(id))
NVTX_ON(CORE2_DomainRangePushEx, int, (nvtxDomainHandle_t of, const nvtxEventAttributes_t *a),
        return push(of, is_step_ex(of, a)))
NVTX_ON(CORE2_DomainRangePop, int, (nvtxDomainHandle_t of), return pop(of))
NVTX_ON(CORE2_DomainRangeStartEx, nvtxRangeId_t, (nvtxDomainHandle_t of, const nvtxEventAttributes_t *a),
        return handle(is_step_ex(of, a)))
NVTX_ON(CORE2_DomainRangeEnd, void, (nvtxDomainHandle_t of, nvtxRangeId_t id), (void)of, end(id))

/* ---- names ---- */

static bool is_domain(const char *name)
{
	return name && *name && !strcmp(name, domain);
}

static bool is_domain_wide(const wchar_t *name)
{
	char utf8[LONGEST_TEXT];
	return is_domain(narrow(name, utf8, sizeof utf8));
}

#define HANDLE(type, matches) ((type)(uintptr_t)handle(matches))
NVTX_ON(CORE2_DomainCreateA, nvtxDomainHandle_t, (const char *name), return HANDLE(nvtxDomainHandle_t, is_domain(name)))
NVTX_ON(CORE2_DomainCreateW, nvtxDomainHandle_t, (const wchar_t *name),
        return HANDLE(nvtxDomainHandle_t, is_domain_wide(name)))
NVTX_ON(CORE2_DomainRegisterStringA, nvtxStringHandle_t, (nvtxDomainHandle_t of, const char *text), return (void)of,
        HANDLE(nvtxStringHandle_t, is_step(text)))
NVTX_ON(CORE2_DomainRegisterStringW, nvtxStringHandle_t, (nvtxDomainHandle_t of, const wchar_t *text), return (void)of,
        HANDLE(nvtxStringHandle_t, is_step_wide(text)))

/* ---- the tables ---- */

static const struct nvtx_row core[] = {
	NVTX_ROW(CORE_RangeStartEx), NVTX_ROW(CORE_RangeStartA), NVTX_ROW(CORE_RangeStartW), NVTX_ROW(CORE_RangeEnd),
	NVTX_ROW(CORE_RangePushEx),  NVTX_ROW(CORE_RangePushA),  NVTX_ROW(CORE_RangePushW),  NVTX_ROW(CORE_RangePop)};

static const struct nvtx_row core2[] = {NVTX_ROW(CORE2_DomainRangeStartEx),    NVTX_ROW(CORE2_DomainRangeEnd),
                                        NVTX_ROW(CORE2_DomainRangePushEx),     NVTX_ROW(CORE2_DomainRangePop),
                                        NVTX_ROW(CORE2_DomainRegisterStringA), NVTX_ROW(CORE2_DomainRegisterStringW),
                                        NVTX_ROW(CORE2_DomainCreateA),         NVTX_ROW(CORE2_DomainCreateW)};

/* ---- the beginning ---- */

static bool text_from(const char *name, char *to, size_t room)
{
	const char *text = getenv(name);
	return text && snprintf(to, room, "%s", text) < (int)room;
}

static void prepare(void)
{
	wanted = text_from(STOPWATCH_ENV_STEP, step, sizeof step) &&
	         text_from(STOPWATCH_ENV_DOMAIN, domain, sizeof domain) && stopwatch_prepare();
}

/* By every copy of NVTX in the process, at its first call. 0: NVTX lets go of this library and does nothing. */
int InitializeInjectionNvtx2(const void *(*get_table)(unsigned table))
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, prepare);
	return wanted ? nvtx_take(get_table, core, sizeof core / sizeof *core, core2, sizeof core2 / sizeof *core2) : 0;
}
