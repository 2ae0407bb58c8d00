#include "nvtx.h"
#include "inject/spool_events.h"

#include "spool_writer.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

/* behind it */
#include "nvtx_table.h"

#include <string.h>
#include <wchar.h>

enum { LONGEST_TEXT = 16 << 10, ATTRIBUTES_BYTES = 48 };

static _Atomic uint64_t n_ranges;
static _Atomic uint32_t n_domains, n_strings;

struct text {
	enum spool_text kind;
	const void *start;
	size_t bytes;
	uint32_t string; /* SPOOL_REGISTERED */
};

static struct text text_utf8(const char *s)
{
	return s ? (struct text){SPOOL_UTF8, s, strnlen(s, LONGEST_TEXT), 0} : (struct text){0};
}

static struct text text_wide(const wchar_t *s)
{
	return s ? (struct text){SPOOL_WIDE, s, wcsnlen(s, LONGEST_TEXT / sizeof *s) * sizeof *s, 0} : (struct text){0};
}

static struct text text_of(const nvtxEventAttributes_t *a)
{
	switch (a->messageType) {
	case NVTX_MESSAGE_TYPE_ASCII:
		return text_utf8(a->message.ascii);
	case NVTX_MESSAGE_TYPE_UNICODE:
		return text_wide(a->message.unicode);
	case NVTX_MESSAGE_TYPE_REGISTERED:
		return (struct text){SPOOL_REGISTERED, NULL, 0, nvtx_number(a->message.registered)};
	default:
		return (struct text){0};
	}
}

static uint64_t payload_of(const nvtxEventAttributes_t *a)
{
	switch (a->payloadType) {
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
	case NVTX_PAYLOAD_TYPE_INT32:
	case NVTX_PAYLOAD_TYPE_FLOAT:
		return a->payload.uiValue; /* the other half of the union was perhaps never written */
	default:
		return a->payload.ullValue;
	}
}

/* Names are kept whenever they come, ranges and marks only while collecting. */
static bool is_name(uint8_t type)
{
	return type == SPOOL_DOMAIN || type == SPOOL_STRING || type == SPOOL_NAME_THREAD || type == SPOOL_CATEGORY;
}

/* False: nothing is recorded now. */
static bool put(struct spool_event event, struct text text)
{
	event.time = spool_now();
	if (!is_name(event.type) && !spool_window(event.time))
		return false;
	event.text = text.kind;
	if (text.string)
		event.string = text.string;
	if (!spool_event_put(event, text.start, text.bytes, NULL, 0))
		return false;
	spool_start();
	return true;
}

static void put_attributes(struct spool_event event, const nvtxEventAttributes_t *a)
{
	if (!a || a->size < ATTRIBUTES_BYTES) {
		put(event, (struct text){0});
		return;
	}
	bool extended = a->payloadType == PAYLOAD_TYPE_EXTENDED;
	event.category = a->category;
	event.has_color = a->colorType == NVTX_COLOR_ARGB;
	event.color = event.has_color ? a->color : 0;
	event.payload_type = extended ? 0 : (uint16_t)a->payloadType;
	event.payload = a->payloadType == NVTX_PAYLOAD_UNKNOWN || extended ? 0 : payload_of(a);
	if (put(event, text_of(a)) && extended && event.type != SPOOL_MARK)
		nvtx_put_payloads(event.domain, event.id, (const struct payload_data *)(uintptr_t)a->payload.ullValue,
		                  (size_t)(uint32_t)a->reserved0);
}

/* ---- ranges and marks ---- */

static int pushed(uint32_t domain)
{
	uint32_t *depth = spool_depth(domain);
	return depth ? (int)(*depth)++ : NVTX_NO_PUSH_POP_TRACKING;
}

int nvtx_pop(uint32_t domain)
{
	put((struct spool_event){.type = SPOOL_POP, .domain = domain}, (struct text){0});
	uint32_t *depth = spool_depth(domain);
	return depth && *depth ? (int)--*depth : NVTX_NO_PUSH_POP_TRACKING;
}

int nvtx_push_payloads(uint32_t domain, const struct payload_data *data, size_t n)
{
	if (put((struct spool_event){.type = SPOOL_PUSH, .domain = domain}, (struct text){0}))
		nvtx_put_payloads(domain, 0, data, n);
	return pushed(domain);
}

static int push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
	put_attributes((struct spool_event){.type = SPOOL_PUSH, .domain = nvtx_number(domain)}, a);
	return pushed(nvtx_number(domain));
}

static int push(struct text text)
{
	put((struct spool_event){.type = SPOOL_PUSH}, text);
	return pushed(0);
}

static nvtxRangeId_t start_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
	uint64_t id = atomic_fetch_add(&n_ranges, 1) + 1;
	put_attributes((struct spool_event){.type = SPOOL_START, .domain = nvtx_number(domain), .id = id}, a);
	return id;
}

static nvtxRangeId_t start(struct text text)
{
	uint64_t id = atomic_fetch_add(&n_ranges, 1) + 1;
	put((struct spool_event){.type = SPOOL_START, .id = id}, text);
	return id;
}

uint64_t nvtx_start_payloads(uint32_t domain, const struct payload_data *data, size_t n)
{
	uint64_t id = atomic_fetch_add(&n_ranges, 1) + 1;
	if (put((struct spool_event){.type = SPOOL_START, .domain = domain, .id = id}, (struct text){0}))
		nvtx_put_payloads(domain, id, data, n);
	return id;
}

void nvtx_stop(uint32_t domain, uint64_t range)
{
	put((struct spool_event){.type = SPOOL_STOP, .domain = domain, .id = range}, (struct text){0});
}

static void mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
	put_attributes((struct spool_event){.type = SPOOL_MARK, .domain = nvtx_number(domain)}, a);
}

NVTX_ON(CORE_MarkEx, void, (const nvtxEventAttributes_t *a), mark_ex(NULL, a))
NVTX_ON(CORE_MarkA, void, (const char *s), put((struct spool_event){.type = SPOOL_MARK}, text_utf8(s)))
NVTX_ON(CORE_MarkW, void, (const wchar_t *s), put((struct spool_event){.type = SPOOL_MARK}, text_wide(s)))
NVTX_ON(CORE_RangeStartEx, nvtxRangeId_t, (const nvtxEventAttributes_t *a), return start_ex(NULL, a))
NVTX_ON(CORE_RangeStartA, nvtxRangeId_t, (const char *s), return start(text_utf8(s)))
NVTX_ON(CORE_RangeStartW, nvtxRangeId_t, (const wchar_t *s), return start(text_wide(s)))
NVTX_ON(CORE_RangeEnd, void, (nvtxRangeId_t id), nvtx_stop(0, id))
NVTX_ON(CORE_RangePushEx, int, (const nvtxEventAttributes_t *a), return push_ex(NULL, a))
NVTX_ON(CORE_RangePushA, int, (const char *s), return push(text_utf8(s)))
NVTX_ON(CORE_RangePushW, int, (const wchar_t *s), return push(text_wide(s)))
NVTX_ON(CORE_RangePop, int, (void), return nvtx_pop(0))
NVTX_ON(CORE2_DomainMarkEx, void, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a), mark_ex(domain, a))
NVTX_ON(CORE2_DomainRangeStartEx, nvtxRangeId_t, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a),
        return start_ex(domain, a))
NVTX_ON(CORE2_DomainRangeEnd, void, (nvtxDomainHandle_t domain, nvtxRangeId_t id), nvtx_stop(nvtx_number(domain), id))
NVTX_ON(CORE2_DomainRangePushEx, int, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a),
        return push_ex(domain, a))
NVTX_ON(CORE2_DomainRangePop, int, (nvtxDomainHandle_t domain), return nvtx_pop(nvtx_number(domain)))

/* ---- names ---- */

static void category(nvtxDomainHandle_t domain, uint32_t which, struct text name)
{
	put((struct spool_event){.type = SPOOL_CATEGORY, .domain = nvtx_number(domain), .category = which}, name);
}

static void thread_name(uint32_t thread, struct text name)
{
	put((struct spool_event){.type = SPOOL_NAME_THREAD, .id = thread}, name);
}

static nvtxDomainHandle_t domain_create(struct text name)
{
	uint32_t id = atomic_fetch_add(&n_domains, 1) + 1;
	put((struct spool_event){.type = SPOOL_DOMAIN, .domain = id}, name);
	return (nvtxDomainHandle_t)(uintptr_t)id;
}

static nvtxStringHandle_t string_register(nvtxDomainHandle_t domain, struct text text)
{
	uint32_t id = atomic_fetch_add(&n_strings, 1) + 1;
	put((struct spool_event){.type = SPOOL_STRING, .domain = nvtx_number(domain), .string = id}, text);
	return (nvtxStringHandle_t)(uintptr_t)id;
}

NVTX_ON(CORE_NameCategoryA, void, (uint32_t which, const char *name), category(NULL, which, text_utf8(name)))
NVTX_ON(CORE_NameCategoryW, void, (uint32_t which, const wchar_t *name), category(NULL, which, text_wide(name)))
NVTX_ON(CORE_NameOsThreadA, void, (uint32_t thread, const char *name), thread_name(thread, text_utf8(name)))
NVTX_ON(CORE_NameOsThreadW, void, (uint32_t thread, const wchar_t *name), thread_name(thread, text_wide(name)))
NVTX_ON(CORE2_DomainNameCategoryA, void, (nvtxDomainHandle_t domain, uint32_t which, const char *name),
        category(domain, which, text_utf8(name)))
NVTX_ON(CORE2_DomainNameCategoryW, void, (nvtxDomainHandle_t domain, uint32_t which, const wchar_t *name),
        category(domain, which, text_wide(name)))
NVTX_ON(CORE2_DomainRegisterStringA, nvtxStringHandle_t, (nvtxDomainHandle_t domain, const char *text),
        return string_register(domain, text_utf8(text)))
NVTX_ON(CORE2_DomainRegisterStringW, nvtxStringHandle_t, (nvtxDomainHandle_t domain, const wchar_t *text),
        return string_register(domain, text_wide(text)))
NVTX_ON(CORE2_DomainCreateA, nvtxDomainHandle_t, (const char *name), return domain_create(text_utf8(name)))
NVTX_ON(CORE2_DomainCreateW, nvtxDomainHandle_t, (const wchar_t *name), return domain_create(text_wide(name)))

/* ---- the tables ---- */

static const struct nvtx_row core[] = {
	NVTX_ROW(CORE_MarkEx),        NVTX_ROW(CORE_MarkA),         NVTX_ROW(CORE_MarkW),
	NVTX_ROW(CORE_RangeStartEx),  NVTX_ROW(CORE_RangeStartA),   NVTX_ROW(CORE_RangeStartW),
	NVTX_ROW(CORE_RangeEnd),      NVTX_ROW(CORE_RangePushEx),   NVTX_ROW(CORE_RangePushA),
	NVTX_ROW(CORE_RangePushW),    NVTX_ROW(CORE_RangePop),      NVTX_ROW(CORE_NameCategoryA),
	NVTX_ROW(CORE_NameCategoryW), NVTX_ROW(CORE_NameOsThreadA), NVTX_ROW(CORE_NameOsThreadW)};

static const struct nvtx_row core2[] = {NVTX_ROW(CORE2_DomainMarkEx),          NVTX_ROW(CORE2_DomainRangeStartEx),
                                        NVTX_ROW(CORE2_DomainRangeEnd),        NVTX_ROW(CORE2_DomainRangePushEx),
                                        NVTX_ROW(CORE2_DomainRangePop),        NVTX_ROW(CORE2_DomainNameCategoryA),
                                        NVTX_ROW(CORE2_DomainNameCategoryW),   NVTX_ROW(CORE2_DomainRegisterStringA),
                                        NVTX_ROW(CORE2_DomainRegisterStringW), NVTX_ROW(CORE2_DomainCreateA),
                                        NVTX_ROW(CORE2_DomainCreateW)};

int nvtx_inject(const void *(*get_table)(unsigned table))
{
	return nvtx_take(get_table, core, sizeof core / sizeof *core, core2, sizeof core2 / sizeof *core2);
}
